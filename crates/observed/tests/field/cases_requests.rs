//! Cases that a client's requests tell.

use std::fmt::Write as _;

use trapcheck_observed::answer::{Ask, Cause, Verdict};

use crate::made::{
    Line, START, Sent, only, only_of, proves, read, says, scrape, together, turns, usage_lines,
    vllm_log,
};

/// One prompt of 4,212 tokens again and again: 3.15 s, then 0.10 s, and nobody says what hit.
fn repeated() -> Vec<Sent> {
    let sent = |i: u32| {
        let submit = f64::from(10 * i);
        let wait = if i == 0 { 3.15 } else { 0.10 };
        Sent {
            session: 0,
            turn: i + 1,
            submit,
            first: submit + wait,
            end: submit + 5.0,
            prompt: 4212,
            cached: None,
        }
    };
    (0..20).map(sent).collect()
}

#[test]
fn null_is_unknown_and_first_token_times_are_a_hint_but_no_verdict() {
    let answer = only(&usage_lines(&repeated()));
    assert_eq!(answer.verdict, Verdict::Unmeasurable);
    assert!(answer.action.contains("--enable-cache-report"), "{}", answer.action);
    assert!(answer.action.contains("stream_options.include_usage"), "{}", answer.action);
    assert!(says(&answer.contradictions, "a hint, no more"), "{answer:#?}");
    assert!(says(&answer.contradictions, "after 3.15 s, later after 0.10 s"), "{answer:#?}");
}

#[test]
fn null_cached_tokens_beside_the_engines_counters_are_decided_by_the_counters() {
    let at = |t: u32, queries: f64, hits: f64| {
        scrape(
            t,
            &[
                ("sglang:num_running_reqs", 1.0),
                ("sglang:num_queue_reqs", 0.0),
                ("sglang:prompt_tokens_total", queries),
                ("sglang:cached_tokens_total{cache_source=\"total\"}", hits),
            ],
        )
    };
    let metrics = at(START, 0.0, 0.0) + &at(START + 200, 84_240.0, 79_800.0);
    let answer = only_of(&together(&[&metrics, &usage_lines(&repeated())]), &Ask::default());
    assert_eq!(answer.verdict, Verdict::Good, "{answer:#?}");
    assert!(says(&answer.contradictions, "null: unknown, not 0"), "{answer:#?}");
}

#[test]
fn a_log_that_prints_its_rate_outweighs_requests_that_do_not_say() {
    let line = |_| Line {
        prompt_rate: 800.0,
        running: 2,
        waiting: 0,
        preemptions: 0,
        usage: 30.0,
        hits: 99.0,
    };
    let log = vllm_log((0..30).map(line));
    let answer = only_of(&together(&[&log, &usage_lines(&repeated())]), &Ask::default());
    assert_eq!(answer.verdict, Verdict::Good, "{answer:#?}");
    assert!(proves(&answer, "found 99.0 %"), "{answer:#?}");
    assert!(says(&answer.contradictions, "null: unknown, not 0"), "{answer:#?}");
}

#[test]
fn sessions_whose_client_failed_are_counted_and_their_shrinking_queue_is_no_recovery() {
    let requests = turns(12, 10, (6000, 3000), (2.0, 40.0), |before, _| Some(before));
    let mut text = usage_lines(&requests);
    for i in 0..5 {
        let _ = writeln!(
            text,
            "{{\"session_id\":\"s{i}\",\"turn\":11,\"submit_timestamp\":{}.0,\"usage\":null,\"error\":\"connection reset\"}}",
            START + 800
        );
    }
    let answer = only(&text);
    assert!(says(&answer.contradictions, "5 of 125 requests failed"), "{answer:#?}");
    assert!(says(&answer.contradictions, "no recovery"), "{answer:#?}");
}

#[test]
fn a_run_of_which_everything_failed_cannot_be_judged() {
    let text: String = (0..9)
        .map(|i| format!("{{\"session_id\":\"s{i}\",\"usage\":{{\"prompt_tokens\":100}},\"error\":\"503\"}}\n"))
        .collect();
    let answer = only(&text);
    assert_eq!(answer.verdict, Verdict::Unmeasurable);
    assert!(answer.headline.contains("all 9 requests failed"), "{}", answer.headline);
}

