//! `trapcheck verdict`: how a registered test comes out, and which clause decided each run.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use serde_json::json;

use crate::analysis::store::Store;
use crate::files::write_beside;
use crate::judged::verdict::{Verdict, VerdictRun, json as verdict_json, verdict};
use crate::rule::outcome::Group;
use crate::rule::{Clause, Labelled};
use crate::setup::{Configs, RegistrationFile};
use crate::table::{self, Cell, Col, Heading};

use super::output::{self, Format, Print, Width};
use super::project;
use super::register::unknown;
use super::runs::{self, RunArgs, short_name};

/// Judge runs by a registration: a label per run, the outcome of the test
///
/// Every kind of registered test is judged by the thresholds its file states. Runs that
/// do not belong, or claim a place twice, are set aside by name. A run bound to another
/// registration, or to none, never makes a verdict decisive, nor does a simulated one.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  trapcheck verdict vllm-cpu results/vllm-cpu
  trapcheck verdict --format json configs/registrations/r1.yaml results/nova > r1.json

Exit codes: 0 every run was read, whatever the verdict; 2 a run could not be read, or bad usage")]
pub struct Args {
    /// The registration: its name in configs/registrations, or a file
    #[arg(value_name = "REGISTRATION")]
    registration: PathBuf,
    #[command(flatten)]
    runs: RunArgs,
    #[command(flatten)]
    print: Print,
    /// Also write verdict.csv, verdict_runs.csv and, for a rescue test, rescue.csv here
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// A registration or configuration that cannot be used, or no runs.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let configs = project::configs(&args.runs.configs)?;
    let file = registration(&args.registration, &configs)?;
    let found = runs::find(&args.runs.paths, &configs)?;
    let store = args.runs.store(Store::new(&configs).also_for(Some(&file)));
    let verdict = verdict(&file, &runs::measure(&store, &found, "judging"), &configs)?;
    if let Some(out) = &args.out {
        write(out, &verdict)?;
    }
    match args.print.format {
        Format::Table => output::show(&as_text(&verdict, args.print.width()))?,
        Format::Json => output::print(&as_json(&verdict)?)?,
        Format::Csv => output::print(&table::verdict::runs(&verdict).to_csv())?,
    }
    let unusable = verdict.unreadable.iter().map(|(dir, p)| (dir.as_path(), p.as_slice()));
    runs::tell_unusable(unusable, "not judged");
    let all_read = verdict.unreadable.is_empty() && found.problems.is_empty();
    Ok(if all_read { ExitCode::SUCCESS } else { ExitCode::from(2) })
}

/// The registration of a name, or in a file.
fn registration(asked: &Path, configs: &Configs) -> anyhow::Result<RegistrationFile> {
    let name = asked.to_string_lossy();
    if let Some(file) = configs.registrations.get(&*name).filter(|_| !asked.is_file()) {
        return Ok(file.clone());
    }
    let is_path = name.contains('/') || asked.extension().is_some_and(|e| e == "yaml");
    if !is_path && !asked.exists() {
        anyhow::bail!(unknown(&name, configs));
    }
    Ok(crate::configs::read(asked, RegistrationFile::parse)?)
}

