//! A registration made by formula from a cell's calibration (App. E.5, E.11).
//!
//! Nothing is chosen here: the window, the rates in it, the cap, its drain and the
//! slope thresholds follow from the inputs. What they cannot give leaves the
//! registration INCOMPLETE, with every reason; it then judges nothing.

use crate::measure::stats;
use crate::model::window::{self, FillRule, Incomplete, Window};
use crate::rule::registration::filled::{Drain, Filled, Peak, UpperEdge};
use crate::rule::registration::inputs::{FillInputs, FillThresholds};
use crate::rule::registration::{PairedThresholds, Registration, Status, Test};
use crate::setup::Protocol;

/// How a fill is to be marked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FillAs {
    /// The registration's name.
    pub name: String,
    /// Why it is EXPLORATORY, if it is to be.
    pub exploratory: Option<String>,
}

/// Inputs that give no registration at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FillError {
    /// Neither lambda_ref nor cache-off runs.
    #[error("lambda_ref is not given and there is no cache-off run to measure it")]
    NoReference,
    /// Neither a curve nor a peak, nor a from-empty edge.
    #[error("nothing bounds the window: no closed curve, no peak and no stable from-empty run")]
    NoWindow,
}

/// Fills a paired test's registration.
///
/// # Errors
/// There is no lambda_ref, or nothing that bounds the window.
pub fn fill(
    inputs: &FillInputs,
    protocol: &Protocol,
    thresholds: &FillThresholds,
    mark: FillAs,
) -> Result<Registration, FillError> {
    let rule = fill_rule(thresholds, protocol);
    let mean = |of: fn(&crate::rule::registration::inputs::CacheOff) -> f64| {
        stats::mean(&inputs.cache_off.iter().map(of).collect::<Vec<_>>())
    };
    let lambda_ref = inputs
        .lambda_ref_per_s
        .or_else(|| mean(|c| c.turns_based_per_s))
        .ok_or(FillError::NoReference)?;
    let all_miss = inputs.all_miss_tokens_per_s.or_else(|| mean(|c| c.tokens_per_s));
    let curve: Vec<(u64, f64)> =
        inputs.curve.iter().filter_map(|p| p.mu_per_s.map(|mu| (p.n, mu))).collect();
    let cap = window::cap(&curve, &rule);
    let peak_ratio = cap.map(|c| c.peak_mu_per_s / lambda_ref).or(inputs.peak_ratio);
    let (window, upper_edge) = bounds(peak_ratio, inputs.edge.largest_stable)?;

    let mut reasons = Vec::new();
    let rates = placed(&window, &rule, &mut reasons);
    if cap.is_none() {
        reasons.push("no closed curve is given, so the cap cannot be placed".to_owned());
    }
    if all_miss.is_none() {
        reasons.push("the all-miss token rate is not given".to_owned());
    }
    let drains: Vec<Drain> = cap.map_or_else(Vec::new, |cap| {
        rates.iter().map(|rate| drain(*rate, cap.mu_per_s, lambda_ref, &rule)).collect()
    });
    let paired = PairedThresholds::default();
    let threshold = |rate: &f64| undusted(paired.slope_factor * (rate - 1.0) * lambda_ref);
    let filled = Filled {
        window: (window.lower, window.upper),
        upper_edge,
        margin_band: {
            let (above, below) = window::margin_band(&window, &rule);
            (undusted(above), undusted(below))
        },
        rates_by_formula: rates.clone(),
        peak: cap.map(|c| Peak {
            sessions: c.peak_sessions,
            mu_per_s: c.peak_mu_per_s,
            mu_at_cap_per_s: c.mu_per_s,
        }),
        cap_ambiguous: cap.is_some_and(|c| c.ambiguous),
        drain_fits_up_to: cap
            .map(|c| undusted(window::largest_feasible_multiple(c.mu_per_s, lambda_ref, &rule))),
        slope_thresholds_per_s: rates.iter().map(threshold).collect(),
        predictions: predictions(),
        kill_conditions: kill_conditions(),
        warnings: warnings(inputs, cap.as_ref(), &drains, lambda_ref),
        drains,
    };
    let status = match (&reasons[..], &mark.exploratory) {
        ([_, ..], _) => Status::Incomplete,
        ([], Some(_)) => Status::Exploratory,
        ([], None) => Status::Filled,
    };
    let because = if reasons.is_empty() { mark.exploratory } else { Some(reasons.join("; ")) };
    Ok(Registration {
        name: mark.name,
        status,
        because,
        also_cells: Vec::new(),
        cell: inputs.cell.clone(),
        lambda_ref_per_s: lambda_ref,
        all_miss_tokens_per_s: all_miss,
        rates: if status == Status::Incomplete { Vec::new() } else { rates },
        cap: cap.map(|c| c.sessions),
        seeds: inputs.seeds.clone(),
        hardware: inputs.hardware.clone(),
        controls_of: Vec::new(),
        restates_sha256: inputs.restates_sha256.clone(),
        test: Test::default(),
        rule: paired,
        filled: Some(filled),
        sources: inputs.sources.clone(),
    })
}

