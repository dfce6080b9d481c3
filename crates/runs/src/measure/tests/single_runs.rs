//! The few numbers per run that published statements about single runs need.

use super::*;
use crate::measure::burst::around_burst;
use crate::measure::cohort::cohort;
use crate::measure::gap::mean_tool_time_s;
use crate::measure::queue::{QueueSource, lengths};
use crate::measure::rescue::Pauses;
use crate::measure::reuse::reuse;
use crate::measure::rolling;
use crate::run::EngineSample;

fn sample(t_s: f64, waiting: u64) -> EngineSample {
    EngineSample {
        t_s,
        running: None,
        waiting: Some(waiting),
        kv_used_tokens: Some(600),
        kv_evictable_tokens: None,
        kv_total_tokens: None,
        prompt_tokens_total: None,
        cached_tokens_total: None,
        generation_tokens_total: None,
        preemptions_total: None,
    }
}

#[test]
fn the_longest_queue_after_the_burst_leaves_out_what_came_before_it() {
    let mut run = by_hand();
    run.engine = vec![sample(5.0, 90), sample(10.0, 7), sample(50.0, 30), sample(90.0, 10)];
    let window = Span::new(40.0, 100.0);
    let found = lengths(&run, window, 10.0).unwrap();
    assert_eq!(found.source, QueueSource::Engine);
    assert_eq!((found.window_mean, found.most_after_burst), (Some(20.0), Some(30.0)));
    // Without a gauge it is the client's requests, unknown where first tokens are.
    assert_eq!(lengths(&by_hand(), window, 10.0), None);
}

#[test]
fn the_window_has_its_pool_its_cached_tokens_and_its_tool_times() {
    let mut run = by_hand();
    run.engine = vec![sample(5.0, 0), sample(50.0, 0)];
    for (turn, tool_s) in run.turns.iter_mut().zip([30.0, 10.0, 7.0, 20.0, 1.0]) {
        turn.tool_s = Some(tool_s);
    }
    let window = measure(&run, &protocol()).window.unwrap();
    assert_eq!(window.pool_occupancy, Some(0.6));
    // Prompts 200, 100, 300 and 200 end in it, with 101, 0, 150 and 200 cached.
    assert_eq!(window.token_hit_fraction, Some(451.0 / 800.0));
    // Its follow-ups came after the tool times 30, 10 and 20.
    assert_eq!(window.tool_time_mean_s, Some(20.0));
    run.turns[1].tool_s = None;
    let of_session = by_session(&run.turns, run.sessions.len());
    assert_eq!(mean_tool_time_s(&run, &of_session, Span::new(40.0, 100.0)), None);
}

#[test]
fn a_hit_is_exact_if_only_the_new_tokens_were_not_cached() {
    let mut run = by_hand();
    // Hits: 200 prompt tokens with 101 cached, and 200 with 200.
    let found = reuse(&run, 99).unwrap();
    assert_eq!((found.not_exact, found.uncached_median), (1, Some(49.5)));
    assert_eq!(measure(&run, &protocol()).whole.hits, Share { hits: 2, misses: 3, unknown: 0 });
    run.turns[0].cached_tokens = None;
    assert_eq!(reuse(&run, 99), None);
}

#[test]
fn how_long_a_cohort_took_is_of_those_that_completed() {
    let mut run = by_hand();
    run.meta.duration_s = 1900.0;
    let found = cohort(&run, 0.0).unwrap();
    assert_eq!((found.sessions, found.unfinished, found.median_duration_s), (3, 2, Some(70.0)));
    run.sessions[1].t_end_s = Some(100.0);
    run.sessions[1].status = SessionStatus::Completed;
    assert_eq!(cohort(&run, 0.0).unwrap().median_duration_s, Some(80.0));
    // Only the one that arrived at 80, which did not complete; and a run too short to say.
    let last = cohort(&run, 50.0).unwrap();
    assert_eq!((last.sessions, last.unfinished, last.median_duration_s), (1, 1, None));
    run.meta.duration_s = 1799.0;
    assert_eq!(cohort(&run, 0.0), None);
}

#[test]
fn a_burst_is_over_when_its_last_session_completes() {
    let mut run = by_hand();
    run.meta.duration_s = 350.0;
    let found = around_burst(&run, &protocol()).unwrap();
    assert_eq!((found.last_completed_s, found.follow_up_hits_before.total()), (None, 0));
    run.sessions[1].t_end_s = Some(90.0);
    run.sessions[1].status = SessionStatus::Completed;
    // In [150, 300) one follow-up misses; before that 2 of 3 hit.
    run.turns.push(turn(2, 2, 150.0, 160.0, Some(0)));
    let found = around_burst(&run, &protocol()).unwrap();
    assert_eq!((found.last_completed_s, found.first_low_s), (Some(90.0), Some(150.0)));
    run.sessions.remove(1);
    run.turns.clear();
    let found = around_burst(&run, &protocol()).unwrap();
    assert_eq!((found.last_completed_s, found.first_low_s), (None, None));
}

#[test]
fn pauses_are_summed_over_the_sessions_that_had_one() {
    let mut run = by_hand();
    assert_eq!(Pauses::of(&run), Pauses { total_s: 0.0, longest_s: None });
    for (session, (pauses, pause_s)) in
        run.sessions.iter_mut().zip([(2, 30.0), (0, 0.0), (1, 50.0)])
    {
        (session.pauses, session.pause_s, session.gate_wait_s) = (pauses, pause_s, 400.0);
    }
    assert_eq!(Pauses::of(&run), Pauses { total_s: 80.0, longest_s: Some(50.0) });
}

#[test]
fn rolling_hits_are_of_all_turns_those_of_follow_ups_leave_the_first_out() {
    let run = by_hand();
    let all = rolling::hits(&run, 40.0, 30.0, 10.0);
    let follow_ups = rolling::follow_up_hits(&run, 40.0, 30.0, 10.0);
    assert_eq!(all[0].value, Share { hits: 1, misses: 1, unknown: 0 });
    assert_eq!(follow_ups[0].value, Share { hits: 1, misses: 0, unknown: 0 });
    assert_eq!((all.len(), all[3].end_s), (4, 100.0));
}
