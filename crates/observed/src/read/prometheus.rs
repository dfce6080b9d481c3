//! The text of a /metrics endpoint of vLLM or SGLang: one scrape, or several one after the
//! other. Names of all versions, with and without `_total`.

use std::collections::{BTreeMap, HashSet};

use super::clock::moment;
use super::lines::LineReader;
use crate::form::{Clock, Engine, OTHER_COUNTERS, Observed, Quantity, Sample};

/// Whether a source begins as such a text does.
pub fn is_scrape(head: &[u8]) -> bool {
    let mut lines = head.split(|b| *b == b'\n').take(5000);
    lines.any(|line| {
        let line = line.strip_prefix(b"# HELP ").or(line.strip_prefix(b"# TYPE ")).unwrap_or(line);
        OURS.iter().any(|prefix| line.starts_with(prefix.as_bytes()))
    })
}

/// What the names of an engine's metrics begin with.
const OURS: [&str; 3] = ["vllm:", "sglang:", "sglang_"];

/// Values of one scrape by engine and metric.
type Staged = BTreeMap<String, BTreeMap<String, f64>>;

/// Reads it.
pub struct Scrapes {
    observed: Observed,
    /// When the file was written, or a comment says so.
    time_s: Option<f64>,
    /// The scrape that is being read, by engine.
    staged: Staged,
    /// Series of it that were seen: one again begins the next scrape.
    seen: HashSet<String>,
    scrapes: u64,
    started: BTreeMap<String, f64>,
}

impl Scrapes {
    pub fn new(time_s: Option<f64>) -> Self {
        let (observed, seen, started) = Default::default();
        Self { observed, time_s, staged: Staged::new(), seen, scrapes: 0, started }
    }

    /// Ends a scrape: a sample per engine.
    fn end(&mut self) {
        self.seen.clear();
        let staged = std::mem::take(&mut self.staged);
        if staged.is_empty() {
            return;
        }
        let t_s = match self.time_s.take() {
            Some(t) => {
                self.observed.clock = Clock::Wall;
                t
            }
            None => self.scrapes as f64,
        };
        self.scrapes += 1;
        let shared = staged.get("").cloned().unwrap_or_default();
        // What has no engine's label belongs to each of them.
        let only = staged.len() == 1;
        for (name, mut values) in staged {
            if name.is_empty() && !only {
                continue;
            }
            for (key, value) in &shared {
                values.entry(key.clone()).or_insert(*value);
            }
            let engine = self.observed.engines.entry(name.clone()).or_default();
            let sample = sample(t_s, &values, engine, &mut self.observed.notes);
            let start = values.get("process_start_time_seconds").copied().unwrap_or(f64::NAN);
            if self.started.insert(name, start).is_some_and(|before| before < start) {
                self.observed.notes.add("starts of the engine between scrapes", 0);
            }
            engine.series.push(sample);
        }
    }

    fn value(&mut self, line: u64, text: &str, ended: bool) {
        let Some((name, labels, rest)) = parts(text) else {
            self.observed.dropped.add("lines that are no metric", line);
            return;
        };
        let known = OURS.iter().find_map(|prefix| name.strip_prefix(prefix));
        if known.is_none() && name != "process_start_time_seconds" {
            return;
        }
        if name.ends_with("_bucket") || name.ends_with("_created") || name.ends_with("_count") {
            return;
        }
        let mut words = rest.split_ascii_whitespace();
        let Some(value) = words.next().and_then(number) else {
            self.observed.dropped.add("metrics without a number", line);
            return;
        };
        if !ended {
            self.observed.dropped.add("last values of a cut-off file", line);
            return;
        }
        let series = text[..text.len() - rest.len()].trim_end();
        if self.seen.contains(series) {
            self.end();
        }
        self.seen.insert(series.to_owned());
        if let Some(t) = words.next().and_then(number).filter(|t| *t > 1e9) {
            self.time_s = moment(&t.to_string());
        }
        let label = |key: &str| labels.iter().find(|(k, _)| *k == key).map(|(_, v)| *v);
        if label("tp_rank").is_some_and(|r| r != "0") || label("pp_rank").is_some_and(|r| r != "0")
        {
            self.observed
                .notes
                .add("series of further ranks, which share their engine's pool", line);
            return;
        }
        if name.ends_with("_sum") {
            if value < 0.0 {
                self.observed.dropped.add("sums of latencies below 0: two clocks were mixed", line);
            }
            return;
        }
        let software = if name.starts_with("vllm") { "vllm" } else { "sglang" };
        let engine = label("engine").or(label("dp_rank")).filter(|e| !e.is_empty());
        let host = label("instance").or(label("pod"));
        let engine = [host, engine].into_iter().flatten().collect::<Vec<_>>().join(" engine ");
        let engine = match (engine.is_empty(), host) {
            (false, None) => format!("engine {engine}"),
            _ => engine,
        };
        let metric = known.unwrap_or(name);
        let metric = metric.strip_suffix("_total").unwrap_or(metric);
        if metric == "cache_config_info" {
            let of = |key| label(key).and_then(|v| v.parse::<u64>().ok());
            let there = self.observed.engines.entry(engine.clone()).or_default();
            there.pool_tokens = of("num_gpu_blocks").zip(of("block_size")).map(|(n, b)| n * b);
            there.prefix_caching = label("enable_prefix_caching").map(|v| v == "True");
        }
        // The labels that split a metric into parts that we tell apart.
        let part = ["reason", "source", "cache_source", "mode", "finished_reason"]
            .into_iter()
            .find_map(label);
        let key = part.map_or_else(|| metric.to_owned(), |part| format!("{metric}/{part}"));
        if known.is_some() {
            let there = self.observed.engines.entry(engine.clone()).or_default();
            there.software = Some(software);
            there.model = there.model.take().or_else(|| label("model_name").map(str::to_owned));
        }
        // Several models or priorities on one engine.
        *self.staged.entry(engine).or_default().entry(key).or_insert(0.0) += value;
    }
}

