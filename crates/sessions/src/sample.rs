//! Values of one quantity, sorted.

/// What was recorded of a quantity.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sample {
    sorted: Vec<f64>,
    mean: Option<f64>,
    /// Values that the record does not say.
    pub unknown: u64,
}

impl Sample {
    /// The known ones of some values.
    pub fn of(values: impl IntoIterator<Item = Option<f64>>) -> Self {
        let mut sample = Self::default();
        for value in values {
            match value {
                Some(value) => sample.sorted.push(value),
                None => sample.unknown += 1,
            }
        }
        let (n, sum) = (sample.sorted.len(), sample.sorted.iter().sum::<f64>());
        sample.mean = (n > 0).then(|| sum / n as f64);
        sample.sorted.sort_by(f64::total_cmp);
        sample
    }

    /// How many are known.
    pub fn known(&self) -> u64 {
        self.sorted.len() as u64
    }

    /// Their mean, summed in the order of the record; `None` of nothing.
    pub fn mean(&self) -> Option<f64> {
        self.mean
    }

    /// Their quantile of the linear kind (Hyndman and Fan's type 7), `q` in [0, 1]; `None` of
    /// nothing.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        let at = q * (self.sorted.len().checked_sub(1)? as f64);
        let low = self.sorted[at.floor() as usize];
        let above = self.sorted.get(at.floor() as usize + 1);
        Some(above.map_or(low, |high| low + (high - low) * at.fract()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate_and_unknown_values_are_counted() {
        let sample = Sample::of([Some(4.0), None, Some(1.0), Some(2.0)]);
        assert_eq!((sample.known(), sample.unknown), (3, 1));
        assert_eq!(sample.mean(), Some(7.0 / 3.0));
        assert_eq!(sample.quantile(0.0), Some(1.0));
        assert_eq!(sample.quantile(0.75), Some(3.0));
        assert_eq!(sample.quantile(1.0), Some(4.0));
        assert_eq!(Sample::of([None]).quantile(0.5), None);
    }
}
