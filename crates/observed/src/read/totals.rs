//! Totals of a run: SGLang's `bench_multiturn`, AIPerf's export of the server's metrics, and
//! `AgentX`' aggregate. One rung of a ladder each.

use std::collections::BTreeMap;

use super::Format;
use super::document::Take;
use super::json::{Event, Scalar};
use crate::form::{Engine, Observed, Quantity, Rung, Sample};

/// Tokens per second in an aggregate, the whole engine's first.
const THROUGHPUTS: [&str; 4] =
    ["total_token_throughput", "output_throughput", "tput_per_gpu", "throughput_per_gpu"];

/// Reads it.
pub struct Totals {
    format: Format,
    values: BTreeMap<String, f64>,
    observed: Observed,
    results: u64,
}

impl Totals {
    pub fn new(format: Format) -> Self {
        let (values, observed) = Default::default();
        Self { format, values, observed, results: 0 }
    }

    fn result(&mut self, line: u64) {
        let values = std::mem::take(&mut self.values);
        let of = |keys: &[&str]| {
            keys.iter().find_map(|k| values.get(*k)).copied().filter(|x| x.is_finite())
        };
        let fraction = |x: f64| (0.0..=1.0).contains(&x).then_some(x);
        let ending = |end: &str| values.iter().find(|(k, _)| k.ends_with(end)).map(|(_, v)| *v);
        let rung = match self.format {
            Format::SglangMultiTurn => Rung {
                population: of(&["summary.num_clients", "num_clients"]).map(|x| x as u64),
                hit_fraction: of(&["summary.cache_hit_rate"]).and_then(fraction),
                reuse_ceiling: None,
                tokens_per_s: None,
            },
            Format::ServerMetrics => {
                let total = |name: &str| {
                    ["", "_total"].iter().find_map(|t| {
                        values.get(&format!("metrics.{name}{t}.series[].stats.total"))
                    })
                };
                let pair = [
                    ("vllm:prefix_cache_queries", "vllm:prefix_cache_hits"),
                    ("sglang:prompt_tokens", "sglang:cached_tokens"),
                ];
                let hits = pair.iter().find_map(|(all, hits)| Some((*total(all)?, *total(hits)?)));
                if let Some((all, hits)) = hits.filter(|(all, hits)| hits <= all) {
                    self.counters(all, hits);
                }
                let hit_fraction =
                    hits.filter(|(all, _)| *all > 0.0).and_then(|(all, hits)| fraction(hits / all));
                Rung { population: None, hit_fraction, reuse_ceiling: None, tokens_per_s: None }
            }
            _ => {
                let counters =
                    ending("cache.prefix_cache_queries").zip(ending("cache.prefix_cache_hits"));
                let hits = ending("cache.overall_cache_hit_rate")
                    .or_else(|| ending("cache.gpu_cache_hit_rate"));
                let hits = hits.or_else(|| {
                    counters.filter(|(all, _)| *all > 0.0).map(|(all, hits)| hits / all)
                });
                // In percent, by its definition.
                let ceiling = ending("theoretical_prefix_cache_hit")
                    .or_else(|| ending("theoretical_prefix_cache_hit.avg"));
                if let Some(pool) =
                    ending("kv_cache_pool_tokens").or_else(|| ending("kv_cache.gpu_total_tokens"))
                {
                    self.observed.engines.entry(String::new()).or_default().pool_tokens =
                        Some(pool as u64);
                }
                Rung {
                    population: of(&["concurrency", "conc", "users", "max_concurrency"])
                        .map(|x| x as u64),
                    hit_fraction: hits.and_then(fraction),
                    reuse_ceiling: ceiling.map(|x| x / 100.0).and_then(fraction),
                    tokens_per_s: of(&THROUGHPUTS),
                }
            }
        };
        self.results += 1;
        self.observed.reuse_ceiling = rung.reuse_ceiling.or(self.observed.reuse_ceiling);
        if rung.hit_fraction.is_some() || rung.tokens_per_s.is_some() {
            self.observed.rungs.push(rung);
        } else if rung.reuse_ceiling.is_none() {
            self.observed.dropped.add("results without a hit fraction", line);
        }
    }

    /// Totals of a whole run as two samples, from nothing to all.
    fn counters(&mut self, all: f64, hits: f64) {
        let engine: &mut Engine = self.observed.engines.entry(String::new()).or_default();
        for (t, share) in [(0.0, 0.0), (1.0, 1.0)] {
            let mut sample = Sample::at(t);
            sample.set(Quantity::PromptTokens, all * share);
            sample.set(Quantity::CachedTokens, hits * share);
            engine.series.push(sample);
        }
        engine.hits_from = Some("totals of the run in the server metrics");
    }
}

impl Take for Totals {
    fn take(&mut self, event: Event<'_>, line: u64) {
        match event {
            // A round is a part of its summary.
            Event::Scalar(path, _) if path.starts_with("round.") => {}
            // Items of a list add up: one per engine or rank.
            Event::Scalar(path, Scalar::Number(x)) => {
                if let Some(sum) = self.values.get_mut(path) {
                    *sum += x;
                } else if self.values.len() < 20_000 {
                    self.values.insert(path.to_owned(), x);
                }
            }
            Event::Close("") => self.result(line),
            Event::Broken(why) => {
                self.values.clear();
                self.observed.dropped.add(why, line);
            }
            _ => {}
        }
    }

    fn finish(mut self) -> Observed {
        self.observed.rungs.sort_by_key(|rung| rung.population);
        self.observed
    }
}
