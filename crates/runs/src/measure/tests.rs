//! A run small enough to work out by hand, and laws that hold on any run.

use std::path::PathBuf;

use proptest::prelude::*;

use super::*;
use crate::run::{
    Counts, Engine, Kind, Meta, Rate, RunStatus, Session, SessionIndex, Source, Turn, TurnStatus,
};
use crate::setup::protocol::{Bins, Burst, FromEmpty, Paired, WarmUp};

mod single_runs;

pub(super) fn protocol() -> Protocol {
    Protocol {
        name: "hand".into(),
        paired: Paired {
            horizon_s: 100.0,
            burst: Burst { start_s: 10.0, length_s: 1.0, sessions: 2 },
            window_s: Span::new(40.0, 100.0),
            last_s: 20.0,
            minimum_window_s: 10.0,
        },
        closed: WarmUp { warm_up_s: 10.0, window_s: 90.0 },
        e0a: WarmUp { warm_up_s: 20.0, window_s: 80.0 },
        e0b: FromEmpty { horizon_s: 100.0, window_s: Span::new(50.0, 100.0) },
        bins: Bins { backlog_s: 10.0, hit_s: 20.0, follow_up_s: 20.0, gap_s: 20.0 },
        sources: Default::default(),
    }
}

fn meta(arm: &str) -> Meta {
    Meta {
        format: 1,
        run_id: "hand".into(),
        source: Source::Engine,
        cell: "hand".into(),
        engine: Engine { name: "vllm".into(), version: "0".into() },
        model: None,
        gpu: None,
        pool_tokens: 1000,
        prefix_caching: true,
        arm: arm.into(),
        seed: 0,
        rate: Rate::default(),
        population: None,
        duration_s: 100.0,
        horizon_s: 100.0,
        status: RunStatus::Completed,
        start_unix: None,
        end_unix: None,
        host: None,
        job_id: None,
        replica: None,
        shared_prefix_tokens: None,
        code: None,
        registration: None,
        gate: None,
        plan_sha256: None,
        canary: None,
        counts: Counts::default(),
    }
}

pub(super) fn session(
    id: &str,
    kind: Kind,
    arrives: f64,
    ends: Option<f64>,
    turns: u64,
) -> Session {
    Session {
        id: id.into(),
        kind,
        t_planned_s: Some(arrives),
        t_admitted_s: Some(arrives),
        t_end_s: ends,
        turns_planned: turns,
        turns_done: turns,
        gate_wait_s: 0.0,
        pauses: 0,
        pause_s: 0.0,
        status: if ends.is_some() { SessionStatus::Completed } else { SessionStatus::Running },
    }
}

pub(super) fn turn(session: u32, number: u64, from: f64, to: f64, cached: Option<u64>) -> Turn {
    Turn {
        session: SessionIndex(session),
        number,
        t_ready_s: from,
        t_submit_s: from,
        t_first_s: None,
        t_end_s: Some(to),
        prompt_tokens: 100 * number,
        cached_tokens: cached,
        completion_tokens: Some(10),
        tool_s: None,
        status: TurnStatus::Ok,
    }
}

fn run(arm: &str, sessions: Vec<Session>, turns: Vec<Turn>) -> Run {
    Run {
        dir: PathBuf::from("hand"),
        meta: meta(arm),
        sessions,
        turns,
        engine: Vec::new(),
        gate: Vec::new(),
        plan: Vec::new(),
        sources: Vec::new(),
        notes: Vec::new(),
    }
}

/// Session 0: [0, 70), turns end at 10, 50 (hit) and 70 (miss). Session 1, of the
/// burst: from 10 on, turns end at 60 (first), 90 (hit). Session 2 arrives at 80.
pub(super) fn by_hand() -> Run {
    run(
        "burst",
        vec![
            session("0", Kind::Base, 0.0, Some(70.0), 3),
            session("0", Kind::Burst, 10.0, None, 2),
            session("1", Kind::Base, 80.0, None, 0),
        ],
        vec![
            turn(0, 1, 0.0, 10.0, Some(0)),
            turn(0, 2, 40.0, 50.0, Some(101)),
            turn(0, 3, 60.0, 70.0, Some(150)),
            turn(1, 1, 10.0, 60.0, Some(0)),
            turn(1, 2, 80.0, 90.0, Some(200)),
        ],
    )
}

