//! The pre-set scores S1 to S5 of the trap law on the blind slowdown tests (TOOLSLOW-W,
//! TOOLSLOW-D15; App. C).

use crate::judged::verdict::{Verdict, VerdictRun};
use crate::rule::state::is_stuck;
use crate::rule::three_way::ThreeWayTest;
use crate::rule::trap_law::{TrapLawTest, TrappedRun, judge, pooled};
use crate::rule::{Clause, Load};
use crate::run::SourceFile;
use crate::setup::{Configs, Registration};

use super::{Cell, Col, Heading, Table};

/// The scores; S1 to S4 are pooled over a group's stuck runs, S5 is asked of each of them.
const SCORES: [&str; 5] = ["S1", "S2", "S3", "S4", "S5"];

/// The stuck runs of one test.
struct Group<'a> {
    name: &'a str,
    source: &'a str,
    runs: Vec<TrappedRun>,
    sources: Vec<SourceFile>,
}

/// What a score came to, and whether it holds.
type Found = (Option<f64>, Option<bool>);

/// A score over a group's stuck runs, or over all of them.
struct Score<'a> {
    /// `None` over all groups.
    group: Option<&'a str>,
    source: &'a str,
    score: &'static str,
    measured: Option<f64>,
    runs: usize,
    holds: Option<bool>,
    sources: Vec<SourceFile>,
}

/// The table: a row per blind test with stuck runs and score, then a row per score over all
/// of them, which holds where it holds in every test. The blind tests are the three-way ones;
/// the tolerances are those of the registered trap law.
pub fn table(verdicts: &[Verdict], configs: &Configs) -> Table {
    let columns: &[Col<Score<'_>>] = &[
        Heading("group", "", "The blind test; empty over all of them")
            .key(|of| of.group.map_or(Cell::Empty, Cell::text)),
        Heading("source", "", "What made the runs: engine or simulator")
            .key(|of| Cell::text(of.source)),
        Heading("score", "", "Which score").key(|of| Cell::text(of.score)),
        Heading("measured", "see score", "What the score came to")
            .new(|of| of.group.map_or(Cell::Empty, |_| Cell::known(of.measured, 4))),
        Heading("runs", "runs", "Stuck runs of the group").count(|of| of.runs as u64),
        Heading("holds", "", "Whether it holds").new(|of| Cell::yes_no(of.holds)),
    ];
    let law = verdicts
        .iter()
        .find_map(|v| Some((&v.registration.registration, TrapLawTest::of(v.test())?)));
    let groups: Vec<Group<'_>> = law.map_or_else(Vec::new, |(registration, _)| {
        verdicts
            .iter()
            .filter(|v| ThreeWayTest::of(v.test()).is_some())
            .map(|v| group(v, registration, configs))
            .filter(|group| !group.runs.is_empty())
            .collect()
    });
    let rows = law.map_or_else(Vec::new, |(_, rule)| rows(&groups, rule));
    let title = "Pre-set scores of the trap law on the blind slowdown tests";
    Table::of("trap_scores", title, columns, rows, |of| {
        (format!("{}/{}", of.group.unwrap_or_default(), of.score), of.sources.clone())
    })
}

fn group<'a>(verdict: &'a Verdict, law: &Registration, configs: &Configs) -> Group<'a> {
    let below = law.rule.stuck_follow_up_hit_below;
    let stuck = |run: &&VerdictRun| is_stuck(&run.measures, below) == Some(true);
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
            && let Ok(trapped) = TrappedRun::of(&run.measures, load, &law.rule, cell, workload)
        {
            runs.push(trapped);
            sources.extend(run.sources.clone());
        }
    }
    Group { name: &verdict.registration.registration.name, source: &verdict.sources, runs, sources }
}

fn rows<'a>(groups: &'a [Group<'_>], rule: &TrapLawTest) -> Vec<Score<'a>> {
    let Some(first) = groups.first() else { return Vec::new() };
    let scored: Vec<_> = groups.iter().map(|group| scores(&group.runs, rule)).collect();
    let of_group = |(group, found): (&'a Group<'_>, &Vec<Found>)| {
        let score = move |(score, (measured, holds))| Score {
            group: Some(group.name),
            source: group.source,
            score,
            measured,
            runs: group.runs.len(),
            holds,
            sources: group.sources.clone(),
        };
        SCORES.into_iter().zip(found.clone()).map(score)
    };
    let over_all = SCORES.into_iter().enumerate().map(|(i, score)| Score {
        group: None,
        source: first.source,
        score,
        measured: None,
        runs: groups.iter().map(|group| group.runs.len()).sum(),
        holds: all(scored.iter().map(|found| found[i].1)),
        sources: groups.iter().flat_map(|group| group.sources.clone()).collect(),
    });
    groups.iter().zip(&scored).flat_map(of_group).chain(over_all).collect()
}

/// What each score came to, and whether it holds: S1 to S4 pooled, S5 with its larger
/// distance between slope and plug-in and whether both its parts hold in every run.
fn scores(runs: &[TrappedRun], rule: &TrapLawTest) -> Vec<Found> {
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

    fn over_all(groups: &[Group<'_>]) -> Vec<Option<bool>> {
        let rows = rows(groups, &TrapLawTest::default());
        rows.iter().filter(|row| row.group.is_none()).map(|row| row.holds).collect()
    }

    #[test]
    fn a_score_holds_over_all_only_where_it_holds_in_every_test() {
        // The plug-in is 0.02; a slope of 0.031 is beyond 0.01 of it in one run of four.
        let off = TrappedRun { backlog_slope_per_s: (Some(0.031), 0.02), ..RUN };
        let groups = [group("w", vec![RUN, RUN]), group("d15", vec![RUN, off])];
        assert_eq!(over_all(&groups), [true, true, true, true, false].map(Some));
        assert_eq!(over_all(&groups[..1]), [Some(true); 5]);
        assert!(rows(&[], &TrapLawTest::default()).is_empty());
    }

    #[test]
    fn what_is_unknown_in_one_run_is_unknown_over_all() {
        let unknown = TrappedRun { backlog_slope_per_s: (None, 0.02), ..RUN };
        let found = over_all(&[group("w", vec![RUN, unknown])]);
        assert_eq!(found[3..], [None, None]);
    }
}
