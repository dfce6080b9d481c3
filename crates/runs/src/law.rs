//! A run against model F: the calibration of a cell from a cache-off run, the fill of a
//! registration from a calibration, and the
//! trap check of a stuck run (App. B).

pub mod calibrate;
mod error;
pub mod fill;
pub mod interval;
pub mod iteration;
pub mod iteration_log;
mod least_squares;
pub mod trap_check;

pub use calibrate::TurnCostFit;
pub use error::CalibrationError;
pub use iteration::IterationFit;
pub use trap_check::{TrapCheck, trap_checks};
