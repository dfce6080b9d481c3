//! The shapes of JSON that hold requests, as data: where a record lies, and which key of it
//! means what. And by which keys every JSON format is recognised.

use std::collections::BTreeSet;

use super::Format;

/// What a key means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// The session; of several keys the first one of the shape that is there.
    Session,
    /// Number within the session.
    Turn,
    /// Messages so far: two per turn, less one.
    Messages,
    Ready,
    Submit,
    First,
    End,
    /// From sending to the last token.
    Latency,
    /// From sending to the first token.
    FirstAfter,
    /// The whole prompt.
    Prompt,
    /// What of a prompt was computed or written, beside what was read.
    PromptPart,
    /// Read from the cache and part of the prompt.
    Cached,
    /// Read from the cache beside the other parts of the prompt.
    CachedPart,
    Output,
    /// Any text in it: the request failed.
    Error,
    Status,
    Phase,
    Cancelled,
    /// JSON within a text that may name the session.
    Parameters,
    /// A list: what tells the blocks of the prompt apart.
    HashIds,
}

impl Field {
    /// How many there are.
    pub const COUNT: usize = Self::HashIds as usize + 1;
}

/// A shape.
pub struct Shape {
    pub format: Format,
    /// Paths of a record.
    pub records: &'static [&'static str],
    /// Keys of a record, from its path on, what they mean, and what their numbers are
    /// multiplied with to be seconds or tokens.
    pub fields: &'static [(&'static str, Field, f64)],
}

use Field::{
    Cached, CachedPart, Cancelled, End, Error, First, FirstAfter, HashIds, Latency, Messages,
    Output, Parameters, Phase, Prompt, PromptPart, Ready, Session, Status, Submit, Turn,
};

const GUIDELLM: Shape = Shape {
    format: Format::GuideLlm,
    records: &[
        "benchmarks[].requests.successful[]",
        "benchmarks[].requests.incomplete[]",
        "benchmarks[].requests.errored[]",
    ],
    fields: &[
        ("info.conversation_id", Session, 1.0),
        ("info.turn_index", Turn, 1.0),
        ("info.status", Status, 1.0),
        ("info.error", Error, 1.0),
        ("info.timings.queued", Ready, 1.0),
        ("info.timings.request_start", Submit, 1.0),
        ("info.timings.first_token_iteration", First, 1.0),
        ("info.timings.request_end", End, 1.0),
        ("prompt_tokens", Prompt, 1.0),
        ("cached_tokens", Cached, 1.0),
        ("input_metrics.cached_tokens", Cached, 1.0),
        ("output_tokens", Output, 1.0),
    ],
};

const AIPERF: Shape = Shape {
    format: Format::AiPerf,
    records: &[""],
    fields: &[
        ("metadata.x_correlation_id", Session, 1.0),
        ("metadata.turn_index", Turn, 1.0),
        ("metadata.request_start_ns", Submit, 1e-9),
        ("metadata.request_end_ns", End, 1e-9),
        ("metadata.benchmark_phase", Phase, 1.0),
        ("metadata.was_cancelled", Cancelled, 1.0),
        ("metrics.time_to_first_token.value", FirstAfter, 1e-3),
        ("metrics.usage_prompt_tokens.value", Prompt, 1.0),
        ("metrics.input_sequence_length.value", Prompt, 1.0),
        ("metrics.usage_prompt_cache_read_tokens.value", Cached, 1.0),
        ("metrics.output_sequence_length.value", Output, 1.0),
        ("error.message", Error, 1.0),
        ("error.type", Error, 1.0),
    ],
};

const INFERENCE_PERF: Shape = Shape {
    format: Format::InferencePerf,
    records: &["[]"],
    fields: &[
        ("session_id", Session, 1.0),
        ("scheduled_time", Ready, 1.0),
        ("start_time", Submit, 1.0),
        ("end_time", End, 1.0),
        ("info.response_metrics.output_token_times[]", First, 1.0),
        ("info.response_metrics.server_usage.prompt_tokens", Prompt, 1.0),
        ("info.request_metrics.text.input_tokens", Prompt, 1.0),
        ("info.input_tokens", Prompt, 1.0),
        ("info.response_metrics.server_usage.prompt_tokens_details.cached_tokens", Cached, 1.0),
        ("info.response_metrics.output_tokens", Output, 1.0),
        ("error.error_msg", Error, 1.0),
        ("error.error_type", Error, 1.0),
    ],
};

const SGLANG: Shape = Shape {
    format: Format::SglangRequests,
    records: &[""],
    fields: &[
        ("request_parameters", Parameters, 1.0),
        ("prompt_tokens", Prompt, 1.0),
        ("cached_tokens", Cached, 1.0),
        ("completion_tokens", Output, 1.0),
        ("request_received_ts", Submit, 1.0),
        ("request_finished_ts", End, 1.0),
        ("response_sent_to_client_ts", End, 1.0),
        ("e2e_latency", Latency, 1.0),
        ("ttft_latency", FirstAfter, 1.0),
    ],
};

const MULTI_TURN: Shape = Shape {
    format: Format::VllmMultiTurn,
    records: &["[]"],
    fields: &[
        ("conversation_id", Session, 1.0),
        ("input_num_turns", Messages, 1.0),
        ("start_time_ms", Submit, 1e-3),
        ("latency_ms", Latency, 1e-3),
        ("ttft_ms", FirstAfter, 1e-3),
        ("input_num_tokens", Prompt, 1.0),
        ("output_num_tokens", Output, 1.0),
    ],
};

