//! The all-miss capacity: cache-off runs and the cost of a turn fitted to each
//! (App. E.3's E0a).

use crate::judged::ScoredRun;
use crate::judged::statistics::RunStatistics;
use crate::law::TurnCostFit;
use crate::model::SessionMeans;
use crate::setup::Configs;

use super::about_run::{AboutRun, cell, population, run, seed, source};
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
        Col::number("turns_per_s", "turns/s", 3, |of| of.turns_per_s),
        Col::known("mean_prompt_tokens", "tokens", 0, |of| of.window()?.mean_prompt_tokens),
        Col::number("uncached_tokens_per_s", "tokens/s", 0, |of| of.tokens_per_s),
        Col::known("completions_per_s", "sessions/s", 4, |of| Some(of.window()?.completions_per_s)),
        Col::number("turns_based_sessions_per_s", "sessions/s", 4, |of| {
            of.turns_per_s / of.means.mean_turns
        }),
        Col::number("token_based_sessions_per_s", "sessions/s", 4, |of| {
            of.tokens_per_s / of.means.session_prompt_tokens()
        }),
        Col::known("fixed_s", "s", 5, |of| of.fit.map(|fit| fit.fixed_s)),
        Col::known("per_token_us", "us/token", 2, |of| of.fit.map(|fit| fit.per_token_s * 1e6)),
        Col::known("residual_rms_s", "s per bin", 3, |of| of.fit.map(|fit| fit.residual_rms_s)),
        Col::new("bins", "", |of| of.fit.map_or(Cell::Unknown, |fit| Cell::Count(fit.bins as u64))),
    ];
    let title = "All-miss capacity: cache-off runs and the fitted cost of a turn";
    let rows = runs.iter().filter_map(|run| CacheOff::of(run, configs));
    super::about_run::table("calibration", title, columns, rows)
}
