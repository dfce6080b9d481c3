//! What was done to a run, read from its own tables: the burst it had, the arrivals
//! it refused, the tool calls it slowed. Names and folders are not consulted.

use serde::{Deserialize, Serialize};

use crate::run::sessions::Registry;
use crate::run::{Kind, PlannedSession, Run, Session, SessionIndex, SessionStatus};
use crate::setup::Span;

use super::stats;

/// A tool call longer than planned by less than this is the client's lateness, s.
const LATENESS_S: f64 = 0.5;

/// What varies between the runs of a test. It is read from a run's own tables,
/// not from its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dose {
    /// Sessions in the burst.
    BurstSessions,
    /// What each slowed tool call took longer, s.
    ToolDelayS,
    /// For how long arrivals were refused, s.
    StopS,
}

impl Dose {
    /// Name and unit for readers.
    pub const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::BurstSessions => ("burst", "sessions"),
            Self::ToolDelayS => ("tool calls longer by", "s"),
            Self::StopS => ("arrivals stopped for", "s"),
        }
    }
}

/// What was done to a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Treatment {
    /// Sessions in the burst, as planned; as arrived where there is no plan.
    pub burst_sessions: u64,
    /// Sessions turned away, and from when to when they would have arrived.
    pub refused: Option<Refused>,
    /// Slowed tool calls.
    pub slowed: Option<Slowed>,
    /// Whether there is a plan to compare tool times with.
    pub has_plan: bool,
}

/// Arrivals that were turned away.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Refused {
    /// How many.
    pub sessions: u64,
    /// Planned arrivals of the first and the last, s.
    pub span_s: Span,
}

/// Tool calls that took longer than planned.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Slowed {
    /// How many.
    pub calls: u64,
    /// By how much, median, s.
    pub delay_s: f64,
    /// Start of the first and the last, s.
    pub span_s: Span,
}

/// Reads it from a run.
pub fn treatment(run: &Run) -> Treatment {
    let planned = run.plan.iter().filter(|p| p.kind == Kind::Burst).count();
    let arrived = run.sessions.iter().filter(|s| s.kind == Kind::Burst).count();
    Treatment {
        burst_sessions: if run.plan.is_empty() { arrived } else { planned } as u64,
        refused: refused(run),
        slowed: slowed(run),
        has_plan: !run.plan.is_empty(),
    }
}

impl Treatment {
    /// Whether the run was given `amount` of `dose`. A stop of given length shows in
    /// the arrivals it refused: they span no more than it, and more than half of it.
    pub fn is(&self, dose: Dose, amount: f64) -> bool {
        match dose {
            Dose::BurstSessions => self.burst_sessions as f64 == amount,
            Dose::ToolDelayS => {
                self.slowed.is_some_and(|s| (s.delay_s - amount).abs() <= LATENESS_S)
            }
            Dose::StopS => self.refused.is_some_and(|r| {
                r.span_s.length_s() <= amount && r.span_s.length_s() > 0.5 * amount
            }),
        }
    }
}

impl Treatment {
    /// Whether tool calls were slowed in `during` and to beyond its middle, so that a
    /// shorter slowdown is not taken for a longer one.
    pub fn slowed_during(&self, during: Span) -> bool {
        self.slowed.is_some_and(|s| {
            let inside = s.span_s.start_s >= during.start_s - LATENESS_S
                && s.span_s.end_s < during.end_s + LATENESS_S;
            inside && s.span_s.end_s > during.middle_s()
        })
    }
}

fn refused(run: &Run) -> Option<Refused> {
    let times: Vec<f64> = run
        .sessions
        .iter()
        .filter(|s| s.status == SessionStatus::Refused)
        .filter_map(|s| s.t_planned_s)
        .collect();
    Some(Refused { sessions: times.len() as u64, span_s: span_of(&times)? })
}

/// Each slowed call: its session, when it started, and by how much it was slowed, s.
pub(crate) fn slowed_calls(run: &Run) -> Vec<(SessionIndex, f64, f64)> {
    let planned = planned_of(run);
    run.turns
        .iter()
        .filter_map(|turn| {
            let plan = planned[turn.session.at()]?;
            let asked = plan.tool_s.get(turn.number.checked_sub(1)? as usize)?;
            let delay = turn.tool_s? - asked;
            (delay > LATENESS_S).then_some((turn.session, turn.t_end_s?, delay))
        })
        .collect()
}

/// The planned session of each session, if the plan has it.
fn planned_of(run: &Run) -> Vec<Option<&PlannedSession>> {
    let plan = Registry::of_plan(&run.plan);
    let place = |s: &Session| plan.find(s.kind, &s.id).map(SessionIndex::at);
    run.sessions.iter().map(|s| place(s).map(|place| &run.plan[place])).collect()
}

fn slowed(run: &Run) -> Option<Slowed> {
    let calls = slowed_calls(run);
    let starts: Vec<f64> = calls.iter().map(|c| c.1).collect();
    let delays: Vec<f64> = calls.iter().map(|c| c.2).collect();
    Some(Slowed {
        calls: calls.len() as u64,
        delay_s: stats::median(&delays)?,
        span_s: span_of(&starts)?,
    })
}

fn span_of(times: &[f64]) -> Option<Span> {
    if times.is_empty() {
        return None;
    }
    let least = times.iter().copied().fold(f64::INFINITY, f64::min);
    let most = times.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Some(Span::new(least, most))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stopped(from_s: f64, to_s: f64) -> Treatment {
        Treatment {
            burst_sessions: 200,
            refused: Some(Refused { sessions: 58, span_s: Span::new(from_s, to_s) }),
            slowed: None,
            has_plan: true,
        }
    }

    #[test]
    fn a_stop_is_told_by_the_span_of_the_arrivals_it_refused() {
        let short = stopped(1803.0, 2391.0);
        assert!(short.is(Dose::StopS, 600.0) && !short.is(Dose::StopS, 3600.0));
        let long = stopped(1803.0, 5390.0);
        assert!(!long.is(Dose::StopS, 600.0) && long.is(Dose::StopS, 3600.0));
    }

    #[test]
    fn a_slowdown_of_900_s_is_not_taken_for_one_of_1800_s() {
        let slowed = |end_s| Treatment {
            slowed: Some(Slowed { calls: 700, delay_s: 30.0, span_s: Span::new(1201.0, end_s) }),
            ..stopped(0.0, 1.0)
        };
        let (short, long) = (Span::new(1200.0, 2100.0), Span::new(1200.0, 3000.0));
        assert!(slowed(2098.0).slowed_during(short) && !slowed(2098.0).slowed_during(long));
        assert!(!slowed(2998.0).slowed_during(short) && slowed(2998.0).slowed_during(long));
    }

    #[test]
    fn a_burst_is_told_by_its_planned_sessions() {
        let run = stopped(0.0, 1.0);
        assert!(run.is(Dose::BurstSessions, 200.0) && !run.is(Dose::BurstSessions, 60.0));
        assert!(!run.is(Dose::ToolDelayS, 10.0));
    }
}
