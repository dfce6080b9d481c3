//! Registered decision rules: pure functions of measurements and a registration.
//!
//! A kind of registered test is one file, named after it, that holds its parameters, the role
//! of a run in it, what it measures, how it judges and its tables: an implementation of
//! [`registered::RegisteredTest`]. [`test`] lists them. The other files hold what several tests
//! ask: clauses, states, votes.
//!
//! A rule has no threshold of its own; it reads them from the registration. What
//! a run cannot say leaves a clause open, and an open clause never decides.

mod clause;
pub mod cut;
pub mod edge;
pub mod endpoint;
pub mod endpoints;
pub mod goodput;
mod in_words;
pub mod json;
mod mechanism;
pub mod mirror;
pub mod outcome;
pub mod paired;
pub mod persistence;
mod queue_limit;
pub mod registered;
pub mod registration;
pub(crate) mod replicate;
pub mod rescue;
pub mod stability;
pub mod state;
pub mod test;
#[cfg(test)]
mod testing;
pub mod three_way;
mod thresholds;
pub mod trap_law;
pub mod trigger;
mod vote;

pub use clause::{Clause, Comparison};
pub use outcome::{Group, Labelled, Outcome, PairedVerdict, SeedOutcome};
pub use registered::{RegisteredTest, Role};
pub use registration::rule_in_words;
pub use state::{Load, RunState, State};
pub use vote::RateVerdict;