#[test]
fn a_run_worked_out_by_hand() {
    let measures = measure(&by_hand(), &protocol());
    let window = measures.window.unwrap();
    // Turns that end in [40, 100): 50 hit, 60 miss, 70 miss (150 is half of 300), 90 hit.
    assert_eq!(window.hits, Share { hits: 2, misses: 2, unknown: 0 });
    assert_eq!(window.follow_up_hits, Share { hits: 2, misses: 1, unknown: 0 });
    // Uncached: 99 + 100 + 150 + 0 over 60 s; written: that and 4 x 10 decoded.
    assert_eq!(window.uncached_tokens_per_s, Some(349.0 / 60.0));
    assert_eq!(window.churn_tokens_per_s, Some(389.0 / 60.0));
    assert_eq!(window.turnover_s, Some(1000.0 / (389.0 / 60.0)));
    assert_eq!(window.mean_prompt_tokens, Some((200.0 + 100.0 + 300.0 + 200.0) / 4.0));
    // Sessions in the system: 2 over [40, 70), 1 over [70, 80), 2 over [80, 100).
    assert_eq!(window.backlog_mean, (2.0 * 30.0 + 10.0 + 2.0 * 20.0) / 60.0);
    // Bin means 2, 2, 2, 1, 2, 2 at 45, 55, ..., 95.
    let slope = -(0.5 * 1.0) / 17.5 / 10.0;
    assert!((window.backlog_slope_per_s.unwrap() - slope).abs() < 1e-12);
    assert_eq!((window.completions, window.completions_per_s), (1, 1.0 / 60.0));
    assert_eq!(window.base_arrivals_per_s, 1.0 / 60.0);
    // Gaps that end in the window: 40 (at 50), 20 (at 70), 30 (at 90).
    assert_eq!(window.gap_median_s, Some(30.0));
    // One gap in each of the bins [40,60), [60,80), [80,100): 40, 20, 30.
    assert!((window.gap_slope.unwrap() - (-10.0 / 40.0)).abs() < 1e-12);
    // Latencies 10, 50, 10, 10.
    assert_eq!(window.latency_median_s, Some(10.0));
    assert!((window.latency_p90_s.unwrap() - 38.0).abs() < 1e-12);
    let last = measures.last.unwrap();
    assert_eq!(last.hits, Share { hits: 1, misses: 0, unknown: 0 });
    // One turn was in flight over half of the last 20 s, none at their end.
    assert_eq!(population::outstanding(&by_hand()).mean_over(last.span), 0.5);
    assert_eq!(last.outstanding_end, 0.0);
    assert_eq!(measures.burst_start_s, Some(10.0));
    assert_eq!(measures.whole.sessions_unfinished, 2);
}

#[test]
fn a_window_belongs_to_the_arm_and_is_missing_when_the_run_is_too_short() {
    let protocol = protocol();
    let spans =
        ["burst", "closed", "e0a", "e0b", "rescue"].map(|arm| window_of(&arm.into(), &protocol));
    let expected = [(40.0, 100.0), (10.0, 100.0), (20.0, 100.0), (50.0, 100.0), (40.0, 100.0)];
    assert_eq!(spans, expected.map(Span::from));
    let mut short = by_hand();
    short.meta.duration_s = 99.0;
    let measures = measure(&short, &protocol);
    assert!(measures.window.is_none() && measures.last.is_none());
}

#[test]
fn a_turn_whose_cached_tokens_are_unknown_leaves_the_rates_unknown() {
    let mut run = by_hand();
    run.turns[4].cached_tokens = None;
    let window = measure(&run, &protocol()).window.unwrap();
    assert_eq!(window.hits.unknown, 1);
    assert_eq!(window.hits.value(), None);
    assert_eq!(window.uncached_tokens_per_s, None);
    assert_eq!((window.churn_tokens_per_s, window.gap_over_turnover), (None, None));
    // What does not need them stays known.
    assert_eq!(window.gap_median_s, Some(30.0));
}

