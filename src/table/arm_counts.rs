//! How many runs of each arm are in which state, and the sign test that counts each seed
//! once (App. E.5). Made after the outcome: seeds recur across rates.

use std::collections::BTreeMap;

use crate::judged::ScoredRun;
use crate::rule::{Arm, State};

use super::paired_ranges::groups;
use super::{Cell, Column, Row, Table};

const COLUMNS: &[Column] = &[
    Column::key("cell", ""),
    Column::key("source", ""),
    Column::key("arm", ""),
    Column::key("test", ""),
    Column::new("runs", "runs"),
    Column::new("trapped", "runs"),
    Column::new("recovered", "runs"),
    Column::new("draining", "runs"),
    Column::new("indeterminate", "runs"),
    Column::new("unmeasurable", "runs"),
    Column::new("without_a_hit", "runs"),
    Column::new("seeds_lower_than_noburst", "seeds"),
    Column::new("seeds_compared", "seeds"),
    Column::new("sign_test_p", ""),
];

/// The test whose runs are counted. Other tests have runs of these arms too.
const TEST: &str = "paired";

/// The table, a row per cell, source and arm over all rates.
pub fn table(runs: &[ScoredRun]) -> Table {
    let mut arms: BTreeMap<(String, &'static str, Arm), Vec<&ScoredRun>> = BTreeMap::new();
    for ((cell, source, _, arm), group) in groups(runs) {
        arms.entry((cell, source, arm)).or_default().extend(group);
    }
    let rows = arms
        .iter()
        .map(|((cell, source, arm), of_arm)| {
            let good = arms.get(&(cell.clone(), *source, Arm::NoBurst));
            let signs =
                (*arm != Arm::NoBurst).then(|| good.map(|good| signs(of_arm, good))).flatten();
            row(cell, source, *arm, of_arm, signs)
        })
        .collect();
    Table {
        name: "arm_counts".into(),
        title: "States per arm over all rates, and the one-sided sign test of the hit fraction against NOBURST, a seed one vote".into(),
        columns: COLUMNS.to_vec(),
        rows,
    }
}

/// Seeds in which the arm's hit fraction lies below NOBURST's at every rate both have,
/// and the seeds compared; a seed with a tie, or with rates that disagree, is no success.
fn signs(arm: &[&ScoredRun], good: &[&ScoredRun]) -> (u64, u64) {
    let mut seeds: BTreeMap<u64, bool> = BTreeMap::new();
    for run in arm {
        let same = |g: &&&ScoredRun| g.meta.seed == run.meta.seed && g.meta.rate == run.meta.rate;
        let hit = |r: &ScoredRun| r.measures.window.as_ref().and_then(|w| w.hits.value());
        if let Some((run_hit, good_hit)) = hit(run).zip(good.iter().find(same).and_then(|g| hit(g)))
        {
            *seeds.entry(run.meta.seed).or_insert(true) &= run_hit < good_hit;
        }
    }
    (seeds.values().filter(|lower| **lower).count() as u64, seeds.len() as u64)
}

/// One-sided sign test: the chance of at least so many successes among fair coins.
pub fn sign_test(successes: u64, of: u64) -> Option<f64> {
    if of == 0 || of > 60 {
        return None;
    }
    let mut choose = 1.0;
    let mut total = 0.0;
    for k in 0..=of {
        if k >= successes {
            total += choose;
        }
        choose *= (of - k) as f64 / (k + 1) as f64;
    }
    Some(total / (1_u64 << of) as f64)
}

fn row(cell: &str, source: &str, arm: Arm, runs: &[&ScoredRun], signs: Option<(u64, u64)>) -> Row {
    let count = |state: State| {
        let is = |r: &&&ScoredRun| r.state.as_ref().is_some_and(|s| s.state == state);
        Cell::Count(runs.iter().filter(is).count() as u64)
    };
    let no_hit =
        |r: &&&ScoredRun| r.measures.window.as_ref().is_some_and(|w| w.hits.value() == Some(0.0));
    let (lower, compared) = signs.map_or((Cell::Empty, Cell::Empty), |(lower, compared)| {
        (Cell::Count(lower), Cell::Count(compared))
    });
    let p = signs.and_then(|(lower, compared)| sign_test(lower, compared));
    Row {
        key: format!("{cell}/{source}/{}", arm.word()),
        cells: vec![
            Cell::text(cell),
            Cell::text(source),
            Cell::text(arm.word()),
            Cell::text(TEST),
            Cell::Count(runs.len() as u64),
            count(State::Trapped),
            count(State::Recovered),
            count(State::Draining),
            count(State::Indeterminate),
            count(State::Unmeasurable),
            Cell::Count(runs.iter().filter(no_hit).count() as u64),
            lower,
            compared,
            Cell::optional(p, 4),
        ],
        sources: runs.iter().flat_map(|run| run.sources.clone()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_of_three_seeds_give_the_published_one_eighth() {
        assert_eq!(sign_test(3, 3), Some(0.125));
        assert_eq!(sign_test(2, 3), Some(0.5));
        assert_eq!(sign_test(0, 3), Some(1.0));
        assert_eq!(sign_test(0, 0), None);
    }
}
