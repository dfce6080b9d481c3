//! Ranges worked out by hand.

use std::path::PathBuf;

use super::*;
use crate::measure::tests::{by_hand, protocol, session, turn};
use crate::run::{Meta, RunStatus, SourceFile};
use crate::setup::{ToolTime, TurnLaw};

/// Prompts of 100, 200, 300 ... tokens.
fn workload() -> Workload {
    Workload {
        name: "hand".into(),
        turns: TurnLaw::Survival { at_least: vec![1.0; 4] },
        first_prompt_tokens: 100,
        tool_output_tokens: 90,
        decoded_tokens: 10,
        tool_time: ToolTime::Exponential { mean_s: 1.0 },
        sources: Default::default(),
        recorded: None,
    }
}

fn planned(id: &str, kind: Kind, t_s: f64, tool_s: &[f64]) -> PlannedSession {
    PlannedSession {
        id: id.into(),
        kind,
        t_arrival_s: Some(t_s),
        turns: tool_s.len() as u64 + 1,
        tool_s: tool_s.to_vec(),
        recorded: None,
        follows: None,
    }
}

/// Ended at 90 s of 100: base 0 has ended, base 1 has had one turn of three and is in a tool call
/// of 4 s, burst 0 waits for its first answer, base 2 is to arrive at 95 s.
fn at_90() -> Run {
    let whole = by_hand();
    Run {
        meta: Meta { duration_s: 90.0, status: RunStatus::Truncated, ..whole.meta.clone() },
        plan: vec![
            planned("0", Kind::Base, 0.0, &[]),
            planned("1", Kind::Base, 80.0, &[4.0, 3.0]),
            planned("2", Kind::Base, 95.0, &[9.0]),
            planned("0", Kind::Burst, 10.0, &[11.0]),
        ],
        sessions: vec![
            session("0", Kind::Base, 0.0, Some(70.0), 1),
            Session { turns_done: 1, ..session("1", Kind::Base, 80.0, None, 3) },
            Session { turns_done: 0, ..session("0", Kind::Burst, 10.0, None, 2) },
        ],
        turns: vec![
            turn(0, 1, 0.0, 70.0, Some(40)),
            Turn { tool_s: Some(4.0), ..turn(1, 1, 80.0, 90.0, Some(0)) },
        ],
        ..whole
    }
}

fn reach(run: &Run) -> Option<Reach> {
    let (window, last) = (Span::new(40.0, 100.0), Span::new(80.0, 100.0));
    Reach::of(run, window, last, &protocol(), &workload())
}

#[test]
fn the_turns_that_could_still_end_bound_tokens_hits_and_what_is_outstanding() {
    let reach = reach(&at_90()).unwrap();
    // Of base 1 the turns at 94 and 97 s, of the burst's session the first, as its tool call
    // lasts past the end, and so of base 2.
    let most = 60.0 + 100.0 + (200.0 + 300.0 + 100.0 + 100.0);
    let range = reach.uncached_tokens_per_s.unwrap();
    assert_eq!((range.least, range.most), (160.0 / 60.0, most / 60.0));
    // One miss is there, and four turns may come.
    assert_eq!(reach.last_hits, Some(Range { least: 0.0, most: 0.8 }));
    assert_eq!(reach.outstanding_end, Range { least: 0.0, most: 3.0 });
}

#[test]
fn the_backlogs_slope_is_least_if_all_leave_as_soon_as_they_can_and_most_if_they_stay() {
    let run = at_90();
    let range = reach(&run).unwrap().backlog_slope_per_s.unwrap();
    let slope = |ends: [Option<f64>; 2], arrives: Option<f64>| {
        let mut sessions = run.sessions.clone();
        sessions[1].t_end_s = ends[0];
        sessions[2].t_end_s = ends[1];
        sessions.extend(arrives.map(|t| session("2", Kind::Base, t, None, 2)));
        let whole = Run { sessions, ..run.clone() };
        let backlog = crate::measure::population::in_system(&whole);
        let means = backlog.bin_means(Span::new(40.0, 100.0), 10.0);
        crate::measure::stats::least_squares(&means).unwrap().slope
    };
    // A request may fail: of base 1 not before its tool call has ended.
    let (least, most) = (slope([Some(94.0), Some(90.0)], None), slope([None, None], Some(95.0)));
    assert!(range.least <= least && least - range.least < 1e-4, "{range:?} {least}");
    assert!(range.most >= most && range.most - most < 1e-4, "{range:?} {most}");
}

#[test]
fn nothing_bounds_a_run_before_or_after_its_window_without_its_plan_or_that_nothing_closed() {
    let at = |t_s: f64| {
        let run = at_90();
        Run { meta: Meta { duration_s: t_s, ..run.meta.clone() }, ..run }
    };
    assert!(reach(&at(90.0)).is_some());
    assert!(reach(&at(39.9)).is_none() && reach(&at(100.0)).is_none());
    assert!(reach(&Run { plan: Vec::new(), ..at_90() }).is_none());
    let path = PathBuf::from("hand").join(STARTED);
    let sources = vec![SourceFile { path, sha256: String::new() }];
    assert!(reach(&Run { sources, ..at_90() }).is_none());
}

#[test]
fn unknown_cached_tokens_leave_the_token_rate_unknown_and_widen_the_hits() {
    let mut run = at_90();
    run.turns[1].cached_tokens = None;
    let reach = reach(&run).unwrap();
    assert_eq!(reach.uncached_tokens_per_s, None);
    assert_eq!(reach.last_hits, Some(Range { least: 0.0, most: 1.0 }));
}
