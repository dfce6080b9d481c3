//! What an iteration costs, fitted to an engine's own log of its iterations (paper: App. E.9).
//!
//! vLLM writes a line per iteration with `--enable-logging-iteration-details`: tokens prefilled,
//! requests that decode, its time, and the share of the pool in use. The cost model is
//! `a + max(f0, b x tokens) + c_d / 8192 x decode context`; the decode context is the pool in
//! use, by the share of its requests that decode. Residuals are relative to an iteration's
//! time, so that long ones do not drown the short ones, which alone show `a` and `f0`.
//! SGLang's lines are of intervals ([`sglang`]): the same model, summed over an interval's
//! iterations, without the floor, which a sum does not show.
//!
//! Left out: attention within a prompt (`c_p`), of which a line does not tell the pairs.

pub mod sglang;

use serde::Serialize;

use super::error::CalibrationError;
use super::least_squares::normal_equations;
use crate::setup::cell::IterationParts;

/// Fewer iterations than this fit nothing.
const LEAST: usize = 50;

/// c_d is the cost of this much decode context.
const DECODE_CONTEXT_TOKENS: f64 = 8192.0;

/// How many floors are tried.
const FLOORS: usize = 40;

/// A floor has to lower the sum of squares by this share, or there is none.
const FLOOR_GAINS: f64 = 0.01;

/// One iteration as an engine logged it, or an interval of several.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Logged {
    /// How many.
    pub iterations: f64,
    /// Tokens prefilled and decoded.
    pub tokens: f64,
    /// Share of the pool in use by requests that decode, summed over the iterations.
    pub decode_share: f64,
    /// How long it took, s.
    pub elapsed_s: f64,
}

/// A fit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LogFit {
    /// a, s.
    pub fixed_s: f64,
    /// f0, s; 0 where no floor shows.
    pub floor_s: f64,
    /// b, s per token.
    pub per_token_s: f64,
    /// c_d, s per 8,192 tokens of decode context.
    pub decode_s: f64,
    /// Lines fitted: iterations, or intervals of several.
    pub lines: usize,
    /// Iterations that they speak of.
    pub iterations: f64,
    /// Root mean square of the residuals, relative to an iteration's time.
    pub residual_rms: f64,
    /// Largest residual, likewise.
    pub residual_max: f64,
}

impl LogFit {
    /// The parts of an iteration's cost; `c_p` is not told and 0.
    pub fn parts(&self) -> IterationParts {
        IterationParts {
            a_s: self.fixed_s,
            f0_s: self.floor_s,
            b_s_per_token: self.per_token_s,
            c_p_s_per_pair: 0.0,
            c_d_s: self.decode_s,
        }
    }
}

/// The iteration that a line of a vLLM log speaks of; `None` of any other line, and of an
/// iteration that served nobody.
pub fn parse(line: &str) -> Option<Logged> {
    let (_, said) = line.split_once("Iteration(")?;
    let (_, said) = said.split_once("): ")?;
    if said.contains("(dummy)") {
        return None;
    }
    // Each number by the words that follow it, whatever else later versions add.
    let before = |words: &str| {
        let (text, _) = said.split_once(words)?;
        text.rsplit([' ', ',']).find(|word| !word.is_empty())?.parse::<f64>().ok()
    };
    let after = |words: &str, unit: &str| {
        let (_, text) = said.split_once(words)?;
        text.split_once(unit)?.0.trim().parse::<f64>().ok()
    };
    let (contexts, decodes) = (before(" context requests")?, before(" generation requests")?);
    let tokens = before(" context tokens")? + before(" generation tokens")?;
    let elapsed_s = after("iteration elapsed time: ", " ms")? / 1000.0;
    let used = after("KV cache usage: ", "%").unwrap_or(0.0) / 100.0;
    let sound = tokens > 0.0 && elapsed_s > 0.0 && elapsed_s.is_finite() && used.is_finite();
    let decode_share = used * decodes / (contexts + decodes).max(1.0);
    sound.then_some(Logged { iterations: 1.0, tokens, decode_share, elapsed_s })
}

/// Fits the cost model to iterations on a pool of `pool_tokens`.
///
/// # Errors
/// [`CalibrationError`].
pub fn fit(iterations: &[Logged], pool_tokens: u64) -> Result<LogFit, CalibrationError> {
    if iterations.len() < LEAST {
        return Err(CalibrationError::TooFewLines(iterations.len()));
    }
    let rows: Vec<Row> = iterations
        .iter()
        .map(|it| Row {
            iterations: it.iterations,
            tokens: it.tokens,
            context: it.decode_share * pool_tokens as f64 / DECODE_CONTEXT_TOKENS,
            elapsed_s: it.elapsed_s,
        })
        .collect();
    let plain = solve(&rows, 0.0).ok_or(CalibrationError::NotTold)?;
    let is_single = rows.iter().all(|row| row.iterations == 1.0);
    let floors = if is_single { floors(&rows) } else { Vec::new() };
    let floored = floors.into_iter().filter_map(|floor| solve(&rows, floor));
    let best = floored.min_by(|x, y| x.squares.total_cmp(&y.squares));
    let chosen = best.filter(|best| best.squares < (1.0 - FLOOR_GAINS) * plain.squares);
    let chosen = chosen.unwrap_or(plain);
    let residuals = rows.iter().map(|row| chosen.residual(row).abs());
    Ok(LogFit {
        fixed_s: chosen.fixed_s,
        floor_s: chosen.per_token_s * chosen.floor_tokens,
        per_token_s: chosen.per_token_s,
        decode_s: chosen.decode_s,
        lines: rows.len(),
        iterations: rows.iter().map(|row| row.iterations).sum(),
        residual_rms: (chosen.squares / rows.len() as f64).sqrt(),
        residual_max: residuals.fold(0.0, f64::max),
    })
}

