//! How late the client itself was: from when a turn was due until its request began.

use serde::Serialize;

/// The lags of a run's requests, s.
#[derive(Debug, Clone, Default)]
pub struct Lags(Vec<f64>);

/// Lags in a few numbers, s.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LagSummary {
    /// Requests that were sent.
    pub sends: u64,
    /// Median.
    pub p50_s: f64,
    /// Of a hundred, the one but largest.
    pub p99_s: f64,
    /// The largest.
    pub max_s: f64,
}

impl Lags {
    /// Adds one, s.
    pub fn push(&mut self, lag_s: f64) {
        self.0.push(lag_s);
    }

    /// The largest so far, s.
    pub fn max_s(&self) -> f64 {
        self.0.iter().copied().fold(0.0, f64::max)
    }

    /// In a few numbers to 0.1 ms; `None` if nothing was sent. A quantile is a lag that there was, the
    /// smallest that at least that share does not exceed.
    pub fn summary(&self) -> Option<LagSummary> {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let rank = (share * sorted.len() as f64).ceil() as usize;
            // To 0.1 ms, as the times of a run.
            sorted.get(rank.saturating_sub(1)).map(|lag_s| (lag_s * 1e4).round() / 1e4)
        };
        Some(LagSummary {
            sends: sorted.len() as u64,
            p50_s: at(0.5)?,
            p99_s: at(0.99)?,
            max_s: at(1.0)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_lags_that_there_were() {
        assert_eq!(Lags::default().summary(), None);
        let lags = Lags((1..=200).rev().map(|i| f64::from(i) / 1000.0).collect());
        let summary = LagSummary { sends: 200, p50_s: 0.1, p99_s: 0.198, max_s: 0.2 };
        assert_eq!(lags.summary(), Some(summary));
    }
}
