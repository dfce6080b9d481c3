//! `trapcheck diagnose`: is my engine trapped, by the files that are there.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::bail;
use serde_json::{Value, json};

use crate::answer::{Answer, Ask, Thresholds, Verdict, answers, time_shown};
use crate::configs::{self, built_in};
use crate::form::{Losses, Observed};
use crate::format::Format;
use crate::nearest::unknown;
use crate::observed::read_all;
use crate::setup::ConfigError;

use super::output;

/// Say whether an engine is trapped, from logs, metrics or benchmark output
///
/// Reads the logs and /metrics of vLLM and SGLang, csv tables of gauges or requests, and what
/// load generators write; docs/diagnose.md lists the formats. Files that are given together
/// are views of one service. The first line says it, those below prove it, the last says what
/// to do.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  trapcheck diagnose results/vllm-cpu/server_prefix_caching_on.log.gz
  trapcheck diagnose --pool 346584 before.prom after.prom
  trapcheck diagnose --format json profile_export.jsonl > answer.json

Exit codes: 0 good, cold, or a queue or misses alone; 1 trapped or pressed; 2 it cannot be told, \
                         or bad input")]
pub struct Args {
    /// Files, or folders of them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// What the files are, where it is not told by their content
    #[arg(long, value_name = "FORMAT")]
    from: Option<String>,
    /// The KV pool, tokens, in place of the files'
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..))]
    pool: Option<u64>,
    /// The largest share of prompt tokens that can be found, 0 to 1
    #[arg(long, value_name = "SHARE")]
    reuse_ceiling: Option<f64>,
    /// The client keeps a fixed number of sessions, so no backlog can grow
    #[arg(long)]
    closed: bool,
    /// Thresholds, in place of configs/diagnose.yaml
    #[arg(long, value_name = "FILE")]
    rule: Option<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: output::Format,
}

/// Runs the command.
///
/// # Errors
/// A file that cannot be read or that no format knows.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.reuse_ceiling.is_some_and(|c| !(c > 0.0 && c <= 1.0)) {
        bail!("--reuse-ceiling: expected a share above 0 and up to 1");
    }
    let format = args.from.as_deref().map(named).transpose()?;
    let observed = read_all(&args.files, format)?;
    let ask = Ask {
        pool_tokens: args.pool,
        reuse_ceiling: args.reuse_ceiling,
        closed: args.closed.then_some(true),
    };
    let answers = answers(&observed, &ask, &thresholds(args.rule.as_deref())?);
    match args.format {
        output::Format::Table => output::show(&as_text(&answers, &observed))?,
        output::Format::Json => output::print(&as_json(&answers, &observed)?)?,
        output::Format::Csv => bail!("--format csv: an answer is no table; expected table or json"),
    }
    Ok(exit_code(&answers))
}

/// The thresholds of a file; else the project's, or the built-in ones.
///
/// # Errors
/// A file that cannot be used.
pub fn thresholds(asked: Option<&Path>) -> Result<Thresholds, ConfigError> {
    const NAME: &str = "diagnose.yaml";
    let own = Path::new("configs").join(NAME);
    let path = match asked {
        Some(path) => path.into(),
        None if own.exists() => own,
        None => Path::new(built_in::FOLDER).join(NAME),
    };
    configs::read(&path, Thresholds::parse)
}

fn named(word: &str) -> anyhow::Result<Format> {
    let known = Format::ALL.map(Format::word);
    match Format::ALL.into_iter().find(|format| format.word() == word) {
        Some(format) => Ok(format),
        None => bail!(unknown("format", word, "docs/diagnose.md", known.into_iter())),
    }
}

/// 1 where one engine is trapped or pressed, else 2 where one cannot be told.
fn exit_code(answers: &[Answer]) -> ExitCode {
    let any = |is: fn(Verdict) -> bool| answers.iter().any(|answer| is(answer.verdict));
    match answers {
        [] => ExitCode::from(2),
        _ if any(Verdict::is_bad) => ExitCode::from(1),
        _ if any(|verdict| verdict == Verdict::Unmeasurable) => ExitCode::from(2),
        _ => ExitCode::SUCCESS,
    }
}

/// Lines of evidence that are printed.
const LINES: usize = 3;

fn as_text(answers: &[Answer], observed: &Observed) -> String {
    let mut lines = Vec::new();
    for answer in answers {
        let engine =
            if answer.engine.is_empty() { String::new() } else { format!("{}: ", answer.engine) };
        lines.push(format!("{engine}{}", answer.headline));
        lines.extend(answer.evidence.iter().take(LINES).map(|e| format!("  {}", e.words)));
        lines.push(format!("  do: {}", answer.action));
        lines.extend(answer.contradictions.iter().map(|words| format!("  but: {words}")));
    }
    for (why, count) in observed.dropped.iter() {
        let line = if count.first_line > 0 {
            format!(" (first in line {})", count.first_line)
        } else {
            String::new()
        };
        lines.push(format!("left out: {} {why}{line}", count.count));
    }
    output::lines(lines)
}

fn as_json(answers: &[Answer], observed: &Observed) -> serde_json::Result<String> {
    let clock = observed.clock;
    let answer = |answer: &Answer| {
        let evidence = answer.evidence.iter().map(|e| {
            json!({
                "quantity": e.quantity,
                "value": e.value,
                "unit": e.unit,
                "from_s": e.from_s,
                "to_s": e.to_s,
                "words": e.words,
            })
        });
        json!({
            "engine": answer.engine,
            "verdict": answer.verdict.word(),
            "cause": answer.cause.word(),
            "since_s": answer.since_s,
            "since": answer.since_s.map(|t| time_shown(t, clock)),
            "until_s": answer.until_s,
            "headline": answer.headline,
            "evidence": evidence.collect::<Vec<_>>(),
            "contradictions": answer.contradictions,
            "action": answer.action,
            "switch_on": answer.switch_on,
        })
    };
    let counted = |losses: &Losses| -> Value {
        let each = losses.iter().map(|(what, count)| {
            json!({"what": what, "count": count.count, "first_line": count.first_line})
        });
        each.collect()
    };
    let formats = observed.formats.iter().map(|format| format.word());
    let parts = [
        ("answers", answers.iter().map(answer).collect()),
        ("formats", formats.collect::<Vec<_>>().into()),
        ("left_out", counted(&observed.dropped)),
        ("notes", counted(&observed.notes)),
    ];
    output::json("diagnose", parts)
}
