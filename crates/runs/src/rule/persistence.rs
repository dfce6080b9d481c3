//! Does a trap ever end by itself (D5, App. D)? Made after the outcome.

use serde::{Deserialize, Serialize};

use crate::measure::Share;
use crate::measure::rolling::{Rolled, follow_up_hits};
use crate::setup::Arm;

use super::clause::{Clause, Comparison};
use super::in_words;
use super::outcome::{Group, Labelled, Outcome};
use super::registered::{
    Candidate, Case, Evidence, Judged, Measurable, MeasuringTest, RegisteredTest, Role,
};
use super::thresholds::PairedThresholds;

/// Whether a trap ever ended by itself (D5).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PersistenceTest {
    /// Length of the rolling window, s.
    pub window_s: f64,
    /// By how much it moves, s. Not printed; the shorter the step, the stricter.
    pub step_s: f64,
    /// A trap starts at the first window after the trigger with a follow-up hit
    /// fraction of at most this.
    #[serde(rename = "onset_hit_at_most")]
    pub trapped_hit_at_most: f64,
    /// It has ended once a later window has at least this.
    pub escape_hit_at_least: f64,
    /// One-sided confidence of the bound on the escape probability.
    pub confidence: f64,
}

impl Default for PersistenceTest {
    fn default() -> Self {
        Self {
            window_s: 300.0,
            step_s: 10.0,
            trapped_hit_at_most: 0.2,
            escape_hit_at_least: 0.5,
            confidence: 0.95,
        }
    }
}

impl RegisteredTest for PersistenceTest {
    fn words(&self) -> &'static str {
        "persistence"
    }

    fn in_words(&self, _: &PairedThresholds) -> String {
        format!(
            "A trap begins at the first {} s after its trigger with a follow-up hit fraction of at \
             most {}; it has ended by itself once a later {} s have at least {}. How many ended, and \
             the bound on that at {} % confidence.",
            self.window_s,
            self.trapped_hit_at_most,
            self.window_s,
            self.escape_hit_at_least,
            in_words::percent(self.confidence)
        )
    }

    fn of_other_tests(&self) -> bool {
        true
    }

    fn steps(&self) -> Vec<(&'static str, f64)> {
        vec![("test.window_s", self.window_s), ("test.step_s", self.step_s)]
    }

    /// A run from empty has no trigger: how long its trap lasts is reported beside the
    /// others, and not counted among them (App. D).
    fn role(&self, run: &Candidate<'_>) -> Role {
        let treatment = run.treatment;
        match run.is_from_empty() {
            true => Role::Control,
            false => Role::subject(
                run.is_open() && (treatment.burst_sessions > 0 || treatment.slowed.is_some()),
            ),
        }
    }

    /// Over every run with a trigger; from-empty runs are labelled and not counted.
    fn judge(&self, _: &Case<'_>, evidence: &[Evidence<'_>]) -> Judged {
        let life = |e: &Evidence<'_>| Some(life(Self::found(e)?, self));
        let judged = Judged::labelled(evidence, |e| life(e).map(|life| judge(&life, self)));
        let lives: Vec<TrapLife> =
            evidence.iter().filter(|e| e.is_subject()).filter_map(life).collect();
        judged.with(decide(&lives, self), Vec::new())
    }

    fn tables(&self) -> &'static [&'static str] {
        &["persistence", "binomial"]
    }
}

impl MeasuringTest for PersistenceTest {
    type Measures = Vec<Rolled<Share>>;

    fn measure(&self, on: &Measurable<'_>) -> Option<Vec<Rolled<Share>>> {
        // What is seen after an intervention says nothing about the trap itself.
        let until_s = intervention(on).unwrap_or(f64::INFINITY);
        let windows = follow_up_hits(on.run, trigger_start(on), self.window_s, self.step_s);
        let before = windows.into_iter().filter(|w| w.end_s <= until_s);
        Some(before.collect())
    }
}

/// When what may have caused a trap began: the burst, the first slowed tool call, or the
/// start of a run from empty.
fn trigger_start(on: &Measurable<'_>) -> f64 {
    match on.treatment.slowed {
        _ if on.run.meta.arm == Arm::E0b => 0.0,
        Some(slowed) if on.treatment.burst_sessions == 0 => slowed.span_s.start_s,
        _ => on.protocol.paired.burst.start_s,
    }
}

/// When something was done about the trap: a cap engaged in the run, or arrivals stopped.
fn intervention(on: &Measurable<'_>) -> Option<f64> {
    let engaged = on.run.meta.gate.and_then(|g| g.engage_s).filter(|t| *t > 0.0);
    let stopped = on.treatment.refused.map(|r| r.span_s.start_s);
    [engaged, stopped].into_iter().flatten().min_by(f64::total_cmp)
}

/// A trap's life, from rolling windows after its trigger.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TrapLife {
    /// End of the first window that was trapped, s; `None` if none was.
    pub trapped_from_s: Option<f64>,
    /// End of the first later window that hit again, s.
    pub escape_s: Option<f64>,
    /// The largest follow-up hit fraction of a later window.
    pub highest: Option<f64>,
    /// From the end of the first trapped window to the escape or the last window, s.
    pub trapped_s: f64,
}

