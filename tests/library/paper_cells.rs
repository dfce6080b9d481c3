//! The paper's cells, read from `configs/`, have the published onsets and asymptotics.

use std::path::Path;

use trapcheck::model::{AllMiss, ModelF, Regime, SessionMeans, Trap};
use trapcheck::setup::{Cell, Workload};

fn load(name: &str) -> (Cell, Workload) {
    let configs = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs");
    let cell =
        trapcheck::configs::read(&configs.join("cells").join(format!("{name}.yaml")), Cell::parse)
            .unwrap();
    let file = configs.join("workloads").join(format!("{}.yaml", cell.workload));
    assert_eq!(cell.name, name);
    (cell, trapcheck::configs::read(&file, Workload::parse).unwrap())
}

fn trap(name: &str, multiple: f64) -> (Trap, SessionMeans) {
    let (cell, workload) = load(name);
    let all_miss = AllMiss::of(&cell, &workload).unwrap();
    let means = SessionMeans::of(&workload);
    let model = ModelF::new(&all_miss.costs_s, &means.survival).unwrap();
    match model.at(multiple * cell.lambda_ref_per_s).unwrap() {
        Regime::Trapped(trap) => (trap, means),
        other => panic!("{name} at {multiple}: {other:?}"),
    }
}

/// `value` printed with `decimals` digits.
fn digits(value: f64, decimals: usize) -> String {
    format!("{value:.decimals$}")
}

#[test]
fn the_onset_of_the_all_miss_branch_is_where_the_paper_puts_it() {
    // speed, nu_b, mu_b, delta.
    let cells = [
        ("sglang-150k", "1.0000", "1.01573", "0.068812", "0.12118"),
        ("sglang-300k", "1.0000", "1.06043", "0.071840", "0.07969"),
        ("sglang-600k", "1.0000", "1.08049", "0.073199", "0.06218"),
        ("sglang-native", "1.0000", "1.08787", "0.073698", "0.05590"),
        ("h200-300k", "2.7420", "2.90769", "0.196984", "0.02906"),
        ("h200-600k", "2.7420", "2.96270", "0.200711", "0.02268"),
        ("vllm-300k", "0.9183", "0.98963", "0.067043", "0.07037"),
    ];
    for (name, speed, nu_b, mu_b, delta) in cells {
        let (cell, workload) = load(name);
        let a = AllMiss::of(&cell, &workload).unwrap();
        let ours = [
            digits(a.speed, 4),
            digits(a.nu_b_per_s, 5),
            digits(a.mu_b_per_s, 6),
            digits(a.delta_s, 5),
        ];
        assert_eq!(ours, [speed, nu_b, mu_b, delta], "{name}");
    }
}

#[test]
fn the_llama_factor_gives_the_capacity_that_table_3_needs() {
    let (cell, workload) = load("llama-300k");
    let a = AllMiss::of(&cell, &workload).unwrap();
    assert_eq!(digits(a.mu_b_per_s / cell.lambda_ref_per_s, 4), "1.0150");
}

#[test]
fn costs_sum_to_the_time_per_turn_at_the_onset() {
    for name in ["sglang-300k", "vllm-300k", "h200-600k", "mirror"] {
        let (cell, workload) = load(name);
        let a = AllMiss::of(&cell, &workload).unwrap();
        let means = SessionMeans::of(&workload);
        let per_turn: f64 = means.mix.iter().zip(&a.costs_s).map(|(w, c)| w * c).sum();
        assert!((per_turn * a.nu_b_per_s - 1.0).abs() < 1e-12, "{name}");
    }
}

#[test]
fn table_3_comes_out_to_the_printed_digit() {
    // cell, multiple, rho, mean served prompt, 1 - 1/z, D / lambda_ref, quasi-static excess.
    let rows = [
        ("sglang-300k", 1.35, "1.34", "9324", "0.013", "1.13", "1.58"),
        ("sglang-300k", 1.65, "1.64", "8606", "0.022", "1.23", "1.53"),
        ("sglang-native", 2.5, "2.44", "7374", "0.043", "1.49", "1.46"),
        ("sglang-native", 4.0, "3.90", "6115", "0.075", "1.81", "1.36"),
        ("vllm-300k", 1.35, "1.32", "9393", "0.012", "1.14", "1.59"),
        ("h200-600k", 1.5, "1.45", "9062", "0.016", "1.20", "1.57"),
        ("h200-600k", 2.0, "1.93", "8082", "0.031", "1.36", "1.51"),
    ];
    for (name, multiple, rho, prompt, slope, completions, excess) in rows {
        let (trap, means) = trap(name, multiple);
        let (cell, _) = load(name);
        let ours = [
            digits(trap.rho, 2),
            digits(trap.served_mean(&means.prompt_tokens), 0),
            digits(trap.slope, 3),
            digits(trap.completions_per_s / cell.lambda_ref_per_s, 2),
            digits(trap.quasi_static_excess(), 2),
        ];
        assert_eq!(ours, [rho, prompt, slope, completions, excess], "{name} {multiple}");
    }
}

#[test]
fn mirror_reverses_the_premium() {
    let (trap, _) = trap("mirror", 1.65);
    let ours = [
        digits(trap.rho, 3),
        digits(trap.premium() + 1.0, 3),
        digits(trap.turn_factor, 3),
        digits(trap.cost_factor, 3),
    ];
    assert_eq!(ours, ["1.577", "0.771", "0.699", "1.103"]);
}

#[test]
fn a_cell_with_costs_per_turn_has_no_decode_share() {
    let (mut cell, workload) = load("sglang-300k");
    cell.costs = trapcheck::setup::Costs::PerTurn { fixed_s: 0.2, per_token_s: 1e-4 };
    let a = AllMiss::of(&cell, &workload).unwrap();
    assert_eq!((a.delta_s, a.costs_s[0]), (0.0, 0.2 + 1e-4 * 2000.0));
}
