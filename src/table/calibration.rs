//! The all-miss capacity: cache-off runs and the cost of a turn fitted to each
//! (App. E.3's E0a).

use crate::analysis::ScoredRun;
use crate::analysis::statistics::RunStatistics;
use crate::law::TurnCostFit;
use crate::model::SessionMeans;
use crate::setup::Configs;

use super::about_run::{AboutRun, cell, in_window, population, run, seed, source};
use super::{Cell, Col, Table, session_means};

/// A cache-off run and the fit of its turns' cost.
struct CacheOff<'a> {
    run: &'a ScoredRun,
    fit: Option<&'a TurnCostFit>,
    means: SessionMeans,
    turns_per_s: f64,
    /// The cache is off: every prompt token is computed, said so or not.
    tokens_per_s: f64,
}

impl AboutRun for CacheOff<'_> {
    fn run(&self) -> &RunStatistics {
        self.run
    }
}

impl<'a> CacheOff<'a> {
    fn of(run: &'a ScoredRun, configs: &Configs) -> Option<Self> {
        let fit = run.turn_cost.as_ref()?;
        let window = run.measures.window.as_ref()?;
        let means = session_means(configs, &run.meta.cell)?;
        let tokens_per_s = window.mean_prompt_tokens? * window.turns_per_s;
        let turns_per_s = window.turns_per_s;
        Some(Self { run, fit: fit.as_ref().ok(), means, turns_per_s, tokens_per_s })
    }
}

/// The table of cache-off runs.
pub fn table(runs: &[ScoredRun], configs: &Configs) -> Table {
    let columns: &[Col<CacheOff<'_>>] = &[
        run(),
        source(),
        cell(),
        population(),
        seed(),
        Col::new("turns_per_s", "turns/s", |of| Cell::Number(of.turns_per_s, 3)),
        Col::new("mean_prompt_tokens", "tokens", |of| in_window(of, |w| w.mean_prompt_tokens, 0)),
        Col::new("uncached_tokens_per_s", "tokens/s", |of| Cell::Number(of.tokens_per_s, 0)),
        Col::new("completions_per_s", "sessions/s", |of| {
            in_window(of, |w| Some(w.completions_per_s), 4)
        }),
        Col::new("turns_based_sessions_per_s", "sessions/s", |of| {
            Cell::Number(of.turns_per_s / of.means.mean_turns, 4)
        }),
        Col::new("token_based_sessions_per_s", "sessions/s", |of| {
            Cell::Number(of.tokens_per_s / of.means.session_prompt_tokens(), 4)
        }),
        Col::new("fixed_s", "s", |of| Cell::known(of.fit.map(|fit| fit.fixed_s), 5)),
        Col::new("per_token_us", "us/token", |of| {
            Cell::known(of.fit.map(|fit| fit.per_token_s * 1e6), 2)
        }),
        Col::new("residual_rms_s", "s per bin", |of| {
            Cell::known(of.fit.map(|fit| fit.residual_rms_s), 3)
        }),
        Col::new("bins", "", |of| of.fit.map_or(Cell::Unknown, |fit| Cell::Count(fit.bins as u64))),
    ];
    let title = "All-miss capacity: cache-off runs and the fitted cost of a turn";
    let rows = runs.iter().filter_map(|run| CacheOff::of(run, configs));
    Table::of_runs("calibration", title, columns, rows)
}
