//! Arrival rates that change at given times: bursts, stops and cuts.

use crate::model::ModelError;

/// A piecewise constant arrival rate, in sessions/s.
#[derive(Debug, Clone, PartialEq)]
pub struct Arrivals {
    /// (from, rate): each rate holds from its time to the next. The first holds before too.
    steps: Vec<(f64, f64)>,
}

impl Arrivals {
    /// The same rate for ever.
    ///
    /// # Errors
    /// A negative or infinite rate.
    pub fn constant(rate_per_s: f64) -> Result<Self, ModelError> {
        Ok(Self { steps: vec![(f64::NEG_INFINITY, checked(rate_per_s)?)] })
    }

    /// The rate becomes `rate_per_s` from `time_s` on (0 stops arrivals).
    ///
    /// # Errors
    /// A negative or infinite rate.
    pub fn then(mut self, time_s: f64, rate_per_s: f64) -> Result<Self, ModelError> {
        self.steps.retain(|(from, _)| *from < time_s);
        self.steps.push((time_s, checked(rate_per_s)?));
        Ok(self)
    }

    /// `sessions` more, spread evenly over `length_s` from `time_s`.
    ///
    /// # Errors
    /// A negative number of sessions or a length that is not positive.
    pub fn with_burst(
        mut self,
        time_s: f64,
        length_s: f64,
        sessions: f64,
    ) -> Result<Self, ModelError> {
        let extra = checked(sessions / length_s)?;
        for edge in [time_s, time_s + length_s] {
            let rate = self.rate_per_s(edge);
            let at = self.steps.partition_point(|(from, _)| *from < edge);
            if self.steps.get(at).is_none_or(|(from, _)| *from > edge) {
                self.steps.insert(at, (edge, rate));
            }
        }
        for (from, rate) in &mut self.steps {
            if *from >= time_s && *from < time_s + length_s {
                *rate += extra;
            }
        }
        Ok(self)
    }

    /// The rate at a time (from the right), in sessions/s.
    pub fn rate_per_s(&self, time_s: f64) -> f64 {
        let after = self.steps.partition_point(|(from, _)| *from <= time_s);
        self.steps[after.max(1) - 1].1
    }

    /// The next change after a time.
    pub(crate) fn next_change_s(&self, time_s: f64) -> Option<f64> {
        let after = self.steps.partition_point(|(from, _)| *from <= time_s);
        self.steps.get(after).map(|(from, _)| *from)
    }
}

fn checked(rate_per_s: f64) -> Result<f64, ModelError> {
    if rate_per_s >= 0.0 && rate_per_s.is_finite() {
        Ok(rate_per_s)
    } else {
        Err(ModelError::Negative { what: "arrival rate (sessions/s)", value: rate_per_s })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_adds_to_whatever_the_rate_is() {
        let rates = Arrivals::constant(0.1)
            .and_then(|r| r.then(1230.0, 0.05))
            .and_then(|r| r.with_burst(1200.0, 60.0, 120.0))
            .unwrap();
        let at = |t: f64| (rates.rate_per_s(t) * 1e3).round() / 1e3;
        assert_eq!((at(1199.9), at(1200.0), at(1230.0)), (0.1, 2.1, 2.05));
        assert_eq!((at(1259.9), at(1260.0)), (2.05, 0.05));
        assert_eq!(rates.next_change_s(1200.0), Some(1230.0));
        assert_eq!(rates.next_change_s(1260.0), None);
    }

    #[test]
    fn a_later_change_replaces_what_was_planned_after_it() {
        let rates = Arrivals::constant(1.0)
            .and_then(|r| r.then(10.0, 2.0))
            .and_then(|r| r.then(5.0, 0.0))
            .unwrap();
        assert_eq!((rates.rate_per_s(4.0), rates.rate_per_s(20.0)), (1.0, 0.0));
    }

    #[test]
    fn a_negative_rate_is_refused() {
        assert!(Arrivals::constant(-0.1).is_err());
        assert!(Arrivals::constant(1.0).and_then(|r| r.with_burst(0.0, 0.0, 5.0)).is_err());
    }
}
