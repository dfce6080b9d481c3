//! `trapcheck verdict`: how registered tests come out, and which clause decided each run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use serde_json::{Value, json};

use trapcheck::analysis::store::Store;
use trapcheck::files::write_beside;
use trapcheck::judged::verdict::{Verdict, VerdictRun, json as verdict_json, verdict};
use trapcheck::rule::outcome::Group;
use trapcheck::rule::{Clause, Labelled};
use trapcheck::run::Problem;
use trapcheck::setup::{Configs, RegistrationFile};
use trapcheck::table::{self, Cell, Col, Heading, Table};

use super::output::{self, Format, Print, Width};
use super::project;
use super::register::unknown;
use super::runs::{self, Inputs, RunArgs, short_name};

/// Judge runs by a registration: a label per run, the outcome of the test
///
/// Every kind of registered test is judged by the thresholds its file states. Runs that
/// do not belong, or claim a place twice, are set aside by name. A run bound to another
/// registration, or to none, never makes a verdict decisive, nor does a simulated one.
/// Several registrations judge the same runs one after another: name them all before the
/// runs. A folder of a registration's name is taken for runs.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  trapcheck verdict vllm-cpu results/vllm-cpu
  trapcheck verdict vllm-cpu vllm-cpu-rescue vllm-cpu-mechanism results/vllm-cpu
  trapcheck verdict --format json configs/registrations/r1.yaml results/nova > r1.json

Exit codes: 0 every run was read, whatever the verdict; 2 a run could not be read, or bad usage")]
pub struct Args {
    /// The registration: its name in configs/registrations, or a file; more may follow
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
    let (files, paths) = registrations(args, &configs)?;
    let found = runs::find(paths, &configs)?;
    let verdicts = judge(args, &files, &found, &configs)?;
    if let Some(out) = &args.out {
        write(out, &verdicts)?;
    }
    match args.print.format {
        Format::Table => {
            let texts: Vec<_> = verdicts.iter().map(|v| as_text(v, args.print.width())).collect();
            output::show(&texts.join("\n"))?;
        }
        Format::Json => output::print(&as_json(&verdicts)?)?,
        Format::Csv => {
            let runs = of_all(&verdicts, table::verdict::runs);
            output::print(&runs.map(|runs| runs.to_csv()).unwrap_or_default())?;
        }
    }
    // What could not be read is so for each of them.
    let unreadable: BTreeMap<&Path, &[Problem]> =
        verdicts.iter().flat_map(|v| &v.unreadable).map(|(dir, p)| (&**dir, &**p)).collect();
    let all_read = unreadable.is_empty() && found.problems.is_empty();
    runs::tell_unusable(unreadable.into_iter(), "not judged");
    Ok(if all_read { ExitCode::SUCCESS } else { ExitCode::from(2) })
}

/// The registrations, and the paths of runs that follow them.
fn registrations<'a>(
    args: &'a Args,
    configs: &Configs,
) -> anyhow::Result<(Vec<RegistrationFile>, &'a [PathBuf])> {
    let is_one = |path: &&PathBuf| {
        let is_name = path.to_str().is_some_and(|name| configs.registrations.contains_key(name));
        let is_yaml = path.extension().is_some_and(|ending| ending == "yaml");
        !path.is_dir() && (is_name || is_yaml)
    };
    let paths = &args.runs.paths;
    let (more, paths) = paths.split_at(paths.iter().take_while(is_one).count());
    if paths.is_empty() {
        anyhow::bail!("expected the runs to judge after the registrations");
    }
    let named = std::iter::once(&args.registration).chain(more);
    let files = named.map(|asked| registration(asked, configs)).collect::<Result<_, _>>()?;
    Ok((files, paths))
}

/// Each registration's verdict on the runs, which are measured once for all that the
/// configuration has.
fn judge(
    args: &Args,
    files: &[RegistrationFile],
    found: &Inputs,
    configs: &Configs,
) -> anyhow::Result<Vec<Verdict>> {
    let mut for_known = None;
    let of = |file: &RegistrationFile| {
        let measure = || {
            let store = args.runs.store(Store::new(configs).also_for(Some(file)));
            runs::measure(&store, found, "judging")
        };
        let is_known = configs.bound_by(&file.sha256).is_some();
        let measured =
            if is_known { for_known.get_or_insert_with(measure) } else { &mut measure() };
        Ok(verdict(file, measured, configs)?)
    };
    files.iter().map(of).collect()
}

/// A table of each verdict, as one.
fn of_all(verdicts: &[Verdict], table: impl Fn(&Verdict) -> Table) -> Option<Table> {
    verdicts.iter().map(table).reduce(|mut all, table| {
        all.rows.extend(table.rows);
        all
    })
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
    Ok(trapcheck::configs::read(asked, RegistrationFile::parse)?)
}

fn write(out: &Path, verdicts: &[Verdict]) -> anyhow::Result<()> {
    let tables: [fn(&Verdict) -> Table; 3] =
        [table::verdict::outcome, table::verdict::runs, table::rescue::table];
    // Every test has an outcome and runs; only a rescue test has rescue rows.
    let tables = tables.iter().filter_map(|table| of_all(verdicts, table));
    for table in tables.filter(|t| !t.rows.is_empty()) {
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

/// One verdict is the answer; several are listed in it.
fn as_json(verdicts: &[Verdict]) -> serde_json::Result<String> {
    if let [verdict] = verdicts {
        return output::json("verdict", parts(verdict));
    }
    let object = |verdict| parts(verdict).map(|(name, part)| (name.to_owned(), part));
    let listed = verdicts.iter().map(|v| Value::Object(object(v).into_iter().collect()));
    output::json("verdicts", [("verdicts", listed.collect())])
}

fn parts(verdict: &Verdict) -> [(&'static str, Value); 4] {
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
    [
        ("registration", registered),
        ("outcome", verdict_json::outcome(verdict)),
        ("runs", of_test.into_iter().map(verdict_json::run).collect()),
        ("not_part_of_this_test", paths.collect()),
    ]
}