#[test]
fn a_session_held_at_the_gate_is_outstanding_and_in_the_system() {
    let mut run = by_hand();
    // Arrives at 80, is admitted at 95: held for 15 s of the last 20.
    run.sessions[2].t_admitted_s = Some(95.0);
    run.sessions[2].gate_wait_s = 15.0;
    let measures = measure(&run, &protocol());
    let last = measures.last.unwrap();
    assert_eq!(population::outstanding(&run).mean_over(last.span), 0.5 + 15.0 / 20.0);
    assert_eq!(last.outstanding_end, 0.0);
    assert_eq!(measures.whole.sessions_held, 1);
    assert_eq!(measures.whole.held_mean_s, Some(15.0));
}

#[test]
fn what_is_outstanding_at_the_end_is_not_what_it_was_before() {
    let mut run = by_hand();
    // Still at the gate at the end, from one second before it: a mean would be 0.55.
    run.sessions[2].t_planned_s = Some(99.0);
    run.sessions[2].t_admitted_s = None;
    run.sessions[2].status = SessionStatus::Gated;
    assert_eq!(measure(&run, &protocol()).last.unwrap().outstanding_end, 1.0);
}

#[test]
fn a_paused_session_is_outstanding_between_its_turns_and_a_refused_one_never() {
    let mut run = by_hand();
    // Turn 2 of the burst session would have been sent at 70, the gate held it to 80.
    run.turns[4].t_ready_s = 70.0;
    run.sessions[2].status = SessionStatus::Refused;
    let outstanding = population::outstanding(&run);
    assert_eq!(outstanding.at(75.0), 1.0);
    assert_eq!(population::held_at_gate(&run).at(75.0), 1.0);
    assert_eq!(population::in_system(&run).at(90.0), 1.0);
}

#[test]
fn a_session_that_waited_for_subagents_is_held_from_its_pause_on_not_before() {
    let mut run = by_hand();
    // The burst session's turn 2 was held for 10 s; it then waited for a subagent until 93, for 2 s
    // more, and is paused since 95.
    run.turns[4].t_ready_s = 70.0;
    run.turns[4].tool_s = Some(2.0);
    run.sessions[1].pause_s = 10.0 + 5.0;
    run.sessions[1].status = SessionStatus::Paused;
    let held = |run: &Run, t_s: f64| population::held_at_gate(run).at(t_s);
    assert_eq!([held(&run, 75.0), held(&run, 85.0), held(&run, 92.0)], [1.0, 0.0, 1.0]);
    run.sessions.push(session("0", Kind::Subagent, 90.0, Some(93.0), 1));
    assert_eq!([75.0, 85.0, 94.9, 95.0].map(|t_s| held(&run, t_s)), [1.0, 0.0, 0.0, 1.0]);
}

proptest! {
    /// Sessions are conserved: what arrived is in the system or has ended.
    #[test]
    fn arrivals_are_departures_plus_the_backlog(
        lives in prop::collection::vec((0.0..90.0f64, 0.1..50.0f64), 1..60),
        at in 0.0..100.0f64,
    ) {
        let sessions: Vec<Session> = lives
            .iter()
            .enumerate()
            .map(|(i, (t, stay))| session(&i.to_string(), Kind::Base, *t, Some(t + stay), 1))
            .collect();
        let run = run("noburst", sessions, Vec::new());
        let arrived = lives.iter().filter(|(t, _)| *t <= at).count();
        let ended = lives.iter().filter(|(t, stay)| t + stay <= at).count();
        let backlog = population::in_system(&run);
        prop_assert_eq!(backlog.at(at), (arrived - ended) as f64);
        // Little's law over a span that holds every stay.
        let stays: f64 = lives.iter().map(|(_, stay)| stay).sum();
        let area = backlog.mean_over(Span::new(0.0, 150.0)) * 150.0;
        prop_assert!((area - stays).abs() < 1e-9 * stays.max(1.0));
    }

    /// No measurement depends on the order of the rows.
    #[test]
    fn the_order_of_the_rows_does_not_matter(seed in 0u64..1000) {
        let mut shuffled = by_hand();
        let n = shuffled.turns.len();
        for i in (1..n).rev() {
            let j = ((seed.wrapping_mul(6364136223846793005).wrapping_add(i as u64)) >> 33) as usize;
            shuffled.turns.swap(i, j % (i + 1));
        }
        prop_assert_eq!(measure(&shuffled, &protocol()), measure(&by_hand(), &protocol()));
    }
}
