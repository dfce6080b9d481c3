//! vLLM's engine log (V0 and V1, GPU and CPU builds): `name: value` pairs behind
//! "Avg prompt throughput", about every 10 s; idle lines are not logged.

use memchr::memmem::Finder;

use super::clock::{Stamp, stamp};
use super::lines::{LineReader, Marks, number, pair};
use crate::form::{Clock, Engine, Observed, Quantity, Sample};

const RECORD: &[u8] = b"Avg prompt throughput:";

/// What the printed rate covers.
const HITS_FROM: &str = "the engine's logged hit rate (its last 1,000 requests or so)";

/// What a line says that is no record.
#[derive(Clone, Copy)]
enum Says {
    Pool,
    Blocks,
    OldRate,
    Preempted,
    Reset,
    Start,
    Version,
    Settings,
}

const MARKS: &[(&str, Says)] = &[
    ("KV cache size: ", Says::Pool),
    ("GPU blocks: ", Says::Blocks),
    // V0 prints it on a line of its own, after the gauges.
    ("Prefix cache hit rate: GPU: ", Says::OldRate),
    ("total_num_cumulative_preemption=", Says::Preempted),
    ("reset prefix cache", Says::Reset),
    ("LLM engine (v", Says::Start),
    ("  version ", Says::Version),
    ("non-default args", Says::Settings),
];

/// Reads it.
pub struct VllmLog {
    record: Finder<'static>,
    marks: Marks<Says>,
    observed: Observed,
    /// The engine of the last record.
    last: String,
    /// Date and time of the last stamped line, and years that have passed.
    last_s: f64,
    years_s: f64,
    block_tokens: Option<u64>,
    blocks: Option<u64>,
    pool: Option<u64>,
    version: Option<String>,
    caching: Option<bool>,
    aggregated: bool,
}

impl Default for VllmLog {
    fn default() -> Self {
        let (observed, last, last_s, years_s) = Default::default();
        let (block_tokens, blocks, pool, version) = Default::default();
        Self {
            record: Finder::new(RECORD),
            marks: Marks::new(MARKS),
            observed,
            last,
            last_s,
            years_s,
            block_tokens,
            blocks,
            pool,
            version,
            caching: None,
            aggregated: false,
        }
    }
}

impl LineReader for VllmLog {
    fn line(&mut self, number: u64, line: &[u8], ended: bool) {
        // Two records may lie on one line: what is before the second one is the first.
        let places: Vec<usize> = self.record.find_iter(line).collect();
        let mut from = 0;
        for (i, place) in places.iter().enumerate() {
            let end = places.get(i + 1).copied().unwrap_or(line.len());
            let is_last = i + 1 == places.len();
            self.record(number, &line[from..*place], &line[*place..end], ended || !is_last);
            from = *place;
        }
        if places.is_empty() {
            self.other(number, line);
        }
    }

    fn finish(mut self) -> Observed {
        if self.aggregated && self.observed.engines.len() > 1 {
            self.observed.engines.remove("aggregated");
            self.observed.notes.add("totals over engines beside each engine's own", 0);
        }
        if self.observed.engines.is_empty() {
            self.observed.engines.insert(String::new(), Engine::default());
        }
        let pool = self.pool.or_else(|| Some(self.blocks? * self.block_tokens?));
        for engine in self.observed.engines.values_mut() {
            engine.software = Some("vllm");
            engine.version.clone_from(&self.version);
            engine.pool_tokens = pool;
            engine.prefix_caching = self.caching;
            engine.hits_from = Some(HITS_FROM);
        }
        self.observed
    }
}

impl VllmLog {
    fn time(&mut self, stamp: Stamp) -> f64 {
        const HALF_A_YEAR_S: f64 = 183.0 * 86_400.0;
        self.observed.clock = stamp.clock;
        if stamp.clock == Clock::WithoutYear && stamp.t_s + HALF_A_YEAR_S < self.last_s {
            self.years_s += 366.0 * 86_400.0;
        }
        self.last_s = stamp.t_s;
        stamp.t_s + self.years_s
    }

