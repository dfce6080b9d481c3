//! The outcomes of the tests inside the trap: rescue, cut, mirror, and the trap law.

use std::collections::{BTreeMap, BTreeSet};

use crate::judged::statistics::RunStatistics;
use crate::judged::statistics::extra::Extra;
use crate::law::trap_check::model_f;
use crate::model::fifo::Regime;
use crate::rule::cut::{self, CutRun};
use crate::rule::endpoint::Endpoint;
use crate::rule::mirror::{self, MirrorRun};
use crate::rule::rescue::{
    self as rescue_rule, PairedIdentity, RescueLabel, RescueSeed, decide as decide_rescue,
};
use crate::rule::trap_law::{self, TrappedRun};
use crate::rule::{Labelled, Load, Outcome};
use crate::setup::registration::rescue::RescueTest;
use crate::setup::registration::test::Endpoints;
use crate::setup::registration::trap::{CutTest, MirrorPrediction, MirrorTest, TrapLawTest};
use crate::setup::{Arm, Cell, PairedThresholds, Workload};

use super::Context;
use super::decide::{Judged, endpoint_label, placed};
use super::evidence::{Evidence, Role};

/// Whether a run is STUCK by the endpoints; `None` where it cannot say.
fn is_stuck(run: &Evidence, rule: &Endpoints, context: &Context<'_>) -> Option<bool> {
    let end = Endpoint::of(&endpoint_label(run, rule, context)?)?;
    Some(end == Endpoint::Stuck)
}

/// A rate and a seed, as a key.
fn key(run: &Evidence) -> (u64, u64) {
    ((run.multiple() * 1e6).round() as u64, run.meta.seed)
}

fn rescue_label(run: &Evidence, rule: &RescueTest, context: &Context<'_>) -> Option<RescueLabel> {
    let registration = &context.file.registration;
    let Extra::Rescue { rescue: Some(rescue), .. } = &run.extra else { return None };
    let last = run.measures.last.as_ref()?;
    let gpu = run.meta.gpu.as_ref().map(|g| g.name.as_str());
    let hardware = registration.hardware.as_deref().map(|asked| gpu == Some(asked));
    let all_miss = registration.all_miss_tokens_per_s;
    Some(rescue_rule::judge(rescue, last, hardware, all_miss, rule, &registration.rule))
}

fn control_label(run: &Evidence, rule: &RescueTest, context: &Context<'_>) -> Labelled {
    let parts = match &run.extra {
        Extra::Rescue { control: Some(control), .. } => {
            run.measures.last.as_ref().map(|l| (control, l))
        }
        _ => None,
    };
    match parts {
        Some((control, last)) => {
            rescue_rule::judge_control(control, last, rule, &context.file.registration.rule)
        }
        None => Labelled::unmeasurable("it ended before its window did"),
    }
}

fn identity(run: &Evidence) -> PairedIdentity {
    let rate = run.meta.rate;
    PairedIdentity {
        plan: run.plan.clone(),
        rate: (rate.multiple, rate.lambda_ref, rate.lambda),
        gpu: run.meta.gpu.as_ref().map(|g| g.name.clone()),
        burst_start_s: run.burst_start_s,
    }
}

