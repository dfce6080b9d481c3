//! `trapcheck sessions`: recorded agent sessions.

mod describe;
mod fit;
mod import;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Subcommand, ValueEnum};

use trapcheck::files::write_beside;
use trapcheck::sessions::{Inputs, Loaded, Read, load_all};
use trapcheck::table::answers::sessions::lacks_something;

/// Read recorded agent sessions: import, describe, fit a workload
///
/// A trace is read from Weka files, the table that import writes, Mooncake and Bailian rows,
/// turn arrays, OpenTelemetry traces, and rows of requests that name a session (docs/sessions.md).
/// A session that cannot be used is left out, named and counted.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  trapcheck sessions import traces --out sessions.csv.gz
  trapcheck sessions describe sessions.csv.gz --plot sessions.svg
  trapcheck sessions fit sessions.csv.gz --source 'our agent, June' --out our-agent.yaml

Exit codes: as of its commands: 0 all read; 1 something was left out; 2 bad usage or input")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Import(import::Args),
    Describe(describe::Args),
    Fit(fit::Args),
}

/// What the input length of a row counts, where a row is a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum InputsArg {
    /// The whole prompt
    #[default]
    Whole,
    /// What is new: the prompt is the previous one, its answer, and this
    New,
}

impl From<InputsArg> for Inputs {
    fn from(inputs: InputsArg) -> Self {
        match inputs {
            InputsArg::Whole => Self::Whole,
            InputsArg::New => Self::New,
        }
    }
}

/// Where sessions are, and how they are read.
#[derive(Debug, clap::Args)]
struct Traces {
    /// Files of sessions, also packed, or folders to search for them
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    /// What the input length of a row counts, where a row is a request
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    inputs: InputsArg,
}

impl Traces {
    /// All sessions, in memory; what was left out is told.
    fn load(&self) -> anyhow::Result<Loaded> {
        let loaded = load_all(&self.paths, self.inputs.into())?;
        tell_left_out(&loaded.files);
        if loaded.sessions.is_empty() {
            anyhow::bail!("no session could be read");
        }
        Ok(loaded)
    }
}

/// Runs the command.
///
/// # Errors
/// A file that cannot be read to its end, or one that cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.command {
        Command::Import(args) => import::run(args),
        Command::Describe(args) => describe::run(args),
        Command::Fit(args) => fit::run(args),
    }
}

/// Says on stderr which sessions were left out, the first of each file one by one.
fn tell_left_out(files: &[Read]) {
    for file in files {
        let reading = &file.reading;
        for example in &reading.examples {
            let session = example.session.as_ref().map(|name| format!(" session {name:?}:"));
            let (name, line, why) = (&reading.file, example.line, example.why.word());
            let session = session.unwrap_or_default();
            eprintln!("left out: {name}:{line}:{session} {}: {}", why, example.message);
        }
        let left_out: u64 = reading.left_out.values().map(|count| count.sessions).sum();
        if left_out > reading.examples.len() as u64 {
            let more = left_out - reading.examples.len() as u64;
            eprintln!("left out: {}: and {more} more", reading.file);
        }
        if reading.cut {
            eprintln!("cut: {}: the file ends early", reading.file);
        }
    }
}

/// 0 if everything was read, 1 if not.
fn code(files: &[Read]) -> ExitCode {
    ExitCode::from(u8::from(lacks_something(files)))
}

/// Writes a text, and says so.
fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    write_beside(path, text.as_bytes())
        .with_context(|| format!("cannot write {}", path.display()))?;
    eprintln!("wrote {}", path.display());
    Ok(())
}
