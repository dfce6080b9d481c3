//! The library's examples run, and say what is so.

use std::path::Path;

#[path = "../../examples/score_run.rs"]
mod score_run;
#[path = "../../examples/simulate_burst.rs"]
mod simulate_burst;
#[path = "../../examples/trap_of_a_cell.rs"]
mod trap_of_a_cell;

#[test]
fn a_run_is_scored() {
    let batch = Path::new("results/vllm-cpu/cpu_1_pulled_20261129-125700");
    let said = score_run::score(&batch.join("agentload_burst/20261129-121107_x1.5_s0")).unwrap();
    assert!(said.starts_with("TRAPPED\n"), "{said}");
    assert!(said.contains("backlog slope: 0.1415"), "{said}");
    let said = score_run::score(&batch.join("agentload_noburst/20261129-122011_x1.5_s0"));
    assert!(said.unwrap().starts_with("RECOVERED\n"));
    assert!(score_run::score(Path::new("results/none")).is_err());
}

#[test]
fn a_cells_trap_is_what_model_trap_prints() {
    let said = trap_of_a_cell::trap_of("sglang-300k", 1.65).unwrap();
    assert!(said.contains("Perron root z 1.023006"), "{said}");
    assert!(said.contains("0.08787 sessions/s complete"), "{said}");
    assert!(trap_of_a_cell::trap_of("sglang-300k", 0.5).unwrap().ends_with("no trap"));
    assert!(trap_of_a_cell::trap_of("none", 1.65).is_err());
}

#[test]
fn a_simulated_burst_leaves_a_trap_and_no_burst_leaves_none() {
    let (hits, backlog) = simulate_burst::after_burst(Some(200), 1).unwrap();
    assert!(hits < 0.2 && backlog > 50.0, "{hits} {backlog}");
    let (hits, backlog) = simulate_burst::after_burst(None, 1).unwrap();
    assert!(hits > 0.8 && backlog < 50.0, "{hits} {backlog}");
}
