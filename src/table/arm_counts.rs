//! How many runs of each arm are in which state, and the sign test that counts each seed
//! once (App. E.5). Made after the outcome: seeds recur across rates.

use std::collections::BTreeMap;

use crate::judged::ScoredRun;
use crate::rule::State;
use crate::setup::Arm;

use super::paired_ranges::groups;
use super::{Cell, Col, Heading, Table};

/// An arm of a cell, over all rates.
struct ArmRuns<'a> {
    cell: &'a str,
    source: &'static str,
    arm: &'a Arm,
    runs: &'a [&'a ScoredRun],
    /// Seeds lower than NOBURST's, and seeds compared; none for NOBURST itself.
    signs: Option<(u64, u64)>,
}

impl ArmRuns<'_> {
    fn count(&self, state: State) -> Cell {
        let is = |r: &&&ScoredRun| r.state.as_ref().is_some_and(|s| s.state == state);
        Cell::Count(self.runs.iter().filter(is).count() as u64)
    }
}

/// The test whose runs are counted. Other tests have runs of these arms too.
const TEST: &str = "paired";

/// The table, a row per cell, source and arm over all rates.
pub fn table(runs: &[ScoredRun]) -> Table {
    let columns: &[Col<ArmRuns<'_>>] = &[
        Heading("cell", "", "Engine, GPU, model and pool, as named in configs/cells")
            .key(|of| Cell::text(of.cell)),
        Heading("source", "", "What made the runs: engine or simulator")
            .key(|of| Cell::text(of.source)),
        Heading("arm", "", "The arm of the runs").key(|of| Cell::text(of.arm.word())),
        Heading("test", "", "The registered test").key(|_| Cell::text(TEST)),
        Heading("runs", "runs", "Runs that the row counts").count(|of| of.runs.len() as u64),
        Heading("trapped", "runs", "Runs that are TRAPPED").new(|of| of.count(State::Trapped)),
        Heading("recovered", "runs", "Runs that are RECOVERED")
            .new(|of| of.count(State::Recovered)),
        Heading("draining", "runs", "Runs that are DRAINING").new(|of| of.count(State::Draining)),
        Heading("indeterminate", "runs", "Runs that are INDETERMINATE")
            .new(|of| of.count(State::Indeterminate)),
        Heading("unmeasurable", "runs", "Runs that are UNMEASURABLE")
            .new(|of| of.count(State::Unmeasurable)),
        Heading("without_a_hit", "runs", "Runs without a hit over their window").count(|of| {
            let hit = |r: &ScoredRun| r.measures.window.as_ref().and_then(|w| w.hits.value());
            of.runs.iter().filter(|run| hit(run) == Some(0.0)).count() as u64
        }),
        Heading("seeds_lower_than_noburst", "seeds", "Seeds that hit less than NOBURST")
            .new(|of| of.signs.map_or(Cell::Empty, |(lower, _)| Cell::Count(lower))),
        Heading("seeds_compared", "seeds", "Seeds with a run of this arm and a NOBURST run")
            .new(|of| of.signs.map_or(Cell::Empty, |(_, compared)| Cell::Count(compared))),
        Heading("sign_test_p", "", "Probability of the one-sided sign test over these seeds")
            .optional(4, |of| of.signs.and_then(|(lower, compared)| sign_test(lower, compared))),
    ];
    let mut arms: BTreeMap<(String, &'static str, &Arm), Vec<&ScoredRun>> = BTreeMap::new();
    for ((cell, source, _, arm), group) in groups(runs) {
        arms.entry((cell, source, arm)).or_default().extend(group);
    }
    let rows = arms.iter().map(|((cell, source, arm), runs)| {
        let good = arms.get(&(cell.clone(), *source, &Arm::NoBurst));
        let good = good.filter(|_| **arm != Arm::NoBurst);
        ArmRuns { cell, source, arm, runs, signs: good.map(|good| signs(runs, good)) }
    });
    let title = "States per arm over all rates, and the one-sided sign test of the hit fraction \
                 against NOBURST, a seed one vote";
    Table::of("arm_counts", title, columns, rows, |of| {
        let sources = of.runs.iter().flat_map(|run| run.sources.clone()).collect();
        (format!("{}/{}/{}", of.cell, of.source, of.arm), sources)
    })
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
