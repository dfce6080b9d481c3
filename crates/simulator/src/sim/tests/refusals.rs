//! What the simulator refuses before anything runs, and how it says so.

use super::*;
use crate::setup::Costs;

#[test]
fn an_arm_that_cannot_run_is_refused_with_its_reason() {
    let (cell, workload, protocol) = (cell("sglang-300k"), workload("standard"), short());
    let refused = |arm: &ArmSpec| {
        simulate(&spec(&cell, &workload, &protocol, arm, 0)).unwrap_err().to_string()
    };
    assert_eq!(refused(&ArmSpec::Capped { cap: 0 }), "capped: cap: expected at least 1, found 0");
    assert!(refused(&ArmSpec::Closed { population: 0 }).starts_with("closed: population"));
    assert!(refused(&rescue(5, 1500.0)).contains("outside the run"));
    assert!(refused(&ArmSpec::Shed { from_s: 2000.0, length_s: 5.0 }).contains("outside the run"));
    let backwards = ArmSpec::Toolslow { from_s: 50.0, to_s: 50.0, delay_s: 1.0 };
    assert!(refused(&backwards).starts_with("toolslow: to_s - from_s"));
    assert!(refused(&ArmSpec::Burst { sessions: Some(0) }).contains("expected at least 1"));
    assert!(refused(&ArmSpec::Cut { from_s: 100.0, multiple: 1.65 }).contains("must be below"));

    let burst = ArmSpec::Burst { sessions: None };
    let closed = ArmSpec::Closed { population: 4 };
    let mut with_rate = spec(&cell, &workload, &protocol, &closed, 0);
    with_rate.multiple = Some(1.0);
    let error = simulate(&with_rate).unwrap_err();
    assert_eq!(error.to_string(), "closed: a closed arm has no arrival rate");
    let mut no_rate = spec(&cell, &workload, &protocol, &burst, 0);
    no_rate.multiple = None;
    assert_eq!(simulate(&no_rate).unwrap_err().to_string(), "burst: expected an arrival rate");
    let lasting = |horizon_s: f64| {
        let mut protocol = short();
        protocol.paired.horizon_s = horizon_s;
        simulate(&spec(&cell, &workload, &protocol, &burst, 0)).unwrap_err().to_string()
    };
    let message = lasting(340.0);
    assert!(message.starts_with("burst: [300, 360) s does not lie within"), "{message}");
    for sample_s in [0.0, -1.0, f64::NAN, 1e-9] {
        let mut odd = spec(&cell, &workload, &protocol, &burst, 0);
        odd.options.sample_s = sample_s;
        let message = simulate(&odd).unwrap_err().to_string();
        assert!(message.starts_with("protocol paper: a run of 1500 s sampled"), "{message}");
    }
    let message = lasting(0.0);
    assert!(message.starts_with("protocol paper: a run of 0 s"), "{message}");
}

#[test]
fn a_cell_the_simulator_cannot_use_is_refused_with_its_reason() {
    let (workload, protocol, arm) = (workload("standard"), short(), ArmSpec::NoBurst {});
    let error = |cell: &Cell, factor| {
        let mut spec = spec(cell, &workload, &protocol, &arm, 0);
        spec.options.token_cost_factor = factor;
        simulate(&spec).unwrap_err().to_string()
    };
    let mut per_turn = cell("sglang-300k");
    per_turn.costs = Costs::PerTurn { fixed_s: 0.1, per_token_s: 1e-4 };
    assert!(error(&per_turn, None).contains("per turn"));
    assert!(error(&cell("vllm-300k"), None).contains("token_cost_factor"));
    assert!(error(&cell("sglang-300k"), Some(0.0)).contains("token_cost_factor"));
    let mut nothing = cell("sglang-300k");
    nothing.chunk_tokens = 0;
    assert!(error(&nothing, None).starts_with("cell sglang-300k: chunk_tokens"));
    let mut endless = cell("sglang-300k");
    endless.chunk_tokens = 1;
    endless.costs = Costs::Iteration {
        a_s: 1e-300,
        f0_s: 0.0,
        b_s_per_token: 1e-300,
        c_p_s_per_pair: 0.0,
        c_d_s: 0.0,
    };
    let long = Workload { first_prompt_tokens: 200_000_000, ..workload.clone() };
    endless.pool_tokens = 4_000_000_000_000;
    let message = simulate(&spec(&endless, &long, &protocol, &arm, 0)).unwrap_err().to_string();
    assert!(message.contains("its costs or chunk_tokens are too small"), "{message}");
    let mut small = cell("sglang-300k");
    small.pool_tokens = 20_000;
    let message = error(&small, None);
    assert!(message.contains("more than the cell's pool of 20000"), "{message}");
}
