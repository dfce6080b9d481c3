//! What an iteration costs, fitted from cache-off runs: `a + b x tokens`.
//!
//! Between its first and its last token a turn takes part in one iteration per
//! token, each of which also prefills and decodes for others. So the time between
//! the two is `a x iterations + b x tokens computed meanwhile`. While a cache-off
//! run fills up its iterations are small, and later they are full, which tells the
//! two parts apart; a turn's total cost (see [`super::calibrate`]) cannot.
//!
//! A prompt is booked evenly from the first token before its own (or from when it was
//! sent, if that was later) to its first token; decoded tokens evenly over their turn.
//! Residuals are relative to the span, because a saturated span's noise is large and
//! would drown the short spans, which alone show the fixed part.
//!
//! Where it is asked for, attention's part is fitted too, `+ c x pairs` of a token with one before
//! it, a decoded token's costing what a prompt's do: prompts have to differ in length for that.
//! Otherwise it is in `b`, at the lengths of the run.

use serde::{Deserialize, Serialize};

use super::error::CalibrationError;
use super::least_squares::normal_equations;
use crate::run::{Run, Turn, TurnStatus};
use crate::setup::Costs;
use crate::setup::cell::IterationParts;

/// Fewer spans than this fit nothing.
const LEAST_SPANS: usize = 20;

/// First tokens closer than this come from one iteration, s.
const SAME_ITERATION_S: f64 = 2e-3;

/// A fit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct IterationFit {
    /// a, s per iteration.
    pub fixed_s: f64,
    /// b, s per token prefilled or decoded.
    pub per_token_s: f64,
    /// c, s per pair of a token with one before it; 0 where it is part of b.
    #[serde(default)]
    pub per_pair_s: f64,
    /// Turns whose decoding was fitted.
    pub spans: usize,
    /// Root mean square of the residuals, relative to the spans.
    pub residual_rms: f64,
}

/// The parts of an iteration's cost that a fit does not tell from `b`, by their names in a
/// cell's file; with attention only the first.
pub(crate) const NOT_TOLD: [&str; 3] = ["f0_s", "c_p_s_per_pair", "c_d_s"];

/// c_d is the cost of this much decode context.
const DECODE_CONTEXT_TOKENS: f64 = 8192.0;

impl IterationFit {
    /// As a cell's costs.
    pub fn costs(&self) -> Costs {
        self.parts().costs()
    }

    /// The parts of an iteration's cost; those in `NOT_TOLD` are 0.
    pub fn parts(&self) -> IterationParts {
        IterationParts {
            a_s: self.fixed_s,
            f0_s: 0.0,
            b_s_per_token: self.per_token_s,
            c_p_s_per_pair: self.per_pair_s,
            c_d_s: self.per_pair_s * DECODE_CONTEXT_TOKENS,
        }
    }

    /// What of an iteration's cost it does not tell.
    pub fn not_told(&self) -> &'static [&'static str] {
        if self.per_pair_s > 0.0 { &NOT_TOLD[..1] } else { &NOT_TOLD }
    }
}

/// A turn while it decodes.
struct Span {
    /// When its prefill may have begun: when it was sent, then the first token before.
    prefill_from_s: f64,
    first_s: f64,
    end_s: f64,
    prompt_tokens: f64,
    /// Iterations after the first token: tokens after the first.
    iterations: f64,
}

/// What was computed.
#[derive(Debug, Clone, Copy, Default)]
struct Work {
    tokens: f64,
    /// Pairs of a token with itself or one before it.
    pairs: f64,
}

impl Span {
    /// A prompt's.
    fn prefill(&self) -> Work {
        let tokens = self.prompt_tokens;
        Work { tokens, pairs: tokens * (tokens + 1.0) / 2.0 }
    }

    /// That of its decoding.
    fn decoding(&self) -> Work {
        let tokens = self.iterations;
        Work { tokens, pairs: tokens * (self.prompt_tokens + (tokens + 1.0) / 2.0) }
    }
}

/// Iterations, tokens and pairs per second of a turn's decoding.
type Row = [f64; 3];

/// Fits the costs of a cache-off run's iterations by least squares over its turns.
///
/// # Errors
/// [`CalibrationError`].
pub fn fit(run: &Run) -> Result<IterationFit, CalibrationError> {
    fit_rows(&rows(run)?)
}

/// Fits the costs of several cache-off runs' iterations together.
///
/// # Errors
/// [`CalibrationError`], of the first run that has one.
pub fn fit_all(runs: &[&Run]) -> Result<IterationFit, CalibrationError> {
    let each = runs.iter().map(|run| rows(run)).collect::<Result<Vec<_>, _>>()?;
    fit_rows(&each.concat())
}

/// The same, with attention's part told apart.
///
/// # Errors
/// As [`fit_all`].
pub fn fit_attention(runs: &[&Run]) -> Result<IterationFit, CalibrationError> {
    let each = runs.iter().map(|run| rows(run)).collect::<Result<Vec<_>, _>>()?;
    let rows = each.concat();
    let costs = normal_equations(&rows, |row| *row, 3).ok_or(CalibrationError::NotTold)?;
    found(&rows, costs, 3)
}

