//! The all-miss cost of a turn, fitted from cache-off runs.
//!
//! A busy server spends its time on the turns it completes, so in every bin of a
//! saturated stretch `bin width = fixed x turns + per_token x prompt tokens`.
//! Non-negative least squares over such bins gives the two parts. Left out:
//! attention's growth with length, and work that crosses a bin's edge, which the
//! residuals show.

use serde::{Deserialize, Serialize};

use super::error::CalibrationError;
use crate::measure::population::in_flight;
use crate::measure::stats;
use crate::run::Run;
use crate::setup::{Protocol, Span};

/// With fewer requests in flight the server may wait for a client.
const BUSY_REQUESTS: f64 = 2.0;

/// What a fit found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnCostFit {
    /// Fixed part of an all-miss turn, s.
    pub fixed_s: f64,
    /// Per prompt token, s.
    pub per_token_s: f64,
    /// Saturated bins that were fitted.
    pub bins: usize,
    /// Bins in which the server may have waited.
    pub idle_bins: usize,
    /// Width of a bin, s.
    pub bin_s: f64,
    /// Root mean square of the residuals, s per bin.
    pub residual_rms_s: f64,
    /// Largest residual, s per bin.
    pub residual_max_s: f64,
    /// Prefill rate over the fitted bins, uncached tokens/s.
    pub tokens_per_s: f64,
    /// Turn rate over the fitted bins, turns/s.
    pub turns_per_s: f64,
    /// Mean prompt of the completed turns, tokens.
    pub mean_prompt_tokens: f64,
}

/// One bin: what was completed in it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Bin {
    turns: f64,
    tokens: f64,
}

/// Fits the cost of an all-miss turn over the window of every run.
///
/// # Errors
/// A run with the cache on, of another cell, or too short; too few saturated bins.
pub fn fit(runs: &[&Run], protocol: &Protocol) -> Result<TurnCostFit, CalibrationError> {
    let span = protocol.e0a.window();
    let width_s = protocol.bins.hit_s;
    let mut bins = Vec::new();
    let mut idle_bins = 0;
    for run in runs {
        check(run, runs[0], span)?;
        let saturated = saturated_bins(run, span, width_s);
        idle_bins += span.bins(width_s).len() - saturated.len();
        bins.extend(saturated);
    }
    if bins.len() < 4 {
        return Err(CalibrationError::TooFewBins { bins: bins.len(), width_s });
    }
    let (fixed_s, per_token_s) = non_negative_fit(&bins, width_s);
    let residuals: Vec<f64> =
        bins.iter().map(|b| width_s - fixed_s * b.turns - per_token_s * b.tokens).collect();
    let squares: Vec<f64> = residuals.iter().map(|r| r * r).collect();
    let length_s = width_s * bins.len() as f64;
    let turns: f64 = bins.iter().map(|b| b.turns).sum();
    let tokens: f64 = bins.iter().map(|b| b.tokens).sum();
    Ok(TurnCostFit {
        fixed_s,
        per_token_s,
        bins: bins.len(),
        idle_bins,
        bin_s: width_s,
        residual_rms_s: stats::mean(&squares).unwrap_or(0.0).sqrt(),
        residual_max_s: residuals.iter().fold(0.0, |m, r| r.abs().max(m)),
        tokens_per_s: tokens / length_s,
        turns_per_s: turns / length_s,
        mean_prompt_tokens: tokens / turns,
    })
}

/// The prefill rate of one run over its saturated bins, uncached tokens/s: runs of one
/// calibration have one speed. `None` where no bin is saturated.
pub fn tokens_per_s(run: &Run, protocol: &Protocol) -> Option<f64> {
    let width_s = protocol.bins.hit_s;
    let bins = saturated_bins(run, protocol.e0a.window(), width_s);
    let tokens: f64 = bins.iter().map(|bin| bin.tokens).sum();
    (!bins.is_empty()).then(|| tokens / (width_s * bins.len() as f64))
}

/// By what share the larger of two rates exceeds the smaller.
pub fn apart(a: f64, b: f64) -> f64 {
    a.max(b) / a.min(b) - 1.0
}

