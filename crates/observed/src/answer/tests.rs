//! Cases as operators report them, each in a small invented input of that shape, with the
//! answer it must give.

use std::fmt::Write as _;

use super::{Answer, Ask, Cause, Thresholds, Verdict};
use crate::form::Observed;
use crate::read::whole;

fn read(text: &str) -> Observed {
    whole(text.as_bytes(), None).unwrap()
}

fn only(text: &str, ask: &Ask) -> Answer {
    let mut answers = super::answers(&read(text), ask, &Thresholds::default());
    assert_eq!(answers.len(), 1, "{answers:?}");
    answers.remove(0)
}

/// vLLM's log, a line every 10 s: running, waiting, usage in percent and hits in percent.
fn vllm(lines: &[(u32, u32, f64, f64)]) -> String {
    let mut text = String::from("INFO 09-02 09:59:00 [a.py:1] GPU KV cache size: 178,880 tokens\n");
    for (i, (running, waiting, usage, hits)) in lines.iter().enumerate() {
        let (m, s) = (i / 6, i % 6 * 10);
        let _ = writeln!(
            text,
            "(APIServer pid=7) INFO 09-02 10:{m:02}:{s:02} [loggers.py:259] Engine 000: Avg prompt throughput: 812.4 tokens/s, Avg generation throughput: 96.1 tokens/s, Running: {running} reqs, Waiting: {waiting} reqs, GPU KV cache usage: {usage:.1}%, Prefix cache hit rate: {hits:.1}%"
        );
    }
    text
}

/// SGLang's log, a prefill batch every 10 s: new and cached tokens, running and queue.
fn sglang(lines: &[(u32, u32, u32, u32)]) -> String {
    let mut text = String::new();
    for (i, (new, cached, running, queue)) in lines.iter().enumerate() {
        let (m, s) = (i / 6, i % 6 * 10);
        let _ = writeln!(
            text,
            "[2026-09-02 10:{m:02}:{s:02} TP0] Prefill batch, #new-seq: 1, #new-token: {new}, #cached-token: {cached}, token usage: 0.97, #running-req: {running}, #queue-req: {queue}, cuda graph: False"
        );
    }
    text
}

#[test]
fn hits_that_fall_to_nothing_while_the_backlog_grows_are_a_trap_since_then() {
    let good = (0..30).map(|_| (600, 9000, 8, 0));
    let bad = (0..60).map(|i| (9600, 0, 8, 2 + 2 * i));
    let answer = only(&sglang(&good.chain(bad).collect::<Vec<_>>()), &Ask::default());
    assert_eq!(answer.verdict, Verdict::Trap, "{answer:?}");
    assert!(answer.headline.starts_with("TRAP since 2026-09-02 10:0"), "{}", answer.headline);
    let since = answer.since_s.unwrap();
    // The first bad batch is at 10:05:00.
    assert!((since - 1_788_343_500.0).abs() <= 30.0, "{since}");
    assert_eq!(answer.until_s, None);
}

#[test]
fn the_same_misses_with_a_bounded_backlog_are_pressure_and_without_one_only_misses() {
    let good = || (0..30).map(|_| (600, 9000, 8, 0));
    let of = |queue: u32| {
        only(
            &sglang(
                &good()
                    .chain((0..60_u32).map(|i| (9600, 0, 8, queue * (5 + i % 2))))
                    .collect::<Vec<_>>(),
            ),
            &Ask::default(),
        )
    };
    assert_eq!(of(1).verdict, Verdict::Pressure);
    assert_eq!(of(0).verdict, Verdict::MissOnly);
}

#[test]
fn misses_alone_do_not_say_whether_there_was_anything_to_reuse() {
    let text = sglang(&(0..60).map(|i| (9600, 0, 8, 2 + 2 * i)).collect::<Vec<_>>());
    let answer = only(&text, &Ask::default());
    assert_eq!(answer.verdict, Verdict::Unmeasurable);
    assert!(answer.action.contains("session ids"), "{}", answer.action);
    // Whoever knows that there was gets the answer.
    let ask = Ask { reuse_ceiling: Some(0.9), ..Ask::default() };
    assert_eq!(only(&text, &ask).verdict, Verdict::Trap);
    let ask = Ask { reuse_ceiling: Some(0.05), ..Ask::default() };
    assert_eq!(only(&text, &ask).verdict, Verdict::Cold);
}

