//! The costs of an iteration, fitted to a run whose costs are known because it is simulated.

use std::path::Path;

use trapcheck::law::iteration::{IterationError, IterationFit, fit};
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

#[test]
fn the_costs_a_simulated_engine_has_are_found_again() {
    let true_fit = IterationFit { fixed_s: 0.02, per_token_s: 1.2e-4, spans: 0, residual_rms: 0.0 };
    let found = fit(&simulated(&ArmSpec::E0a { population: 32 }, true_fit.costs())).unwrap();
    // Work is booked evenly, which is not quite when it was done.
    assert!((found.fixed_s / 0.02 - 1.0).abs() < 0.05, "{found:?}");
    assert!((found.per_token_s / 1.2e-4 - 1.0).abs() < 0.02, "{found:?}");
}

#[test]
fn a_run_with_the_cache_on_calibrates_nothing() {
    let costs = IterationFit { fixed_s: 0.02, per_token_s: 1e-4, spans: 0, residual_rms: 0.0 };
    let run = simulated(&ArmSpec::Closed { population: 8 }, costs.costs());
    assert_eq!(fit(&run), Err(IterationError::CacheOn));
}
