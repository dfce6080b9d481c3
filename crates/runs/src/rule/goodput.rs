//! How much goodput a run loses against its same-seed NOBURST run (D2, App. D). Made
//! after the outcome; an upper bound on each goodput, since the condition on the time
//! between tokens is left out.

/// Sessions served in time of those that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Goodput {
    /// Served in time.
    pub good: u64,
    /// Arrived.
    pub arrived: u64,
}

/// The share of the control's goodput that the run loses; negative for a gain, `None`
/// where the control had none.
///
/// Both are of the same arrivals, so the counts compare as rates.
pub fn loss(run: Goodput, control: Goodput) -> Option<f64> {
    (control.good > 0).then(|| 1.0 - run.good as f64 / control.good as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_serves_none_in_time_loses_all() {
        let control = Goodput { good: 250, arrived: 300 };
        assert_eq!(loss(Goodput { good: 0, arrived: 300 }, control), Some(1.0));
        assert_eq!(loss(control, control), Some(0.0));
        assert_eq!(loss(Goodput { good: 275, arrived: 300 }, control), Some(-0.10000000000000009));
        assert_eq!(loss(control, Goodput { good: 0, arrived: 300 }), None);
    }
}
