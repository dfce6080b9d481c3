//! The trap check summed up: how many stuck runs serve the tilted mix, how far the gap,
//! the completions and the backlog lie from model F (sec. 4, App. B).

use std::collections::BTreeMap;

use crate::judged::ScoredRun;
use crate::law::trap_check::{Entry, ServedTrap};
use crate::measure::{WindowMeasures, stats};
use crate::model::Trap;
use crate::setup::Configs;

use super::about_run::token_rate_ratio;
use super::{Cell, Col, Heading, Table};

/// A run serves the tilted mix if its mean prompt is within this share of it (sec. 4).
const PROMPT_WITHIN: f64 = 0.03;

/// Stuck runs of one kind, with model F's traps.
struct Group<'a> {
    /// Workload, cell (or `all`), arms, source and calibration.
    key: [&'a str; 5],
    runs: Vec<(&'a ScoredRun, &'a ServedTrap)>,
}

impl Group<'_> {
    /// What each run that can say gives.
    fn each(&self, of: impl Fn(&ScoredRun, &WindowMeasures, &Trap) -> Option<f64>) -> Vec<f64> {
        let found = |(run, served): &(&ScoredRun, &ServedTrap)| {
            of(run, run.measures.window.as_ref()?, &served.trap)
        };
        self.runs.iter().filter_map(found).collect()
    }

    /// How far each mean prompt is off the tilted mix's, as a share of it.
    fn prompt_errors(&self) -> Vec<f64> {
        let error = |(run, served): &(&ScoredRun, &ServedTrap)| {
            let prompt = run.measures.window.as_ref()?.mean_prompt_tokens?;
            Some(prompt / served.prompt_tokens - 1.0)
        };
        self.runs.iter().filter_map(error).collect()
    }

    fn gap_ratios(&self) -> Vec<f64> {
        self.each(|_, w, trap| Some(w.gap_slope? / trap.slope))
    }

    fn completions_multiples(&self) -> Vec<f64> {
        self.each(|run, w, _| Some(w.completions_per_s / run.load?.lambda_ref_per_s))
    }

    fn completions_over_model(&self) -> Vec<f64> {
        self.each(|_, w, trap| Some(w.completions_per_s / trap.completions_per_s))
    }

    fn token_rate_ratios(&self) -> Vec<f64> {
        self.each(|run, _, _| token_rate_ratio(run))
    }

    fn net_of_token_rate(&self) -> Vec<f64> {
        self.each(|run, w, _| {
            let multiple = w.completions_per_s / run.load?.lambda_ref_per_s;
            Some(multiple / token_rate_ratio(run)?)
        })
    }

    fn backlog_over_alpha(&self) -> Vec<f64> {
        self.each(|_, w, trap| Some(w.backlog_slope_per_s? / trap.alpha_per_s))
    }

    fn backlog_over_quasi_static(&self) -> Vec<f64> {
        self.each(|_, w, trap| {
            Some(w.backlog_slope_per_s? / (trap.lambda_per_s - trap.lambda_miss_per_s))
        })
    }

    /// Of the traps, whether the run was measured or not.
    fn quasi_static_over_alpha(&self) -> Vec<f64> {
        self.runs.iter().map(|(_, served)| served.trap.quasi_static_excess()).collect()
    }
}