impl LineReader for Scrapes {
    fn line(&mut self, number: u64, line: &[u8], ended: bool) {
        let Ok(text) = std::str::from_utf8(line) else {
            self.observed.dropped.add("lines that are not UTF-8", number);
            return;
        };
        let text = text.trim();
        match text.strip_prefix('#') {
            _ if text.is_empty() => {}
            Some(comment) => {
                let comment = comment.trim_matches([' ', '#']);
                let says = !comment.starts_with("HELP") && !comment.starts_with("TYPE");
                if let Some(t) = says.then(|| moment(comment)).flatten() {
                    self.end();
                    self.time_s = Some(t);
                }
            }
            // A line with a time alone, as `date` prints it between scrapes.
            None => match time_alone(text) {
                Some(t) => {
                    self.end();
                    self.time_s = Some(t);
                }
                None => self.value(number, text, ended || text.ends_with(".0")),
            },
        }
    }

    fn finish(mut self) -> Observed {
        self.end();
        // Labels that only information lines carried.
        self.observed
    }
}

/// The time that a line without a metric says.
fn time_alone(text: &str) -> Option<f64> {
    let is_metric = OURS.iter().any(|prefix| text.starts_with(prefix));
    if is_metric { None } else { moment(text).filter(|t| *t > 9e8) }
}

type Labels<'a> = Vec<(&'a str, &'a str)>;

/// Name, labels and what follows.
fn parts(text: &str) -> Option<(&str, Labels<'_>, &str)> {
    let in_name = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b':';
    let end = text.bytes().position(|b| !in_name(b))?;
    let (name, rest) = text.split_at_checked(end)?;
    if !rest.starts_with(['{', ' ', '\t']) {
        return None;
    }
    let Some(mut rest) = rest.strip_prefix('{') else { return Some((name, Vec::new(), rest)) };
    let mut labels = Vec::new();
    loop {
        rest = rest.trim_start_matches([',', ' ']);
        if let Some(after) = rest.strip_prefix('}') {
            return Some((name, labels, after));
        }
        let (key, after) = rest.split_at_checked(memchr::memchr(b'=', rest.as_bytes())?)?;
        let after = after.strip_prefix("=\"")?;
        let mut end = 0;
        let bytes = after.as_bytes();
        while *bytes.get(end)? != b'"' {
            end += 1 + usize::from(bytes[end] == b'\\');
        }
        labels.push((key.trim(), after.get(..end)?));
        rest = &after[end + 1..];
    }
}

fn number(text: &str) -> Option<f64> {
    match text {
        "NaN" => Some(f64::NAN),
        "+Inf" | "Inf" => Some(f64::INFINITY),
        "-Inf" => Some(f64::NEG_INFINITY),
        _ => fast_float2::parse(text).ok(),
    }
}

/// Pairs of counters that hits are read from, the best first: looked up, found, in words.
const HITS: [(&[&str], &[&str], &str); 6] = [
    (
        &["prefix_cache_queries"],
        &["prefix_cache_hits"],
        "prefix_cache_hits over prefix_cache_queries",
    ),
    (
        &["prompt_tokens_by_source/local_cache_hit", "prompt_tokens_by_source/local_compute"],
        &["prompt_tokens_by_source/local_cache_hit"],
        "prompt_tokens_by_source",
    ),
    (
        &["realtime_tokens/prefill_cache", "realtime_tokens/prefill_compute"],
        &["realtime_tokens/prefill_cache"],
        "realtime_tokens_total, which moves with every batch",
    ),
    (
        &["prompt_tokens"],
        &["cached_tokens/total"],
        "cached_tokens_total over prompt_tokens_total, which move when a request ends",
    ),
    (
        &["prompt_tokens"],
        &["cached_tokens"],
        "cached_tokens_total over prompt_tokens_total, which move when a request ends",
    ),
    (
        &["gpu_prefix_cache_queries"],
        &["gpu_prefix_cache_hits"],
        "gpu_prefix_cache_hits over gpu_prefix_cache_queries (blocks in some versions)",
    ),
];