/// The formulas' constants with the protocol's burst and its time for the drain: from
/// the burst to the last span of the run, over which RECOVERED is judged.
fn fill_rule(thresholds: &FillThresholds, protocol: &Protocol) -> FillRule {
    let paired = &protocol.paired;
    let available_s = paired.horizon_s - paired.burst.start_s - paired.last_s;
    FillRule {
        fractions: thresholds.fractions.clone(),
        round_to: thresholds.round_to,
        above_lower: thresholds.above_lower,
        below_upper: thresholds.below_upper,
        cap_share: thresholds.cap_share,
        ambiguous_share: thresholds.ambiguous_share,
        burst_sessions: paired.burst.sessions as f64,
        drain_limit_s: thresholds.drain_share * available_s,
    }
}

fn bounds(peak: Option<f64>, edge: Option<f64>) -> Result<(Window, UpperEdge), FillError> {
    match (peak, edge) {
        (Some(peak), Some(edge)) => {
            let by = if edge <= peak { UpperEdge::FromEmpty } else { UpperEdge::Peak };
            Ok((window::window(peak, edge), by))
        }
        (Some(peak), None) => Ok((window::window(peak, peak), UpperEdge::Peak)),
        (None, Some(edge)) => Ok((window::window(edge, edge), UpperEdge::FromEmpty)),
        (None, None) => Err(FillError::NoWindow),
    }
}

/// The rates the formula gives, and why one of them cannot be registered.
fn placed(window: &Window, rule: &FillRule, reasons: &mut Vec<String>) -> Vec<f64> {
    let mut rates = Vec::new();
    for fraction in &rule.fractions {
        let one = FillRule { fractions: vec![*fraction], ..rule.clone() };
        match window::rates(window, &one) {
            Ok(placed) => rates.extend(placed),
            Err(why) => {
                if let Incomplete::OutsideBand { rate, above, below } = why {
                    rates.push(rate);
                    reasons.push(format!(
                        "the rate {rate:.2} lambda_ref lies outside the margin band ({above:.2}, {below:.2})"
                    ));
                } else {
                    reasons.push(why.to_string());
                }
            }
        }
    }
    reasons.dedup();
    rates
}

fn drain(rate: f64, mu_at_cap: f64, lambda_ref: f64, rule: &FillRule) -> Drain {
    let predicted_s = window::predicted_drain_s(mu_at_cap, rate * lambda_ref, rule);
    Drain {
        rate,
        predicted_s: predicted_s.map(undusted),
        fits: predicted_s.is_some_and(|s| s <= rule.drain_limit_s),
    }
}

/// Without the dust of binary fractions, for a file that people read.
fn undusted(x: f64) -> f64 {
    (x * 1e9).round() / 1e9
}

fn warnings(
    inputs: &FillInputs,
    cap: Option<&window::Cap>,
    drains: &[Drain],
    lambda_ref: f64,
) -> Vec<String> {
    let mut warnings = Vec::new();
    let congested = inputs.curve.iter().filter(|p| p.mu_per_s.is_some()).max_by_key(|p| p.n);
    if let Some((n, mu)) = congested.and_then(|p| p.mu_per_s.map(|mu| (p.n, mu))) {
        let off = window::congested_warning(mu, lambda_ref);
        warnings.push(format!(
            "|mu({n})/lambda_miss - 1| = {off:.3}: a check only, a synchronized start biases it"
        ));
    }
    if let Some(cap) = cap.filter(|c| c.ambiguous) {
        warnings.push(format!(
            "the cap is ambiguous: the peak is at {} sessions, or another population nearly reaches it",
            cap.peak_sessions
        ));
    }
    let unknown: Vec<String> = inputs
        .curve
        .iter()
        .filter(|p| p.mu_per_s.is_none() && cap.is_some_and(|c| p.n < c.sessions))
        .map(|p| p.n.to_string())
        .collect();
    if !unknown.is_empty() {
        warnings.push(format!(
            "mu({}) is not known: the cap is the smallest of the populations whose mu is",
            unknown.join("), mu(")
        ));
    }
    for late in drains.iter().filter(|d| !d.fits) {
        warnings
            .push(format!("the drain does not fit at {:.2}: CAPPED decides nothing", late.rate));
    }
    if !inputs.edge.monotone {
        warnings.push("a stable from-empty rate lies above an unstable one".to_owned());
    }
    if inputs.edge.first_unstable.is_none() {
        warnings.push("no from-empty run was unstable: the edge may lie higher".to_owned());
    }
    warnings
}

fn predictions() -> Vec<String> {
    [
        "inside the window: BURST TRAPPED, NOBURST good, CAPPED RECOVERED where its drain fits",
        "below lambda_ref: BURST not TRAPPED",
        "above the window: NOBURST may leave the good state, so no such rate is registered",
    ]
    .map(str::to_owned)
    .to_vec()
}

fn kill_conditions() -> Vec<String> {
    [
        "NOBURST is not good in a third of the seeds or more at a registered rate",
        "BURST is not TRAPPED in two thirds of the seeds at every registered rate",
        "CAPPED does not recover although BURST is TRAPPED and the drain fits",
        "the window is empty or narrower than the noise",
    ]
    .map(str::to_owned)
    .to_vec()
}

#[cfg(test)]
#[path = "fill/tests.rs"]
mod tests;
