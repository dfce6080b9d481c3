//! The pre-set scores S1 to S5 of the trap law on the blind slowdown tests (TOOLSLOW-W,
//! TOOLSLOW-D15; App. C).

use crate::judged::verdict::{Verdict, VerdictRun, trapped_run};
use crate::rule::trap_law::{TrappedRun, judge, pooled};
use crate::rule::{Clause, Load};
use crate::run::SourceFile;
use crate::setup::registration::Test;
use crate::setup::registration::trap::TrapLawTest;
use crate::setup::{Configs, Registration};

use super::{Cell, Column, Row, Table, holds};

const COLUMNS: &[Column] = &[
    Column::key("group", ""),
    Column::key("source", ""),
    Column::key("score", ""),
    Column::new("measured", "see score"),
    Column::new("runs", "runs"),
    Column::new("holds", ""),
];

/// The scores; S1 to S4 are pooled over a group's stuck runs, S5 is asked of each of them.
const SCORES: [&str; 5] = ["S1", "S2", "S3", "S4", "S5"];

/// The stuck runs of one test.
struct Group<'a> {
    name: &'a str,
    source: &'a str,
    runs: Vec<TrappedRun>,
    sources: Vec<SourceFile>,
}

/// The table: a row per blind test with stuck runs and score, then a row per score over all
/// of them, which holds where it holds in every test. The blind tests are the three-way ones;
/// the tolerances are those of the registered trap law.
pub fn table(verdicts: &[Verdict], configs: &Configs) -> Table {
    let law = verdicts.iter().find_map(|v| match &v.registration.registration.test {
        Test::TrapLaw(rule) => Some((&v.registration.registration, rule)),
        _ => None,
    });
    let rows = law.map_or_else(Vec::new, |(registration, rule)| {
        let groups: Vec<Group<'_>> = verdicts
            .iter()
            .filter(|v| matches!(v.registration.registration.test, Test::ThreeWay(_)))
            .map(|v| group(v, registration, configs))
            .filter(|group| !group.runs.is_empty())
            .collect();
        rows(&groups, rule)
    });
    Table {
        name: "trap_scores".into(),
        title: "Pre-set scores of the trap law on the blind slowdown tests".into(),
        columns: COLUMNS.to_vec(),
        rows,
    }
}

fn group<'a>(verdict: &'a Verdict, law: &Registration, configs: &Configs) -> Group<'a> {
    let stuck = |run: &&VerdictRun| {
        let window = run.measures.window.as_ref();
        let below = law.rule.stuck_follow_up_hit_below;
        window.and_then(|w| w.follow_up_hits.is_below(below)) == Some(true)
    };
    let mut runs = Vec::new();
    let mut sources = Vec::new();
    for run in verdict.subjects().filter(stuck) {
        let load = run.meta.rate.lambda.map(|lambda_per_s| Load {
            lambda_per_s,
            lambda_ref_per_s: law.lambda_ref_per_s,
            all_miss_tokens_per_s: law.all_miss_tokens_per_s.unwrap_or(f64::NAN),
        });
        let cell = configs.of_cell(&run.meta.cell);
        if let Some((load, (cell, workload, _))) = load.zip(cell)
            && let Ok(trapped) = trapped_run(run, load, &law.rule, cell, workload)
        {
            runs.push(trapped);
            sources.extend(run.sources.clone());
        }
    }
    Group { name: &verdict.registration.registration.name, source: &verdict.sources, runs, sources }
}

