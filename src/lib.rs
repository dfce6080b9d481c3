//! trapcheck: a reproducible analysis of cache traps in LLM serving engines.
//!
//! Data flows one way: run directories are read and checked ([`run`]), measured
//! ([`measure`]), judged by registered rules and compared with model F, set in
//! tables, drawn, and tied to their sources. The library never prints, never
//! exits, and touches files only in the modules whose job that is.

pub mod analysis;
pub mod campaign;
pub mod cli;
pub mod configs;
pub mod directory;
pub mod fidelity;
mod files;
pub mod judged;
pub mod numbers;
pub mod provenance;
pub mod published;
mod reading;
pub mod rendering;
pub mod replay;
pub mod slurm;
pub mod table;

pub use trapcheck_drawing::figure;
pub use trapcheck_model::model;
pub use trapcheck_runs::{law, measure, rule, run};
pub use trapcheck_setup::{digits, escape, name, nearest, setup};
pub use trapcheck_simulator::{client, plan, sim};

use trapcheck_setup::{hash, limits};