    fn record(&mut self, line: u64, before: &[u8], record: &[u8], ended: bool) {
        let Some(stamp) = last_stamp(before) else {
            self.observed.dropped.add("log records without a time", line);
            return;
        };
        let name = engine_name(&String::from_utf8_lossy(before));
        self.aggregated |= name == "aggregated";
        let mut sample = Sample::at(self.time(stamp));
        let text = String::from_utf8_lossy(record);
        let pieces: Vec<&str> = text.split(", ").collect();
        // Of a line that was cut off the last value may be the beginning of another.
        let whole = ended || text.trim_end().ends_with(['%', '.']);
        let known = if whole { pieces.len() } else { pieces.len() - 1 };
        if !whole {
            self.observed.dropped.add("last values of a cut-off line", line);
        }
        let engine = self.observed.engines.entry(name.clone()).or_default();
        let before = |quantity| engine.series.last(quantity).unwrap_or(0.0);
        for (name, value) in pieces[..known].iter().filter_map(|piece| pair(piece)) {
            let Some(x) = number(value) else { continue };
            match name {
                "Avg prompt throughput" => sample.set(Quantity::PromptRate, x),
                "Avg generation throughput" => sample.set(Quantity::GenerationRate, x),
                "Running" => sample.set(Quantity::Running, x),
                "Waiting" | "Pending" => sample.set(Quantity::Waiting, x),
                "Deferred" => sample.set(Quantity::Deferred, x),
                // Since the line before.
                "Preemptions" => {
                    sample.set(Quantity::Preemptions, before(Quantity::Preemptions) + x);
                }
                "GPU KV cache usage" => sample.set(Quantity::Usage, x / 100.0),
                "CPU KV cache usage" if sample.get(Quantity::Usage).is_none() => {
                    sample.set(Quantity::Usage, x / 100.0);
                }
                "Prefix cache hit rate" => sample.set(Quantity::LoggedHits, x / 100.0),
                _ => {}
            }
        }
        engine.series.push(sample);
        self.last = name;
    }

    /// Lines that are no records: the pool, the version, preemptions of V0.
    fn other(&mut self, line: u64, bytes: &[u8]) {
        let Some((says, text)) = self.marks.of(bytes) else { return };
        let mut gauge = |quantity, x: Option<f64>| {
            let engine = self.observed.engines.get_mut(&self.last);
            if let (Some(x), Some(sample)) = (x, engine.and_then(|e| e.series.last_mut())) {
                sample.set(quantity, x);
            }
        };
        match says {
            Says::Pool => self.pool = number(&text).map(|x| x as u64).or(self.pool),
            Says::Blocks => self.blocks = number(&text).map(|x| x as u64).or(self.blocks),
            Says::OldRate => gauge(Quantity::LoggedHits, number(&text).map(|x| x / 100.0)),
            Says::Preempted => gauge(Quantity::Preemptions, number(&text)),
            Says::Reset => self.observed.notes.add("resets of the prefix cache", line),
            Says::Start | Says::Version => {
                let started =
                    self.observed.engines.values().any(|e| !e.series.samples().is_empty());
                if matches!(says, Says::Start) && started {
                    self.observed.notes.add("starts of the engine within the log", line);
                }
                let end = text.find(|c: char| c != '.' && !c.is_alphanumeric());
                let version = text[..end.unwrap_or(text.len())].to_owned();
                self.version = Some(version).filter(|v| !v.is_empty()).or(self.version.take());
                self.settings(bytes);
            }
            Says::Settings => self.settings(bytes),
        }
    }

    fn settings(&mut self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        for (key, on) in [("enable_prefix_caching=", "True"), ("'enable_prefix_caching': ", "True")]
        {
            if let Some((_, value)) = text.split_once(key) {
                self.caching = Some(value.starts_with(on));
            }
        }
        for key in ["block_size=", "'block_size': "] {
            if let Some((_, value)) = text.split_once(key) {
                self.block_tokens =
                    number(value.split([',', '}']).next().unwrap_or("")).map(|x| x as u64);
            }
        }
    }
}

fn last_stamp(before: &[u8]) -> Option<Stamp> {
    let mut last = None;
    let mut from = 0;
    while let Some(found) = stamp(&before[from..]) {
        from += found.start + 11;
        last = Some(found);
        if from >= before.len() {
            break;
        }
    }
    last
}

/// The engine of a record, from what is before it on the line.
fn engine_name(before: &str) -> String {
    if before.contains("Engines Aggregated: ") {
        return "aggregated".into();
    }
    let number = before.rsplit_once("Engine ").map(|(_, rest)| rest.trim_end_matches([':', ' ']));
    if let Some(number) = number.filter(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    {
        let plain = number.trim_start_matches('0');
        return format!("engine {}", if plain.is_empty() { "0" } else { plain });
    }
    let rank =
        before.rsplit_once("EngineCore_").and_then(|(_, rest)| rest.split([' ', ')']).next());
    rank.map_or_else(String::new, |rank| format!("engine {rank}"))
}
