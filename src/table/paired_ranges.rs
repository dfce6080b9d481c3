//! The paired test's arms as ranges over seeds, a row per cell, rate and arm (Table 7).

use std::collections::BTreeMap;

use crate::judged::ScoredRun;
use crate::measure::WindowMeasures;
use crate::rule::State;
use crate::setup::Arm;

use super::about_run::token_rate_ratio;
use super::{Cell, Col, Heading, Table};

/// Runs that belong together: a cell, a source, a rate and an arm.
pub type Group<'a> = ((String, &'static str, u64, &'a Arm), Vec<&'a ScoredRun>);

/// The judged runs of the paired test's arms by cell, source, rate and arm, seeds in order.
pub fn groups(runs: &[ScoredRun]) -> Vec<Group<'_>> {
    let mut groups: BTreeMap<(String, &'static str, u64, &Arm), Vec<&ScoredRun>> = BTreeMap::new();
    for run in super::judged_for_the_paired_test(runs) {
        let Some(multiple) = run.meta.rate.multiple else { continue };
        let rate = (multiple * 1e6).round() as u64;
        let key = (run.meta.cell.clone(), run.meta.source.word(), rate, &run.meta.arm);
        groups.entry(key).or_default().push(run);
    }
    for runs in groups.values_mut() {
        runs.sort_by(|a, b| a.meta.seed.cmp(&b.meta.seed).then_with(|| a.dir.cmp(&b.dir)));
    }
    groups.into_iter().collect()
}

fn columns<'a>() -> Vec<Col<Group<'a>>> {
    vec![
        Heading("cell", "", "Engine, GPU, model and pool, as named in configs/cells")
            .key(|((cell, ..), _)| Cell::text(cell)),
        Heading("source", "", "What made the runs: engine or simulator")
            .key(|((_, source, ..), _)| Cell::text(*source)),
        Heading("rate_multiple", "lambda_ref", "Nominal arrival rate; none for closed runs")
            .key(|((.., rate, _), _)| Cell::Number(multiple(*rate), 2)),
        Heading("arm", "", "What was done to the run: burst, noburst, capped, ...")
            .key(|((.., arm), _)| Cell::text(arm.word())),
        Heading("seeds", "", "How many seeds").new(|(_, runs)| {
            let seeds: Vec<String> = runs.iter().map(|r| r.meta.seed.to_string()).collect();
            Cell::text(seeds.join(" "))
        }),
        Heading("states", "", "Their states, in order of seed").new(|(_, runs)| {
            let letters: Vec<&str> =
                runs.iter().filter_map(|r| Some(letter(r.state.as_ref()?.state))).collect();
            Cell::text(letters.join(" "))
        }),
        Heading("hit_fraction_least", "", "Least hit fraction over seeds")
            .known(3, |of| least(of, |_, w| w.hits.value())),
        Heading("hit_fraction_most", "", "Greatest hit fraction over seeds")
            .known(3, |of| most(of, |_, w| w.hits.value())),
        Heading(
            "uncached_over_all_miss_least",
            "",
            "Least uncached token rate over the all-miss rate, over seeds",
        )
        .known(3, |of| least(of, |run, _| token_rate_ratio(run))),
        Heading(
            "uncached_over_all_miss_most",
            "",
            "Greatest uncached token rate over the all-miss rate, over seeds",
        )
        .known(3, |of| most(of, |run, _| token_rate_ratio(run))),
        Heading("backlog_least_sessions", "sessions", "Least mean backlog over seeds")
            .known(1, |of| least(of, |_, w| Some(w.backlog_mean))),
        Heading("backlog_most_sessions", "sessions", "Greatest mean backlog over seeds")
            .known(1, |of| most(of, |_, w| Some(w.backlog_mean))),
        Heading("backlog_slope_least_per_s", "sessions/s", "Least backlog slope over seeds")
            .known(4, |of| least(of, |_, w| w.backlog_slope_per_s)),
        Heading("backlog_slope_most_per_s", "sessions/s", "Greatest backlog slope over seeds")
            .known(4, |of| most(of, |_, w| w.backlog_slope_per_s)),
    ]
}

/// The table.
pub fn table(runs: &[ScoredRun]) -> Table {
    let title = "Paired test: states per seed, and ranges over seeds in the window";
    Table::of(
        "paired_ranges",
        title,
        &columns(),
        groups(runs),
        |((cell, source, rate, arm), runs)| {
            let sources = runs.iter().flat_map(|run| run.sources.clone()).collect();
            (format!("{cell}/{source}/{:.2}/{}", multiple(*rate), arm), sources)
        },
    )
}

/// The multiple of lambda_ref that a group's key stands for.
fn multiple(rate: u64) -> f64 {
    rate as f64 / 1e6
}

type Measured = fn(&ScoredRun, &WindowMeasures) -> Option<f64>;

fn least(group: &Group<'_>, of: Measured) -> Option<f64> {
    over_seeds(group, of, f64::min)
}

fn most(group: &Group<'_>, of: Measured) -> Option<f64> {
    over_seeds(group, of, f64::max)
}

/// The end of a range over seeds. One unknown seed leaves it unknown: it might lie outside.
fn over_seeds((_, runs): &Group<'_>, of: Measured, pick: fn(f64, f64) -> f64) -> Option<f64> {
    let each = runs.iter().map(|run| of(run, run.measures.window.as_ref()?));
    each.collect::<Option<Vec<f64>>>()?.into_iter().reduce(pick)
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
