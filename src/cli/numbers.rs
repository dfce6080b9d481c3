//! `trapcheck numbers`: write the manifest, or verify it.

mod effects;
mod list;
mod show;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Subcommand;

use trapcheck::analysis::output_files::OutputFile;
use trapcheck::numbers::MadeAnalysis;
use trapcheck::numbers::ledger::LedgerInputs;
use trapcheck::numbers::{FORMAT, JSON_PATH, MadeLedger, Manifest, pages, tex, verify};

use super::output::{Print, Width};
use super::{output, project};

/// Tie every derived value and figure to its sources, or verify that they still agree
///
/// Without --verify: derives the tables, draws the figures, compares every published number
/// with ours, and writes paper/NUMBERS.md, a page per section in paper/numbers/,
/// paper/numbers.json and paper/numbers.tex. With it: computes everything again and writes
/// nothing; with the name of an analysis, only what that one makes.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  trapcheck numbers
  trapcheck numbers --verify
  trapcheck numbers --verify vllm-cpu
  trapcheck numbers list --status differs --section 'sec 4'
  trapcheck numbers show gap-ratio-median
  trapcheck numbers check-tex paper.tex

Exit codes: 0 all well; 1 with --verify a source, a value, a status or a file differs, or a binding
leads nowhere; 2 a run could not be read, or bad usage or input"
)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Compare instead of writing: everything, or what one analysis makes
    #[arg(long, value_name = "ANALYSIS", num_args = 0..=1, default_missing_value = "")]
    verify: Option<String>,
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
    /// List published numbers and rows of tables by how they stand
    #[command(after_help = "Examples:
  trapcheck numbers list --status differs --cause simulator
  trapcheck numbers list --section app-e --grep release
  trapcheck numbers list --value 5.8

Exit codes: 0 listed, if only that there is none; 2 bad usage or input")]
    List {
        #[command(flatten)]
        filter: list::Filter,
        #[command(flatten)]
        print: Print,
    },
    /// What becomes of every number with another ensemble: how it stands, and how the draws move
    #[command(after_help = "Examples:
  trapcheck numbers effects ways
  trapcheck numbers effects arrivals --format csv

Exit codes: 0 listed; 2 a run could not be read, or bad usage or input")]
    Effects {
        /// Which: ways (engines in their own ways) or arrivals (plans that received what the
        /// paper's runs did)
        #[arg(value_name = "ENSEMBLE")]
        which: String,
        #[command(flatten)]
        print: Print,
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
        Some(Command::List { filter, print }) => return list::run(filter, &read()?, *print),
        Some(Command::Effects { which, print }) => return effects::run(which, *print),
        Some(Command::CheckTex { files }) => return check_tex(files, &read()?),
        None => {}
    }
    match args.verify.as_deref() {
        None => write(),
        Some("") => verify_all(),
        Some(name) => verify_one(name),
    }
}

/// Everything that is made, the ledger over it, and how many runs could not be read.
struct Computed {
    made: Vec<MadeAnalysis>,
    ledger: Option<MadeLedger>,
    manifest: Manifest,
    json: String,
    /// Folders that could not be looked at.
    problems: usize,
    /// Runs that could not be read.
    unreadable: usize,
}

impl Computed {
    /// Bindings that lead nowhere.
    fn broken(&self) -> &[String] {
        self.ledger.as_ref().map_or(&[][..], |ledger| &ledger.ledger.broken)
    }
}

/// Computes everything; `None` where the bindings cannot be used, which is said.
fn compute() -> anyhow::Result<Option<Computed>> {
    let project = project::open()?;
    // Before anything is made or written.
    if let Err(error) = project::ledger_inputs(&project) {
        eprintln!("problem: {error}");
        return Ok(None);
    }
    let made = project::make_all(&project)?;
    let ledger = match LedgerInputs::are_there().then(|| MadeLedger::of(&made)).transpose() {
        Ok(ledger) => ledger,
        Err(error) => {
            eprintln!("problem: {error}");
            return Ok(None);
        }
    };
    let manifest = Manifest::of(&made, ledger.as_ref());
    let json = manifest.to_json().with_context(|| format!("cannot make {JSON_PATH}"))?;
    let not_read = made.iter().map(|m| m.evaluated.scoring.unreadable.len());
    let (problems, unreadable) = (project.problems.len(), not_read.sum());
    let computed = Computed { made, ledger, manifest, json, problems, unreadable };
    for binding in computed.broken() {
        eprintln!("problem: {binding}");
    }
    Ok(Some(computed))
}

