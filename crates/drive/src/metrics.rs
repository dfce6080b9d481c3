//! An engine's gauges and counters, from the text of its `/metrics`: vLLM's and SGLang's
//! names, current and older.
//!
//! An engine that exports one pool once per rank is read by its first rank; nothing is summed
//! over ranks.

use crate::dialect::Dialect;
use crate::limits;
use crate::run::EngineSample;

/// One scrape: the series of an engine's own names.
#[derive(Debug, Clone, PartialEq)]
pub struct Scrape {
    dialect: Dialect,
    series: Vec<Series>,
}

#[derive(Debug, Clone, PartialEq)]
struct Series {
    name: String,
    labels: Vec<(String, String)>,
    value: f64,
}

/// The pool and what an engine says of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PoolFacts {
    /// M, tokens.
    pub tokens: Option<u64>,
    /// Tokens per block.
    pub block_tokens: Option<u64>,
    /// Whether the prefix cache is on.
    pub prefix_caching: Option<bool>,
    /// Engines behind the address.
    pub engines: usize,
}

impl Scrape {
    /// Reads the Prometheus text format. Lines that are not it say nothing, nor do those that are
    /// not of the engine's own names: no more of a page is kept than can be asked for.
    pub fn parse(dialect: Dialect, text: &str) -> Self {
        let own = text.lines().map(str::trim).filter(|line| line.starts_with(dialect.prefix()));
        Self { dialect, series: own.filter_map(series).collect() }
    }

    /// Whether it holds nothing of an engine of this kind.
    pub(crate) fn is_foreign(&self) -> bool {
        self.series.is_empty()
    }

    /// The engine's gauges at time `t_s`; what it does not export is unknown.
    pub fn sample(&self, t_s: f64) -> EngineSample {
        let count = |names: &[&str]| names.iter().find_map(|name| self.count(name));
        let pool = self.pool();
        match self.dialect {
            Dialect::Vllm => EngineSample {
                t_s,
                running: count(&["vllm:num_requests_running"]),
                waiting: count(&["vllm:num_requests_waiting"]),
                kv_used_tokens: self.used_tokens(pool),
                kv_evictable_tokens: None,
                kv_total_tokens: pool.tokens,
                prompt_tokens_total: count(&["vllm:prompt_tokens_total"]),
                cached_tokens_total: count(&[
                    "vllm:prompt_tokens_cached_total",
                    "vllm:prefix_cache_hits_total",
                    "vllm:gpu_prefix_cache_hits_total",
                ]),
                generation_tokens_total: count(&["vllm:generation_tokens_total"]),
                preemptions_total: count(&["vllm:num_preemptions_total", "vllm:num_preemptions"]),
            },
            Dialect::Sglang => EngineSample {
                t_s,
                running: count(&["sglang:num_running_reqs"]),
                waiting: count(&["sglang:num_queue_reqs"]),
                kv_used_tokens: count(&["sglang:kv_used_tokens", "sglang:num_used_tokens"]),
                kv_evictable_tokens: count(&["sglang:kv_evictable_tokens"]),
                kv_total_tokens: pool.tokens,
                prompt_tokens_total: self.over_requests("sglang:prompt_tokens_total"),
                cached_tokens_total: self.over_requests("sglang:cached_tokens_total"),
                generation_tokens_total: self.over_requests("sglang:generation_tokens_total"),
                preemptions_total: count(&["sglang:num_retracted_requests_total"]),
            },
        }
    }

    /// The pool, as the engine exports it.
    pub fn pool(&self) -> PoolFacts {
        match self.dialect {
            Dialect::Vllm => self.vllm_pool(),
            Dialect::Sglang => PoolFacts {
                tokens: self.count("sglang:max_total_num_tokens"),
                block_tokens: None,
                prefix_caching: None,
                engines: self.different("dp_rank"),
            },
        }
    }

    fn vllm_pool(&self) -> PoolFacts {
        let info = self.series.iter().find(|s| s.name == "vllm:cache_config_info");
        let label = |name: &str| info.and_then(|series| series.label(name));
        let number = |name: &str| label(name).and_then(|text| text.parse::<u64>().ok());
        let (blocks, block_tokens) = (number("num_gpu_blocks"), number("block_size"));
        PoolFacts {
            tokens: blocks.zip(block_tokens).and_then(|(n, size)| n.checked_mul(size)),
            block_tokens,
            prefix_caching: label("enable_prefix_caching").map(|word| word == "True"),
            engines: self.different("engine"),
        }
    }