fn rows(groups: &[Group<'_>], rule: &TrapLawTest) -> Vec<Row> {
    let scored: Vec<Vec<(Option<f64>, Option<bool>)>> =
        groups.iter().map(|group| scores(&group.runs, rule)).collect();
    let mut rows = Vec::new();
    for (group, found) in groups.iter().zip(&scored) {
        for (score, (measured, holds)) in SCORES.iter().zip(found) {
            let count = group.runs.len();
            let row = row(group.name, group.source, score, *measured, count, *holds);
            rows.push(Row { sources: group.sources.clone(), ..row });
        }
    }
    let Some(first) = groups.first() else { return rows };
    let count = groups.iter().map(|group| group.runs.len()).sum();
    for (i, score) in SCORES.iter().enumerate() {
        let everywhere = all(scored.iter().map(|found| found[i].1));
        let sources = groups.iter().flat_map(|group| group.sources.clone()).collect();
        rows.push(Row { sources, ..row("", first.source, score, None, count, everywhere) });
    }
    rows
}

/// What each score came to, and whether it holds: S1 to S4 pooled, S5 with its larger
/// distance between slope and plug-in and whether both its parts hold in every run.
fn scores(runs: &[TrappedRun], rule: &TrapLawTest) -> Vec<(Option<f64>, Option<bool>)> {
    let mut found: Vec<_> = pooled(runs, rule).iter().map(|c| (c.measured, c.holds)).collect();
    let parts: Vec<Clause> = runs
        .iter()
        .flat_map(|run| judge(run, rule).clauses)
        .filter(|clause| clause.quantity.starts_with("S5"))
        .collect();
    let farthest = runs
        .iter()
        .filter_map(|run| run.backlog_slope_per_s.0.map(|s| (s - run.plug_in_per_s()).abs()))
        .max_by(f64::total_cmp);
    found.push((farthest, all(parts.iter().map(|clause| clause.holds))));
    found
}

/// Whether all hold: no if one does not, unknown if one is.
fn all(of: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let held: Vec<Option<bool>> = of.collect();
    if held.contains(&Some(false)) {
        return Some(false);
    }
    (!held.contains(&None)).then_some(true)
}

fn row(
    group: &str,
    source: &str,
    score: &str,
    measured: Option<f64>,
    runs: usize,
    held: Option<bool>,
) -> Row {
    Row {
        key: format!("{group}/{score}"),
        cells: vec![
            if group.is_empty() { Cell::Empty } else { Cell::text(group) },
            Cell::text(source),
            Cell::text(score),
            if group.is_empty() { Cell::Empty } else { Cell::known(measured, 4) },
            Cell::Count(runs as u64),
            holds(held),
        ],
        sources: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: TrappedRun = TrappedRun {
        prompt_tokens: (Some(9000.0), 9000.0),
        gap_slope: (Some(0.01), 0.01),
        completions_per_s: (0.08, 0.08),
        backlog_slope_per_s: (Some(0.02), 0.02),
        realized_per_s: 0.1,
        lambda_ref_per_s: 0.07,
        slope_threshold_per_s: 0.01,
    };

    fn group(name: &'static str, runs: Vec<TrappedRun>) -> Group<'static> {
        Group { name, source: "simulator", runs, sources: Vec::new() }
    }

    fn over_all(groups: &[Group<'_>]) -> Vec<String> {
        let rows = rows(groups, &TrapLawTest::default());
        rows.iter().filter(|r| r.cells[0] == Cell::Empty).map(|r| r.cells[5].print()).collect()
    }

    #[test]
    fn a_score_holds_over_all_only_where_it_holds_in_every_test() {
        // The plug-in is 0.02; a slope of 0.031 is beyond 0.01 of it in one run of four.
        let off = TrappedRun { backlog_slope_per_s: (Some(0.031), 0.02), ..RUN };
        let groups = [group("w", vec![RUN, RUN]), group("d15", vec![RUN, off])];
        assert_eq!(over_all(&groups), ["yes", "yes", "yes", "yes", "no"]);
        assert_eq!(over_all(&groups[..1]), ["yes"; 5]);
        assert!(rows(&[], &TrapLawTest::default()).is_empty());
    }

    #[test]
    fn what_is_unknown_in_one_run_is_unknown_over_all() {
        let unknown = TrappedRun { backlog_slope_per_s: (None, 0.02), ..RUN };
        let found = over_all(&[group("w", vec![RUN, unknown])]);
        assert_eq!(found[3..], ["unknown", "unknown"]);
    }
}
