//! trapcheck: a reproducible analysis of cache traps in LLM serving engines.
//!
//! An LLM agent sends its engine sessions of many turns, and the engine keeps each session's
//! KV in a prefix cache. A burst can tip it into a *trap*: every turn misses, the queue grows,
//! and it does not recover at a load it served before.
//!
//! # A tour
//!
//! What is fixed before a run is read once and checked: cells (an engine with its calibration),
//! workloads (what sessions are like), protocols (when the burst comes, which window is judged)
//! and registrations (decision rules). [`setup`] has them.
//!
//! ```
//! use std::path::Path;
//! use trapcheck::{configs, directory};
//!
//! let configs = configs::load(Path::new("configs"))?;
//! let (cell, workload, protocol) = configs.of_cell("sglang-300k").ok_or("no such cell")?;
//!
//! // Model F says what a trapped engine does: the gap between a session's turns grows by
//! // gamma seconds per second, while the backlog grows by alpha sessions per second.
//! use trapcheck::model::Theory;
//! let theory = Theory::of(cell, workload)?;
//! let trap = theory.trap(theory.rate_per_s(1.65))?.ok_or("it empties")?;
//! assert_eq!(format!("{:.5} {:.5}", trap.gamma, trap.alpha_per_s), "0.02301 0.03016");
//! // Below its all-miss capacity a queue of misses empties, and there is no trap.
//! assert!(theory.trap(theory.rate_per_s(0.9))?.is_none());
//!
//! // A plan says who arrives when, for how many turns. It depends on workload, seed and rate
//! // alone, so every arm of a seed meets the same sessions.
//! use trapcheck::setup::ArmSpec;
//! use trapcheck::sim::{Options, RunSpec, plan_of};
//! let arm = ArmSpec::Burst { sessions: None };
//! let options = Options::default();
//! let spec = RunSpec { cell, workload, protocol, arm: &arm, multiple: Some(1.65), seed: 0, options };
//! let plan = plan_of(&spec)?;
//! assert!(plan.sessions.len() > 200);
//!
//! // A run directory is read and checked as a whole. This one is of a real vLLM, after a burst.
//! use trapcheck::directory::LoadOptions;
//! let batch = Path::new("results/vllm-cpu/cpu_1_pulled_20261129-125700");
//! let dir = batch.join("agentload_burst/20261129-121107_x1.5_s0");
//! let run = directory::load(&dir, &LoadOptions::default())?;
//!
//! // It is measured over its window, and judged by a rule's thresholds: here the published ones.
//! use trapcheck::measure::measure;
//! use trapcheck::rule::state::{Load, State, judge};
//! use trapcheck::setup::PairedThresholds;
//! let (cell, _, protocol) = configs.of_cell(&run.meta.cell).ok_or("no such cell")?;
//! let load = Load {
//!     lambda_per_s: run.meta.rate.lambda.ok_or("a closed run")?,
//!     lambda_ref_per_s: cell.lambda_ref_per_s,
//!     all_miss_tokens_per_s: cell.all_miss_tokens_per_s.ok_or("not calibrated")?,
//! };
//! let judged = judge(&measure(&run, protocol), load, &PairedThresholds::default());
//! assert_eq!(judged.state, State::Trapped);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! From there [`law`] sets a stuck run beside model F, [`analysis`] does all this for the runs
//! that a file in `analysis/` names, [`table`] and [`figure`] print and draw them, and
//! [`numbers`] ties each number to the bytes it came from. [`sim`] makes runs of its own, which
//! say that they are simulated. The command line is the program's, in `src/cli/`;
//! `docs/architecture.md` has the whole picture, and `examples/` three small programs.
//!
//! # What is promised
//!
//! The library never prints, never exits, and touches files only in the modules whose job that
//! is. The same inputs give the same bytes at any number of threads. What a run cannot say is
//! unknown (`None`), never 0.

pub mod analysis;
pub mod campaign;
pub mod configs;
pub mod directory;
pub mod fidelity;
pub mod files;
pub mod numbers;
pub mod observed;
pub mod page;
pub mod provenance;
pub mod published;
pub mod query;
pub mod reading;
pub mod rendering;
pub mod replay;
pub mod sessions;
pub mod slurm;
pub mod table;

pub use trapcheck_drawing::figure;
pub use trapcheck_model::model;
pub use trapcheck_observed::{answer, form, format, import, read};
pub use trapcheck_runs::{judged, law, measure, rule, run};
pub use trapcheck_setup::{digits, escape, name, nearest};
pub use trapcheck_simulator::{client, knee, plan, sim};

use trapcheck_setup::{date, hash, limits};

/// What is fixed before a run: cells, workloads, protocols, arms and campaigns; and, with the
/// rules that read them, registrations.
pub mod setup {
    pub use trapcheck_runs::configs::Configs;
    pub use trapcheck_runs::rule::registration::{
        self, PairedThresholds, Registration, RegistrationFile,
    };
    pub use trapcheck_setup::setup::*;
}