#[test]
fn a_log_with_preemptions_says_that_its_rate_is_an_upper_bound() {
    let lines: Vec<_> = (0..30).map(|_| (259, 535, 82.3, 12.2)).collect();
    let mut n = 0;
    let text = vllm(&lines).replace(" reqs, GPU", " reqs, Preemptions: 4, GPU");
    n += text.matches("Preemptions").count();
    assert_eq!(n, 30);
    let answer = only(&text, &Ask::default());
    assert_eq!(answer.verdict, Verdict::Unmeasurable);
    assert!(answer.contradictions.iter().any(|c| c.contains("upper bound")), "{answer:?}");
}

#[test]
fn where_nothing_is_admitted_the_logged_rate_is_stale_and_the_queue_is_all() {
    let lines: Vec<_> = (0..60).map(|_| (1, 14, 76.5, 92.0)).collect();
    let text = vllm(&lines).replace("prompt throughput: 812.4", "prompt throughput: 0.0");
    let answer = only(&text, &Ask::default());
    assert_eq!((answer.verdict, answer.cause), (Verdict::QueueOnly, Cause::HeadOfLine));
}

#[test]
fn the_rate_gauge_of_one_batch_is_never_judged() {
    let scrape = |t: u32| {
        format!(
            "{t}\nsglang:cache_hit_rate{{tp_rank=\"0\"}} 0.0\nsglang:num_running_reqs{{tp_rank=\"0\"}} 4.0\nsglang:num_queue_reqs{{tp_rank=\"0\"}} 0.0\n"
        )
    };
    let answer = only(&(scrape(1_788_343_200) + &scrape(1_788_343_260)), &Ask::default());
    assert_eq!(answer.verdict, Verdict::Unmeasurable);
    assert!(answer.action.contains("realtime_tokens_total"), "{}", answer.action);
}

#[test]
fn cached_tokens_that_are_null_are_unknown_and_the_flag_is_named() {
    let row = "{\"usage\":{\"prompt_tokens\":4212,\"completion_tokens\":9,\"prompt_tokens_details\":null}}\n";
    let answer = only(&row.repeat(5), &Ask::default());
    assert_eq!(answer.verdict, Verdict::Unmeasurable);
    assert!(answer.action.contains("--enable-cache-report"), "{}", answer.action);
}

fn counters(at: u32, queries: u32, hits: u32, running: u32, waiting: u32) -> String {
    format!(
        "# {at}\nvllm:num_requests_running{{engine=\"0\"}} {running}.0\nvllm:num_requests_waiting{{engine=\"0\"}} {waiting}.0\nvllm:kv_cache_usage_perc{{engine=\"0\"}} 0.2\nvllm:prefix_cache_queries_total{{engine=\"0\"}} {queries}.0\nvllm:prefix_cache_hits_total{{engine=\"0\"}} {hits}.0\n"
    )
}

#[test]
fn all_that_could_be_found_is_good_even_if_it_is_two_thirds() {
    let ask = Ask { reuse_ceiling: Some(0.667), ..Ask::default() };
    let of = |hits| {
        only(
            &(counters(1_788_343_200, 0, 0, 1, 0) + &counters(1_788_343_260, 48_021, hits, 1, 0)),
            &ask,
        )
    };
    assert_eq!(of(31_744).verdict, Verdict::Good);
    assert_eq!(of(0).verdict, Verdict::MissOnly);
}

#[test]
fn each_engine_is_judged_by_itself_and_the_worst_comes_first() {
    let mut text = String::new();
    for i in 0..40_u32 {
        let t = 1_788_343_200 + 30 * i;
        let _ = writeln!(text, "# {t}");
        for engine in 0..2 {
            let (hits, waiting) = if engine == 1 && i > 10 {
                (9_000 * 10, 3 * i)
            } else {
                (9_000 * i.min(if engine == 1 { 10 } else { 99 }), 0)
            };
            for (name, value) in [
                ("num_requests_running", 8),
                ("num_requests_waiting", waiting),
                ("prefix_cache_queries_total", 10_000 * i),
                ("prefix_cache_hits_total", hits),
            ] {
                let _ = writeln!(text, "vllm:{name}{{engine=\"{engine}\"}} {value}.0");
            }
        }
    }
    let answers = super::answers(&read(&text), &Ask::default(), &Thresholds::default());
    let verdicts: Vec<_> = answers.iter().map(|a| (a.engine.as_str(), a.verdict)).collect();
    assert_eq!(verdicts, [("engine 1", Verdict::Trap), ("engine 0", Verdict::Good)]);
}

#[test]
fn a_good_rate_with_a_long_queue_is_queue_only() {
    let lines: Vec<_> = (0..60).map(|_| (100, 150, 99.0, 96.0)).collect();
    assert_eq!(only(&vllm(&lines), &Ask::default()).verdict, Verdict::QueueOnly);
    let lines: Vec<_> = (0..60).map(|_| (30, 0, 60.0, 96.0)).collect();
    assert_eq!(only(&vllm(&lines), &Ask::default()).verdict, Verdict::Good);
}

