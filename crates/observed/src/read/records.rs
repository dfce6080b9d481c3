//! Requests out of JSON of any shape that [`super::shape`] knows.

use std::collections::HashMap;

use super::Parse;
use super::json::{Event, Events, Scalar, is_lines};
use super::links::Links;
use super::shape::{Field, Shape};
use crate::form::{Clock, Ended, Losses, Observed, Request, mixed, tokens};

/// A value of a record.
#[derive(Debug, Clone, PartialEq)]
enum Cell {
    Null,
    Number(f64),
    Text(String),
    Flag(bool),
}

/// Reads it.
pub struct Requests {
    events: Events,
    builder: Builder,
}

impl Requests {
    pub fn new(shape: &'static Shape, head: &[u8]) -> Self {
        let keys = shape.fields.iter().enumerate().map(|(i, (key, ..))| (*key, i)).collect();
        let cells = vec![None; shape.fields.len()];
        let builder = Builder {
            shape,
            keys,
            base: None,
            cells,
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
        // A line of a document says little; of records it says where.
        let line = self.events.line();
        let builder = &mut self.builder;
        self.events.push(bytes, &mut |event| builder.take(event, line));
    }

    fn finish(mut self: Box<Self>) -> Observed {
        let line = self.events.line();
        let builder = &mut self.builder;
        self.events.finish(&mut |event| builder.take(event, line));
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
    shape: &'static Shape,
    keys: HashMap<&'static str, usize>,
    /// Where a record's keys begin, inside one.
    base: Option<usize>,
    cells: Vec<Option<Cell>>,
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
            Event::Open(path) if self.base.is_none() && self.shape.records.contains(&path) => {
                self.base = Some(if path.is_empty() { 0 } else { path.len() + 1 });
                self.cells.iter_mut().for_each(|cell| *cell = None);
                self.hash_ids.clear();
            }
            Event::Close(path) if self.base.is_some() && self.shape.records.contains(&path) => {
                self.base = None;
                self.record(line);
            }
            Event::Scalar(path, scalar) => {
                let Some(key) = self.base.and_then(|base| path.get(base..)) else { return };
                let Some(place) = self.keys.get(key).copied() else { return };
                if self.shape.fields[place].1 == Field::HashIds {
                    return self.hash_ids.push(match scalar {
                        Scalar::Number(x) => x.to_bits(),
                        Scalar::Text(text) => mixed(text.as_bytes()),
                        Scalar::Null | Scalar::Flag(_) => 0,
                    });
                }
                let is_list = key.ends_with("[]");
                let cell = &mut self.cells[place];
                if cell.is_some() && is_list {
                    return;
                }
                if cell.is_some() {
                    self.observed
                        .notes
                        .add("keys that a record has twice: the last one counts", line);
                }
                *cell = Some(match scalar {
                    Scalar::Null => Cell::Null,
                    Scalar::Flag(flag) => Cell::Flag(flag),
                    Scalar::Number(x) => Cell::Number(x),
                    Scalar::Text(text) => Cell::Text(text.to_owned()),
                });
            }
            Event::Broken(why, line) => {
                self.base = None;
                self.observed.dropped.add(why, line);
            }
            _ => {}
        }
    }

    /// The cells of a field that are there, in the shape's order, with their factors.
    fn cells(&self, field: Field) -> impl Iterator<Item = (&Cell, f64)> {
        let places = self.shape.fields.iter().zip(&self.cells);
        places
            .filter(move |((_, f, _), _)| *f == field)
            .filter_map(|((.., factor), cell)| Some((cell.as_ref()?, *factor)))
    }

    fn number(&self, field: Field) -> Option<f64> {
        self.cells(field).find_map(|(cell, factor)| match cell {
            Cell::Number(x) if x.is_finite() => Some(x * factor),
            // Times in words, and numbers that were quoted.
            Cell::Text(text) => super::clock::moment(text).map(|x| x * factor),
            _ => None,
        })
    }

    fn count(&self, field: Field, losses: &mut Losses, line: u64) -> Option<u64> {
        let count = tokens(self.number(field)?);
        if count.is_none() {
            losses.add("impossible numbers of tokens: taken as unknown", line);
        }
        count
    }

    fn text(&self, field: Field) -> Option<String> {
        self.cells(field).find_map(|(cell, _)| match cell {
            Cell::Text(text) if !text.is_empty() => Some(text.clone()),
            Cell::Number(x) => Some(x.to_string()),
            _ => None,
        })
    }

