//! The stampede's input, from scored runs.

use crate::figure::stampede::{Stampede, StampedeColumn, StampedeRun};
use crate::figure::style;
use crate::rule::Arm;
use crate::run::SourceFile;

use super::outputs::Evaluated;
use super::score::ScoredRun;

/// Builds the figure's input, a column per rate, and lists the files behind it.
pub fn input(
    evaluated: &Evaluated,
    title: &str,
    rates: &[f64],
    source: &str,
) -> (Stampede, Vec<SourceFile>) {
    let mut sources = Vec::new();
    let columns = rates
        .iter()
        .map(|rate| {
            let runs: Vec<&ScoredRun> = evaluated
                .scoring
                .runs
                .iter()
                .filter(|run| run.meta.rate.multiple.is_some_and(|m| (m - rate).abs() < 1e-6))
                .filter(|run| Arm::of(&run.meta.arm).is_some())
                .collect();
            sources.extend(runs.iter().flat_map(|run| run.sources.clone()));
            column(*rate, &runs)
        })
        .collect();
    sources.sort();
    sources.dedup();
    (Stampede { title: title.into(), columns, source: source.into() }, sources)
}

fn column(rate: f64, runs: &[&ScoredRun]) -> StampedeColumn {
    let first = runs.first();
    let lambda = first.and_then(|run| run.load).map(|load| load.lambda_per_s);
    let rate_words = lambda.map_or(String::new(), |l| format!(" ({l:.3} sessions/s)"));
    let capped = runs.iter().filter_map(|run| run.meta.gate).map(|gate| gate.n_cap as u32);
    StampedeColumn {
        title: format!("{rate} × *λ*_{{ref}}{rate_words}"),
        burst_at_s: runs.iter().filter_map(|run| run.measures.burst_start_s).reduce(f64::min),
        window_s: first.map_or((0.0, 1.0), |run| run.measures.window_span.into()),
        cap: capped.min(),
        runs: runs.iter().filter_map(|run| stampede_run(run)).collect(),
    }
}

fn stampede_run(run: &ScoredRun) -> Option<StampedeRun> {
    let arm = match Arm::of(&run.meta.arm)? {
        Arm::Burst => style::Arm::Burst,
        Arm::NoBurst => style::Arm::NoBurst,
        Arm::Capped => style::Arm::Capped,
    };
    let series = &run.measures.series;
    Some(StampedeRun {
        arm,
        seed: run.meta.seed,
        hit_bins: series.hits.iter().map(|(t, share)| (*t, share.value())).collect(),
        backlog: series.backlog.clone(),
    })
}
