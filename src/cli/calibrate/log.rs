//! The iteration costs of a cell from an engine's log of its iterations.

use std::path::Path;

use anyhow::Context;

use trapcheck::law::iteration_log::sglang::Intervals;
use trapcheck::law::iteration_log::{self, LogFit, Logged};
use trapcheck::reading;
use trapcheck::setup::Cell;
use trapcheck::setup::cell::IterationParts;
use trapcheck::table::fixed;

use super::rounded;

/// Fits the costs of an iteration to a log.
///
/// # Errors
/// The file cannot be read, or tells nothing.
pub fn fit(file: &Path, cell: &Cell) -> anyhow::Result<LogFit> {
    let bytes = reading::bytes(file).with_context(|| format!("cannot read {}", file.display()))?;
    let text = String::from_utf8_lossy(&bytes);
    let mut intervals = Intervals::default();
    let logged = |line| iteration_log::parse(line).or_else(|| intervals.line(line));
    let iterations: Vec<Logged> = text.lines().filter_map(logged).collect();
    iteration_log::fit(&iterations, cell.pool_tokens).with_context(|| file.display().to_string())
}

/// Writes what was fitted into the cell.
pub fn add(cell: &mut Cell, fit: &LogFit, file: &Path) {
    cell.sources.retain(|field, _| !field.starts_with("iteration_costs"));
    let parts = fit.parts();
    cell.iteration_costs = Some(IterationParts {
        a_s: rounded(parts.a_s, 6),
        f0_s: rounded(parts.f0_s, 6),
        b_s_per_token: rounded(parts.b_s_per_token, 9),
        c_p_s_per_pair: 0.0,
        c_d_s: rounded(parts.c_d_s, 6),
    });
    let from = format!("fitted by trapcheck calibrate, log of iterations {}", file.display());
    cell.sources.insert("iteration_costs".into(), from);
    let why = "a line does not tell the pairs of a prompt's attention: part of b_s_per_token";
    cell.sources.insert("iteration_costs.c_p_s_per_pair".into(), why.into());
}

/// What was fitted, for people.
pub fn report(fit: &LogFit) -> String {
    let fitted = if fit.iterations == fit.lines as f64 {
        format!("{} logged iterations", fit.lines)
    } else {
        format!("{} intervals of {} iterations", fit.lines, fixed(fit.iterations, 0))
    };
    let floor = if fit.iterations == fit.lines as f64 { "" } else { "f0_s, " };
    format!(
        "An iteration costs {} ms + the larger of {} ms and {} us per token, and {} ms per 8,192 \
         tokens of decode context\n\
         fitted to {fitted}, residual {} % rms, {} % at most; not told, and left 0: \
         {floor}c_p_s_per_pair\n",
        fixed(fit.fixed_s * 1e3, 3),
        fixed(fit.floor_s * 1e3, 3),
        fixed(fit.per_token_s * 1e6, 2),
        fixed(fit.decode_s * 1e3, 3),
        fixed(100.0 * fit.residual_rms, 1),
        fixed(100.0 * fit.residual_max, 0),
    )
}
