//! The tool time Z as the entry model needs it: its mean, F_Z(R) and E\[min(Z, R)\]
//! (App. E.9, Assumption MF). Closed forms, no sampling.

use crate::setup::ToolTime;

impl ToolTime {
    /// E\[Z\], in seconds.
    pub fn mean_s(&self) -> f64 {
        match self {
            Self::Exponential { mean_s } => *mean_s,
            Self::ShiftedExponential { shift_s, mean_s } => shift_s + mean_s,
            Self::Lognormal { median_s, sigma } => median_s * libm::exp(0.5 * sigma * sigma),
            Self::Mixture { parts } => parts.iter().map(|p| p.weight * p.law.mean_s()).sum(),
            Self::Sample { values_s } => values_s.iter().sum::<f64>() / values_s.len() as f64,
        }
    }

    /// F_Z(R) = P(Z <= R): the probability that a tool call ends before its session's KV,
    /// idle since the call began, reaches the eviction age `age_s`.
    pub fn ends_within(&self, age_s: f64) -> f64 {
        if age_s <= 0.0 {
            return 0.0;
        }
        match self {
            Self::Exponential { mean_s } => -libm::expm1(-age_s / mean_s),
            Self::ShiftedExponential { shift_s, mean_s } => {
                -libm::expm1(-(age_s - shift_s).max(0.0) / mean_s)
            }
            Self::Lognormal { median_s, sigma } => normal_cdf(libm::log(age_s / median_s) / sigma),
            Self::Mixture { parts } => {
                parts.iter().map(|p| p.weight * p.law.ends_within(age_s)).sum()
            }
            Self::Sample { values_s } => {
                values_s.iter().filter(|z| **z <= age_s).count() as f64 / values_s.len() as f64
            }
        }
    }

    /// E\[min(Z, R)\], in seconds: how long a tool call keeps KV idle before it ends or
    /// the KV, at age `age_s`, is evicted.
    pub fn mean_within_s(&self, age_s: f64) -> f64 {
        if age_s <= 0.0 {
            return 0.0;
        }
        match self {
            Self::Exponential { mean_s } => -mean_s * libm::expm1(-age_s / mean_s),
            Self::ShiftedExponential { shift_s, mean_s } => {
                let beyond = (age_s - shift_s).max(0.0);
                age_s.min(*shift_s) - mean_s * libm::expm1(-beyond / mean_s)
            }
            Self::Lognormal { median_s, sigma } => {
                let x = libm::log(age_s / median_s) / sigma;
                self.mean_s() * normal_cdf(x - sigma) + age_s * normal_cdf(-x)
            }
            Self::Mixture { parts } => {
                parts.iter().map(|p| p.weight * p.law.mean_within_s(age_s)).sum()
            }
            Self::Sample { values_s } => {
                values_s.iter().map(|z| z.min(age_s)).sum::<f64>() / values_s.len() as f64
            }
        }
    }
}

/// The standard normal distribution function.
fn normal_cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::workload::MixturePart;

    fn laws() -> Vec<ToolTime> {
        let exponential = ToolTime::Exponential { mean_s: 5.0 };
        let shifted = ToolTime::ShiftedExponential { shift_s: 10.0, mean_s: 5.0 };
        let lognormal = ToolTime::Lognormal { median_s: 2.0, sigma: 1.2 };
        let parts = vec![
            MixturePart { weight: 0.75, law: exponential.clone() },
            MixturePart { weight: 0.25, law: lognormal.clone() },
        ];
        let sample = ToolTime::Sample { values_s: vec![0.0, 1.0, 1.0, 40.0] };
        vec![exponential, shifted, lognormal, ToolTime::Mixture { parts }, sample]
    }

    #[test]
    fn the_truncated_mean_is_the_integral_of_the_survival() {
        for law in laws() {
            let age = 12.0;
            let steps = 200_000;
            let h = age / f64::from(steps);
            let integral: f64 =
                (0..steps).map(|i| h * (1.0 - law.ends_within((f64::from(i) + 0.5) * h))).sum();
            let exact = law.mean_within_s(age);
            assert!((integral - exact).abs() < 1e-4, "{law:?}: {integral} {exact}");
        }
    }

    #[test]
    fn an_age_of_zero_hits_nothing_and_a_long_one_everything() {
        for law in laws() {
            assert_eq!((law.ends_within(0.0), law.mean_within_s(0.0)), (0.0, 0.0));
            assert!((law.ends_within(1e6) - 1.0).abs() < 1e-9, "{law:?}");
            assert!((law.mean_within_s(1e7) / law.mean_s() - 1.0).abs() < 1e-9, "{law:?}");
        }
    }
}
