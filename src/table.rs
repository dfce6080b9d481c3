//! Derived tables: typed rows with a unit per column and sources per row.
//!
//! One file per table under `table/`, which declares its columns once, each with its cell
//! ([`Col`]). A table is built from measurements and verdicts; csv, Markdown, LaTeX and JSON come from the same cells ([`form`]), with the
//! same stated digits, but for JSON, whose numbers are not rounded.

pub mod answers;
pub mod arm_counts;
pub(crate) mod binomial;
pub mod bins;
pub mod burst;
pub(crate) mod calibration;
pub(crate) mod cell_calibration;
pub mod client_cost;
pub mod closed_curve;
pub mod cohort;
pub(crate) mod crossing_fit;
pub(crate) mod crossings;
pub mod cut;
pub(crate) mod detector;
pub(crate) mod doses;
pub(crate) mod edges;
pub mod fidelity;
pub mod from_empty;
pub mod goodput;
pub mod loop_variables;
mod measured_curve;
pub mod mirror;
pub(crate) mod model_extras;
pub mod model_values;
pub mod paired_ranges;
pub mod persistence;
mod plan_model;
pub(crate) mod plug_in;
pub(crate) mod release_estimates;
pub mod rescue;
pub(crate) mod rule_values;
pub(crate) mod self_similarity;
pub(crate) mod sim_against_engine;
pub mod theory;
pub(crate) mod token_rates;
pub(crate) mod trap_scores;
pub(crate) mod trap_summary;
pub mod trigger;
pub mod verdict;
pub(crate) mod verdicts;
pub mod what_if;

use std::collections::BTreeSet;

pub use crate::digits::fixed;
use crate::judged::ScoredRun;
use crate::measure::RunMeasures;
use crate::measure::stretches::Stretches;
use crate::model::SessionMeans;
use crate::rule::state::is_stuck;
use crate::setup::Configs;
pub use trapcheck_answers::{about_run, runs};
pub use trapcheck_answers::{paired, trap_check};
pub use trapcheck_tables::table::{Cell, Col, Column, Heading, Row, Table};

/// What is found in stretches of a run; unknown where a turn in them is.
fn of_stretches(
    stretches: &Stretches,
    found: impl FnOnce(&Stretches) -> Option<f64>,
    digits: usize,
) -> Cell {
    if stretches.is_known() { Cell::optional(found(stretches), digits) } else { Cell::Unknown }
}

/// The runs of the paired test: judged by a registration, of one of its arms, and where any
/// run of a cell is bound to its registration, only those that are. Other tests have BURST
/// runs too.
fn judged_for_the_paired_test(runs: &[ScoredRun]) -> impl Iterator<Item = &ScoredRun> {
    let bound = |run: &ScoredRun| run.binding.is_bound();
    let of_arm = |run: &&ScoredRun| {
        let judged = run.state.is_some() && run.binding.is_of_a_registration();
        judged && crate::rule::paired::place(&run.meta.arm).is_some()
    };
    let kind = move |run: &ScoredRun| (run.meta.cell.clone(), run.meta.source.word());
    let with_bound: BTreeSet<_> =
        runs.iter().filter(of_arm).filter(|run| bound(run)).map(kind).collect();
    runs.iter().filter(of_arm).filter(move |run| bound(run) || !with_bound.contains(&kind(run)))
}

/// Whether a run is stuck over its window: its follow-up hit fraction is below the threshold.
fn stuck(measures: &RunMeasures, below: f64) -> Cell {
    Cell::yes_no(is_stuck(measures, below))
}

/// What a session of a cell's workload asks for on average.
fn session_means(configs: &Configs, cell: &str) -> Option<SessionMeans> {
    configs.of_cell(cell).map(|(_, workload, _)| SessionMeans::of(workload))
}
