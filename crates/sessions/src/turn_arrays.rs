//! Sessions as one JSON object each, with an array per kind of length: `num_turns`,
//! `input_prompt_length`, and for each turn `assistant_response_length`,
//! `tool_call_output_length` (tokens) and `tool_call_latency` (seconds).
//!
//! A prompt is the previous prompt, its answer and the tool's output, so that the previous
//! prompt is what can be used again.

use serde::de::Error as _;
use serde_json::Value;

use crate::limits;
use crate::session::{Format, Gap, Session, Turn};

#[derive(serde::Deserialize)]
struct File {
    #[serde(default, alias = "session_id", alias = "conversation_id")]
    id: Option<Value>,
    num_turns: u64,
    input_prompt_length: u64,
    assistant_response_length: Vec<u64>,
    #[serde(default)]
    tool_call_output_length: Vec<u64>,
    #[serde(default)]
    tool_call_latency: Vec<f64>,
}

/// The session of an object.
pub(crate) fn session(text: &[u8], unnamed: &str) -> serde_json::Result<Session> {
    let file: File = serde_json::from_slice(text)?;
    let turns = usize::try_from(file.num_turns).unwrap_or(usize::MAX);
    let calls = turns.saturating_sub(1);
    for (name, found, least) in [
        ("assistant_response_length", file.assistant_response_length.len(), turns),
        ("tool_call_output_length", file.tool_call_output_length.len(), calls),
        ("tool_call_latency", file.tool_call_latency.len(), calls),
    ] {
        if found != least && found != turns {
            let message = format!("{name}: expected {least} values (num_turns), found {found}");
            return Err(serde_json::Error::custom(message));
        }
    }
    let name = |id: &Value| id.as_str().map_or_else(|| id.to_string(), str::to_owned);
    Ok(Session {
        id: file.id.as_ref().map_or_else(|| unnamed.to_owned(), name),
        parent: None,
        format: Format::TurnArrays,
        shared_tokens: None,
        turns: file.turns(),
    })
}

impl File {
    fn turns(&self) -> Vec<Turn> {
        let mut turns: Vec<Turn> = Vec::new();
        // One more than may be, so that the check sees it.
        for (k, output) in self.assistant_response_length.iter().take(limits::TURNS + 1).enumerate()
        {
            let call = k.checked_sub(1);
            let latency = call.and_then(|k| self.tool_call_latency.get(k).copied());
            let added = call.and_then(|k| self.tool_call_output_length.get(k).copied());
            let previous = turns.last().map(|t| (t.prompt_tokens, t.output_tokens));
            let prompt_tokens = match previous {
                None => self.input_prompt_length,
                Some((prompt, output)) => {
                    prompt.saturating_add(output).saturating_add(added.unwrap_or(0))
                }
            };
            turns.push(Turn {
                gap: if previous.is_none() { Gap::FIRST } else { Gap::of(latency, None, None) },
                prompt_tokens,
                output_tokens: *output,
                reusable_tokens: Some(previous.map_or(0, |(prompt, _)| prompt)),
                start_s: None,
                service_s: None,
            });
        }
        turns
    }
}
