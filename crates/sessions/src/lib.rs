//! Recorded agent sessions: one form, a list of turns with what is known of each, whatever
//! format a trace was published in.
//!
//! Pure: values only. Finding, unpacking and writing files is the application's.

use trapcheck_setup::limits;

pub mod session;
