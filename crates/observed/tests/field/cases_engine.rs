//! Cases that an engine's log or metrics tell.

use trapcheck_observed::answer::{Ask, Cause, Verdict};

use crate::made::{
    Line, START, Sent, judged, only, only_of, proves, read, says, scrape, together, turns,
    usage_lines, vllm_log,
};

#[test]
fn the_last_configuration_counts_also_where_an_earlier_one_comes_again() {
    let scrapes = |blocks: &[u64]| {
        let scrape = |(i, blocks): (usize, &u64)| {
            format!(
                "# {}\nvllm:num_requests_running{{engine=\"0\"}} {i}\n\
                 vllm:cache_config_info{{block_size=\"16\",engine=\"0\",num_gpu_blocks=\"{blocks}\"}} 1.0\n",
                START + 60 * i as u32
            )
        };
        blocks.iter().enumerate().map(scrape).collect::<String>()
    };
    let pool = |blocks: &[u64]| read(&scrapes(blocks)).engines["engine 0"].pool_tokens;
    assert_eq!(pool(&[100, 200]), Some(3200));
    assert_eq!(pool(&[100, 200, 100]), Some(1600));
    assert_eq!(pool(&[u64::MAX]), None, "more tokens than there can be");
}

#[test]
fn a_metric_without_a_number_makes_no_engine() {
    let text = "# 1788343205\nvllm:num_requests_running{engine=\"0\"} 1\n\
                vllm:num_requests_running{engine=\"1\"}\nvllm:num_requests_running{engine=\"2\"} x\n";
    let observed = read(text);
    assert_eq!(observed.engines.keys().collect::<Vec<_>>(), ["engine 0"]);
}

fn unique_prompts() -> Vec<Sent> {
    let sent = |i: u32| Sent {
        session: i,
        turn: 1,
        submit: f64::from(5 * i),
        first: f64::from(5 * i) + 20.0,
        end: f64::from(5 * i) + 60.0,
        prompt: 2048,
        cached: Some(0),
    };
    (0..60).map(sent).collect()
}

/// Preempted requests that are computed again count as hits in some versions.
#[test]
fn unique_prompts_are_cold_whatever_rate_a_log_with_preemptions_prints() {
    let log = vllm_log((0..30).map(|_| Line {
        prompt_rate: 9000.0,
        running: 259,
        waiting: 535,
        preemptions: 12,
        usage: 82.3,
        hits: 32.2,
    }));
    let alone = only(&log);
    assert_eq!(alone.verdict, Verdict::Unmeasurable);
    assert!(says(&alone.contradictions, "upper bound"), "{alone:#?}");
    let both = only_of(&together(&[&log, &usage_lines(&unique_prompts())]), &Ask::default());
    assert_eq!(both.verdict, Verdict::Cold, "{both:#?}");
    assert!(says(&both.contradictions, "preemptions"), "{both:#?}");
    assert!(both.headline.starts_with("COLD"), "{}", both.headline);
}

#[test]
fn a_gauge_of_one_batch_is_ignored_and_the_counters_beside_it_decide() {
    let at = |i: u32, with: bool| {
        let (computed, cached) = (f64::from(500 * i), f64::from(9500 * i));
        let mut metrics = vec![
            ("sglang:cache_hit_rate{tp_rank=\"0\"}", 0.0),
            ("sglang:num_running_reqs{tp_rank=\"0\"}", 4.0),
            ("sglang:num_queue_reqs{tp_rank=\"0\"}", 0.0),
        ];
        if with {
            metrics.push((
                "sglang:realtime_tokens_total{mode=\"prefill_compute\",tp_rank=\"0\"}",
                computed,
            ));
            metrics.push((
                "sglang:realtime_tokens_total{mode=\"prefill_cache\",tp_rank=\"0\"}",
                cached,
            ));
            metrics.push((
                "sglang:realtime_tokens_total{mode=\"prefill_cache\",tp_rank=\"1\"}",
                cached,
            ));
        }
        scrape(START + 30 * i, &metrics)
    };
    let gauge = only(&(0..20).map(|i| at(i, false)).collect::<String>());
    assert_eq!(gauge.verdict, Verdict::Unmeasurable);
    assert!(says(&gauge.contradictions, "of one batch"), "{gauge:#?}");
    let counters = only(&(0..20).map(|i| at(i, true)).collect::<String>());
    assert_eq!(counters.verdict, Verdict::Good, "{counters:#?}");
    assert!(proves(&counters, "found 95.0 %"), "{counters:#?}");
}

