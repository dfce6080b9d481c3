//! Results of `vllm bench serve` and SGLang's `bench_serving`: totals, and in detailed ones a
//! list per quantity with a slot per request. Neither says what was cached.

use std::collections::BTreeMap;

use super::document::Take;
use super::json::{Event, Scalar};
use crate::form::{Clock, Ended, Observed, Request, tokens};

/// Slots of a list that are kept.
const MOST: usize = 2_000_000;

/// Reads it.
#[derive(Default)]
pub struct Lists {
    numbers: BTreeMap<&'static str, Vec<f64>>,
    errors: Vec<Option<u32>>,
    planned: Option<f64>,
    completed: Option<f64>,
    observed: Observed,
    row: u32,
}

const NUMBERS: [(&str, &str); 6] = [
    ("input_lens[]", "prompt"),
    ("output_lens[]", "output"),
    ("ttfts[]", "ttft"),
    ("start_times[]", "start"),
    ("latencies[]", "latency"),
    ("queue_times[]", "queue"),
];

impl Take for Lists {
    fn take(&mut self, event: Event<'_>, line: u64) {
        match event {
            Event::Scalar(path, Scalar::Number(x)) => {
                match NUMBERS.iter().find(|(key, _)| *key == path) {
                    Some((_, list)) => {
                        let list = self.numbers.entry(list).or_default();
                        if list.len() < MOST {
                            list.push(x);
                        }
                    }
                    None if path == "completed" => self.completed = Some(x),
                    None if path == "num_prompts" => self.planned = Some(x),
                    None => {}
                }
            }
            Event::Scalar("errors[]", Scalar::Text(words)) if self.errors.len() < MOST => {
                let failed = (!words.is_empty()).then(|| self.observed.names.error(words));
                self.errors.push(failed);
            }
            Event::Close("") => self.result(),
            Event::Broken(why) => {
                self.numbers.clear();
                self.errors.clear();
                self.observed.dropped.add(why, line);
            }
            _ => {}
        }
    }

    fn finish(mut self) -> Observed {
        self.observed.notes.add("benchmark results, which never tell what was cached", 0);
        self.observed
    }
}

impl Lists {
    /// One result has ended: its slots become requests.
    fn result(&mut self) {
        let numbers = std::mem::take(&mut self.numbers);
        let errors = std::mem::take(&mut self.errors);
        let slots = numbers.values().map(Vec::len).chain([errors.len()]).max().unwrap_or(0);
        if slots == 0 {
            self.observed.notes.add("results without a list of requests", 0);
        }
        if let (Some(planned), Some(completed)) = (self.planned.take(), self.completed.take()) {
            for _ in 0..(planned - completed).clamp(0.0, MOST as f64) as u64 {
                self.observed.notes.add("requests of a benchmark that did not complete", 0);
            }
        }
        for slot in 0..slots {
            let of = |list: &str| {
                numbers
                    .get(list)
                    .and_then(|l| l.get(slot))
                    .copied()
                    .filter(|x| x.is_finite() && *x >= 0.0)
            };
            self.row += 1;
            let start = of("start");
            let failed = errors.get(slot).copied().flatten();
            let served = failed.is_none();
            self.observed.clock = if start.is_some() { Clock::Monotonic } else { Clock::Order };
            self.observed.requests.push(Request {
                session: None,
                turn: None,
                t_ready_s: None,
                t_submit_s: start,
                t_first_s: start.zip(of("ttft")).filter(|_| served).map(|(s, t)| s + t),
                t_end_s: start.zip(of("latency")).map(|(s, t)| s + t),
                latency_s: of("latency"),
                prompt_tokens: of("prompt").and_then(tokens),
                cached_tokens: None,
                output_tokens: of("output").and_then(tokens),
                ended: failed.map_or(Ended::Served, Ended::Failed),
                row: self.row,
            });
        }
    }
}
