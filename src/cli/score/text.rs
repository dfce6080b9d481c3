//! The answer of `trapcheck score` for people.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::cli::output::{self, Width};
use crate::cli::runs::short_name;
use trapcheck::escape::escaped;
use trapcheck::judged::score::{ScoredRun, Scoring};
use trapcheck::judged::verdict::Verdict;
use trapcheck::law::trap_check::CheckLine;
use trapcheck::rule::{SeedOutcome, State};
use trapcheck::table::about_run::{AboutRun, token_rate_ratio};
use trapcheck::table::{self, Cell, Col, Heading, fixed};
pub use trapcheck_answers::score::because;

/// The answer for people.
pub fn as_text(scoring: &Scoring, verdicts: &[Verdict], width: Width) -> String {
    let mut out = String::new();
    let ordered = in_reading_order(&scoring.runs);
    let is_asked =
        |run: &&ScoredRun| run.state.is_some() || (is_open(run) && run.fitting_rules().is_some());
    let judged: Vec<_> = ordered.iter().filter(|run| is_asked(run)).copied().collect();
    if !judged.is_empty() {
        out += "Runs under the paired test's rule\n";
        out += &states(&judged, width);
    }
    let others: Vec<_> = scoring.runs.iter().filter(|run| !is_asked(run)).collect();
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
pub fn in_reading_order<'a>(runs: impl IntoIterator<Item = &'a ScoredRun>) -> Vec<&'a ScoredRun> {
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

/// What is read of a judged run; without a rule its state says so.
const STATES: &[Col<ScoredRun>] = &[
    Heading("arm", "", "Its arm").key(|run| Cell::text(run.meta.arm.word())),
    Heading("rate", "", "Its rate over lambda_ref")
        .key(|run| Cell::optional(run.meta.rate.multiple, 2)),
    Heading("seed", "", "The seed of its plan").key(|run| Cell::Count(run.meta.seed)),
    Heading("state", "", "Its state").new(state_word),
    Heading("decided by", "", "The deciding clause")
        .new(|run| Cell::text(run.state.as_ref().map_or(String::new(), because))),
    Heading("hit", "", "Hit fraction").known(3, |run| run.window()?.hits.value()),
    Heading("follow-up", "", "Follow-up hit fraction")
        .known(3, |run| run.window()?.follow_up_hits.value()),
    Heading("tokens/miss", "", "Uncached token rate over the all-miss rate")
        .known(3, token_rate_ratio),
    Heading("backlog", "", "Mean backlog").known(1, |run| Some(run.window()?.backlog_mean)),
    Heading("slope /s", "", "Backlog slope").known(4, |run| run.window()?.backlog_slope_per_s),
    Heading("end out.", "", "Outstanding at the end")
        .known(0, |run| Some(run.measures.last?.outstanding_end)),
    Heading("run", "", "Its directory").new(|run| Cell::text(short_name(&run.dir))),
];

/// A run's state in a word.
pub fn state_word(run: &ScoredRun) -> Cell {
    Cell::text(run.state.as_ref().map_or("not judged", |judged| judged.state.word()))
}

fn states(runs: &[&ScoredRun], width: Width) -> String {
    let mut text = output::rows(STATES, runs.iter().copied(), width);
    let bindings: BTreeSet<String> = runs.iter().map(|run| run.judged_in_words()).collect();
    for binding in bindings {
        text += &output::lines([format!("({binding})")]);
    }
    text
}

fn measured(runs: &[&ScoredRun], width: Width) -> String {
    let folder: Col<ScoredRun> =
        Heading("folder", "", "Its last two folders").new(|run| Cell::text(short_name(&run.dir)));
    output::screen(
        &table::runs::table(runs.iter().copied()).beside(&[folder], runs.iter().copied()),
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
            ("folder", "run"),
        ],
        width,
    )
}

/// A line of the trap check: what the run did beside what model F does.
const LINES: &[Col<CheckLine>] = &[
    Heading("measured", "", "What is measured").key(|line| Cell::text(line.measured_name)),
    Heading("value", "", "What the run did").new(|line| Cell::known(line.measured, line.digits)),
    Heading("against", "", "What it is compared with").key(|line| Cell::text(line.predicted_name)),
    Heading("value", "", "What model F does").new(|line| Cell::Number(line.predicted, line.digits)),
    Heading("ratio", "", "Measured over model F").known(3, CheckLine::ratio),
    Heading("unit", "", "Unit of both").new(|line| Cell::text(line.unit)),
];

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
        out += &output::rows(LINES, &lines, width);
    }
    out
}

/// How a seed of the paired test came out, arm by arm.
const SEEDS: &[Col<SeedOutcome>] = &[
    Heading("seed", "", "The seed").key(|seed| Cell::Count(seed.seed)),
    Heading("burst", "", "State of its BURST run").new(|seed| state_of(seed, 0)),
    Heading("noburst", "", "State of its NOBURST run").new(|seed| state_of(seed, 1)),
    Heading("capped", "", "State of its CAPPED run").new(|seed| state_of(seed, 2)),
    Heading("met", "", "Whether all three conditions are met").new(|seed| {
        Cell::text(seed.met.map_or("cannot be told", |met| if met { "yes" } else { "no" }))
    }),
];

fn state_of(seed: &SeedOutcome, arm: usize) -> Cell {
    Cell::text(seed.states[arm].map_or("missing", State::word))
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
        out += &output::rows(SEEDS, &rate.seeds, width);
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
