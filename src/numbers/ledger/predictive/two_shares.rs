//! A share of few runs against that of many: k of n, where m runs of ours gave some.
//!
//! If all m + n runs are alike, which n of them are the paper's is left to chance, whatever the
//! share is: k is hypergeometric, given how many there are of all. So no draws are needed, and
//! no width is chosen.

use super::{Against, AgainstDraws, COVERAGE, Direction, Standing};

/// Holds `k` of `n` against `ours`, as many of how many; an interval that is wider than `wide`
/// of n says nothing.
pub fn two_shares((k, n): (u64, u64), ours: (u64, u64), wide: f64) -> AgainstDraws {
    let half = (1.0 - COVERAGE) / 2.0;
    let is_inside = |k: &u64| {
        let (below, above) = tails((*k, n), ours);
        below > half && above > half
    };
    let inside: Vec<u64> = (0..=n).filter(is_inside).collect();
    let share = ours.0 as f64 / ours.1 as f64;
    let ends = inside.first().zip(inside.last());
    let (low, high) = ends.map_or((0.0, n as f64), |(low, high)| (*low as f64, *high as f64));
    let (below, above) = tails((k, n), ours);
    let outside = if below <= half {
        Some(Direction::OursAbove)
    } else if above <= half {
        Some(Direction::OursBelow)
    } else {
        None
    };
    let width = (high - low) / n as f64;
    let against = Against {
        what: "count".into(),
        published: k as f64,
        interval: (low, high),
        median: share * n as f64,
        rank: None,
        relative_width: Some(width),
        outside,
    };
    let standing = match outside {
        Some(_) => Standing::Differs,
        None if width > wide => Standing::Uninformative,
        None => Standing::Consistent,
    };
    let by_chance = 1.0 - COVERAGE;
    AgainstDraws { standing, against: vec![against], draws: 0, holds_in: None, by_chance }
}

/// How likely at most, and at least, k of n are, if k and what ours has are spread over all runs
/// by chance.
fn tails((k, n): (u64, u64), (own_k, own_n): (u64, u64)) -> (f64, f64) {
    let (all, with) = (own_n + n, own_k + k);
    let (least, most) = (with.saturating_sub(own_n), n.min(with));
    // Each term from the one before it, then over their sum.
    let mut terms = vec![1.0];
    for j in least..most {
        let up = ((with - j) * (n - j)) as f64;
        let down = (j + 1) as f64 * (all + j + 1 - with - n) as f64;
        terms.push(terms.last().copied().unwrap_or_default() * up / down);
    }
    let sum: f64 = terms.iter().sum();
    let place = (k - least) as usize;
    let below: f64 = terms[..=place].iter().sum();
    let above: f64 = terms[place..].iter().sum();
    (below / sum, above / sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tails_are_those_of_drawing_without_putting_back() {
        // 2 of 3 against 1 of 2: of 10 ways to choose 3 of 5, 3 of them marked, 1 has three,
        // 6 have two and 3 have one.
        let (below, above) = tails((2, 3), (1, 2));
        assert!((below - 0.9).abs() < 1e-12 && (above - 0.7).abs() < 1e-12, "{below} {above}");
    }

    #[test]
    fn a_share_of_few_runs_is_held_to_that_of_many() {
        let of = |k| two_shares((k, 20), (71, 100), 0.8);
        let inside = of(13);
        assert_eq!(inside.standing, Standing::Consistent);
        assert_eq!(inside.against[0].interval, (9.0, 18.0));
        assert_eq!(of(8).against[0].outside, Some(Direction::OursAbove));
        assert_eq!(of(19).against[0].outside, Some(Direction::OursBelow));
        assert_eq!(of(9).standing, Standing::Consistent);
    }

    #[test]
    fn a_share_of_hardly_any_runs_says_nothing() {
        assert_eq!(two_shares((1, 2), (5, 10), 0.8).standing, Standing::Uninformative);
    }
}
