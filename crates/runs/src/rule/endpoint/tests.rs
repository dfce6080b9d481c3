//! STUCK and GOOD from both sides.

use super::*;
use crate::rule::testing::{LOAD, thousandths, trapped_run};

/// A run with so many hits over the window, and at its end.
fn label(window_hits: u64, slope: f64, end_hits: u64, outstanding: f64) -> &'static str {
    let mut run = trapped_run();
    if let (Some(window), Some(last)) = (&mut run.window, &mut run.last) {
        window.hits = thousandths(window_hits);
        window.backlog_slope_per_s = Some(slope);
        last.hits = thousandths(end_hits);
        last.outstanding_end = outstanding;
    }
    judge(&run, LOAD, &Endpoints::default(), &PairedThresholds::default()).label
}

#[test]
fn a_run_below_a_fifth_of_hits_is_stuck_and_one_at_it_is_not() {
    assert_eq!(label(199, 0.02, 0, 200.0), "STUCK");
    assert_eq!(label(200, 0.02, 0, 200.0), "NEITHER");
}

#[test]
fn a_run_is_good_when_recovered_or_hitting_with_a_flat_backlog() {
    assert_eq!(label(500, 0.02, 801, 19.9), "GOOD");
    assert_eq!(label(500, 0.02, 800, 19.9), "NEITHER");
    let line = 0.5 * (LOAD.lambda_per_s - LOAD.lambda_ref_per_s);
    assert_eq!(label(801, line, 0, 200.0), "GOOD");
    assert_eq!(label(800, line, 0, 200.0), "NEITHER");
    assert_eq!(label(801, line + 1e-9, 0, 200.0), "NEITHER");
}

#[test]
fn a_stuck_run_stays_stuck_even_if_its_end_recovers() {
    assert_eq!(label(100, 0.0, 900, 1.0), "STUCK");
}

#[test]
fn a_short_run_cannot_say() {
    let run = RunMeasures { window: None, ..trapped_run() };
    let found = judge(&run, LOAD, &Endpoints::default(), &PairedThresholds::default());
    assert_eq!((found.label, Endpoint::of(&found)), (UNMEASURABLE, None));
}
