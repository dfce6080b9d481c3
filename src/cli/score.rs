//! `trapcheck score`: is a run trapped, by which criterion, how far from the
//! threshold, and does a stuck run follow model F?

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use serde_json::json;

use crate::analysis::store::Store;
use crate::escape::{escaped, shown};
use crate::files::write_beside;
use crate::judged::score::{ScoredRun, Scoring, score};
use crate::judged::verdict::Verdict;
use crate::judged::what_if::{Answer, WhatIf};
use crate::rule::{RunState, State};
use crate::run::{Problem, Severity};
use crate::setup::RegistrationFile;
use crate::table::about_run::token_rate_ratio;
use crate::table::{self, Cell, Table, fixed};

use super::output::{self, Format, Print, Width};
use super::project;
use super::runs::{self, RunArgs};

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
        .map(|path| crate::configs::read(path, RegistrationFile::parse))
        .transpose()?;
    let what_if = WhatIf { rule, set: args.set.clone() };
    let found = runs::find(&args.runs.paths, &configs)?;
    let store = args.runs.store(Store::new(&configs));
    let scoring = score(runs::measure(&store, &found, "scoring"), &configs, None);
    let answer = what_if.is_asked().then(|| what_if.ask(&scoring, &configs)).transpose()?;
    let verdicts = scoring.paired(&configs)?;
    let mut tables = vec![
        table::runs::table(&scoring.runs),
        table::trap_check::table(&scoring.runs),
        table::paired::table(&verdicts),
    ];
    let json = as_json(&scoring, &tables, answer.as_ref())?;
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
            output::show(&(as_text(&scoring, &verdicts, width) + &asked))?;
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

fn as_json(
    scoring: &Scoring,
    tables: &[Table],
    answer: Option<&Answer>,
) -> serde_json::Result<String> {
    let states: Vec<_> = scoring
        .runs
        .iter()
        .filter_map(|run| run.state.as_ref().map(|state| (run, state)))
        .map(|(run, state)| {
            let mut json = state_as_json(state);
            json["run"] = json!(run.dir.display().to_string());
            json["judged_by"] = json!(run.judged_by);
            json["binding"] = json!(run.judged_in_words());
            json
        })
        .collect();
    let not_judged: Vec<_> = scoring
        .runs
        .iter()
        .filter_map(|run| run.fitting_rules().map(|files| (run, files)))
        .map(|(run, files)| {
            json!({"run": run.dir.display().to_string(), "registrations_that_fit": files})
        })
        .collect();
    let unreadable: Vec<_> = scoring
        .unreadable
        .iter()
        .map(|run| {
            let problems: Vec<_> = run.problems.iter().map(ToString::to_string).collect();
            json!({"run": run.dir.display().to_string(), "problems": problems})
        })
        .collect();
    let parts = [
        ("runs", tables[0].to_json()),
        ("states", states.into()),
        ("trap_check", tables[1].to_json()),
        ("paired", tables[2].to_json()),
        ("not_judged", not_judged.into()),
        ("not_scored", unreadable.into()),
        ("what_if", answer.map(what_if::as_json).into()),
    ];
    output::json("score", parts)
}

/// A state with every clause behind it.
fn state_as_json(state: &RunState) -> serde_json::Value {
    use output::clause;
    json!({
        "state": state.state.word(),
        "stuck": state.stuck,
        "because": state.because,
        "trapped": state.trapped.iter().map(clause).collect::<Vec<_>>(),
        "recovered": state.recovered.iter().map(clause).collect::<Vec<_>>(),
        "draining": state.draining.iter().map(clause).collect::<Vec<_>>(),
    })
}

fn as_text(scoring: &Scoring, verdicts: &[Verdict], width: Width) -> String {
    let mut out = String::new();
    let ordered = in_reading_order(&scoring.runs);
    let is_asked =
        |run: &&ScoredRun| run.state.is_some() || (is_open(run) && run.fitting_rules().is_some());
    let judged: Vec<_> = ordered.iter().filter(|run| is_asked(run)).copied().collect();
    if !judged.is_empty() {
        out += "Runs under the paired test's rule\n";
        out += &states(&judged, width);
    }
    let others: Vec<_> = scoring.runs.iter().filter(|run| !is_asked(run)).cloned().collect();
    if !others.is_empty() {
        out += "\nOther runs, measured over their window\n";
        out += &measured(&others, width);
    }
    for run in ordered.iter().filter(|run| run.stuck == Some(true)) {
        out += &trap_check(run, width);
    }
    for verdict in verdicts {
        out += &paired(verdict, width);
    }
    out
}

