//! Tables with a header: gauges that an operator sampled, or requests that a client logged.
//! Headers vary: a column is known by how its name ends.

use std::borrow::Cow;

use super::clock::moment;
use super::lines::{LineReader, whole_number};
use crate::form::{Clock, Ended, Observed, Quantity, Request, Sample, tokens};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Column {
    Time,
    Engine,
    Gauge(Quantity),
    Session,
    /// What tells sessions of one id apart.
    Kind,
    Turn,
    Status,
    Latency,
    Submit,
    End,
    Prompt,
    Cached,
    Output,
}

/// Endings of names, the longest of a kind first.
const ENDINGS: [(&str, Column); 37] = [
    ("kv_cache_usage_perc", Column::Gauge(Quantity::Usage)),
    ("gpu_cache_usage_perc", Column::Gauge(Quantity::Usage)),
    ("token_usage", Column::Gauge(Quantity::Usage)),
    ("num_requests_running", Column::Gauge(Quantity::Running)),
    ("num_running_reqs", Column::Gauge(Quantity::Running)),
    ("running", Column::Gauge(Quantity::Running)),
    ("num_requests_waiting", Column::Gauge(Quantity::Waiting)),
    ("num_queue_reqs", Column::Gauge(Quantity::Waiting)),
    ("waiting", Column::Gauge(Quantity::Waiting)),
    ("num_preemptions", Column::Gauge(Quantity::Preemptions)),
    ("preemptions", Column::Gauge(Quantity::Preemptions)),
    ("prefix_cache_queries", Column::Gauge(Quantity::PromptTokens)),
    ("prefix_cache_hits", Column::Gauge(Quantity::CachedTokens)),
    ("kv_used_tokens", Column::Gauge(Quantity::UsedTokens)),
    ("kv_evictable_tokens", Column::Gauge(Quantity::EvictableTokens)),
    ("kv_total_tokens", Column::Gauge(Quantity::PoolTokens)),
    ("generation_tokens", Column::Gauge(Quantity::GenerationTokens)),
    ("session_id", Column::Session),
    ("conversation_id", Column::Session),
    ("program_id", Column::Session),
    ("session", Column::Session),
    ("round_idx", Column::Turn),
    ("round_index", Column::Turn),
    ("turn_index", Column::Turn),
    ("turn", Column::Turn),
    ("status", Column::Status),
    ("latency_s", Column::Latency),
    ("t_submit", Column::Submit),
    ("submit_timestamp", Column::Submit),
    ("t_end", Column::End),
    ("complete_timestamp", Column::End),
    ("cached_tokens", Column::Cached),
    ("cached_prompt_tokens", Column::Cached),
    ("prompt_tokens", Column::Prompt),
    ("input_tokens", Column::Prompt),
    ("completion_tokens", Column::Output),
    ("output_tokens", Column::Output),
];

const TIMES: [&str; 9] =
    ["ts", "t", "time", "timestamp", "t_s", "unix", "time_s", "elapsed", "elapsed_s"];

fn column(header: &str) -> Option<Column> {
    let name = header.trim().trim_matches('"').to_ascii_lowercase();
    if name.starts_with("interval") {
        return None;
    }
    if TIMES.contains(&name.as_str()) {
        return Some(Column::Time);
    }
    if ["engine", "instance", "backend", "pod", "replica"].contains(&name.as_str()) {
        return Some(Column::Engine);
    }
    if name == "kind" {
        return Some(Column::Kind);
    }
    // A counter's total of an engine, against a request's own number.
    let total = name.strip_suffix("_total");
    match (total, total.unwrap_or(&name)) {
        (Some(_), n) if n.ends_with("cached_tokens") => {
            return Some(Column::Gauge(Quantity::CachedTokens));
        }
        (Some(_), n) if n.ends_with("prompt_tokens") => {
            return Some(Column::Gauge(Quantity::PromptTokens));
        }
        _ => {}
    }
    let name = total.unwrap_or(&name);
    let ends = |ending: &str| {
        let rest = name.strip_suffix(ending)?;
        (rest.is_empty() || rest.ends_with(['_', ':', '.', ' ', '-'])).then_some(())
    };
    ENDINGS.iter().find(|(ending, _)| ends(ending).is_some()).map(|(_, column)| *column)
}

