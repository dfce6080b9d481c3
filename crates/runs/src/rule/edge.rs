//! The from-empty edge: up to which rate are all runs from an empty engine stable (E0b,
//! App. E.3)?

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::in_words;
use super::outcome::{Group, Outcome};
use super::registered::{
    Candidate, Case, Evidence, Judged, Measurable, MeasuringTest, RegisteredTest, Role, placed,
};
use super::stability::{self, QueueFromEmpty, Stability, stable};
use super::thresholds::PairedThresholds;
use super::vote::{Quorum, RateVerdict, tally};

/// The from-empty edge (App. E.3).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EdgeTest {
    /// When a run is stable.
    pub stability: Stability,
    /// A bracket that the runs are to replicate, if any (the fresh seeds of App. E.3).
    pub replicates: Option<FreshBracket>,
}

/// A from-empty bracket to be replicated with fresh seeds (App. E.3).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FreshBracket {
    /// The multiple at which so many seeds must be stable ...
    pub stable_multiple: f64,
    /// ... and how many.
    pub stable: Quorum,
    /// The multiple at which so many seeds must be unstable ...
    pub unstable_multiple: f64,
    /// ... and how many.
    pub unstable: Quorum,
}

impl RegisteredTest for EdgeTest {
    fn words(&self) -> &'static str {
        "from-empty edge"
    }

    fn in_words(&self, _: &PairedThresholds) -> String {
        let bracket = self.replicates.map_or(String::new(), |bracket| {
            format!(
                " Replicated if {} seeds are stable at {} and {} are unstable at {}.",
                in_words::of(bracket.stable),
                bracket.stable_multiple,
                in_words::of(bracket.unstable),
                bracket.unstable_multiple
            )
        });
        format!(
            "The largest rate up to which every run from an empty engine is stable: its queue \
                 stays below {} requests at the end and rises by at most {} over the window.{bracket}",
            self.stability.final_queue_below, self.stability.rise_at_most
        )
    }

    fn role(&self, run: &Candidate<'_>) -> Role {
        Role::subject(run.is_from_empty())
    }

    fn judge(&self, _: &Case<'_>, evidence: &[Evidence<'_>]) -> Judged {
        let judged = Judged::labelled(evidence, |e| {
            Some(stability::label(Self::found(e)?, &self.stability))
        });
        let (runs, set_aside) = placed(evidence, Role::Subject, Evidence::place);
        let run = |(i, e): (usize, &Evidence<'_>)| {
            let realized = Self::found(e)?.realized;
            let stable = stable(&judged.labels[i])?;
            Some(FromEmptyRun { nominal: e.multiple(), realized, stable })
        };
        let runs: Vec<FromEmptyRun> = runs.into_iter().filter_map(run).collect();
        judged.with(decide(&runs, self.replicates.as_ref()), set_aside)
    }
}

impl MeasuringTest for EdgeTest {
    type Measures = QueueFromEmpty;

    fn measure(&self, run: &Measurable<'_>) -> Option<QueueFromEmpty> {
        Some(QueueFromEmpty::of(run))
    }
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
pub fn decide(runs: &[FromEmptyRun], replicates: Option<&FreshBracket>) -> Outcome {
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
    Group::new(name, verdict, because)
}

#[cfg(test)]
#[path = "edge/tests.rs"]
mod tests;