fn frozen(usage: f64, deferred: bool) -> String {
    let at = |i: u32| {
        let hits = f64::from(9000 * i.min(20));
        let waiting = f64::from(i.saturating_sub(20));
        let mut metrics = vec![
            ("vllm:num_requests_running{engine=\"0\"}", 1.0),
            ("vllm:num_requests_waiting{engine=\"0\"}", waiting),
            ("vllm:kv_cache_usage_perc{engine=\"0\"}", usage),
            ("vllm:num_preemptions_total{engine=\"0\"}", 0.0),
            ("vllm:prefix_cache_queries_total{engine=\"0\"}", f64::from(10_000 * i)),
            ("vllm:prefix_cache_hits_total{engine=\"0\"}", hits),
        ];
        if deferred {
            metrics.push((
                "vllm:num_requests_waiting_by_reason{engine=\"0\",reason=\"capacity\"}",
                0.0,
            ));
            metrics.push((
                "vllm:num_requests_waiting_by_reason{engine=\"0\",reason=\"deferred\"}",
                waiting,
            ));
        }
        scrape(START + 60 * i, &metrics)
    };
    (0..80).map(at).collect()
}

/// Hits stop for good while the pool is mostly empty: a fault of the engine, no trap of load.
#[test]
fn misses_of_sessions_that_fit_the_pool_point_at_the_engine_and_at_no_cap() {
    let metrics = frozen(0.2, false);
    let requests = usage_lines(&turns(4, 70, (20_000, 300), (2.0, 40.0), |_, _| None));
    let ask = Ask { pool_tokens: Some(346_584), ..Ask::default() };
    let answer = only_of(&together(&[&metrics, &requests]), &ask);
    assert_eq!(answer.cause, Cause::NotThisPool, "{answer:#?}");
    assert_eq!(answer.verdict, Verdict::Pressure);
    assert!(answer.action.starts_with("a session cap will not help"), "{}", answer.action);
    assert!(answer.action.contains("restart"), "{}", answer.action);
    assert!(says(&answer.contradictions, "room is not what they lack"), "{answer:#?}");
}

#[test]
fn usage_alone_tells_no_cause_so_the_first_thing_to_do_is_to_send_one_prompt_twice() {
    let answer = only(&frozen(0.2, false));
    assert_eq!((answer.verdict, answer.cause), (Verdict::Trap, Cause::Unknown), "{answer:#?}");
    assert!(answer.action.starts_with("send one long prompt twice"), "{}", answer.action);
    assert!(says(&answer.contradictions, "KV usage peaks at 20.0 %"), "{answer:#?}");
}

#[test]
fn requests_that_wait_for_another_reason_than_room_are_no_matter_of_capacity() {
    let answer = only(&frozen(0.2, true));
    assert_eq!(answer.cause, Cause::NotThisPool, "{answer:#?}");
    assert_ne!(answer.verdict, Verdict::Trap);
    assert!(says(&answer.contradictions, "deferred"), "{answer:#?}");
}

/// One of four engines spirals while the others drain: the average would look like 75 %.
#[test]
fn the_worst_engine_is_told_first_and_never_the_average_of_a_fleet() {
    let mut text = String::new();
    for i in 0..60_u32 {
        let mut metrics = Vec::new();
        for engine in 0..4 {
            let bad = engine == 2;
            let hits = if bad { 9800 * i.min(20) + 500 * i.saturating_sub(20) } else { 9800 * i };
            let waiting = if bad { 2 * i.saturating_sub(20) } else { 0 };
            let running = if bad || i < 30 { 8 } else { 1 };
            for (name, value) in [
                ("num_requests_running", running),
                ("num_requests_waiting", waiting),
                ("prefix_cache_queries_total", 10_000 * i),
                ("prefix_cache_hits_total", hits),
            ] {
                metrics.push((format!("vllm:{name}{{engine=\"{engine}\"}}"), f64::from(value)));
            }
        }
        let named: Vec<(&str, f64)> = metrics.iter().map(|(n, x)| (n.as_str(), *x)).collect();
        text += &scrape(START + 30 * i, &named);
    }
    let answers = judged(&read(&text), &Ask::default());
    let found: Vec<_> = answers.iter().map(|a| (a.engine.as_str(), a.verdict)).collect();
    assert_eq!(found[0], ("engine 2", Verdict::Trap));
    assert!(found[1..].iter().all(|(_, verdict)| *verdict == Verdict::Good), "{found:?}");
    assert_eq!(found.len(), 4);
    assert!(answers[0].action.contains("sessions in the system"), "{}", answers[0].action);
}

