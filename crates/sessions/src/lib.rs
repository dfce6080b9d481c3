//! Recorded agent sessions: one form, a list of turns with what is known of each, whatever
//! format a trace was published in.
//!
//! [`read`] takes a stream of bytes and hands on one [`session::Session`] at a time; what it
//! leaves out is counted, with the reason. [`description::Description`] says what a set of them
//! is like, [`empirical::Empirical`] is a workload fitted to a set, and [`workload`] makes of either what runs
//! play. Pure: finding, unpacking and writing files is the application's.

use trapcheck_setup::{digits, limits};

mod cell;
pub mod description;
pub mod empirical;
mod objects;
pub mod play;
pub mod reading;
mod row;
mod rows;
pub mod sample;
pub mod session;
mod spans;
pub mod table;
mod trace;
mod turn_arrays;
mod weka;
pub mod workload;

pub use reading::Names;
pub use row::Inputs;
pub use trace::read;
