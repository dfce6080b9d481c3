//! Whole verdicts from made-up runs, and what bad input does to them.

use std::collections::BTreeMap;
use std::path::Path;

use super::made_up::MadeUp;
use super::*;
use crate::setup::Span;

fn configs() -> Configs {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs");
    let mut files = BTreeMap::new();
    for folder in crate::configs::FOLDERS {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let bytes = std::fs::read(&path).unwrap();
            files.insert(path, bytes);
        }
    }
    Configs::parse(&root, &files).unwrap()
}

fn judged(name: &str, runs: &[MadeUp]) -> Verdict {
    let configs = configs();
    let file = configs.registrations.get(name).unwrap();
    judged_by(file, runs, &configs)
}

fn judged_by(file: &RegistrationFile, runs: &[MadeUp], configs: &Configs) -> Verdict {
    let measured = |like: &MadeUp| RunStatistics::of(like.run(), configs, Some(file)).unwrap();
    let measured: Vec<Measured> = runs.iter().map(|run| Ok(Arc::new(measured(run)))).collect();
    super::verdict(file, &measured, configs).unwrap()
}

fn sha(name: &str) -> Option<String> {
    Some(configs().registrations.get(name).unwrap().sha256.clone())
}

fn labels(verdict: &Verdict) -> Vec<&'static str> {
    verdict.runs.iter().filter_map(|r| r.labelled.as_ref().map(|l| l.label)).collect()
}

/// Three seeds of the three arms at both rates, bound to E2.
fn e2() -> Vec<MadeUp> {
    let mut runs = Vec::new();
    for multiple in [1.35, 1.65] {
        for seed in 0..3 {
            for arm in ["burst", "noburst", "capped"] {
                let run =
                    MadeUp { multiple, bound_to: sha("e2-sglang-300k"), ..MadeUp::new(arm, seed) };
                runs.push(if arm == "burst" { run.trapped() } else { run });
            }
        }
    }
    runs
}

#[test]
fn bound_runs_of_a_filled_registration_decide() {
    let verdict = judged("e2-sglang-300k", &e2());
    assert_eq!(verdict.outcome.word, "PASS", "{:?}", verdict.outcome);
    assert!(verdict.decisive, "{:?}", verdict.not_decisive_because);
    assert_eq!(labels(&verdict)[..3], ["TRAPPED", "RECOVERED", "RECOVERED"]);
    assert_eq!(verdict.sources, "engine");
}

#[test]
fn simulated_runs_bound_to_a_filled_registration_are_judged_and_decide_nothing() {
    let simulated = |run: MadeUp| MadeUp { source: Source::Simulator, ..run };
    let verdict = judged("e2-sglang-300k", &e2().into_iter().map(simulated).collect::<Vec<_>>());
    assert_eq!((verdict.outcome.word.as_str(), verdict.decisive), ("PASS", false));
    assert_eq!(verdict.sources, "simulator");
    let why = verdict.not_decisive_because.unwrap();
    assert_eq!(why, "18 of 18 runs are simulated, and only an engine's decide");
}

#[test]
fn one_simulated_run_among_an_engines_has_no_vote_and_spoils_none() {
    let mut runs = e2();
    runs.push(MadeUp { source: Source::Simulator, suffix: "-again", ..runs[0].clone() });
    let verdict = judged("e2-sglang-300k", &runs);
    assert_eq!((verdict.outcome.word.as_str(), verdict.decisive), ("PASS", true));
    assert_eq!(verdict.sources, "engine");
    let why = verdict.runs[18].set_aside.as_ref().unwrap();
    assert_eq!(why, "simulated, and runs of an engine are there");
    // In the place of a missing one it does not make up for it.
    let mut runs = e2();
    runs[0].source = Source::Simulator;
    let verdict = judged("e2-sglang-300k", &runs);
    assert_eq!(verdict.outcome.word, "not decidable");
}

#[test]
fn the_rates_of_the_paired_test_are_those_of_its_groups() {
    let verdict = judged("e2-sglang-300k", &e2());
    let rates: Vec<_> = verdict.rates.iter().map(|r| (r.multiple, r.verdict.words())).collect();
    assert_eq!(rates, [(1.35, "PASS"), (1.65, "PASS")]);
    assert!(judged("r1", &r1()).rates.is_empty());
}

#[test]
fn unbound_runs_are_judged_and_decide_nothing() {
    let runs: Vec<_> = e2().into_iter().map(|r| MadeUp { bound_to: None, ..r }).collect();
    let verdict = judged("e2-sglang-300k", &runs);
    assert_eq!((verdict.outcome.word.as_str(), verdict.decisive), ("PASS", false));
    assert_eq!(verdict.not_decisive_because.unwrap(), "18 of 18 runs are not bound to it");
}

#[test]
fn a_run_bound_elsewhere_is_set_aside_by_name() {
    let mut runs = e2();
    runs[0].bound_to = Some("f".repeat(64));
    let verdict = judged("e2-sglang-300k", &runs);
    assert_eq!(verdict.outcome.word, "not decidable");
    let why = verdict.runs[0].set_aside.as_ref().unwrap();
    assert!(why.starts_with("bound to another registration (ffffffffffff"), "{why}");
    assert!(verdict.outcome.set_aside.iter().any(|w| w.contains("agentload_burst/x1.35_s0")));
}

