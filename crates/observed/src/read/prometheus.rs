//! The text of a /metrics endpoint of vLLM or SGLang: one scrape, or several one after the
//! other. Names of all versions, with and without `_total`.

use std::collections::{BTreeMap, HashMap};

use super::clock::moment;
use super::exposed::{OURS, Told, Use, parts, told_by};
use super::lines::LineReader;
use crate::form::{Clock, Engine, OTHER_COUNTERS, Observed, Quantity, Sample};

/// Whether a source begins as such a text does.
pub(crate) fn is_scrape(head: &[u8]) -> bool {
    let mut lines = head.split(|b| *b == b'\n').take(5000);
    lines.any(|line| {
        let line = line.strip_prefix(b"# HELP ").or(line.strip_prefix(b"# TYPE ")).unwrap_or(line);
        OURS.iter().any(|prefix| line.starts_with(prefix.as_bytes()))
    })
}

/// Values of one scrape by engine and metric.
type Staged = BTreeMap<String, BTreeMap<String, f64>>;

/// Series that are remembered from one scrape to the next.
const MOST_SERIES: usize = 1 << 16;

/// Reads it.
pub struct Scrapes {
    observed: Observed,
    /// When the file was written, or a comment says so.
    time_s: Option<f64>,
    /// The scrape that is being read, by engine.
    staged: Staged,
    /// Its number. A series that it has had already begins the next one.
    scrape: u64,
    told: Vec<Told>,
    places: HashMap<String, usize>,
    /// Where the next series stood in the scrape before.
    at: usize,
    scrapes: u64,
    started: BTreeMap<String, f64>,
}

impl Scrapes {
    pub fn new(time_s: Option<f64>) -> Self {
        let (observed, staged, told, places, started) = Default::default();
        Self { observed, time_s, staged, scrape: 1, told, places, at: 0, scrapes: 0, started }
    }

    /// Ends a scrape: a sample per engine.
    fn end(&mut self) {
        self.scrape += 1;
        self.at = 0;
        if self.told.len() > MOST_SERIES {
            self.told.clear();
            self.places.clear();
        }
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
        let next = self.told.get(self.at).filter(|told| told.has(text)).map(|_| self.at);
        let Some(place) = next.or_else(|| self.place(text)) else {
            self.observed.dropped.add("lines that are no metric", line);
            return;
        };
        self.at = place + 1;
        let told = &mut self.told[place];
        if matches!(told.what, Use::Nothing) {
            return;
        }
        let mut words = text[told.series.len()..].split_ascii_whitespace();
        let Some(value) = words.next().and_then(number) else {
            self.observed.dropped.add("metrics without a number", line);
            return;
        };
        if !ended {
            self.observed.dropped.add("last values of a cut-off file", line);
            return;
        }
        if told.scrape == self.scrape {
            self.end();
            return self.value(line, text, ended);
        }
        let is_new = std::mem::replace(&mut told.scrape, self.scrape) == 0;
        if let Some(t) = words.next().and_then(number).filter(|t| *t > 1e9) {
            self.time_s = moment(&t.to_string());
        }
        let Observed { dropped, notes, engines, .. } = &mut self.observed;
        match &told.what {
            Use::OtherRank => {
                notes.add("series of further ranks, which share their engine's pool", line);
            }
            Use::Sum if value < 0.0 => {
                dropped.add("sums of latencies below 0: two clocks were mixed", line);
            }
            // Several models or priorities on one engine add up.
            Use::Value { engine, key, says } => {
                if let Some(says) = says.as_ref().filter(|says| is_new || says.may_change()) {
                    says.tell(engines.entry(engine.clone()).or_default());
                }
                let values = self.staged.entry(engine.clone()).or_default();
                *values.entry(key.clone()).or_insert(0.0) += value;
            }
            Use::Sum | Use::Nothing => {}
        }
    }

    /// The place of a line's series, which may be new; `None` for what is no metric.
    fn place(&mut self, text: &str) -> Option<usize> {
        let (name, labels, rest) = parts(text)?;
        let series = text[..text.len() - rest.len()].trim_end();
        if let Some(place) = self.places.get(series) {
            return Some(*place);
        }
        let what = told_by(name, &labels);
        self.places.insert(series.to_owned(), self.told.len());
        self.told.push(Told { series: series.to_owned(), scrape: 0, what });
        Some(self.told.len() - 1)
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