/// Rescue: label, pair by rate and seed, decide.
pub fn rescue(rule: &RescueTest, context: &Context<'_>, evidence: &[Evidence]) -> Judged {
    let mut judged = Judged::labelled(evidence, |e| match (e.role, &e.meta.arm) {
        (Role::Subject, _) => Some(rescue_label(e, rule, context).map_or_else(
            || Labelled::unmeasurable("it ended before its window did"),
            |label| label.labelled,
        )),
        (_, Arm::Burst) => Some(control_label(e, rule, context)),
        _ => None,
    });
    for (i, run) in evidence.iter().enumerate().filter(|(_, e)| e.role == Role::Subject) {
        if let Extra::Rescue { rescue: Some(measures), .. } = &run.extra {
            judged.secondary[i] = rescue_rule::mechanics(measures, rule);
        }
    }
    let (subjects, mut set_aside) = placed(evidence, Role::Subject, Evidence::place);
    let (controls, doubles) = placed(evidence, Role::Control, Evidence::place);
    set_aside.extend(doubles);
    let of = |arm: Arm| -> BTreeMap<(u64, u64), (usize, &Evidence)> {
        controls
            .iter()
            .filter(|(_, e)| e.meta.arm == arm)
            .map(|(i, e)| (key(e), (*i, *e)))
            .collect()
    };
    let (bursts, nobursts) = (of(Arm::Burst), of(Arm::NoBurst));
    for (i, e) in &subjects {
        let Extra::Rescue { rescue: Some(rescue), .. } = &e.extra else { continue };
        let Some(after) = &rescue.after else { continue };
        let over = |control: Option<&(usize, &Evidence)>| match &control?.1.extra {
            Extra::Rescue { control: Some(control), .. } => Some(control.over(after.span)),
            _ => None,
        };
        judged.controls_after[*i] = [over(bursts.get(&key(e))), over(nobursts.get(&key(e)))];
    }
    let seeds: Vec<RescueSeed> = subjects
        .iter()
        .map(|(_, e)| {
            let burst = bursts.get(&key(e));
            let noburst = nobursts.get(&key(e)).map(|(_, n)| identity(n));
            let stuck = burst.and_then(|(i, _)| match judged.labels[*i].as_ref()?.label {
                "STUCK" => Some(true),
                "NOT STUCK" => Some(false),
                _ => None,
            });
            let shed = match &e.extra {
                Extra::Rescue { rescue: Some(r), .. } => r.sessions_failed + r.sessions_refused,
                _ => 0,
            };
            RescueSeed {
                multiple: e.multiple(),
                seed: e.meta.seed,
                rescue: rescue_label(e, rule, context),
                control_stuck: stuck,
                unpaired: burst.map_or_else(Vec::new, |(_, b)| {
                    rescue_rule::unpaired(&identity(e), &identity(b), noburst.as_ref())
                }),
                shed,
            }
        })
        .collect();
    judged.outcome = decide_rescue(&seeds, rule);
    judged.outcome.set_aside.extend(set_aside);
    judged
}

/// Cut: the arm by the rate its plan has after the cut, the favoured reading per seed.
pub fn cut(test: &CutTest, context: &Context<'_>, evidence: &[Evidence]) -> Judged {
    let lambda_ref_per_s = context.file.registration.lambda_ref_per_s;
    let nearest = |rate: f64| {
        let off = |i: &usize| (test.arms[*i].multiple - rate / lambda_ref_per_s).abs();
        (0..test.arms.len()).min_by(|a, b| off(a).total_cmp(&off(b)))
    };
    let arm_of = |e: &Evidence| match &e.extra {
        Extra::Cut { plan_rate_per_s, .. } => nearest(*plan_rate_per_s),
        _ => None,
    };
    let label = |e: &Evidence| {
        let Extra::Cut { slope_per_s, sign_slopes, plan_rate_per_s } = &e.extra else {
            return None;
        };
        let arm = arm_of(e)?;
        let frozen = test
            .predictions
            .iter()
            .find(|p| p.arm == test.arms[arm].name && p.seed == e.meta.seed)?;
        let run = CutRun {
            slope_per_s: *slope_per_s,
            sign_slope_per_s: sign_slopes[arm],
            stuck: is_stuck(e, &test.endpoints, context),
            plan_rate_per_s: *plan_rate_per_s,
            model_f_slope_per_s: frozen.model_f_slope_per_s,
            d_trap_per_s: frozen.d_trap_per_s,
            lambda_ref_per_s,
        };
        Some(cut::judge(&run, &test.arms[arm]))
    };
    let mut judged = Judged::labelled(evidence, |e| {
        Some(label(e).map_or_else(
            || Labelled::unmeasurable("nothing was frozen for its arm and seed"),
            |l| l.labelled,
        ))
    });
    let name = |e: &Evidence| arm_of(e).map_or("no arm", |i| test.arms[i].name.as_str()).to_owned();
    let (subjects, set_aside) =
        placed(evidence, Role::Subject, |e| format!("{} seed {}", name(e), e.meta.seed));
    let arms: Vec<_> = test
        .arms
        .iter()
        .enumerate()
        .map(|(i, arm)| {
            let seeds = subjects
                .iter()
                .filter(|(_, e)| arm_of(e) == Some(i))
                .filter_map(|(_, e)| label(e).map(|l| (e.meta.seed, l)))
                .collect();
            cut::decide_arm(arm, &seeds, test.seeds)
        })
        .collect();
    judged.outcome = cut::decide(&arms);
    judged.outcome.set_aside = set_aside;
    judged
}

