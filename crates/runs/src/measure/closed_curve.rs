//! The measured curve of a closed population, point by point, and where its hits fall
//! through a level (App. E.3, Table 20).

use std::collections::BTreeMap;

use super::{WindowMeasures, stats};

/// What closed runs measured, by population; runs without a population or a window say
/// nothing and are left out.
pub fn by_population<T>(
    runs: impl IntoIterator<Item = (Option<u64>, Option<T>)>,
) -> BTreeMap<u64, Vec<T>> {
    let mut measured: BTreeMap<u64, Vec<T>> = BTreeMap::new();
    for (n, one) in runs.into_iter().filter_map(|(population, one)| population.zip(one)) {
        measured.entry(n).or_default().push(one);
    }
    measured
}

/// A quantity at one population, mean over its runs; `None` where one of them cannot tell.
pub fn mean(
    windows: &[&WindowMeasures],
    of: impl Fn(&WindowMeasures) -> Option<f64>,
) -> Option<f64> {
    let values: Option<Vec<f64>> = windows.iter().map(|window| of(window)).collect();
    values.and_then(|values| stats::mean(&values))
}

/// The *half-hit crossing*: the population at which half of all turns hit (D4, Table 20).
/// `points` are (population, hit fraction).
pub fn half_hit_crossing(points: &[(f64, f64)]) -> Option<f64> {
    crossing(points, 0.5)
}

/// The population at which a curve first falls through `level`, linear between measured
/// populations; `None` if it never does.
pub fn crossing(points: &[(f64, f64)], level: f64) -> Option<f64> {
    let mut points = points.to_vec();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points.windows(2).find(|w| w[0].1 >= level && w[1].1 < level).map(|w| {
        let ((n0, h0), (n1, h1)) = (w[0], w[1]);
        n0 + (n1 - n0) * (h0 - level) / (h0 - h1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_native_crossing_is_the_published_one_by_linear_interpolation() {
        let native = [(64.0, 0.925), (80.0, 0.92), (96.0, 0.42), (128.0, 0.007)];
        assert_eq!(format!("{:.1}", half_hit_crossing(&native).unwrap()), "93.4");
        assert_eq!(half_hit_crossing(&native[..2]), None);
        assert_eq!(half_hit_crossing(&[(10.0, 0.5), (20.0, 0.0)]), Some(10.0));
    }

    #[test]
    fn the_order_of_the_points_does_not_matter() {
        let (there, back) = ([(10.0, 0.9), (20.0, 0.1)], [(20.0, 0.1), (10.0, 0.9)]);
        assert_eq!(half_hit_crossing(&there), half_hit_crossing(&back));
    }
}
