//! `engine`: the engine's own gauges and counters, sampled.

use super::columns::{Columns, Counts, Field, Presence, Type};
use super::problem::Problem;

/// One sample. Anything an engine does not report is `None`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EngineSample {
    /// Time of the sample, s.
    pub t_s: f64,
    /// Requests running.
    pub running: Option<u64>,
    /// Requests waiting.
    pub waiting: Option<u64>,
    /// KV held by admitted requests, tokens.
    pub kv_used_tokens: Option<u64>,
    /// KV cached and idle, tokens.
    pub kv_evictable_tokens: Option<u64>,
    /// The pool, tokens.
    pub kv_total_tokens: Option<u64>,
    /// Prompt tokens since the server started.
    pub prompt_tokens_total: Option<u64>,
    /// Of these, found in the cache.
    pub cached_tokens_total: Option<u64>,
    /// Decoded tokens since the server started.
    pub generation_tokens_total: Option<u64>,
    /// Preemptions since the server started.
    pub preemptions_total: Option<u64>,
}

const fn optional(name: &'static str) -> Field {
    Field { name, ty: Type::Count, presence: Presence::MayLack }
}

/// The table's columns.
pub const SCHEMA: &[Field] = &[
    Field { name: "t", ty: Type::Number, presence: Presence::Needed },
    optional("running"),
    optional("waiting"),
    optional("kv_used_tokens"),
    optional("kv_evictable_tokens"),
    optional("kv_total_tokens"),
    optional("prompt_tokens_total"),
    optional("cached_tokens_total"),
    optional("generation_tokens_total"),
    optional("preemptions_total"),
];

const COUNTERS: [&str; 4] =
    ["prompt_tokens_total", "cached_tokens_total", "generation_tokens_total", "preemptions_total"];

const GAUGES: [&str; 5] =
    ["running", "waiting", "kv_used_tokens", "kv_evictable_tokens", "kv_total_tokens"];

/// Samples in order of time, and notes on counters that fell (the server
/// restarted there, so that interval is unknown).
pub fn parse(table: &Columns) -> Result<(Vec<EngineSample>, Vec<Problem>), Vec<Problem>> {
    let mut problems = Vec::new();
    let mut samples: Vec<EngineSample> = samples(table);
    for (row, sample) in samples.iter().enumerate() {
        table.bound(&mut problems);
        if let (Some(used), Some(total)) = (sample.kv_used_tokens, sample.kv_total_tokens)
            && used > total
        {
            let message = format!("{used} tokens used of a pool of {total}");
            problems.push(table.problem(row, "kv_used_tokens", message));
        }
        if let (Some(cached), Some(prompt)) =
            (sample.cached_tokens_total, sample.prompt_tokens_total)
            && cached > prompt
        {
            let message = format!("{cached} cached tokens of {prompt} prompt tokens");
            problems.push(table.problem(row, "cached_tokens_total", message));
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let rows = by_time(table);
    let notes = falls(table, &rows);
    samples = rows.iter().map(|row| samples[*row]).collect();
    Ok((samples, notes))
}

/// The samples in order of their rows.
fn samples(table: &Columns) -> Vec<EngineSample> {
    let t = table.number("t");
    let gauges = GAUGES.map(|name| table.count(name));
    let counters = COUNTERS.map(|name| table.count(name));
    let sample = |row: usize| {
        let [running, waiting, kv_used_tokens, kv_evictable_tokens, kv_total_tokens] =
            gauges.map(|column| column.get(row));
        let [prompt_tokens_total, cached_tokens_total, generation_tokens_total, preemptions_total] =
            counters.map(|column| column.get(row));
        EngineSample {
            t_s: t.get(row).unwrap_or_default(),
            running,
            waiting,
            kv_used_tokens,
            kv_evictable_tokens,
            kv_total_tokens,
            prompt_tokens_total,
            cached_tokens_total,
            generation_tokens_total,
            preemptions_total,
        }
    };
    (0..table.len()).map(sample).collect()
}

/// Rows in order of time; at one time by the counters, which never fall, and the
/// gauges, so that the order of rows in the file says nothing.
fn by_time(table: &Columns) -> Vec<usize> {
    let times = table.number("t");
    let names = COUNTERS.iter().chain(&GAUGES);
    let values: Vec<&Counts> = names.map(|name| table.count(name)).collect();
    let mut rows: Vec<usize> = (0..table.len()).collect();
    rows.sort_by(|a, b| {
        let [t_a, t_b] = [a, b].map(|row| times.get(*row).unwrap_or_default());
        let of = |row: usize| values.iter().map(move |column| column.get(row));
        t_a.total_cmp(&t_b).then_with(|| of(*a).cmp(of(*b)))
    });
    rows
}

/// Counters that fall from one sample to the next in time.
fn falls(table: &Columns, rows: &[usize]) -> Vec<Problem> {
    let mut notes = Vec::new();
    for name in COUNTERS {
        let values = table.count(name);
        for pair in rows.windows(2) {
            if let (Some(before), Some(after)) = (values.get(pair[0]), values.get(pair[1]))
                && after < before
            {
                let message = format!(
                    "falls from {before} to {after}: the server restarted; this interval is unknown"
                );
                notes.push(table.problem(pair[1], name, message).as_note());
            }
        }
    }
    notes
}
