//! Closed populations: replays and benchmarks that keep a number of sessions. No arrivals, so
//! no growth; the verdict is the closed curve's, or what the sessions hold against the pool.

use std::fmt::Write as _;

use trapcheck_observed::answer::{Ask, Cause, Verdict};

use crate::made::{only, only_of, proves, read, says, together, turns, usage_lines};

/// 80 sessions of three turns, 61,300 tokens each: a client's table without times or hits.
fn table_of_requests() -> String {
    let mut text =
        String::from("program_id,turn,status,latency_s,prompt_tokens,completion_tokens\n");
    for turn in 0..3 {
        for session in 0..80 {
            let _ = writeln!(
                text,
                "bench-x-default-s{session:03},{turn},200,148.2,{},31",
                61_269 + turn
            );
        }
    }
    text
}

/// The engine's own counters of it, as an operator scraped them: usage never passes 27 %.
fn table_of_metrics(hits: f64) -> String {
    let mut text = String::from(
        "ts,kv_cache_usage_perc,num_requests_running,num_requests_waiting,num_preemptions_total,cum_prefix_cache_queries,cum_prefix_cache_hits,interval_queries,interval_hits,interval_hit_rate\n",
    );
    let mut t = 1_788_343_200.0;
    for i in 0..90_u32 {
        let busy = (5..80).contains(&i);
        let queries = 3_000_000 + 196_000 * i.clamp(5, 80);
        let found = 2_000_000.0 + hits * f64::from(196_000 * (i.clamp(5, 80) - 5));
        let rate = if busy { "0.0" } else { "" };
        let _ = writeln!(
            text,
            "{t},{},{},{},0,{queries},{found},,,{rate}",
            if busy { 0.27 } else { 0.0 },
            if busy { 10 } else { 0 },
            if busy { 70 } else { 0 }
        );
        t += if i % 3 == 0 { 10.0 } else { 2.5 };
    }
    text
}

#[test]
fn misses_at_a_quarter_of_usage_are_a_matter_of_capacity_where_the_sessions_exceed_the_pool() {
    let ask = Ask { pool_tokens: Some(2_237_040), ..Ask::default() };
    let answer = only_of(&together(&[&table_of_requests(), &table_of_metrics(0.0)]), &ask);
    assert_eq!((answer.verdict, answer.cause), (Verdict::Trap, Cause::Capacity), "{answer:#?}");
    assert!(proves(&answer, "2.19 times the pool"), "{answer:#?}");
    assert!(answer.action.contains("at about 36,"), "{}", answer.action);
    assert!(answer.action.contains("release them as others end"), "{}", answer.action);
    assert!(says(&answer.contradictions, "so this is no contradiction"), "{answer:#?}");
    assert!(says(&answer.contradictions, "not testable"), "{answer:#?}");
    // What the gauges hold before and after the load is neither hits nor misses.
    assert!(proves(&answer, "found 0.0 % of the prompt tokens"), "{answer:#?}");
}

#[test]
fn without_a_pool_the_gauge_of_the_running_requests_gives_the_same_excess() {
    let tables = together(&[&table_of_requests(), &table_of_metrics(0.0)]);
    let answer = only_of(&tables, &Ask::default());
    assert_eq!((answer.verdict, answer.cause), (Verdict::Trap, Cause::Capacity), "{answer:#?}");
    assert!(proves(&answer, "80 sessions hold 2.16 times the pool"), "{answer:#?}");
}

#[test]
fn the_number_of_sessions_that_fit_counts_the_idle_ones() {
    let ask = Ask { pool_tokens: Some(200_000), closed: Some(true), ..Ask::default() };
    let text = usage_lines(&turns(20, 12, (6000, 3000), (3.0, 8.0), |_, _| Some(0)));
    let answer = only_of(&read(&text), &ask);
    assert_eq!((answer.verdict, answer.cause), (Verdict::Trap, Cause::Capacity), "{answer:#?}");
    // Nothing arrives, so no cut of arrivals is advised.
    let then = answer.capacity.unwrap().lines(false);
    assert!(then.iter().all(|line| !line.contains("cut of arrivals")), "{then:#?}");
    // Each holds 39,050 tokens at the end, although few are in the engine at a time.
    assert!(proves(&answer, "about 5 fit, those in tool calls counted"), "{answer:#?}");
}

fn aggregate(population: u32, rest: &str) -> String {
    format!("{{\"concurrency\":{population},{rest}}}\n")
}

