//! How vLLM and SGLang are asked for tokens, and what their streams of events say.

use std::fmt::Write as _;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::fault::Fault;

/// Whose interface an engine speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// vLLM: OpenAI-style completions with token ids.
    Vllm,
    /// SGLang: its native `/generate`.
    Sglang,
}

impl Dialect {
    /// Of a cell's engine.
    pub fn of(engine: &str) -> Option<Self> {
        match engine {
            "vllm" => Some(Self::Vllm),
            "sglang" => Some(Self::Sglang),
            _ => None,
        }
    }

    /// The word used in files and on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Vllm => "vllm",
            Self::Sglang => "sglang",
        }
    }

    /// How its metrics begin.
    pub(crate) const fn prefix(self) -> &'static str {
        match self {
            Self::Vllm => "vllm:",
            Self::Sglang => "sglang:",
        }
    }

    pub(crate) const fn generate_path(self) -> &'static str {
        match self {
            Self::Vllm => "/v1/completions",
            Self::Sglang => "/generate",
        }
    }

    pub(crate) const fn flush_path(self) -> &'static str {
        match self {
            Self::Vllm => "/reset_prefix_cache",
            Self::Sglang => "/flush_cache",
        }
    }

    /// What makes the engine report cached tokens.
    pub(crate) const fn report_flag(self) -> &'static str {
        match self {
            Self::Vllm => "start the engine with --enable-prompt-tokens-details",
            Self::Sglang => {
                "start the engine with --enable-cache-report, or use a version whose /generate has cached_tokens in meta_info"
            }
        }
    }

    /// What makes the engine take a flush.
    pub(crate) const fn flush_flag(self) -> &'static str {
        match self {
            Self::Vllm => "start the engine with VLLM_SERVER_DEV_MODE=1 in its environment",
            Self::Sglang => "its version has no /flush_cache",
        }
    }

    /// The JSON that asks for exactly `decode` tokens after `prompt`, greedily, as a stream.
    /// Written by hand: a prompt is tens of thousands of numbers.
    pub(crate) fn body(self, model: &str, prompt: &[u32], decode: u64) -> Vec<u8> {
        let mut ids = String::with_capacity(6 * prompt.len() + 300);
        let (before, after) = match self {
            Self::Vllm => (
                format!("{{\"model\":{},\"prompt\":[", serde_json::Value::from(model)),
                format!(
                    "],\"max_tokens\":{decode},\"temperature\":0,\"ignore_eos\":true,\"stream\":true,\
                     \"stream_options\":{{\"include_usage\":true}},\"return_token_ids\":true}}"
                ),
            ),
            Self::Sglang => (
                "{\"input_ids\":[".to_owned(),
                format!(
                    "],\"sampling_params\":{{\"max_new_tokens\":{decode},\"temperature\":0,\
                     \"ignore_eos\":true}},\"stream\":true}}"
                ),
            ),
        };
        ids.push_str(&before);
        for (i, id) in prompt.iter().enumerate() {
            // Writing to a String cannot fail.
            let _ = if i == 0 { write!(ids, "{id}") } else { write!(ids, ",{id}") };
        }
        ids.push_str(&after);
        ids.into_bytes()
    }
}

/// What a stream has said so far.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// All ids that came, one event after another.
    joined: Vec<u32>,
    /// The ids of the last event that had some: SGLang repeats those before.
    last: Vec<u32>,
    usage: Option<Usage>,
    is_done: bool,
}

/// An engine's count of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) struct Usage {
    prompt_tokens: u64,
    completion_tokens: Option<u64>,
    #[serde(default)]
    prompt_tokens_details: Option<Details>,
    /// SGLang's own.
    #[serde(default)]
    cached_tokens: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
