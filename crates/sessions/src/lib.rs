//! Recorded agent sessions: one form, a list of turns with what is known of each, whatever
//! format a trace was published in.
//!
//! [`read`] takes a stream of bytes and hands on one [`session::Session`] at a time; what it
//! leaves out is counted, with the reason. Pure: finding, unpacking and writing files is the
//! application's.

use trapcheck_setup::limits;

mod cell;
pub mod play;
pub mod reading;
pub mod session;
pub mod table;
mod trace;

pub use trace::{Inputs, Names, read};