#[test]
fn cached_and_idle_kv_counts_as_filled_although_the_usage_gauge_leaves_it_out() {
    let at = |i: u32, all: bool| {
        let mut metrics = vec![
            ("sglang:num_running_reqs", 8.0),
            ("sglang:num_queue_reqs", f64::from(2 * i)),
            ("sglang:token_usage", 0.02),
            ("sglang:prompt_tokens_total", f64::from(10_000 * i)),
            ("sglang:cached_tokens_total{cache_source=\"total\"}", 0.0),
        ];
        if all {
            metrics.push(("sglang:kv_used_tokens", 2_000.0));
            metrics.push(("sglang:kv_evictable_tokens", 70_000.0));
            metrics.push(("sglang:kv_available_tokens", 28_000.0));
            metrics.push(("sglang:max_total_num_tokens", 100_000.0));
        }
        scrape(START + 30 * i, &metrics)
    };
    let ask = Ask { reuse_ceiling: Some(0.9), ..Ask::default() };
    let text = |all| (0..20).map(|i| at(i, all)).collect::<String>();
    let answer = only_of(&read(&text(true)), &ask);
    assert!(says(&answer.contradictions, "72.0 % of the pool was filled"), "{answer:#?}");
    let one_sided = only_of(&read(&text(false)), &ask);
    assert!(says(&one_sided.contradictions, "tells neither a full pool nor"), "{one_sided:#?}");
}

#[test]
fn metrics_of_every_age_are_read_and_the_ones_used_are_named() {
    let of = |queries: &str, hits: &str, usage: &str| {
        let (queries, hits) = (format!("vllm:{queries}"), format!("vllm:{hits}"));
        let usage = format!("vllm:{usage}");
        let at = |i: u32| {
            scrape(
                START + 30 * i,
                &[
                    ("vllm:num_requests_running", 2.0),
                    ("vllm:num_requests_waiting", 0.0),
                    (&usage, 0.4),
                    (&queries, f64::from(1000 * i)),
                    (&hits, f64::from(900 * i)),
                ],
            )
        };
        only(&(0..10).map(at).collect::<String>())
    };
    for (queries, hits, usage, named) in [
        (
            "prefix_cache_queries_total",
            "prefix_cache_hits_total",
            "kv_cache_usage_perc",
            "prefix_cache_hits over",
        ),
        (
            "prefix_cache_queries",
            "prefix_cache_hits",
            "kv_cache_usage_perc",
            "prefix_cache_hits over",
        ),
        (
            "gpu_prefix_cache_queries_total",
            "gpu_prefix_cache_hits_total",
            "gpu_cache_usage_perc",
            "blocks in some versions",
        ),
    ] {
        let answer = of(queries, hits, usage);
        assert_eq!(answer.verdict, Verdict::Good, "{queries} {answer:#?}");
        assert!(proves(&answer, named), "{answer:#?}");
        assert!(proves(&answer, "found 90.0 %"), "{answer:#?}");
    }
    // The ratio upside down, as a widely copied text has it: said, not clamped.
    let swapped =
        of("prefix_cache_hits_total", "prefix_cache_queries_total", "kv_cache_usage_perc");
    assert_eq!(swapped.verdict, Verdict::Unmeasurable);
    assert!(says(&swapped.contradictions, "swapped"), "{swapped:#?}");
}

