//! What is read out of each format, value by value.

use trapcheck_observed::form::{Clock, Ended, Engine, Observed, Quantity};
use trapcheck_observed::read::whole;

use crate::corpus::corpus;

fn sample(name: &str) -> Observed {
    let sample = corpus().into_iter().find(|sample| sample.name == name).unwrap();
    whole(&sample.bytes, None).unwrap()
}

/// The value of a quantity in every sample of an engine.
fn of(engine: &Engine, quantity: Quantity) -> Vec<Option<f64>> {
    engine.series.samples().iter().map(|sample| sample.get(quantity)).collect()
}

fn last(engine: &Engine, quantity: Quantity) -> Option<f64> {
    engine.series.last(quantity)
}

/// Session, turn, prompt, cached and output tokens, and whether it was served.
type Row = (Option<String>, Option<u32>, Option<u64>, Option<u64>, Option<u64>, bool);

fn rows(observed: &Observed) -> Vec<Row> {
    let row = |r: &trapcheck_observed::form::Request| {
        let session = r.session.map(|s| observed.names.session_id(s).to_owned());
        let served = r.ended == Ended::Served;
        (session, r.turn, r.prompt_tokens, r.cached_tokens, r.output_tokens, served)
    };
    observed.requests.iter().map(row).collect()
}

#[test]
fn vllm_logs_of_three_kinds() {
    let observed = sample("vllm-log.v1.txt");
    let engine = &observed.engines["engine 0"];
    assert_eq!(observed.clock, Clock::WithoutYear);
    assert_eq!((engine.version.as_deref(), engine.pool_tokens), (Some("0.11.0"), Some(178_880)));
    assert_eq!(engine.prefix_caching, Some(true));
    assert_eq!(
        of(engine, Quantity::Waiting),
        (3..9).map(|n| Some(f64::from(n))).collect::<Vec<_>>()
    );
    assert_eq!(last(engine, Quantity::Usage), Some(0.973));
    assert_eq!(last(engine, Quantity::LoggedHits), Some(38.1 / 100.0));
    assert_eq!(last(engine, Quantity::Deferred), Some(1.0));
    assert_eq!(last(engine, Quantity::Preemptions), Some(3.0));
    let cpu = sample("vllm-log.cpu.txt");
    let engine = &cpu.engines["engine 0"];
    assert_eq!(
        (engine.pool_tokens, last(engine, Quantity::Usage)),
        (Some(30_016), Some(17.3 / 100.0))
    );
    let old = sample("vllm-log.v0.txt");
    let engine = &old.engines[""];
    assert_eq!((engine.version.as_deref(), engine.pool_tokens), (Some("0.6.3"), Some(178_880)));
    assert_eq!(last(engine, Quantity::Waiting), Some(95.0));
    assert_eq!(last(engine, Quantity::Usage), Some(0.738));
    assert_eq!(last(engine, Quantity::LoggedHits), Some(41.25 / 100.0));
    assert_eq!(last(engine, Quantity::Preemptions), Some(1.0));
}

#[test]
fn records_on_one_line_with_colours_and_progress_bars_are_each_read() {
    let observed = sample("vllm-log.glued.txt");
    let names: Vec<_> = observed.engines.keys().map(String::as_str).collect();
    assert_eq!(names, ["engine 0", "engine 1"]);
    assert_eq!(of(&observed.engines["engine 0"], Quantity::Running), [Some(1.0), Some(1.0)]);
    assert_eq!(of(&observed.engines["engine 1"], Quantity::Waiting), [Some(4.0), Some(4.0)]);
    assert_eq!(observed.notes.count("totals over engines beside each engine's own"), 1);
}

