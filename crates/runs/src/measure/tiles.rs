//! Tiles of an interval, as the rescue rule asks for them (App. E.7).

use crate::setup::Span;

/// Tiles of `length_s` from the start of `span`; a remainder is covered by one more
/// tile that ends with the interval and so overlaps the one before it. An interval
/// shorter than a tile is its own tile; an empty one has none.
pub fn tiles(span: Span, length_s: f64) -> Vec<Span> {
    if span.length_s() <= 0.0 {
        return Vec::new();
    }
    if span.length_s() < length_s {
        return vec![span];
    }
    let mut tiles = span.bins(length_s);
    let covered_s = tiles.last().map_or(span.start_s, |tile| tile.end_s);
    if span.end_s - covered_s > 1e-6 {
        tiles.push(span.last(length_s));
    }
    tiles
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_short_remainder_is_covered_by_the_window_that_ends_with_the_interval() {
        let found = tiles(Span::new(4850.0, 8700.0), 300.0);
        assert_eq!(found.len(), 13);
        assert_eq!(found[11], Span::new(8150.0, 8450.0));
        assert_eq!(found[12], Span::new(8400.0, 8700.0));
    }

    #[test]
    fn an_interval_of_whole_tiles_has_no_extra_one() {
        assert_eq!(tiles(Span::new(0.0, 900.0), 300.0).len(), 3);
        assert_eq!(tiles(Span::new(0.0, 200.0), 300.0), [Span::new(0.0, 200.0)]);
        assert!(tiles(Span::new(9000.0, 8700.0), 300.0).is_empty());
    }

    proptest! {
        #[test]
        fn tiles_cover_their_interval_and_stay_inside(start in 0.0..5000.0, length in 1.0..4000.0) {
            let span = Span::new(start, start + length);
            let found = tiles(span, 300.0);
            prop_assert_eq!(found[0].start_s, span.start_s);
            prop_assert!((found[found.len() - 1].end_s - span.end_s).abs() < 1e-6);
            prop_assert!(found.windows(2).all(|w| w[1].start_s <= w[0].end_s + 1e-9));
            prop_assert!(found.iter().all(|t| t.start_s >= span.start_s - 1e-9));
        }
    }
}