fn write() -> anyhow::Result<ExitCode> {
    let Some(computed) = compute()? else { return Ok(ExitCode::from(1)) };
    let mut files: Vec<OutputFile> = computed.made.iter().flat_map(|m| m.files()).collect();
    files.extend(computed.ledger.iter().flat_map(MadeLedger::outputs));
    let texts = pages(&computed.manifest).into_iter();
    for (path, text) in texts.chain([(JSON_PATH.into(), computed.json.clone())]) {
        files.push(OutputFile { path, bytes: text.into_bytes() });
    }
    project::write_all(&files)?;
    if let Some(ledger) = &computed.ledger {
        output::print(&output::grid_of(&ledger.ledger.summary(), Width::Page))?;
    }
    let code = project::code(computed.problems + computed.unreadable);
    Ok(if computed.broken().is_empty() { code } else { ExitCode::from(1) })
}

fn verify_all() -> anyhow::Result<ExitCode> {
    let recorded = read()?;
    let Some(computed) = compute()? else { return Ok(ExitCode::from(1)) };
    let manifest = &computed.manifest;
    let mut differences = verify::differences(&recorded, manifest, Path::new("."));
    for (path, expected) in pages(&recorded) {
        if trapcheck::reading::text(&path).unwrap_or_default() != expected {
            let path = path.display();
            differences.push(format!("{path}: missing, or not what {JSON_PATH} says"));
        }
    }
    let text = trapcheck::reading::text(JSON_PATH).unwrap_or_default();
    if differences.is_empty() && text != computed.json {
        differences.push(format!("{JSON_PATH}: not what is computed, byte for byte"));
    }
    differences.extend(verify::unclaimed(manifest, Path::new(".")));
    let numbers = manifest.ledger.len();
    let also = format!("; {numbers} published numbers and table rows stand as recorded");
    let is_broken = !computed.broken().is_empty();
    told(&differences, manifest, &also, is_broken, computed.problems)
}

/// Verifies what one analysis makes, whatever else is here.
fn verify_one(name: &str) -> anyhow::Result<ExitCode> {
    let recorded = read()?.of_analysis(name);
    let project = project::open()?;
    let chosen = project::chosen(&project, &[name.to_owned()])?;
    let made = project::make(&project, chosen)?;
    let manifest = Manifest::of(&made, None);
    let differences = verify::differences(&recorded, &manifest, Path::new("."));
    told(&differences, &manifest, "", false, 0)
}

/// Prints what differs, or that nothing does.
fn told(
    differences: &[String],
    manifest: &Manifest,
    also: &str,
    is_broken: bool,
    problems: usize,
) -> anyhow::Result<ExitCode> {
    if differences.is_empty() && !is_broken {
        let (values, files) = (manifest.count_values(), manifest.outputs.len());
        let sources = manifest.sources.len();
        output::print(&format!(
            "verified: {values} values and {files} files follow from {sources} sources{also}\n"
        ))?;
        return Ok(project::code(problems));
    }
    output::print(&output::lines(differences))?;
    eprintln!("{} differences; if they are intended, run: trapcheck numbers", differences.len());
    Ok(ExitCode::from(1))
}

fn check_tex(files: &[PathBuf], manifest: &Manifest) -> anyhow::Result<ExitCode> {
    let mut unknown = 0;
    for path in files {
        let text = trapcheck::reading::text(path)
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

/// The manifest as it was last written.
///
/// # Errors
/// It cannot be read, or is of another format.
pub(super) fn read() -> anyhow::Result<Manifest> {
    let text = trapcheck::reading::text(JSON_PATH)
        .with_context(|| format!("cannot read {JSON_PATH}; trapcheck numbers writes it"))?;
    let manifest: Manifest =
        serde_json::from_str(&text).with_context(|| format!("{JSON_PATH} is not a manifest"))?;
    if manifest.format != FORMAT {
        anyhow::bail!("{JSON_PATH}: expected format {FORMAT}, found {}", manifest.format);
    }
    Ok(manifest)
}
