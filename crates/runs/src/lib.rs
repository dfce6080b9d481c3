//! Runs: their rows, read from tables that are unpacked already and checked; what is measured
//! on them; the registered rules that judge them; a run against model F; and runs judged.
//!
//! Pure: no files, no threads. Finding, unpacking and writing run directories is the
//! application's.

use trapcheck_model::model;
use trapcheck_setup::{date, decimal, escape, hash, limits, nearest, parse_message, setup};

pub mod configs;
pub mod judged;
pub mod law;
pub mod measure;
pub mod rule;
pub mod run;
