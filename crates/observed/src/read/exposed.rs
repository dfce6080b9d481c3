//! A series of a /metrics text: its name and labels, and what its values are for.

use crate::form::Engine;

/// What the names of an engine's metrics begin with.
pub(crate) const OURS: [&str; 3] = ["vllm:", "sglang:", "sglang_"];

/// What the values of a series are for. A scrape has the series of the one before it, mostly in
/// the same order: it is told once.
pub enum Use {
    /// Not read.
    Nothing,
    /// A sum of latencies.
    Sum,
    /// A rank that shares its engine's pool.
    OtherRank,
    /// A metric of an engine, and what else its labels say of that.
    Value { engine: String, key: String, says: Option<Says> },
}

/// What the labels of a metric say of its engine.
pub struct Says {
    software: &'static str,
    model: Option<String>,
    config: Option<Config>,
}

/// What `cache_config_info` says.
#[derive(Clone, Copy)]
struct Config {
    pool_tokens: Option<u64>,
    prefix_caching: Option<bool>,
}

impl Says {
    /// Whether it may change from scrape to scrape, and be told again.
    pub(crate) const fn may_change(&self) -> bool {
        self.config.is_some()
    }

    /// Tells the engine. The last configuration counts: an engine starts again with another one.
    pub fn tell(&self, engine: &mut Engine) {
        if let Some(config) = self.config {
            engine.pool_tokens = config.pool_tokens;
            engine.prefix_caching = config.prefix_caching;
        }
        engine.software = Some(self.software);
        if engine.model.is_none() {
            engine.model.clone_from(&self.model);
        }
    }
}

/// A series that was seen.
pub struct Told {
    /// Its name and labels, as they are written.
    pub series: String,
    /// The last scrape that had it.
    pub scrape: u64,
    pub what: Use,
}

impl Told {
    /// Whether a line is of this series.
    pub fn has(&self, text: &str) -> bool {
        let rest = text.strip_prefix(&*self.series);
        rest.is_some_and(|rest| self.series.ends_with('}') || rest.starts_with([' ', '\t']))
    }
}

/// What a new series is for.
pub(crate) fn told_by(name: &str, labels: &Labels<'_>) -> Use {
    let known = OURS.iter().find_map(|prefix| name.strip_prefix(prefix));
    if known.is_none() && name != "process_start_time_seconds" {
        return Use::Nothing;
    }
    if name.ends_with("_bucket") || name.ends_with("_created") || name.ends_with("_count") {
        return Use::Nothing;
    }
    let label = |key: &str| labels.iter().find(|(k, _)| *k == key).map(|(_, v)| *v);
    let is_further = |key| label(key).is_some_and(|rank| rank != "0");
    if is_further("tp_rank") || is_further("pp_rank") {
        return Use::OtherRank;
    }
    if name.ends_with("_sum") {
        return Use::Sum;
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
    let of = |key| label(key).and_then(|v| v.parse::<u64>().ok());
    let config = (metric == "cache_config_info").then(|| Config {
        pool_tokens: of("num_gpu_blocks").zip(of("block_size")).and_then(|(n, b)| n.checked_mul(b)),
        prefix_caching: label("enable_prefix_caching").map(|v| v == "True"),
    });
    let model = label("model_name").map(str::to_owned);
    let says = known.map(|_| Says { software, model, config });
    // The labels that split a metric into parts that we tell apart.
    let part =
        ["reason", "source", "cache_source", "mode", "finished_reason"].into_iter().find_map(label);
    let key = part.map_or_else(|| metric.to_owned(), |part| format!("{metric}/{part}"));
    Use::Value { engine, key, says }
}

/// Labels with their values.
pub type Labels<'a> = Vec<(&'a str, &'a str)>;

/// Name, labels and what follows.
pub fn parts(text: &str) -> Option<(&str, Labels<'_>, &str)> {
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
