//! The edges of the models: pools too small or too large to speak of, costs that make a turn
//! cost nothing.

use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::setup::{Batching, Cell, Costs, TurnLaw, Workload};

/// A cell of the paper and its workload.
fn of_cell(name: &str) -> (Cell, Workload) {
    let file = |name: String| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs").join(name);
        let bytes = std::fs::read(&path).unwrap();
        (path, bytes)
    };
    let (path, bytes) = file(format!("cells/{name}.yaml"));
    let cell = Cell::parse(&path, &bytes).unwrap();
    let (path, bytes) = file(format!("workloads/{}.yaml", cell.workload));
    (cell, Workload::parse(&path, &bytes).unwrap())
}

fn standard() -> (Cell, Workload) {
    of_cell("sglang-300k")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_pool_is_solved_or_refused_with_what_it_lacks(exponent in 0.0f64..19.0) {
        let (mut cell, workload) = standard();
        cell.pool_tokens = libm::pow(10.0, exponent) as u64;
        let largest = workload.footprint_tokens(60);
        match Theory::of(&cell, &workload) {
            Ok(theory) => {
                prop_assert!(cell.pool_tokens >= largest);
                let onset = theory.curve().unwrap().model().onset();
                prop_assert!(onset.pool_part <= cell.max_running as f64);
                prop_assert!(onset.population() > 1.0);
                prop_assert_eq!(theory.curve().unwrap().folds(), []);
            }
            Err(ModelError::PoolTooSmall { turn, needs_tokens, .. }) => {
                prop_assert!(cell.pool_tokens < largest);
                prop_assert_eq!(needs_tokens, workload.footprint_tokens(turn) as f64);
                prop_assert!(needs_tokens > cell.pool_tokens as f64);
                let before = workload.footprint_tokens(turn.max(2) - 1);
                prop_assert!(turn == 1 || before <= cell.pool_tokens);
            }
            Err(ModelError::PoolTooLarge { .. }) => prop_assert!(cell.pool_tokens > largest),
            Err(other) => prop_assert!(false, "{}", other),
        }
    }

    #[test]
    fn mixed_costs_are_positive_or_their_delta_is_named(a_s in 0.001f64..2.0) {
        let (mut cell, workload) = standard();
        cell.batching = Batching::Mixed;
        if let Costs::Iteration { a_s: a, .. } = &mut cell.costs {
            *a = a_s;
        }
        match AllMiss::of(&cell, &workload) {
            Ok(solved) => prop_assert!(solved.costs_s.iter().all(|cost| *cost > 0.0)),
            Err(ModelError::DecodeShare { first_s, delta_s }) => {
                prop_assert!(first_s <= 0.0 && delta_s < 0.0);
            }
            Err(other) => prop_assert!(false, "{}", other),
        }
    }
}

#[test]
fn a_fixed_part_of_a_second_makes_mixed_turns_cheaper_than_nothing() {
    let (mut cell, workload) = standard();
    cell.costs = Costs::Iteration {
        a_s: 1.0,
        f0_s: 0.0,
        b_s_per_token: 1e-6,
        c_p_s_per_pair: 0.0,
        c_d_s: 0.0,
    };
    cell.batching = Batching::Mixed;
    cell.pool_tokens = 3_000_000;
    cell.max_running = 100_000;
    let workload = Workload { decoded_tokens: 2, ..workload };
    let error = AllMiss::of(&cell, &workload).unwrap_err();
    assert!(matches!(error, ModelError::DecodeShare { .. }), "{error}");
    assert!(error.to_string().contains("a smaller a_s"), "{error}");
    cell.batching = Batching::Separate;
    assert!(AllMiss::of(&cell, &workload).unwrap().delta_s >= 0.0);
}

#[test]
fn a_far_tail_of_turns_that_do_not_fit_is_no_reason_to_refuse() {
    let (cell, workload) = standard();
    let with = |mean: f64| {
        let turns = TurnLaw::TruncatedGeometric { mean, max: 10_000 };
        Theory::of(&cell, &Workload { turns, ..workload.clone() })
    };
    // P(T >= 460) is 2e-14 at a mean of 15 turns, and 63 % at 1,000.
    let solved = with(15.0).unwrap();
    let short = TurnLaw::TruncatedGeometric { mean: 15.0, max: 400 };
    let fits = Theory::of(&cell, &Workload { turns: short, ..workload.clone() }).unwrap();
    let ratio = solved.model_f.lambda_miss_per_s() / fits.model_f.lambda_miss_per_s();
    assert!((ratio - 1.0).abs() < 1e-8, "{ratio}");
    assert!(matches!(with(1000.0), Err(ModelError::PoolTooSmall { turn: 460, .. })));
}

#[test]
fn a_cell_with_both_costs_has_a_curve_and_keeps_its_turns_costs() {
    let (cell, workload) = of_cell("vllm-cpu-tiny-30k");
    let theory = Theory::of(&cell, &workload).unwrap();
    assert!(theory.curve().is_ok());
    let without = Cell { iteration_costs: None, ..cell.clone() };
    let without = Theory::of(&without, &workload).unwrap();
    assert!(without.curve().is_err());
    assert_eq!(theory.model_f, without.model_f);
}
