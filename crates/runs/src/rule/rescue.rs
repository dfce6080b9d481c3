//! Rescue: does a cap engaged inside the trap bring the engine back for good (R1, R4; App. E.7)?
//!
//! RESCUED is VALID, RELEASED and POST-GOOD. A refutation outranks a pass, and a
//! session that failed or was turned away withdraws the claim that nothing was shed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::measure::plan_identity::PlanIdentity;
use crate::measure::rescue::{self, ControlMeasures, RescueMeasures, RescueTimes};
use crate::measure::{LastMeasures, population, rolling};
use crate::run::Run;
use crate::setup::{Arm, Span};

use super::in_words;
use super::outcome::Labelled;
use super::registered::{
    Candidate, Case, Evidence, Judged, Measurable, MeasuringTest, RegisteredTest, Role, placed,
};
use super::thresholds::PairedThresholds;
use super::vote::Quorum;

mod decide;
mod label;

use decide::{RescueSeed, decide};
use label::{RescueLabel, first_recovered_s, judge, judge_control, mechanics};

/// A cap engaged inside the trap, released, and what must hold after it.
///
/// The cap and the rates are the registration's; the defaults are R1's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RescueTest {
    /// t_on: when the gate starts to bind, s.
    pub engage_s: f64,
    /// VALID: over so many seconds before t_on ...
    pub valid_over_s: f64,
    /// ... the follow-up hit fraction is below this ...
    pub valid_hit_below: f64,
    /// ... and more than this is outstanding at t_on, sessions.
    pub valid_outstanding_above: f64,
    /// RELEASED: by this time of the run, s.
    pub released_by_s: f64,
    /// POST-GOOD is judged from so long after the release, s.
    pub settle_s: f64,
    /// Length of a tile, s.
    pub tile_s: f64,
    /// POST-GOOD: every tile's follow-up hit fraction is at least this ...
    pub tile_hit_at_least: f64,
    /// ... the interval's is above this ...
    pub interval_hit_above: f64,
    /// ... and its uncached token rate is below this times the all-miss rate.
    pub token_rate_below: f64,
    /// RELAPSE: a tile's follow-up hit fraction is below this.
    pub relapse_hit_below: f64,
    /// A control is STUCK if its follow-up hit fraction from t_on on is below this.
    pub control_hit_below: f64,
    /// Rescued seeds that a rate needs to pass.
    pub seeds: Quorum,
    /// Relapses that refute the test.
    pub refuted_by_relapses: u64,
    /// Runs not released in time that refute it; none for R4.
    pub refuted_by_unreleased: Option<u64>,
    /// Mechanics: the gate engages within this of t_on, s ...
    pub engage_within_s: f64,
    /// ... is released no sooner than this after it, s ...
    pub capped_at_least_s: f64,
    /// ... on a grid of this, counted from t_on, s ...
    pub tick_s: f64,
    /// ... after both queues have been empty for this, s.
    pub hold_s: f64,
}

impl RescueTest {
    /// R1's (App. E.7).
    pub const PUBLISHED: Self = Self {
        engage_s: 1800.0,
        valid_over_s: 300.0,
        valid_hit_below: 0.2,
        valid_outstanding_above: 50.0,
        released_by_s: 7200.0,
        settle_s: 300.0,
        tile_s: 300.0,
        tile_hit_at_least: 0.5,
        interval_hit_above: 0.8,
        token_rate_below: 0.5,
        relapse_hit_below: 0.2,
        control_hit_below: 0.2,
        seeds: Quorum::TWO_OF_THREE,
        refuted_by_relapses: 2,
        refuted_by_unreleased: Some(2),
        engage_within_s: 10.0,
        capped_at_least_s: 600.0,
        tick_s: 10.0,
        hold_s: 300.0,
    };
}

impl Default for RescueTest {
    fn default() -> Self {
        Self::PUBLISHED
    }
}

/// What the test measures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum RescueOrControl {
    /// On a subject.
    Rescue {
        /// Before, under and after the cap.
        measures: Box<RescueMeasures>,
        /// When RECOVERED first held after the engage, seen every tick of the gate over
        /// the time before it, s; `None` if it never did before the release.
        recovered_s: Option<f64>,
    },
    /// On a control, over any interval.
    Control(Box<ControlMeasures>),
}