/// Requests of `sessions` sessions, one after the other, each turn 3,000 tokens longer; what is
/// cached by the prompt before and the own one.
fn turns(sessions: u32, turns: u32, cached: impl Fn(u32, u32) -> u32) -> String {
    let mut text = String::new();
    for turn in 1..=turns {
        for session in 0..sessions {
            let t = 1_788_343_200 + 60 * turn + session;
            let (before, prompt) = (6000 + 3000 * (turn - 1), 6000 + 3000 * turn);
            let found = if turn == 1 { 0 } else { cached(before, prompt) };
            let _ = writeln!(
                text,
                "{{\"session_id\":\"s{session}\",\"turn\":{turn},\"submit_timestamp\":{t},\"complete_timestamp\":{}.5,\"prompt_tokens\":{prompt},\"completion_tokens\":50,\"cached_tokens\":{found}}}",
                t + 40
            );
        }
    }
    text
}

#[test]
fn a_client_that_breaks_its_prefix_is_named_with_the_place_and_no_cap_is_advised() {
    let answer = only(&turns(3, 12, |_, _| 4096), &Ask::default());
    assert_eq!(
        (answer.verdict, answer.cause),
        (Verdict::MissOnly, Cause::ClientPrefix),
        "{answer:?}"
    );
    assert!(answer.headline.contains("4096 tokens"), "{}", answer.headline);
    assert!(answer.action.contains("a session cap will not help"), "{}", answer.action);
}

#[test]
fn misses_beyond_the_pool_of_a_closed_population_are_a_trap_with_a_cap() {
    let ask = Ask { pool_tokens: Some(200_000), closed: Some(true), ..Ask::default() };
    let answer = only(&turns(20, 12, |_, _| 0), &ask);
    assert_eq!((answer.verdict, answer.cause), (Verdict::Trap, Cause::Capacity), "{answer:?}");
    assert!(
        answer.action.contains("about 4,") || answer.action.contains("about 4 "),
        "{}",
        answer.action
    );
    assert!(answer.contradictions.iter().any(|c| c.contains("not testable")), "{answer:?}");
}

#[test]
fn misses_of_sessions_that_fit_the_pool_are_no_matter_of_capacity() {
    let ask = Ask { pool_tokens: Some(10_000_000), ..Ask::default() };
    let answer = only(&turns(4, 12, |_, _| 0), &ask);
    assert_eq!(answer.cause, Cause::NotThisPool, "{answer:?}");
    assert_ne!(answer.verdict, Verdict::Trap);
    assert!(answer.action.contains("a session cap will not help"), "{}", answer.action);
}

#[test]
fn a_session_alone_that_falls_off_at_a_length_is_no_matter_of_load() {
    let answer = only(
        &turns(1, 14, |before, prompt| if prompt < 30_000 { before } else { 0 }),
        &Ask::default(),
    );
    assert_eq!(
        (answer.verdict, answer.cause),
        (Verdict::MissOnly, Cause::PromptLength),
        "{answer:?}"
    );
}

#[test]
fn sessions_that_find_what_they_sent_before_are_good() {
    assert_eq!(only(&turns(4, 12, |before, _| before), &Ask::default()).verdict, Verdict::Good);
}

#[test]
fn a_benchmark_that_never_tells_hits_cannot_support_a_verdict() {
    let text = "{\"date\":\"d\",\"backend\":\"vllm\",\"model_id\":\"m\",\"num_prompts\":2,\"request_rate\":\"inf\",\"duration\":3.1,\"completed\":1,\"failed\":1,\"input_lens\":[512,512],\"output_lens\":[64,0],\"ttfts\":[0.21,0.0],\"itls\":[[0.02],[]],\"start_times\":[8123.4,8123.5],\"errors\":[\"\",\"Traceback: x\"]}";
    let answer = only(text, &Ask::default());
    assert_eq!(answer.verdict, Verdict::Unmeasurable);
    assert!(
        answer.contradictions.iter().any(|c| c.contains("1 of 2 requests failed")),
        "{answer:?}"
    );
}

#[test]
fn two_rungs_give_a_bracket_and_never_a_point() {
    let rung = |n: u32, hits: f64| {
        format!(
            "{{\"concurrency\":{n},\"server_metrics\":{{\"cache\":{{\"gpu_cache_hit_rate\":{hits}}}}}}}\n"
        )
    };
    let answer = only(&(rung(8, 0.95) + &rung(16, 0.05)), &Ask::default());
    assert_eq!(answer.verdict, Verdict::Trap, "{answer:?}");
    assert!(answer.action.contains("between 8 and 16"), "{}", answer.action);
}
