//! SGLang's server log, of any version: `name: value` pairs behind "Prefill batch" and
//! "Decode batch". Hits are counted batch by batch; a prompt in chunks is several batches.

use memchr::memmem::Finder;

use super::clock::stamp;
use super::lines::{LineReader, Marks, number, pair};
use crate::form::{Observed, Quantity, Sample};

const HITS_FROM: &str = "cached and new tokens of each prefill batch in the log";

/// What a line says that is no batch.
enum Says {
    Retracted,
    Pool,
    CacheOff,
    Flushed,
}

const MARKS: &[(&str, Says)] = &[
    ("#retracted_reqs: ", Says::Retracted),
    ("max_total_num_tokens=", Says::Pool),
    ("disable_radix_cache=", Says::CacheOff),
    // Its arguments as newer versions print them.
    ("'disable_radix_cache': ", Says::CacheOff),
    ("Cache flushed", Says::Flushed),
];

/// Reads it.
pub struct SglangLog {
    batch: Finder<'static>,
    marks: Marks<Says>,
    observed: Observed,
    pool: Option<u64>,
    version: Option<String>,
    caching: Option<bool>,
    last: String,
    /// Of the last stamp, what stands behind its time, and what that says.
    tag: Vec<u8>,
    ranks: Ranks,
}

impl Default for SglangLog {
    fn default() -> Self {
        let (observed, pool, version, last, tag) = Default::default();
        Self {
            batch: Finder::new(" batch"),
            marks: Marks::new(MARKS),
            observed,
            pool,
            version,
            caching: None,
            last,
            tag,
            ranks: Ranks::of(&[]),
        }
    }
}

/// What a batch is called before the word.
const KINDS: [&[u8]; 3] = [b"Prefill", b"Decode", b"new fill"];

impl LineReader for SglangLog {
    fn line(&mut self, number: u64, line: &[u8], ended: bool) {
        let words = self.batch.find_iter(line);
        let mut places = words.filter_map(|end| {
            let kind = KINDS.iter().find(|kind| line[..end].ends_with(kind))?;
            Some(end - kind.len())
        });
        let Some(first) = places.next() else {
            self.other(number, line);
            return;
        };
        // Mostly none: a record per line.
        let glued: Vec<usize> = places.collect();
        let (mut from, mut place) = (0, first);
        for next in glued {
            self.batch(number, &line[from..place], &line[place..next], true);
            (from, place) = (place, next);
        }
        self.batch(number, &line[from..place], &line[place..], ended);
    }

    fn finish(mut self) -> Observed {
        for engine in self.observed.engines.values_mut() {
            engine.software = Some("sglang");
            engine.version.clone_from(&self.version);
            engine.pool_tokens = self.pool;
            engine.prefix_caching = self.caching;
            engine.hits_from = Some(HITS_FROM);
        }
        self.observed
    }
}

impl SglangLog {
    fn batch(&mut self, line: u64, before: &[u8], record: &[u8], ended: bool) {
        let Some(stamp) = stamp(before) else {
            self.observed.dropped.add("log records without a time", line);
            return;
        };
        let tag = tag(&before[stamp.start..]);
        if tag != self.tag {
            self.ranks = Ranks::of(tag);
            self.tag = tag.to_vec();
        }
        if !self.ranks.first {
            self.observed
                .notes
                .add("lines of further ranks, which share their engine's pool", line);
            return;
        }
        self.observed.clock = stamp.clock;
        if self.last != self.ranks.name || self.observed.engines.is_empty() {
            self.last.clone_from(&self.ranks.name);
            self.observed.engines.entry(self.last.clone()).or_default();
        }
        let Some(engine) = self.observed.engines.get_mut(&self.last) else { return };
        let prefill = !record.starts_with(b"Decode");
        let text = String::from_utf8_lossy(record);
        if !ended {
            self.observed.dropped.add("last values of a cut-off line", line);
        }
        let mut sample = Sample::at(stamp.t_s);
        let (mut new, mut cached) = (None, None);
        let mut take = |piece: &str| {
            let Some((name, value)) = pair(piece) else { return };
            let into = match name.trim_start_matches('#') {
                "new-token" | "new_token" => return new = number(value),
                "cached-token" | "cached_token" => return cached = number(value),
                "running-req" => Quantity::Running,
                "queue-req" => Quantity::Waiting,
                "token usage" | "full token usage" => Quantity::Usage,
                "swa token usage" | "mamba usage" => Quantity::SubPoolUsage,
                "token" | "full token" if !prefill => Quantity::UsedTokens,
                "input throughput (token/s)" => Quantity::PromptRate,
                "gen throughput (token/s)" => Quantity::GenerationRate,
                // Since the server started, its own, in percent.
                "cache hit rate" => Quantity::LoggedHits,
                _ => return,
            };
            let percent = if into == Quantity::LoggedHits { 100.0 } else { 1.0 };
            number(value).into_iter().for_each(|x| sample.set(into, x / percent));
        };
        pieces(&text, ended, &mut take);
        // Whoever lacks one of the two counts nothing: a cut-off line.
        if let (true, Some(new), Some(cached)) = (prefill, new, cached) {
            for (quantity, more) in
                [(Quantity::PromptTokens, new + cached), (Quantity::CachedTokens, cached)]
            {
                let before = engine.series.last(quantity).unwrap_or(0.0);
                sample.set(quantity, before + more);
            }
        }
        engine.series.push(sample);
    }