/// The client puts a checksum of each request at one place of its prompt.
#[test]
fn cached_tokens_that_never_change_name_the_place_where_the_client_breaks_its_prefix() {
    let busy = turns(3, 12, (28_000, 400), (2.0, 80.0), |_, _| Some(16_276));
    let idle = turns(1, 12, (28_000, 400), (2.0, 4.0), |_, _| Some(16_276));
    for requests in [busy, idle] {
        let answer = only(&usage_lines(&requests));
        assert_eq!(
            (answer.verdict, answer.cause),
            (Verdict::MissOnly, Cause::ClientPrefix),
            "{answer:#?}"
        );
        assert!(answer.headline.contains("16276 tokens"), "{}", answer.headline);
        assert!(answer.action.contains("a session cap will not help"), "{}", answer.action);
    }
}

/// A scheduler that prefers what is cached: one in twenty waits 40 s, the others 0.7 s.
#[test]
fn few_cold_requests_that_starve_are_a_queue_and_no_trap() {
    let mut requests = Vec::new();
    for i in 0..400_u32 {
        let submit = f64::from(5 * i);
        let cold = i % 20 == 7;
        let wait = if cold { 40.0 } else { 0.7 };
        requests.push(Sent {
            session: i % 40,
            turn: i / 40 + 1,
            submit,
            first: submit + wait,
            end: submit + wait + 9.0,
            prompt: 115_000 + 500 * (i / 40),
            cached: Some(if cold { 0 } else { 114_000 + 500 * (i / 40) }),
        });
    }
    let answer = only(&usage_lines(&requests));
    assert_eq!(
        (answer.verdict, answer.cause),
        (Verdict::QueueOnly, Cause::ColdFirst),
        "{answer:#?}"
    );
    assert!(
        answer.headline.contains("20 requests that find nothing wait 40 s"),
        "{}",
        answer.headline
    );
    assert!(answer.headline.contains("75.0 % of all such waiting"), "{}", answer.headline);
}

/// One cold prompt of 325,000 tokens takes the whole step budget.
#[test]
fn a_warm_session_behind_one_cold_prompt_is_a_queue_behind_that_prompt() {
    let mut requests = Vec::new();
    for i in 0..60_u32 {
        let (mut submit, mut wait) = (f64::from(25 * i), 1.0);
        let prompt = 320_000 + 90 * i;
        let mut cached = if i == 0 { 0 } else { prompt - 90 };
        if i == 30 {
            (submit, wait, cached) = (f64::from(25 * i), 440.2, 0);
        } else if i > 30 {
            submit += 430.0;
        }
        requests.push(Sent {
            session: 0,
            turn: i + 1,
            submit,
            first: submit + wait,
            end: submit + wait + 3.0,
            prompt,
            cached: Some(cached),
        });
    }
    requests.push(Sent {
        session: 1,
        turn: 1,
        submit: 742.0,
        first: 1188.0,
        end: 1190.0,
        prompt: 325_000,
        cached: Some(0),
    });
    let answer = only(&usage_lines(&requests));
    assert_eq!(
        (answer.verdict, answer.cause),
        (Verdict::QueueOnly, Cause::ColdPrompt),
        "{answer:#?}"
    );
    assert!(answer.headline.contains("one cold prompt of 325000 tokens"), "{}", answer.headline);
    assert!(answer.action.contains("threshold for long prefills"), "{}", answer.action);
}

