//! Samplers of a session: its number of turns and its tool times
//! (paper: App. E.2, Table 4).

use crate::setup::{ToolTime, Workload};

use super::PlanError;
use super::stream::Stream;
use crate::limits;

/// The laws of a session, ready to draw from.
#[derive(Debug, Clone)]
pub struct SessionLaw<'a> {
    /// G_k = P(T >= k), k = 1..=K.
    survival: Vec<f64>,
    tool_time: &'a ToolTime,
}

impl<'a> SessionLaw<'a> {
    /// The laws of `workload`.
    pub fn new(workload: &'a Workload) -> Self {
        Self { survival: workload.survival(), tool_time: &workload.tool_time }
    }

    /// Refuses so many sessions that their turns are more than a plan holds.
    pub(super) fn check_turns_of(&self, sessions: f64) -> Result<(), PlanError> {
        let turns = sessions * self.survival.iter().sum::<f64>();
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
