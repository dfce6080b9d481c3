//! Requests out of JSON of any shape that [`super::shape`] knows.

use super::Parse;
use super::json::{Event, Events, Scalar, is_lines};
use super::links::Links;
use super::record::{Cell, Record};
use super::shape::{Field, Shape};
use crate::form::{Clock, Ended, Losses, Observed, Request, mixed};

/// Reads it.
pub struct Requests {
    events: Events,
    builder: Builder,
}

impl Requests {
    pub fn new(shape: &'static Shape, head: &[u8]) -> Self {
        let builder = Builder {
            record: Record::new(shape),
            base: None,
            hash_ids: Vec::new(),
            links: Links::default(),
            observed: Observed::default(),
            turns_from_0: false,
            row: 0,
        };
        Self { events: Events::new(is_lines(head)), builder }
    }
}

impl Parse for Requests {
    fn push(&mut self, bytes: &[u8]) {
        let builder = &mut self.builder;
        self.events.push(bytes, &mut |event, line| builder.take(event, line));
    }

    fn finish(mut self: Box<Self>) -> Observed {
        let builder = &mut self.builder;
        self.events.finish(&mut |event, line| builder.take(event, line));
        if self.builder.turns_from_0 {
            for request in &mut self.builder.observed.requests {
                request.turn = request.turn.map(|turn| turn + 1);
            }
        }
        if self.builder.observed.requests.iter().all(|r| r.t_submit_s.is_none()) {
            self.builder.observed.clock = Clock::Order;
        }
        self.builder.observed
    }
}

struct Builder {
    /// The record that is being read.
    record: Record,
    /// Where its keys begin, inside one.
    base: Option<usize>,
    /// Hash ids of the record's blocks of prompt, where it has them.
    hash_ids: Vec<u64>,
    links: Links,
    observed: Observed,
    turns_from_0: bool,
    row: u32,
}

impl Builder {
    fn take(&mut self, event: Event<'_>, line: u64) {
        match event {
            Event::Open(path) if self.base.is_none() && self.record.begins(path) => {
                self.base = Some(if path.is_empty() { 0 } else { path.len() + 1 });
                self.record.clear();
                self.hash_ids.clear();
            }
            Event::Close(path) if self.base.is_some() && self.record.begins(path) => {
                self.base = None;
                self.end(line);
            }
            Event::Scalar(path, scalar) => {
                let Some(key) = self.base.and_then(|base| path.get(base..)) else { return };
                let Some(place) = self.record.place(key) else { return };
                if self.record.field(place) == Field::HashIds {
                    return self.hash_ids.push(match scalar {
                        Scalar::Number(x) => x.to_bits(),
                        Scalar::Text(text) => mixed(text.as_bytes()),
                        Scalar::Null | Scalar::Flag(_) => 0,
                    });
                }
                let is_there = self.record.has(place);
                if is_there && key.ends_with("[]") {
                    return;
                }
                if is_there {
                    self.observed
                        .notes
                        .add("keys that a record has twice: the last one counts", line);
                }
                self.record.set(place, scalar);
            }
            Event::Broken(why) => {
                self.base = None;
                self.observed.dropped.add(why, line);
            }
            _ => {}
        }
    }

    /// A record has ended.
    fn end(&mut self, line: u64) {
        self.row = self.row.saturating_add(1);
        let mut dropped = std::mem::take(&mut self.observed.dropped);
        let request = self.request(line, &mut dropped);
        self.observed.dropped = dropped;
        let Some(request) = request else { return };
        let Self { record, observed, .. } = self;
        if let Some(session) = record.session() {
            return observed.keep(Some(&session), request);
        }
        let linked = self.linked(request.prompt_tokens);
        self.observed.keep(linked.as_deref(), request);
    }

