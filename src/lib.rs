//! trapcheck: a reproducible analysis of cache traps in LLM serving engines.
//!
//! Data flows one way: run directories are read and checked ([`run`]), measured
//! ([`measure`]), judged by registered rules and compared with model F, set in
//! tables, drawn, and tied to their sources. The library never prints, never
//! exits, and touches files only in the modules whose job that is.

pub mod analysis;
pub mod cli;
pub mod client;
mod decimal;
pub mod digits;
pub mod escape;
pub mod figure;
mod files;
mod hash;
pub mod law;
mod limits;
pub mod measure;
pub mod model;
pub mod name;
pub mod nearest;
pub mod numbers;
mod parse_message;
pub mod plan;
pub mod provenance;
mod reading;
pub mod rule;
pub mod run;
pub mod setup;
pub mod sim;
pub mod slurm;
pub mod table;
