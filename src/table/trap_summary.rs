//! The trap check summed up: how many stuck runs serve the tilted mix, how far the gap,
//! the completions and the backlog lie from model F (sec. 4, App. B).

use std::collections::BTreeMap;

use crate::judged::ScoredRun;
use crate::law::TrapCheck;
use crate::law::trap_check::{Entry, ServedTrap};
use crate::measure::stats;
use crate::setup::Configs;

use super::{Cell, Column, Row, Table};

/// A run serves the tilted mix if its mean prompt is within this share of it (sec. 4).
const PROMPT_WITHIN: f64 = 0.03;

const COLUMNS: &[Column] = &[
    Column::key("workload", ""),
    Column::key("cell", ""),
    Column::key("arms", ""),
    Column::key("source", ""),
    Column::key("calibration", ""),
    Column::new("runs", ""),
    Column::new("prompt_within_3pct", "runs"),
    Column::new("prompt_error_least_pct", "%"),
    Column::new("prompt_error_most_pct", "%"),
    Column::new("gap_ratio_median", ""),
    Column::new("gap_ratio_mean", ""),
    Column::new("gap_ratio_least", ""),
    Column::new("gap_ratio_most", ""),
    Column::new("completions_least_multiple", "lambda_ref"),
    Column::new("completions_most_multiple", "lambda_ref"),
    Column::new("completions_over_model_mean", ""),
    Column::new("completions_over_model_least", ""),
    Column::new("completions_over_model_most", ""),
    Column::new("token_rate_ratio_least", ""),
    Column::new("token_rate_ratio_most", ""),
    Column::new("net_of_token_rate_least", "lambda_ref"),
    Column::new("net_of_token_rate_most", "lambda_ref"),
    Column::new("backlog_over_alpha_mean", ""),
    Column::new("backlog_over_alpha_median", ""),
    Column::new("backlog_over_alpha_least", ""),
    Column::new("backlog_over_alpha_most", ""),
    Column::new("backlog_over_quasi_static_mean", ""),
    Column::new("quasi_static_over_alpha_least", ""),
    Column::new("quasi_static_over_alpha_most", ""),
];

type Group<'a> = Vec<(&'a ScoredRun, &'a TrapCheck, &'a ServedTrap)>;

/// The table: all cells of a workload together (`all`), and each cell; runs after a
/// trigger, runs from empty, whose window differs, and runs whose arrivals or admission
/// changed in the trap apart.
pub fn table(runs: &[ScoredRun], configs: &Configs) -> Table {
    let mut groups: BTreeMap<[&str; 5], Group<'_>> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.stuck == Some(true)) {
        let arms = Entry::of(&run.meta.arm).words();
        let workload = configs.of_cell(&run.meta.cell).map_or("", |(_, w, _)| w.name.as_str());
        for check in run.checks.iter().flatten() {
            let Some(trap) = &check.trap else { continue };
            for cell in [run.meta.cell.as_str(), "all"] {
                let source = run.meta.source.word();
                let key = [workload, cell, arms, source, check.calibration.words()];
                groups.entry(key).or_default().push((run, check, trap));
            }
        }
    }
    Table {
        name: "trap_summary".into(),
        title: "Stuck runs against model F, summed up".into(),
        columns: COLUMNS.to_vec(),
        rows: groups.iter().map(|(key, group)| row(key, group)).collect(),
    }
}

fn row(key: &[&str; 5], group: &Group<'_>) -> Row {
    let over = |of: &dyn Fn(&ScoredRun, &ServedTrap) -> Option<f64>| -> Vec<f64> {
        group.iter().filter_map(|(run, _, trap)| of(run, trap)).collect()
    };
    let window = |run: &ScoredRun| run.measures.window.clone();
    let prompt =
        over(&|run, trap| Some(window(run)?.mean_prompt_tokens? / trap.prompt_tokens - 1.0));
    let gap = over(&|run, trap| Some(window(run)?.gap_slope? / trap.trap.slope));
    let completions =
        over(&|run, _| Some(window(run)?.completions_per_s / run.load?.lambda_ref_per_s));
    let model =
        over(&|run, trap| Some(window(run)?.completions_per_s / trap.trap.completions_per_s));
    let tokens = over(&|run, _| token_rate_ratio(run));
    let net = over(&|run, _| {
        let multiple = window(run)?.completions_per_s / run.load?.lambda_ref_per_s;
        Some(multiple / token_rate_ratio(run)?)
    });
    let alpha = over(&|run, trap| Some(window(run)?.backlog_slope_per_s? / trap.trap.alpha_per_s));
    let quasi_static = over(&|run, trap| {
        let excess = trap.trap.lambda_per_s - trap.trap.lambda_miss_per_s;
        Some(window(run)?.backlog_slope_per_s? / excess)
    });
    let excess = over(&|_, trap| Some(trap.trap.quasi_static_excess()));
    let within = prompt.iter().filter(|error| error.abs() <= PROMPT_WITHIN).count();
    let percent = |x: Option<f64>| Cell::known(x.map(|x| 100.0 * x), 1);
    let number = |x: Option<f64>| Cell::known(x, 3);
    let [prompt_least, prompt_most] = range(&prompt);
    let mut cells: Vec<Cell> = key.iter().map(|word| Cell::text(*word)).collect();
    cells.extend([
        Cell::Count(group.len() as u64),
        Cell::Count(within as u64),
        percent(prompt_least),
        percent(prompt_most),
        number(stats::median(&gap)),
        number(stats::mean(&gap)),
    ]);
    cells.extend(range(&gap).map(number));
    cells.extend(range(&completions).map(number));
    cells.push(number(stats::mean(&model)));
    cells.extend(range(&model).map(number));
    cells.extend(range(&tokens).map(number));
    cells.extend(range(&net).map(number));
    cells.extend([number(stats::mean(&alpha)), number(stats::median(&alpha))]);
    cells.extend(range(&alpha).map(number));
    cells.push(number(stats::mean(&quasi_static)));
    cells.extend(range(&excess).map(number));
    let sources = group.iter().flat_map(|(run, ..)| run.sources.clone()).collect();
    Row { key: key.join("/"), cells, sources }
}

/// The run's uncached token rate over the all-miss rate of its cell.
fn token_rate_ratio(run: &ScoredRun) -> Option<f64> {
    let rate = run.measures.window.as_ref()?.uncached_tokens_per_s?;
    Some(rate / run.load?.all_miss_tokens_per_s).filter(|ratio| ratio.is_finite())
}

fn range(values: &[f64]) -> [Option<f64>; 2] {
    let pick = |pick: fn(f64, f64) -> f64| values.iter().copied().reduce(pick);
    [pick(f64::min), pick(f64::max)]
}