    fn request(&mut self, line: u64, dropped: &mut Losses) -> Option<Request> {
        let record = &self.record;
        let turn = record
            .number(Field::Turn)
            .or_else(|| record.number(Field::Messages).map(|n| ((n + 1.0) / 2.0).floor()));
        let turn = turn.filter(|t| (0.0..1e6).contains(t)).map(|t| t as u32);
        self.turns_from_0 |= turn == Some(0);
        if record.text(Field::Phase).is_some_and(|phase| phase == "warmup") {
            dropped.add("warm-up requests", line);
            return None;
        }
        let read = record.sum(Field::CachedPart);
        let prompt = record.count(Field::Prompt, dropped, line);
        let prompt = prompt.or_else(|| Some(record.sum(Field::PromptPart)? + read.unwrap_or(0)));
        let mut cached = record.count(Field::Cached, dropped, line).or(read);
        if cached.is_none() && record.cells(Field::Cached).any(|(cell, _)| cell == Cell::Null) {
            self.observed.notes.add("requests whose cached tokens are null: unknown, not 0", line);
        }
        if cached > prompt && prompt.is_some() {
            dropped.add("cached tokens above the prompt's: taken as unknown", line);
            cached = None;
        }
        let ended = self.ended();
        if prompt.is_none() && ended == Ended::Served {
            dropped.add("records without prompt tokens", line);
            return None;
        }
        let record = &self.record;
        let mut request = Request {
            session: None,
            turn,
            t_ready_s: record.number(Field::Ready),
            t_submit_s: record.number(Field::Submit),
            t_first_s: record.number(Field::First),
            t_end_s: record.number(Field::End),
            latency_s: record.number(Field::Latency).filter(|x| *x >= 0.0),
            prompt_tokens: prompt,
            cached_tokens: cached,
            output_tokens: record.count(Field::Output, dropped, line),
            ended,
            row: self.row,
        };
        times(&mut request, record.number(Field::FirstAfter), line, dropped);
        self.observed.clock = match request.t_submit_s {
            Some(t) if t > 9e8 => Clock::Wall,
            _ => Clock::Monotonic,
        };
        Some(request)
    }

    /// The session that a request's hash ids continue, or a new one.
    fn linked(&mut self, prompt: Option<u64>) -> Option<String> {
        let number = self.links.session_of(&self.hash_ids, prompt?)?;
        self.observed.sessions_by_hashes = true;
        Some(format!("prefix {number}"))
    }

    fn ended(&mut self) -> Ended {
        let Self { record, observed, .. } = self;
        let cancelled = record.cells(Field::Cancelled).any(|(cell, _)| cell == Cell::Flag(true));
        if let Some(words) = record.text(Field::Error) {
            return Ended::Failed(observed.names.error(&words));
        }
        let status = record.text(Field::Status);
        match status.as_deref().map_or(Some(true), Ended::told) {
            _ if cancelled => Ended::Cancelled,
            Some(true) => Ended::Served,
            None => Ended::Cancelled,
            Some(false) => {
                Ended::Failed(observed.names.error(status.as_deref().unwrap_or_default()))
            }
        }
    }
}

/// Fills in times that follow from others, and refuses those that cannot be.
fn times(request: &mut Request, first_after: Option<f64>, line: u64, dropped: &mut Losses) {
    match (request.t_submit_s, request.t_end_s, request.latency_s) {
        (Some(submit), None, Some(latency)) => request.t_end_s = Some(submit + latency),
        (None, Some(end), Some(latency)) => request.t_submit_s = Some(end - latency),
        _ => {}
    }
    if let (Some(submit), Some(end)) = (request.t_submit_s, request.t_end_s)
        && end < submit
    {
        dropped.add("requests that end before they were sent: their times are unknown", line);
        (request.t_submit_s, request.t_end_s, request.t_first_s) = (None, None, None);
    }
    if request.t_first_s.is_none()
        && let (Some(submit), Some(after)) = (request.t_submit_s, first_after)
    {
        request.t_first_s = Some(submit + after);
    }
    if let (Some(submit), Some(first)) = (request.t_submit_s, request.t_first_s)
        && (first < submit || request.t_end_s.is_some_and(|end| first > end + 1e-3))
    {
        dropped.add("first tokens outside their request: taken as unknown", line);
        request.t_first_s = None;
    }
    if request.t_ready_s > request.t_submit_s {
        request.t_ready_s = None;
    }
}
