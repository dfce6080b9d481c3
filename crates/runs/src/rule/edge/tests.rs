//! The published edges from the published runs, and a bracket replicated.

use super::*;

fn run(nominal: f64, realized: f64, stable: bool) -> FromEmptyRun {
    FromEmptyRun { nominal, realized, stable }
}

/// SGLang 300k, seed 0 (App. E.3): sessions over 3000 s at lambda_ref 0.071534.
fn seed_0() -> Vec<FromEmptyRun> {
    [
        (1.25, 302, true),
        (1.5, 359, true),
        (1.75, 416, true),
        (2.0, 472, true),
        (2.5, 585, false),
        (3.0, 697, false),
    ]
    .map(|(nominal, sessions, stable)| {
        run(nominal, f64::from(sessions) / 3000.0 / 0.071534, stable)
    })
    .to_vec()
}

#[test]
fn the_published_runs_give_the_published_edges() {
    let nominal = nominal_edge(&seed_0());
    assert_eq!((nominal.largest_stable, nominal.first_unstable), (Some(2.0), Some(2.5)));
    let mut runs = seed_0();
    runs.push(run(2.5, 2.665, true));
    let realized = realized_edge(&runs);
    let printed = |x: Option<f64>| format!("{:.3}", x.unwrap());
    assert_eq!(printed(realized.largest_stable), "2.665");
    assert_eq!(printed(realized.first_unstable), "2.726");
    assert!(realized.monotone);
}

#[test]
fn a_multiple_with_one_unstable_run_is_not_all_stable() {
    let edge = nominal_edge(&[run(2.0, 2.0, true), run(2.5, 2.6, true), run(2.5, 2.7, false)]);
    assert_eq!((edge.largest_stable, edge.first_unstable), (Some(2.0), Some(2.5)));
}

#[test]
fn a_stable_rate_above_an_unstable_one_is_not_monotone() {
    let edge = nominal_edge(&[run(1.0, 1.0, true), run(2.0, 2.0, false), run(3.0, 3.0, true)]);
    assert_eq!((edge.largest_stable, edge.monotone), (Some(3.0), false));
}

#[test]
fn all_stable_or_none_leaves_the_edge_open_on_one_side() {
    assert_eq!(nominal_edge(&[run(1.0, 1.0, true)]).first_unstable, None);
    assert_eq!(nominal_edge(&[run(1.0, 1.0, false)]).largest_stable, None);
}

const BRACKET: FreshBracket = FreshBracket {
    stable_multiple: 2.0,
    stable: Quorum { needed: 3, of: 3 },
    unstable_multiple: 2.5,
    unstable: Quorum { needed: 2, of: 3 },
};

fn fresh(unstable_at_upper: usize) -> Outcome {
    let low = (0..3).map(|_| run(2.0, 2.1, true));
    let high = (0..3).map(|i| run(2.5, 2.6, i >= unstable_at_upper));
    decide(&low.chain(high).collect::<Vec<_>>(), Some(&BRACKET))
}

#[test]
fn fresh_seeds_replicate_the_bracket_with_two_of_three_unstable() {
    assert_eq!(fresh(2).word, "REPLICATED");
    assert_eq!(fresh(1).word, "NOT REPLICATED");
    // The published outcome: six of six stable.
    assert_eq!(fresh(0).word, "NOT REPLICATED");
    assert_eq!(decide(&seed_0(), Some(&BRACKET)).word, "not decidable");
}
