//! Which caps rescue a trapped engine at its load, and how long the gate takes to empty
//! (Cor. 4, Prop. 2, App. E.4). Quasi-static; layer H4 adds the resumed sessions' misses.

use super::curve::Curve;

/// The caps that empty their gate at a load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RescuingCaps {
    /// n_1: a cap must be larger.
    pub above: f64,
    /// min(n_2, n_b): a cap must be smaller. `None` below lambda_miss, where the trap drains
    /// without a cap.
    pub below: Option<f64>,
}

/// The range of rescuing caps. `None` when the load has no good state.
pub fn rescuing_caps(curve: &Curve, lambda_per_s: f64) -> Option<RescuingCaps> {
    let above = curve.good_state(lambda_per_s)?.population;
    let onset = curve.model().onset().population();
    let below = curve.unstable_state(lambda_per_s).map(|s| s.population.min(onset));
    Some(RescuingCaps { above, below })
}

impl RescuingCaps {
    /// Whether a cap of `sessions` rescues.
    pub fn contains(&self, sessions: f64) -> bool {
        sessions > self.above && self.below.is_none_or(|below| sessions < below)
    }

    /// The whole caps in the range, smallest and largest. `None` when there is none.
    pub fn whole(&self) -> Option<(u64, Option<u64>)> {
        let smallest = libm::floor(self.above) + 1.0;
        let largest = self.below.map(|below| libm::ceil(below) - 1.0);
        if largest.is_some_and(|largest| largest < smallest) {
            return None;
        }
        Some((smallest as u64, largest.map(|n| n as u64)))
    }
}

/// The *drain* of a gate: how long a cap takes to empty it, (n_present - cap) / (mu(cap) - lambda),
/// in seconds (App. E.4). `None` when the cap does not serve the load.
pub fn gate_drain_s(
    present: f64,
    cap: f64,
    mu_at_cap_per_s: f64,
    lambda_per_s: f64,
) -> Option<f64> {
    let surplus = mu_at_cap_per_s - lambda_per_s;
    (surplus > 0.0).then(|| (present - cap).max(0.0) / surplus)
}

/// The drain on a cell's curve, when `present` sessions are there, in seconds. `None` when the cap
/// does not serve the load.
pub fn drain_s(curve: &Curve, lambda_per_s: f64, cap: f64, present: f64) -> Option<f64> {
    gate_drain_s(present, cap, curve.mu_per_s(cap), lambda_per_s)
}
