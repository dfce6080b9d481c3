//! One request of a trace with a row per request, under the names that its fields have in
//! published traces. A field whose unit its name does not tell is not read.

use serde_json::{Map, Value};

use crate::cell::{count, number, shortened, whole};
use crate::session::Format;
use trapcheck_setup::date;

/// Tokens of a block, where a row does not say.
const MOONCAKE_BLOCK_TOKENS: u64 = 512;
const BAILIAN_BLOCK_TOKENS: u64 = 16;

const SESSION: [&str; 7] = [
    "session_id",
    "conversation_id",
    "x_correlation_id",
    "gen_ai.conversation.id",
    "session.id",
    "session",
    "sessionId",
];
const TURN: [&str; 5] = ["turn", "turn_index", "round_index", "round_idx", "turn_id"];
const INPUT: [&str; 7] = [
    "input_length",
    "prompt_tokens",
    "input_tokens",
    "prompt_len",
    "input_tokens_total",
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens",
];
const OUTPUT: [&str; 6] = [
    "output_length",
    "completion_tokens",
    "output_tokens",
    "output_len",
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
];
/// Names with what makes seconds of their values.
const START: [(&str, f64); 9] = [
    ("t_s", 1.0),
    ("start_s", 1.0),
    ("start_time", 1.0),
    ("submit_timestamp", 1.0),
    ("timestamp_ms", 1e-3),
    ("arrival_time_us", 1e-6),
    ("request_start_ns", 1e-9),
    ("start_time_unix_nano", 1e-9),
    ("startTimeUnixNano", 1e-9),
];
const END: [(&str, f64); 7] = [
    ("end_s", 1.0),
    ("end_time", 1.0),
    ("complete_timestamp", 1.0),
    ("last_chunk_time_us", 1e-6),
    ("request_end_ns", 1e-9),
    ("end_time_unix_nano", 1e-9),
    ("endTimeUnixNano", 1e-9),
];
/// Names of a start and an end that say no unit: read where the value is a date and a time of day.
const START_DATE: [&str; 5] = ["timestamp", "startTime", "started_at", "created_at", "time"];
const END_DATE: [&str; 3] = ["endTime", "ended_at", "completed_at"];
const THINK: [(&str, f64); 4] =
    [("think_s", 1.0), ("think_time", 1.0), ("delay", 1e-3), ("delay_ms", 1e-3)];
const SERVICE: [(&str, f64); 3] = [("api_s", 1.0), ("api_time", 1.0), ("latency_s", 1.0)];
/// Objects whose fields count as the row's.
const WITHIN: [&str; 4] = ["attributes", "metadata", "info", "context"];

/// What a row's input length counts, where a row is a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Inputs {
    /// The whole prompt.
    #[default]
    Whole,
    /// What is new: the prompt is the previous one, its answer, and this.
    New,
}

/// One request.
#[derive(Debug, PartialEq)]
pub(crate) struct Row {
    pub format: Format,
    /// The name of its session, where the row has one.
    pub session: Option<String>,
    /// Its own name and its parent's, `None` for the first of a session: Bailian's way.
    pub chat: Option<(String, Option<String>)>,
    /// Its place in its session, counted from 0 or from 1.
    pub turn: Option<u64>,
    pub start_s: Option<f64>,
    pub think_s: Option<f64>,
    pub service_s: Option<f64>,
    /// What is counted, its [`Inputs`] say.
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub hash_ids: Option<Vec<u64>>,
    /// Tokens of a block, where that is known.
    pub block_tokens: Option<u64>,
}

/// A row's fields by name, those within its attributes among them.
pub(crate) struct Fields(Map<String, Value>);

impl Fields {
    pub fn new(mut fields: Map<String, Value>) -> Self {
        for name in WITHIN {
            match fields.remove(name) {
                Some(Value::Object(inner)) => {
                    for (name, value) in inner {
                        fields.entry(name).or_insert(value);
                    }
                }
                // OpenTelemetry's own JSON: a list of {key, value: {intValue: ...}}.
                Some(Value::Array(inner)) => {
                    for attribute in inner {
                        let value = attribute.get("value").and_then(Value::as_object);
                        let value = value.and_then(|v| v.values().next()).cloned();
                        let name = attribute.get("key").and_then(Value::as_str);
                        if let (Some(name), Some(value)) = (name, value) {
                            fields.entry(name).or_insert(value);
                        }
                    }
                }
                _ => {}
            }
        }
        Self(fields)
    }