#[test]
fn an_unbound_run_does_not_vote_beside_bound_ones() {
    let mut runs = e2();
    runs.push(MadeUp { bound_to: None, suffix: "-again", ..runs[0].clone() });
    let verdict = judged("e2-sglang-300k", &runs);
    assert_eq!((verdict.outcome.word.as_str(), verdict.decisive), ("PASS", true));
    let why = verdict.runs[18].set_aside.as_ref().unwrap();
    assert!(why.ends_with("and bound runs are there"), "{why}");
}

#[test]
fn a_run_bound_to_a_file_that_is_restated_is_judged_and_not_decisive() {
    let original =
        configs().registrations["e2-sglang-300k"].registration.restates_sha256[0].clone();
    let runs: Vec<_> =
        e2().into_iter().map(|r| MadeUp { bound_to: Some(original.clone()), ..r }).collect();
    let verdict = judged("e2-sglang-300k", &runs);
    assert_eq!((verdict.outcome.word.as_str(), verdict.decisive), ("PASS", false));
}

#[test]
fn two_claims_of_one_place_a_short_run_and_an_unregistered_rate_are_named() {
    let mut runs = e2();
    runs.push(MadeUp { suffix: "-again", ..runs[1].clone() });
    runs[10].duration_s = 2000.0;
    runs.push(MadeUp { multiple: 1.5, ..runs[0].clone() });
    let verdict = judged("e2-sglang-300k", &runs);
    assert_eq!(verdict.outcome.word, "not decidable");
    let said = verdict.outcome.set_aside.join("\n");
    assert!(said.contains("several runs claim noburst seed 0"), "{said}");
    assert!(said.contains("agentload_noburst/x1.65_s0 cannot be measured"), "{said}");
    assert!(said.contains("its rate is not registered"), "{said}");
}

#[test]
fn a_failed_rule_is_said_as_plainly_as_a_passed_one() {
    let mut runs = e2();
    for run in runs.iter_mut().filter(|r| r.multiple == 1.35 && r.seed < 2) {
        run.trapped = None;
    }
    let verdict = judged("e2-sglang-300k", &runs);
    assert_eq!(verdict.outcome.word, "NOT MET");
    assert_eq!(verdict.outcome.because, "the rule fails at rate 1.35");
    assert!(verdict.decisive);
}

#[test]
fn an_incomplete_registration_judges_nothing() {
    let configs = configs();
    let mut file = configs.registrations["e2-sglang-300k"].clone();
    file.registration.status = Status::Incomplete;
    let verdict = judged_by(&file, &e2()[..1], &configs);
    assert_eq!(verdict.outcome.word, "not decidable");
    assert!(verdict.outcome.because.starts_with("the registration is INCOMPLETE"));
    assert!(!verdict.decisive);
}

#[test]
fn bursts_are_told_apart_by_their_plans() {
    let of = |burst, trapped: bool| {
        (0..3).map(move |seed| {
            let run = MadeUp { burst, multiple: 1.65, ..MadeUp::new("burst", seed) };
            if trapped { run.trapped() } else { run }
        })
    };
    let runs: Vec<_> = of(40, false).chain(of(60, true)).chain(of(200, true)).collect();
    let verdict = judged("basin-2", &runs);
    assert_eq!(verdict.outcome.word, "BRACKETED", "{:?}", verdict.outcome);
    assert_eq!(verdict.runs.iter().filter(|r| r.role.is_empty()).count(), 3);
}

#[test]
fn slowdowns_are_told_apart_by_their_length() {
    let slowed = |seed, until_s, trapped: bool| {
        let slowed = Some((Span::new(1200.0, until_s), 30.0));
        let run = MadeUp { slowed, ..MadeUp::new("toolslow", seed) };
        if trapped { run.trapped() } else { run }
    };
    let mut runs: Vec<_> = (0..3).map(|seed| slowed(seed, 3000.0, true)).collect();
    runs.extend((0..3).map(|seed| slowed(seed, 2100.0, seed == 2)));
    assert_eq!(judged("toolslow-w", &runs).outcome.word, "TRAPS");
    let short = judged("toolslow", &runs);
    assert!(short.outcome.groups[1].because.starts_with("STUCK in 1 of 3"), "{:?}", short.outcome);
}

#[test]
fn a_stop_is_judged_with_its_same_seed_control() {
    let mut runs = Vec::new();
    for seed in 0..2 {
        let stop = |length| Some(Span::new(1800.0, 1800.0 + length));
        runs.push(MadeUp { refused: stop(600.0), ..MadeUp::new("shed", seed).trapped() });
        runs.push(MadeUp { refused: stop(3600.0), suffix: "-long", ..MadeUp::new("shed", seed) });
        runs.push(MadeUp::new("burst", seed).trapped());
    }
    assert_eq!(judged("shed", &runs).outcome.word, "PASS");
    runs.retain(|r| !(r.arm == "burst" && r.seed == 1));
    let missing = judged("shed", &runs);
    assert_eq!(missing.outcome.word, "not decidable");
    assert!(missing.outcome.set_aside.iter().any(|w| w.ends_with("seed 1: no usable control")));
}

