//! The outcomes of the mechanism checks, the queue limit, and the analyses made after
//! the outcome: persistence, trigger, goodput.

use std::collections::{BTreeMap, BTreeSet};

use crate::judged::statistics::extra::Extra;
use crate::measure::goodput::{UnloadedTurns, served_in_time};
use crate::rule::goodput::{Goodput, loss};
use crate::rule::mechanism::{self, MechanismRun};
use crate::rule::persistence::{self, TrapLife};
use crate::rule::queue_limit::{self, QueueLimitRun};
use crate::rule::{Group, Labelled, Outcome, trigger as trigger_rule};
use crate::setup::registration::after::{GoodputTest, PersistenceTest, TriggerTest};
use crate::setup::registration::test::{MechanismTest, QueueLimitTest};
use crate::setup::{Arm, Span};

use super::Context;
use super::decide::{Judged, placed};
use super::evidence::{Evidence, Role};

/// LPM-INF: each seed against the stock order's run.
pub fn queue_limit(rule: &QueueLimitTest, evidence: &[Evidence]) -> Judged {
    let token_hit = |e: &Evidence| match e.extra {
        Extra::QueueLimit { token_hit, .. } => token_hit,
        _ => None,
    };
    let (subjects, mut set_aside) = placed(evidence, Role::Subject, Evidence::place);
    let (controls, doubles) = placed(evidence, Role::Control, Evidence::place);
    set_aside.extend(doubles);
    let stock: BTreeMap<String, Option<bool>> = controls
        .iter()
        .map(|(_, e)| (e.place(), token_hit(e).map(|h| h < rule.collapsed_token_hit_below)))
        .collect();
    let label = |e: &Evidence| {
        let Extra::QueueLimit { queue_max, token_hit } = e.extra else { return None };
        let run = QueueLimitRun {
            seed: e.meta.seed,
            queue_max,
            token_hit,
            stock_collapsed: stock.get(&e.place()).copied().flatten(),
        };
        Some(queue_limit::judge(&run, rule))
    };
    let mut judged =
        Judged::labelled(evidence, |e| if e.role == Role::Subject { label(e) } else { None });
    let runs: Vec<(u64, Labelled)> = subjects
        .iter()
        .filter_map(|(i, e)| judged.labels[*i].clone().map(|l| (e.meta.seed, l)))
        .collect();
    judged.outcome = queue_limit::decide(&runs, rule);
    judged.outcome.set_aside = set_aside;
    judged
}

/// The mechanism checks over BURST and the good arms.
pub fn mechanism(rule: &MechanismTest, context: &Context<'_>, evidence: &[Evidence]) -> Judged {
    let all_miss = context.file.registration.all_miss_tokens_per_s;
    let mut judged = Judged::labelled(evidence, |e| {
        let Extra::Mechanism { kv_usage, detector, engine, .. } = &e.extra else { return None };
        let Some(window) = &e.measures.window else {
            return Some(Labelled::unmeasurable("it ended before its window did"));
        };
        let burst = e.meta.arm == Arm::Burst;
        let alarms = (detector.clone(), engine.clone());
        let run = MechanismRun::of(burst, window, *kv_usage, all_miss, alarms, e.burst_start_s);
        Some(mechanism::judge(&run, rule))
    });
    let (subjects, set_aside) = placed(evidence, Role::Subject, Evidence::place);
    let runs: Vec<(bool, Labelled)> = subjects
        .iter()
        .filter_map(|(i, e)| {
            let burst = e.meta.arm == Arm::Burst;
            judged.labels[*i].clone().map(|label| (burst, label))
        })
        .collect();
    judged.outcome = mechanism::decide(&runs, rule);
    judged.outcome.set_aside = set_aside;
    judged
}

/// D5 over every run with a trigger; from-empty runs are labelled and not counted.
pub fn persistence(rule: &PersistenceTest, evidence: &[Evidence]) -> Judged {
    let life = |e: &Evidence| match &e.extra {
        Extra::Rolling(windows) => Some(persistence::life(windows, rule)),
        _ => None,
    };
    let mut judged =
        Judged::labelled(evidence, |e| life(e).map(|life| persistence::judge(&life, rule)));
    let subject = |e: &&Evidence| e.counts() && e.role == Role::Subject;
    let lives: Vec<TrapLife> = evidence.iter().filter(subject).filter_map(life).collect();
    judged.outcome = persistence::decide(&lives, rule);
    judged
}

/// D1 over every run with a trigger.
pub fn trigger(rule: &TriggerTest, evidence: &[Evidence]) -> Judged {
    let mut judged = Judged::labelled(evidence, |e| {
        let Extra::Trigger(trigger) = &e.extra else { return None };
        let stuck = e
            .measures
            .window
            .as_ref()
            .and_then(|w| w.follow_up_hits.is_below(rule.stuck_follow_up_hit_below));
        Some(trigger_rule::judge(stuck, trigger.as_ref()))
    });
    let labels: Vec<Labelled> = judged.labels.iter().flatten().cloned().collect();
    judged.outcome = trigger_rule::decide(&labels);
    judged
}

