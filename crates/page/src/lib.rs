//! The page's questions, answered: one JSON text to another (`README.md` has the shapes).
//!
//! A question's fields are the flags of the command that answers it, and what is answered is
//! what that command prints with `--format json`, made by the same code. Beside it are the
//! command line itself, the tables with their stated digits, and lines to draw.
//!
//! Pure: dropped files come as bytes.

use trapcheck_answers::Refused;
use trapcheck_model::model;
use trapcheck_runs::{judged, measure, run};
use trapcheck_setup::setup;
use trapcheck_simulator::{knee as ladder, sim};

pub mod answer;
pub mod command;
pub mod dropped;
pub mod engines;
pub mod judge;
pub mod knee;
pub mod lists;
pub mod logs;
pub mod question;
pub mod reply;
pub mod run_files;
pub mod simulate;
pub mod theory;

pub use answer::{answer, answer_live, answer_logs, answer_runs, answer_with};