/// Rescue runs with their controls at both of R1's rates.
fn r1() -> Vec<MadeUp> {
    let mut runs = Vec::new();
    for multiple in [1.35, 1.65] {
        for seed in 0..3 {
            let new = |arm| MadeUp { multiple, ..MadeUp::new(arm, seed) };
            let trapped = Some(Span::new(1200.0, 3000.0));
            runs.push(MadeUp { trapped, gate: Some((1800.0, 4550.0)), ..new("rescue") });
            runs.push(new("burst").trapped());
            runs.push(new("noburst"));
        }
    }
    runs
}

#[test]
fn a_rescue_is_paired_with_controls_of_the_same_plan() {
    let verdict = judged("r1", &r1());
    assert_eq!(verdict.outcome.word, "PASS", "{:?} {:?}", verdict.outcome, labels(&verdict));
    assert!(verdict.outcome.notes[0].starts_with("no session of a counted run failed"));
    let [burst, noburst] = verdict.runs[0].controls_after.map(Option::unwrap);
    assert_eq!(
        (burst.follow_up_hits.value(), noburst.follow_up_hits.value()),
        (Some(0.0), Some(1.0))
    );
    assert!(burst.outstanding_mean > 50.0 && noburst.outstanding_mean < 5.0);
    let mut runs = r1();
    // A control of another length of burst is another plan.
    runs[1].seed = 7;
    let missing = judged("r1", &runs);
    assert_eq!(missing.outcome.word, "not decidable");
    assert!(missing.outcome.set_aside.iter().any(|w| w.contains("no usable BURST control")));
}

#[test]
fn a_rescue_that_falls_back_is_a_relapse_and_two_refute() {
    let mut runs = r1();
    for run in runs.iter_mut().filter(|r| r.arm == "rescue" && r.seed == 0) {
        run.trapped = Some(Span::new(1200.0, f64::INFINITY));
    }
    let verdict = judged("r1", &runs);
    assert_eq!(verdict.outcome.word, "REFUTED", "{:?}", labels(&verdict));
}

#[test]
fn the_edge_is_the_largest_rate_without_a_queue() {
    let from_empty = |multiple, queue, seed| MadeUp {
        multiple,
        queue,
        duration_s: 3000.0,
        ..MadeUp::new("e0b", seed)
    };
    let runs = [from_empty(1.5, 0.0, 0), from_empty(2.0, 8.0, 0), from_empty(2.5, 120.0, 0)];
    let verdict = judged("edge-300k", &runs);
    assert_eq!(verdict.outcome.word, "2.00");
    assert_eq!(labels(&verdict), ["STABLE", "STABLE", "UNSTABLE"]);
    let replicates: Vec<_> =
        (0..3).flat_map(|_| [from_empty(2.5, 120.0, 0), from_empty(2.5, 0.0, 4)]).collect();
    assert_eq!(judged("replicate-edge", &replicates).outcome.word, "REPRODUCIBLE");
}

#[test]
fn an_analysis_of_other_tests_runs_takes_them_as_they_are_bound_and_decides_nothing() {
    let bound_to = Some("f".repeat(64));
    let runs = [MadeUp { bound_to, ..MadeUp::new("burst", 0).trapped() }];
    let verdict = judged("trigger-burst", &runs);
    assert_eq!((verdict.outcome.word.as_str(), verdict.decisive), ("OUTLIVES", false));
    assert!(verdict.runs[0].binding.words().starts_with("bound to another registration"));
}

#[test]
fn what_is_made_after_the_outcome_is_never_decisive() {
    let runs: Vec<_> = (0..2)
        .flat_map(|seed| [MadeUp::new("burst", seed).trapped(), MadeUp::new("noburst", seed)])
        .collect();
    let word = |name| {
        let verdict = judged(name, &runs);
        assert!(!verdict.decisive, "{name}");
        verdict.outcome.word
    };
    assert_eq!(word("persistence"), "NO ESCAPE");
    // A run from empty is labelled beside them: its end would be an escape if it counted.
    let mut with_from_empty = runs.clone();
    let fades = Some(Span::new(300.0, 1500.0));
    with_from_empty.push(MadeUp { trapped: fades, duration_s: 3000.0, ..MadeUp::new("e0b", 0) });
    let verdict = judged("persistence", &with_from_empty);
    let beside = verdict.runs.last().unwrap();
    assert_eq!((beside.role, verdict.outcome.word.as_str()), ("control", "NO ESCAPE"));
    assert_eq!(beside.labelled.as_ref().unwrap().label, "ESCAPED");
    assert_eq!(word("trigger-burst"), "OUTLIVES");
    let goodput = judged("goodput", &runs);
    assert_eq!(goodput.outcome.groups[1].verdict, "100.0 % to 100.0 %", "{:?}", goodput.outcome);
}