/// The bins of a window in which the server never waited for a client.
fn saturated_bins(run: &Run, span: Span, width_s: f64) -> Vec<Bin> {
    let busy = in_flight(run);
    let bins = span.bins(width_s).into_iter();
    let bins = bins.filter(|bin| busy.min_over(*bin) >= BUSY_REQUESTS);
    bins.map(|bin| completed_in(run, bin)).collect()
}

fn check(run: &Run, first: &Run, span: Span) -> Result<(), CalibrationError> {
    let name = run.dir.display().to_string();
    if run.meta.prefix_caching {
        return Err(CalibrationError::CacheOn { run: name });
    }
    if run.meta.cell != first.meta.cell {
        return Err(CalibrationError::OtherCell {
            run: name,
            cell: run.meta.cell.clone(),
            expected: first.meta.cell.clone(),
        });
    }
    if run.meta.duration_s < span.end_s - 1e-6 {
        return Err(CalibrationError::TooShort {
            run: name,
            duration_s: run.meta.duration_s,
            start_s: span.start_s,
            end_s: span.end_s,
        });
    }
    Ok(())
}

/// With the cache off every prompt token is computed, whatever the engine reports.
fn completed_in(run: &Run, bin: Span) -> Bin {
    run.turns.iter().filter(|turn| turn.served_at_s().is_some_and(|t| bin.holds(t))).fold(
        Bin { turns: 0.0, tokens: 0.0 },
        |sum, turn| Bin { turns: sum.turns + 1.0, tokens: sum.tokens + turn.prompt_tokens as f64 },
    )
}

/// Least squares of `width_s` on (turns, tokens) with both coefficients at least 0:
/// the free solution if it is feasible, else the better of the two edges.
fn non_negative_fit(bins: &[Bin], width_s: f64) -> (f64, f64) {
    let sum = |f: &dyn Fn(&Bin) -> f64| bins.iter().map(f).sum::<f64>();
    let (tt, tx, xx) =
        (sum(&|b| b.turns * b.turns), sum(&|b| b.turns * b.tokens), sum(&|b| b.tokens * b.tokens));
    let (ty, xy) = (width_s * sum(&|b| b.turns), width_s * sum(&|b| b.tokens));
    let determinant = tt * xx - tx * tx;
    // Bins whose mean prompts are all alike cannot tell the two parts apart.
    if determinant > 1e-12 * tt * xx {
        let fixed = (ty * xx - xy * tx) / determinant;
        let per_token = (tt * xy - tx * ty) / determinant;
        if fixed >= 0.0 && per_token >= 0.0 {
            return (fixed, per_token);
        }
    }
    let (fixed_only, tokens_only) = (ty / tt, xy / xx);
    let error = |fixed: f64, per_token: f64| {
        sum(&|b| {
            let r = width_s - fixed * b.turns - per_token * b.tokens;
            r * r
        })
    };
    if error(0.0, tokens_only) <= error(fixed_only, 0.0) {
        (0.0, tokens_only)
    } else {
        (fixed_only, 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bins_of(fixed_s: f64, per_token_s: f64, width_s: f64) -> Vec<Bin> {
        [900.0, 1000.0, 1100.0, 1250.0]
            .iter()
            .map(|prompt| {
                let turns = width_s / (fixed_s + per_token_s * prompt);
                Bin { turns, tokens: turns * prompt }
            })
            .collect()
    }

    #[test]
    fn a_saturated_server_gives_back_its_costs() {
        let (fixed, per_token) = non_negative_fit(&bins_of(0.02, 1e-4, 10.0), 10.0);
        assert!((fixed - 0.02).abs() < 1e-10 && (per_token - 1e-4).abs() < 1e-13);
    }

    #[test]
    fn no_part_becomes_negative() {
        let (fixed, per_token) = non_negative_fit(&bins_of(0.0, 1e-4, 10.0), 10.0);
        assert!(fixed.abs() < 1e-9 && (per_token - 1e-4).abs() < 1e-12);
        // Longer prompts that look cheaper would need a negative price per token.
        let odd = [Bin { turns: 10.0, tokens: 9_000.0 }, Bin { turns: 10.0, tokens: 12_000.0 }];
        let (fixed, per_token) = non_negative_fit(&[odd[0], odd[1], odd[1], odd[0]], 10.0);
        assert!(fixed >= 0.0 && per_token >= 0.0);
    }
}
