//! Registration arithmetic: the metastable window, the test rates placed in it, the cap,
//! its drain and whether that fits the run (sec 2, App. E.4, E.5, E.11).
//!
//! Pure functions of measured values. Thresholds are arguments.

use serde::{Deserialize, Serialize};

use super::rescue::gate_drain_s;

/// How a registration is filled from a cell's calibration (App. E.5, E.11): the published
/// values by default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FillThresholds {
    /// Where in the window the rates lie.
    pub fractions: Vec<f64>,
    /// What they are rounded to, multiples of lambda_ref.
    pub round_to: f64,
    /// A rate lies strictly above this times the window's lower edge ...
    pub above_lower: f64,
    /// ... and strictly below this times its upper edge.
    pub below_upper: f64,
    /// The cap is the smallest population with this share of mu*.
    pub cap_share: f64,
    /// Another population this close to mu*, as a share, makes the cap ambiguous.
    /// Inferred: the paper flags 0.35 % and 0.5 % and prints no bound.
    pub ambiguous_share: f64,
    /// Share of the time after the burst that the drain may take.
    pub drain_share: f64,
}

impl Default for FillThresholds {
    fn default() -> Self {
        Self {
            fractions: vec![1.0 / 3.0, 2.0 / 3.0],
            round_to: 0.05,
            above_lower: 1.1,
            below_upper: 0.9,
            cap_share: 0.95,
            ambiguous_share: 0.01,
            drain_share: 0.8,
        }
    }
}

/// What a cap has to drain, and by when.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BurstDrain {
    /// Sessions in the burst.
    pub sessions: f64,
    /// Time for it, s.
    pub limit_s: f64,
}

impl BurstDrain {
    /// The paper's: 200 sessions within 80 % of the 7200 s after the burst (5760 s).
    pub fn paper() -> Self {
        Self { sessions: 200.0, limit_s: FillThresholds::default().drain_share * 7200.0 }
    }
}

/// The window of metastability, in multiples of lambda_ref (Eq. (3)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// Recovery threshold: 1.
    pub lower: f64,
    /// The lower of the peak and the from-empty edge.
    pub upper: f64,
}

/// Why a registration cannot be filled.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum Incomplete {
    /// No rate is metastable.
    #[error("the window ({lower}, {upper}) lambda_ref is empty")]
    EmptyWindow {
        /// Lower edge.
        lower: f64,
        /// Upper edge.
        upper: f64,
    },
    /// A rate falls outside the margin band.
    #[error("the rate {rate} lambda_ref lies outside the margin band ({above}, {below})")]
    OutsideBand {
        /// The rate, in multiples of lambda_ref.
        rate: f64,
        /// Lower end of the band.
        above: f64,
        /// Upper end of the band.
        below: f64,
    },
}

/// The *cap* of a registration: the number of sessions that a gate admits, chosen from a
/// measured curve (App. E.4).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cap {
    /// The cap, in sessions.
    pub sessions: u64,
    /// mu at the cap, in sessions/s.
    pub mu_per_s: f64,
    /// The population of the measured peak.
    pub peak_sessions: u64,
    /// mu*, in sessions/s.
    pub peak_mu_per_s: f64,
    /// Whether the peak lies elsewhere or another population nearly reaches it.
    pub ambiguous: bool,
}

/// The window between the recovery threshold and whichever bound binds. `peak` is
/// mu* / lambda_ref, `edge` the largest multiple that stayed stable from empty.
pub fn window(peak: f64, edge: f64) -> Window {
    Window { lower: 1.0, upper: peak.min(edge) }
}

/// The test rates, in multiples of lambda_ref.
///
/// # Errors
/// An empty window, or a rate outside the margin band.
pub fn rates(window: &Window, rule: &FillThresholds) -> Result<Vec<f64>, Incomplete> {
    let Window { lower, upper } = *window;
    if upper.total_cmp(&lower).is_le() {
        return Err(Incomplete::EmptyWindow { lower, upper });
    }
    let (above, below) = margin_band(window, rule);
    rule.fractions
        .iter()
        .map(|fraction| {
            let rate = rounded(lower + fraction * (upper - lower), rule.round_to);
            if rate > above && rate < below {
                Ok(rate)
            } else {
                Err(Incomplete::OutsideBand { rate, above, below })
            }
        })
        .collect()
}

/// The open interval that holds every test rate, in multiples of lambda_ref.
pub fn margin_band(window: &Window, rule: &FillThresholds) -> (f64, f64) {
    (rule.above_lower * window.lower, rule.below_upper * window.upper)
}

/// The smallest population that comes within the rule's share of the measured peak.
/// `curve` has (sessions, mu in sessions/s). `None` for an empty curve.
pub fn cap(curve: &[(u64, f64)], rule: &FillThresholds) -> Option<Cap> {
    let mut curve = curve.to_vec();
    curve.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let (peak_sessions, peak_mu_per_s) =
        curve.iter().copied().rev().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let (sessions, mu_per_s) =
        curve.iter().copied().find(|(_, mu)| *mu >= rule.cap_share * peak_mu_per_s)?;
    let rival = curve
        .iter()
        .any(|(n, mu)| *n != peak_sessions && *mu >= (1.0 - rule.ambiguous_share) * peak_mu_per_s);
    let ambiguous = sessions != peak_sessions || rival;
    Some(Cap { sessions, mu_per_s, peak_sessions, peak_mu_per_s, ambiguous })
}

