//! The paired test's arms as ranges over seeds, a row per cell, rate and arm (Table 7).

use std::collections::BTreeMap;

use crate::judged::ScoredRun;
use crate::measure::WindowMeasures;
use crate::rule::{Arm, State};

use super::{Cell, Column, Row, Table};

const COLUMNS: &[Column] = &[
    Column::key("cell", ""),
    Column::key("source", ""),
    Column::key("rate_multiple", "lambda_ref"),
    Column::key("arm", ""),
    Column::new("seeds", ""),
    Column::new("states", ""),
    Column::new("hit_fraction_least", ""),
    Column::new("hit_fraction_most", ""),
    Column::new("uncached_over_all_miss_least", ""),
    Column::new("uncached_over_all_miss_most", ""),
    Column::new("backlog_least_sessions", "sessions"),
    Column::new("backlog_most_sessions", "sessions"),
    Column::new("backlog_slope_least_per_s", "sessions/s"),
    Column::new("backlog_slope_most_per_s", "sessions/s"),
];

/// Runs that belong together: a cell, a source, a rate and an arm.
pub type Group<'a> = ((String, &'static str, u64, Arm), Vec<&'a ScoredRun>);

/// The judged runs of the paired test's arms by cell, source, rate and arm, seeds in order.
pub fn groups(runs: &[ScoredRun]) -> Vec<Group<'_>> {
    let mut groups: BTreeMap<(String, &'static str, u64, Arm), Vec<&ScoredRun>> = BTreeMap::new();
    for run in super::judged_for_the_paired_test(runs) {
        let Some((arm, multiple)) = Arm::of(&run.meta.arm).zip(run.meta.rate.multiple) else {
            continue;
        };
        let rate = (multiple * 1e6).round() as u64;
        let key = (run.meta.cell.clone(), run.meta.source.word(), rate, arm);
        groups.entry(key).or_default().push(run);
    }
    for runs in groups.values_mut() {
        runs.sort_by(|a, b| a.meta.seed.cmp(&b.meta.seed).then_with(|| a.dir.cmp(&b.dir)));
    }
    groups.into_iter().collect()
}

/// The table.
pub fn table(runs: &[ScoredRun]) -> Table {
    Table {
        name: "paired_ranges".into(),
        title: "Paired test: states per seed, and ranges over seeds in the window".into(),
        columns: COLUMNS.to_vec(),
        rows: groups(runs).iter().map(row).collect(),
    }
}

fn row(((cell, source, rate, arm), runs): &Group<'_>) -> Row {
    let rate = *rate as f64 / 1e6;
    let seeds: Vec<String> = runs.iter().map(|r| r.meta.seed.to_string()).collect();
    let letters: Vec<&str> =
        runs.iter().filter_map(|r| r.state.as_ref().map(|s| letter(s.state))).collect();
    let mut cells = vec![
        Cell::text(cell),
        Cell::text(*source),
        Cell::Number(rate, 2),
        Cell::text(arm.word()),
        Cell::text(seeds.join(" ")),
        Cell::text(letters.join(" ")),
    ];
    let over = |of: &dyn Fn(&ScoredRun, &WindowMeasures) -> Option<f64>, digits| {
        let values: Option<Vec<f64>> =
            runs.iter().map(|run| run.measures.window.as_ref().and_then(|w| of(run, w))).collect();
        let range = |pick: fn(f64, f64) -> f64| {
            // One unknown seed leaves the range unknown: it might lie outside.
            Cell::known(values.as_ref().and_then(|v| v.iter().copied().reduce(pick)), digits)
        };
        [range(f64::min), range(f64::max)]
    };
    cells.extend(over(&|_, w| w.hits.value(), 3));
    cells.extend(over(
        &|run, w| {
            let all_miss = run.load?.all_miss_tokens_per_s;
            w.uncached_tokens_per_s.map(|rate| rate / all_miss).filter(|r| r.is_finite())
        },
        3,
    ));
    cells.extend(over(&|_, w| Some(w.backlog_mean), 1));
    cells.extend(over(&|_, w| w.backlog_slope_per_s, 4));
    Row {
        key: format!("{cell}/{source}/{rate:.2}/{}", arm.word()),
        cells,
        sources: runs.iter().flat_map(|run| run.sources.clone()).collect(),
    }
}

/// A state as Table 7 abbreviates it.
const fn letter(state: State) -> &'static str {
    match state {
        State::Trapped => "T",
        State::Recovered => "R",
        State::Draining => "D",
        State::Indeterminate => "I",
        State::Unmeasurable => "?",
    }
}