#[test]
fn counters_of_blocks_are_not_added_to_counters_of_tokens() {
    let old = |i: u32| {
        scrape(
            START + 30 * i,
            &[
                ("vllm:num_requests_running", 2.0),
                ("vllm:gpu_prefix_cache_queries_total", f64::from(60 * i)),
                ("vllm:gpu_prefix_cache_hits_total", 0.0),
            ],
        )
    };
    let new = |i: u32| {
        scrape(
            START + 30 * i,
            &[
                ("vllm:num_requests_running", 2.0),
                ("vllm:prefix_cache_queries_total", f64::from(100_000 + 1000 * i)),
                ("vllm:prefix_cache_hits_total", f64::from(90_000 + 900 * i)),
            ],
        )
    };
    let text: String = (0..10).map(old).chain((10..20).map(new)).collect();
    for answer in [only(&text), {
        let parts = [(0..10).map(old).collect::<String>(), (10..20).map(new).collect()];
        only_of(&together(&[&parts[1], &parts[0]]), &Ask::default())
    }] {
        assert!(says(&answer.contradictions, "not added to each other"), "{answer:#?}");
        assert!(proves(&answer, "found 90.0 %"), "{answer:#?}");
    }
}

/// Lifetime, the last thousand requests, this run: three windows, three numbers.
#[test]
fn the_window_of_a_rate_is_said_and_a_lifetime_total_says_nothing_about_now() {
    let at = |t: u32, queries: f64, hits: f64| {
        scrape(
            t,
            &[
                ("vllm:num_requests_running", 2.0),
                ("vllm:num_requests_waiting", 0.0),
                ("vllm:prefix_cache_queries_total", queries),
                ("vllm:prefix_cache_hits_total", hits),
            ],
        )
    };
    let one = at(START, 1_000_000.0, 213_000.0);
    let answer = only(&one);
    assert_eq!(answer.verdict, Verdict::Unmeasurable);
    assert!(answer.headline.contains("since the engine started"), "{}", answer.headline);
    assert!(answer.action.contains("second scrape"), "{}", answer.action);
    let answer = only(&(one + &at(START + 600, 1_100_000.0, 303_000.0)));
    assert_eq!(answer.verdict, Verdict::Good);
    assert!(proves(&answer, "found 90.0 % of the prompt tokens over 10 min"), "{answer:#?}");
    let line = |_| Line {
        prompt_rate: 900.0,
        running: 3,
        waiting: 0,
        preemptions: 0,
        usage: 40.0,
        hits: 90.0,
    };
    assert!(proves(&only(&vllm_log((0..30).map(line))), "its last 1,000 requests"));
}

/// Three requests with one system prompt: two thirds is all that can be found.
#[test]
fn versions_of_an_engine_are_not_pooled_and_the_reuse_ceiling_is_what_counts() {
    let log = |version: &str, hits: f64| {
        let line = |_| Line {
            prompt_rate: 800.0,
            running: 1,
            waiting: 0,
            preemptions: 0,
            usage: 9.0,
            hits,
        };
        vllm_log((0..30).map(line)).replace("v0.11.0", version)
    };
    let ask = Ask { reuse_ceiling: Some(2.0 / 3.0), ..Ask::default() };
    let (old, new) = (log("v0.20.0", 0.0), log("v0.21.0", 66.1));
    assert_eq!(only_of(&read(&new), &ask).verdict, Verdict::Good);
    let bad = only_of(&read(&old), &ask);
    assert_eq!(bad.verdict, Verdict::MissOnly);
    assert!(bad.action.contains("by its version"), "{}", bad.action);
    let together = together(&[&old, &new]);
    let answers = judged(&together, &ask);
    let found: Vec<_> = answers.iter().map(|a| (a.engine.as_str(), a.verdict)).collect();
    assert_eq!(found, [("engine 0", Verdict::MissOnly), ("file 1 engine 0", Verdict::Good)]);
    let version = |name: &str| together.engines[name].version.clone();
    assert_eq!(version("engine 0").as_deref(), Some("0.20.0"));
    assert_eq!(version("file 1 engine 0").as_deref(), Some("0.21.0"));
    assert!(says(&answers[0].contradictions, "judged apart"), "{answers:#?}");
}
