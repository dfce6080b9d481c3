//! From run directories to verdicts, tables and figures.
//!
//! [`score`] reads, measures and judges runs in parallel, one at a time per
//! thread; [`spec`] is what a file in `analysis/` says; [`outputs`] makes its
//! tables and figures. Results are in order of path, whatever the threads did.

pub mod fill;
pub mod outputs;
pub mod score;
pub mod spec;
mod stampede_input;
pub mod verdict;

pub use score::{Binding, Scored, ScoredRun, Scoring};
pub use spec::Analysis;
