//! Where the closed curve's hit fraction crosses one half, and readings of it: Lu et
//! al.'s hit curve of working set over cache (D4, Table 20) and the test of the
//! tool-call term (App. E.9). Made after the outcome.

/// The population at which the hit fraction first falls through `level`, by linear
/// interpolation between measured populations; `None` if it never does.
pub fn crossing(points: &[(f64, f64)], level: f64) -> Option<f64> {
    let mut points = points.to_vec();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points.windows(2).find(|w| w[0].1 >= level && w[1].1 < level).map(|w| {
        let ((n0, h0), (n1, h1)) = (w[0], w[1]);
        n0 + (n1 - n0) * (h0 - level) / (h0 - h1)
    })
}

/// Lu et al.'s reading: the crossing lies at one ratio of working set to cache
/// everywhere, so on another pool at `ratio` M / E_bar sessions.
pub fn working_set_crossing(ratio: f64, pool_tokens: f64, mean_session_tokens: f64) -> f64 {
    ratio * pool_tokens / mean_session_tokens
}

/// The ratio that a measured crossing fixes.
pub fn working_set_ratio(crossing: f64, pool_tokens: f64, mean_session_tokens: f64) -> f64 {
    crossing * mean_session_tokens / pool_tokens
}

/// Mean absolute error, sessions; `None` of nothing.
pub fn mean_error(pairs: &[(f64, f64)]) -> Option<f64> {
    let sum: f64 = pairs.iter().map(|(measured, predicted)| (measured - predicted).abs()).sum();
    (!pairs.is_empty()).then(|| sum / pairs.len() as f64)
}

/// Whether the crossing shows the tool-call term: it lies more than halfway from the
/// capacity ratio M / E_S to the all-miss onset n_b. Returns the margin, sessions.
pub fn tool_term_margin(crossing: f64, pool_term: f64, onset: f64) -> f64 {
    crossing - 0.5 * (pool_term + onset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_native_crossing_is_the_published_one_by_linear_interpolation() {
        let native = [(64.0, 0.925), (80.0, 0.92), (96.0, 0.42), (128.0, 0.007)];
        assert_eq!(format!("{:.1}", crossing(&native, 0.5).unwrap()), "93.4");
        assert_eq!(crossing(&native[..2], 0.5), None);
        assert_eq!(crossing(&[(10.0, 0.5), (20.0, 0.0)], 0.5), Some(10.0));
    }

    /// Pool, measured, Lu et al.'s reading, our frozen crossing.
    type Line = (f64, f64, f64, f64);

    /// Table 20.
    const TABLE_20: [Line; 8] = [
        (150_000.0, 16.5, 16.1, 16.9),
        (300_000.0, 32.2, 32.2, 31.5),
        (600_000.0, 60.1, 64.3, 60.0),
        (955_757.0, 93.4, 102.5, 93.7),
        (300_000.0, 38.9, 32.2, 37.3),
        (600_000.0, 71.0, 64.3, 66.6),
        (300_000.0, 29.1, 32.2, 31.8),
        (300_000.0, 29.65, 32.2, 30.9),
    ];
    const MEAN_SESSION_TOKENS: f64 = 10_569.0;

    #[test]
    fn the_working_set_reading_reproduces_table_20() {
        let ratio = working_set_ratio(32.2, 300_000.0, MEAN_SESSION_TOKENS);
        assert_eq!(format!("{ratio:.3}"), "1.134");
        for (pool, _, printed, _) in TABLE_20 {
            let reading = working_set_crossing(ratio, pool, MEAN_SESSION_TOKENS);
            // The printed reading comes from the unrounded crossing.
            assert!((reading - printed).abs() < 0.11, "{pool}: {reading} against {printed}");
        }
    }

    #[test]
    fn the_errors_over_seven_cells_are_the_published_ones() {
        let without_300k: Vec<_> =
            TABLE_20.iter().enumerate().filter(|(i, _)| *i != 1).map(|(_, row)| *row).collect();
        let error = |of: &dyn Fn(&Line) -> f64| {
            mean_error(&without_300k.iter().map(|r| (r.1, of(r))).collect::<Vec<_>>()).unwrap()
        };
        assert_eq!(format!("{:.1}", error(&|r| r.2)), "4.7");
        assert_eq!(format!("{:.1}", error(&|r| r.3)), "1.5");
    }

    #[test]
    fn the_tool_term_passes_at_150k_and_fails_on_llama() {
        // App. E.9: M/E_S and n_b of Llama give the threshold 29.89.
        assert!(tool_term_margin(29.90, 27.8, 31.98) > 0.0);
        assert!(tool_term_margin(29.88, 27.8, 31.98) < 0.0);
        assert_eq!(mean_error(&[]), None);
    }
}