#[test]
fn sglang_logs_of_four_kinds() {
    let observed = sample("sglang-log.new.txt");
    let engine = &observed.engines[""];
    assert_eq!((engine.pool_tokens, engine.prefix_caching), (Some(84_032), Some(true)));
    // Six batches, each once although two ranks print them.
    assert_eq!(last(engine, Quantity::CachedTokens), Some(1500.0));
    assert_eq!(last(engine, Quantity::PromptTokens), Some(f64::from(6 * 8000 + 15 + 1500)));
    assert_eq!(last(engine, Quantity::Waiting), Some(46.0));
    assert_eq!(last(engine, Quantity::Preemptions), Some(3.0));
    // As 0.5.23 prints it on a machine without a GPU: its arguments are a dictionary.
    let cpu = sample("sglang-log.cpu.txt");
    let engine = &cpu.engines[""];
    assert_eq!((engine.pool_tokens, engine.prefix_caching), (Some(30_016), Some(true)));
    assert_eq!(last(engine, Quantity::CachedTokens), Some(5201.0 + 6153.0 + 404.0));
    assert_eq!(last(engine, Quantity::Running), Some(0.0));
    assert_eq!(cpu.notes.count("resets of the prefix cache"), 1);
    let old = sample("sglang-log.v04.txt");
    let engine = &old.engines[""];
    assert_eq!(last(engine, Quantity::CachedTokens), Some(150.0));
    assert_eq!(last(engine, Quantity::Usage), Some(0.21));
    let hybrid = sample("sglang-log.hybrid.txt");
    let names: Vec<_> = hybrid.engines.keys().map(String::as_str).collect();
    assert_eq!(names, ["engine DP0", "engine DP1"]);
    assert_eq!(last(&hybrid.engines["engine DP0"], Quantity::SubPoolUsage), Some(0.92));
    assert_eq!(last(&hybrid.engines["engine DP0"], Quantity::Usage), Some(0.31));
}

#[test]
fn scrapes_of_both_engines() {
    let observed = sample("prometheus.vllm.txt");
    let engine = &observed.engines["engine 0"];
    assert_eq!((engine.pool_tokens, engine.prefix_caching), (Some(178_880), Some(true)));
    assert_eq!(observed.clock, Clock::Wall);
    assert_eq!(engine.series.samples().len(), 6);
    assert_eq!(last(engine, Quantity::PromptTokens), Some(5000.0));
    assert_eq!(last(engine, Quantity::CachedTokens), Some(4000.0));
    assert_eq!(last(engine, Quantity::Finished), Some(15.0));
    assert_eq!(last(engine, Quantity::Deferred), Some(0.0));
    let observed = sample("prometheus.sglang.txt");
    let engine = &observed.engines[""];
    assert_eq!((engine.software, engine.pool_tokens), (Some("sglang"), Some(100_000)));
    assert_eq!(last(engine, Quantity::PromptTokens), Some(5000.0));
    assert_eq!(last(engine, Quantity::CachedTokens), Some(4500.0));
    assert_eq!(last(engine, Quantity::EvictableTokens), Some(70_000.0));
}

#[test]
fn tables_of_gauges_and_of_requests() {
    let observed = sample("csv.gauges.txt");
    let engine = &observed.engines[""];
    assert_eq!(engine.series.samples()[1].t_s, 1_788_343_202.5);
    assert_eq!(last(engine, Quantity::PromptTokens), Some(3_005_000.0));
    assert_eq!(last(engine, Quantity::CachedTokens), Some(2_004_500.0));
    assert_eq!(last(engine, Quantity::Preemptions), Some(0.0));
    let observed = sample("csv.requests.txt");
    // The last row has no newline and counts; turns begin at 1.
    assert_eq!(rows(&observed).len(), 6);
    assert_eq!(
        rows(&observed)[0],
        (Some("bench-x-default-s000".into()), Some(1), Some(60_210), None, Some(31), true)
    );
    let observed = sample("csv.semicolon.txt");
    let found = rows(&observed);
    assert_eq!(found[4], (Some("s;1".into()), Some(2), Some(1400), Some(400), Some(50), true));
    assert!(!found[5].5, "{found:?}");
    assert_eq!(observed.requests[0].t_submit_s, Some(1_788_343_205.0));
}