/// D2: each run against its same-seed NOBURST run, over the hour after the burst and the
/// evaluation window.
pub fn goodput(rule: &GoodputTest, context: &Context<'_>, evidence: &[Evidence]) -> Judged {
    let paired = &context.protocol.paired;
    let start = paired.burst.start_s;
    let spans = [
        ("loss of goodput after the burst", Span::new(start, start + rule.after_burst_s)),
        ("loss of goodput in the window", paired.window_s),
    ];
    let in_cell = |e: &Evidence| format!("{} {}", e.meta.cell, e.place());
    let (controls, set_aside) = placed(evidence, Role::Control, in_cell);
    // One unloaded server per cell from all its good runs, as the paper builds it.
    let mut servers: BTreeMap<&str, UnloadedTurns> = BTreeMap::new();
    for (_, control) in &controls {
        if let Extra::Goodput { unloaded, .. } = &control.extra {
            let server = servers.entry(&control.meta.cell).or_default();
            *server = std::mem::take(server).with(unloaded);
        }
    }
    let good = |e: &Evidence, span: Span| match &e.extra {
        Extra::Goodput { sessions, .. } => {
            let (good, arrived) = served_in_time(
                sessions,
                servers.get(e.meta.cell.as_str())?,
                span,
                rule.slowdown_at_most,
                rule.reference_factor,
            );
            Some(Goodput { good, arrived })
        }
        _ => None,
    };
    let control_of = |e: &Evidence| {
        controls
            .iter()
            .find(|(_, c)| {
                c.meta.cell == e.meta.cell
                    && c.meta.seed == e.meta.seed
                    && c.meta.rate == e.meta.rate
            })
            .map(|(_, c)| *c)
    };
    let losses = |e: &Evidence| -> Option<Vec<Option<f64>>> {
        let control = control_of(e)?;
        let lost =
            |span: &Span| good(e, *span).zip(good(control, *span)).and_then(|(r, c)| loss(r, c));
        Some(spans.iter().map(|(_, span)| lost(span)).collect())
    };
    let mut judged = Judged::labelled(evidence, |e| {
        if e.role == Role::Control {
            return None;
        }
        Some(match losses(e) {
            None => Labelled::unmeasurable("no NOBURST run of its rate and seed"),
            Some(lost) => Labelled {
                because: Some(in_words(&spans, &lost)),
                ..Labelled::new("MEASURED", Vec::new())
            },
        })
    });
    let subjects: Vec<(&str, Vec<Option<f64>>)> = evidence
        .iter()
        .filter(|e| e.counts() && e.role == Role::Subject)
        .filter_map(|e| losses(e).map(|lost| (e.meta.arm.word(), lost)))
        .collect();
    for (lost, run) in judged.goodput_lost.iter_mut().zip(evidence) {
        if run.counts() && run.role == Role::Subject {
            *lost = losses(run).map_or([None; 2], |lost| [lost[0], lost[1]]);
        }
    }
    judged.outcome = Outcome::new(
        "MEASURED",
        "goodput lost against NOBURST of the same seed; made after the outcome",
        ranges(&spans, &subjects),
    );
    judged.outcome.set_aside = set_aside;
    judged
}

fn percent(share: Option<f64>) -> String {
    share.map_or("unknown".to_owned(), |x| format!("{:.1} %", 100.0 * x))
}

fn in_words(spans: &[(&'static str, Span)], lost: &[Option<f64>]) -> String {
    let parts: Vec<String> =
        spans.iter().zip(lost).map(|((name, _), x)| format!("{name} {}", percent(*x))).collect();
    parts.join(", ")
}

/// Per span and arm, the least and the largest loss.
fn ranges(spans: &[(&'static str, Span)], runs: &[(&str, Vec<Option<f64>>)]) -> Vec<Group> {
    let arms: BTreeSet<&str> = runs.iter().map(|(arm, _)| *arm).collect();
    let mut groups = Vec::new();
    for (i, (name, _)) in spans.iter().enumerate() {
        for arm in &arms {
            let lost: Vec<f64> =
                runs.iter().filter(|(a, _)| a == arm).filter_map(|(_, lost)| lost[i]).collect();
            let least = lost.iter().copied().min_by(f64::total_cmp);
            let most = lost.iter().copied().max_by(f64::total_cmp);
            groups.push(Group {
                name: format!("{arm}, {name}"),
                verdict: format!("{} to {}", percent(least), percent(most)),
                because: format!("{} runs", lost.len()),
            });
        }
    }
    groups
}
