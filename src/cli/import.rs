//! `trapcheck import`: files of engines and clients as run directories.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::ValueEnum;
use serde_json::json;

use trapcheck::directory::write::write_with;
use trapcheck::directory::{LoadOptions, load};
use trapcheck::form::Losses;
use trapcheck::import::{Imported, Told, runs};
use trapcheck::name::PlainName;
use trapcheck::observed::{Service, read_all};
use trapcheck::setup::Arm;

use super::diagnose::format_named;
use super::output;
use super::simulate::Tables;

/// Write a run directory out of logs, metrics or a client's requests
///
/// Reads what `diagnose` reads and writes runs of format 1 (docs/run-directory.md) with only
/// what the files say. What they do not say stays unknown; what the format cannot do without
/// is asked for by name. Several engines become several runs, in folders of their own. What
/// was left out, and what was taken for what, is counted and shown, and kept in config.yaml.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  trapcheck import profile_export.jsonl --pool 346584 --out my-run
  trapcheck import requests.jsonl metrics.csv --pool 346584 --cell my-cell --out my-run
  trapcheck score my-run

Exit codes: 0 written; 2 bad usage or input")]
pub struct Args {
    /// Files, or folders of them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The run directory to make; of several runs the folder they go to
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// What the files are, where it is not told by their content
    #[arg(long, value_name = "FORMAT")]
    from: Option<String>,
    /// The KV pool, tokens, in place of the files'
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..))]
    pool: Option<u64>,
    /// Whether the prefix cache was on, where the files do not tell
    #[arg(long, value_enum)]
    prefix_caching: Option<Switch>,
    /// The cell that the engine is (a name in configs/cells)
    #[arg(long, value_name = "NAME", default_value = "imported")]
    cell: PlainName,
    /// What was done to the arrivals: an arm of the paper, or a word of your own
    #[arg(long, value_name = "WORD", default_value = "imported")]
    arm: PlainName,
    /// Sessions that the client kept in the system, in a closed run
    #[arg(long, value_name = "SESSIONS", value_parser = clap::value_parser!(u64).range(1..))]
    population: Option<u64>,
    /// Form of the tables
    #[arg(long, value_enum, default_value_t = Tables::CsvGz)]
    tables: Tables,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

/// Runs the command.
///
/// # Errors
/// A file that cannot be used, what a run needs and nobody tells, and a directory that is
/// there already.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let format = args.from.as_deref().map(format_named).transpose()?;
    let services = read_all(&args.files, format)?;
    let mut made = Vec::new();
    for service in &services {
        let told = Told {
            run_id: run_id(service),
            cell: args.cell.to_string(),
            arm: Arm::from(&*args.arm),
            pool_tokens: args.pool,
            prefix_caching: args.prefix_caching.map(|switch| switch == Switch::On),
            population: args.population,
        };
        let files = || match service.label.as_str() {
            "" => service.files.join(", "),
            folder => folder.to_owned(),
        };
        let runs = runs(&service.observed, &told).with_context(files)?;
        made.extend(runs.into_iter().map(|run| (service, run)));
    }
    let several = made.len() > 1;
    let places: Vec<PathBuf> = made
        .iter()
        .map(
            |(_, one)| if several { args.out.join(&one.run.meta.run_id) } else { args.out.clone() },
        )
        .collect();
    if let Some(there) = places.iter().find(|place| place.exists()) {
        bail!("{}: already there; a run is never overwritten", there.display());
    }
    for ((service, imported), place) in made.iter().zip(&places) {
        write(service, imported, place, args.tables)?;
        output::print(&output::lines(summary(service, imported, place)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes one, and reads it back as any command would: what is no run does not stay.
fn write(service: &Service, one: &Imported, place: &Path, tables: Tables) -> anyhow::Result<()> {
    let config = json!({
        "imported": {
            "files": service.files,
            "formats": service.observed.formats.iter().map(|f| f.word()).collect::<Vec<_>>(),
            "left_out": said(&service.observed.dropped, &one.dropped),
            "notes": said(&service.observed.notes, &one.notes),
        }
    });
    let text = serde_yaml::to_string(&config)?;
    write_with(&one.run, place, tables.into(), &[("config.yaml", &text)])?;
    if let Err(problems) = load(place, &LoadOptions::default()) {
        std::fs::remove_dir_all(place)
            .with_context(|| format!("cannot remove {}", place.display()))?;
        bail!("these files make no run: {problems}");
    }
    Ok(())
}

fn said(of_files: &Losses, of_run: &Losses) -> Vec<String> {
    let both = of_files.iter().chain(of_run.iter());
    both.map(|(what, count)| format!("{} {what}", count.count)).collect()
}

fn summary(service: &Service, one: &Imported, place: &Path) -> Vec<String> {
    let run = &one.run;
    let mut lines = vec![format!(
        "{}: {} sessions, {} turns, {} samples of the engine",
        place.display(),
        run.sessions.len(),
        run.turns.len(),
        run.engine.len()
    )];
    let out = said(&service.observed.dropped, &one.dropped);
    lines.extend(out.into_iter().map(|words| format!("  left out: {words}")));
    let notes = said(&service.observed.notes, &one.notes);
    lines.extend(notes.into_iter().map(|words| format!("  but: {words}")));
    lines
}

/// A name for the runs of some files: the folder's, or the first file's.
fn run_id(service: &Service) -> String {
    let name = match service.label.as_str() {
        "" => service.files.first().map_or("run", String::as_str),
        folder => folder,
    };
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = name.chars().map(plain).collect();
    name.trim_matches('-').to_owned()
}
