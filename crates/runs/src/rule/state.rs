//! The state of one run under the paired test: TRAPPED, RECOVERED, DRAINING or
//! INDETERMINATE, in that order of precedence (App. E.5, Table 6).

pub mod reach;

use crate::measure::{LastMeasures, RunMeasures};

use super::clause::{Clause, Comparison, all_hold};
use super::thresholds::PairedThresholds;

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

impl Load {
    /// The rule's line on the backlog slope (condition b of TRAPPED), in sessions/s.
    pub fn slope_threshold_per_s(&self, rule: &PairedThresholds) -> f64 {
        rule.slope_factor * (self.lambda_per_s - self.lambda_ref_per_s)
    }
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
    /// The rule's line on the backlog slope, sessions/s; `None` where it was not asked.
    pub slope_threshold_per_s: Option<f64>,
    /// Why it is unmeasurable, if it is; or by when it was decided, before its window's end.
    pub because: Option<String>,
}

/// Judges a run.
pub fn judge(measures: &RunMeasures, load: Load, rule: &PairedThresholds) -> RunState {
    let (Some(window), Some(last)) = (&measures.window, &measures.last) else {
        let (start, end) = measures.window_span.into();
        let decided = measures.reach.and_then(|reach| reach::decided(&reach, load, rule));
        return decided.unwrap_or_else(|| {
            unmeasurable(format!("it ended before its window [{start}, {end}) s did"))
        });
    };
    // Without the registered all-miss rate the ratio is unknown, not wrong.
    let token_ratio = window
        .uncached_tokens_per_s
        .map(|rate| rate / load.all_miss_tokens_per_s)
        .filter(|ratio| ratio.is_finite());
    let slope = window.backlog_slope_per_s;
    let judged = label(
        (load, rule),
        |needs| Clause::new(TOKEN_RATIO, "", token_ratio, needs),
        |needs| Clause::new(SLOPE, "sessions/s", slope, needs),
        recovered(last, rule),
    );
    RunState { stuck: is_stuck(measures, rule.stuck_follow_up_hit_below), ..judged }
}

/// Whether a run is stuck, for model F: its follow-up hit fraction over the window lies `below`
/// (App. B); `None` where it cannot say.
pub fn is_stuck(measures: &RunMeasures, below: f64) -> Option<bool> {
    measures.window.as_ref()?.follow_up_hits.is_below(below)
}

/// The uncached token rate's clause.
const TOKEN_RATIO: &str = "uncached token rate / all-miss rate";

/// The backlog slope's clauses.
const SLOPE: &str = "backlog slope";

/// The label that a run's clauses give it: its token rate's and slope's are made by what each
/// needs.
fn label(
    (load, rule): (Load, &PairedThresholds),
    token_ratio: impl Fn(Comparison) -> Clause,
    slope: impl Fn(Comparison) -> Clause,
    recovered: Vec<Clause>,
) -> RunState {
    let slope_threshold_per_s = load.slope_threshold_per_s(rule);
    let tolerance = rule.token_rate_tolerance;
    let trapped = vec![
        Clause::new(
            "arrival rate lambda",
            "sessions/s",
            Some(load.lambda_per_s),
            Comparison::Above(load.lambda_ref_per_s),
        ),
        token_ratio(Comparison::Within(1.0 - tolerance, 1.0 + tolerance)),
        slope(Comparison::Above(slope_threshold_per_s)),
    ];
    let draining = vec![slope(Comparison::Below(0.0))];
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
    let slope_threshold_per_s = Some(slope_threshold_per_s);
    RunState { state, trapped, recovered, draining, stuck: None, slope_threshold_per_s, because }
}

/// The clause of the hits at the window's end.
const LAST_HITS: &str = "hit fraction, end of the window";

/// The clause of what is outstanding there.
const LAST_OUTSTANDING: &str = "outstanding, end of the window";

/// The clauses of RECOVERED over the end of a run's window (Table 6).
pub fn recovered(last: &LastMeasures, rule: &PairedThresholds) -> Vec<Clause> {
    vec![
        Clause::of_share(LAST_HITS, &last.hits, Comparison::Above(rule.recovered_hit_above)),
        Clause::new(
            LAST_OUTSTANDING,
            "sessions",
            Some(last.outstanding_end),
            Comparison::Below(rule.recovered_outstanding_below),
        ),
    ]
}

/// Whether a run is RECOVERED at the end of its window; `None` where it cannot say.
pub fn is_recovered(last: &LastMeasures, rule: &PairedThresholds) -> Option<bool> {
    all_hold(&recovered(last, rule))
}

fn unmeasurable(because: String) -> RunState {
    RunState {
        state: State::Unmeasurable,
        trapped: Vec::new(),
        recovered: Vec::new(),
        draining: Vec::new(),
        stuck: None,
        slope_threshold_per_s: None,
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
