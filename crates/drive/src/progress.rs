//! How a run stands while it is under way.

use std::collections::VecDeque;
use std::ops::Deref;
use std::path::PathBuf;

use crate::client::Client;
use crate::plan::Plan;
use crate::run::{Meta, Run};
use crate::sim::directory::{planned, tables, tick};

/// Over how long hits are looked at, s.
const OVER_S: f64 = 60.0;

/// A run under way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Time on the run's clock, s.
    pub t_s: f64,
    /// When it ends, s.
    pub horizon_s: f64,
    /// Sessions let in and not ended.
    pub admitted: u32,
    /// Sessions at the gate.
    pub gated: u32,
    /// Sessions that the gate has paused.
    pub paused: u32,
    /// Requests without an answer.
    pub in_flight: u64,
    /// Requests that wait in the engine, by its last sample.
    pub waiting: Option<u64>,
    /// Share of the follow-ups of the last minute whose prompt was cached by more than half;
    /// `None` without any, or where the engine does not say.
    pub hit_fraction: Option<f64>,
    /// Turns that were answered.
    pub turns: u64,
    /// Turns that failed.
    pub errors: u64,
    /// The largest lag of the client, s.
    pub max_lag_s: f64,
}

/// A run under way, in numbers and with all that happened in it.
#[derive(Debug)]
pub struct Now<'a> {
    pub(crate) progress: Progress,
    pub(crate) client: &'a Client<'a>,
    pub(crate) plan: &'a Plan,
    pub(crate) meta: &'a Meta,
}

impl Deref for Now<'_> {
    type Target = Progress;

    fn deref(&self) -> &Progress {
        &self.progress
    }
}

impl Now<'_> {
    /// The run as it would be read back if it ended now: its plan, its sessions and all turns
    /// that were sent, those in flight unfinished; without the gauges and the gate.
    pub fn run(&self) -> Run {
        let t_s = self.progress.t_s;
        let sessions = self.client.sessions_at(t_s);
        let (sessions, turns, _) = tables(self.plan, &sessions, &self.client.turns_so_far());
        Run {
            dir: PathBuf::new(),
            meta: Meta { duration_s: tick(t_s), ..self.meta.clone() },
            sessions,
            turns,
            engine: Vec::new(),
            gate: Vec::new(),
            plan: self.plan.sessions.iter().map(planned).collect(),
            sources: Vec::new(),
            notes: Vec::new(),
        }
    }
}

/// The follow-ups of the last minute.
#[derive(Debug, Default)]
pub(crate) struct Recent(VecDeque<(f64, bool)>);

impl Recent {
    pub(crate) fn push(&mut self, t_s: f64, is_hit: bool) {
        self.0.push_back((t_s, is_hit));
    }

    pub(crate) fn hit_fraction(&mut self, now_s: f64) -> Option<f64> {
        while self.0.front().is_some_and(|(t_s, _)| *t_s < now_s - OVER_S) {
            self.0.pop_front();
        }
        let hits = self.0.iter().filter(|(_, is_hit)| *is_hit).count();
        (!self.0.is_empty()).then(|| hits as f64 / self.0.len() as f64)
    }
}
