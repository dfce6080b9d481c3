//! The all-miss capacity: cache-off runs and the cost of a turn fitted to each
//! (App. E.3's E0a).

use crate::judged::ScoredRun;
use crate::judged::statistics::RunStatistics;
use crate::law::TurnCostFit;
use crate::model::SessionMeans;
use crate::setup::Configs;

use super::about_run::{AboutRun, cell, population, run, seed, source};
use super::{Cell, Col, Heading, Table, session_means};

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
        Heading("turns_per_s", "turns/s", "Completed turns per second of the window")
            .number(3, |of| of.turns_per_s),
        Heading("mean_prompt_tokens", "tokens", "Mean prompt of the turns served in the window")
            .known(0, |of| of.window()?.mean_prompt_tokens),
        Heading("uncached_tokens_per_s", "tokens/s", "Uncached token rate of the window")
            .number(0, |of| of.tokens_per_s),
        Heading("completions_per_s", "sessions/s", "Sessions completed per second of the window")
            .known(4, |of| Some(of.window()?.completions_per_s)),
        Heading("turns_based_sessions_per_s", "sessions/s", "All-miss rate by turns")
            .number(4, |of| of.turns_per_s / of.means.mean_turns),
        Heading("token_based_sessions_per_s", "sessions/s", "All-miss rate by prompt tokens")
            .number(4, |of| of.tokens_per_s / of.means.session_prompt_tokens()),
        Heading("fixed_s", "s", "Fitted fixed cost of a turn that misses")
            .known(5, |of| of.fit.map(|fit| fit.fixed_s)),
        Heading("per_token_us", "us/token", "Fitted cost of a prompt token that misses")
            .known(2, |of| of.fit.map(|fit| fit.per_token_s * 1e6)),
        Heading("residual_rms_s", "s per bin", "Root mean square residual of the cost fit")
            .known(3, |of| of.fit.map(|fit| fit.residual_rms_s)),
        Heading("bins", "", "Bins that the cost was fitted to")
            .new(|of| of.fit.map_or(Cell::Unknown, |fit| Cell::Count(fit.bins as u64))),
    ];
    let title = "All-miss capacity: cache-off runs and the fitted cost of a turn";
    let rows = runs.iter().filter_map(|run| CacheOff::of(run, configs));
    super::about_run::table("calibration", title, columns, rows)
}