/// A number, with separators of thousands or without.
fn number_in(field: &str) -> Option<f64> {
    if let Some(x) = whole_number(field.as_bytes()) {
        return Some(x);
    }
    if !field.bytes().any(|b| b == b',') {
        return fast_float2::parse(field).ok();
    }
    let mut groups = field.split('.').next().unwrap_or("").split(',');
    let first = groups.next().is_some_and(|g| (1..=3).contains(&g.trim_start_matches('-').len()));
    if first && groups.all(|g| g.len() == 3) {
        return fast_float2::parse(field.replace(',', "")).ok();
    }
    fast_float2::parse(field).ok()
}

/// Whether a source begins with a header of ours.
pub fn is_table(head: &[u8]) -> bool {
    let line = head.split(|b| *b == b'\n').next().unwrap_or_default();
    let Ok(line) = std::str::from_utf8(line) else { return false };
    let columns: Vec<_> = fields(line, separator(line)).iter().filter_map(|f| column(f)).collect();
    let gauges = columns.iter().filter(|c| matches!(c, Column::Gauge(_))).count();
    columns.contains(&Column::Time) && gauges >= 2
        || columns.contains(&Column::Session) && columns.contains(&Column::Prompt)
}

/// Whether a source is a table of recorded sessions.
pub(crate) fn is_sessions(head: &[u8]) -> bool {
    let line = head.split(|b| *b == b'\n').next().unwrap_or_default();
    let has = |name: &[u8]| line.trim_ascii().split(|b| *b == b',').any(|field| field == name);
    has(b"session") && has(b"reusable_tokens")
}

fn separator(header: &str) -> char {
    [',', ';', '\t'].into_iter().max_by_key(|c| header.matches(*c).count()).unwrap_or(',')
}

/// The fields of a line, without the quotes around them.
fn fields(line: &str, separator: char) -> Vec<Cow<'_, str>> {
    let line = line.trim_end_matches('\r');
    if memchr::memchr(b'"', line.as_bytes()).is_none() {
        let mut fields = Vec::with_capacity(16);
        let mut from = 0;
        for (at, byte) in line.bytes().enumerate() {
            if char::from(byte) == separator {
                fields.push(Cow::Borrowed(&line[from..at]));
                from = at + 1;
            }
        }
        fields.push(Cow::Borrowed(&line[from..]));
        return fields;
    }
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            c if c == separator && !quoted => fields.push(String::new()),
            c => {
                if let Some(field) = fields.last_mut() {
                    field.push(c);
                }
            }
        }
    }
    fields.into_iter().map(Cow::Owned).collect()
}

/// Reads it.
#[derive(Default)]
pub struct Table {
    observed: Observed,
    columns: Vec<Option<Column>>,
    separator: char,
    row: u32,
    turns_from_0: bool,
}

impl LineReader for Table {
    fn line(&mut self, number: u64, line: &[u8], ended: bool) {
        let Ok(text) = std::str::from_utf8(line) else {
            self.observed.dropped.add("lines that are not UTF-8", number);
            return;
        };
        if text.trim().is_empty() {
            return;
        }
        if self.columns.is_empty() {
            self.separator = separator(text);
            self.columns = fields(text, self.separator).iter().map(|f| column(f)).collect();
            return;
        }
        let fields = fields(text, self.separator);
        if fields.len() != self.columns.len() {
            let why = if ended {
                "rows with another number of fields than the header"
            } else {
                "rows cut off"
            };
            self.observed.dropped.add(why, number);
            return;
        }
        self.row += 1;
        let gauges = self.columns.iter().any(|c| matches!(c, Some(Column::Gauge(_))));
        if gauges { self.sample(number, &fields) } else { self.request(number, &fields) }
    }

    fn finish(mut self) -> Observed {
        if self.turns_from_0 {
            for request in &mut self.observed.requests {
                request.turn = request.turn.map(|turn| turn + 1);
            }
        }
        for engine in self.observed.engines.values_mut() {
            engine.hits_from =
                engine.series.tells(Quantity::CachedTokens).then_some("the table's counters");
        }
        self.observed
    }
}

/// A field without the blanks around it: mostly there are none.
fn trimmed(field: &str) -> &str {
    match field.as_bytes() {
        [first, .., last] if first.is_ascii_graphic() && last.is_ascii_graphic() => field,
        _ => field.trim(),
    }
}