fn is_open(run: &ScoredRun) -> bool {
    run.meta.arm.is_open()
}

/// By cell, arm, rate and seed, which is how a test is read.
fn in_reading_order<'a>(runs: impl IntoIterator<Item = &'a ScoredRun>) -> Vec<&'a ScoredRun> {
    let mut ordered: Vec<&ScoredRun> = runs.into_iter().collect();
    ordered.sort_by(|a, b| {
        let key = |r: &ScoredRun| (r.meta.cell.clone(), r.meta.arm.to_string());
        let rate = |r: &ScoredRun| r.meta.rate.multiple.unwrap_or(0.0);
        key(a)
            .cmp(&key(b))
            .then(rate(a).total_cmp(&rate(b)))
            .then((a.meta.population, a.meta.seed).cmp(&(b.meta.population, b.meta.seed)))
    });
    ordered
}

fn states(runs: &[&ScoredRun], width: Width) -> String {
    let rows: Vec<Vec<Cell>> = runs
        .iter()
        .map(|run| {
            let window = run.measures.window.as_ref();
            vec![
                Cell::text(run.meta.arm.word()),
                Cell::optional(run.meta.rate.multiple, 2),
                Cell::Count(run.meta.seed),
                Cell::text(run.state.as_ref().map_or("not judged", |s| s.state.word())),
                Cell::text(run.state.as_ref().map_or(String::new(), because)),
                Cell::known(window.and_then(|w| w.hits.value()), 3),
                Cell::known(window.and_then(|w| w.follow_up_hits.value()), 3),
                Cell::known(token_rate_ratio(run), 3),
                Cell::known(window.map(|w| w.backlog_mean), 1),
                Cell::known(window.and_then(|w| w.backlog_slope_per_s), 4),
                Cell::known(run.measures.last.map(|l| l.outstanding_end), 0),
                Cell::text(short_name(&run.dir)),
            ]
        })
        .collect();
    let headings = [
        "arm",
        "rate",
        "seed",
        "state",
        "decided by",
        "hit",
        "follow-up",
        "tokens/miss",
        "backlog",
        "slope /s",
        "end out.",
        "run",
    ];
    let mut text = output::grid(&headings, &rows, width);
    let mut bindings: Vec<String> = runs.iter().map(|run| run.judged_in_words()).collect();
    bindings.sort();
    bindings.dedup();
    for binding in bindings {
        text += &output::lines([format!("({binding})")]);
    }
    text
}

fn measured(runs: &[ScoredRun], width: Width) -> String {
    let mut names = table::runs::table(runs);
    if let Some(run) = names.place("run") {
        for row in &mut names.rows {
            row.cells[run] = Cell::text(short_name(Path::new(&row.key)));
        }
    }
    output::screen(
        &names,
        &[
            ("arm", "arm"),
            ("rate_multiple", "rate"),
            ("population", "n"),
            ("seed", "seed"),
            ("hit_fraction", "hit"),
            ("follow_up_hit_fraction", "follow-up"),
            ("uncached_tokens_per_s", "tokens/s"),
            ("completions_per_s", "completions/s"),
            ("backlog_mean_sessions", "backlog"),
            ("gap_over_turnover", "gap/R_M"),
            ("run", "run"),
        ],
        width,
    )
}

/// The last two folders of a run's path.
fn short_name(dir: &Path) -> String {
    let parts: Vec<_> = dir.components().rev().take(2).collect();
    parts.iter().rev().map(|p| shown(p.as_ref())).collect::<Vec<_>>().join("/")
}

/// The deciding clause in words: what was measured, what it needed, how far off.
fn because(state: &RunState) -> String {
    if let Some(why) = &state.because {
        return why.clone();
    }
    let Some(clause) = state.deciding() else { return String::new() };
    let verb = match (state.state, clause.holds) {
        (State::Trapped | State::Recovered, _) => "",
        (_, Some(false)) => "not trapped: ",
        _ => "",
    };
    format!("{verb}{}", clause.in_words(short(clause.quantity)))
}