const USAGE: Shape = Shape {
    format: Format::Usage,
    records: &["", "[]"],
    fields: &[
        ("session_id", Session, 1.0),
        ("conversation_id", Session, 1.0),
        ("session", Session, 1.0),
        ("hash_ids[]", HashIds, 1.0),
        ("turn", Turn, 1.0),
        ("turn_index", Turn, 1.0),
        ("round_idx", Turn, 1.0),
        ("submit_timestamp", Submit, 1.0),
        ("start_time", Submit, 1.0),
        ("timestamp", Submit, 1.0),
        ("created", Submit, 1.0),
        ("complete_timestamp", End, 1.0),
        ("end_time", End, 1.0),
        ("latency_s", Latency, 1.0),
        ("ttft_s", FirstAfter, 1.0),
        ("first_token_ms", FirstAfter, 1e-3),
        ("usage.prompt_tokens", Prompt, 1.0),
        ("usage.completion_tokens", Output, 1.0),
        ("usage.prompt_tokens_details.cached_tokens", Cached, 1.0),
        ("usage.prompt_tokens_details", Cached, 1.0),
        ("usage.input_tokens", PromptPart, 1.0),
        ("usage.cache_creation_input_tokens", PromptPart, 1.0),
        ("usage.cache_read_input_tokens", CachedPart, 1.0),
        ("usage.output_tokens", Output, 1.0),
        ("usage.prompt_cache_hit_tokens", CachedPart, 1.0),
        ("usage.prompt_cache_miss_tokens", PromptPart, 1.0),
        ("timings.cache_n", CachedPart, 1.0),
        ("timings.prompt_n", PromptPart, 1.0),
        ("timings.predicted_n", Output, 1.0),
        ("server_prompt_tokens", Prompt, 1.0),
        ("server_cached_prompt_tokens", Cached, 1.0),
        ("prompt_tokens", Prompt, 1.0),
        ("cached_tokens", Cached, 1.0),
        ("completion_tokens", Output, 1.0),
        ("error", Error, 1.0),
        ("error.message", Error, 1.0),
        ("status", Status, 1.0),
    ],
};

const SHAPES: [&Shape; 6] = [&GUIDELLM, &AIPERF, &INFERENCE_PERF, &SGLANG, &MULTI_TURN, &USAGE];

/// The shape of a format that has one.
pub fn of(format: Format) -> &'static Shape {
    SHAPES.into_iter().find(|shape| shape.format == format).unwrap_or(&USAGE)
}

/// The format that these paths show.
pub fn recognised(paths: &BTreeSet<String>) -> Option<Format> {
    let has = |path: &str| paths.contains(path);
    let begins = |prefix: &str| paths.iter().any(|path| path.starts_with(prefix));
    let all = |wanted: &[&str]| wanted.iter().all(|path| has(path));
    let known = [
        (all(&["run_id", "pool_tokens", "prefix_caching", "arm"]), Format::RunMeta),
        (begins("benchmarks[].") || has("metadata.guidellm_version"), Format::GuideLlm),
        (begins("metadata.request_start_ns") || all(&["metadata.benchmark_phase"]), Format::AiPerf),
        (begins("metrics.vllm:") || begins("metrics.sglang:"), Format::ServerMetrics),
        (
            begins("server_metrics.cache.")
                || has("theoretical_prefix_cache_hit")
                || begins("theoretical_prefix_cache_hit.")
                || (has("concurrency") || has("conc")) && has("tput_per_gpu"),
            Format::AgentX,
        ),
        (all(&["[].start_time", "[].end_time"]) && begins("[].info."), Format::InferencePerf),
        (has("[].approx_cached_percent") || has("[].input_num_turns"), Format::VllmMultiTurn),
        (has("request_parameters") && has("prompt_tokens"), Format::SglangRequests),
        (begins("summary.") && begins("round."), Format::SglangMultiTurn),
        (all(&["summary.total_requests", "summary.request_rate"]), Format::SglangMultiTurn),
        (all(&["dataset_name", "duration", "completed"]), Format::SglangBench),
        (all(&["model_id", "num_prompts", "duration"]), Format::VllmBench),
        (all(&["duration", "completed", "input_lens"]), Format::VllmBench),
    ];
    let usage = |prefix: &str| {
        [
            "usage.prompt_tokens",
            "usage.input_tokens",
            "usage.prompt_cache_hit_tokens",
            "timings.cache_n",
            "prompt_tokens",
            "server_prompt_tokens",
        ]
        .iter()
        .any(|path| has(&format!("{prefix}{path}")))
    };
    known
        .into_iter()
        .find(|(is, _)| *is)
        .map(|(_, format)| format)
        .or_else(|| (usage("") || usage("[].")).then_some(Format::Usage))
}

/// What sort of recorded sessions these paths show: what agents did, and no engine's doing.
pub fn recorded(paths: &BTreeSet<String>) -> Option<&'static str> {
    let has = |name: &str| ["", "[]."].iter().any(|at| paths.contains(&format!("{at}{name}")));
    let any = |names: &[&str]| names.iter().any(|name| has(name));
    let known = [
        (has("chat_id") && has("input_length"), "rows with chat_id, as Bailian's"),
        (
            has("input_length") && any(&["output_length", "hash_ids[]"]),
            "rows with input_length, as Mooncake's",
        ),
        (has("num_turns") && has("input_prompt_length"), "objects with num_turns"),
        (
            any(&["requests[].in", "requests[].out", "requests[].hash_ids[]", "requests[].t"]),
            "objects with requests, as Weka's",
        ),
    ];
    known.into_iter().find(|(is, _)| *is).map(|(_, what)| what)
}