fn sample(
    t_s: f64,
    values: &BTreeMap<String, f64>,
    engine: &mut Engine,
    notes: &mut crate::form::Losses,
) -> Sample {
    let mut sample = Sample::at(t_s);
    let of = |key: &str| values.get(key).copied();
    let first = |keys: &[&str]| keys.iter().find_map(|key| of(key));
    let parts = |prefix: &str| {
        let parts: Vec<f64> =
            values.iter().filter(|(k, _)| k.starts_with(prefix)).map(|(_, v)| *v).collect();
        (!parts.is_empty()).then(|| parts.iter().sum::<f64>())
    };
    let mut set = |quantity, value: Option<f64>| sample.set(quantity, value.unwrap_or(f64::NAN));
    set(Quantity::Running, first(&["num_requests_running", "num_running_reqs"]));
    set(Quantity::Waiting, first(&["num_requests_waiting", "num_queue_reqs"]));
    set(Quantity::Deferred, of("num_requests_waiting_by_reason/deferred"));
    set(Quantity::Usage, first(&["kv_cache_usage_perc", "gpu_cache_usage_perc", "token_usage"]));
    set(Quantity::SubPoolUsage, first(&["swa_token_usage", "mamba_usage"]));
    set(Quantity::UsedTokens, first(&["kv_used_tokens", "num_used_tokens"]));
    set(Quantity::EvictableTokens, of("kv_evictable_tokens"));
    set(Quantity::PoolTokens, of("max_total_num_tokens"));
    set(Quantity::GenerationTokens, of("generation_tokens"));
    set(Quantity::Preemptions, first(&["num_preemptions", "num_retracted_requests"]));
    set(Quantity::Finished, parts("request_success/").or_else(|| of("num_requests")));
    set(
        Quantity::Rejected,
        parts("admission_rejections/").or_else(|| parts("num_queue_rejected_requests/")),
    );
    set(Quantity::TierTokens, of("external_prefix_cache_hits"));
    // SGLang splits what it found by where it lay.
    let found_by_place = ["cached_tokens/device", "cached_tokens/host"].into_iter().filter_map(of);
    let found_by_place: Vec<f64> = found_by_place.collect();
    // A counter with labels appears with its first event: until then it is 0.
    let count = |keys: &[&str]| {
        let is_part = |key: &str| {
            let family = key.split_once('/').filter(|(family, _)| *family != "cached_tokens")?.0;
            of(&format!("{family}/local_compute")).or(of(&format!("{family}/prefill_compute")))
        };
        keys.iter().map(|key| of(key).or_else(|| is_part(key).map(|_| 0.0))).sum::<Option<f64>>()
    };
    let pair = HITS.iter().find_map(|(looked_up, found, words)| {
        let looked_up = count(looked_up)?;
        let found = count(found)?;
        Some((looked_up, found, *words))
    });
    let pair = pair.or_else(|| {
        (!found_by_place.is_empty()).then_some(())?;
        Some((of("prompt_tokens")?, found_by_place.iter().sum(), HITS[3].2))
    });
    if let Some((looked_up, found, words)) = pair {
        if found > looked_up {
            notes.add("more tokens found than looked up: swapped or mixed counters, not used", 0);
        } else {
            let rank = |words: &str| HITS.iter().position(|(.., known)| *known == words);
            let before = engine.hits_from.filter(|before| *before != words);
            if before.is_some() {
                notes.add(OTHER_COUNTERS, 0);
            }
            if before.is_some_and(|before| rank(words) < rank(before)) {
                engine.forget_hits();
            }
            if before.is_none_or(|before| rank(words) < rank(before)) {
                set(Quantity::PromptTokens, Some(looked_up));
                set(Quantity::CachedTokens, Some(found));
                engine.hits_from = Some(words);
            }
        }
    } else if of("cache_hit_rate").is_some() || of("gpu_prefix_cache_hit_rate").is_some() {
        notes.add("hit-rate gauges not used: SGLang's is of one batch, vLLM's old one of no stated window", 0);
    }
    if let Some(usage) = sample.get(Quantity::Usage).filter(|u| *u > 1.001) {
        notes.add("usage gauges above 1: not a fraction, not used", 0);
        let _ = usage;
        let mut plain = Sample::at(t_s);
        for quantity in
            [Quantity::Running, Quantity::Waiting, Quantity::PromptTokens, Quantity::CachedTokens]
        {
            plain.set(quantity, sample.get(quantity).unwrap_or(f64::NAN));
        }
        sample = plain;
    }
    sample
}
