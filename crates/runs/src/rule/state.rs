//! The state of one run under the paired test: TRAPPED, RECOVERED, DRAINING or
//! INDETERMINATE, in that order of precedence (App. E.5, Table 6).

use crate::measure::{LastMeasures, RunMeasures};

use super::clause::{Clause, Comparison, all_hold};
use super::registration::PairedThresholds;

/// What a run is judged against.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// Nominal arrival rate, sessions/s.
    pub lambda_per_s: f64,
    /// The registered all-miss session rate, sessions/s.
    pub lambda_ref_per_s: f64,
    /// The registered all-miss prefill rate, uncached tokens/s.
    pub all_miss_tokens_per_s: f64,
}

/// A run's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// All-miss token rate and a growing backlog, above the all-miss session rate.
    Trapped,
    /// Hits again, with little outstanding.
    Recovered,
    /// Neither, but the backlog shrinks.
    Draining,
    /// None of these.
    Indeterminate,
    /// The run cannot say: it is too short, or its cached tokens are unknown.
    Unmeasurable,
}

impl State {
    /// The rule's word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Trapped => "TRAPPED",
            Self::Recovered => "RECOVERED",
            Self::Draining => "DRAINING",
            Self::Indeterminate => "INDETERMINATE",
            Self::Unmeasurable => "UNMEASURABLE",
        }
    }
}

/// A run's state and every clause that led to it.
#[derive(Debug, Clone, PartialEq)]
pub struct RunState {
    /// The state.
    pub state: State,
    /// The clauses of TRAPPED: the load, the token rate (a), the slope (b).
    pub trapped: Vec<Clause>,
    /// The clauses of RECOVERED.
    pub recovered: Vec<Clause>,
    /// The clause of DRAINING.
    pub draining: Vec<Clause>,
    /// Whether the run is stuck: follow-up hit fraction below the threshold over
    /// the window (App. B); `None` when it cannot say.
    pub stuck: Option<bool>,
    /// Why it is unmeasurable, if it is.
    pub because: Option<String>,
}

/// Judges a run.
pub fn judge(measures: &RunMeasures, load: Load, rule: &PairedThresholds) -> RunState {
    let (Some(window), Some(last)) = (&measures.window, &measures.last) else {
        let (start, end) = measures.window_span.into();
        return unmeasurable(format!("it ended before its window [{start}, {end}) s did"));
    };
    let excess = load.lambda_per_s - load.lambda_ref_per_s;
    // Without the registered all-miss rate the ratio is unknown, not wrong.
    let token_ratio = window
        .uncached_tokens_per_s
        .map(|rate| rate / load.all_miss_tokens_per_s)
        .filter(|ratio| ratio.is_finite());
    let tolerance = rule.token_rate_tolerance;
    let slope = window.backlog_slope_per_s;
    let trapped = vec![
        Clause::new(
            "arrival rate lambda",
            "sessions/s",
            Some(load.lambda_per_s),
            Comparison::Above(load.lambda_ref_per_s),
        ),
        Clause::new(
            "uncached token rate / all-miss rate",
            "",
            token_ratio,
            Comparison::Within(1.0 - tolerance, 1.0 + tolerance),
        ),
        Clause::new(
            "backlog slope",
            "sessions/s",
            slope,
            Comparison::Above(rule.slope_factor * excess),
        ),
    ];
    let recovered = recovered(last, rule);
    let draining = vec![Clause::new("backlog slope", "sessions/s", slope, Comparison::Below(0.0))];
    let stuck = window.follow_up_hits.is_below(rule.stuck_follow_up_hit_below);
    let in_order = [
        (State::Trapped, all_hold(&trapped)),
        (State::Recovered, all_hold(&recovered)),
        (State::Draining, all_hold(&draining)),
        (State::Indeterminate, Some(true)),
    ];
    // The first label that holds; one that is open above it leaves the run open.
    let decided = in_order.into_iter().find(|(_, holds)| *holds != Some(false));
    let (state, because) = match decided {
        Some((state, Some(_))) => (state, None),
        Some((state, None)) => {
            let why = format!(
                "whether it is {} cannot be told: {}",
                state.word(),
                open(&trapped, &recovered)
            );
            (State::Unmeasurable, Some(why))
        }
        None => (State::Indeterminate, None),
    };
    RunState { state, trapped, recovered, draining, stuck, because }
}

/// The clauses of RECOVERED over the end of a run's window (Table 6).
pub fn recovered(last: &LastMeasures, rule: &PairedThresholds) -> Vec<Clause> {
    vec![
        Clause::of_share(
            "hit fraction, end of the window",
            &last.hits,
            Comparison::Above(rule.recovered_hit_above),
        ),
        Clause::new(
            "outstanding, end of the window",
            "sessions",
            Some(last.outstanding_end),
            Comparison::Below(rule.recovered_outstanding_below),
        ),
    ]
}

fn unmeasurable(because: String) -> RunState {
    RunState {
        state: State::Unmeasurable,
        trapped: Vec::new(),
        recovered: Vec::new(),
        draining: Vec::new(),
        stuck: None,
        because: Some(because),
    }
}

fn open(trapped: &[Clause], recovered: &[Clause]) -> String {
    let open: Vec<_> =
        trapped.iter().chain(recovered).filter(|c| c.holds.is_none()).map(|c| c.quantity).collect();
    format!("unknown {}", open.join(", "))
}

impl RunState {
    /// The clause that decided: of TRAPPED and RECOVERED the one that holds most
    /// narrowly, of the others the clause of TRAPPED that failed by most.
    pub fn deciding(&self) -> Option<&Clause> {
        let tightest = |clauses: &'_ [Clause]| -> Option<usize> {
            (0..clauses.len()).min_by(|a, b| {
                let by = |i: usize| clauses[i].relative_margin();
                by(*a).total_cmp(&by(*b))
            })
        };
        match self.state {
            State::Recovered => tightest(&self.recovered).map(|i| &self.recovered[i]),
            State::Unmeasurable => None,
            _ => tightest(&self.trapped).map(|i| &self.trapped[i]),
        }
    }
}

#[cfg(test)]
#[path = "state/tests.rs"]
mod tests;
