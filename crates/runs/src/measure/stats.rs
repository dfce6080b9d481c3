//! The few statistics that published numbers need, each summed in row order.

/// Arithmetic mean; `None` of nothing.
pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() { None } else { Some(values.iter().sum::<f64>() / values.len() as f64) }
}

/// Standard error of the mean; `None` of fewer than two values.
pub fn standard_error(values: &[f64]) -> Option<f64> {
    let centre = mean(values).filter(|_| values.len() > 1)?;
    let n = values.len() as f64;
    let squares: f64 = values.iter().map(|x| (x - centre) * (x - centre)).sum();
    Some((squares / (n - 1.0) / n).sqrt())
}

/// Quantile of the linear kind (Hyndman and Fan's type 7); `None` of nothing.
///
/// `q` in [0, 1]. The order of `values` does not matter.
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    quantile_of(&mut values.to_vec(), q)
}

/// The same of values that need not keep their order.
pub(super) fn quantile_of(values: &mut [f64], q: f64) -> Option<f64> {
    let at = q * (values.len().checked_sub(1)? as f64);
    let (_, &mut low, above) = values.select_nth_unstable_by(at.floor() as usize, f64::total_cmp);
    // The next larger one has no weight where `at` is whole, even if it is infinite.
    match above.iter().copied().min_by(f64::total_cmp) {
        Some(high) if at.fract() > 0.0 => Some(low + (high - low) * at.fract()),
        _ => Some(low),
    }
}

/// Median; `None` of nothing.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// A line fitted by least squares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// Change of y per unit of x.
    pub slope: f64,
    /// y at x = 0.
    pub intercept: f64,
}

/// Least squares of y on x; `None` with fewer than two distinct x.
pub fn least_squares(points: &[(f64, f64)]) -> Option<Line> {
    let n = points.len() as f64;
    let (x_mean, y_mean) =
        (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    let sxx: f64 = points.iter().map(|p| (p.0 - x_mean) * (p.0 - x_mean)).sum();
    let sxy: f64 = points.iter().map(|p| (p.0 - x_mean) * (p.1 - y_mean)).sum();
    (sxx > 0.0).then(|| {
        let slope = sxy / sxx;
        Line { slope, intercept: y_mean - slope * x_mean }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate_between_order_statistics() {
        let values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(quantile(&values, 0.0), Some(1.0));
        assert_eq!(quantile(&values, 0.5), Some(2.5));
        assert_eq!(quantile(&values, 0.9), Some(3.7));
        assert_eq!(quantile(&values, 1.0), Some(4.0));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn the_standard_error_needs_two_values() {
        assert_eq!(standard_error(&[1.0]), None);
        assert_eq!(standard_error(&[1.0, 3.0]), Some(1.0));
    }

    #[test]
    fn a_line_is_fitted_exactly_and_one_point_fits_none() {
        let line = least_squares(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]).unwrap();
        assert_eq!(line, Line { slope: 2.0, intercept: 1.0 });
        assert_eq!(least_squares(&[(1.0, 1.0), (1.0, 2.0)]), None);
    }
}
