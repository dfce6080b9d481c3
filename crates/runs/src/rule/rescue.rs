//! Rescue: does a cap engaged inside the trap bring the engine back for good (R1, R4; App. E.7)?
//!
//! RESCUED is VALID, RELEASED and POST-GOOD. A refutation outranks a pass, and a
//! session that failed or was turned away withdraws the claim that nothing was shed.

use crate::measure::plan_identity::PlanIdentity;
use crate::measure::population::StepFunction;
use crate::measure::rescue::{AfterRelease, ControlMeasures, RescueMeasures};
use crate::measure::rolling::Rolled;
use crate::measure::{LastMeasures, Share};
use crate::setup::registration::rescue::RescueTest;
use crate::setup::{PairedThresholds, Span};

use super::clause::{Clause, Comparison, all_hold};
use super::outcome::{Labelled, UNMEASURABLE};
use super::state::recovered;

pub mod decide;

pub use decide::{RescueSeed, decide};

/// A rescue run under the rule.
#[derive(Debug, Clone, PartialEq)]
pub struct RescueLabel {
    /// RESCUED, RELAPSE, NOT RELEASED, NOT POST-GOOD, INVALID or UNMEASURABLE.
    pub labelled: Labelled,
    /// Whether the run started from a trap, on the registered hardware.
    pub valid: Option<bool>,
    /// Whether the cap was off in time.
    pub released: bool,
    /// Whether all was good after that; `None` when it cannot be told.
    pub post_good: Option<bool>,
    /// Whether a tile after the release fell back; `None` when it cannot be told.
    pub relapse: Option<bool>,
}

/// Labels a rescue run. `hardware`: whether it is the registered one, `None` where the
/// registration names none. `last` is the end of the run, for RECOVERED.
pub fn judge(
    run: &RescueMeasures,
    last: &LastMeasures,
    hardware: Option<bool>,
    all_miss_tokens_per_s: Option<f64>,
    rule: &RescueTest,
    paired: &PairedThresholds,
) -> RescueLabel {
    let valid = valid(run, hardware, rule);
    let released =
        Clause::new("release", "s", run.released_s, Comparison::AtMost(rule.released_by_s));
    // A cap that never came off was not released: that is an answer, not a gap.
    let off = run.released_s.is_some_and(|t| t <= rule.released_by_s);
    let released = released.decided(Some(off));
    let post_good = run.after.as_ref().map(|after| {
        [after_release(after, all_miss_tokens_per_s, rule), recovered(last, paired)].concat()
    });
    let relapse = match &run.after {
        Some(after) => relapse(&after.tiles, rule),
        None => Some(false),
    };
    let (is_valid, is_good) =
        (all_hold(&valid), post_good.as_deref().map_or(Some(false), all_hold));
    let (label, clauses) = match (is_valid, off, is_good, relapse) {
        (None, ..) => (UNMEASURABLE, valid),
        (Some(false), ..) => ("INVALID", valid),
        (_, _, _, Some(true)) => ("RELAPSE", post_good.unwrap_or_default()),
        (_, false, ..) => ("NOT RELEASED", vec![released]),
        (_, _, Some(false), _) => ("NOT POST-GOOD", post_good.unwrap_or_default()),
        (_, _, None, _) | (_, _, _, None) => (UNMEASURABLE, post_good.unwrap_or_default()),
        (Some(true), true, Some(true), Some(false)) => {
            ("RESCUED", [valid, vec![released], post_good.unwrap_or_default()].concat())
        }
    };
    RescueLabel {
        labelled: Labelled::new(label, clauses),
        valid: is_valid,
        released: off,
        post_good: is_good,
        relapse,
    }
}

/// When a run was RECOVERED for the first time while it was `capped`, s: `looks` are its hits
/// over windows of `over_s`, one per look (App. E.7: "evaluated every 10 s"), and what is
/// outstanding counts at the look.
pub fn first_recovered_s(
    looks: &[Rolled<Share>],
    outstanding: &StepFunction,
    capped: Span,
    over_s: f64,
    rule: &PairedThresholds,
) -> Option<f64> {
    let during = looks.iter().filter(|w| w.end_s > capped.start_s && w.end_s <= capped.end_s);
    let holds = |w: &&Rolled<Share>| {
        let so_far = Span::new(w.end_s - over_s, w.end_s);
        let end = LastMeasures::of(so_far, w.value, outstanding);
        all_hold(&recovered(&end, rule)) == Some(true)
    };
    during.into_iter().find(holds).map(|w| w.end_s)
}

fn valid(run: &RescueMeasures, hardware: Option<bool>, rule: &RescueTest) -> Vec<Clause> {
    let mut clauses = vec![
        Clause::of_share(
            "follow-up hit fraction before t_on",
            &run.before,
            Comparison::Below(rule.valid_hit_below),
        ),
        Clause::new(
            "outstanding at t_on",
            "sessions",
            Some(run.outstanding_on),
            Comparison::Above(rule.valid_outstanding_above),
        ),
    ];
    // The right hardware has no margin to speak of: it is said only where it is wrong.
    if hardware == Some(false) {
        clauses.push(Clause::new("registered hardware", "", Some(0.0), Comparison::AtLeast(1.0)));
    }
    clauses
}