    /// vLLM's share of blocks in use, as tokens. One block is never given out.
    fn used_tokens(&self, pool: PoolFacts) -> Option<u64> {
        let names = ["vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"];
        let share = names.iter().find_map(|name| self.value(name))?;
        let block_tokens = pool.block_tokens.filter(|size| *size > 0)?;
        let blocks = (pool.tokens? / block_tokens).saturating_sub(1);
        whole(share * blocks as f64).map(|used| used * block_tokens)
    }

    /// A counter that SGLang splits by kind of request (`is_streaming`; its own warm-up does not
    /// stream) or by where a hit was found (`cache_source`; "total" is where it does not know):
    /// each token is in one of the parts.
    fn over_requests(&self, name: &str) -> Option<u64> {
        let is_first = |s: &Series| s.label("tp_rank").is_none_or(|rank| rank == "0");
        let parts = self.series.iter().filter(|s| s.name == name && is_first(s));
        parts.map(|part| part.value).reduce(|sum, value| sum + value).and_then(whole)
    }

    /// How many values a label has over the engine's series; at least 1.
    fn different(&self, label: &str) -> usize {
        let mut values: Vec<&str> = self.series.iter().filter_map(|s| s.label(label)).collect();
        values.sort_unstable();
        values.dedup();
        values.len().max(1)
    }

    fn value(&self, name: &str) -> Option<f64> {
        self.series.iter().find(|series| series.name == name).map(|series| series.value)
    }

    fn count(&self, name: &str) -> Option<u64> {
        self.value(name).and_then(whole)
    }
}

impl Series {
    fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|(label, _)| label == name).map(|(_, value)| value.as_str())
    }
}

/// The nearest whole number of a value that is one; NaN and what no counter reaches are not.
fn whole(value: f64) -> Option<u64> {
    (0.0..=limits::COUNT as f64).contains(&value).then_some((value + 0.5) as u64)
}

fn series(line: &str) -> Option<Series> {
    let end = line.find(['{', ' ', '\t'])?;
    let (name, rest) = line.split_at(end);
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(rest) => labels(rest)?,
        None => (Vec::new(), rest),
    };
    let value = rest.split_whitespace().next()?.parse().ok()?;
    Some(Series { name: name.into(), labels, value })
}

