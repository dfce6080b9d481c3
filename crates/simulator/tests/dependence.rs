//! Sessions whose cost and number of turns hang together: what of model F survives, in the simulator.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use trapcheck_model::model::{AllMiss, ModelF, Regime, SessionMeans, Trap};
use trapcheck_runs::measure::{WindowMeasures, measure};
use trapcheck_setup::setup::protocol::Paired;
use trapcheck_setup::setup::{
    ArmSpec, Cell, ConfigError, Protocol, Span, Trace, TraceTurn, Workload,
};
use trapcheck_simulator::sim::directory::{Label, to_run};
use trapcheck_simulator::sim::{Options, RunSpec, simulate};

/// The load of every trap here.
const RHO: f64 = 1.5;
/// Long enough that the transient of the first cycles has died away where it is measured.
const HORIZON_S: f64 = 24_000.0;

fn config<T>(file: &str, parse: fn(&Path, &[u8]) -> Result<T, ConfigError>) -> T {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs").join(file);
    parse(&path, &std::fs::read(&path).unwrap()).unwrap()
}

/// A session whose prompts grow from `first_tokens` on.
fn trace(i: usize, turns: u64, first_tokens: u64) -> Trace {
    let turn = |k| TraceTurn {
        gap_s: 0.0,
        prompt_tokens: first_tokens + 100 * k,
        output_tokens: 20,
        reusable_tokens: if k == 0 { 0 } else { first_tokens },
    };
    let turns = (0..turns).map(turn).collect();
    Trace { id: format!("trace-{i}"), turns, subagents: Vec::new() }
}

/// Four of five sessions have three turns, the others twenty. Either short sessions have long
/// prompts and long ones short prompts, or all have the same.
fn sessions(dependent: bool) -> Workload {
    let of = |i| match (i % 5 < 4, dependent) {
        (true, true) => trace(i, 3, 30_000),
        (false, true) => trace(i, 20, 2000),
        (short, false) => trace(i, if short { 3 } else { 20 }, 12_000),
    };
    Workload::of_traces("two kinds", (0..7500).map(of).collect()).unwrap()
}

/// Model F of the sessions, with the mean cost of each turn over those that have it.
fn model(cell: &Cell, workload: &Workload) -> (f64, Trap, f64) {
    let means = SessionMeans::of(workload);
    let model =
        ModelF::new(&AllMiss::of(cell, workload).unwrap().costs_s, &means.survival).unwrap();
    let capacity = model.lambda_miss_per_s();
    let Regime::Trapped(trap) = model.at(RHO * capacity).unwrap() else { panic!("no trap") };
    let served = trap.served_mean(&means.prompt_tokens);
    (capacity, trap, served)
}

/// An engine on which every turn misses, overloaded from the start.
fn simulated(cell: &Cell, workload: &Workload, lambda_per_s: f64) -> WindowMeasures {
    let mut protocol = config("protocols/paper.yaml", Protocol::parse);
    let window_s = Span::new(HORIZON_S / 2.0, HORIZON_S);
    protocol.paired = Paired { horizon_s: HORIZON_S, window_s, ..protocol.paired };
    let options = Options { cold_until_s: HORIZON_S, ..Options::stock(cell, workload) };
    let spec = RunSpec {
        cell,
        workload,
        protocol: &protocol,
        arm: &ArmSpec::NoBurst {},
        multiple: Some(lambda_per_s / cell.lambda_ref_per_s),
        seed: 0,
        options,
    };
    let label = Label { run_id: "two-kinds".into(), registration: None };
    let run = to_run(&simulate(&spec).unwrap(), &spec, &label);
    measure(&run, &protocol).window.unwrap()
}

#[track_caller]
fn near(measured: f64, predicted: f64, within: f64) {
    assert!((measured / predicted - 1.0).abs() < within, "{measured} for {predicted}");
}

#[test]
fn the_law_by_conditional_means_holds_where_cost_and_length_hang_together() {
    let cell = config("cells/sglang-300k.yaml", Cell::parse);
    for dependent in [true, false] {
        let workload = sessions(dependent);
        let (_, trap, served_tokens) = model(&cell, &workload);
        let window = simulated(&cell, &workload, trap.lambda_per_s);
        near(window.completions_per_s, trap.completions_per_s, 0.1);
        near(window.gap_slope.unwrap(), trap.slope, 0.1);
        near(window.backlog_slope_per_s.unwrap(), trap.alpha_per_s, 0.1);
        near(window.mean_prompt_tokens.unwrap(), served_tokens, 0.05);
    }
}

#[test]
fn prompts_that_grow_in_every_session_make_no_premium_where_long_sessions_are_cheap() {
    let cell = config("cells/sglang-300k.yaml", Cell::parse);
    let premium = |dependent| {
        let workload = sessions(dependent);
        let (capacity, trap, _) = model(&cell, &workload);
        // Theorem 2's factor of the turn law is the same, and above 1.
        assert!(trap.turn_factor > 1.0, "{}", trap.turn_factor);
        let measured = simulated(&cell, &workload, trap.lambda_per_s).completions_per_s;
        (trap.cost_factor, trap.premium(), measured / capacity - 1.0)
    };
    let (factor, predicted, measured) = premium(false);
    assert!(factor > 1.0 && predicted > 0.0 && measured > 0.0, "{factor} {predicted} {measured}");
    let (factor, predicted, measured) = premium(true);
    assert!(
        factor < 0.8 && predicted < -0.15 && measured < -0.15,
        "{factor} {predicted} {measured}"
    );
}