    fn other(&mut self, line: u64, bytes: &[u8]) {
        let Some((says, text)) = self.marks.of(bytes) else { return };
        let first = number(text.split(',').next().unwrap_or(""));
        match says {
            Says::Retracted => {
                let engine = self.observed.engines.get_mut(&self.last);
                if let (Some(n), Some(engine)) = (first, engine) {
                    let before = engine.series.last(Quantity::Preemptions).unwrap_or(0.0);
                    if let Some(sample) = engine.series.last_mut() {
                        sample.set(Quantity::Preemptions, before + n);
                    }
                }
            }
            Says::Pool => {
                if self.observed.engines.values().any(|e| !e.series.samples().is_empty()) {
                    self.observed.notes.add("starts of the engine within the log", line);
                }
                self.pool = first.map(|x| x as u64).or(self.pool);
            }
            Says::CacheOff => self.caching = Some(!text.starts_with("True")),
            Says::Flushed => self.observed.notes.add("resets of the prefix cache", line),
        }
    }
}

/// Pieces between commas or, in old versions, between full stops. Of a record that was cut off
/// the last value may be the beginning of another, and is left out.
fn pieces(text: &str, ended: bool, take: &mut impl FnMut(&str)) {
    let comma = text.find(',').unwrap_or(text.len());
    if text[..comma].contains(". ") {
        let all: Vec<&str> = text.split(", ").flat_map(|part| part.splitn(8, ". ")).collect();
        let whole = all.len() - usize::from(!ended);
        return all[..whole].iter().for_each(|piece| take(piece));
    }
    let whole = if ended { text } else { text.rsplit_once(',').map_or("", |(whole, _)| whole) };
    whole.split(',').for_each(take);
}

/// What stands in a stamp behind its date and time of day.
fn tag(stamp: &[u8]) -> &[u8] {
    let end = memchr::memchr(b']', stamp).unwrap_or(stamp.len());
    let behind = memchr::memchr_iter(b' ', &stamp[..end]).nth(1);
    behind.map_or(&[], |blank| &stamp[blank + 1..end])
}

/// The ranks that a line's stamp names.
struct Ranks {
    /// The data-parallel rank: an engine of its own.
    name: String,
    /// Whether it is the first of the ranks that share a pool.
    first: bool,
}

impl Ranks {
    fn of(tag: &[u8]) -> Self {
        let text = std::str::from_utf8(tag).unwrap_or_default();
        let (mut name, mut first) = (String::new(), true);
        for word in text.split(' ') {
            let rank = |prefix: &str| {
                word.strip_prefix(prefix).filter(|n| n.bytes().all(|b| b.is_ascii_digit()))
            };
            if rank("DP").is_some() {
                name = format!("engine {word}");
            }
            first &= rank("TP").or_else(|| rank("PP")).is_none_or(|n| n == "0");
        }
        Self { name, first }
    }
}