/// Labels up to their closing brace, and what follows it.
fn labels(mut rest: &str) -> Option<(Vec<(String, String)>, &str)> {
    let mut labels = Vec::new();
    loop {
        rest = rest.trim_start_matches([',', ' ']);
        if let Some(after) = rest.strip_prefix('}') {
            return Some((labels, after));
        }
        let (name, quoted) = rest.split_once("=\"")?;
        let mut value = String::new();
        let mut chars = quoted.char_indices();
        rest = loop {
            match chars.next()? {
                (_, '\\') => value.push(chars.next()?.1),
                (end, '"') => break &quoted[end + 1..],
                (_, c) => value.push(c),
            }
        };
        labels.push((name.trim().into(), value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VLLM: &str = r#"# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="a } \" b"} 24.0
vllm:num_requests_waiting{engine="0",model_name="m"} 160.0
vllm:num_requests_waiting_by_reason{engine="0",reason="capacity"} 160.0
vllm:kv_cache_usage_perc{engine="0"} 0.6499466382070438
vllm:prompt_tokens_total{engine="0"} 1.4054055e+07
vllm:prompt_tokens_cached_total{engine="0"} 9.442944e+06
vllm:prefix_cache_hits_total{engine="0"} 9.450048e+06
vllm:generation_tokens_total{engine="0"} 161883.0
vllm:num_preemptions_total{engine="0"} NaN
vllm:cache_config_info{block_size="32",num_gpu_blocks="938",enable_prefix_caching="True"} 1.0
"#;

    #[test]
    fn vllm_is_read_by_its_names() {
        let scrape = Scrape::parse(Dialect::Vllm, VLLM);
        let sample = scrape.sample(5.0);
        assert_eq!((sample.running, sample.waiting), (Some(24), Some(160)));
        // 609 of the 937 blocks that can be given out.
        assert_eq!(sample.kv_used_tokens, Some(609 * 32));
        assert_eq!(sample.kv_total_tokens, Some(30_016));
        assert_eq!(sample.cached_tokens_total, Some(9_442_944));
        assert_eq!(sample.preemptions_total, None, "NaN is unknown, never 0");
        let pool = scrape.pool();
        assert_eq!((pool.prefix_caching, pool.engines), (Some(true), 1));
        assert!(!scrape.is_foreign() && Scrape::parse(Dialect::Sglang, VLLM).is_foreign());
    }

    #[test]
    fn older_names_say_the_same() {
        let older = "vllm:gpu_cache_usage_perc 0.5\nvllm:gpu_prefix_cache_hits_total 12\n\
                     vllm:cache_config_info{block_size=\"16\",num_gpu_blocks=\"101\"} 1\n";
        let sample = Scrape::parse(Dialect::Vllm, older).sample(0.0);
        assert_eq!(sample.kv_used_tokens, Some(50 * 16));
        assert_eq!(sample.cached_tokens_total, Some(12));
        assert_eq!(sample.running, None);
    }

    #[test]
    fn one_rank_of_sglang_is_read_and_nothing_is_summed_over_ranks() {
        let text = "sglang:num_running_reqs{tp_rank=\"0\"} 3\nsglang:num_running_reqs{tp_rank=\"1\"} 3\n\
                    sglang:num_queue_reqs{tp_rank=\"0\"} 7\nsglang:max_total_num_tokens{tp_rank=\"0\"} 300000\n\
                    sglang:cached_tokens_total{cache_source=\"device\",tp_rank=\"0\"} 10\n\
                    sglang:cached_tokens_total{cache_source=\"host\",tp_rank=\"0\"} 5\n\
                    sglang:num_used_tokens 900\n";
        let sample = Scrape::parse(Dialect::Sglang, text).sample(0.0);
        assert_eq!((sample.running, sample.waiting), (Some(3), Some(7)));
        assert_eq!((sample.cached_tokens_total, sample.kv_used_tokens), (Some(15), Some(900)));
    }

    #[test]
    fn sglangs_counters_are_summed_over_kinds_of_requests_and_places_of_hits() {
        // As 0.5.23 writes them: its warm-up comes first, and does not stream.
        let text = "sglang:prompt_tokens_total{engine_type=\"unified\",is_streaming=\"false\",model_name=\"m\"} 3.0\n\
                    sglang:prompt_tokens_total{engine_type=\"unified\",is_streaming=\"true\",model_name=\"m\"} 151273.0\n\
                    sglang:generation_tokens_total{is_streaming=\"false\"} 8.0\n\
                    sglang:generation_tokens_total{is_streaming=\"true\"} 3247.0\n\
                    sglang:cached_tokens_total{cache_source=\"device\"} 10\n\
                    sglang:cached_tokens_total{cache_source=\"host\"} 5\n\
                    sglang:cached_tokens_total{cache_source=\"storage_file\"} 2\n\
                    sglang:cached_tokens_total{cache_source=\"total\"} 100\n";
        let sample = Scrape::parse(Dialect::Sglang, text).sample(0.0);
        assert_eq!(sample.prompt_tokens_total, Some(151_276));
        assert_eq!(sample.generation_tokens_total, Some(3255));
        assert_eq!(sample.cached_tokens_total, Some(117));
        let none = Scrape::parse(Dialect::Sglang, "sglang:num_queue_reqs 0\n").sample(0.0);
        assert_eq!(none.prompt_tokens_total, None, "what is not there is unknown");
    }

    #[test]
    fn nothing_is_kept_of_lines_that_are_not_the_engines_own() {
        let of_others =
            "python_gc_objects_collected_total{generation=\"0\"} 1\n# vllm:a 1\nsglang:a 1\n";
        assert_eq!(
            Scrape::parse(Dialect::Vllm, of_others),
            Scrape { dialect: Dialect::Vllm, series: Vec::new() }
        );
        assert_eq!(Scrape::parse(Dialect::Vllm, VLLM).series.len(), 10);
    }

    #[test]
    fn no_text_makes_it_fail() {
        for cut in 0..VLLM.len() {
            if VLLM.is_char_boundary(cut) {
                Scrape::parse(Dialect::Vllm, &VLLM[..cut]).sample(0.0);
            }
        }
        assert!(Scrape::parse(Dialect::Vllm, "vllm:a{b=\"\\").is_foreign());
    }
}