fn rows(run: &Run) -> Result<Vec<Row>, CalibrationError> {
    if run.meta.prefix_caching {
        return Err(CalibrationError::CacheOn { run: run.dir.display().to_string() });
    }
    let mut spans: Vec<Span> = run.turns.iter().filter_map(span).collect();
    if spans.len() < LEAST_SPANS {
        return Err(CalibrationError::TooFewTurns(spans.len()));
    }
    spans.sort_by(|x, y| x.first_s.total_cmp(&y.first_s));
    let firsts: Vec<f64> = spans.iter().map(|s| s.first_s).collect();
    for span in &mut spans {
        let earlier = firsts.partition_point(|t| *t < span.first_s - SAME_ITERATION_S);
        let previous_s = if earlier > 0 { firsts[earlier - 1] } else { 0.0 };
        span.prefill_from_s = span.prefill_from_s.max(previous_s).min(span.first_s);
    }
    // Relative to the span: d = a n + b t + c p becomes 1 = a n/d + b t/d + c p/d.
    let meanwhile = Meanwhile::of(&spans);
    Ok(spans
        .iter()
        .map(|s| (s, s.end_s - s.first_s))
        .map(|(s, d)| {
            let work = work_during(meanwhile.of_span(s), s);
            [s.iterations / d, work.tokens / d, work.pairs / d]
        })
        .collect())
}

/// a and b; attention is in b.
fn fit_rows(rows: &[Row]) -> Result<IterationFit, CalibrationError> {
    let sum = |of: fn(&Row) -> f64| rows.iter().map(of).sum::<f64>();
    let (nn, nt, tt) = (sum(|r| r[0] * r[0]), sum(|r| r[0] * r[1]), sum(|r| r[1] * r[1]));
    let (n, t) = (sum(|r| r[0]), sum(|r| r[1]));
    let determinant = nn * tt - nt * nt;
    found(rows, [(n * tt - t * nt) / determinant, (t * nn - n * nt) / determinant, 0.0], 2)
}

/// The fit with these a, b and c, if the first `parts` of them are costs.
fn found(rows: &[Row], costs: Row, parts: usize) -> Result<IterationFit, CalibrationError> {
    if !costs[..parts].iter().all(|x| *x > 0.0 && x.is_finite()) {
        return Err(CalibrationError::NotTold);
    }
    let [fixed_s, per_token_s, per_pair_s] = costs;
    let squares: f64 = rows
        .iter()
        .map(|[n, t, p]| 1.0 - fixed_s * n - per_token_s * t - per_pair_s * p)
        .map(|residual| residual * residual)
        .sum();
    let residual_rms = (squares / rows.len() as f64).sqrt();
    Ok(IterationFit { fixed_s, per_token_s, per_pair_s, spans: rows.len(), residual_rms })
}

fn span(turn: &Turn) -> Option<Span> {
    let (first_s, end_s) = (turn.t_first_s?, turn.t_end_s?);
    let tokens = turn.completion_tokens?;
    (turn.status == TurnStatus::Ok && tokens > 1 && end_s > first_s).then(|| Span {
        prefill_from_s: turn.t_submit_s,
        first_s,
        end_s,
        prompt_tokens: turn.prompt_tokens as f64,
        iterations: (tokens - 1) as f64,
    })
}

/// Finds the spans whose work may fall into another's, so that not every pair is looked at.
struct Meanwhile<'a> {
    /// In order of their first tokens.
    spans: &'a [Span],
    /// The latest end of a span and those before it.
    ended_by_s: Vec<f64>,
    /// The earliest start of a span and those after it.
    begun_from_s: Vec<f64>,
}

impl<'a> Meanwhile<'a> {
    fn of(spans: &'a [Span]) -> Self {
        fn running(fold: fn(f64, f64) -> f64) -> impl FnMut(&mut f64, f64) -> Option<f64> {
            move |so_far, value| {
                *so_far = fold(*so_far, value);
                Some(*so_far)
            }
        }
        let ends = spans.iter().map(|s| s.end_s);
        let ended_by_s = ends.scan(f64::NEG_INFINITY, running(f64::max)).collect();
        let begins = spans.iter().rev().map(|s| s.prefill_from_s);
        let mut begun_from_s: Vec<f64> = begins.scan(f64::INFINITY, running(f64::min)).collect();
        begun_from_s.reverse();
        Self { spans, ended_by_s, begun_from_s }
    }

    /// All that overlap `one`, among others.
    fn of_span(&self, one: &Span) -> &'a [Span] {
        let first = self.ended_by_s.partition_point(|end_s| *end_s <= one.first_s);
        let last = self.begun_from_s.partition_point(|begun_s| *begun_s < one.end_s);
        &self.spans[first..last.max(first)]
    }
}

/// What is computed while `one` decodes, for it and for others.
fn work_during(spans: &[Span], one: &Span) -> Work {
    let mut all = Work::default();
    for s in spans {
        let during = |from_s: f64, to_s: f64| {
            let overlap = (to_s.min(one.end_s) - from_s.max(one.first_s)).max(0.0);
            if to_s > from_s { overlap / (to_s - from_s) } else { 0.0 }
        };
        let (prefill, decoding) = (s.prefill(), s.decoding());
        let (first, rest) = (during(s.prefill_from_s, s.first_s), during(s.first_s, s.end_s));
        all.tokens += prefill.tokens * first + decoding.tokens * rest;
        all.pairs += prefill.pairs * first + decoding.pairs * rest;
    }
    all
}
