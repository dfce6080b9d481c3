//! From run directories to verdicts, tables and figures.
//!
//! [`store`] measures runs and keeps what it measured, [`crate::judged`] judges them; [`spec`]
//! is what a file in `analysis/` says; [`project`] finds its runs and has them judged;
//! `tables.rs` lists the tables with how each is made, [`draw`] turns scored runs into a
//! figure's input, [`output_files`] are what both are written to. Results are in order of path,
//! whatever the threads did.

pub mod batches;
mod campaign_names;
pub mod draw;
pub mod ensemble;
mod error;
mod fidelity_table;
pub mod fill;
pub mod output_files;
pub mod output_names;
pub mod project;
pub mod reads;
mod simulated;
pub mod sources;
pub mod spec;
pub mod store;
mod tables;
pub(crate) mod theory_tables;

pub use crate::judged::{RunBinding, ScoredRun, Scoring, score};
pub(crate) use crate::judged::{statistics, verdict};
pub use error::AnalysisError;
pub use project::{Evaluated, Project};
pub use spec::Analysis;
