//! `trapcheck sessions describe`: what recorded sessions are like.

use std::process::ExitCode;

use anyhow::bail;

use super::{Traces, code};
use crate::cli::model::plot::Plot;
use crate::cli::output::{self, Format, Print};
use trapcheck::figure::sessions::{SessionSet, sessions};
use trapcheck::table::answers::sessions::{description, source_words};
use trapcheck_sessions::description::Description;

/// Say what sessions are like: turns, prompts, what could be used again, what they cost
///
/// Quantiles of turns, prompts, new tokens, outputs, gaps and footprints; the share of sessions
/// that reach a turn and the mean prompt there; the reuse ceiling: the share of all prompt tokens
/// that the session's last prompt leaves to be used again; and the work ratio: tokens to prefill
/// if every turn misses, over those if every follow-up hits. What the record does not say is
/// counted as unknown. Subagents and branches are left aside.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  trapcheck sessions describe sessions.csv.gz
  trapcheck sessions describe traces --gap-limit 30 --plot sessions.svg
  trapcheck sessions describe sessions.parquet --subagents --format json

Exit codes: 0 all read; 1 sessions were left out, or a file ends early; 2 bad usage or input")]
pub struct Args {
    #[command(flatten)]
    from: Traces,
    /// No gap longer than this, s: as a workload with that limit plays them
    #[arg(long, value_name = "SECONDS")]
    gap_limit: Option<f64>,
    /// Describe the subagents and branches, and leave the other sessions aside
    #[arg(long)]
    subagents: bool,
    #[command(flatten)]
    plot: Plot,
    #[command(flatten)]
    print: Print,
}

/// Runs the command.
///
/// # Errors
/// A file that cannot be read to its end, no session to describe, or a picture that cannot be
/// written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.gap_limit.is_some_and(|limit| !(limit >= 0.0 && limit.is_finite())) {
        bail!("--gap-limit: expected seconds, 0 or more");
    }
    let mut loaded = args.from.load()?;
    let source = source_words(&loaded);
    let all = loaded.sessions.len();
    loaded.sessions.retain(|session| session.parent.is_some() == args.subagents);
    if loaded.sessions.is_empty() {
        bail!("no {} to describe", if args.subagents { "subagent or branch" } else { "session" });
    }
    if let Some(limit) = args.gap_limit {
        loaded.sessions.iter_mut().for_each(|session| session.limit_gaps(limit));
    }
    let found = Description::of(&loaded.sessions);
    let aside = (all - loaded.sessions.len()) as u64;
    let what = if args.subagents { "Subagents and branches" } else { "Sessions" };
    let limit = args.gap_limit.map(|limit| format!(", no gap longer than {limit} s"));
    let title = format!("{what} of {source}{}", limit.unwrap_or_default());
    args.plot.write(|| {
        let by_turn = found.by_turn.iter().map(|at| (at.turn, at.survival, at.mean_prompt_tokens));
        Ok(sessions(&SessionSet { title: title.clone(), source, by_turn: by_turn.collect() }))
    })?;
    let for_people = args.print.format == Format::Table;
    let tables = description(&title, &found, aside, !for_people);
    output::tables("sessions-describe", &tables, args.print)?;
    Ok(code(&loaded.files))
}
