//! How long before its end a real run is decided: what docs/driving.md says of it.

use std::path::Path;

use rayon::prelude::*;
use trapcheck::directory::{LoadOptions, find_runs, load};
use trapcheck::judged::BoundBy;
use trapcheck::rule::state::State;
use trapcheck::run::Run;
use trapcheck::setup::Arm;

#[path = "../../crates/simulator/tests/cut/mod.rs"]
mod cut;

/// When a run is decided, s, and its state.
#[derive(Debug, Clone)]
struct Decided {
    arm: Arm,
    cell: String,
    multiple: f64,
    seed: u64,
    window_end_s: f64,
    /// `None` where it never is before its window ends.
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

fn decided(folders: &[&str]) -> Vec<Decided> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let configs = trapcheck::configs::load(&root.join("configs")).unwrap();
    let folders: Vec<_> = folders.iter().map(|folder| root.join("results").join(folder)).collect();
    let found = find_runs(&folders).runs;
    let of = |dir: &std::path::PathBuf| {
        let run = load(dir, &LoadOptions::default()).unwrap();
        // By the rule of its cell, whatever other rules look at it.
        let meta = trapcheck::run::Meta { registration: None, ..run.meta.clone() };
        let bound = BoundBy::of(&meta, &configs).ok()?;
        let state = bound.state(&run)?;
        Some(Decided {
            arm: run.meta.arm.clone(),
            cell: run.meta.cell.clone(),
            multiple: run.meta.rate.multiple?,
            seed: run.meta.seed,
            window_end_s: bound.window().end_s,
            at_s: when(&run, &bound),
            state,
        })
    };
    let mut all: Vec<Decided> = found.par_iter().filter_map(of).collect();
    all.sort_by_key(|d| format!("{} {} {:.2} {}", d.cell, d.arm, d.multiple, d.seed));
    for d in &all {
        println!("{d:?}");
    }
    all
}

#[test]
fn the_small_engines_runs_are_decided_in_their_last_second_or_two_if_at_all() {
    let all = decided(&["vllm-cpu", "vllm-cpu-driven"]);
    assert!(all.len() > 9);
}

#[test]
fn simulated_runs_are_decided_where_the_documents_say() {
    let all = decided(&["sim/paired"]);
    assert!(all.len() > 80);
}
