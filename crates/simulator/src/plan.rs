//! The arrival plan of a run: who arrives when, for how many turns, with which
//! tool times (paper: App. E.2).
//!
//! A plan is a pure function of a workload, a seed and the arrivals asked for.
//! For one seed the base arrivals at a lower rate are a subset of those at a
//! higher one; the i-th session to arrive is the same at every rate, in every
//! arm, cell and engine; a burst of n is the first n of the burst's draw.
//! Times are whole microseconds, so the text of a plan *is* the plan.
//!
//! Recorded sessions are played in a seeded order that begins again when it ends, each play
//! under an identity of its own: the i-th base session plays the i-th of the order, a burst's
//! sessions the last ones. So a trace would be played twice at once only where as many sessions
//! are in the system as there are traces; the client sees to it that none is: a closed run
//! passes over it, an open one, whose arrivals cannot wait, ends with an error. Subagents, where
//! they are played, follow in the plan: they arrive when a turn of their session is answered.
//!
//! Left out: what a session says (token contents), and anything an engine or a
//! gate does to it later.

pub(crate) mod sample;
pub mod stream;
mod subagents;
pub mod text;

use std::sync::Arc;

use crate::limits;
pub use crate::run::Kind;
use crate::setup::protocol::Burst;
use crate::setup::{Trace, TraceTurn, Workload};
use sample::SessionLaw;
use stream::{Purpose, Stream};
pub use subagents::StartedBy;

/// Sessions/s covered by one stream of base arrivals. A rate above it stacks
/// further streams on top, so that no rate is the largest one.
const LAYER_RATE_PER_S: f64 = 0.25;

/// The sessions of a run, base sessions first, each kind in order of arrival.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The seed it was drawn with.
    pub seed: u64,
    /// All sessions that may arrive, and then the subagents that these may start; in order of kind
    /// and number, by which they are found.
    pub sessions: Vec<DrawnSession>,
}

/// One session of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct DrawnSession {
    /// Which stream it belongs to.
    pub kind: Kind,
    /// 0-based, in order of arrival within its kind.
    pub session: u32,
    /// Arrival on the run's clock, seconds; `None` in a closed run, where a
    /// session starts when another ends, and of a subagent.
    pub t_arrival_s: Option<f64>,
    /// The T-1 tool times between its turns, seconds: where a turn waits for subagents, from the
    /// end of the last of them.
    pub tool_s: Vec<f64>,
    /// The recorded session that it plays; `None` where its lengths are the workload's law.
    pub trace: Option<Arc<Trace>>,
    /// Of a subagent: what starts it.
    pub started_by: Option<StartedBy>,
}

impl DrawnSession {
    /// T, the number of turns.
    pub fn turns(&self) -> u32 {
        self.tool_s.len() as u32 + 1
    }

    /// What its turn `k` (1-based, at most T) sends and asks for.
    pub fn turn(&self, k: u32, workload: &Workload) -> TraceTurn {
        let recorded = self.trace.as_ref().and_then(|trace| trace.turns.get(k as usize - 1));
        recorded.copied().unwrap_or_else(|| workload.turn(k as usize))
    }

    /// The most KV that it needs at once, tokens.
    pub fn footprint_tokens(&self, workload: &Workload) -> u64 {
        match &self.trace {
            Some(trace) => trace.footprint_tokens(),
            None => workload.footprint_tokens(self.turns() as usize),
        }
    }
}

/// What to draw.
#[derive(Debug, Clone, PartialEq)]
pub enum Arrivals {
    /// A Poisson stream, perhaps cut, perhaps with a burst on top.
    Open(OpenArrivals),
    /// No arrival times: `sessions` specs to start and to replace with.
    Closed {
        /// Sessions to draw: the population and its replacements.
        sessions: u32,
    },
}

/// An open stream of sessions.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenArrivals {
    /// lambda, sessions/s.
    pub rate_per_s: f64,
    /// Base arrivals fall in [0, horizon), seconds.
    pub horizon_s: f64,
    /// The stream is thinned further from some time on.
    pub cut: Option<Cut>,
    /// Sessions that arrive together.
    pub burst: Option<Burst>,
}

/// From `from_s` on, base arrivals are thinned to a lower rate (CUT, sec 5).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cut {
    /// When, seconds.
    pub from_s: f64,
    /// The rate from then on, sessions/s.
    pub rate_per_s: f64,
}