fn short(quantity: &str) -> &str {
    match quantity {
        "uncached token rate / all-miss rate" => "tokens/miss",
        "hit fraction, end of the window" => "hit at end",
        "outstanding, end of the window" => "outstanding at end",
        other => other,
    }
}

fn trap_check(run: &ScoredRun, width: Width) -> String {
    let meta = &run.meta;
    let rate = meta.rate.multiple.map_or(String::new(), |m| format!(" {}", fixed(m, 2)));
    let mut out = format!(
        "\nTrap check, {}{rate} seed {}: stuck, follow-up hits below the line\n({})\n",
        escaped(meta.arm.word()),
        meta.seed,
        short_name(&run.dir)
    );
    let checks = match &run.checks {
        Ok(checks) => checks,
        Err(why) => return out + &format!("no check: {why}\n"),
    };
    let (Some(window), Some(load)) = (&run.measures.window, run.load) else { return out };
    for check in checks {
        let lines = check.lines(window, load.lambda_ref_per_s);
        out += &format!(
            "model F with {}:\nspeed {}, lambda_miss {} sessions/s, rho {}\n",
            check.calibration.words(),
            fixed(check.speed, 4),
            fixed(check.lambda_miss_per_s, 4),
            fixed(check.rho, 3)
        );
        if lines.is_empty() {
            out += "  model F drains at this load: nothing to compare\n";
            continue;
        }
        let rows: Vec<Vec<Cell>> = lines
            .iter()
            .map(|line| {
                vec![
                    Cell::text(line.measured_name),
                    Cell::known(line.measured, line.digits),
                    Cell::text(line.predicted_name),
                    Cell::Number(line.predicted, line.digits),
                    Cell::known(line.ratio(), 3),
                    Cell::text(line.unit),
                ]
            })
            .collect();
        let headings = ["measured", "value", "against", "value", "ratio", "unit"];
        out += &output::grid(&headings, &rows, width);
    }
    out
}

fn paired(verdict: &Verdict, width: Width) -> String {
    let registration = &verdict.registration.registration;
    let name = match verdict.registration.is_published() {
        true => format!("by {}", registration.name),
        false => registration.name.clone(),
    };
    let mut out = format!(
        "\nPaired test {name} on {} ({}, {} runs)\n",
        registration.cell,
        registration.status.word(),
        verdict.sources
    );
    for rate in &verdict.rates {
        let worth = if verdict.decisive { "" } else { ", not decisive" };
        out += &format!(
            "rate {}: {} ({} of {} seeds met all three conditions{worth})\n",
            fixed(rate.multiple, 2),
            rate.verdict.words(),
            rate.met,
            rate.judged
        );
        let word = |s: Option<State>| Cell::text(s.map_or("missing", State::word));
        let rows: Vec<Vec<Cell>> = rate
            .seeds
            .iter()
            .map(|seed| {
                let met = seed.met.map_or("cannot be told", |m| if m { "yes" } else { "no" });
                let [burst, noburst, capped] = seed.states;
                vec![
                    Cell::Count(seed.seed),
                    word(burst),
                    word(noburst),
                    word(capped),
                    Cell::text(met),
                ]
            })
            .collect();
        out += &output::grid(&["seed", "burst", "noburst", "capped", "met"], &rows, width);
        for why in &rate.set_aside {
            out += &output::lines([format!("  set aside: {why}")]);
        }
    }
    out + &set_aside(verdict)
}

/// The runs of the test that have no vote, by the reason, and rates without a run.
fn set_aside(verdict: &Verdict) -> String {
    let mut reasons: BTreeMap<&str, Vec<&Path>> = BTreeMap::new();
    for run in &verdict.runs {
        if let Some(why) = &run.set_aside {
            reasons.entry(why).or_default().push(&run.dir);
        }
    }
    let runs = reasons.iter().map(|(why, dirs)| match dirs.as_slice() {
        [only] => format!("set aside: {}: {why}\n", short_name(only)),
        [first, ..] => {
            format!("set aside: {} runs ({}, ...): {why}\n", dirs.len(), short_name(first))
        }
        [] => String::new(),
    });
    let there = |rate: &f64| verdict.rates.iter().any(|r| (r.multiple - rate).abs() < 1e-6);
    let registered = verdict.registration.registration.rates.iter();
    let missing = registered
        .filter(|rate| !there(rate))
        .map(|rate| format!("registered rate {}: it has no run\n", fixed(*rate, 2)));
    runs.chain(missing).collect()
}