struct Details {
    #[serde(default)]
    cached_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct VllmEvent {
    #[serde(default)]
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Option<Usage>,
    #[serde(default)]
    error: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    token_ids: Option<Vec<u32>>,
}

#[derive(Deserialize)]
struct SglangEvent {
    #[serde(default)]
    output_ids: Option<Vec<u32>>,
    #[serde(default)]
    meta_info: Option<MetaInfo>,
    #[serde(default)]
    error: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct MetaInfo {
    #[serde(flatten)]
    usage: Usage,
    #[serde(default)]
    finish_reason: Option<Finish>,
}

#[derive(Deserialize)]
struct Finish {
    #[serde(rename = "type")]
    kind: String,
}

/// A whole answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) output: Vec<u32>,
    /// `None` where the engine does not say.
    pub(crate) cached_tokens: Option<u64>,
}

impl Heard {
    /// Takes in one line of the stream; says whether it brought a token.
    pub(crate) fn line(&mut self, dialect: Dialect, line: &[u8]) -> Result<bool, Fault> {
        let Some(data) = line.strip_prefix(b"data:") else {
            // Comments and other fields of the event stream; anything else is none.
            let is_field = line.is_empty() || line.starts_with(b":") || line.starts_with(b"event:");
            return if is_field { Ok(false) } else { Err(Fault::Malformed) };
        };
        let data = data.trim_ascii();
        if data == b"[DONE]" {
            self.is_done = true;
            return Ok(false);
        }
        match dialect {
            Dialect::Vllm => self.vllm(data),
            Dialect::Sglang => self.sglang(data),
        }
    }

    fn vllm(&mut self, data: &[u8]) -> Result<bool, Fault> {
        let event: VllmEvent = serde_json::from_slice(data).map_err(|_| Fault::Malformed)?;
        if event.error.is_some() {
            return Err(Fault::Engine);
        }
        self.usage = event.usage.or(self.usage);
        let before = self.joined.len();
        self.joined.extend(event.choices.into_iter().filter_map(|c| c.token_ids).flatten());
        Ok(self.joined.len() > before)
    }

    fn sglang(&mut self, data: &[u8]) -> Result<bool, Fault> {
        let event: SglangEvent = serde_json::from_slice(data).map_err(|_| Fault::Malformed)?;
        let finish = event.meta_info.as_ref().and_then(|meta| meta.finish_reason.as_ref());
        if event.error.is_some() || finish.is_some_and(|finish| finish.kind == "abort") {
            return Err(Fault::Engine);
        }
        self.usage = event.meta_info.map(|meta| meta.usage).or(self.usage);
        let ids = event.output_ids.unwrap_or_default();
        let brought = !ids.is_empty();
        if brought {
            self.joined.extend_from_slice(&ids);
            self.last = ids;
        }
        Ok(brought)
    }

    /// How many ids are kept: what an engine that never ends would let grow.
    pub(crate) fn ids(&self) -> usize {
        self.joined.len()
    }

