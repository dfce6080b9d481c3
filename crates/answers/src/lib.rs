//! What a question is answered with: the cell, load or engine that is asked about, and the
//! tables and JSON that say what was found. The command line and the page share all of it, so
//! that neither has a formula, a default or a word of its own.
//!
//! Pure: no files, no threads. Whoever asks hands over the configuration and what was read.

use trapcheck_model::model;
use trapcheck_observed::{answer, form, format};
use trapcheck_runs::{judged, law, measure, rule, run};
use trapcheck_setup::{digits, escape, nearest};
use trapcheck_simulator::{knee as ladder, sim};
use trapcheck_tables::table;

pub mod about_run;
pub mod arm;
pub mod built_in;
pub mod burst;
mod cell;
pub mod curve;
pub mod drain;
pub mod engine;
pub mod facts;
pub mod knee;
pub mod lines;
pub mod observed;
pub mod paired;
pub mod print;
pub mod refused;
pub mod rescue;
pub mod runs;
pub mod score;
pub mod search;
pub mod services;
pub mod trap;
pub mod trap_check;
pub mod which;
pub mod workload;

pub use refused::Refused;

/// What is fixed before a run, with the rules that read it.
mod setup {
    pub use trapcheck_runs::configs::Configs;
    pub use trapcheck_runs::rule::registration::Registration;
    pub use trapcheck_setup::setup::*;
}
