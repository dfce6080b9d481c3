//! Whether a rescue run is RESCUED: VALID, RELEASED and POST-GOOD
//! (paper: App. E.7).

use crate::setup::ArmSpec;
use crate::setup::Span;

use super::super::SimRun;
use super::reading;
use super::thresholds::{RescueThresholds, Thresholds};

/// Applies the registered per-run rule; false for an arm without a rescue gate.
pub(super) fn is_rescued(run: &SimRun, arm: &ArmSpec, thresholds: &Thresholds) -> bool {
    let ArmSpec::Rescue { engage_s, .. } = *arm else { return false };
    let rule = &thresholds.rescue;
    is_valid(run, engage_s, rule)
        && run.released_s().is_some_and(|released_s| {
            released_s <= rule.release_by_s
                && is_good_after(run, released_s, rule)
                && reading::recovered(run, thresholds)
        })
}

/// The trap was established when the gate engaged.
fn is_valid(run: &SimRun, engage_s: f64, rule: &RescueThresholds) -> bool {
    let before = Span { start_s: engage_s - rule.before_s, end_s: engage_s };
    reading::followup_hit_fraction(run, before).is_some_and(|hit| hit < rule.before_hit)
        && reading::outstanding_at(run, engage_s) > rule.outstanding
}

/// Hits stay high and the token rate low from the settling time to the end.
fn is_good_after(run: &SimRun, released_s: f64, rule: &RescueThresholds) -> bool {
    let interval = Span { start_s: released_s + rule.settle_s, end_s: run.horizon_s };
    let hit = |window| reading::followup_hit_fraction(run, window);
    tiles(interval, rule.tile_s).all(|tile| hit(tile).is_some_and(|h| h >= rule.tile_hit))
        && hit(interval).is_some_and(|h| h > rule.interval_hit)
        && reading::uncached_rate(run, interval) < rule.token_share * rule.token_reference_per_s
}

/// Tiles from the start; a short remainder is covered by the window that ends
/// with the interval.
fn tiles(interval: Span, tile_s: f64) -> impl Iterator<Item = Span> {
    let whole = libm::floor((interval.end_s - interval.start_s) / tile_s).max(0.0) as usize;
    let start = move |i: usize| interval.start_s + tile_s * i as f64;
    let remainder = (start(whole) < interval.end_s).then_some(interval.end_s - tile_s);
    (0..whole)
        .map(start)
        .chain(remainder)
        .map(move |start_s| Span { start_s, end_s: start_s + tile_s })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(start_s: f64, end_s: f64) -> Vec<f64> {
        tiles(Span { start_s, end_s }, 300.0).map(|tile| tile.start_s).collect()
    }

    #[test]
    fn tiles_cover_an_interval_and_a_remainder_is_covered_from_its_end() {
        assert_eq!(starts(8000.0, 8600.0), [8000.0, 8300.0]);
        assert_eq!(starts(8000.0, 8700.0), [8000.0, 8300.0, 8400.0]);
        assert_eq!(starts(8600.0, 8700.0), [8400.0]);
    }
}
