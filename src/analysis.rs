//! From run directories to verdicts, tables and figures.
//!
//! [`score`] judges runs one by one, [`verdict`] a registered test over all of them;
//! [`binding`] says which registration judges a run and what that is worth, [`what_if`] how it
//! would come out by another rule; [`spec`] is what a file in `analysis/` says; [`outputs`] makes
//! its tables and figures; [`draw`] turns scored runs into a figure's input. Results are in
//! order of path, whatever the threads did.

pub mod batches;
pub mod binding;
pub mod campaign_names;
pub mod draw;
pub mod fill;
pub mod output_names;
pub mod outputs;
pub mod replay;
pub mod score;
pub mod simulated;
pub mod sources;
pub mod spec;
pub mod statistics;
pub mod store;
mod tables;
pub mod theory_tables;
pub mod verdict;
pub mod what_if;

pub use binding::Binding;
pub use outputs::Project;
pub use score::{ScoredRun, Scoring};
pub use spec::Analysis;
