//! Which runs a test is about, and its outcome from theirs: the paired test, the edge,
//! its replicates, and the endpoints. The tests inside the trap are in `trap`, the
//! analyses made after the outcome in `after`.

use std::collections::BTreeMap;

use crate::judged::statistics::extra::Extra;
use crate::measure::rescue::ControlAfter;
use crate::measure::treatment::Treatment;
use crate::rule::endpoint::{self, DoseRun, Endpoint};
use crate::rule::pairing::{PairedRun, pair};
use crate::rule::stability::{self, FromEmptyRun};
use crate::rule::vote::one_per_place;
use crate::rule::{Clause, Group, Labelled, Outcome, PairedVerdict, State};
use crate::run::Meta;
use crate::setup::registration::Test;
use crate::setup::registration::test::{
    Dose, EdgeTest, EndpointTest, Endpoints, ReplicateTest, Stability, ThreeWayTest,
};
use crate::setup::{Arm, Protocol, Registration};

use super::evidence::{Evidence, Role};
use super::{Context, after, trap};

/// What a test says of its runs: a label and secondary checks for each, and its outcome.
pub struct Judged {
    pub labels: Vec<Option<Labelled>>,
    pub secondary: Vec<Vec<Clause>>,
    /// For a rescue run, its BURST and NOBURST controls after its release.
    pub controls_after: Vec<[Option<ControlAfter>; 2]>,
    /// For a goodput test, what each run lost after the burst and in the window.
    pub goodput_lost: Vec<[Option<f64>; 2]>,
    /// For the paired test, each rate.
    pub rates: Vec<PairedVerdict>,
    pub outcome: Outcome,
}

impl Judged {
    /// Nothing said about so many runs.
    pub fn none(runs: usize) -> Self {
        Self {
            labels: vec![None; runs],
            secondary: vec![Vec::new(); runs],
            controls_after: vec![[None; 2]; runs],
            goodput_lost: vec![[None; 2]; runs],
            rates: Vec::new(),
            outcome: Outcome::new("", "", Vec::new()),
        }
    }

    /// The label of each run that counts, made by `of`.
    pub fn labelled(evidence: &[Evidence], of: impl Fn(&Evidence) -> Option<Labelled>) -> Self {
        let labels = evidence.iter().map(|e| if e.counts() { of(e) } else { None }).collect();
        Self { labels, ..Self::none(evidence.len()) }
    }
}

/// What a run is to a test: by its cell, arm, and what was done to it.
pub fn role(
    test: &Test,
    meta: &Meta,
    treatment: &Treatment,
    registration: &Registration,
    protocol: &Protocol,
) -> Role {
    if let Test::QueueLimit(test) = test
        && meta.cell == test.stock_cell
        && meta.arm == Arm::Burst
    {
        return Role::Control;
    }
    if !registration.is_about(&meta.cell) {
        return Role::None;
    }
    let arm = &meta.arm;
    let open = meta.rate.multiple.is_some() && arm.is_open();
    let full = treatment.burst_sessions == protocol.paired.burst.sessions;
    let subject = |is: bool| if is { Role::Subject } else { Role::None };
    match test {
        Test::Paired | Test::Mechanism(_) => match arm {
            Arm::NoBurst => Role::Subject,
            Arm::Burst | Arm::Capped => subject(full),
            _ => Role::None,
        },
        Test::Edge(_) | Test::Replicate(_) => subject(*arm == Arm::E0b),
        Test::Endpoints(test) => {
            let given = *arm == test.arm
                && test.during_s.is_none_or(|during| treatment.slowed_during(during))
                && test.doses.iter().any(|d| treatment.is(test.dose, d.dose));
            if given {
                Role::Subject
            } else if test.stuck_control.as_ref() == Some(arm) && full {
                Role::Control
            } else {
                Role::None
            }
        }
        Test::ThreeWay(test) => subject(
            *arm == test.arm
                && treatment.is(test.dose, test.amount)
                && test.during_s.is_none_or(|during| treatment.slowed_during(during)),
        ),
        Test::Rescue(_) => match arm {
            Arm::Rescue => Role::Subject,
            Arm::Burst if full => Role::Control,
            Arm::NoBurst => Role::Control,
            _ => Role::None,
        },
        Test::Cut(_) => subject(*arm == Arm::Cut),
        Test::Mirror(_) => match arm {
            Arm::Burst if full => Role::Subject,
            Arm::NoBurst => Role::Control,
            _ => Role::None,
        },
        Test::TrapLaw(test) => subject(open && (test.arms.is_empty() || test.arms.contains(arm))),
        Test::QueueLimit(_) => subject(*arm == Arm::Burst),
        // A from-empty run has no trigger: how long its trap lasts is reported beside the
        // others, and not counted among them (App. D).
        Test::Persistence(_) if *arm == Arm::E0b => Role::Control,
        Test::Persistence(_) => {
            subject(open && (treatment.burst_sessions > 0 || treatment.slowed.is_some()))
        }
        Test::Trigger(test) => subject(
            open && match test.dose {
                Dose::ToolDelayS => treatment.slowed.is_some(),
                Dose::BurstSessions | Dose::StopS => treatment.burst_sessions > 0,
            },
        ),
        Test::Goodput(_) => match arm {
            Arm::NoBurst => Role::Control,
            _ => subject(open),
        },
    }
}