fn columns<'a>() -> Vec<Col<Group<'a>>> {
    vec![
        Heading("workload", "", "The group's workload").key(|of| Cell::text(of.key[0])),
        Heading("cell", "", "The group's cell").key(|of| Cell::text(of.key[1])),
        Heading("arms", "", "The group's arms").key(|of| Cell::text(of.key[2])),
        Heading("source", "", "What made the runs: engine or simulator")
            .key(|of| Cell::text(of.key[3])),
        Heading("calibration", "", "Which costs: the cell's, or the cell's at the run's own speed")
            .key(|of| Cell::text(of.key[4])),
        Heading("runs", "", "Runs that the row counts").count(|of| of.runs.len() as u64),
        Heading("prompt_within_3pct", "runs", "Runs with a prompt within 3 % of the model's")
            .count(|of| {
                let errors = of.prompt_errors();
                errors.iter().filter(|error| error.abs() <= PROMPT_WITHIN).count() as u64
            }),
        Heading("prompt_error_least_pct", "%", "Least error of the tilted mix's mean prompt")
            .known(1, |of| Some(100.0 * least(&of.prompt_errors())?)),
        Heading("prompt_error_most_pct", "%", "Greatest error of the tilted mix's mean prompt")
            .known(1, |of| Some(100.0 * most(&of.prompt_errors())?)),
        Heading("gap_ratio_median", "", "Median gap slope over 1 - 1/z")
            .known(3, |of| stats::median(&of.gap_ratios())),
        Heading("gap_ratio_mean", "", "Mean gap slope over 1 - 1/z")
            .known(3, |of| stats::mean(&of.gap_ratios())),
        Heading("gap_ratio_least", "", "Least gap slope over 1 - 1/z")
            .known(3, |of| least(&of.gap_ratios())),
        Heading("gap_ratio_most", "", "Greatest gap slope over 1 - 1/z")
            .known(3, |of| most(&of.gap_ratios())),
        Heading("completions_least_multiple", "lambda_ref", "Least completions over lambda_ref")
            .known(3, |of| least(&of.completions_multiples())),
        Heading("completions_most_multiple", "lambda_ref", "Greatest completions over lambda_ref")
            .known(3, |of| most(&of.completions_multiples())),
        Heading("completions_over_model_mean", "", "Mean completions over model F's")
            .known(3, |of| stats::mean(&of.completions_over_model())),
        Heading("completions_over_model_least", "", "Least completions over model F's")
            .known(3, |of| least(&of.completions_over_model())),
        Heading("completions_over_model_most", "", "Greatest completions over model F's")
            .known(3, |of| most(&of.completions_over_model())),
        Heading("token_rate_ratio_least", "", "Least uncached over all-miss token rate")
            .known(3, |of| least(&of.token_rate_ratios())),
        Heading("token_rate_ratio_most", "", "Greatest uncached over all-miss token rate")
            .known(3, |of| most(&of.token_rate_ratios())),
        Heading(
            "net_of_token_rate_least",
            "lambda_ref",
            "Least completions over lambda_ref, net of the token rate ratio",
        )
        .known(3, |of| least(&of.net_of_token_rate())),
        Heading(
            "net_of_token_rate_most",
            "lambda_ref",
            "Greatest completions over lambda_ref, net of the token rate ratio",
        )
        .known(3, |of| most(&of.net_of_token_rate())),
        Heading("backlog_over_alpha_mean", "", "Mean backlog slope over alpha")
            .known(3, |of| stats::mean(&of.backlog_over_alpha())),
        Heading("backlog_over_alpha_median", "", "Median backlog slope over alpha")
            .known(3, |of| stats::median(&of.backlog_over_alpha())),
        Heading("backlog_over_alpha_least", "", "Least backlog slope over alpha")
            .known(3, |of| least(&of.backlog_over_alpha())),
        Heading("backlog_over_alpha_most", "", "Greatest backlog slope over alpha")
            .known(3, |of| most(&of.backlog_over_alpha())),
        Heading("backlog_over_quasi_static_mean", "", "Mean slope over the quasi-static one")
            .known(3, |of| stats::mean(&of.backlog_over_quasi_static())),
        Heading("quasi_static_over_alpha_least", "", "Least quasi-static slope over alpha")
            .known(3, |of| least(&of.quasi_static_over_alpha())),
        Heading("quasi_static_over_alpha_most", "", "Greatest quasi-static slope over alpha")
            .known(3, |of| most(&of.quasi_static_over_alpha())),
    ]
}

/// The table: all cells of a workload together (`all`), and each cell; runs after a
/// trigger, runs from empty, whose window differs, and runs whose arrivals or admission
/// changed in the trap apart.
pub fn table(runs: &[ScoredRun], configs: &Configs) -> Table {
    let mut groups: BTreeMap<[&str; 5], Vec<(&ScoredRun, &ServedTrap)>> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.stuck == Some(true)) {
        let arms = Entry::of(&run.meta.arm).words();
        let workload = configs.of_cell(&run.meta.cell).map_or("", |(_, w, _)| w.name.as_str());
        for check in run.checks.iter().flatten() {
            let Some(trap) = &check.trap else { continue };
            for cell in [run.meta.cell.as_str(), "all"] {
                let source = run.meta.source.word();
                let key = [workload, cell, arms, source, check.calibration.words()];
                groups.entry(key).or_default().push((run, trap));
            }
        }
    }
    let rows = groups.into_iter().map(|(key, runs)| Group { key, runs });
    let title = "Stuck runs against model F, summed up";
    Table::of("trap_summary", title, &columns(), rows, |of| {
        (of.key.join("/"), of.runs.iter().flat_map(|(run, _)| run.sources.clone()).collect())
    })
}

fn least(values: &[f64]) -> Option<f64> {
    values.iter().copied().reduce(f64::min)
}

fn most(values: &[f64]) -> Option<f64> {
    values.iter().copied().reduce(f64::max)
}
