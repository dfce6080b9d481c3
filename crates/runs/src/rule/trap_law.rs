//! Scores of the trap law on runs it had not seen (S1 to S5, App. C).
//!
//! Pooled scores compare the mean of what the runs of a group did with the mean of what
//! was predicted for them. The law's application to a group is refuted if pooled S1 or
//! S2 fails in a group of at least so many trapped runs; the other scores are reported.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::measure::RunMeasures;
use crate::model::fifo::{ModelF, Regime};
use crate::model::{AllMiss, SessionMeans};
use crate::setup::{Arm, Cell, Workload};

use super::clause::{Clause, Comparison, all_hold};
use super::in_words;
use super::outcome::{Group, Labelled, Outcome, UNMEASURABLE};
use super::registered::{Candidate, Case, Evidence, Judged, RegisteredTest, Role};
use super::state::{Load, is_stuck};
use super::thresholds::PairedThresholds;
use super::vote::RateVerdict;

/// Scores of the trap law (S1 to S5).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrapLawTest {
    /// The arms whose stuck runs are scored; empty for every arm.
    pub arms: Vec<Arm>,
    /// S1: a run's mean prompt within this share of the tilted mix.
    pub composition_per_run: f64,
    /// S1, pooled.
    pub composition_pooled: f64,
    /// S2: the pooled gap slope at least this times gamma ...
    pub gap_at_least: f64,
    /// ... and at most this.
    pub gap_at_most: f64,
    /// S3 asks completions above lambda_ref of runs with this realized load or more, in lambda_ref.
    pub load_at_least: f64,
    /// S3: pooled completions within this share of D.
    pub completions_pooled: f64,
    /// S4: pooled backlog slope within this share of alpha.
    pub slope_pooled: f64,
    /// S5: the slope within this of the plug-in, sessions/s.
    pub plug_in_within_per_s: f64,
    /// The refutation rule needs a group of at least so many trapped runs.
    pub group_at_least: u64,
}

impl Default for TrapLawTest {
    fn default() -> Self {
        Self {
            arms: Vec::new(),
            composition_per_run: 0.08,
            composition_pooled: 0.05,
            gap_at_least: 0.6,
            gap_at_most: 1.4,
            load_at_least: 1.1,
            completions_pooled: 0.15,
            slope_pooled: 0.35,
            plug_in_within_per_s: 0.01,
            group_at_least: 2,
        }
    }
}

impl RegisteredTest for TrapLawTest {
    fn words(&self) -> &'static str {
        "trap law"
    }

    fn in_words(&self, _: &PairedThresholds) -> String {
        format!(
            "Over the stuck runs of each group of at least {}: S1, the mean prompt served is within \
             {} % of the tilted mix's; S2, the gap grows at {} to {} times gamma. The law is refuted \
             for a group where one fails; S3 to S5 are reported.",
            self.group_at_least,
            in_words::percent(self.composition_pooled),
            self.gap_at_least,
            self.gap_at_most
        )
    }

    fn of_other_tests(&self) -> bool {
        true
    }

    fn role(&self, run: &Candidate<'_>) -> Role {
        let of_arm = self.arms.is_empty() || self.arms.contains(run.arm());
        Role::subject(run.is_open() && of_arm)
    }

    /// S1 to S5 over the stuck runs, a group per arm and rate.
    fn judge(&self, case: &Case<'_>, evidence: &[Evidence<'_>]) -> Judged {
        let thresholds = &case.registration.rule;
        let below = thresholds.stuck_follow_up_hit_below;
        let stuck = |e: &Evidence<'_>| is_stuck(e.measures, below);
        let trapped = |e: &Evidence<'_>| -> Result<TrappedRun, String> {
            let load = e.load.ok_or("it ended before its window did")?;
            TrappedRun::of(e.measures, load, thresholds, case.cell, case.workload)
        };
        let judged = Judged::labelled(evidence, |e| {
            Some(match stuck(e) {
                None => Labelled::unmeasurable("whether it is stuck cannot be told"),
                Some(false) => Labelled::new("NOT STUCK", Vec::new()),
                Some(true) => {
                    trapped(e).map_or_else(Labelled::unmeasurable, |run| judge(&run, self))
                }
            })
        });
        let group = |e: &Evidence<'_>| format!("{} rate {:.2}", e.meta.arm, e.multiple());
        let places: BTreeSet<String> = evidence.iter().map(group).collect();
        let groups: Vec<_> = places
            .iter()
            .filter_map(|place| {
                let own = evidence.iter().filter(|e| e.counts && group(e) == *place);
                let stuck = own.filter(|e| stuck(e) == Some(true));
                let runs: Vec<TrappedRun> = stuck.filter_map(|e| trapped(e).ok()).collect();
                (!runs.is_empty()).then(|| decide_group(place, &runs, self))
            })
            .collect();
        let outcome = match groups.is_empty() {
            true => Outcome::new("not decidable", "no run is stuck", Vec::new()),
            false => decide(&groups),
        };
        judged.with(outcome, Vec::new())
    }

    fn tables(&self) -> &'static [&'static str] {
        &["trap_scores"]
    }
}