fn write(out: &Path, verdict: &Verdict) -> anyhow::Result<()> {
    let tables = [
        table::verdict::outcome(verdict),
        table::verdict::runs(verdict),
        table::rescue::table(verdict),
    ];
    // Every test has an outcome and runs; only a rescue test has rescue rows.
    for table in tables.iter().filter(|t| !t.rows.is_empty()) {
        let path = out.join(format!("{}.csv", table.name));
        write_beside(&path, table.to_csv().as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// The verdict on a group of runs.
const GROUPS: &[Col<Group>] = &[
    Heading("group", "", "A rate, a dose or an arm").key(|group| Cell::text(&group.name)),
    Heading("verdict", "", "How it came out").new(|group| Cell::text(&group.verdict)),
    Heading("because", "", "What was asked of it").new(|group| Cell::text(&group.because)),
];

/// A labelled run.
const RUNS: &[Col<VerdictRun>] = &[
    Heading("arm", "", "Its arm").key(|run| Cell::text(run.meta.arm.word())),
    Heading("rate", "", "Its rate over lambda_ref")
        .key(|run| Cell::optional(run.meta.rate.multiple, 2)),
    Heading("seed", "", "The seed of its plan").key(|run| Cell::Count(run.meta.seed)),
    Heading("label", "", "Its label under the rule")
        .new(|run| Cell::text(run.labelled.as_ref().map_or("", |labelled| labelled.label))),
    Heading("decided by", "", "The deciding clause")
        .new(|run| Cell::text(run.labelled.as_ref().map_or(String::new(), decided_by))),
    Heading("run", "", "Its directory").new(|run| Cell::text(short_name(&run.dir))),
];

fn as_text(verdict: &Verdict, width: Width) -> String {
    let registration = &verdict.registration.registration;
    let mut out = format!(
        "{}: {} on {}, {}\n",
        registration.name,
        registration.test.words(),
        registration.cell,
        registration.status.word()
    );
    let worth = match &verdict.not_decisive_because {
        None => "decisive".to_owned(),
        Some(why) => format!("not decisive: {why}"),
    };
    out += &format!("{}: {}\n({worth})\n", verdict.outcome.word, verdict.outcome.because);
    if !verdict.sources.is_empty() {
        out += &format!("runs: {}\n", verdict.sources);
    }
    if !verdict.outcome.groups.is_empty() {
        out += &format!("\n{}", output::rows(GROUPS, &verdict.outcome.groups, width));
    }
    let judged = in_order(verdict);
    if !judged.is_empty() {
        out += &format!("\n{}", output::rows(RUNS, judged.iter().copied(), width));
    }
    for run in judged.iter().filter(|run| !run.secondary.is_empty()) {
        out += &format!("\nreported for {}\n", short_name(&run.dir));
        for clause in &run.secondary {
            let verdict = holds(clause);
            out += &format!("  {} {verdict}\n", clause.in_words(clause.quantity));
        }
    }
    for note in &verdict.outcome.notes {
        out += &output::lines([format!("note: {note}")]);
    }
    for why in &verdict.outcome.set_aside {
        out += &output::lines([format!("not used: {why}")]);
    }
    let others = verdict.runs.iter().filter(|run| run.role.is_empty()).count();
    if others > 0 {
        out += &format!("{others} runs here are not part of this test\n");
    }
    out
}

/// The labelled runs by arm, rate and seed.
fn in_order(verdict: &Verdict) -> Vec<&VerdictRun> {
    let mut runs: Vec<&VerdictRun> =
        verdict.runs.iter().filter(|run| run.labelled.is_some()).collect();
    let rate = |run: &VerdictRun| run.meta.rate.multiple.unwrap_or(0.0);
    runs.sort_by(|a, b| {
        let by_arm =
            (a.role != "subject", a.meta.arm.word()).cmp(&(b.role != "subject", b.meta.arm.word()));
        by_arm.then(rate(a).total_cmp(&rate(b))).then(a.meta.seed.cmp(&b.meta.seed))
    });
    runs
}

fn holds(clause: &Clause) -> &'static str {
    match clause.holds {
        Some(true) => "holds",
        Some(false) => "does NOT hold",
        None => "cannot be told",
    }
}

/// The deciding clause: what was measured, what it needed, how far off.
fn decided_by(labelled: &Labelled) -> String {
    let clause = labelled.deciding().map(|clause| clause.in_words(clause.quantity));
    match (clause, &labelled.because) {
        (Some(clause), Some(why)) => format!("{clause} ({why})"),
        (Some(clause), None) => clause,
        (None, why) => why.clone().unwrap_or_default(),
    }
}

fn as_json(verdict: &Verdict) -> serde_json::Result<String> {
    let registration = &verdict.registration.registration;
    let registered = json!({
        "name": registration.name,
        "file": verdict.registration.path.display().to_string(),
        "sha256": verdict.registration.sha256,
        "status": registration.status.word(),
        "test": registration.test.words(),
        "cell": registration.cell,
    });
    let (of_test, others): (Vec<&VerdictRun>, Vec<&VerdictRun>) =
        verdict.runs.iter().partition(|run| !run.role.is_empty());
    let paths = others.iter().map(|run| run.dir.display().to_string());
    let parts = [
        ("registration", registered),
        ("outcome", verdict_json::outcome(verdict)),
        ("runs", of_test.into_iter().map(verdict_json::run).collect()),
        ("not_part_of_this_test", paths.collect()),
    ];
    output::json("verdict", parts)
}
