//! From run directories to verdicts, tables and figures.
//!
//! [`store`] measures runs and keeps what it measured, [`crate::judged`] judges them; [`spec`]
//! is what a file in `analysis/` says; [`outputs`] makes its tables and figures; [`draw`] turns
//! scored runs into a figure's input. Results are in order of path, whatever the threads did.

pub mod batches;
pub mod campaign_names;
pub mod draw;
pub mod ensemble;
pub mod fill;
pub mod output_names;
pub mod outputs;
pub mod simulated;
pub mod sources;
pub mod spec;
pub mod store;
mod tables;
pub mod theory_tables;

pub use crate::judged::{
    Binding, ScoredRun, Scoring, binding, score, statistics, verdict, what_if,
};
pub use outputs::Project;
pub use spec::Analysis;