/// Arrivals that cannot be drawn.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// A quantity that must be positive (and finite) is not.
    #[error("{name}: expected a positive number, found {value}")]
    NotPositive {
        /// Which quantity.
        name: &'static str,
        /// What was given.
        value: f64,
    },
    /// A burst of no sessions.
    #[error("burst: expected at least one session (an arm without a burst is noburst)")]
    EmptyBurst,
    /// The burst does not fit the run.
    #[error(
        "burst: [{start_s}, {end_s}) s does not lie within the run's [0, {horizon_s}) s; \
         move it or lengthen the run"
    )]
    BurstOutsideHorizon {
        /// Its first second.
        start_s: f64,
        /// Its last second.
        end_s: f64,
        /// The run's end.
        horizon_s: f64,
    },
    /// A cut outside the run.
    #[error("cut: {from_s} s does not lie within the run's [0, {horizon_s}) s")]
    CutOutsideHorizon {
        /// Asked for.
        from_s: f64,
        /// The run's end.
        horizon_s: f64,
    },
    /// A cut that does not cut.
    #[error(
        "cut: the rate after it ({after_per_s}/s) must be below the rate before ({before_per_s}/s)"
    )]
    CutNotLower {
        /// sessions/s before.
        before_per_s: f64,
        /// sessions/s after.
        after_per_s: f64,
    },
    /// More turns than a run can mean, or its tables hold.
    #[error(
        "about {turns:.0} turns of {sessions:.0} sessions: the rate, the population, the burst or the horizon is too large (limit {} turns)",
        limits::ROWS
    )]
    TooMany {
        /// Expected number of sessions.
        sessions: f64,
        /// Of their turns.
        turns: f64,
    },
    /// A tool call that outlasts every run.
    #[error(
        "{kind} session {session}: a tool call of {tool_s:?} s is over 31 days: check tool_time"
    )]
    ToolTooLong {
        /// Kind of the session.
        kind: Kind,
        /// Its number.
        session: u32,
        /// Seconds drawn.
        tool_s: f64,
    },
    /// A run longer than any.
    #[error("horizon: {horizon_s:?} s is over 31 days: expected seconds")]
    TooLong {
        /// Asked for.
        horizon_s: f64,
    },
    /// A closed run without sessions.
    #[error("closed: expected at least one session")]
    NoSessions,
}

impl Plan {
    /// Draws the plan of `seed`.
    ///
    /// # Errors
    /// [`PlanError`]: a rate, horizon, burst or cut that makes no sense.
    pub fn draw(workload: &Workload, seed: u64, arrivals: &Arrivals) -> Result<Self, PlanError> {
        let law = SessionLaw::new(workload, seed);
        let sessions = match arrivals {
            Arrivals::Closed { sessions: 0 } => return Err(PlanError::NoSessions),
            Arrivals::Closed { sessions } => {
                law.check_turns_of(f64::from(*sessions))?;
                (0..*sessions).map(|i| law.session(Kind::Base, i, None)).collect()
            }
            Arrivals::Open(open) => {
                open.check()?;
                law.check_turns_of(open.expected_sessions())?;
                open.draw(&law, seed)
            }
        };
        let plan = Self::with_subagents(seed, sessions);
        plan.check()?;
        Ok(plan)
    }

    /// The plan of a closed run that plays these recorded sessions, first to last.
    pub fn in_order(seed: u64, order: &[Arc<Trace>]) -> Self {
        let session = |(trace, number): (&Arc<Trace>, u32)| DrawnSession {
            kind: Kind::Base,
            session: number,
            t_arrival_s: None,
            tool_s: trace.waits_s().into_iter().map(sample::microseconds).collect(),
            trace: Some(Arc::clone(trace)),
            started_by: None,
        };
        Self::with_subagents(seed, order.iter().zip(0..).map(session).collect())
    }

    fn with_subagents(seed: u64, mut sessions: Vec<DrawnSession>) -> Self {
        subagents::add(&mut sessions);
        Self { seed, sessions }
    }

    /// Where the session of a kind and number is.
    pub fn place(&self, kind: Kind, number: u32) -> Option<usize> {
        self.sessions.binary_search_by_key(&(kind, number), |s| (s.kind, s.session)).ok()
    }

    /// What was drawn must fit the tables and the clock of a run.
    fn check(&self) -> Result<(), PlanError> {
        let (sessions, turns) = (self.sessions.len() as f64, self.turns());
        if turns > limits::ROWS {
            return Err(PlanError::TooMany { sessions, turns: turns as f64 });
        }
        let too_long = |tool_s: &&f64| tool_s.is_nan() || **tool_s >= limits::RUN_S;
        let one = |s: &DrawnSession| {
            let tool_s = *s.tool_s.iter().find(too_long)?;
            Some(PlanError::ToolTooLong { kind: s.kind, session: s.session, tool_s })
        };
        self.sessions.iter().find_map(one).map_or(Ok(()), Err)
    }

    /// Turns of all its sessions.
    pub fn turns(&self) -> usize {
        self.sessions.iter().map(|session| session.tool_s.len() + 1).sum()
    }

    /// How many specs a closed run needs: its population and a replacement for
    /// each session that ends, at no more than one end per second. (The fastest
    /// published cell completes 0.6 sessions/s.)
    pub(crate) fn closed_sessions(population: u32, horizon_s: f64) -> u32 {
        population.saturating_add(libm::ceil(horizon_s.max(0.0)) as u32)
    }

