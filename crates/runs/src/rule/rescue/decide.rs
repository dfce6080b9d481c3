//! The outcome of a rescue test over its rates and seeds (App. E.7).

use std::collections::BTreeMap;

use crate::rule::outcome::{Group, Outcome};
use crate::rule::vote::{RateVerdict, tally};

use super::{RescueLabel, RescueTest};

/// One seed of one rate.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RescueSeed {
    /// Rate, a multiple of lambda_ref.
    pub multiple: f64,
    /// The seed.
    pub seed: u64,
    /// The rescue run; `None` when there is none that could be used.
    pub rescue: Option<RescueLabel>,
    /// Whether the same-seed BURST control is STUCK; `None` when there is none, or it cannot say.
    pub control_stuck: Option<bool>,
    /// What keeps the runs from being a pair.
    pub unpaired: Vec<String>,
    /// Sessions that failed or were turned away in the rescue run.
    pub shed: u64,
}

/// The outcome: REFUTED, PASS, NOT MET or not decidable.
pub fn decide(seeds: &[RescueSeed], rule: &RescueTest) -> Outcome {
    let mut set_aside = Vec::new();
    let counted: Vec<&RescueSeed> = seeds
        .iter()
        .filter(|s| {
            if !s.unpaired.is_empty() {
                let what = s.unpaired.join(", ");
                set_aside.push(format!("{}: not a pair: {what} differ", place(s)));
            }
            s.unpaired.is_empty()
        })
        .collect();
    let labels = || counted.iter().filter_map(|s| s.rescue.as_ref());
    let relapses = labels().filter(|r| r.relapse == Some(true)).count() as u64;
    let unreleased = labels().filter(|r| !r.released).count() as u64;
    let (groups, verdicts) = rates(&counted, rule, &mut set_aside);
    let mut outcome = Outcome::of_all("PASS", groups, &verdicts);
    let late = rule.refuted_by_unreleased.filter(|limit| unreleased >= *limit);
    if relapses >= rule.refuted_by_relapses {
        outcome.word = "REFUTED".into();
        outcome.because = format!("{relapses} of {} runs relapsed", counted.len());
    } else if late.is_some() {
        outcome.word = "REFUTED".into();
        outcome.because = format!(
            "{unreleased} of {} runs were not released by {} s",
            counted.len(),
            rule.released_by_s
        );
    }
    let shed: Vec<String> = counted
        .iter()
        .filter(|s| s.shed > 0)
        .map(|s| format!("{} sessions failed or refused in {}", s.shed, place(s)))
        .collect();
    outcome.notes.push(if shed.is_empty() {
        "no session of a counted run failed or was refused".to_owned()
    } else {
        format!("the claim that nothing was shed is withdrawn: {}", shed.join(", "))
    });
    outcome.set_aside = set_aside;
    outcome
}

fn place(seed: &RescueSeed) -> String {
    format!("rate {:.2} seed {}", seed.multiple, seed.seed)
}

/// A verdict per rate: enough seeds rescued, and every seed's control stuck.
fn rates(
    seeds: &[&RescueSeed],
    rule: &RescueTest,
    set_aside: &mut Vec<String>,
) -> (Vec<Group>, Vec<RateVerdict>) {
    let mut by_rate: BTreeMap<u64, Vec<&RescueSeed>> = BTreeMap::new();
    for seed in seeds {
        by_rate.entry((seed.multiple * 1e6).round() as u64).or_default().push(seed);
    }
    let mut verdicts = Vec::new();
    let mut groups = Vec::new();
    for seeds in by_rate.into_values() {
        let rescued = seeds.iter().map(|seed| seed.rescue.as_ref()?.is_rescued());
        let count = tally(rescued, rule.seeds);
        let stuck = seeds.iter().filter(|s| s.control_stuck == Some(true)).count();
        let unstuck = seeds.iter().any(|s| s.control_stuck == Some(false));
        for seed in seeds.iter().filter(|s| s.control_stuck.is_none()) {
            set_aside.push(format!("{}: no usable BURST control", place(seed)));
        }
        for seed in seeds.iter().filter(|s| s.rescue.is_none()) {
            set_aside.push(format!("{}: no usable rescue run", place(seed)));
        }
        let verdict = match count.verdict {
            RateVerdict::Pass if unstuck => RateVerdict::Fail,
            RateVerdict::Pass if stuck < seeds.len() => RateVerdict::NotDecidable,
            verdict => verdict,
        };
        let because = format!(
            "RESCUED in {} of {} seeds, control STUCK in {stuck} of {}",
            count.met,
            count.judged,
            seeds.len()
        );
        groups.push(Group::of_rate(seeds[0].multiple, verdict.words(), because));
        verdicts.push(verdict);
    }
    (groups, verdicts)
}
