//! How the engine is modelled: one set of options, with defaults per engine version.
//!
//! | option | paper's simulator (App. E.12) | vLLM 0.32.0 | SGLang 0.5.22 |
//! |---|---|---|---|
//! | `batching` | mixed: its primary mode | mixed (App. E.9) | separate (App. E.9) |
//! | `scheduling` | the cell's | the cell's: FCFS is the default (App. E.2) | the same |
//! | `hits` | whole sessions | longest prefix in whole blocks (App. E.2, E.14: a freed block keeps its hash until it is reallocated) | longest prefix (App. E.2, E.14: radix cache) |
//! | `keep_finished` | no: freed at once (App. E.14) | yes: nothing tells it that a session ended | yes |
//! | `refresh` | none (App. E.14) | none | the first 128 waiting, every 32 passes (App. E.2) |
//! | `lpm_fallback` | 128 | (no LPM) | 128 (App. E.2) |
//!
//! For all: prompts are prefilled in chunks, requests are admitted in order and the first that
//! does not fit blocks the others, at most the cell's `max_running` run, and what runs is never
//! evicted (App. E.2). Prompt and output are reserved at admission, so nothing is preempted; real
//! engines take memory as they go.

use serde::{Deserialize, Serialize};

use crate::setup::campaign::PlannedRun;
use crate::setup::cell::Engine;
use crate::setup::{Batching, Cell, Scheduling, Workload};

/// What of a session's idle KV hits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hits {
    /// All of it or, once some of it would have to go, nothing (App. E.12).
    #[default]
    Whole,
    /// Its longest prefix that is left, in whole blocks; it is evicted from its tail.
    Prefix,
}

/// Waiting requests renew the places of their prefixes in the LRU order (App. E.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refresh {
    /// Every so many scheduling passes.
    pub every_passes: u64,
    /// Those of so many requests, from the head of the queue.
    pub requests: usize,
}

impl Refresh {
    /// SGLang 0.5.22's, under FCFS (App. E.2).
    pub const SGLANG: Self = Self { every_passes: 32, requests: 128 };
}

/// Host memory that takes what the pool evicts, and gives it back at a rate. Writing to it costs
/// nothing; loading goes on beside an iteration's work and lengthens it where it is slower.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct HostTier {
    /// How much it holds.
    pub tokens: u64,
    /// Seconds to load a token.
    pub s_per_token: f64,
}

/// How the engine is modelled, where that is not the cell's to say.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Options {
    /// Mixed batching is the simulator's primary mode, whatever the cell's own
    /// engine does (App. E.12).
    pub batching: Batching,
    /// Order of admission; the cell's when `None`.
    pub scheduling: Option<Scheduling>,
    /// LPM orders its queue while at most this many wait; `None` is always
    /// (LPM-INF, App. E.8).
    pub lpm_fallback: Option<usize>,
    /// Multiplies the costs per token (b, c_p, c_d): how the paper scales the
    /// simulator to vLLM (App. E.12).
    pub token_cost_factor: Option<f64>,
    /// A finished session's KV stays as idle cache (a sensitivity arm, App. E.12).
    pub keep_finished: bool,
    /// What of a session's idle KV hits.
    #[serde(skip_serializing_if = "is_default")]
    pub hits: Hits,
    /// Whether waiting requests renew their prefixes' places.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refresh: Option<Refresh>,
    /// Host memory behind the pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<HostTier>,
    /// No KV is kept before, seconds: how a run starts in the trap.
    #[serde(skip_serializing_if = "is_default")]
    pub cold_until_s: f64,
    /// A closed population's sessions start one after the other over this long, seconds.
    #[serde(skip_serializing_if = "is_default")]
    pub ramp_s: f64,
    /// Time between two samples of the engine's gauges, seconds (App. D: 5).
    pub sample_s: f64,
    /// A sample's gauges are those at the end of the last iteration, without what was sent during
    /// it: so vLLM exports them. Else as it is at that time.
    #[serde(skip_serializing_if = "is_default")]
    pub gauges_of_last_pass: bool,
    /// Check the engine's invariants at every pass (always on in unit tests).
    #[serde(skip)]
    pub check: bool,
}

/// A value that says nothing new is not written: a run's configuration stays as it was.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Default for Options {
    /// The paper's simulator (App. E.12).
    fn default() -> Self {
        Self {
            batching: Batching::Mixed,
            scheduling: None,
            lpm_fallback: Some(128),
            token_cost_factor: None,
            keep_finished: false,
            hits: Hits::Whole,
            refresh: None,
            host: None,
            cold_until_s: 0.0,
            ramp_s: 0.0,
            sample_s: 5.0,
            gauges_of_last_pass: false,
            check: false,
        }
    }
}

impl Options {
    /// The options that hold unless others are asked for: the paper's simulator; for sessions,
    /// whose prompts repeat part of the one before, the engine's own ways.
    pub fn stock(cell: &Cell, workload: &Workload) -> Self {
        match &workload.recorded {
            Some(_) => Self::of_engine(&cell.engine),
            None => Self::default(),
        }
    }

    /// The options of a campaign's run.
    pub fn of(run: &PlannedRun<'_>, cell: &Cell, workload: &Workload) -> Self {
        let stock = Self::stock(cell, workload);
        Self {
            scheduling: run.test.scheduling,
            lpm_fallback: if run.test.lpm_fallback { stock.lpm_fallback } else { None },
            token_cost_factor: run.token_cost_factor,
            ..stock
        }
    }

    /// The engine's own ways: SGLang's as of 0.5.22; any other engine's as vLLM's of 0.32.0, the
    /// plainer ones.
    pub fn of_engine(engine: &Engine) -> Self {
        let own = Self { hits: Hits::Prefix, keep_finished: true, ..Self::default() };
        match engine.name.as_str() {
            "sglang" => {
                Self { batching: Batching::Separate, refresh: Some(Refresh::SGLANG), ..own }
            }
            _ => own,
        }
    }

    /// The same run on an engine in its own ways, in place of the paper's simulator's. LPM's
    /// prefix matching renews the prefixes of those it orders at every pass (App. E.8).
    pub fn in_ways_of(self, cell: &Cell) -> Self {
        let own = Self::of_engine(&cell.engine);
        let refresh = match self.scheduling.unwrap_or(cell.scheduling) {
            Scheduling::Fcfs => own.refresh,
            Scheduling::Lpm => {
                let requests = self.lpm_fallback.unwrap_or(usize::MAX);
                Some(Refresh { every_passes: 1, requests })
            }
        };
        let (batching, hits, keep_finished) = (own.batching, own.hits, own.keep_finished);
        Self { batching, hits, keep_finished, refresh, ..self }
    }
}