/// The outcome of the registration's test.
pub fn decide(context: &Context<'_>, evidence: &[Evidence]) -> Judged {
    match &context.file.registration.test {
        Test::Paired => paired(context, evidence),
        Test::Edge(test) => edge(test, evidence),
        Test::Replicate(test) => replicate(test, evidence),
        Test::Endpoints(test) => endpoints(test, context, evidence),
        Test::ThreeWay(test) => three_way(test, context, evidence),
        Test::Rescue(rule) => trap::rescue(rule, context, evidence),
        Test::Cut(test) => trap::cut(test, context, evidence),
        Test::Mirror(test) => trap::mirror(test, context, evidence),
        Test::TrapLaw(rule) => trap::trap_law(rule, context, evidence),
        Test::QueueLimit(rule) => after::queue_limit(rule, evidence),
        Test::Mechanism(rule) => after::mechanism(rule, context, evidence),
        Test::Persistence(rule) => after::persistence(rule, evidence),
        Test::Trigger(rule) => after::trigger(rule, evidence),
        Test::Goodput(rule) => after::goodput(rule, context, evidence),
    }
}

/// The counted runs of a role that hold their place alone, and what was set aside.
pub fn placed(
    evidence: &[Evidence],
    role: Role,
    place: impl Fn(&Evidence) -> String,
) -> (Vec<(usize, &Evidence)>, Vec<String>) {
    let claims = evidence
        .iter()
        .enumerate()
        .filter(|(_, e)| e.counts() && e.role == role)
        .map(|(i, e)| (place(e), e.name(), i));
    let (placed, set_aside) = one_per_place(claims);
    let mut indices: Vec<usize> = placed.into_values().map(|(_, i)| i).collect();
    indices.sort_unstable();
    (indices.into_iter().map(|i| (i, &evidence[i])).collect(), set_aside)
}

fn state_label(run: &Evidence) -> Option<Labelled> {
    let state = run.state.as_ref()?;
    let clauses = match state.state {
        State::Recovered => state.recovered.clone(),
        State::Draining => state.draining.clone(),
        _ => state.trapped.clone(),
    };
    Some(Labelled { because: state.because.clone(), ..Labelled::new(state.state.word(), clauses) })
}

fn paired(context: &Context<'_>, evidence: &[Evidence]) -> Judged {
    let registration = &context.file.registration;
    let mut judged = Judged::labelled(evidence, state_label);
    let runs: Vec<PairedRun> = evidence
        .iter()
        .filter(|e| e.counts())
        .filter_map(|e| {
            Some(PairedRun {
                arm: e.meta.arm.clone(),
                multiple: e.meta.rate.multiple?,
                seed: e.meta.seed,
                state: e.state.as_ref()?.state,
                name: e.name(),
            })
        })
        .collect();
    let rates = pair(&runs, &registration.rule);
    let verdicts: Vec<_> = rates.iter().map(|r| r.verdict).collect();
    let group = |rate: &PairedVerdict| {
        let seeds: Vec<String> = rate
            .seeds
            .iter()
            .map(|s| {
                let words = s.states.map(|state| state.map_or("missing", State::word));
                format!("seed {}: {}", s.seed, words.join(", "))
            })
            .collect();
        Group {
            name: format!("rate {:.2}", rate.multiple),
            verdict: rate.verdict.words().into(),
            because: format!(
                "all three arms in {} of {} seeds; {}",
                rate.met,
                rate.judged,
                seeds.join("; ")
            ),
        }
    };
    judged.outcome = Outcome::of_all("PASS", rates.iter().map(group).collect(), &verdicts);
    judged.outcome.set_aside = rates.iter().flat_map(|r| r.set_aside.clone()).collect();
    for rate in &registration.rates {
        if !rates.iter().any(|r| (r.multiple - rate).abs() < 1e-6) {
            judged.outcome.set_aside.push(format!("rate {rate:.2} has no run"));
        }
    }
    judged.rates = rates;
    judged
}

