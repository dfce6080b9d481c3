//! What an iteration costs, fitted from cache-off runs: `a + b x tokens`.
//!
//! Between its first and its last token a turn takes part in one iteration per
//! token, each of which also prefills and decodes for others. So the time between
//! the two is `a x iterations + b x tokens computed meanwhile`. While a cache-off
//! run fills up its iterations are small, and later they are full, which tells the
//! two parts apart; a turn's total cost (see [`super::calibrate`]) cannot.
//!
//! Left out: attention's growth with length, and the edges of a span: a prompt is
//! booked whole where its prefill ends, and decoded tokens evenly over their turn.

use crate::run::{Run, Turn, TurnStatus};
use crate::setup::Costs;

/// Fewer spans than this fit nothing.
const LEAST_SPANS: usize = 20;

/// A fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IterationFit {
    /// a, s per iteration.
    pub fixed_s: f64,
    /// b, s per token prefilled or decoded.
    pub per_token_s: f64,
    /// Turns whose decoding was fitted.
    pub spans: usize,
    /// Root mean square of the residuals, s per turn.
    pub residual_rms_s: f64,
}

/// Why a run tells nothing about its iterations.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum IterationError {
    /// The prefix cache was on: what was computed is not the prompts.
    #[error("the prefix cache was on; only a cache-off run shows what a token costs")]
    CacheOn,
    /// Too few turns with a first token.
    #[error("only {0} turns with a first and a last token; at least 20 are needed")]
    TooFew(usize),
    /// All iterations are alike, or the fit gives a cost that is not positive.
    #[error("its iterations do not tell a fixed part from a part per token")]
    NotTold,
}

impl IterationFit {
    /// As a cell's costs; attention is in `b`.
    pub fn costs(&self) -> Costs {
        Costs::Iteration {
            a_s: self.fixed_s,
            f0_s: 0.0,
            b_s_per_token: self.per_token_s,
            c_p_s_per_pair: 0.0,
            c_d_s: 0.0,
        }
    }
}

/// A turn while it decodes.
struct Span {
    first_s: f64,
    end_s: f64,
    prompt_tokens: f64,
    /// Iterations after the first token: tokens after the first.
    iterations: f64,
}

/// Fits the costs of a cache-off run's iterations by least squares over its turns.
///
/// # Errors
/// [`IterationError`].
pub fn fit(run: &Run) -> Result<IterationFit, IterationError> {
    if run.meta.prefix_caching {
        return Err(IterationError::CacheOn);
    }
    let mut spans: Vec<Span> = run.turns.iter().filter_map(span).collect();
    if spans.len() < LEAST_SPANS {
        return Err(IterationError::TooFew(spans.len()));
    }
    spans.sort_by(|x, y| x.first_s.total_cmp(&y.first_s));
    let rows: Vec<(f64, f64, f64)> = spans
        .iter()
        .map(|s| (s.end_s - s.first_s, s.iterations, tokens_during(&spans, s)))
        .collect();
    let sum = |of: fn(&(f64, f64, f64)) -> f64| rows.iter().map(of).sum::<f64>();
    let (nn, nt, tt) = (sum(|r| r.1 * r.1), sum(|r| r.1 * r.2), sum(|r| r.2 * r.2));
    let (nd, td) = (sum(|r| r.1 * r.0), sum(|r| r.2 * r.0));
    let determinant = nn * tt - nt * nt;
    let fixed_s = (nd * tt - td * nt) / determinant;
    let per_token_s = (td * nn - nd * nt) / determinant;
    if !(fixed_s > 0.0 && per_token_s > 0.0 && fixed_s.is_finite() && per_token_s.is_finite()) {
        return Err(IterationError::NotTold);
    }
    let squares: f64 = rows
        .iter()
        .map(|(d, n, t)| d - fixed_s * n - per_token_s * t)
        .map(|residual| residual * residual)
        .sum();
    let residual_rms_s = (squares / rows.len() as f64).sqrt();
    Ok(IterationFit { fixed_s, per_token_s, spans: rows.len(), residual_rms_s })
}

fn span(turn: &Turn) -> Option<Span> {
    let (first_s, end_s) = (turn.t_first_s?, turn.t_end_s?);
    let tokens = turn.completion_tokens?;
    (turn.status == TurnStatus::Ok && tokens > 1 && end_s > first_s).then(|| Span {
        first_s,
        end_s,
        prompt_tokens: turn.prompt_tokens as f64,
        iterations: (tokens - 1) as f64,
    })
}

/// Tokens computed while `one` decodes, for it and for others.
fn tokens_during(spans: &[Span], one: &Span) -> f64 {
    // Sorted by first token: later ones cannot overlap.
    spans
        .iter()
        .take_while(|s| s.first_s <= one.end_s)
        .map(|s| {
            let prefilled = if s.first_s > one.first_s { s.prompt_tokens } else { 0.0 };
            let overlap = (s.end_s.min(one.end_s) - s.first_s.max(one.first_s)).max(0.0);
            prefilled + s.iterations * overlap / (s.end_s - s.first_s)
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::path::Path;

    use crate::setup::{Arm, Cell, Configs};
    use crate::sim::directory::{Label, to_run};
    use crate::sim::{Options, RunSpec, simulate};

    fn simulated(arm: &Arm, costs: Costs) -> Run {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs");
        let configs = Configs::load(&root).unwrap();
        let (cell, workload, protocol) = configs.of_cell("vllm-cpu-tiny-30k").unwrap();
        let cell = Cell { costs, ..cell.clone() };
        let options = Options::default();
        let spec =
            RunSpec { cell: &cell, workload, protocol, arm, multiple: None, seed: 3, options };
        let label = Label { run_id: "r".into(), registration: None };
        to_run(&simulate(&spec).unwrap(), &spec, &label)
    }

    #[test]
    fn the_costs_a_simulated_engine_has_are_found_again() {
        let true_fit =
            IterationFit { fixed_s: 0.02, per_token_s: 1.2e-4, spans: 0, residual_rms_s: 0.0 };
        let found = fit(&simulated(&Arm::E0a { population: 32 }, true_fit.costs())).unwrap();
        // A prompt is booked whole where its prefill ends, so the parts are not exact.
        assert!((found.fixed_s / 0.02 - 1.0).abs() < 0.25, "{found:?}");
        assert!((found.per_token_s / 1.2e-4 - 1.0).abs() < 0.1, "{found:?}");
    }

    #[test]
    fn a_run_with_the_cache_on_calibrates_nothing() {
        let costs =
            IterationFit { fixed_s: 0.02, per_token_s: 1e-4, spans: 0, residual_rms_s: 0.0 };
        let run = simulated(&Arm::Closed { population: 8 }, costs.costs());
        assert_eq!(fit(&run), Err(IterationError::CacheOn));
    }
}
