//! `trapcheck numbers`: write the manifest, or verify it.

mod show;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Subcommand;

use crate::analysis::output_files::OutputFile;
use crate::numbers::ledger::Books;
use crate::numbers::{
    JSON_PATH, LedgerMade, MARKDOWN_PATH, Manifest, TEX_PATH, markdown, tex, verify,
};

use super::output::Width;
use super::{output, project};

/// Tie every derived value and figure to its sources, or verify that they still agree
///
/// Without --verify: derives the tables, draws the figures, compares every published number
/// with ours, and writes paper/NUMBERS.md, paper/numbers.json and paper/numbers.tex. With
/// it: computes everything again and writes nothing.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  trapcheck numbers
  trapcheck numbers --verify
  trapcheck numbers show gap-ratio-median
  trapcheck numbers check-tex paper.tex

Exit codes: 0 all well; 1 with --verify a source, a value, a status or a file differs, or a binding
leads nowhere; 2 a run could not be read, or bad usage or input"
)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Compare instead of writing
    #[arg(long)]
    verify: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Explain one published number: what it says, what answers it here, from which files,
    /// and how to compute it again
    #[command(after_help = "Example:
  trapcheck numbers show gap-ratio-median

Exit codes: 0 explained; 2 no such number, or bad usage or input")]
    Show {
        /// Its id, as in paper/NUMBERS.md
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Check that a LaTeX file uses only numbers that there are
    #[command(after_help = "Example:
  trapcheck numbers check-tex paper.tex

Exit codes: 0 every number is known; 1 one is not; 2 bad usage or input")]
    CheckTex {
        /// Files that use \\ours{id} and \\published{id}
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
}

/// Runs the command.
///
/// # Errors
/// A configuration that cannot be used, a manifest that cannot be read, or a file
/// that cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.command {
        Some(Command::Show { id }) => return show::run(id, &read()?),
        Some(Command::CheckTex { files }) => return check_tex(files, &read()?),
        None => {}
    }
    let recorded = if args.verify { Some(read()?) } else { None };
    let project = project::open()?;
    // Before anything is made or written.
    if let Err(error) = project::books(&project) {
        eprintln!("problem: {error}");
        return Ok(ExitCode::from(1));
    }
    let made = project::make_all(&project)?;
    let books = match Books::are_there().then(|| LedgerMade::of(&made)).transpose() {
        Ok(books) => books,
        Err(error) => {
            eprintln!("problem: {error}");
            return Ok(ExitCode::from(1));
        }
    };
    let computed = Manifest::of(&made, books.as_ref());
    let json = computed.to_json().with_context(|| format!("cannot make {JSON_PATH}"))?;
    let not_read = made.iter().map(|m| m.evaluated.scoring.unreadable.len());
    let unreadable = project.problems.len() + not_read.sum::<usize>();
    let broken = books.as_ref().map_or(&[][..], |b| &b.ledger.broken);
    for binding in broken {
        eprintln!("problem: {binding}");
    }
    let Some(recorded) = recorded else {
        let mut files: Vec<OutputFile> = made.iter().flat_map(|m| m.files()).collect();
        files.extend(books.iter().flat_map(LedgerMade::outputs));
        let file =
            |path: &str, text: String| OutputFile { path: path.into(), bytes: text.into_bytes() };
        files.push(file(JSON_PATH, json));
        files.push(file(MARKDOWN_PATH, markdown::render(&computed)));
        if books.is_some() {
            files.push(file(TEX_PATH, tex::render(&computed.ledger)));
        }
        project::write_all(&files)?;
        if let Some(books) = &books {
            output::print(&output::grid_of(&books.ledger.summary(), Width::Page))?;
        }
        let code = project::code(unreadable);
        return Ok(if broken.is_empty() { code } else { ExitCode::from(1) });
    };
    let mut differences = verify::differences(&recorded, &computed, Path::new("."));
    for (path, expected) in
        [(MARKDOWN_PATH, markdown::render(&recorded)), (TEX_PATH, tex::render(&recorded.ledger))]
    {
        let there = crate::reading::text(path).unwrap_or_default();
        let needed = path != TEX_PATH || !recorded.ledger.is_empty();
        if needed && there != expected {
            differences.push(format!("{path}: missing, or not what {JSON_PATH} says"));
        }
    }
    let text = crate::reading::text(JSON_PATH).unwrap_or_default();
    if differences.is_empty() && text != json {
        differences.push(format!("{JSON_PATH}: not what is computed, byte for byte"));
    }
    differences.extend(verify::unclaimed(&computed, Path::new(".")));
    if differences.is_empty() && broken.is_empty() {
        let (values, files) = (computed.count_values(), computed.outputs.len());
        let (sources, numbers) = (computed.sources.len(), computed.ledger.len());
        output::print(&format!(
            "verified: {values} values and {files} files follow from {sources} sources; {numbers} published numbers and table rows stand as recorded\n"
        ))?;
        return Ok(project::code(project.problems.len()));
    }
    output::print(&output::lines(&differences))?;
    eprintln!("{} differences; if they are intended, run: trapcheck numbers", differences.len());
    Ok(ExitCode::from(1))
}

fn check_tex(files: &[PathBuf], manifest: &Manifest) -> anyhow::Result<ExitCode> {
    let mut unknown = 0;
    for path in files {
        let text = crate::reading::text(path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        for one in tex::unknown_uses(&text, &manifest.ledger) {
            let meant = one.meant.map_or(String::new(), |id| format!("; did you mean {id}?"));
            let line = format!("{}:{}: no number {}{meant}", path.display(), one.line, one.id);
            output::print(&output::lines([line]))?;
            unknown += 1;
        }
    }
    if unknown == 0 {
        output::print("every number that is used is known\n")?;
        return Ok(ExitCode::SUCCESS);
    }
    Ok(ExitCode::from(1))
}

fn read() -> anyhow::Result<Manifest> {
    let text = crate::reading::text(JSON_PATH)
        .with_context(|| format!("cannot read {JSON_PATH}; trapcheck numbers writes it"))?;
    let manifest: Manifest =
        serde_json::from_str(&text).with_context(|| format!("{JSON_PATH} is not a manifest"))?;
    if manifest.format != 2 {
        anyhow::bail!("{JSON_PATH}: expected format 2, found {}", manifest.format);
    }
    Ok(manifest)
}
