//! OpenTelemetry traces: objects with `resourceSpans` (OTLP's own JSON, a batch an object), or with
//! the `spans` of one trace. A span that is a request to a model is a turn; what else an agent does
//! is counted, and so are a request that is the parent of another and one that was exported twice.
//!
//! Its session is the conversation that it names or its parent request does, else its trace.
//! Batches come in order of end or in none, so that all requests of a file are held, and put in
//! order of their start. Of a span only these values are held, one whole span at a time while it
//! is read.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::BufRead;

use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::objects::{Next, Objects, broken, next, said, torn};
use crate::reading::{Fault, Receiver};
use crate::row::{Fields, Inputs, Row};
use crate::rows::Rows;
use crate::session::Format;

/// One object.
#[derive(serde::Deserialize)]
struct Batch {
    #[serde(default, rename = "resourceSpans", alias = "resource_spans")]
    resources: Vec<Resource>,
    #[serde(default)]
    spans: Spans,
    #[serde(flatten)]
    names: Map<String, Value>,
}

#[derive(serde::Deserialize)]
struct Resource {
    #[serde(default, rename = "scopeSpans", alias = "scope_spans")]
    scopes: Vec<Scope>,
}

#[derive(serde::Deserialize)]
struct Scope {
    #[serde(default)]
    spans: Spans,
}

/// The requests among a list of spans, and how many others there are.
#[derive(Default)]
struct Spans {
    requests: Vec<Request>,
    others: u64,
}

struct Request {
    /// Its place in its list: 1, 2, ...
    number: u64,
    /// Its trace, where it says so.
    trace: Option<String>,
    /// Its own name, unique within its trace, if it has one.
    span: Option<String>,
    /// The span that it is a part of.
    parent: Option<String>,
    /// The conversation that it names.
    session: Option<String>,
    row: Result<Row, String>,
}

impl<'de> Deserialize<'de> for Spans {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_seq(InOrder)
    }
}

struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Spans;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of spans")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Spans, A::Error> {
        let mut spans = Spans::default();
        for number in 1.. {
            let named = |e: A::Error| de::Error::custom(format!("span {number}: {e}"));
            let Some(span) = seq.next_element::<Map<String, Value>>().map_err(named)? else {
                break;
            };
            let failed = is_error(&span);
            let fields = Fields::new(span);
            if !is_request(&fields, failed) {
                spans.others += 1;
                continue;
            }
            spans.requests.push(Request {
                number,
                trace: fields.name(&TRACE),
                span: fields.name(&["spanId", "span_id"]),
                parent: fields.name(&["parentSpanId", "parent_span_id", "parent_id"]),
                session: fields.session(),
                row: fields.row(Format::Spans),
            });
        }
        Ok(spans)
    }
}

/// The names of a trace.
const TRACE: [&str; 2] = ["traceId", "trace_id"];

/// Whether a span ended in an error, by its status.
fn is_error(span: &Map<String, Value>) -> bool {
    let code = span.get("status").and_then(|status| status.get("code"));
    code.is_some_and(|code| {
        code.as_u64() == Some(2) || code.as_str().is_some_and(|code| code.ends_with("ERROR"))
    })
}

/// A request has the operation of one or, where spans name none, token counts. An agent's own span
/// may have those of all its requests, which are spans too. One that failed and counts no tokens
/// was not answered.
fn is_request(fields: &Fields, failed: bool) -> bool {
    let counts = fields.has_input();
    match fields.name(&["gen_ai.operation.name"]).as_deref() {
        Some("chat" | "text_completion" | "generate_content") => counts || !failed,
        Some(_) => false,
        None => counts,
    }
}

/// A span by its trace and its name therein.
type Name = (Option<String>, String);

/// A request on its line.
struct Placed {
    line: u64,
    name: Option<Name>,
    parent: Option<Name>,
    /// The conversation that it names.
    session: Option<String>,
    /// What it belongs to where neither it nor its parent names one.
    trace: Option<String>,
    row: Result<Row, String>,
}