impl RescueOrControl {
    /// Of a subject, what the cap did.
    pub fn rescue(&self) -> Option<&RescueMeasures> {
        match self {
            Self::Rescue { measures, .. } => Some(measures),
            Self::Control(_) => None,
        }
    }
}

impl RegisteredTest for RescueTest {
    fn words(&self) -> &'static str {
        "rescue"
    }

    fn in_words(&self, _: &PairedThresholds) -> String {
        format!(
            "A cap engaged at {} s inside the trap (follow-up hit fraction below {}, more than {} \
             outstanding) is released by {} s and the run stays good: from {} s after the release \
             on, every tile of {} s has a follow-up hit fraction of at least {}, all of it above \
             {}, and the uncached token rate is below {} times the all-miss rate. A rate passes in \
             {} seeds; {} relapses refute the test.",
            self.engage_s,
            self.valid_hit_below,
            self.valid_outstanding_above,
            self.released_by_s,
            self.settle_s,
            self.tile_s,
            self.tile_hit_at_least,
            self.interval_hit_above,
            self.token_rate_below,
            in_words::of(self.seeds),
            self.refuted_by_relapses
        )
    }

    fn needs_cap(&self) -> bool {
        true
    }

    fn steps(&self) -> Vec<(&'static str, f64)> {
        vec![("test.tile_s", self.tile_s)]
    }

    fn role(&self, run: &Candidate<'_>) -> Role {
        match (run.arm(), run.burst_or_control()) {
            (Arm::Rescue, _) => Role::Subject,
            (_, Role::None) => Role::None,
            _ => Role::Control,
        }
    }

    /// A label per run, pairs by rate and seed, an outcome over the pairs.
    fn judge(&self, case: &Case<'_>, evidence: &[Evidence<'_>]) -> Judged {
        let mut judged = Judged::labelled(evidence, |e| match (e.role, &e.meta.arm) {
            (Role::Subject, _) => Some(self.label(e, case).map_or_else(
                || Labelled::unmeasurable("it ended before its window did"),
                |label| label.labelled,
            )),
            (_, Arm::Burst) => Some(self.control_label(e, case)),
            _ => None,
        });
        for (i, run) in evidence.iter().enumerate().filter(|(_, e)| e.role == Role::Subject) {
            judged.secondary[i] = rescued(run).map_or_else(Vec::new, |r| mechanics(r, self));
        }
        let (subjects, mut set_aside) = placed(evidence, Role::Subject, Evidence::place);
        let (controls, doubles) = placed(evidence, Role::Control, Evidence::place);
        set_aside.extend(doubles);
        let of = |arm: Arm| -> BTreeMap<(u64, u64), (usize, &Evidence<'_>)> {
            let of_arm = controls.iter().filter(|(_, e)| e.meta.arm == arm);
            of_arm.map(|(i, e)| (e.rate_and_seed(), (*i, *e))).collect()
        };
        let (bursts, nobursts) = (of(Arm::Burst), of(Arm::NoBurst));
        let mut seeds = Vec::new();
        for (i, e) in &subjects {
            let (burst, noburst) =
                (bursts.get(&e.rate_and_seed()), nobursts.get(&e.rate_and_seed()));
            if let Some(after) = rescued(e).and_then(|r| r.after.as_ref()) {
                let over =
                    |run: Option<&(usize, &Evidence<'_>)>| Some(control(run?.1)?.over(after.span));
                judged.controls_after[*i] = [over(burst), over(noburst)];
            }
            let stuck = burst.and_then(|(i, _)| match judged.labels[*i].as_ref()?.label {
                "STUCK" => Some(true),
                "NOT STUCK" => Some(false),
                _ => None,
            });
            let noburst = noburst.map(|(_, n)| PairedIdentity::of(n));
            seeds.push(RescueSeed {
                multiple: e.multiple(),
                seed: e.meta.seed,
                rescue: self.label(e, case),
                control_stuck: stuck,
                unpaired: burst.map_or_else(Vec::new, |(_, b)| {
                    unpaired(&PairedIdentity::of(e), &PairedIdentity::of(b), noburst.as_ref())
                }),
                shed: rescued(e).map_or(0, |r| r.sessions_failed + r.sessions_refused),
            });
        }
        judged.with(decide(&seeds, self), set_aside)
    }

    fn tables(&self) -> &'static [&'static str] {
        &["rescue", "release_estimates"]
    }
}