fn stability_label(run: &Evidence, rule: &Stability) -> Option<Labelled> {
    match &run.extra {
        Extra::Queue { queue, .. } => {
            let labelled = stability::judge(queue.as_ref(), rule);
            // Which queue was read matters to a reader: the two are not the same.
            let source = queue.map(|q| q.source.words().to_owned());
            Some(Labelled { because: labelled.because.clone().or(source), ..labelled })
        }
        _ => None,
    }
}

fn stable(label: &Option<Labelled>) -> Option<bool> {
    match label.as_ref()?.label {
        "STABLE" => Some(true),
        "UNSTABLE" => Some(false),
        _ => None,
    }
}

fn edge(test: &EdgeTest, evidence: &[Evidence]) -> Judged {
    let mut judged = Judged::labelled(evidence, |e| stability_label(e, &test.stability));
    let (runs, set_aside) = placed(evidence, Role::Subject, Evidence::place);
    let runs: Vec<FromEmptyRun> = runs
        .into_iter()
        .filter_map(|(i, e)| {
            let Extra::Queue { realized, .. } = &e.extra else { return None };
            let stable = stable(&judged.labels[i])?;
            Some(FromEmptyRun { nominal: e.multiple(), realized: *realized, stable })
        })
        .collect();
    judged.outcome = stability::decide(&runs, test.replicates.as_ref());
    judged.outcome.set_aside = set_aside;
    judged
}

fn replicate(test: &ReplicateTest, evidence: &[Evidence]) -> Judged {
    let mut judged = Judged::labelled(evidence, |e| stability_label(e, &test.stability));
    let plans: Vec<(u64, Vec<Option<bool>>)> = test
        .originals
        .iter()
        .map(|original| {
            let of_plan = evidence
                .iter()
                .zip(&judged.labels)
                .filter(|(e, _)| e.counts() && e.meta.seed == original.seed)
                .map(|(_, label)| stable(label).map(|s| s == original.stable));
            (original.seed, of_plan.collect())
        })
        .collect();
    judged.outcome = stability::decide_replicates(&plans, test.replicates);
    judged
}

/// The endpoint label of a run under a test.
pub fn endpoint_label(run: &Evidence, rule: &Endpoints, context: &Context<'_>) -> Option<Labelled> {
    Some(endpoint::judge(&run.measures, run.load?, rule, &context.file.registration.rule))
}

fn endpoints(test: &EndpointTest, context: &Context<'_>, evidence: &[Evidence]) -> Judged {
    let mut judged = Judged::labelled(evidence, |e| endpoint_label(e, &test.endpoints, context));
    let dose = |e: &Evidence| {
        test.doses
            .iter()
            .map(|d| d.dose)
            .find(|d| e.treatment.is(test.dose, *d))
            .unwrap_or(f64::NAN)
    };
    let (subjects, mut set_aside) = placed(evidence, Role::Subject, |e| {
        let (what, unit) = test.dose.words();
        format!("{}, {what} {} {unit}", e.place(), dose(e))
    });
    let (controls, doubles) = placed(evidence, Role::Control, Evidence::place);
    set_aside.extend(doubles);
    let ended = |i: usize| judged.labels[i].as_ref().and_then(Endpoint::of);
    let runs: Vec<DoseRun> = subjects
        .iter()
        .map(|(i, e)| DoseRun {
            dose: dose(e),
            seed: e.meta.seed,
            endpoint: ended(*i),
            trapped: e.state.as_ref().and_then(|s| match s.state {
                State::Unmeasurable => None,
                state => Some(state == State::Trapped),
            }),
        })
        .collect();
    let controls: BTreeMap<u64, Option<bool>> = controls
        .iter()
        .map(|(i, e)| (e.meta.seed, ended(*i).map(|end| end == Endpoint::Stuck)))
        .collect();
    judged.outcome = endpoint::decide(&runs, &controls, test);
    judged.outcome.set_aside.extend(set_aside);
    judged
}

fn three_way(test: &ThreeWayTest, context: &Context<'_>, evidence: &[Evidence]) -> Judged {
    let mut judged = Judged::labelled(evidence, |e| endpoint_label(e, &test.endpoints, context));
    let (subjects, set_aside) = placed(evidence, Role::Subject, Evidence::place);
    let ends: Vec<_> =
        subjects.iter().map(|(i, _)| judged.labels[*i].as_ref().and_then(Endpoint::of)).collect();
    judged.outcome = endpoint::three_way(&ends, test.seeds);
    judged.outcome.set_aside = set_aside;
    judged
}
