//! OpenTelemetry traces: objects with `resourceSpans` (OTLP's own JSON, a batch an object), or with
//! the `spans` of one trace. A span that is a request to a model is a turn; what else an agent does
//! is counted.
//!
//! Its session is the conversation that it names, else its trace. Batches come in order of end or in
//! none, so that all requests of a file are held, and put in order of their start. Of a span only
//! these values are held, one whole span at a time while it is read.

use std::collections::BTreeSet;
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
    /// Its own name, if it has one.
    span: Option<String>,
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
                span: fields.name(&["spanId", "span_id"]),
                session: fields.session().or_else(|| fields.name(&TRACE)),
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

/// A request on its line.
struct Placed {
    line: u64,
    session: Option<String>,
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
    let mut seen = BTreeSet::new();
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
        let trace = Fields::new(batch.names);
        let trace = trace.session().or_else(|| trace.name(&TRACE));
        let scopes = batch.resources.into_iter().flat_map(|resource| resource.scopes);
        for spans in std::iter::once(batch.spans).chain(scopes.map(|scope| scope.spans)) {
            rows.receiver().reading.other_spans += spans.others;
            for Request { number, span, session, row } in spans.requests {
                let doubled = span.filter(|span| !seen.insert(span.clone()));
                let row = match doubled {
                    Some(span) => Err(format!("{span:?} is there twice")),
                    None => row,
                };
                let session = session.or_else(|| trace.clone());
                let row = row.map_err(|message| format!("span {number}: {message}"));
                let row = row.map(|row| Row { session: session.clone(), ..row });
                placed.push(Placed { line, session, row });
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
    let start_s = |placed: &Placed| placed.row.as_ref().ok().and_then(|row| row.start_s);
    let key = |placed: &Placed| start_s(placed).unwrap_or(f64::NEG_INFINITY);
    placed.sort_by(|a, b| key(a).total_cmp(&key(b)));
    for Placed { line, session, row } in placed {
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
