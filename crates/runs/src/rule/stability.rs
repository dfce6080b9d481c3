//! From an empty engine: is a run stable, and up to which rate are all (E0b, App. E.3)?

use std::collections::BTreeMap;

use crate::measure::queue::QueueMeasures;
use crate::setup::registration::test::{Bracket, Stability};

use super::clause::{Clause, Comparison, all_hold};
use super::outcome::{Group, Labelled, Outcome};
use super::pairing::RateVerdict;
use super::vote::tally;

/// A run's label: STABLE if its queue is short at the end and did not rise.
pub fn judge(queue: Option<&QueueMeasures>, rule: &Stability) -> Labelled {
    let Some(queue) = queue else {
        return Labelled::unmeasurable("it is shorter than asked, or its queue is unknown");
    };
    let clauses = clauses(queue, rule);
    match all_hold(&clauses) {
        Some(true) => Labelled::new("STABLE", clauses),
        Some(false) => Labelled::new("UNSTABLE", clauses),
        None => Labelled {
            because: Some("too few samples to fit".into()),
            ..Labelled::new(super::outcome::UNMEASURABLE, clauses)
        },
    }
}

fn clauses(queue: &QueueMeasures, rule: &Stability) -> Vec<Clause> {
    vec![
        Clause::new(
            "final queue",
            "requests",
            Some(queue.final_mean),
            Comparison::Below(rule.final_queue_below),
        ),
        Clause::new(
            "fitted rise of the queue",
            "requests",
            queue.rise,
            Comparison::AtMost(rule.rise_at_most),
        ),
    ]
}

/// Whether a run is stable; `None` where that cannot be told.
pub fn is_stable(queue: Option<&QueueMeasures>, rule: &Stability) -> Option<bool> {
    all_hold(&clauses(queue?, rule))
}

/// A from-empty run that could be judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FromEmptyRun {
    /// Its nominal rate, a multiple of lambda_ref.
    pub nominal: f64,
    /// The base arrivals it really had over its whole length, in lambda_ref.
    pub realized: f64,
    /// Whether it was stable.
    pub stable: bool,
}

/// Where stability ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// The largest rate at which all runs are stable; `None` if there is none.
    pub largest_stable: Option<f64>,
    /// The smallest rate at which one is not; `None` if all are stable.
    pub first_unstable: Option<f64>,
    /// Whether every rate below the first unstable one is stable and none above it.
    pub monotone: bool,
}

/// The edge in nominal rates: runs of one multiple stand or fall together.
pub fn nominal_edge(runs: &[FromEmptyRun]) -> Edge {
    let mut stable: BTreeMap<u64, (f64, bool)> = BTreeMap::new();
    for run in runs {
        let entry = stable.entry((run.nominal * 1e6).round() as u64).or_insert((run.nominal, true));
        entry.1 &= run.stable;
    }
    edge(stable.into_values().collect())
}

/// The edge in realized rates: every run is a rate of its own.
pub fn realized_edge(runs: &[FromEmptyRun]) -> Edge {
    let mut rates: Vec<_> = runs.iter().map(|run| (run.realized, run.stable)).collect();
    rates.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    edge(rates)
}

fn edge(rates: Vec<(f64, bool)>) -> Edge {
    let largest_stable = rates.iter().rev().find(|r| r.1).map(|r| r.0);
    let first_unstable = rates.iter().find(|r| !r.1).map(|r| r.0);
    let monotone = match (largest_stable, first_unstable) {
        (Some(stable), Some(unstable)) => stable < unstable,
        _ => true,
    };
    Edge { largest_stable, first_unstable, monotone }
}

/// The outcome of an edge test: the edge, or whether a bracket was replicated.
pub fn decide(runs: &[FromEmptyRun], replicates: Option<&Bracket>) -> Outcome {
    let (nominal, realized) = (nominal_edge(runs), realized_edge(runs));
    let groups = vec![group("nominal rates", &nominal), group("realized rates", &realized)];
    let Some(bracket) = replicates else {
        let word = match (runs.is_empty(), nominal.largest_stable) {
            (true, _) => RateVerdict::NotDecidable.words().to_owned(),
            (_, Some(multiple)) => format!("{multiple:.2}"),
            _ => "none".to_owned(),
        };
        return Outcome::new(
            word,
            "largest multiple of lambda_ref at which all runs are stable",
            groups,
        );
    };
    let at = |multiple: f64, stable: bool, quorum| {
        let votes = runs
            .iter()
            .filter(|r| (r.nominal - multiple).abs() < 1e-6)
            .map(|r| Some(r.stable == stable));
        tally(votes, quorum)
    };
    let below = at(bracket.stable_multiple, true, bracket.stable);
    let above = at(bracket.unstable_multiple, false, bracket.unstable);
    let counted = [
        Group::counted(format!("{:.2}", bracket.stable_multiple), "stable", below),
        Group::counted(format!("{:.2}", bracket.unstable_multiple), "unstable", above),
    ];
    let mut outcome =
        Outcome::of_all("REPLICATED", counted.to_vec(), &[below.verdict, above.verdict]);
    if outcome.word == "NOT MET" {
        outcome.word = "NOT REPLICATED".into();
    }
    outcome.groups.extend(groups);
    outcome
}

fn group(name: &str, edge: &Edge) -> Group {
    let rate = |x: Option<f64>| x.map_or("none".to_owned(), |x| format!("{x:.3}"));
    let verdict = format!("[{}, {})", rate(edge.largest_stable), rate(edge.first_unstable));
    let because = if edge.monotone {
        "largest stable, first unstable; monotone"
    } else {
        "largest stable, first unstable; NOT monotone: a stable rate lies above an unstable one"
    };
    Group { name: name.into(), verdict, because: because.into() }
}

/// The outcome for replicates of one plan each: does every plan's majority come out as
/// its original did? `votes` is per plan: seed, whether each replicate agreed.
pub fn decide_replicates(
    plans: &[(u64, Vec<Option<bool>>)],
    quorum: crate::setup::registration::test::Quorum,
) -> Outcome {
    let tallies: Vec<_> =
        plans.iter().map(|(seed, votes)| (seed, tally(votes.iter().copied(), quorum))).collect();
    let groups = tallies
        .iter()
        .map(|(seed, t)| Group {
            name: format!("plan of seed {seed}"),
            verdict: t.verdict.words().into(),
            because: format!("as the original in {} of {} replicates", t.met, t.judged),
        })
        .collect();
    let verdicts: Vec<_> = tallies.iter().map(|t| t.1.verdict).collect();
    let mut outcome = Outcome::of_all("REPRODUCIBLE", groups, &verdicts);
    if outcome.word == "NOT MET" {
        outcome.word = "NOT REPRODUCIBLE".into();
    }
    outcome
}

#[cfg(test)]
#[path = "stability/tests.rs"]
mod tests;
