//! `meta.json`: who, what and when of a run.

pub(crate) mod mapped;

use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize};

use super::problem::Problem;
use super::{SessionStatus, TurnStatus};
use crate::escape::shortened;
use crate::limits;
use crate::parse_message::in_words;
use crate::setup::Arm;

/// The format this code reads and writes.
pub const FORMAT: u64 = 1;

/// `meta.json` of a run. Keys it does not know are ignored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Meta {
    /// Format number of the directory, 1.
    pub format: u64,
    /// Name of the run within its campaign, for people.
    pub run_id: String,
    /// Where the data come from.
    pub source: Source,
    /// A cell in `configs/cells`.
    pub cell: String,
    /// The engine that served the run.
    pub engine: Engine,
    /// The model it served.
    #[serde(default)]
    pub model: Option<String>,
    /// The GPU it ran on.
    #[serde(default)]
    pub gpu: Option<Gpu>,
    /// M, the KV pool in tokens, as the engine reports it.
    pub pool_tokens: u64,
    /// Whether the prefix cache was on.
    pub prefix_caching: bool,
    /// What was done to its arrivals and at the gate.
    pub arm: Arm,
    /// Seed of the arrival plan.
    pub seed: u64,
    /// Offered load; all empty, or null as a whole, in closed runs.
    #[serde(deserialize_with = "null_is_unknown")]
    pub rate: Rate,
    /// Sessions kept in the system, in closed runs.
    #[serde(default)]
    pub population: Option<u64>,
    /// How long the run lasted, s.
    pub duration_s: f64,
    /// How long it was asked to last, s.
    pub horizon_s: f64,
    /// How it ended.
    pub status: RunStatus,
    /// Wall clock at run time 0, Unix seconds; unknown where it is null.
    #[serde(default)]
    pub start_unix: Option<f64>,
    /// Wall clock at the end, Unix seconds.
    #[serde(default)]
    pub end_unix: Option<f64>,
    /// Machine that ran it.
    #[serde(default)]
    pub host: Option<String>,
    /// Scheduler job.
    #[serde(default)]
    pub job_id: Option<serde_json::Value>,
    /// Which engine of a fleet; one directory describes one engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replica: Option<serde_json::Value>,
    /// Length of a prefix that all sessions share, tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_prefix_tokens: Option<u64>,
    /// The code that made the run.
    #[serde(default)]
    pub code: Option<Code>,
    /// The registration that bound it, if any.
    #[serde(default)]
    pub registration: Option<RegistrationRef>,
    /// The client's gate, where the arm has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<Gate>,
    /// SHA-256 of the uncompressed `plan.csv`.
    #[serde(default)]
    pub plan_sha256: Option<String>,
    /// Tokens of a repeated prompt found in the cache before and after the flush.
    #[serde(default)]
    pub canary: Option<Canary>,
    /// Totals, checked against the tables.
    pub counts: Counts,
}

/// Whether a run was measured or simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// A real engine.
    Engine,
    /// The simulator.
    Simulator,
}

impl Source {
    /// The word used in files and outputs.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Engine => "engine",
            Self::Simulator => "simulator",
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// To its horizon.
    Completed,
    /// It broke.
    Failed,
    /// It was stopped early.
    Truncated,
}

impl RunStatus {
    /// The word used in files and outputs.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Truncated => "truncated",
        }
    }
}

/// Engine name and version as the run reports them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Engine {
    /// For example `vllm`.
    pub name: String,
    /// For example `0.32.0`.
    pub version: String,
}

/// The GPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gpu {
    /// Its name.
    pub name: String,
    /// Its memory, MiB.
    #[serde(default)]
    pub memory_mib: Option<u64>,
}

/// Offered load.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// In multiples of `lambda_ref`.
    pub multiple: Option<f64>,
    /// The all-miss session rate it is a multiple of, sessions/s.
    pub lambda_ref: Option<f64>,
    /// Nominal arrival rate, sessions/s.
    pub lambda: Option<f64>,
}

/// A rate that is null as a whole is one whose parts are all null.
fn null_is_unknown<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Rate, D::Error> {
    Ok(Option::<Rate>::deserialize(deserializer)?.unwrap_or_default())
}

/// The code that made a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Code {
    /// Commit, where known.
    pub commit: Option<String>,
    /// Whether there were uncommitted changes.
    pub dirty: Option<bool>,
}

/// The registration a run was bound to when it was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistrationRef {
    /// Path of the registration file.
    pub file: String,
    /// SHA-256 of its bytes.
    pub sha256: String,
    /// Its status at the time.
    pub status: String,
}

/// The client's gate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// The cap, in sessions.
    pub n_cap: u64,
    /// When it began to bind, s.
    pub engage_s: Option<f64>,
    /// When it was released, s; null if it never was.
    pub release_s: Option<f64>,
}

/// Tokens of a repeated prompt found cached before and after the flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Canary {
    /// Before the flush: shows that the cache works.
    pub cached_before: Option<u64>,
    /// After it: shows that the run starts cold.
    pub cached_after: Option<u64>,
}