/// Reads a trap's life from windows in order of time, all after the trigger and before
/// the run's end or an intervention. A window without follow-ups, or one whose hits are
/// unknown, neither starts nor ends a trap.
pub fn life(windows: &[Rolled<Share>], rule: &PersistenceTest) -> TrapLife {
    let trapped = |w: &Rolled<Share>| w.value.is_above(rule.trapped_hit_at_most) == Some(false);
    let Some(first) = windows.iter().position(trapped) else {
        return TrapLife { trapped_from_s: None, escape_s: None, highest: None, trapped_s: 0.0 };
    };
    let later = &windows[first + 1..];
    let escaped = |w: &&Rolled<Share>| w.value.is_below(rule.escape_hit_at_least) == Some(false);
    let escape_s = later.iter().find(escaped).map(|w| w.end_s);
    let trapped_from_s = windows[first].end_s;
    let last_s = windows.last().map_or(trapped_from_s, |w| w.end_s);
    TrapLife {
        trapped_from_s: Some(trapped_from_s),
        escape_s,
        highest: later.iter().filter_map(|w| w.value.value()).max_by(f64::total_cmp),
        trapped_s: escape_s.unwrap_or(last_s) - trapped_from_s,
    }
}

/// Labels a run: NO TRAP, ESCAPED or PERSISTED.
fn judge(life: &TrapLife, rule: &PersistenceTest) -> Labelled {
    if life.trapped_from_s.is_none() {
        return Labelled::new("NO TRAP", Vec::new());
    }
    let highest = Clause::new(
        "highest window after the onset",
        "",
        life.highest,
        Comparison::Below(rule.escape_hit_at_least),
    );
    let label = if life.escape_s.is_some() { "ESCAPED" } else { "PERSISTED" };
    Labelled::new(label, vec![highest.decided(Some(life.escape_s.is_none()))])
}

/// The largest escape probability that none of `runs` trapped runs escaping leaves at
/// the given one-sided confidence: 1 - (1 - confidence)^(1/runs). `None` without a run.
fn escape_bound(runs: u64, confidence: f64) -> Option<f64> {
    (runs > 0).then(|| 1.0 - libm::pow(1.0 - confidence, 1.0 / runs as f64))
}

/// Over all runs: how many trapped, how many escaped, for how long, and the bound.
fn decide(lives: &[TrapLife], rule: &PersistenceTest) -> Outcome {
    let trapped: Vec<&TrapLife> = lives.iter().filter(|l| l.trapped_from_s.is_some()).collect();
    let escaped = trapped.iter().filter(|l| l.escape_s.is_some()).count();
    let hours = trapped.iter().map(|l| l.trapped_s).sum::<f64>() / 3600.0;
    let shortest = trapped.iter().map(|l| l.trapped_s).min_by(f64::total_cmp);
    let groups = vec![Group::new(
        "trapped runs",
        format!("{escaped} of {} escaped", trapped.len()),
        format!(
            "{hours:.2} trapped hours from the end of the first window; shortest span {} s",
            shortest.map_or("none".into(), |s| format!("{s:.0}"))
        ),
    )];
    let (word, because) = match escape_bound(trapped.len() as u64, rule.confidence) {
        None => ("not decidable", "no run is trapped".to_owned()),
        Some(_) if escaped > 0 => {
            ("ESCAPED", format!("{escaped} of {} traps ended", trapped.len()))
        }
        Some(bound) => (
            "NO ESCAPE",
            format!(
                "escape probability of a run at most {:.1} % at {:.0} % confidence",
                100.0 * bound,
                100.0 * rule.confidence
            ),
        ),
    };
    Outcome::new(word, because, groups)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::testing::thousandths;

    fn windows(hits: &[u64]) -> Vec<Rolled<Share>> {
        (0..)
            .zip(hits)
            .map(|(i, h)| Rolled { end_s: 1500.0 + 10.0 * f64::from(i), value: thousandths(*h) })
            .collect()
    }

    fn label(hits: &[u64]) -> &'static str {
        let rule = PersistenceTest::default();
        judge(&life(&windows(hits), &rule), &rule).label
    }

    #[test]
    fn a_trap_starts_at_a_window_of_at_most_a_fifth() {
        assert_eq!(label(&[900, 201, 300]), "NO TRAP");
        assert_eq!(label(&[900, 200, 300]), "PERSISTED");
    }

    #[test]
    fn it_ends_at_a_later_window_of_at_least_a_half() {
        assert_eq!(label(&[0, 499, 0]), "PERSISTED");
        assert_eq!(label(&[0, 500, 0]), "ESCAPED");
        // Hits before the trap are not an escape.
        assert_eq!(label(&[900, 0, 0]), "PERSISTED");
    }

    #[test]
    fn a_window_without_follow_ups_neither_starts_nor_ends_a_trap() {
        let mut all = windows(&[900, 0, 0]);
        all[1].value = Share::default();
        let found = life(&all, &PersistenceTest::default());
        assert_eq!((found.trapped_from_s, found.escape_s), (Some(1520.0), None));
    }

    #[test]
    fn the_trapped_time_runs_to_the_escape_or_the_last_window() {
        let rule = PersistenceTest::default();
        assert_eq!(life(&windows(&[0, 0, 0, 0]), &rule).trapped_s, 30.0);
        assert_eq!(life(&windows(&[0, 0, 600, 0]), &rule).trapped_s, 20.0);
    }

    #[test]
    fn no_escape_in_50_runs_bounds_the_probability_as_published() {
        let bound = escape_bound(50, 0.95).unwrap();
        assert_eq!(format!("{:.1}", 100.0 * bound), "5.8");
        assert_eq!(escape_bound(0, 0.95), None);
        let rule = PersistenceTest::default();
        let lives = vec![life(&windows(&[0, 100]), &rule); 50];
        assert_eq!(decide(&lives, &rule).word, "NO ESCAPE");
        assert_eq!(decide(&[life(&windows(&[0, 600]), &rule)], &rule).word, "ESCAPED");
        assert_eq!(decide(&[], &rule).word, "not decidable");
    }
}
