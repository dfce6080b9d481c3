//! Runs and tests, judged: what was measured on a run, which registration judges it and what
//! that is worth, its state, a registered test's verdict over all its runs, and how each would
//! come out by another rule. Values in, values out: reading and keeping runs is
//! [`crate::analysis`]'s, setting them in tables [`crate::table`]'s.

pub(crate) mod binding;
pub mod score;
pub(crate) mod statistics;
pub(crate) mod verdict;
pub(crate) mod what_if;

use std::sync::Arc;

pub use binding::Binding;
pub use score::{ScoredRun, Scoring};
pub use statistics::Unreadable;

use statistics::RunStatistics;

/// A run's statistics, or why it has none.
pub type Measured = Result<Arc<RunStatistics>, Unreadable>;