/// Totals of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Sessions that arrived.
    pub sessions_arrived: u64,
    /// Sessions that ended their last turn.
    pub sessions_completed: u64,
    /// Sessions ended by a request error.
    pub sessions_failed: u64,
    /// Turns that were sent.
    pub turns: u64,
    /// Requests that failed.
    pub request_errors: u64,
}

impl Counts {
    /// Of sessions and turns that ended like this.
    pub fn of<'a>(
        sessions: impl IntoIterator<Item = SessionStatus>,
        turns: impl IntoIterator<Item = &'a TurnStatus>,
    ) -> Self {
        let mut counts = Self::default();
        for status in sessions {
            counts.sessions_arrived += 1;
            counts.sessions_completed += u64::from(status == SessionStatus::Completed);
            counts.sessions_failed += u64::from(status == SessionStatus::Failed);
        }
        for status in turns {
            counts.turns += 1;
            counts.request_errors += u64::from(matches!(status, TurnStatus::Error(_)));
        }
        counts
    }
}

impl Meta {
    /// Parses `meta.json` and checks what it can say on its own.
    pub(super) fn parse(path: &Path, text: &[u8]) -> Result<Self, Vec<Problem>> {
        let meta: Self =
            serde_json::from_slice(text).map_err(|e| vec![json_problem(path, text, &e)])?;
        let problems = meta.problems(path);
        if problems.is_empty() { Ok(meta) } else { Err(problems) }
    }

    /// Parses what a run says of itself when it starts: `meta.json` without how it ended and
    /// what it counted, which its tables have to say. It is truncated until it is closed.
    pub(super) fn parse_started(path: &Path, text: &[u8]) -> Result<Self, Vec<Problem>> {
        let json = |e: serde_json::Error| vec![json_problem(path, text, &e)];
        let mut started: serde_json::Map<String, serde_json::Value> =
            serde_json::from_slice(text).map_err(json)?;
        let unknown_yet = serde_json::json!({
            "status": RunStatus::Truncated,
            "duration_s": started.get("horizon_s"),
            "counts": Counts::default(),
        });
        started.extend(unknown_yet.as_object().cloned().unwrap_or_default());
        let meta: Self = serde_json::from_value(started.into()).map_err(json)?;
        let problems = meta.problems(path);
        if problems.is_empty() { Ok(meta) } else { Err(problems) }
    }

    fn problems(&self, path: &Path) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut expect = |holds: bool, column: &str, message: String| {
            if !holds {
                problems.push(Problem::of_key(path, column, message));
            }
        };
        expect(self.format == FORMAT, "format", format!("expected 1, found {}", self.format));
        expect(self.pool_tokens > 0, "pool_tokens", "expected a positive number, found 0".into());
        for (name, x) in [("duration_s", self.duration_s), ("horizon_s", self.horizon_s)] {
            expect(x > 0.0, name, format!("expected a positive number of seconds, found {x}"));
            let message = format!("{x} s is over 31 days: expected seconds");
            expect(x < limits::RUN_S, name, message);
        }
        if let (Some(start), Some(end)) = (self.start_unix, self.end_unix) {
            let message = format!("{end} lies before start_unix {start}");
            expect(end >= start, "end_unix", message);
        }
        let Rate { multiple, lambda_ref, lambda } = self.rate;
        for (name, x) in
            [("rate.multiple", multiple), ("rate.lambda_ref", lambda_ref), ("rate.lambda", lambda)]
        {
            if let Some(x) = x {
                expect(x > 0.0, name, format!("expected a positive rate or null, found {x}"));
            }
        }
        if let (Some(m), Some(r), Some(l)) = (multiple, lambda_ref, lambda) {
            let agrees = (m * r - l).abs() <= 2e-3 * l;
            let message = format!(
                "expected multiple x lambda_ref = {:.6}, found {l} (off by over 0.2 %)",
                m * r
            );
            expect(agrees, "rate.lambda", message);
        }
        if let Some(gate) = self.gate {
            expect(gate.n_cap > 0, "gate.n_cap", "expected a cap of at least 1 session".into());
        }
        problems
    }
}

/// Puts the parser's line and column in their places, and its message in the file's words.
fn json_problem(path: &Path, text: &[u8], error: &serde_json::Error) -> Problem {
    let said = error.to_string();
    let message = said.rsplit_once(" at line ").map_or(said.as_str(), |(message, _)| message);
    let line = text.split(|byte| *byte == b'\n').nth(error.line().saturating_sub(1));
    let line = String::from_utf8_lossy(line.unwrap_or_default());
    let words = line.split(|c: char| !c.is_alphabetic()).map(str::to_lowercase);
    let holds_nan = words.into_iter().any(|word| matches!(&*word, "nan" | "inf" | "infinity"));
    let message = match text.trim_ascii_start().first() {
        // Not an object at all: YAML, a table, a log.
        Some(first) if *first != b'{' => {
            let line = shortened(line.trim(), 40);
            format!("expected JSON, which begins with {{, found \u{201c}{line}\u{201d}")
        }
        _ if holds_nan && matches!(message, "expected value" | "invalid number") => {
            "expected a value (NaN and Infinity are not JSON: write null where a value is unknown)"
                .into()
        }
        _ => in_words(message),
    };
    Problem {
        column: Some(format!("column {}", error.column())),
        ..Problem::at_line(path, error.line() as u64, message)
    }
}
