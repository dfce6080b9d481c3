//! The entry model: the throughput mu(n) of a closed population, from hits at a small
//! population to the all-miss branch at a large one (App. E.9, Eq. (4), Prop. 3 and 4).
//!
//! Idle KV is evicted at one deterministic age R (Assumption MF), running turns reserve
//! their KV, and a queue forms only when they fill the pool (S5). Left out: fluctuations of
//! the few objects a pool holds (layer H1), packing slack, retraction and prefill queueing.

pub mod entry;
pub mod layers;
pub mod slowdown;
pub mod trace;

pub use entry::{EntryModel, Onset, StationaryState};
pub use trace::{Curve, Fold};

#[cfg(test)]
#[path = "curve/tests.rs"]
mod tests;