impl MeasuringTest for RescueTest {
    type Measures = RescueOrControl;

    /// Nothing where the run ends too early.
    fn measure(&self, on: &Measurable<'_>) -> Option<RescueOrControl> {
        let end_s = on.protocol.paired.window_s.end_s;
        if !on.reached(end_s) {
            return None;
        }
        Some(if on.role == Role::Subject {
            let measures = Box::new(rescue::rescue(on.run, &self.times(end_s)));
            RescueOrControl::Rescue { recovered_s: self.recovered_s(on, &measures), measures }
        } else {
            let since_engage = Span::new(self.engage_s, end_s);
            RescueOrControl::Control(Box::new(rescue::control(on.run, since_engage)))
        })
    }
}

impl RescueTest {
    /// When a subject is looked at whose window ends at `end_s`.
    fn times(&self, end_s: f64) -> RescueTimes {
        let Self { engage_s, valid_over_s, settle_s, tile_s, .. } = *self;
        RescueTimes { engage_s, valid_over_s, settle_s, tile_s, end_s }
    }

    /// Whether a run, on whatever hardware, is RESCUED; `None` where it cannot say. `last` is
    /// the end of its window.
    pub fn is_rescued(
        &self,
        run: &Run,
        last: &LastMeasures,
        all_miss_tokens_per_s: Option<f64>,
        paired: &PairedThresholds,
    ) -> Option<bool> {
        let measures = rescue::rescue(run, &self.times(last.span.end_s));
        judge(&measures, last, None, all_miss_tokens_per_s, self, paired).is_rescued()
    }

    fn recovered_s(&self, on: &Measurable<'_>, found: &RescueMeasures) -> Option<f64> {
        let capped = Span::new(found.engaged_s?, found.released_s?);
        let over_s = on.protocol.paired.last_s;
        let looks = rolling::hits(on.run, capped.start_s - over_s, over_s, self.tick_s);
        let outstanding = population::outstanding(on.run);
        first_recovered_s(&looks, &outstanding, capped, over_s, &on.registration.rule)
    }

    fn label(&self, run: &Evidence<'_>, case: &Case<'_>) -> Option<RescueLabel> {
        let registration = case.registration;
        let last = run.measures.last.as_ref()?;
        let gpu = run.meta.gpu.as_ref().map(|g| g.name.as_str());
        let hardware = registration.hardware.map(|asked| gpu == Some(asked));
        let all_miss = registration.all_miss_tokens_per_s;
        Some(judge(rescued(run)?, last, hardware, all_miss, self, &registration.rule))
    }

    fn control_label(&self, run: &Evidence<'_>, case: &Case<'_>) -> Labelled {
        match (control(run), &run.measures.last) {
            (Some(control), Some(last)) => {
                judge_control(control, last, self, &case.registration.rule)
            }
            _ => Labelled::unmeasurable("it ended before its window did"),
        }
    }
}

fn rescued<'a>(run: &Evidence<'a>) -> Option<&'a RescueMeasures> {
    RescueTest::found(run)?.rescue()
}

fn control<'a>(run: &Evidence<'a>) -> Option<&'a ControlMeasures> {
    match RescueTest::found(run)? {
        RescueOrControl::Control(found) => Some(found),
        RescueOrControl::Rescue { .. } => None,
    }
}

/// What the pairing compares of a run (App. E.7: common random numbers).
#[derive(Debug, Clone, PartialEq)]
struct PairedIdentity {
    plan: PlanIdentity,
    /// Its rate, multiple and lambda_ref, as resolved.
    rate: (Option<f64>, Option<f64>, Option<f64>),
    gpu: Option<String>,
    /// When its protocol's burst starts, s.
    burst_start_s: f64,
}

impl PairedIdentity {
    fn of(run: &Evidence<'_>) -> Self {
        let rate = run.meta.rate;
        Self {
            plan: run.plan.clone(),
            rate: (rate.multiple, rate.lambda_ref, rate.lambda),
            gpu: run.meta.gpu.as_ref().map(|g| g.name.clone()),
            burst_start_s: run.burst_start_s,
        }
    }
}

/// What differs between a rescue run and its same-seed controls; nothing if the
/// pairing holds. What cannot be compared differs.
fn unpaired(
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

#[cfg(test)]
#[path = "rescue/tests.rs"]
mod tests;
