//! The calibrated simulator: the arrival plan, what a client does, the engine, and the run in
//! memory that comes of them.
//!
//! Pure: no files, no threads; the same inputs give the same bits.

use trapcheck_runs::{configs, measure, rule, run};
use trapcheck_setup::{hash, limits, setup};

pub mod client;
pub mod knee;
pub mod plan;
pub mod sim;