/// b / (mu(cap) - lambda), the registered drain: how long the cap takes to drain the burst, in seconds. `None`
/// when it never does.
pub fn predicted_drain_s(
    mu_at_cap_per_s: f64,
    lambda_per_s: f64,
    burst: BurstDrain,
) -> Option<f64> {
    // Above the cap stands the whole burst.
    gate_drain_s(burst.sessions, 0.0, mu_at_cap_per_s, lambda_per_s)
}

/// The largest multiple of lambda_ref at which the predicted drain fits the limit.
pub fn largest_feasible_multiple(
    mu_at_cap_per_s: f64,
    lambda_ref_per_s: f64,
    burst: BurstDrain,
) -> f64 {
    (mu_at_cap_per_s - burst.sessions / burst.limit_s) / lambda_ref_per_s
}

/// 0.5 (lambda - lambda_ref): the backlog slope above which a run counts as trapped, in
/// sessions/s (App. E.5).
pub fn slope_threshold_per_s(lambda_per_s: f64, lambda_ref_per_s: f64) -> f64 {
    0.5 * (lambda_per_s - lambda_ref_per_s)
}

/// |mu(n) / lambda_miss - 1| at a congested population, a warning recorded at filling.
pub fn congested_warning(mu_congested_per_s: f64, lambda_miss_per_s: f64) -> f64 {
    (mu_congested_per_s / lambda_miss_per_s - 1.0).abs()
}

/// Nearest multiple of `step`, without the rounding dust of the product.
fn rounded(value: f64, step: f64) -> f64 {
    libm::round(libm::round(value / step) * step * 1e9) / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registered(edge: f64) -> Result<Vec<f64>, Incomplete> {
        rates(&window(9.0, edge), &FillThresholds::default())
    }

    #[test]
    fn the_paper_s_windows_give_the_paper_s_rates() {
        assert_eq!(registered(2.0), Ok(vec![1.35, 1.65]));
        assert_eq!(registered(5.5), Ok(vec![2.5, 4.0]));
        assert_eq!(registered(2.5), Ok(vec![1.5, 2.0]));
    }

    #[test]
    fn a_window_too_narrow_for_the_margins_stays_unfilled() {
        let error = registered(1.3).unwrap_err();
        let Incomplete::OutsideBand { rate, above, below } = error else { panic!("{error}") };
        assert_eq!((rate, above), (1.1, 1.1));
        assert!((below - 1.17).abs() < 1e-12);
        assert!(matches!(registered(1.0), Err(Incomplete::EmptyWindow { .. })));
    }

    #[test]
    fn the_peak_bounds_the_window_when_it_is_lower_than_the_edge() {
        assert_eq!(window(1.9, 2.5).upper, 1.9);
        assert_eq!(window(3.3, 2.0).upper, 2.0);
    }

    const SGLANG: [(u64, f64); 4] = [(16, 0.1756), (20, 0.2239), (24, 0.2333), (32, 0.1150)];
    const VLLM: [(u64, f64); 4] = [(16, 0.1750), (20, 0.2194), (24, 0.2183), (28, 0.1189)];

    #[test]
    fn the_cap_is_the_smallest_population_near_the_peak() {
        let cap = |curve: &[(u64, f64)]| super::cap(curve, &FillThresholds::default()).unwrap();
        let sglang = cap(&SGLANG);
        assert_eq!((sglang.sessions, sglang.peak_sessions, sglang.ambiguous), (20, 24, true));
        let vllm = cap(&VLLM);
        assert_eq!((vllm.sessions, vllm.peak_sessions, vllm.ambiguous), (20, 20, true));
        assert!(!cap(&[(10, 0.1), (20, 0.2), (30, 0.1)]).ambiguous);
        assert_eq!(super::cap(&[], &FillThresholds::default()), None);
    }

    #[test]
    fn predicted_drains_are_the_registered_ones() {
        let burst = BurstDrain::paper();
        let drain = |mu: f64, lambda: f64| predicted_drain_s(mu, lambda, burst).map(|s| s.round());
        assert_eq!(drain(0.2239, 0.0966), Some(1571.0));
        assert_eq!(drain(0.2239, 0.1180), Some(1889.0));
        assert_eq!(drain(0.2194, 0.0886), Some(1529.0));
        assert_eq!(drain(0.2194, 0.1083), Some(1800.0));
        assert_eq!(drain(0.2194, 0.2194), None);
    }

    #[test]
    fn the_drain_just_fits_at_the_largest_feasible_multiple() {
        let burst = BurstDrain::paper();
        let multiple = largest_feasible_multiple(0.2239, 0.071534, burst);
        assert_eq!((multiple * 100.0).round(), 264.0);
        let drain = predicted_drain_s(0.2239, multiple * 0.071534, burst).unwrap();
        assert!((drain - burst.limit_s).abs() < 1e-6);
    }
}
