//! Files that engines and load generators leave behind, and the answer they give.
//!
//! [`read`] takes a file as a stream of bytes, in any pieces, and makes one [`form`] of it:
//! a time series per engine, requests, or both. [`answer`] says from that whether an engine is
//! trapped, since when and on which evidence; [`import`] makes runs of format 1 of it.
//!
//! Pure: no files, no threads. What a source does not say stays unknown, and what was left
//! out of it is counted with its reason.

use trapcheck_model::model;
use trapcheck_runs::{measure, rule, run};
use trapcheck_setup::{date, digits, setup};

pub mod answer;
pub mod form;
pub mod format;
pub mod import;
pub mod read;
pub mod sessions;