/// Mirror: a call per seed, a verdict per rate, the decisive rate's is the test's.
pub fn mirror(test: &MirrorTest, context: &Context<'_>, evidence: &[Evidence]) -> Judged {
    let lambda_ref = context.file.registration.lambda_ref_per_s;
    let frozen = |e: &Evidence| -> Option<&MirrorPrediction> {
        test.predictions
            .iter()
            .find(|p| (p.rate - e.multiple()).abs() < 1e-6 && p.seed == e.meta.seed)
    };
    // A run of another plan than the frozen one was not predicted.
    let other_plan = |e: &Evidence| {
        frozen(e)
            .and_then(|p| p.plan_sha256.as_ref())
            .is_some_and(|asked| e.meta.plan_sha256.as_ref() != Some(asked))
    };
    let run = |e: &Evidence| -> Option<MirrorRun> {
        let Extra::Mirror(m) = &e.extra else { return None };
        Some(MirrorRun {
            stuck: is_stuck(e, &test.endpoints, context),
            blackout: m.blackout,
            wave_s: m.wave_s,
            lull: m.lull,
            slope_per_s: m.slope_per_s,
            plan_rate_per_s: m.plan_rate_per_s,
            mean_prompt_tokens: m.mean_prompt_tokens,
        })
    };
    let mut judged = Judged::labelled(evidence, |e| {
        if e.role == Role::Control {
            return endpoint_label(e, &test.endpoints, context);
        }
        if other_plan(e) {
            return Some(Labelled::unmeasurable("its plan is not the one that was frozen"));
        }
        match (run(e), frozen(e)) {
            (Some(run), Some(frozen)) => {
                Some(mirror::judge(&run, frozen, lambda_ref, e.burst_start_s, test))
            }
            _ => Some(Labelled::unmeasurable("nothing was frozen for its rate and seed")),
        }
    });
    for (i, e) in evidence.iter().enumerate().filter(|(_, e)| e.role == Role::Subject) {
        if let (Some(run), Some(frozen)) = (run(e), frozen(e)) {
            judged.secondary[i] = mirror::secondary(&run, frozen, e.burst_start_s, test);
        }
    }
    let (subjects, set_aside) = placed(evidence, Role::Subject, Evidence::place);
    let mut rates: BTreeMap<u64, Vec<(usize, &Evidence)>> = BTreeMap::new();
    for (i, e) in subjects {
        rates.entry(key(e).0).or_default().push((i, e));
    }
    let groups = rates
        .values()
        .map(|runs| {
            let calls: Vec<&Labelled> =
                runs.iter().filter_map(|(i, _)| judged.labels[*i].as_ref()).collect();
            let rate = runs[0].1.multiple();
            (rate, mirror::decide_rate(rate, &calls, test).0)
        })
        .collect();
    judged.outcome = mirror::decide(groups, test);
    judged.outcome.notes = mirror_notes(&rates, evidence, &judged);
    judged.outcome.set_aside = set_aside;
    judged
}

