//! Registered decision rules: pure functions of measurements and a registration.
//!
//! A rule has no threshold of its own; it reads them from the registration. What
//! a run cannot say leaves a clause open, and an open clause never decides.

pub mod clause;
pub mod pairing;
pub mod state;

pub use clause::{Clause, Comparison};
pub use pairing::{Arm, PairedVerdict, RateVerdict, SeedOutcome};
pub use state::{Load, RunState, State};