fn after_release(
    after: &AfterRelease,
    all_miss_tokens_per_s: Option<f64>,
    rule: &RescueTest,
) -> Vec<Clause> {
    let at_least = Comparison::AtLeast(rule.tile_hit_at_least);
    let holds = |share: &Share| {
        // A tile without a completed follow-up fails, without being a relapse.
        if share.total() == 0 {
            Some(false)
        } else {
            share.is_below(rule.tile_hit_at_least).map(|b| !b)
        }
    };
    let verdicts: Vec<Option<bool>> = after.tiles.iter().map(|(_, share)| holds(share)).collect();
    let all = if verdicts.contains(&Some(false)) {
        Some(false)
    } else {
        verdicts.iter().all(|v| *v == Some(true)).then_some(true)
    };
    let lowest = after
        .tiles
        .iter()
        .map(|(_, share)| if share.total() == 0 { Some(0.0) } else { share.value() })
        .collect::<Option<Vec<f64>>>()
        .and_then(|values| values.into_iter().min_by(f64::total_cmp));
    let ratio =
        after.uncached_tokens_per_s.zip(all_miss_tokens_per_s).map(|(rate, all)| rate / all);
    vec![
        Clause::new("lowest tile's follow-up hit fraction", "", lowest, at_least).decided(all),
        Clause::of_share(
            "follow-up hit fraction after the release",
            &after.follow_up_hits,
            Comparison::Above(rule.interval_hit_above),
        ),
        Clause::new(
            "uncached token rate / all-miss rate after the release",
            "",
            ratio,
            Comparison::Below(rule.token_rate_below),
        ),
    ]
}

/// Whether any tile fell back; empty tiles do not.
fn relapse(tiles: &[(crate::setup::Span, Share)], rule: &RescueTest) -> Option<bool> {
    let below: Vec<Option<bool>> = tiles
        .iter()
        .filter(|(_, share)| share.total() > 0)
        .map(|(_, share)| share.is_below(rule.relapse_hit_below))
        .collect();
    if below.contains(&Some(true)) {
        return Some(true);
    }
    below.iter().all(|b| *b == Some(false)).then_some(false)
}

/// Labels a control: STUCK from t_on to the end and not RECOVERED at the end, or not.
pub fn judge_control(
    control: &ControlMeasures,
    last: &LastMeasures,
    rule: &RescueTest,
    paired: &PairedThresholds,
) -> Labelled {
    let hits = Clause::of_share(
        "follow-up hit fraction since t_on",
        &control.since_engage,
        Comparison::Below(rule.control_hit_below),
    );
    let back = recovered(last, paired);
    match (hits.holds, all_hold(&back)) {
        (Some(true), Some(false)) => Labelled::new("STUCK", vec![hits]),
        (Some(false), _) => Labelled::new("NOT STUCK", vec![hits]),
        (_, Some(true)) => Labelled {
            because: Some("it is RECOVERED at the end".into()),
            ..Labelled::new("NOT STUCK", back)
        },
        _ => Labelled::unmeasurable("cached tokens are unknown"),
    }
}

/// What the pairing compares of a run (App. E.7: common random numbers).
#[derive(Debug, Clone, PartialEq)]
pub struct PairedIdentity {
    /// Its plan.
    pub plan: PlanIdentity,
    /// Its rate, multiple and lambda_ref, as resolved.
    pub rate: (Option<f64>, Option<f64>, Option<f64>),
    /// Its GPU.
    pub gpu: Option<String>,
    /// When its protocol's burst starts, s.
    pub burst_start_s: f64,
}

/// What differs between a rescue run and its same-seed controls; nothing if the
/// pairing holds. What cannot be compared differs.
pub fn unpaired(
    rescue: &PairedIdentity,
    burst: &PairedIdentity,
    noburst: Option<&PairedIdentity>,
) -> Vec<String> {
    let mut differs = Vec::new();
    let mut check = |same: Option<bool>, what: &str| match same {
        Some(true) => {}
        Some(false) => differs.push(what.to_owned()),
        None => differs.push(format!("{what} (unknown)")),
    };
    check(rescue.plan.same_as(&burst.plan), "the BURST plan");
    if let Some(noburst) = noburst {
        check(rescue.plan.same_base_as(&noburst.plan), "the NOBURST plan's base sessions");
    }
    for other in [Some(burst), noburst].into_iter().flatten() {
        check(Some(rescue.rate == other.rate), "the rate");
        check(Some(rescue.gpu == other.gpu), "the hardware");
    }
    check(Some(rescue.burst_start_s == burst.burst_start_s), "the time of the burst");
    differs.dedup();
    differs
}

/// The mechanical check of the gate that a job makes of itself (App. E.7).
pub fn mechanics(run: &RescueMeasures, rule: &RescueTest) -> Vec<Clause> {
    let late = run.engaged_s.map(|t| (t - rule.engage_s).abs());
    let capped = run.released_s.map(|t| t - rule.engage_s);
    // Off the grid by less than a client's lateness is on it.
    let off_grid =
        capped.map(|s| (s / rule.tick_s - (s / rule.tick_s).round()).abs() * rule.tick_s);
    let mut clauses = vec![
        Clause::new("engage time off t_on", "s", late, Comparison::AtMost(rule.engage_within_s)),
        Clause::new(
            "request errors",
            "requests",
            Some(run.request_errors as f64),
            Comparison::AtMost(0.0),
        ),
    ];
    if run.released_s.is_some() {
        clauses.push(Clause::new(
            "capped for",
            "s",
            capped,
            Comparison::AtLeast(rule.capped_at_least_s),
        ));
        clauses.push(Clause::new("release off the grid", "s", off_grid, Comparison::AtMost(0.5)));
        clauses.push(Clause::new(
            "queues empty before the release",
            "s",
            run.empty_before_release_s,
            Comparison::AtLeast(rule.hold_s),
        ));
    }
    clauses
}

#[cfg(test)]
#[path = "rescue/tests.rs"]
mod tests;