/// A trapped run and what model F says of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrappedRun {
    /// Mean prompt over the window, tokens, and the tilted mix's.
    pub prompt_tokens: (Option<f64>, f64),
    /// Gap slope, and gamma.
    pub gap_slope: (Option<f64>, f64),
    /// Completions, and D, sessions/s.
    pub completions_per_s: (f64, f64),
    /// Backlog slope, and alpha, sessions/s.
    pub backlog_slope_per_s: (Option<f64>, f64),
    /// Base arrivals over the window, sessions/s.
    pub realized_per_s: f64,
    /// lambda_ref, sessions/s.
    pub lambda_ref_per_s: f64,
    /// The registered threshold on the backlog slope, sessions/s.
    pub slope_threshold_per_s: f64,
}

impl TrappedRun {
    /// What a stuck run did over its window, and what model F says of it at its load.
    ///
    /// # Errors
    /// Why there is nothing to compare, in words.
    pub fn of(
        measures: &RunMeasures,
        load: Load,
        rule: &PairedThresholds,
        cell: &Cell,
        workload: &Workload,
    ) -> Result<Self, String> {
        let window = measures.window.as_ref().ok_or("it ended before its window did")?;
        let costs = AllMiss::of(cell, workload).map_err(|e| e.to_string())?;
        let means = SessionMeans::of(workload);
        let model = ModelF::new(&costs.costs_s, &means.survival).map_err(|e| e.to_string())?;
        let Regime::Trapped(trap) = model.at(load.lambda_per_s).map_err(|e| e.to_string())? else {
            return Err("model F drains at this load".into());
        };
        Ok(Self {
            prompt_tokens: (window.mean_prompt_tokens, trap.served_mean(&means.prompt_tokens)),
            gap_slope: (window.gap_slope, trap.gamma),
            completions_per_s: (window.completions_per_s, trap.completions_per_s),
            backlog_slope_per_s: (window.backlog_slope_per_s, trap.alpha_per_s),
            realized_per_s: window.base_arrivals_per_s,
            lambda_ref_per_s: load.lambda_ref_per_s,
            slope_threshold_per_s: load.slope_threshold_per_s(rule),
        })
    }

    /// S5's plug-in: realized arrivals less model F's completions, sessions/s.
    pub fn plug_in_per_s(&self) -> f64 {
        self.realized_per_s - self.completions_per_s.1
    }
}

/// The scores of one run: S1, S3 where the load is high enough, and both parts of S5.
pub fn judge(run: &TrappedRun, rule: &TrapLawTest) -> Labelled {
    let composition = run.prompt_tokens.0.map(|p| (p / run.prompt_tokens.1 - 1.0).abs());
    let mut clauses = vec![Clause::new(
        "S1 mean prompt off the tilted mix",
        "",
        composition,
        Comparison::AtMost(rule.composition_per_run),
    )];
    if run.realized_per_s >= rule.load_at_least * run.lambda_ref_per_s {
        clauses.push(Clause::new(
            "S3 completions over lambda_ref",
            "",
            Some(run.completions_per_s.0 / run.lambda_ref_per_s),
            Comparison::Above(1.0),
        ));
    }
    let slope = run.backlog_slope_per_s.0;
    let plug_in = run.plug_in_per_s();
    let line = run.slope_threshold_per_s;
    // The product of the two distances from the line is positive on one side of it.
    let same_side = slope.map(|s| (s > line) == (plug_in > line));
    clauses.push(
        Clause::new(
            "S5 plug-in on the measured side of the threshold",
            "sessions/s",
            Some(plug_in),
            if slope.is_some_and(|s| s > line) {
                Comparison::Above(line)
            } else {
                Comparison::AtMost(line)
            },
        )
        .decided(same_side),
    );
    clauses.push(Clause::new(
        "S5 slope off the plug-in",
        "sessions/s",
        slope.map(|s| (s - plug_in).abs()),
        Comparison::AtMost(rule.plug_in_within_per_s),
    ));
    let label = match all_hold(&clauses) {
        Some(true) => "HELD",
        Some(false) => "MISSED",
        None => UNMEASURABLE,
    };
    Labelled::new(label, clauses)
}

