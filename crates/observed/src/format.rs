//! The formats that are read.

/// A format that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// vLLM's engine log.
    VllmLog,
    /// SGLang's server log.
    SglangLog,
    /// The text of a /metrics endpoint: one scrape, or several.
    Prometheus,
    /// A table with a header: gauges over time, or requests.
    Csv,
    /// GuideLLM's report in JSON.
    GuideLlm,
    /// AIPerf's `profile_export.jsonl`.
    AiPerf,
    /// inference-perf's `per_request_lifecycle_metrics.json`.
    InferencePerf,
    /// SGLang's `--export-metrics-to-file`.
    SglangRequests,
    /// vLLM's multi-turn benchmark, `--stats-json-output`.
    VllmMultiTurn,
    /// One JSON object per request with a `usage` block.
    Usage,
    /// `vllm bench serve --save-result`, detailed or not.
    VllmBench,
    /// SGLang's `bench_serving --output-file`.
    SglangBench,
    /// SGLang's `bench_multiturn`.
    SglangMultiTurn,
    /// AIPerf's `server_metrics_export.json`.
    ServerMetrics,
    /// `AgentX`' aggregate of a run, and AIPerf's `profile_export_aiperf.json`.
    AgentX,
    /// `meta.json` of a run directory.
    RunMeta,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 16] = [
        Self::VllmLog,
        Self::SglangLog,
        Self::Prometheus,
        Self::Csv,
        Self::GuideLlm,
        Self::AiPerf,
        Self::InferencePerf,
        Self::SglangRequests,
        Self::VllmMultiTurn,
        Self::Usage,
        Self::VllmBench,
        Self::SglangBench,
        Self::SglangMultiTurn,
        Self::ServerMetrics,
        Self::AgentX,
        Self::RunMeta,
    ];

    /// Its word on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::VllmLog => "vllm-log",
            Self::SglangLog => "sglang-log",
            Self::Prometheus => "prometheus",
            Self::Csv => "csv",
            Self::GuideLlm => "guidellm",
            Self::AiPerf => "aiperf",
            Self::InferencePerf => "inference-perf",
            Self::SglangRequests => "sglang-requests",
            Self::VllmMultiTurn => "vllm-multi-turn",
            Self::Usage => "usage",
            Self::VllmBench => "vllm-bench",
            Self::SglangBench => "sglang-bench",
            Self::SglangMultiTurn => "sglang-multi-turn",
            Self::ServerMetrics => "server-metrics",
            Self::AgentX => "agentx",
            Self::RunMeta => "run-meta",
        }
    }

    /// What it is, for people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::VllmLog => "vLLM engine log",
            Self::SglangLog => "SGLang server log",
            Self::Prometheus => "Prometheus metrics",
            Self::Csv => "csv table",
            Self::GuideLlm => "GuideLLM report",
            Self::AiPerf => "AIPerf per-request export",
            Self::InferencePerf => "inference-perf per-request metrics",
            Self::SglangRequests => "SGLang per-request export",
            Self::VllmMultiTurn => "vLLM multi-turn benchmark",
            Self::Usage => "requests with usage blocks",
            Self::VllmBench => "vllm bench serve result",
            Self::SglangBench => "SGLang bench_serving result",
            Self::SglangMultiTurn => "SGLang bench_multiturn result",
            Self::ServerMetrics => "AIPerf server metrics",
            Self::AgentX => "AgentX aggregate",
            Self::RunMeta => "meta.json of a run directory",
        }
    }
}