#[test]
fn usage_blocks_of_every_provider() {
    let found = rows(&sample("usage.openai.txt"));
    assert_eq!(found[0], (Some("s0".into()), Some(1), Some(1000), None, Some(18), true));
    assert_eq!(found[3].3, Some(288));
    // Additive: the prompt is the sum of the three.
    let found = rows(&sample("usage.anthropic.txt"));
    assert_eq!(found[2], (None, None, Some(42 + 1800 + 50), Some(1800), Some(18), true));
    let found = rows(&sample("usage.deepseek.txt"));
    assert_eq!(found[3], (None, None, Some(292), Some(192), Some(18), true));
    let found = rows(&sample("usage.llama-cpp.txt"));
    assert_eq!(found[3], (None, None, Some(292), Some(192), Some(18), true));
    let observed = sample("usage.replay.txt");
    assert_eq!(rows(&observed)[4], (Some("1".into()), Some(2), Some(9104), Some(8960), None, true));
    let first = observed.requests[0].t_first_s.unwrap() - observed.requests[0].t_submit_s.unwrap();
    assert!((first - 0.69).abs() < 1e-6, "{first}");
}

#[test]
fn exports_of_load_generators() {
    let observed = sample("aiperf.profile.txt");
    assert_eq!(observed.dropped.count("warm-up requests"), 1);
    let found = rows(&observed);
    assert_eq!(found.len(), 5);
    assert_eq!(found[0], (Some("s0".into()), Some(2), Some(9101), Some(8960), None, true));
    let ended: Vec<_> = observed.requests.iter().map(|r| r.ended).collect();
    assert!(
        matches!(ended[3], Ended::Failed(words) if observed.names.error_words(words) == "full")
    );
    assert_eq!(ended[4], Ended::Cancelled);
    let found = rows(&sample("sglang-requests.export.txt"));
    assert_eq!(found[5], (Some("s1".into()), None, Some(9600), Some(8960), Some(180), true));
    let observed = sample("guidellm.report.txt");
    let found = rows(&observed);
    assert_eq!(found[1], (Some("c0".into()), Some(2), Some(9101), Some(8960), Some(180), true));
    assert_eq!(found[2].3, None);
    assert_eq!(observed.requests[4].ended, Ended::Cancelled);
    assert!(matches!(observed.requests[5].ended, Ended::Failed(_)));
    assert_eq!(observed.requests[0].t_ready_s, Some(1_788_343_200.0));
    let found = rows(&sample("inference-perf.lifecycle.txt"));
    assert_eq!((found[0].3, found[1].3), (None, Some(640)));
    assert!(!found[5].5);
    let observed = sample("vllm-multi-turn.stats.txt");
    assert_eq!(
        rows(&observed)[1],
        (Some("CONV_ID_0".into()), Some(2), Some(1520), None, Some(64), true)
    );
}

#[test]
fn benchmark_results_tell_requests_but_never_hits() {
    let observed = sample("vllm-bench.detailed.txt");
    // Two results in one file, the second without a newline at its end.
    assert_eq!(observed.requests.len(), 6);
    assert!(observed.requests.iter().all(|r| r.cached_tokens.is_none() && r.session.is_none()));
    let failed = observed.requests.iter().filter(|r| matches!(r.ended, Ended::Failed(_))).count();
    assert_eq!(failed, 2);
    assert_eq!(sample("sglang-bench.details.txt").requests.len(), 4);
    let totals = sample("vllm-bench.totals.txt");
    assert_eq!(totals.notes.count("results without a list of requests"), 1);
}

#[test]
fn totals_are_rungs_and_meta_json_is_what_no_table_says() {
    let observed = sample("sglang-multi-turn.rungs.txt");
    let rungs: Vec<_> = observed.rungs.iter().map(|r| (r.population, r.hit_fraction)).collect();
    assert_eq!(rungs[..2], [(Some(8), Some(0.9)), (Some(16), Some(0.7))]);
    let observed = sample("server-metrics.export.txt");
    assert_eq!(observed.rungs[0].hit_fraction, Some(0.8));
    let observed = sample("agentx.rungs.txt");
    assert_eq!(observed.rungs[2].reuse_ceiling, Some(0.97));
    assert_eq!(observed.rungs[2].population, Some(16));
    let observed = sample("run-meta.json.txt");
    let engine = &observed.engines[""];
    assert_eq!((engine.pool_tokens, engine.prefix_caching), (Some(30_016), Some(false)));
    assert_eq!((observed.closed, observed.simulated), (Some(true), false));
}
