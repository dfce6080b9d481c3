//! Numbers of logs and metrics that mean less than they seem.

use trapcheck_observed::answer::{Ask, Cause, Verdict};

use crate::made::{Line, START, only, only_of, proves, read, says, scrape, vllm_log};

#[test]
fn latencies_below_nothing_are_dropped_by_name_and_the_rest_is_used() {
    let at = |i: u32| {
        scrape(
            START + 30 * i,
            &[
                ("sglang:time_to_first_token_seconds_sum", -1.76e9),
                ("sglang:num_running_reqs", 2.0),
                ("sglang:num_queue_reqs", 0.0),
                ("sglang:prompt_tokens_total", f64::from(1000 * i)),
                ("sglang:cached_tokens_total{cache_source=\"device\"}", f64::from(800 * i)),
                ("sglang:cached_tokens_total{cache_source=\"host\"}", f64::from(100 * i)),
            ],
        )
    };
    let observed = read(&(0..10).map(at).collect::<String>());
    assert_eq!(observed.dropped.count("sums of latencies below 0: two clocks were mixed"), 10);
    let answer = only_of(&observed, &Ask::default());
    assert_eq!(answer.verdict, Verdict::Good);
    assert!(proves(&answer, "found 90.0 %"), "{answer:#?}");
}

/// Requests that are dropped from a queue are in no counter.
#[test]
fn a_queue_that_shrinks_without_a_counter_of_rejections_is_no_recovery() {
    let at = |i: u32, rejected: Option<f64>| {
        let mut metrics = vec![
            ("sglang:num_running_reqs", 8.0),
            ("sglang:num_queue_reqs", f64::from(200_u32.saturating_sub(5 * i))),
            ("sglang:prompt_tokens_total", f64::from(10_000 * i)),
            ("sglang:cached_tokens_total{cache_source=\"total\"}", 0.0),
        ];
        if let Some(n) = rejected {
            metrics.push(("sglang:num_queue_rejected_requests_total{reason=\"timeout\"}", n));
        }
        scrape(START + 30 * i, &metrics)
    };
    let ask = Ask { reuse_ceiling: Some(0.9), ..Ask::default() };
    let blind = only_of(&read(&(0..30).map(|i| at(i, None)).collect::<String>()), &ask);
    assert_ne!(blind.verdict, Verdict::Good);
    assert!(says(&blind.contradictions, "need not be a recovery"), "{blind:#?}");
    let text: String = (0..30).map(|i| at(i, Some(f64::from(i)))).collect();
    let counted = only_of(&read(&text), &ask);
    assert!(says(&counted.contradictions, "29 requests were turned away"), "{counted:#?}");
}

/// Head of line: nothing is admitted, so the printed rate stands still.
#[test]
fn a_rate_that_stands_still_is_not_read_even_between_lines_of_an_access_log() {
    let log = vllm_log((0..360).map(|i| Line {
        prompt_rate: 0.0,
        running: 1,
        waiting: 14,
        preemptions: 0,
        usage: 76.5 + f64::from(i) / 1200.0,
        hits: 92.0,
    }));
    let mixed: String = log
        .lines()
        .map(|line| {
            format!("{line}\n(APIServer pid=7) INFO:     10.0.0.7:51234 - \"POST /v1/chat/completions HTTP/1.1\" 200 OK\n")
        })
        .collect();
    for text in [log, mixed] {
        let answer = only(&text);
        assert_eq!(
            (answer.verdict, answer.cause),
            (Verdict::QueueOnly, Cause::HeadOfLine),
            "{answer:#?}"
        );
        assert!(!proves(&answer, "92.0 %"), "{answer:#?}");
        assert!(answer.headline.contains("stands still"), "{}", answer.headline);
    }
}

/// A turn whose session's earlier ones are not in the file, and a line cut out of a log.
#[test]
fn what_one_record_cannot_say_is_not_said() {
    let third = "{\"session_id\":\"s\",\"turn\":3,\"submit_timestamp\":1788300000.4,\"complete_timestamp\":1788300003.9,\"usage\":{\"prompt_tokens\":9100,\"prompt_tokens_details\":{\"cached_tokens\":8960}}}\n";
    for text in [third.to_owned(), third.replace("\"turn\":3,", "")] {
        let answer = only(&text);
        assert!(!proves(&answer, "0.0 % could be found"), "{answer:#?}");
        assert!(
            proves(&answer, "98.5 % could be found, the best stretch of this file"),
            "{answer:#?}"
        );
    }
    let line = |_| Line {
        prompt_rate: 812.4,
        running: 12,
        waiting: 31,
        preemptions: 0,
        usage: 97.3,
        hits: 3.1,
    };
    let answer = only(&vllm_log((0..1).map(line)));
    assert!(answer.headline.contains("one record alone"), "{}", answer.headline);
    assert!(answer.action.starts_with("give some minutes of the log"), "{}", answer.action);
}