/// A hybrid model: reuse of every request drops to nothing at a quarter of the pool.
#[test]
fn all_or_nothing_far_below_the_pool_says_that_another_pool_binds() {
    let mut requests = Vec::new();
    let mut t = 0.0;
    for (chats, first) in [(2_u32, 0), (3, 10), (6, 20), (8, 40)] {
        for turn in 1..=6_u32 {
            for chat in 0..chats {
                // Together above 36,000 tokens nothing is found any more.
                let prompt = 8_000 + 500 * turn;
                let together = chats * prompt;
                let cached = if turn > 1 && together < 36_000 { prompt - 500 } else { 0 };
                requests.push(Sent {
                    session: first + chat,
                    turn,
                    submit: t,
                    first: t + 1.0,
                    end: t + 4.0,
                    prompt,
                    cached: Some(cached),
                });
                t += 5.0;
            }
        }
    }
    let ask = Ask { pool_tokens: Some(153_374), ..Ask::default() };
    let answer = only_of(&read(&usage_lines(&requests)), &ask);
    assert_eq!(
        (answer.verdict, answer.cause),
        (Verdict::MissOnly, Cause::NotThisPool),
        "{answer:#?}"
    );
    assert!(proves(&answer, "all or nothing"), "{answer:#?}");
    assert!(answer.action.contains("retention setting"), "{}", answer.action);
}

/// Five chats of 21,000 tokens at 40 % usage must fit any such pool, whatever its size.
#[test]
fn where_no_pool_is_told_the_usage_of_each_running_request_says_whether_the_sessions_fit() {
    let requests =
        usage_lines(&turns(5, 12, (20_000, 800), (5.7, 50.0), |before, _| Some(before / 14)));
    let at = |i: u32| {
        scrape(
            START + 30 * i,
            &[
                ("vllm:num_requests_running", 5.0),
                ("vllm:num_requests_waiting", 0.0),
                ("vllm:kv_cache_usage_perc", 0.38),
            ],
        )
    };
    let metrics: String = (0..28).map(at).collect();
    let answer = only_of(&together(&[&metrics, &requests]), &Ask::default());
    assert_eq!(
        (answer.verdict, answer.cause),
        (Verdict::MissOnly, Cause::NotThisPool),
        "{answer:#?}"
    );
    assert!(proves(&answer, "5 sessions hold 0.38 times the pool"), "{answer:#?}");
    assert!(answer.action.contains("hybrid"), "{}", answer.action);
}

/// A CI run: 900 s, a first token after 290 s in the median, three turns per lane.
#[test]
fn a_window_of_three_latencies_is_too_short_to_judge() {
    let mut text = String::new();
    for lane in 0..8_u64 {
        for turn in 0..3_u64 {
            let start = u64::from(START) * 1_000_000_000 + (lane + turn * 300) * 1_000_000_000;
            let _ = writeln!(
                text,
                "{{\"metadata\":{{\"x_correlation_id\":\"l{lane}\",\"turn_index\":{turn},\"request_start_ns\":{start},\"request_end_ns\":{},\"benchmark_phase\":\"profiling\",\"was_cancelled\":false}},\"metrics\":{{\"input_sequence_length\":{{\"value\":{},\"unit\":\"tokens\"}},\"time_to_first_token\":{{\"value\":290302.8,\"unit\":\"ms\"}}}},\"error\":null}}",
                start + 298_000_000_000,
                60_000 + 2000 * turn
            );
        }
    }
    let answer = only(&text);
    assert_eq!(answer.verdict, Verdict::Unmeasurable);
    assert!(says(&answer.contradictions, "holds only 3.0 median latencies"), "{answer:#?}");
    assert!(says(&answer.contradictions, "too few to judge growth"), "{answer:#?}");
}

/// A session alone, 19 turns in a row: 23,040 tokens found, and none from some length on.
#[test]
fn a_session_alone_that_falls_off_at_a_length_has_that_length_printed() {
    let mut text = String::new();
    for i in 0..45_u32 {
        let prompt = 24_000 + 1_700 * i;
        let cached = if prompt < 81_000 { 23_040 } else { 0 };
        let mode = if cached == 0 { "cold" } else { "live" };
        let _ = writeln!(
            text,
            "{{\"session_restore_mode\":\"{mode}\",\"prompt_tokens\":{prompt},\"cached_tokens\":{cached},\"live_frontier_miss_reason\":\"x\"}}"
        );
    }
    let answer = only(&text);
    assert_eq!(
        (answer.verdict, answer.cause),
        (Verdict::MissOnly, Cause::PromptLength),
        "{answer:#?}"
    );
    assert!(answer.headline.contains("none from 81800 on"), "{}", answer.headline);
    assert!(answer.action.contains("no cap helps"), "{}", answer.action);
}