    fn record(&mut self, line: u64) {
        self.row = self.row.saturating_add(1);
        let mut dropped = std::mem::take(&mut self.observed.dropped);
        let request = self.request(line, &mut dropped);
        self.observed.dropped = dropped;
        if let Some((session, request)) = request {
            self.observed.keep(session.as_deref(), request);
        }
    }

    fn request(&mut self, line: u64, dropped: &mut Losses) -> Option<(Option<String>, Request)> {
        let turn = self
            .number(Field::Turn)
            .or_else(|| self.number(Field::Messages).map(|n| ((n + 1.0) / 2.0).floor()));
        let turn = turn.filter(|t| (0.0..1e6).contains(t)).map(|t| t as u32);
        self.turns_from_0 |= turn == Some(0);
        if self.text(Field::Phase).is_some_and(|phase| phase == "warmup") {
            dropped.add("warm-up requests", line);
            return None;
        }
        let parts = |builder: &Self, field| -> Option<u64> {
            let mut sum = None;
            for (cell, _) in builder.cells(field) {
                if let Cell::Number(x) = cell
                    && let Some(tokens) = tokens(*x)
                {
                    sum = Some(sum.unwrap_or(0) + tokens);
                }
            }
            sum
        };
        let read = parts(self, Field::CachedPart);
        let prompt = self.count(Field::Prompt, dropped, line);
        let prompt = prompt.or_else(|| Some(parts(self, Field::PromptPart)? + read.unwrap_or(0)));
        let mut cached = self.count(Field::Cached, dropped, line).or(read);
        if cached.is_none() && self.cells(Field::Cached).any(|(cell, _)| *cell == Cell::Null) {
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
        let session = self.session().or_else(|| self.linked(prompt));
        let mut request = Request {
            session: None,
            turn,
            t_ready_s: self.number(Field::Ready),
            t_submit_s: self.number(Field::Submit),
            t_first_s: self.number(Field::First),
            t_end_s: self.number(Field::End),
            latency_s: self.number(Field::Latency).filter(|x| *x >= 0.0),
            prompt_tokens: prompt,
            cached_tokens: cached,
            output_tokens: self.count(Field::Output, dropped, line),
            ended,
            row: self.row,
        };
        self.times(&mut request, line, dropped);
        self.observed.clock = match request.t_submit_s {
            Some(t) if t > 9e8 => Clock::Wall,
            _ => Clock::Monotonic,
        };
        Some((session, request))
    }

    /// The session that a request's hash ids continue, or a new one.
    fn linked(&mut self, prompt: Option<u64>) -> Option<String> {
        let number = self.links.session_of(&self.hash_ids, prompt?)?;
        self.observed.sessions_by_hashes = true;
        Some(format!("prefix {number}"))
    }

    /// Fills in times that follow from others, and refuses those that cannot be.
    fn times(&self, request: &mut Request, line: u64, dropped: &mut Losses) {
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
        let after = self.number(Field::FirstAfter);
        if request.t_first_s.is_none()
            && let (Some(submit), Some(after)) = (request.t_submit_s, after)
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

    fn ended(&mut self) -> Ended {
        let cancelled = self.cells(Field::Cancelled).any(|(cell, _)| *cell == Cell::Flag(true));
        if let Some(words) = self.text(Field::Error) {
            return Ended::Failed(self.observed.names.error(&words));
        }
        let status = self.text(Field::Status);
        match status.as_deref().map_or(Some(true), Ended::told) {
            _ if cancelled => Ended::Cancelled,
            Some(true) => Ended::Served,
            None => Ended::Cancelled,
            Some(false) => {
                Ended::Failed(self.observed.names.error(status.as_deref().unwrap_or_default()))
            }
        }
    }

    fn session(&self) -> Option<String> {
        self.text(Field::Session).or_else(|| {
            let parameters = self.text(Field::Parameters)?;
            let mut events = Events::new(false);
            let mut found = None;
            events.push(parameters.as_bytes(), &mut |event| {
                if let Event::Scalar(
                    "conversation_id" | "session_params.id" | "session_id",
                    Scalar::Text(id),
                ) = event
                {
                    found = Some(id.to_owned());
                }
            });
            found
        })
    }
}
