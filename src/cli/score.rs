//! `trapcheck score`: is a run trapped, by which criterion, how far from the
//! threshold, and does a stuck run follow model F?

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use serde_json::json;

use crate::analysis::score::{CellVerdict, ScoredRun, Scoring, score};
use crate::analysis::store::Store;
use crate::files::write_beside;
use crate::rule::{Clause, Comparison, State};
use crate::setup::Configs;
use crate::table::{self, Cell, Table, fixed};

use super::output::{self, Format, Print, Width};
use super::runs::{self, RunArgs};

/// Judge runs: trapped or not, by which criterion, how far from the threshold
///
/// Prints for each run its state and measurements, for each stuck run the trap
/// check (what it did against what model F says a trapped engine does), and the
/// paired verdict per rate where the arms are there. Rules are registrations in
/// configs/registrations; runs find theirs by its hash or by their cell.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  trapcheck score results/vllm-cpu
  trapcheck score --format json results/nova/e2_170933xx_pulled_20261025-144558
  trapcheck score --wide results/vllm-cpu              with every measurement
  trapcheck score --out /tmp/scores results/nova       also as csv and JSON files

Exit codes: 0 every run was read, whatever its state; 2 a run could not be read, or bad usage")]
pub struct Args {
    #[command(flatten)]
    runs: RunArgs,
    #[command(flatten)]
    print: Print,
    /// Also write runs.csv, trap_check.csv, paired.csv and score.json here
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// No runs, a configuration that cannot be used, or a file that cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let configs = Configs::load(&args.runs.configs)?;
    let found = runs::find(&args.runs.paths, &configs)?;
    let store = args.runs.store(Store::new(&configs));
    let scoring = score(runs::measure(&store, &found, "scoring"), &configs, None);
    let verdicts = scoring.paired(&configs);
    let tables = [
        table::runs::table(&scoring.runs),
        table::trap_check::table(&scoring.runs),
        table::paired::table(&verdicts, &scoring.runs),
    ];
    let json = as_json(&scoring, &tables)?;
    if let Some(out) = &args.out {
        write(out, &tables, &json)?;
    }
    match args.print.format {
        Format::Table => output::show(&as_text(&scoring, &verdicts, args.print.width()))?,
        Format::Json => output::print(&json)?,
        Format::Csv => output::print(&tables[0].to_csv())?,
    }
    let unusable = scoring.unreadable.iter().map(|r| (r.dir.as_path(), r.problems.as_slice()));
    runs::tell_unusable(unusable, "not scored");
    let all_read = scoring.unreadable.is_empty() && found.problems.is_empty();
    Ok(if all_read { ExitCode::SUCCESS } else { ExitCode::from(2) })
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

fn as_json(scoring: &Scoring, tables: &[Table; 3]) -> serde_json::Result<String> {
    use output::clause;
    let states: Vec<_> = scoring
        .runs
        .iter()
        .filter_map(|run| run.state.as_ref().map(|state| (run, state)))
        .map(|(run, state)| {
            json!({
                "run": run.dir.display().to_string(),
                "state": state.state.word(),
                "because": state.because,
                "trapped": state.trapped.iter().map(clause).collect::<Vec<_>>(),
                "recovered": state.recovered.iter().map(clause).collect::<Vec<_>>(),
                "draining": state.draining.iter().map(clause).collect::<Vec<_>>(),
            })
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
        ("not_scored", unreadable.into()),
    ];
    output::json("score", parts)
}

fn as_text(scoring: &Scoring, verdicts: &[CellVerdict], width: Width) -> String {
    let mut out = String::new();
    let ordered = in_reading_order(&scoring.runs);
    let judged: Vec<_> = ordered.iter().filter(|run| run.state.is_some()).copied().collect();
    if !judged.is_empty() {
        out += "Runs under the paired test's rule\n";
        out += &states(&judged, width);
    }
    let others: Vec<_> = scoring.runs.iter().filter(|run| run.state.is_none()).cloned().collect();
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

/// By cell, arm, rate and seed, which is how a test is read.
fn in_reading_order(runs: &[ScoredRun]) -> Vec<&ScoredRun> {
    let mut ordered: Vec<&ScoredRun> = runs.iter().collect();
    ordered.sort_by(|a, b| {
        let key = |r: &ScoredRun| (r.meta.cell.clone(), r.meta.arm.clone());
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
            let reference = run.load.map_or(f64::NAN, |l| l.all_miss_tokens_per_s);
            let ratio = window.and_then(|w| w.uncached_tokens_per_s).map(|rate| rate / reference);
            vec![
                Cell::text(&run.meta.arm),
                Cell::optional(run.meta.rate.multiple, 2),
                Cell::Count(run.meta.seed),
                Cell::text(run.state.as_ref().map_or("", |s| s.state.word())),
                Cell::text(because(run)),
                Cell::known(window.and_then(|w| w.hits.value()), 3),
                Cell::known(window.and_then(|w| w.follow_up_hits.value()), 3),
                Cell::known(ratio, 3),
                Cell::known(window.map(|w| w.backlog_mean), 1),
                Cell::known(window.and_then(|w| w.backlog_slope_per_s), 4),
                Cell::known(run.measures.last.map(|l| l.outstanding_mean), 1),
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
    let mut bindings: Vec<String> = runs.iter().map(|run| run.binding.words()).collect();
    bindings.sort();
    bindings.dedup();
    for binding in bindings {
        text += &format!("({binding})\n");
    }
    text
}

fn measured(runs: &[ScoredRun], width: Width) -> String {
    let table = table::runs::table(runs);
    let names = table::Table {
        rows: table
            .rows
            .into_iter()
            .map(|mut row| {
                row.cells[0] = Cell::text(short_name(Path::new(&row.key)));
                row
            })
            .collect(),
        ..table
    };
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
    parts.iter().rev().map(|p| p.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// The deciding clause in words: what was measured, what it needed, how far off.
fn because(run: &ScoredRun) -> String {
    let Some(state) = &run.state else { return String::new() };
    if let Some(why) = &state.because {
        return why.clone();
    }
    let Some(clause) = state.deciding() else { return String::new() };
    let measured = clause.measured.map_or("unknown".into(), |x| fixed(x, 4));
    let margin = clause.margin().map_or(String::new(), |m| {
        let sign = if m < 0.0 { "" } else { "+" };
        format!(" ({sign}{})", fixed(m, 4))
    });
    let verb = match (state.state, clause.holds) {
        (State::Trapped | State::Recovered, _) => "",
        (_, Some(false)) => "not trapped: ",
        _ => "",
    };
    format!("{verb}{} {measured} {}{margin}", short(clause.quantity), needs(clause))
}

fn short(quantity: &str) -> &str {
    match quantity {
        "uncached token rate / all-miss rate" => "tokens/miss",
        "hit fraction, end of the window" => "hit at end",
        "outstanding, end of the window" => "outstanding at end",
        other => other,
    }
}

fn needs(clause: &Clause) -> String {
    match (clause.needs, clause.holds) {
        (Comparison::Above(x), Some(false)) => format!("<= {}", fixed(x, 4)),
        (Comparison::Above(x), _) => format!("> {}", fixed(x, 4)),
        (Comparison::Below(x), Some(false)) => format!(">= {}", fixed(x, 4)),
        (Comparison::Below(x), _) => format!("< {}", fixed(x, 4)),
        (Comparison::AtLeast(x), Some(false)) => format!("< {}", fixed(x, 4)),
        (Comparison::AtLeast(x), _) => format!(">= {}", fixed(x, 4)),
        (Comparison::AtMost(x), Some(false)) => format!("> {}", fixed(x, 4)),
        (Comparison::AtMost(x), _) => format!("<= {}", fixed(x, 4)),
        (Comparison::Within(low, high), holds) => {
            let word = if holds == Some(false) { "outside" } else { "in" };
            format!("{word} [{}, {}]", fixed(low, 2), fixed(high, 2))
        }
    }
}

fn trap_check(run: &ScoredRun, width: Width) -> String {
    let meta = &run.meta;
    let rate = meta.rate.multiple.map_or(String::new(), |m| format!(" {}", fixed(m, 2)));
    let mut out = format!(
        "\nTrap check, {}{rate} seed {}: stuck, follow-up hits below the line\n({})\n",
        meta.arm,
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

fn paired(verdict: &CellVerdict, width: Width) -> String {
    let mut out = format!(
        "\nPaired test {} on {} ({}, {} runs)\n",
        verdict.registration,
        verdict.cell,
        verdict.status.word(),
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
            out += &format!("  set aside: {why}\n");
        }
    }
    out
}
