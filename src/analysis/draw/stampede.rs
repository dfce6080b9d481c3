//! The stampede, from the runs of the paired test.

use crate::figure::Figure;
use crate::figure::stampede::{Stampede, StampedeColumn, StampedeRun, stampede};
use crate::judged::score::ScoredRun;
use crate::rule::paired;

use super::spec::FigureSpec;
use super::{at_rate, fractions, origin};

/// A column per rate.
pub fn draw<'a>(
    runs: &'a [ScoredRun],
    spec: &FigureSpec,
    cell: Option<&str>,
    rates: &[f64],
) -> (Figure, Vec<&'a ScoredRun>) {
    let mut used = Vec::new();
    let columns = rates
        .iter()
        .map(|rate| {
            let shown: Vec<&ScoredRun> = runs
                .iter()
                .filter(|run| cell.is_none_or(|name| run.meta.cell == name))
                .filter(|run| at_rate(run, *rate) && paired::place(&run.meta.arm).is_some())
                .collect();
            used.extend(&shown);
            column(*rate, &shown)
        })
        .collect();
    let input = Stampede { title: spec.title.clone(), columns };
    (stampede(&input), used)
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
        runs: runs.iter().map(|run| stampede_run(run)).collect(),
    }
}

fn stampede_run(run: &ScoredRun) -> StampedeRun {
    let series = &run.measures.series;
    StampedeRun {
        arm: run.meta.arm.clone(),
        seed: run.meta.seed,
        origin: origin(run),
        hit_bins: fractions(&series.hits),
        backlog: series.backlog.clone(),
    }
}
