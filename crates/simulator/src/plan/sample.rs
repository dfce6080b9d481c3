//! Samplers of a session: its number of turns and its tool times
//! (paper: App. E.2, Table 4), or which recorded one it plays.

use std::sync::Arc;

use crate::setup::{ToolTime, Trace, Workload};

use super::stream::{Purpose, Stream};
use super::{DrawnSession, Kind, PlanError};
use crate::limits;

/// The laws of a session, ready to draw from.
#[derive(Debug, Clone)]
pub struct SessionLaw<'a> {
    /// G_k = P(T >= k), k = 1..=K.
    survival: Vec<f64>,
    tool_time: &'a ToolTime,
    seed: u64,
    /// Recorded sessions in the order they are played; empty where sessions follow a law.
    order: Vec<Arc<Trace>>,
    /// Turns of a session, those of its subagents among them.
    mean_turns: f64,
}

impl<'a> SessionLaw<'a> {
    /// The laws of `workload`, as `seed` draws from them.
    pub fn new(workload: &'a Workload, seed: u64) -> Self {
        let traces = workload.recorded.as_ref().map(|recorded| recorded.traces.as_slice());
        let order = shuffled(traces.unwrap_or_default(), seed);
        let survival = workload.survival();
        let turns = order.iter().flat_map(|trace| trace.streams()).map(|s| s.turns.len());
        let mean_turns = match order.len() {
            0 => survival.iter().sum(),
            n => turns.sum::<usize>() as f64 / n as f64,
        };
        Self { survival, tool_time: &workload.tool_time, seed, order, mean_turns }
    }

    /// The session of this kind and number.
    pub fn session(&self, kind: Kind, session: u32, t_arrival_s: Option<f64>) -> DrawnSession {
        let n = self.order.len().max(1);
        let place = match kind {
            Kind::Base | Kind::Subagent => session as usize % n,
            Kind::Burst => n - 1 - session as usize % n,
        };
        if let Some(trace) = self.order.get(place) {
            let tool_s = trace.waits_s().into_iter().map(microseconds).collect();
            let trace = Some(Arc::clone(trace));
            return DrawnSession { kind, session, t_arrival_s, tool_s, trace, started_by: None };
        }
        let purpose = match kind {
            Kind::Base | Kind::Subagent => Purpose::BaseSession,
            Kind::Burst => Purpose::BurstSession,
        };
        let tool_s = self.tool_times(&mut Stream::new(self.seed, purpose, u64::from(session)));
        DrawnSession { kind, session, t_arrival_s, tool_s, trace: None, started_by: None }
    }

    /// As [`super::Plan::most_played`]. Those that have ended are the first of the order but for one
    /// per lane that is under way, and one that was passed over as another play of it is; these may
    /// be the longest.
    pub(super) fn most_played(&self, lanes: u32, horizon_s: f64) -> Option<u32> {
        let gaps_s = |trace: &Arc<Trace>| trace.waits_s().iter().sum::<f64>();
        let gaps_s: Vec<f64> = self.order.iter().map(gaps_s).collect();
        let all_s: f64 = gaps_s.iter().sum();
        if all_s <= 0.0 {
            return None;
        }
        let longest_s = gaps_s.iter().copied().fold(0.0, f64::max);
        let available_s = f64::from(lanes) * (horizon_s.max(0.0) + 2.0 * longest_s);
        let rounds = libm::floor(available_s / all_s);
        let mut left_s = available_s - rounds * all_s;
        let last = gaps_s.iter().take_while(|gap_s| {
            left_s -= **gap_s;
            left_s > 0.0
        });
        let first = rounds * gaps_s.len() as f64 + last.count() as f64 + 1.0;
        let begun = first + f64::from(lanes);
        (begun * self.mean_turns <= limits::ROWS as f64).then_some(begun as u32)
    }

    /// Refuses so many sessions that their turns are more than a plan holds.
    pub(super) fn check_turns_of(&self, sessions: f64) -> Result<(), PlanError> {
        let turns = sessions * self.mean_turns;
        if turns > limits::ROWS as f64 {
            return Err(PlanError::TooMany { sessions, turns });
        }
        Ok(())
    }

    /// The T-1 tool times of the session whose stream this is: one uniform
    /// gives T, then each tool time takes its own draws.
    pub fn tool_times(&self, stream: &mut Stream) -> Vec<f64> {
        let u = stream.uniform();
        // T >= k exactly when u < G_k, so one u gives T under any turn law.
        let turns = self.survival.partition_point(|g| u < *g).max(1);
        (1..turns).map(|_| microseconds(tool_time(self.tool_time, stream))).collect()
    }
}

/// The traces in an order of the seed's, each as likely (Fisher and Yates).
fn shuffled(traces: &[Arc<Trace>], seed: u64) -> Vec<Arc<Trace>> {
    let mut order = traces.to_vec();
    let mut stream = Stream::new(seed, Purpose::TraceOrder, 0);
    for i in (1..order.len()).rev() {
        let j = (stream.uniform() * (i + 1) as f64) as usize;
        order.swap(i, j.min(i));
    }
    order
}

fn tool_time(law: &ToolTime, stream: &mut Stream) -> f64 {
    match law {
        ToolTime::Exponential { mean_s } => stream.exponential(*mean_s),
        ToolTime::ShiftedExponential { shift_s, mean_s } => shift_s + stream.exponential(*mean_s),
        ToolTime::Lognormal { median_s, sigma } => median_s * libm::exp(sigma * stream.normal()),
        ToolTime::Mixture { parts } => {
            let mut left = stream.uniform();
            let chosen = parts.iter().find(|part| {
                left -= part.weight;
                left < 0.0
            });
            // The weights sum to 1 only up to rounding: the last part takes the rest.
            chosen.or(parts.last()).map_or(0.0, |part| tool_time(&part.law, stream))
        }
        ToolTime::Sample { values_s } => {
            let i = (stream.uniform() * values_s.len() as f64) as usize;
            values_s.get(i.min(values_s.len().saturating_sub(1))).copied().unwrap_or(0.0)
        }
    }
}

/// The nearest whole microsecond, so that six printed digits say all of it.
pub fn microseconds(t_s: f64) -> f64 {
    libm::floor(t_s * 1e6 + 0.5) / 1e6
}
