//! The costs of an iteration, fitted to a run whose costs are known because it is simulated.

use std::path::Path;

use trapcheck::law::iteration::{IterationFit, fit, fit_attention};
use trapcheck::run::Run;
use trapcheck::setup::{ArmSpec, Cell, Costs};
use trapcheck::sim::directory::{Label, to_run};
use trapcheck::sim::{Options, RunSpec, simulate};

fn simulated(arm: &ArmSpec, costs: Costs) -> Run {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs");
    let configs = trapcheck::configs::load(&root).unwrap();
    let (cell, workload, protocol) = configs.of_cell("vllm-cpu-tiny-30k").unwrap();
    let cell = Cell { costs, iteration_costs: None, ..cell.clone() };
    let options = Options::default();
    let spec = RunSpec { cell: &cell, workload, protocol, arm, multiple: None, seed: 3, options };
    let label = Label { run_id: "r".into(), registration: None };
    to_run(&simulate(&spec).unwrap(), &spec, &label)
}

fn costs(fixed_s: f64, per_token_s: f64, per_pair_s: f64) -> IterationFit {
    IterationFit { fixed_s, per_token_s, per_pair_s, spans: 0, residual_rms: 0.0 }
}

#[test]
fn attention_is_told_apart_where_prompts_differ_in_length() {
    let true_fit = costs(0.008, 1e-4, 8e-8);
    let run = simulated(&ArmSpec::E0a { population: 32 }, true_fit.costs());
    let found = fit_attention(&[&run]).unwrap();
    // Prompts here differ by a factor of a few, and their work is booked evenly.
    assert!((found.fixed_s / 0.008 - 1.0).abs() < 0.1, "{found:?}");
    assert!((found.per_token_s / 1e-4 - 1.0).abs() < 0.1, "{found:?}");
    assert!((found.per_pair_s / 8e-8 - 1.0).abs() < 0.25, "{found:?}");
    assert_eq!(found.parts().c_d_s, found.per_pair_s * 8192.0);
    // Left in b, it is that of the run's mean length.
    assert!(fit(&run).unwrap().per_token_s > found.per_token_s);
}

#[test]
fn the_costs_a_simulated_engine_has_are_found_again() {
    let true_fit = costs(0.02, 1.2e-4, 0.0);
    let found = fit(&simulated(&ArmSpec::E0a { population: 32 }, true_fit.costs())).unwrap();
    // Work is booked evenly, which is not quite when it was done.
    assert!((found.fixed_s / 0.02 - 1.0).abs() < 0.05, "{found:?}");
    assert!((found.per_token_s / 1.2e-4 - 1.0).abs() < 0.02, "{found:?}");
}

#[test]
fn a_run_with_the_cache_on_calibrates_nothing() {
    let run = simulated(&ArmSpec::Closed { population: 8 }, costs(0.02, 1e-4, 0.0).costs());
    let words = fit(&run).unwrap_err().to_string();
    assert!(
        words.ends_with(": the prefix cache was on; only a cache-off run shows what a miss costs")
    );
}
