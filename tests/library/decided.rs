//! How long before its end a real run is decided: what docs/driving.md says of it.

use std::path::Path;

use rayon::prelude::*;
use trapcheck::directory::{LoadOptions, find_runs, load};
use trapcheck::judged::BoundBy;
use trapcheck::rule::state::State;
use trapcheck::run::{Meta, RegistrationRef, Run};
use trapcheck::setup::Arm;

#[path = "../../crates/simulator/tests/cut/mod.rs"]
mod cut;

/// A run of an arm, its state, and when that is decided, s; `None` where it never is before the
/// window ends.
#[derive(Debug, Clone)]
struct Decided {
    arm: Arm,
    at_s: Option<f64>,
    state: State,
}

/// The first time at which a run is decided, to 0.1 s. Once decided it stays so, as less and
/// less can come.
fn when(run: &Run, bound: &BoundBy<'_>) -> Option<f64> {
    let window = bound.window();
    let at = |t_s: f64| bound.state(&cut::cut(run, t_s));
    let (mut open_s, mut decided_s) = (window.start_s, window.end_s - 0.05);
    let state = at(decided_s)?;
    assert_eq!(Some(state), bound.state(run), "{}", run.dir.display());
    while decided_s - open_s > 0.1 {
        let middle_s = 0.5 * (open_s + decided_s);
        match at(middle_s) {
            Some(found) => {
                assert_eq!(found, state, "{} at {middle_s} s", run.dir.display());
                decided_s = middle_s;
            }
            None => open_s = middle_s,
        }
    }
    Some(decided_s)
}

/// Of the runs below a folder of `results/` whose path has these words in it, in order of path.
fn decided(folder: &str, of: &str) -> Vec<Decided> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let configs = trapcheck::configs::load(&root.join("configs")).unwrap();
    let found = find_runs(&[root.join("results").join(folder)]).runs;
    let found: Vec<_> = found.iter().filter(|dir| dir.to_string_lossy().contains(of)).collect();
    let look = |dir: &&std::path::PathBuf| {
        let run = load(dir, &LoadOptions::default()).unwrap();
        // By the rule of its cell, whatever other rules look at it.
        let meta = trapcheck::run::Meta { registration: None, ..run.meta.clone() };
        let bound = BoundBy::of(&meta, &configs).ok()?;
        let state = bound.state(&run)?;
        Some(Decided { arm: run.meta.arm.clone(), at_s: when(&run, &bound), state })
    };
    let all: Vec<Decided> = found.par_iter().filter_map(look).collect();
    for one in &all {
        println!("{one:?}");
    }
    all
}

/// The first and the last time at which runs of a state are decided, how many are, and how many
/// there are.
fn times(all: &[Decided], state: State) -> (f64, f64, usize, usize) {
    let of: Vec<_> = all.iter().filter(|one| one.state == state).collect();
    let times: Vec<f64> = of.iter().filter_map(|one| one.at_s).collect();
    let first = times.iter().copied().fold(f64::INFINITY, f64::min);
    let last = times.iter().copied().fold(0.0, f64::max);
    (first, last, times.len(), of.len())
}

#[test]
fn the_small_engines_recovered_runs_are_decided_four_seconds_before_their_end() {
    let all = decided("vllm-cpu", "x1.5");
    let (first_s, last_s, decided, runs) = times(&all, State::Recovered);
    assert!(first_s > 536.0 && last_s < 537.0, "{first_s} to {last_s} s of 540");
    assert_eq!((decided, runs), (7, 7));
    // What a trapped run has in flight is a fifth of its window's tokens.
    let (first_s, _, decided, runs) = times(&all, State::Trapped);
    assert!(first_s > 539.4, "{first_s} s of 540");
    assert_eq!((decided, runs), (1, 3));
    assert!(all.iter().all(|one| one.arm != Arm::Burst || one.state == State::Trapped));
}

#[test]
fn the_papers_runs_are_decided_a_minute_to_seconds_before_their_end_in_the_simulator() {
    let all = decided("sim/paired", "paired_sglang-300k_");
    let (first_s, last_s, decided, runs) = times(&all, State::Recovered);
    assert!(first_s > 8635.0 && last_s < 8678.5, "{first_s} to {last_s} s of 8700");
    assert_eq!((decided, runs), (12, 12));
    let (first_s, last_s, decided, runs) = times(&all, State::Trapped);
    assert!(first_s > 8693.0 && last_s < 8699.5, "{first_s} to {last_s} s of 8700");
    assert_eq!((decided, runs), (6, 6));
}

#[test]
fn a_bound_run_that_tests_of_other_tests_runs_look_at_is_not_decided_by_its_state_alone() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let configs = trapcheck::configs::load(&root.join("configs")).unwrap();
    let run = root.join("results/sim/paired/agentload_noburst/paired_llama-300k_noburst_x1.35_s0");
    let run = load(&run, &LoadOptions::default()).unwrap();
    let refused = |meta: &Meta| BoundBy::of(meta, &configs).err();
    let bound = Meta {
        registration: Some(RegistrationRef {
            file: "configs/registrations/llama-300k.yaml".into(),
            sha256: configs.registrations["llama-300k"].sha256.clone(),
            status: "EXPLORATORY".into(),
        }),
        ..run.meta.clone()
    };
    let why = "goodput looks at the whole of the runs of llama-300k";
    assert_eq!(refused(&bound).as_deref(), Some(why));
    // Those tests decide nothing by a run that is bound to no registration.
    assert_eq!(refused(&Meta { registration: None, ..bound }), None);
}

#[test]
fn a_run_of_a_cell_that_plays_another_workload_can_be_decided() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let configs = trapcheck::configs::load(&root.join("configs")).unwrap();
    let run = root.join("results/sim/paired/agentload_noburst/paired_llama-300k_noburst_x1.35_s0");
    let run = load(&run, &LoadOptions::default()).unwrap();
    let cell = configs.playing("llama-300k", Some("mirror")).unwrap();
    assert_eq!(cell, "llama-300k+mirror");
    let meta = Meta { cell, registration: None, ..run.meta.clone() };
    let bound = BoundBy::of(&meta, &configs).unwrap();
    assert_eq!(bound.window(), configs.protocols["paper"].paired.window_s);
}