/// The fields of a row that are known and not empty.
fn each<'a>(
    columns: &[Option<Column>],
    fields: &'a [Cow<'_, str>],
) -> impl Iterator<Item = (Column, &'a str)> {
    let known = columns.iter().zip(fields);
    let known = known.filter_map(|(column, field)| Some(((*column)?, trimmed(field))));
    known.filter(|(_, field)| !field.is_empty())
}

impl Table {
    fn sample(&mut self, line: u64, fields: &[Cow<'_, str>]) {
        let (mut sample, mut engine, mut t) = (Sample::at(0.0), "", None);
        let mut bad = false;
        for (column, field) in each(&self.columns, fields) {
            let number = || number_in(field);
            match column {
                Column::Time => t = moment(field),
                Column::Engine => engine = field,
                Column::Gauge(quantity) => match number() {
                    Some(x) => sample.set(quantity, x),
                    None => bad = true,
                },
                _ => {}
            }
        }
        if bad {
            self.observed.dropped.add("values that are no number", line);
        }
        let Some(t) = t else {
            self.observed.dropped.add("rows without a time", line);
            return;
        };
        sample.t_s = t;
        // Percent, not a fraction.
        if let Some(usage) = sample.get(Quantity::Usage).filter(|u| *u > 1.001) {
            self.observed.notes.add("usage read as percent", line);
            sample.set(Quantity::Usage, usage / 100.0);
        }
        if sample.get(Quantity::CachedTokens) > sample.get(Quantity::PromptTokens) {
            self.observed.dropped.add("rows with more tokens found than looked up", line);
            return;
        }
        self.observed.clock = if t > 9e8 { Clock::Wall } else { Clock::Monotonic };
        match self.observed.engines.get_mut(engine) {
            Some(engine) => engine.series.push(sample),
            None => {
                self.observed.engines.entry(engine.into()).or_default().series.push(sample);
            }
        }
    }

    fn request(&mut self, line: u64, fields: &[Cow<'_, str>]) {
        let mut request = Request { row: self.row, ..Request::default() };
        let (mut session, mut kind, mut failed, mut bad) = (None, None, None, false);
        for (column, field) in each(&self.columns, fields) {
            let is_number = !matches!(
                column,
                Column::Session
                    | Column::Kind
                    | Column::Status
                    | Column::Engine
                    | Column::Time
                    | Column::Submit
                    | Column::End
            );
            let number = is_number.then(|| number_in(field)).flatten().filter(|x| *x >= 0.0);
            let count = number.and_then(tokens);
            bad |= is_number && count.is_none();
            match column {
                Column::Session => session = Some(field),
                Column::Kind => kind = Some(field),
                Column::Turn => request.turn = count.and_then(|n| u32::try_from(n).ok()),
                Column::Status => match Ended::told(field) {
                    Some(served) => failed = (!served).then_some(field),
                    None => request.ended = Ended::Cancelled,
                },
                Column::Latency => request.latency_s = number,
                Column::Submit | Column::Time => request.t_submit_s = moment(field),
                Column::End => request.t_end_s = moment(field),
                Column::Prompt => request.prompt_tokens = count,
                Column::Cached => request.cached_tokens = count,
                Column::Output => request.output_tokens = count,
                Column::Engine | Column::Gauge(_) => {}
            }
        }
        if bad {
            self.observed.dropped.add("values that are no number", line);
        }
        if request.cached_tokens > request.prompt_tokens {
            self.observed.dropped.add("cached tokens above the prompt's: taken as unknown", line);
            request.cached_tokens = None;
        }
        self.turns_from_0 |= request.turn == Some(0);
        let session = session.map(|id| match kind {
            Some(kind) => Cow::Owned(format!("{kind} {id}")),
            None => Cow::Borrowed(id),
        });
        if let Some(words) = failed {
            request.ended = Ended::Failed(self.observed.names.error(words));
        }
        self.observed.clock = match request.t_submit_s {
            Some(t) if t > 9e8 => Clock::Wall,
            Some(_) => Clock::Monotonic,
            None => Clock::Order,
        };
        self.observed.keep(session.as_deref(), request);
    }
}