    /// The first of these that has a value.
    fn first<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Option<(&'n str, &Value)> {
        let known = |value: &&Value| match value {
            Value::Null => false,
            Value::String(text) => !text.is_empty(),
            _ => true,
        };
        names.into_iter().find_map(|name| Some((name, self.0.get(name).filter(known)?)))
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// A name, which may be a number.
    pub fn name(&self, names: &[&str]) -> Option<String> {
        let (_, value) = self.first(names.iter().copied())?;
        Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    }

    pub fn session(&self) -> Option<String> {
        self.name(&SESSION)
    }

    fn count(&self, names: &[&str]) -> Result<Option<u64>, String> {
        let Some((name, value)) = self.first(names.iter().copied()) else { return Ok(None) };
        let wrong = || format!("expected a whole number, 0 or more, found {}", json(value));
        let found = match value {
            Value::String(text) => count(text),
            Value::Number(n) => n.as_u64().or_else(|| whole(n.as_f64()?)).ok_or_else(wrong),
            _ => Err(wrong()),
        };
        found.map(Some).map_err(|message| format!("{name}: {message}"))
    }

    fn seconds(&self, names: &[(&str, f64)]) -> Result<Option<f64>, String> {
        let Some((name, value)) = self.first(names.iter().map(|(name, _)| *name)) else {
            return Ok(None);
        };
        let found = match value {
            Value::String(text) => number(text),
            Value::Number(n) => n.as_f64().ok_or_else(|| "expected a number".to_owned()),
            _ => Err(format!("expected a number, found {}", json(value))),
        };
        let unit = names.iter().find(|(n, _)| *n == name).map_or(1.0, |(_, unit)| *unit);
        found.map(|t| Some(t * unit)).map_err(|message| format!("{name}: {message}"))
    }

    /// A moment, seconds: under a name that says the unit of a number, or a date under any.
    fn moment_s(&self, names: &[(&str, f64)], dates: &[&str]) -> Result<Option<f64>, String> {
        let date = |name: &str| date_s(self.0.get(name)?.as_str()?);
        let named = self.first(names.iter().map(|(name, _)| *name));
        match named.map(|(name, _)| date(name)) {
            Some(Some(t_s)) => Ok(Some(t_s)),
            Some(None) => self.seconds(names),
            None => Ok(dates.iter().find_map(|name| date(name))),
        }
    }

    /// Whether it counts input tokens.
    pub(crate) fn has_input(&self) -> bool {
        self.first(INPUT).is_some()
    }

    fn hash_ids(&self) -> Result<Option<Vec<u64>>, String> {
        let Some((_, value)) = self.first(["hash_ids"]) else { return Ok(None) };
        let Value::Array(ids) = value else {
            return Err(format!("hash_ids: expected a list, found {}", json(value)));
        };
        let id = |id: &Value| {
            id.as_u64().ok_or_else(|| {
                format!("hash_ids: expected whole numbers, 0 or more, found {}", json(id))
            })
        };
        ids.iter().map(id).collect::<Result<_, _>>().map(Some)
    }

    /// Which of the formats with a row per request this is a row of.
    pub fn format(&self) -> Option<Format> {
        if self.has("chat_id") {
            Some(Format::Bailian)
        } else if self.has("input_length") {
            Some(Format::Mooncake)
        } else if self.session().is_some() && self.first(INPUT).is_some() {
            Some(Format::Requests)
        } else {
            None
        }
    }

    /// The request.
    pub fn row(&self, format: Format) -> Result<Row, String> {
        let block_tokens = self.count(&["block_size"])?;
        if block_tokens == Some(0) {
            return Err("block_size: expected at least 1 token, found 0".into());
        }
        let start_s = match format {
            Format::Mooncake => self.seconds(&[("timestamp", 1e-3)])?,
            Format::Bailian => self.seconds(&[("timestamp", 1.0)])?,
            _ => self.moment_s(&START, &START_DATE)?,
        };
        let took = |end: f64| start_s.map(|start| end - start);
        let service_s = match self.seconds(&SERVICE)? {
            Some(service) => Some(service),
            None => self.moment_s(&END, &END_DATE)?.and_then(took),
        };
        let needed = |names: &[&str]| {
            let list = || format!("expected one of {}, found none", names.join(", "));
            self.count(names)?.ok_or_else(list)
        };
        Ok(Row {
            format,
            session: self.session(),
            chat: self.chat(),
            turn: self.count(&TURN)?,
            start_s,
            think_s: self.seconds(&THINK)?,
            service_s,
            input_tokens: needed(&INPUT)?,
            output_tokens: needed(&OUTPUT)?,
            hash_ids: self.hash_ids()?,
            block_tokens: block_tokens.or(match format {
                Format::Mooncake => Some(MOONCAKE_BLOCK_TOKENS),
                Format::Bailian => Some(BAILIAN_BLOCK_TOKENS),
                _ => None,
            }),
        })
    }

    fn chat(&self) -> Option<(String, Option<String>)> {
        let parent = self.name(&["parent_chat_id"]).filter(|parent| parent != "-1");
        Some((self.name(&["chat_id"])?, parent))
    }
}

/// Seconds since 1970 of a date and a time of day (ISO 8601); without a zone it is UTC's.
fn date_s(text: &str) -> Option<f64> {
    date::unix_s(text, 0)?.to_string().parse().ok()
}

fn json(value: &Value) -> String {
    shortened(&value.to_string())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn fields(text: &str) -> Fields {
        Fields::new(serde_json::from_str(text).unwrap())
    }

    #[test]
    fn times_come_in_the_unit_that_the_format_or_the_name_says() {
        let row = |text: &str| {
            let fields = fields(text);
            fields.row(fields.format().unwrap()).unwrap()
        };
        let mooncake = row(r#"{"timestamp":2500,"input_length":9,"output_length":1}"#);
        assert_eq!((mooncake.start_s, mooncake.block_tokens), (Some(2.5), Some(512)));
        let bailian = row(
            r#"{"chat_id":7,"parent_chat_id":-1,"timestamp":2.5,"input_length":9,"output_length":1}"#,
        );
        assert_eq!((bailian.start_s, bailian.block_tokens), (Some(2.5), Some(16)));
        assert_eq!(bailian.chat, Some(("7".to_owned(), None)));
        let span = row(r#"{"startTimeUnixNano":"2000000000","endTimeUnixNano":"5000000000",
            "attributes":[{"key":"gen_ai.conversation.id","value":{"stringValue":"c"}},
                {"key":"gen_ai.usage.input_tokens","value":{"intValue":"12"}},
                {"key":"gen_ai.usage.output_tokens","value":{"intValue":"3"}}]}"#);
        assert_eq!((span.start_s, span.service_s), (Some(2.0), Some(3.0)));
        assert_eq!((span.session.as_deref(), span.input_tokens), (Some("c"), 12));
        assert_eq!((span.format, span.block_tokens), (Format::Requests, None));
    }

    #[test]
    fn a_value_that_is_no_number_is_named_by_its_field() {
        for (change, said) in [
            (
                r#""input_length":-5"#,
                "input_length: expected a whole number, 0 or more, found \"-5\"",
            ),
            (r#""input_length":"a""#, "input_length: expected a whole number"),
            (
                r#""hash_ids":["a"]"#,
                "hash_ids: expected whole numbers, 0 or more, found \"\\\"a\\\"\"",
            ),
            (r#""hash_ids":3"#, "hash_ids: expected a list"),
            (r#""block_size":0"#, "block_size: expected at least 1 token, found 0"),
            (r#""timestamp":"soon""#, "timestamp: expected a finite number, found \"soon\""),
        ] {
            let text =
                format!(r#"{{"session_id":"s","output_length":1,"input_length":9,{change}}}"#);
            let message = fields(&text).row(Format::Mooncake).unwrap_err();
            assert!(message.starts_with(said), "{message}");
        }
    }
}
