//! Registered decision rules: pure functions of measurements and a registration.
//!
//! A rule has no threshold of its own; it reads them from the registration. What
//! a run cannot say leaves a clause open, and an open clause never decides.

pub mod clause;
pub mod crossing;
pub mod cut;
pub mod endpoint;
pub mod goodput;
pub mod mechanism;
pub mod mirror;
pub mod outcome;
pub mod pairing;
pub mod persistence;
pub mod queue_limit;
pub mod rescue;
pub mod stability;
pub mod state;
#[cfg(test)]
mod testing;
pub mod trap_law;
pub mod trigger;
pub mod vote;

pub use clause::{Clause, Comparison};
pub use outcome::{Group, Labelled, Outcome};
pub use pairing::{PairedVerdict, RateVerdict, SeedOutcome};
pub use state::{Load, RunState, State};
