//! STUCK or GOOD over the evaluation window (App. E.6): what several tests ask of a run.

use serde::{Deserialize, Serialize};

use crate::measure::RunMeasures;

use super::clause::{Clause, Comparison, all_hold};
use super::outcome::{Labelled, UNMEASURABLE};
use super::registered::{Case, Evidence};
use super::state::{Load, recovered};
use super::thresholds::PairedThresholds;

/// The endpoints STUCK and GOOD of a run over the evaluation window (App. E.6).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Endpoints {
    /// STUCK: the hit fraction over the window is below this.
    pub stuck_hit_below: f64,
    /// GOOD, where the run is not RECOVERED: the hit fraction is above this ...
    pub good_hit_above: f64,
    /// ... and the backlog slope at most this times (lambda - lambda_ref).
    pub good_slope_factor: f64,
}

impl Default for Endpoints {
    fn default() -> Self {
        Self { stuck_hit_below: 0.2, good_hit_above: 0.8, good_slope_factor: 0.5 }
    }
}

impl Endpoints {
    /// The label of a run under a test.
    pub(super) fn label(&self, run: &Evidence<'_>, case: &Case<'_>) -> Option<Labelled> {
        Some(judge(run.measures, run.load?, self, &case.registration.rule))
    }

    /// Whether a run is STUCK; `None` where it cannot say.
    pub(super) fn is_stuck(&self, run: &Evidence<'_>, case: &Case<'_>) -> Option<bool> {
        Some(Endpoint::of(&self.label(run, case)?)? == Endpoint::Stuck)
    }
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endpoint {
    /// Almost no hits.
    Stuck,
    /// Recovered, or hitting with a flat backlog.
    Good,
    /// Neither.
    Neither,
}

impl Endpoint {
    /// The rule's word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Stuck => "STUCK",
            Self::Good => "GOOD",
            Self::Neither => "NEITHER",
        }
    }

    /// The endpoint of a label; `None` where the run cannot say.
    pub fn of(labelled: &Labelled) -> Option<Self> {
        [Self::Stuck, Self::Good, Self::Neither].into_iter().find(|e| e.word() == labelled.label)
    }
}

/// Labels a run STUCK, GOOD or NEITHER. STUCK goes by the hit fraction of all turns,
/// as App. E.6 has it.
pub fn judge(
    measures: &RunMeasures,
    load: Load,
    rule: &Endpoints,
    paired: &PairedThresholds,
) -> Labelled {
    let (Some(window), Some(last)) = (&measures.window, &measures.last) else {
        let (start, end) = measures.window_span.into();
        return Labelled::unmeasurable(format!(
            "it ended before its window [{start}, {end}) s did"
        ));
    };
    let hit = |needs| Clause::of_share("hit fraction", &window.hits, needs);
    let stuck = vec![hit(Comparison::Below(rule.stuck_hit_below))];
    let back = recovered(last, paired);
    let line = rule.good_slope_factor * (load.lambda_per_s - load.lambda_ref_per_s);
    let flat = vec![
        hit(Comparison::Above(rule.good_hit_above)),
        Clause::new(
            "backlog slope",
            "sessions/s",
            window.backlog_slope_per_s,
            Comparison::AtMost(line),
        ),
    ];
    match (all_hold(&stuck), all_hold(&back), all_hold(&flat)) {
        (Some(true), ..) => Labelled::new(Endpoint::Stuck.word(), stuck),
        (Some(false), Some(true), _) => Labelled::new(Endpoint::Good.word(), back),
        (Some(false), _, Some(true)) => Labelled::new(Endpoint::Good.word(), flat),
        (Some(false), Some(false), Some(false)) => {
            Labelled::new(Endpoint::Neither.word(), [stuck, back, flat].concat())
        }
        _ => Labelled {
            because: Some("its hits or its slope are unknown".into()),
            ..Labelled::new(UNMEASURABLE, [stuck, back, flat].concat())
        },
    }
}

#[cfg(test)]
#[path = "endpoint/tests.rs"]
mod tests;