    /// The whole answer to a prompt of `prompt` tokens that asked for `decode`.
    pub(crate) fn said(self, prompt: u64, decode: u64) -> Result<Said, Fault> {
        if !self.is_done {
            return Err(Fault::EndedEarly);
        }
        let usage = self.usage.ok_or(Fault::NoUsage)?;
        if usage.prompt_tokens != prompt {
            return Err(Fault::Usage("another number of prompt tokens than was sent"));
        }
        let cached_tokens =
            usage.prompt_tokens_details.and_then(|d| d.cached_tokens).or(usage.cached_tokens);
        if cached_tokens.is_some_and(|cached| cached > prompt) {
            return Err(Fault::Usage("more cached than prompt tokens"));
        }
        if self.joined.is_empty() {
            return Err(Fault::NoTokenIds);
        }
        let [last, joined] = [&self.last, &self.joined].map(|ids| ids.len() as u64);
        let counted = usage.completion_tokens;
        // An event with as many ids as are counted has repeated those before it.
        if last > 0 && last != decode && counted == Some(last) {
            return Err(Fault::Tokens { got: last, asked: decode });
        }
        let is_whole = |ids: &Vec<u32>| ids.len() as u64 == decode;
        let output = [self.last, self.joined].into_iter().find(is_whole);
        let output = output.ok_or(Fault::Tokens { got: joined, asked: decode })?;
        if counted.is_some_and(|count| count != decode) {
            return Err(Fault::Usage("another number of output tokens than came"));
        }
        Ok(Said { output, cached_tokens })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hear(dialect: Dialect, lines: &[&str]) -> Result<Said, Fault> {
        let mut heard = Heard::default();
        for line in lines {
            heard.line(dialect, line.as_bytes())?;
        }
        heard.said(100, 2)
    }

    const IDS: &str = r#"data: {"choices":[{"text":"a","token_ids":[5]}],"usage":null}"#;
    const USAGE: &str = r#"data: {"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":64}}}"#;
    const DONE: &str = "data: [DONE]";

    #[test]
    fn a_stream_of_vllm_is_ids_usage_and_done() {
        let said = hear(Dialect::Vllm, &[IDS, "", IDS, USAGE, DONE]).unwrap();
        assert_eq!(said, Said { output: vec![5, 5], cached_tokens: Some(64) });
    }

    #[test]
    fn cached_tokens_that_are_not_said_are_unknown() {
        let usage = r#"data: {"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":2,"prompt_tokens_details":null}}"#;
        assert_eq!(hear(Dialect::Vllm, &[IDS, IDS, usage, DONE]).unwrap().cached_tokens, None);
    }

    #[test]
    fn each_lie_of_a_stream_has_its_name() {
        let vllm = |lines: &[&str]| hear(Dialect::Vllm, lines).unwrap_err();
        let usage = |text: &str| format!("data: {{\"choices\":[],\"usage\":{text}}}");
        assert_eq!(vllm(&[IDS, IDS, USAGE]), Fault::EndedEarly);
        assert_eq!(vllm(&[IDS, IDS, DONE]), Fault::NoUsage);
        assert_eq!(vllm(&[USAGE, DONE]), Fault::NoTokenIds);
        assert_eq!(vllm(&[IDS, USAGE, DONE]), Fault::Tokens { got: 1, asked: 2 });
        assert_eq!(vllm(&["data: {"]), Fault::Malformed);
        assert_eq!(vllm(&["<html>"]), Fault::Malformed);
        assert_eq!(vllm(&[r#"data: {"error":{"message":"no"}}"#]), Fault::Engine);
        let more = usage(
            r#"{"prompt_tokens":100,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":101}}"#,
        );
        assert!(
            matches!(vllm(&[IDS, IDS, &more, DONE]), Fault::Usage(why) if why.contains("cached"))
        );
        let other = usage(r#"{"prompt_tokens":99,"completion_tokens":2}"#);
        assert!(
            matches!(vllm(&[IDS, IDS, &other, DONE]), Fault::Usage(why) if why.contains("prompt"))
        );
        let output = usage(r#"{"prompt_tokens":100,"completion_tokens":3}"#);
        assert!(
            matches!(vllm(&[IDS, IDS, &output, DONE]), Fault::Usage(why) if why.contains("output"))
        );
        let negative = usage(r#"{"prompt_tokens":-1,"completion_tokens":2}"#);
        assert_eq!(vllm(&[&negative]), Fault::Malformed);
    }

    #[test]
    fn sglang_repeats_its_ids_or_sends_each_once() {
        let event = |ids: &str| {
            format!(
                "data: {{\"text\":\"x\",\"output_ids\":{ids},\"meta_info\":{{\"id\":\"r\",\"finish_reason\":null,\"prompt_tokens\":100,\"completion_tokens\":2,\"cached_tokens\":96}}}}"
            )
        };
        for (first, second) in [("[7]", "[7,8]"), ("[7]", "[8]")] {
            let said = hear(Dialect::Sglang, &[&event(first), &event(second), DONE]).unwrap();
            assert_eq!(said, Said { output: vec![7, 8], cached_tokens: Some(96) });
        }
        // It ended early: what the first event had is in the second, and no third token.
        let event = |ids: &str, count: u32| {
            format!(
                "data: {{\"output_ids\":{ids},\"meta_info\":{{\"prompt_tokens\":100,\"completion_tokens\":{count},\"cached_tokens\":0}}}}"
            )
        };
        let mut heard = Heard::default();
        for line in [&event("[7]", 1), &event("[7,8]", 2), DONE] {
            heard.line(Dialect::Sglang, line.as_bytes()).unwrap();
        }
        assert_eq!(heard.said(100, 3), Err(Fault::Tokens { got: 2, asked: 3 }));
        let aborted = r#"data: {"text":"","meta_info":{"finish_reason":{"type":"abort","message":"m"},"prompt_tokens":100,"completion_tokens":0,"cached_tokens":0}}"#;
        assert_eq!(hear(Dialect::Sglang, &[aborted]), Err(Fault::Engine));
    }

    #[test]
    fn a_body_is_json_with_every_id() {
        for dialect in [Dialect::Vllm, Dialect::Sglang] {
            let body: serde_json::Value =
                serde_json::from_slice(&dialect.body("a \"b\"", &[1, 22, 333], 10)).unwrap();
            let ids = if dialect == Dialect::Vllm { &body["prompt"] } else { &body["input_ids"] };
            assert_eq!(*ids, serde_json::json!([1, 22, 333]));
            assert_eq!(body["stream"], true);
        }
    }
}
