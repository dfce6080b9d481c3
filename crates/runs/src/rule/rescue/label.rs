//! One rescue run or control under the rule, clause by clause (App. E.7).

use crate::measure::population::StepFunction;
use crate::measure::rescue::{AfterRelease, ControlMeasures, RescueMeasures};
use crate::measure::rolling::Rolled;
use crate::measure::{LastMeasures, Share};
use crate::rule::clause::{Clause, Comparison, all_hold};
use crate::rule::outcome::{Labelled, UNMEASURABLE};
use crate::rule::state::recovered;
use crate::rule::thresholds::PairedThresholds;
use crate::setup::Span;

use super::RescueTest;

/// A rescue run under the rule.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RescueLabel {
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

impl RescueLabel {
    /// Whether it is RESCUED; `None` where it cannot say.
    pub(super) fn is_rescued(&self) -> Option<bool> {
        match self.labelled.label {
            UNMEASURABLE => None,
            label => Some(label == "RESCUED"),
        }
    }
}

/// Labels a rescue run. `hardware`: whether it is the registered one, `None` where the
/// registration names none. `last` is the end of the run, for RECOVERED.
pub(super) fn judge(
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
pub(super) fn first_recovered_s(
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
fn relapse(tiles: &[(Span, Share)], rule: &RescueTest) -> Option<bool> {
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
pub(super) fn judge_control(
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

/// The mechanical check of the gate that a job makes of itself (App. E.7).
pub(super) fn mechanics(run: &RescueMeasures, rule: &RescueTest) -> Vec<Clause> {
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