/// The pooled scores of a group of runs: S1 to S4.
pub fn pooled(runs: &[TrappedRun], rule: &TrapLawTest) -> Vec<Clause> {
    let ratio = |of: &dyn Fn(&TrappedRun) -> (Option<f64>, f64)| -> Option<f64> {
        let measured: Option<f64> = runs.iter().map(|r| of(r).0).sum();
        let predicted: f64 = runs.iter().map(|r| of(r).1).sum();
        measured.filter(|_| !runs.is_empty()).map(|m| m / predicted)
    };
    let off = |ratio: Option<f64>| ratio.map(|r| (r - 1.0).abs());
    vec![
        Clause::new(
            "S1 pooled mean prompt off the tilted mix",
            "",
            off(ratio(&|r| r.prompt_tokens)),
            Comparison::AtMost(rule.composition_pooled),
        ),
        Clause::new(
            "S2 pooled gap slope / gamma",
            "",
            ratio(&|r| r.gap_slope),
            Comparison::Within(rule.gap_at_least, rule.gap_at_most),
        ),
        Clause::new(
            "S3 pooled completions off D",
            "",
            off(ratio(&|r| (Some(r.completions_per_s.0), r.completions_per_s.1))),
            Comparison::AtMost(rule.completions_pooled),
        ),
        Clause::new(
            "S4 pooled backlog slope off alpha",
            "",
            off(ratio(&|r| r.backlog_slope_per_s)),
            Comparison::AtMost(rule.slope_pooled),
        ),
    ]
}

/// The verdict on one group (a cell and load).
fn decide_group(name: &str, runs: &[TrappedRun], rule: &TrapLawTest) -> (Group, RateVerdict) {
    let scores = pooled(runs, rule);
    let words: Vec<String> = scores
        .iter()
        .map(|c| {
            let verdict = match c.holds {
                Some(true) => "holds",
                Some(false) => "fails",
                None => "unknown",
            };
            let value = c.measured.map_or(String::new(), |x| format!(" ({x:.3})"));
            format!("{} {verdict}{value}", &c.quantity[..2])
        })
        .collect();
    let because = format!("{} trapped runs; pooled {}", runs.len(), words.join(", "));
    let (verdict, rate) = if (runs.len() as u64) < rule.group_at_least {
        ("refutation rule does not apply", RateVerdict::NotDecidable)
    } else {
        match all_hold(&scores[..2]) {
            Some(true) => ("NOT REFUTED", RateVerdict::Pass),
            Some(false) => ("REFUTED", RateVerdict::Fail),
            None => (RateVerdict::NotDecidable.words(), RateVerdict::NotDecidable),
        }
    };
    (Group::new(name, verdict, because), rate)
}

/// The outcome over groups: refuted if any group is; not decidable if none could be scored.
fn decide(groups: &[(Group, RateVerdict)]) -> Outcome {
    let with = |verdict| groups.iter().filter(move |g| g.1 == verdict).map(|g| g.0.name.clone());
    let refuted: Vec<String> = with(RateVerdict::Fail).collect();
    let scored = with(RateVerdict::Pass).count();
    let (word, because) = if !refuted.is_empty() {
        ("REFUTED", format!("pooled S1 or S2 fails at {}", refuted.join(", ")))
    } else if scored == 0 {
        (RateVerdict::NotDecidable.words(), "no group is large enough to be scored".to_owned())
    } else {
        ("NOT REFUTED", "pooled S1 and S2 hold wherever the rule applies".to_owned())
    };
    Outcome::new(word, because, groups.iter().map(|g| g.0.clone()).collect())
}

#[cfg(test)]
#[path = "trap_law/tests.rs"]
mod tests;
