//! Each threshold of the paired test from both sides, and the precedence.

use super::*;
use crate::measure::{LastMeasures, Share, WindowMeasures};
use crate::rule::testing::{LOAD, trapped_run};

fn share(hits: u64, misses: u64, unknown: u64) -> Share {
    Share { hits, misses, unknown }
}

fn state_of(change: impl FnOnce(&mut WindowMeasures, &mut LastMeasures)) -> RunState {
    let mut run = trapped_run();
    if let (Some(window), Some(last)) = (&mut run.window, &mut run.last) {
        change(window, last);
    }
    judge(&run, LOAD, &PairedThresholds::default())
}

fn recovered(_: &mut WindowMeasures, last: &mut LastMeasures) {
    last.hits = share(93, 7, 0);
    last.outstanding_end = 4.0;
}

#[test]
fn a_burst_run_at_the_all_miss_rate_with_a_growing_backlog_is_trapped() {
    assert_eq!(state_of(|_, _| {}).state, State::Trapped);
}

#[test]
fn a_burst_run_below_the_slope_line_is_indeterminate_and_says_by_how_much() {
    let threshold = 0.5 * (LOAD.lambda_per_s - LOAD.lambda_ref_per_s);
    let above = state_of(|w, _| w.backlog_slope_per_s = Some(threshold + 1e-9));
    assert_eq!(above.state, State::Trapped);
    let below = state_of(|w, _| w.backlog_slope_per_s = Some(threshold));
    assert_eq!(below.state, State::Indeterminate);
    let decided = below.deciding().unwrap();
    assert_eq!((decided.quantity, decided.holds), ("backlog slope", Some(false)));
    assert_eq!(decided.margin(), Some(0.0));
}

#[test]
fn the_token_rate_must_lie_within_fifteen_percent_of_the_all_miss_rate() {
    for (ratio, state) in [
        (0.8499, State::Indeterminate),
        (0.8501, State::Trapped),
        (1.1499, State::Trapped),
        (1.1501, State::Indeterminate),
    ] {
        let found = state_of(|w, _| w.uncached_tokens_per_s = Some(ratio * 11_243.0));
        assert_eq!(found.state, state, "{ratio}");
    }
}

#[test]
fn at_or_below_lambda_ref_nothing_is_trapped() {
    let run = trapped_run();
    let at = |lambda_per_s| {
        judge(&run, Load { lambda_per_s, ..LOAD }, &PairedThresholds::default()).state
    };
    assert_eq!(at(LOAD.lambda_ref_per_s), State::Indeterminate);
    assert_eq!(at(LOAD.lambda_ref_per_s * 1.001), State::Trapped);
}

#[test]
fn recovered_needs_hits_above_the_line_and_outstanding_below_it() {
    let with = |hits: u64, outstanding: f64| {
        state_of(|w, l| {
            w.backlog_slope_per_s = Some(0.001);
            l.hits = share(hits, 1000 - hits, 0);
            l.outstanding_end = outstanding;
        })
        .state
    };
    assert_eq!(with(801, 19.9), State::Recovered);
    assert_eq!(with(800, 19.9), State::Indeterminate);
    assert_eq!(with(801, 20.0), State::Indeterminate);
}

#[test]
fn a_run_that_meets_both_is_trapped_because_trapped_comes_first() {
    assert_eq!(state_of(recovered).state, State::Trapped);
}

#[test]
fn a_shrinking_backlog_drains_unless_the_run_has_recovered() {
    let draining = |w: &mut WindowMeasures| w.backlog_slope_per_s = Some(-1e-6);
    assert_eq!(state_of(|w, _| draining(w)).state, State::Draining);
    let both = state_of(|w, l| {
        draining(w);
        recovered(w, l);
    });
    assert_eq!(both.state, State::Recovered);
    let flat = state_of(|w, _| w.backlog_slope_per_s = Some(0.0));
    assert_eq!(flat.state, State::Indeterminate);
}

#[test]
fn unknown_cached_tokens_make_the_run_unmeasurable_with_the_reason() {
    let found = state_of(|w, _| w.uncached_tokens_per_s = None);
    assert_eq!(found.state, State::Unmeasurable);
    assert!(found.because.unwrap().contains("uncached token rate"));
}

#[test]
fn an_unknown_token_rate_does_not_matter_when_another_clause_already_fails() {
    let found = state_of(|w, l| {
        w.uncached_tokens_per_s = None;
        w.backlog_slope_per_s = Some(0.001);
        recovered(w, l);
    });
    assert_eq!(found.state, State::Recovered);
}

#[test]
fn a_run_shorter_than_its_window_is_unmeasurable() {
    let run = RunMeasures { window: None, last: None, ..trapped_run() };
    let found = judge(&run, LOAD, &PairedThresholds::default());
    assert_eq!(found.state, State::Unmeasurable);
    assert_eq!(found.stuck, None);
}

#[test]
fn stuck_is_judged_on_follow_ups_from_both_sides() {
    let stuck = |hits, misses, unknown| {
        state_of(|w, _| w.follow_up_hits = share(hits, misses, unknown)).stuck
    };
    assert_eq!(stuck(199, 801, 0), Some(true));
    assert_eq!(stuck(200, 800, 0), Some(false));
    assert_eq!(stuck(199, 800, 1), None);
}
