//! `trapcheck numbers`: write the manifest, or verify it.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;

use crate::analysis::outputs::OutputFile;
use crate::numbers::{JSON_PATH, MARKDOWN_PATH, Manifest, markdown, verify};

use super::{output, project};

/// Tie every derived value and figure to its sources, or verify that they still agree
///
/// Without --verify: derives the tables, draws the figures, and writes
/// paper/NUMBERS.md and paper/numbers.json. With it: computes everything again,
/// writes nothing, and exits with 1 if a source, a value or a file differs.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  trapcheck numbers
  trapcheck numbers --verify")]
pub struct Args {
    /// Compare instead of writing
    #[arg(long)]
    verify: bool,
}

/// Runs the command.
///
/// # Errors
/// A configuration that cannot be used, a manifest that cannot be read, or a file
/// that cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let recorded = if args.verify { Some(read()?) } else { None };
    let project = project::open()?;
    let made = project::make_all(&project)?;
    let computed = Manifest::of(&made);
    let unreadable: usize = made.iter().map(|m| m.evaluated.scoring.unreadable.len()).sum();
    let Some(recorded) = recorded else {
        let mut files: Vec<OutputFile> = made.iter().flat_map(|m| m.files()).collect();
        let file =
            |path: &str, text: String| OutputFile { path: path.into(), bytes: text.into_bytes() };
        files.push(file(JSON_PATH, computed.to_json()));
        files.push(file(MARKDOWN_PATH, markdown::render(&computed)));
        project::write_all(&files)?;
        return Ok(project::code(unreadable));
    };
    let mut differences = verify::differences(&recorded, &computed, Path::new("."));
    let markdown = std::fs::read_to_string(MARKDOWN_PATH).unwrap_or_default();
    if markdown != markdown::render(&recorded) {
        differences.push(format!("{MARKDOWN_PATH}: missing, or not what {JSON_PATH} says"));
    }
    if differences.is_empty() {
        let (values, files) = (computed.numbers.len(), computed.outputs.len());
        let sources = computed.sources.len();
        output::print(&format!(
            "verified: {values} values and {files} files follow from {sources} sources\n"
        ))?;
        return Ok(ExitCode::SUCCESS);
    }
    let lines: String = differences.iter().map(|d| format!("{d}\n")).collect();
    output::print(&lines)?;
    eprintln!("{} differences; if they are intended, run: trapcheck numbers", differences.len());
    Ok(ExitCode::from(1))
}

fn read() -> anyhow::Result<Manifest> {
    let text = std::fs::read_to_string(JSON_PATH)
        .with_context(|| format!("cannot read {JSON_PATH}; trapcheck numbers writes it"))?;
    serde_json::from_str(&text).with_context(|| format!("{JSON_PATH} is not a manifest"))
}
