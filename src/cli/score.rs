//! `trapcheck score`: is a run trapped, by which criterion, how far from the
//! threshold, and does a stuck run follow model F?

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;

use trapcheck::analysis::store::Store;
use trapcheck::files::write_beside;
use trapcheck::judged::score::{ScoredRun, Scoring, score};
use trapcheck::judged::what_if::{Answer, WhatIf};
use trapcheck::run::{Problem, Severity};
use trapcheck::setup::RegistrationFile;
use trapcheck::table::{self, Table, fixed};

use trapcheck_answers::score as answers;

use super::output::{self, Format, Print};
use super::project;
use super::runs::{self, RunArgs};

mod text;
mod what_if;

/// Judge runs: trapped or not, by which criterion, how far from the threshold
///
/// Prints for each run its state and measurements, for each stuck run the trap
/// check (what it did against what model F says a trapped engine does), and the
/// paired verdict per rate where the arms are there. Rules are registrations in
/// configs/registrations; runs find theirs by its hash or by their cell. A cell without
/// one is judged by the paper's published rule, exploratory. What is worth knowing of the
/// runs is noted on stderr.
///
/// Exits with 0 whatever the states are; with 2 when a run could not be read, or several
/// registrations fit it and none was chosen.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  trapcheck score results/vllm-cpu
  trapcheck score --format json results/nova/e2_170933xx_pulled_20261025-144558
  trapcheck score --wide results/vllm-cpu              with every measurement
  trapcheck score --out /tmp/scores results/nova       also as csv and JSON files
  trapcheck score --set slope_factor=1 results/vllm-cpu            what if
  trapcheck score --rule my-rule.yaml results/vllm-cpu             what if

Exit codes: 0 every run was read, whatever its state; 2 a run could not be read, several
registrations fit one, or bad usage")]
pub struct Args {
    #[command(flatten)]
    runs: RunArgs,
    /// What if this registration judged? Shown beside what does; it decides nothing
    #[arg(long, value_name = "FILE")]
    rule: Option<PathBuf>,
    /// What if a threshold of the rule were another (slope_factor=1)? Can be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = what_if::threshold)]
    set: Vec<(String, f64)>,
    #[command(flatten)]
    print: Print,
    /// Also write runs.csv, trap_check.csv, paired.csv and score.json here, and of a
    /// what-if what_if.csv and what_if_paired.csv
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// No runs, a configuration that cannot be used, or a file that cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let configs = project::configs(&args.runs.configs)?;
    let rule = args
        .rule
        .as_deref()
        .map(|path| trapcheck::configs::read(path, RegistrationFile::parse))
        .transpose()?;
    let what_if = WhatIf { rule, set: args.set.clone() };
    let found = runs::find(&args.runs.paths, &configs)?;
    let store = args.runs.store(Store::new(&configs));
    let scoring = score(runs::measure(&store, &found, "scoring"), &configs, None);
    let answer = what_if.is_asked().then(|| what_if.ask(&scoring, &configs)).transpose()?;
    let verdicts = scoring.paired(&configs)?;
    let mut tables = answers::tables(&scoring, &verdicts);
    let asked = answer.as_ref().map(what_if::as_json).into();
    let json = output::json("score", answers::parts(&scoring, &tables, asked))?;
    if let Some(answer) = &answer {
        tables.extend([table::what_if::runs(answer), table::what_if::rates(answer)]);
    }
    if let Some(out) = &args.out {
        write(out, &tables, &json)?;
    }
    let width = args.print.width();
    match args.print.format {
        Format::Table => {
            let asked = answer.as_ref().map_or(String::new(), |a| what_if::as_text(a, width));
            output::show(&(text::as_text(&scoring, &verdicts, width) + &asked))?;
        }
        Format::Json => output::print(&json)?,
        // Of a what-if, the states before and after.
        Format::Csv => output::print(&tables[if answer.is_some() { 3 } else { 0 }].to_csv())?,
    }
    let unusable = scoring.unreadable.iter().map(|r| (r.dir.as_path(), r.problems.as_slice()));
    runs::tell_unusable(unusable, "not scored");
    let notes: Vec<(&Path, Vec<Problem>)> = scoring
        .runs
        .iter()
        .map(|run| {
            (run.dir.as_path(), run.notes.iter().cloned().chain(noted_of_rule(run)).collect())
        })
        .collect();
    runs::tell_notes(notes.iter().map(|(dir, notes)| (*dir, notes.as_slice())), false);
    let undecided = tell_several_rules(&scoring, answer.as_ref());
    let all_read = scoring.unreadable.is_empty() && found.problems.is_empty() && undecided == 0;
    Ok(if all_read { ExitCode::SUCCESS } else { ExitCode::from(2) })
}

/// What is worth knowing of the rule that judged a run.
fn noted_of_rule(run: &ScoredRun) -> Option<Problem> {
    let load = run.load.filter(|_| run.state.is_some())?;
    let note = |message: String| {
        Some(Problem { severity: Severity::Note, ..Problem::new(&run.dir, message) })
    };
    let judged = load.lambda_ref_per_s;
    if let Some(own) = run.meta.rate.lambda_ref.filter(|own| (own / judged - 1.0).abs() > 0.01) {
        return note(format!(
            "its rate is a multiple of {} sessions/s, and it is judged against lambda_ref {}",
            fixed(own, 4),
            fixed(judged, 4)
        ));
    }
    let unknown = load.all_miss_tokens_per_s.is_nan();
    unknown.then(|| note("its all-miss token rate is unknown: TRAPPED cannot be told".into()))?
}

/// Says which runs nothing judges because several registrations fit; how many they are.
fn tell_several_rules(scoring: &Scoring, answer: Option<&Answer>) -> usize {
    let mut of_cell: BTreeMap<&str, (&[String], usize)> = BTreeMap::new();
    for run in &scoring.runs {
        let rule = answer.and_then(|answer| answer.asked.rule.as_ref());
        let chosen = rule.is_some_and(|rule| rule.registration.is_about(&run.meta.cell));
        if let Some(files) = run.fitting_rules().filter(|_| !chosen) {
            of_cell.entry(&run.meta.cell).or_insert((files, 0)).1 += 1;
        }
    }
    for (cell, (files, runs)) in &of_cell {
        eprintln!(
            "problem: {runs} runs of {cell} are bound to no registration, and {} fit: {}; \
             choose one with --rule FILE",
            files.len(),
            files.join(", ")
        );
    }
    of_cell.values().map(|(_, runs)| runs).sum()
}

fn write(out: &Path, tables: &[Table], json: &str) -> anyhow::Result<()> {
    let files = tables
        .iter()
        .map(|table| (format!("{}.csv", table.name), table.to_csv()))
        .chain([("score.json".to_owned(), json.to_owned())]);
    for (name, text) in files {
        let path = out.join(name);
        write_beside(&path, text.as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}