    /// How many recorded sessions a closed run of so many lanes can begin at most: each lasts at
    /// least as long as its gaps. `None` where sessions follow a law, and where gaps are so short that
    /// a plan could not hold as many.
    pub(crate) fn most_played(
        workload: &Workload,
        seed: u64,
        lanes: u32,
        horizon_s: f64,
    ) -> Option<u32> {
        SessionLaw::new(workload, seed).most_played(lanes, horizon_s)
    }
}

impl OpenArrivals {
    fn check(&self) -> Result<(), PlanError> {
        positive("rate_per_s", self.rate_per_s)?;
        positive("horizon_s", self.horizon_s)?;
        if self.horizon_s >= limits::RUN_S {
            return Err(PlanError::TooLong { horizon_s: self.horizon_s });
        }
        if let Some(cut) = self.cut {
            positive("cut.rate_per_s", cut.rate_per_s)?;
            if !(0.0..self.horizon_s).contains(&cut.from_s) {
                let (from_s, horizon_s) = (cut.from_s, self.horizon_s);
                return Err(PlanError::CutOutsideHorizon { from_s, horizon_s });
            }
            if cut.rate_per_s >= self.rate_per_s {
                let (before_per_s, after_per_s) = (self.rate_per_s, cut.rate_per_s);
                return Err(PlanError::CutNotLower { before_per_s, after_per_s });
            }
        }
        self.burst.map_or(Ok(()), |burst| check_burst(burst, self.horizon_s))
    }

    /// Before a cut, of which none is so early that it matters to what can be drawn.
    fn expected_sessions(&self) -> f64 {
        let burst = self.burst.map_or(0.0, |burst| burst.sessions as f64);
        self.rate_per_s * self.horizon_s + burst
    }

    fn draw(&self, law: &SessionLaw<'_>, seed: u64) -> Vec<DrawnSession> {
        let base = self.base_times(seed);
        let burst = self.burst.map(|burst| burst_times(burst, seed)).unwrap_or_default();
        let of = |kind, times: Vec<f64>| {
            times.into_iter().enumerate().map(move |(i, t)| law.session(kind, i as u32, Some(t)))
        };
        of(Kind::Base, base).chain(of(Kind::Burst, burst)).collect()
    }

    /// Poisson arrivals by thinning: each layer is a Poisson stream of
    /// [`LAYER_RATE_PER_S`] whose points carry a mark, uniform over the layer's
    /// slice of rates; a point arrives if its mark lies below the rate asked for.
    fn base_times(&self, seed: u64) -> Vec<f64> {
        let rate_at = |t: f64| match self.cut {
            Some(cut) if t >= cut.from_s => cut.rate_per_s,
            _ => self.rate_per_s,
        };
        let layers = libm::ceil(self.rate_per_s / LAYER_RATE_PER_S) as u64;
        let mut times = Vec::new();
        for layer in 0..layers {
            let mut stream = Stream::new(seed, Purpose::BaseArrivals, layer);
            let floor = layer as f64 * LAYER_RATE_PER_S;
            let mut t = 0.0;
            loop {
                t += stream.exponential(1.0 / LAYER_RATE_PER_S);
                let mark = floor + LAYER_RATE_PER_S * stream.uniform();
                let when = sample::microseconds(t);
                if when >= self.horizon_s {
                    break;
                }
                if mark < rate_at(when) {
                    times.push(when);
                }
            }
        }
        times.sort_by(f64::total_cmp);
        times
    }
}

fn check_burst(burst: Burst, horizon_s: f64) -> Result<(), PlanError> {
    if burst.sessions == 0 {
        return Err(PlanError::EmptyBurst);
    }
    positive("burst.length_s", burst.length_s)?;
    let (start_s, end_s) = (burst.start_s, burst.start_s + burst.length_s);
    if !(start_s >= 0.0 && end_s <= horizon_s) {
        return Err(PlanError::BurstOutsideHorizon { start_s, end_s, horizon_s });
    }
    Ok(())
}

/// A burst's arrival times, uniform over its length: the first n of the draw, in order of time
/// (App. E.2).
fn burst_times(burst: Burst, seed: u64) -> Vec<f64> {
    let mut stream = Stream::new(seed, Purpose::BurstArrivals, 0);
    let mut times: Vec<f64> = (0..burst.sessions)
        .map(|_| sample::microseconds(burst.start_s + burst.length_s * stream.uniform()))
        .collect();
    times.sort_by(f64::total_cmp);
    times
}

fn positive(name: &'static str, value: f64) -> Result<(), PlanError> {
    if value > 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(PlanError::NotPositive { name, value })
    }
}

#[cfg(test)]
mod tests;