/// W6 over the lowest and the highest rate, and W9 over the NOBURST controls.
fn mirror_notes(
    rates: &BTreeMap<u64, Vec<(usize, &Evidence)>>,
    evidence: &[Evidence],
    judged: &Judged,
) -> Vec<String> {
    let waves = |runs: &Vec<(usize, &Evidence)>| -> BTreeMap<u64, f64> {
        runs.iter()
            .filter_map(|(_, e)| match &e.extra {
                Extra::Mirror(m) => m.wave_s.map(|w| (e.meta.seed, w)),
                _ => None,
            })
            .collect()
    };
    let mut notes = Vec::new();
    if let (Some(low), Some(high)) = (rates.values().next(), rates.values().next_back())
        && rates.len() > 1
    {
        let shifts = mirror::earlier_at_the_lower_rate(&waves(low), &waves(high));
        let held = shifts.iter().filter(|c| c.holds == Some(true)).count();
        let by: Vec<String> =
            shifts.iter().filter_map(|c| c.measured.map(|s| format!("{s:.0}"))).collect();
        notes.push(format!("W6 held in {held} of {} seeds, by {} s", shifts.len(), by.join(", ")));
    }
    let controls: Vec<_> = evidence
        .iter()
        .zip(&judged.labels)
        .filter(|(e, _)| e.counts() && e.role == Role::Control)
        .collect();
    let good =
        controls.iter().filter(|(_, l)| l.as_ref().is_some_and(|l| l.label == "GOOD")).count();
    notes.push(format!("W9: {good} of {} NOBURST controls are good", controls.len()));
    notes
}

/// What a stuck run did over its window, and what model F says of it at its load.
///
/// # Errors
/// Why there is nothing to compare, in words.
pub fn trapped_run(
    run: &RunStatistics,
    load: Load,
    rule: &PairedThresholds,
    cell: &Cell,
    workload: &Workload,
) -> Result<TrappedRun, String> {
    let window = run.measures.window.as_ref().ok_or("it ended before its window did")?;
    let (model, prompts) = model_f(cell, workload).map_err(|e| e.to_string())?;
    let Regime::Trapped(trap) = model.at(load.lambda_per_s).map_err(|e| e.to_string())? else {
        return Err("model F drains at this load".into());
    };
    let excess = load.lambda_per_s - load.lambda_ref_per_s;
    Ok(TrappedRun {
        prompt_tokens: (window.mean_prompt_tokens, trap.served_mean(&prompts)),
        gap_slope: (window.gap_slope, trap.gamma),
        completions_per_s: (window.completions_per_s, trap.completions_per_s),
        backlog_slope_per_s: (window.backlog_slope_per_s, trap.alpha_per_s),
        realized_per_s: window.base_arrivals_per_s,
        lambda_ref_per_s: load.lambda_ref_per_s,
        slope_threshold_per_s: rule.slope_factor * excess,
    })
}

/// S1 to S5 over the stuck runs, a group per rate.
pub fn trap_law(rule: &TrapLawTest, context: &Context<'_>, evidence: &[Evidence]) -> Judged {
    let registration = &context.file.registration;
    let stuck = |e: &Evidence| {
        let window = e.measures.window.as_ref()?;
        window.follow_up_hits.is_below(registration.rule.stuck_follow_up_hit_below)
    };
    let trapped = |e: &Evidence| -> Result<TrappedRun, String> {
        let load = e.load.ok_or("it ended before its window did")?;
        trapped_run(e, load, &registration.rule, context.cell, context.workload)
    };
    let mut judged = Judged::labelled(evidence, |e| match stuck(e) {
        None => Some(Labelled::unmeasurable("whether it is stuck cannot be told")),
        Some(false) => Some(Labelled::new("NOT STUCK", Vec::new())),
        Some(true) => {
            Some(trapped(e).map_or_else(Labelled::unmeasurable, |run| trap_law::judge(&run, rule)))
        }
    });
    let places: BTreeSet<String> = evidence.iter().map(group).collect();
    let groups: Vec<_> = places
        .iter()
        .filter_map(|place| {
            let runs: Vec<TrappedRun> = evidence
                .iter()
                .filter(|e| e.counts() && group(e) == *place && stuck(e) == Some(true))
                .filter_map(|e| trapped(e).ok())
                .collect();
            (!runs.is_empty()).then(|| trap_law::decide_group(place, &runs, rule))
        })
        .collect();
    judged.outcome = if groups.is_empty() {
        Outcome::new("not decidable", "no run is stuck", Vec::new())
    } else {
        trap_law::decide(&groups)
    };
    judged
}

/// Runs of one arm and rate are scored together.
fn group(run: &Evidence) -> String {
    format!("{} rate {:.2}", run.meta.arm, run.multiple())
}
