//! `--ensemble`: the paper's simulated runs many times over, kept as tables.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use rayon::prelude::*;

use trapcheck::analysis::AnalysisError;
use trapcheck::analysis::ensemble::packed::{Packed, joined};
use trapcheck::analysis::ensemble::stored::{Draws, pack, path_of};
use trapcheck::analysis::ensemble::{Campaigns, Ensemble, EnsembleSpec};
use trapcheck::analysis::output_files::OutputFile;
use trapcheck::campaign::pins::{FILE, Pins};
use trapcheck::table::Table;
use trapcheck_setup::hash::sha256_hex;

use super::super::output;
use super::super::progress;
use super::super::project;
use super::Args;

/// A draw's tables, each with its name.
type Draw = Vec<(String, Packed)>;

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let spec = EnsembleSpec::load(&args.file)?;
    let project = project::open()?;
    let campaigns = Campaigns::of(&project)?;
    let ensemble = Ensemble::of(&project, &args.file, &spec, &campaigns)?;
    let folder = args.out.join(&spec.name);
    match args.sample {
        Some(sample) => verify(&ensemble, &spec, &folder, sample),
        None => make(args, &ensemble, &spec, &folder),
    }
}

/// Some draws, in parallel, in the order they are asked for.
fn drawn(ensemble: &Ensemble<'_>, draws: &[u64]) -> Result<Vec<Draw>, AnalysisError> {
    let bar = progress::bar(draws.len() * ensemble.runs_per_draw(), "simulating");
    let made = draws
        .par_iter()
        .map(|draw| {
            let tables = ensemble.draw(*draw, &|| bar.inc(1))?;
            let packed = |table: Table| (table.name.clone(), Packed::of(&table, *draw));
            Ok(tables.into_iter().map(packed).collect())
        })
        .collect();
    bar.finish_and_clear();
    made
}

fn make(
    args: &Args,
    ensemble: &Ensemble<'_>,
    spec: &EnsembleSpec,
    folder: &Path,
) -> anyhow::Result<ExitCode> {
    let mut draws = drawn(ensemble, &(0..spec.draws).collect::<Vec<_>>())?;
    let names: Vec<String> = draws[0].iter().map(|(name, _)| name.clone()).collect();
    // Table by table, so that one text at a time is in memory.
    let mut files = Vec::new();
    for name in names.iter().rev() {
        let of_table: Option<Vec<Packed>> =
            draws.iter_mut().map(|draw| draw.pop().map(|(_, packed)| packed)).collect();
        let text = of_table.as_deref().and_then(joined);
        let Some(text) = text else { bail!("table {name} has not the same columns in every draw") };
        let bytes = pack(&text).with_context(|| format!("cannot pack table {name}"))?;
        files.push(OutputFile { path: path_of(folder, name), bytes });
    }
    files.reverse();
    project::write_all(&files)?;
    let size: usize = files.iter().map(|file| file.bytes.len()).sum();
    let runs = spec.draws as usize * ensemble.runs_per_draw();
    eprintln!(
        "{} draws of {} runs, {runs} in all; {} tables, {size} bytes",
        spec.draws,
        ensemble.runs_per_draw(),
        files.len()
    );
    pinned(args, folder, Path::new(&spec.name))
}

/// Compares the files with the campaign's pins, or pins them.
fn pinned(args: &Args, folder: &Path, name: &Path) -> anyhow::Result<ExitCode> {
    let at = || format!("cannot use {}", args.out.join(FILE).display());
    let pins = Pins::load(&args.out).with_context(at)?;
    let found = Pins::of_run(&args.out, name)
        .with_context(|| format!("cannot read {} again", folder.display()))?;
    if args.pin {
        let mut pins = pins.unwrap_or_default();
        pins.replace(name, found);
        pins.save(&args.out).with_context(at)?;
        eprintln!("wrote {}", args.out.join(FILE).display());
        return Ok(ExitCode::SUCCESS);
    }
    let differences = pins.unwrap_or_default().differences(name, &found);
    said(&differences)
}

/// Makes some draws again and compares every row with what is written.
fn verify(
    ensemble: &Ensemble<'_>,
    spec: &EnsembleSpec,
    folder: &Path,
    sample: u64,
) -> anyhow::Result<ExitCode> {
    let there = Draws::open(folder)?;
    if there.count() as u64 != spec.draws {
        let (asked, found) = (spec.draws, there.count());
        bail!(
            "{}: expected {asked} draws, found {found}; make them without --sample",
            folder.display()
        );
    }
    let chosen = chosen(&there, spec.draws, sample);
    let mut differences = Vec::new();
    let mut rows = 0;
    for (draw, tables) in chosen.iter().zip(drawn(ensemble, &chosen)?) {
        for (name, packed) in tables {
            let Some(written) = there.rows(&name, *draw as usize) else {
                differences.push(format!("{}: missing", path_of(folder, &name).display()));
                continue;
            };
            rows += packed.rows().lines().count();
            differences.extend(different(&name, *draw, written, packed.rows()));
        }
    }
    let draws: Vec<String> = chosen.iter().map(u64::to_string).collect();
    eprintln!("draws {} made again: {rows} rows, {} differ", draws.join(", "), differences.len());
    said(&differences)
}

/// Which draws are made again: it depends on what is written, so nobody who writes it
/// chooses them.
fn chosen(there: &Draws, draws: u64, sample: u64) -> Vec<u64> {
    let said: String = there
        .names()
        .flat_map(|name| (0..draws).filter_map(|draw| there.rows(name, draw as usize)))
        .collect();
    let seed = sha256_hex(said.as_bytes());
    let mut order: Vec<(String, u64)> =
        (0..draws).map(|draw| (sha256_hex(format!("{seed} {draw}").as_bytes()), draw)).collect();
    order.sort();
    let mut chosen: Vec<u64> =
        order.into_iter().take(sample.min(draws) as usize).map(|(_, draw)| draw).collect();
    chosen.sort_unstable();
    chosen
}

/// The rows of a draw that are not as they are written.
fn different(table: &str, draw: u64, written: &str, made: &str) -> Vec<String> {
    let (written, made): (Vec<&str>, Vec<&str>) =
        (written.lines().collect(), made.lines().collect());
    let at = |i: usize| format!("{table}, draw {draw}, row {}", i + 1);
    let rows = 0..written.len().max(made.len());
    rows.filter(|i| written.get(*i) != made.get(*i))
        .map(|i| match (written.get(i), made.get(i)) {
            (Some(_), Some(_)) => format!("{}: is not what is made now", at(i)),
            (None, _) => format!("{}: missing", at(i)),
            (_, None) => format!("{}: nothing makes it", at(i)),
        })
        .collect()
}

fn said(differences: &[String]) -> anyhow::Result<ExitCode> {
    output::print(&output::lines(differences.iter().cloned()))?;
    Ok(ExitCode::from(u8::from(!differences.is_empty())))
}
