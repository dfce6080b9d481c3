//! Readings of where the closed curve's hit fraction crosses one half
//! ([`crate::measure::closed_curve::half_hit_crossing`]): Lu et al.'s hit curve of working set
//! over cache (D4, Table 20) and the test of the tool-call term (App. E.9). Made after the
//! outcome.

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