#[test]
fn a_fall_of_hits_between_two_rungs_is_a_bracket_and_the_ceiling_is_named() {
    let rung = |n, hits: f64| {
        aggregate(
            n,
            &format!(
                "\"theoretical_prefix_cache_hit\":97.0,\"server_metrics\":{{\"cache\":{{\"overall_cache_hit_rate\":{hits}}},\"kv_cache\":{{\"gpu_usage_pct\":1.0}}}}"
            ),
        )
    };
    let text = rung(4, 0.962) + &rung(8, 0.95) + &rung(16, 0.05) + &rung(32, 0.045);
    let answer = only(&text);
    assert_eq!(answer.verdict, Verdict::Trap, "{answer:#?}");
    assert!(
        answer.headline.contains("closed population, so growth is not testable"),
        "{}",
        answer.headline
    );
    assert!(answer.action.contains("between 8 and 16"), "{}", answer.action);
    assert!(proves(&answer, "reuse ceiling 97.0 % (as told)"), "{answer:#?}");
    // With a host tier the fall is smaller.
    let answer = only(&(rung(48, 0.93) + &rung(64, 0.57)));
    assert_eq!(answer.verdict, Verdict::Pressure, "{answer:#?}");
}

#[test]
fn a_throughput_that_falls_past_its_peak_is_a_bracket_and_no_point() {
    let rung = |n, rate: f64| aggregate(n, &format!("\"tput_per_gpu\":{rate}"));
    let answer = only(&(rung(4, 20.0) + &rung(8, 26.7) + &rung(16, 12.8)));
    assert_eq!(answer.verdict, Verdict::Pressure, "{answer:#?}");
    assert!(answer.headline.contains("falls by 52.1 % from 8 to 16"), "{}", answer.headline);
    assert!(answer.action.contains("between 8 and 16"), "{}", answer.action);
    assert!(says(&answer.contradictions, "throughput alone"), "{answer:#?}");
    // With the tier it is nearly flat: nothing to bracket, nothing to claim.
    let flat = only(&(rung(16, 26.3) + &rung(32, 23.7) + &rung(48, 22.3)));
    assert_eq!(flat.verdict, Verdict::Unmeasurable, "{flat:#?}");
}

#[test]
fn a_run_of_replayed_sessions_says_what_its_counters_found_over_the_ceiling() {
    let export = r#"{"metrics":{"vllm:prefix_cache_hits":{"type":"counter","series":[{"labels":{"engine":"0"},"stats":{"total":800.0,"rate":8.0}}]},"vllm:prefix_cache_queries":{"type":"counter","series":[{"labels":{"engine":"0"},"stats":{"total":1000.0,"rate":10.0}}]},"vllm:kv_cache_usage_perc":{"type":"gauge","series":[{"stats":{"avg":0.71,"max":0.98}}]}}}"#;
    let totals = r#"{"submission_valid":true,"theoretical_prefix_cache_hit":97.0}"#;
    let observed = together(&[export, totals]);
    assert_eq!(observed.reuse_ceiling, Some(0.97));
    let answers = crate::made::judged(&observed, &Ask::default());
    assert!(answers.iter().any(|a| proves(a, "found 80.0 %")), "{answers:#?}");
}

/// Scrapes every 2 s: what each interval of 1,000 tokens finds.
fn scrapes(found: impl Fn(u32) -> u32) -> String {
    let (mut text, mut hits) = (String::new(), 0);
    for i in 0..60_u32 {
        hits += if i == 0 { 0 } else { found(i) };
        let _ = writeln!(
            text,
            "# {}\nvllm:num_requests_running 30.0\nvllm:num_requests_waiting 10.0\nvllm:prefix_cache_queries_total {}.0\nvllm:prefix_cache_hits_total {hits}.0",
            1_788_343_200 + 2 * i,
            1000 * i
        );
    }
    text
}

#[test]
fn a_run_shorter_than_a_sustained_stretch_is_judged_by_its_larger_part() {
    let ask = Ask { closed: Some(true), ..Ask::default() };
    let answer = only_of(&read(&scrapes(|i| if i < 7 { 900 } else { 0 })), &ask);
    assert_eq!(answer.verdict, Verdict::Trap, "{answer:#?}");
    assert!(answer.headline.contains("growth is not testable"), "{}", answer.headline);
}

#[test]
fn misses_that_come_and_go_are_never_called_good() {
    let ask = Ask { reuse_ceiling: Some(0.9), ..Ask::default() };
    let answer = only_of(&read(&scrapes(|i| if i / 4 % 2 == 0 { 900 } else { 0 })), &ask);
    assert_eq!(answer.verdict, Verdict::Unmeasurable, "{answer:#?}");
    assert!(answer.headline.contains("come and go"), "{}", answer.headline);
}