/// Reads the objects of a file, the first of which is at hand and begins on `line`.
pub(crate) fn read<R: BufRead>(
    mut objects: Objects<R>,
    mut line: u64,
    inputs: Inputs,
    receiver: &mut Receiver<'_>,
) -> Result<(), Fault> {
    let mut rows = Rows::new(receiver, inputs, Format::Spans);
    let mut placed: Vec<Placed> = Vec::new();
    let mut seen: BTreeMap<Name, usize> = BTreeMap::new();
    let cut = loop {
        let batch: Batch = match serde_json::from_slice(objects.bytes()) {
            Ok(batch) => batch,
            Err(e) if e.is_data() => return Err(rows.receiver().malformed(line, said(&e))),
            Err(e) => return Err(broken(rows.receiver(), line, &e)),
        };
        if !is_batch(&batch.names) && batch.resources.is_empty() && batch.spans.is_empty() {
            let message = "expected an object with resourceSpans or spans, as before it";
            return Err(rows.receiver().malformed(line, message));
        }
        let names = Fields::new(batch.names);
        let of_all = names.name(&TRACE);
        let session_of_all = names.session().or_else(|| of_all.clone());
        let scopes = batch.resources.into_iter().flat_map(|resource| resource.scopes);
        for spans in std::iter::once(batch.spans).chain(scopes.map(|scope| scope.spans)) {
            rows.receiver().reading.other_spans += spans.others;
            for Request { number, trace: own, span, parent, session, row } in spans.requests {
                let trace = own.clone().or_else(|| of_all.clone());
                let parent = parent.filter(|parent| span.as_ref() != Some(parent));
                let parent = parent.map(|parent| (trace.clone(), parent));
                let name = span.map(|span| (trace, span));
                let before = name.as_ref().and_then(|name| seen.get(name)).map(|at| &placed[*at]);
                let row = match (before, &name) {
                    (Some(before), _) if (&before.row, &before.session) == (&row, &session) => {
                        // Exported twice.
                        rows.receiver().reading.other_spans += 1;
                        continue;
                    }
                    (Some(_), Some((_, span))) => Err(format!("{span:?} is there twice")),
                    _ => row,
                };
                if let Some(name) = &name {
                    seen.entry(name.clone()).or_insert(placed.len());
                }
                let row = row.map_err(|message| format!("span {number}: {message}"));
                let trace = own.or_else(|| session_of_all.clone());
                placed.push(Placed { line, name, parent, session, trace, row });
            }
        }
        rows.check_size(placed.len(), line)?;
        match next(&mut objects, rows.receiver())? {
            Next::Object(next) => line = next,
            Next::Torn(line) => {
                torn(objects.bytes(), line, rows.receiver())?;
                break Some(line);
            }
            Next::End { cut } => {
                rows.receiver().reading.cut |= cut;
                break None;
            }
        }
    };
    // A framework's own span around its client's is the same request, and may name its conversation.
    let parents: BTreeSet<Name> = placed.iter().filter_map(|p| p.parent.clone()).collect();
    let is_around = |p: &Placed| p.name.as_ref().is_some_and(|name| parents.contains(name));
    let (around, mut placed): (Vec<_>, Vec<_>) = placed.into_iter().partition(is_around);
    rows.receiver().reading.other_spans += around.len() as u64;
    let around: BTreeMap<Name, Option<String>> =
        around.into_iter().filter_map(|p| Some((p.name?, p.session))).collect();
    let start_s = |placed: &Placed| placed.row.as_ref().ok().and_then(|row| row.start_s);
    let key = |placed: &Placed| start_s(placed).unwrap_or(f64::NEG_INFINITY);
    placed.sort_by(|a, b| key(a).total_cmp(&key(b)));
    for Placed { line, parent, session, trace, row, .. } in placed {
        let of_parent = || around.get(parent.as_ref()?)?.clone();
        let session = session.or_else(of_parent).or(trace);
        let row = row.map(|row| Row { session: session.clone(), ..row });
        rows.take(line, session, row)?;
    }
    if let Some(line) = cut {
        rows.cut(line);
    }
    rows.end()
}

impl Spans {
    fn is_empty(&self) -> bool {
        self.requests.is_empty() && self.others == 0
    }
}

/// Whether an object without spans is one of a trace all the same: an empty batch.
fn is_batch(names: &Map<String, Value>) -> bool {
    names.is_empty() || TRACE.iter().any(|name| names.contains_key(*name))
}