struct Row {
    iterations: f64,
    tokens: f64,
    /// Decode context in units of 8,192 tokens.
    context: f64,
    elapsed_s: f64,
}

/// Costs under which an iteration of `floor_tokens` or fewer tokens takes as long as one of
/// that many.
#[derive(Clone, Copy)]
struct Solution {
    floor_tokens: f64,
    fixed_s: f64,
    per_token_s: f64,
    decode_s: f64,
    squares: f64,
}

impl Solution {
    fn residual(&self, row: &Row) -> f64 {
        let tokens = row.tokens.max(self.floor_tokens);
        let fixed_s = self.fixed_s * row.iterations;
        let cost = fixed_s + self.per_token_s * tokens + self.decode_s * row.context;
        1.0 - cost / row.elapsed_s
    }
}

/// Numbers of tokens at which a floor may end: spread over those that there are.
fn floors(rows: &[Row]) -> Vec<f64> {
    let mut tokens: Vec<f64> = rows.iter().map(|row| row.tokens).collect();
    tokens.sort_by(f64::total_cmp);
    tokens.dedup();
    let step = (tokens.len() / FLOORS).max(1);
    // Above nearly all iterations a floor would be the fixed part.
    let end = tokens.len() * 9 / 10;
    tokens.into_iter().take(end).skip(1).step_by(step).collect()
}

/// Relative least squares for one floor; without the decode part where it comes out negative.
fn solve(rows: &[Row], floor_tokens: f64) -> Option<Solution> {
    let columns = |row: &Row| {
        let d = row.elapsed_s;
        [row.iterations / d, row.tokens.max(floor_tokens) / d, row.context / d]
    };
    let of = |parts: usize| {
        let [fixed_s, per_token_s, decode_s] = normal_equations(rows, columns, parts)?;
        let sound = fixed_s > 0.0 && per_token_s > 0.0 && decode_s >= 0.0;
        let found = Solution { floor_tokens, fixed_s, per_token_s, decode_s, squares: 0.0 };
        let squares = rows.iter().map(|row| found.residual(row)).map(|r| r * r).sum();
        sound.then_some(Solution { squares, ..found })
    };
    of(3).or_else(|| of(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "(APIServer pid=7) INFO 11-30 09:41:00 [loggers.py:202] Engine 000: \
        Iteration(12): 2 context requests, 2040 context tokens, 8 generation requests, \
        8 generation tokens, iteration elapsed time: 206.25 ms, CPU KV cache usage: 50.0%";

    #[test]
    fn a_line_is_tokens_time_and_the_pool_in_use_by_those_that_decode() {
        let logged = parse(LINE).unwrap();
        assert_eq!((logged.tokens, logged.elapsed_s), (2048.0, 0.20625));
        assert_eq!(logged.decode_share, 0.5 * 8.0 / 10.0);
        assert_eq!(parse("INFO Engine 000: Avg prompt throughput: 1.0 tokens/s"), None);
        assert_eq!(parse(&LINE.replace("206.25 ms", "206.25 ms (dummy)")), None);
        for cut in 0..LINE.len() {
            parse(&LINE[..cut]);
        }
    }

    /// Iterations that cost exactly what these costs say.
    fn exact(floor_s: f64, decode_s: f64) -> Vec<Logged> {
        (0..400)
            .map(|i| {
                let tokens = f64::from(1 + (i * 37) % 500) * if i % 3 == 0 { 4.0 } else { 0.1 };
                let decode_share = f64::from((i * 13) % 50) / 100.0;
                let context = decode_share * 30_016.0 / 8192.0;
                let elapsed_s = 0.01 + f64::max(floor_s, 1e-4 * tokens) + decode_s * context;
                Logged { iterations: 1.0, tokens, decode_share, elapsed_s }
            })
            .collect()
    }

    #[test]
    fn costs_without_noise_are_found_again() {
        for decode_s in [0.0, 0.002] {
            let fit = fit(&exact(0.0, decode_s), 30_016).unwrap();
            assert!((fit.fixed_s - 0.01).abs() < 1e-9, "{fit:?}");
            assert!((fit.per_token_s - 1e-4).abs() < 1e-11, "{fit:?}");
            assert!((fit.decode_s - decode_s).abs() < 1e-9 && fit.floor_s == 0.0, "{fit:?}");
            assert!(fit.residual_max < 1e-9, "{fit:?}");
        }
    }

    #[test]
    fn a_floor_is_found_to_within_the_floors_that_are_tried() {
        let fit = fit(&exact(0.003, 0.002), 30_016).unwrap();
        assert!((fit.floor_s - 0.003).abs() < 0.0008, "{fit:?}");
        assert!((fit.per_token_s - 1e-4).abs() < 2e-6, "{fit:?}");
    }

    #[test]
    fn too_little_or_all_alike_tells_nothing() {
        assert_eq!(fit(&exact(0.0, 0.0)[..49], 30_016), Err(CalibrationError::TooFewLines(49)));
        let alike =
            [Logged { iterations: 1.0, tokens: 8.0, decode_share: 0.1, elapsed_s: 0.01 }; 60];
        assert_eq!(fit(&alike, 30_016), Err(CalibrationError::NotTold));
    }
}
