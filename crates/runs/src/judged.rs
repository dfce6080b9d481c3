//! Runs and tests, judged: what was measured on a run, which registration judges it and what
//! that is worth, its state, a registered test's verdict over all its runs, and how each would
//! come out by another rule. Values in, values out: reading and keeping runs is
//! the application's, and so is setting them in tables.

pub mod binding;
pub mod bound;
pub mod moments;
pub mod score;
pub mod statistics;
pub mod verdict;
pub mod what_if;

use std::sync::Arc;

pub use binding::RunBinding;
pub use bound::BoundBy;
pub use score::{ScoredRun, Scoring};
pub use statistics::Unreadable;

use statistics::RunStatistics;

/// A run's statistics, or why it has none.
pub type Measured = Result<Arc<RunStatistics>, Unreadable>;
