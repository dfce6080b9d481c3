//! The committed simulated runs use seeds 0 to 2, whose bursts are not alike: what is said of
//! them is computed here from their plans.

use std::collections::BTreeMap;
use std::fs;

use trapcheck::plan::{Arrivals, Kind, OpenArrivals, Plan};
use trapcheck::setup::Workload;

use crate::project::root;

const SEEDS: u64 = 400;

/// Prompt tokens of a session of `turns` turns, all of which miss.
fn work_tokens(workload: &Workload, turns: usize) -> u64 {
    (1..=turns).map(|k| workload.prompt_tokens(k)).sum()
}

/// The work of each seed's burst under the paper's protocol, over its mean under the turn law.
fn burst_over_nominal() -> Vec<f64> {
    let configs = trapcheck::configs::load(&root().join("configs")).unwrap();
    let (_, workload, protocol) = configs.of_cell("sglang-300k").unwrap();
    let burst = protocol.paired.burst;
    let arrivals = Arrivals::Open(OpenArrivals {
        rate_per_s: 0.001,
        horizon_s: protocol.paired.horizon_s,
        cut: None,
        burst: Some(burst),
    });
    let turns = workload.survival();
    let mean: f64 = (1..).zip(&turns).map(|(k, g)| g * workload.prompt_tokens(k) as f64).sum();
    let drawn = (0..SEEDS).map(|seed| {
        let plan = Plan::draw(workload, seed, &arrivals).unwrap();
        let burst: Vec<_> = plan.sessions.iter().filter(|s| s.kind == Kind::Burst).collect();
        assert_eq!(burst.len(), 200);
        burst.iter().map(|s| work_tokens(workload, s.turns() as usize)).sum::<u64>()
    });
    drawn.map(|tokens| tokens as f64 / (mean * burst.sessions as f64)).collect()
}

#[test]
fn the_latest_rescue_at_each_rate_is_seed_0s() {
    let text = fs::read_to_string(root().join("paper/derived/paper_rescue.csv")).unwrap();
    let mut rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = rows.next().unwrap();
    let place = |name| head.iter().position(|column| *column == name).unwrap();
    let columns = ["registration", "rate_multiple", "seed", "released_s"].map(place);
    let mut latest: BTreeMap<(String, String), (f64, String)> = BTreeMap::new();
    for row in rows {
        let [test, rate, seed, released] = columns.map(|place| row[place].to_owned());
        // A gate that never came off is later than any.
        let released = if released.is_empty() { f64::INFINITY } else { released.parse().unwrap() };
        let so_far = latest.entry((test, rate)).or_insert((0.0, String::new()));
        if released > so_far.0 {
            *so_far = (released, seed);
        }
    }
    assert_eq!(latest.len(), 3);
    assert!(latest.values().all(|(_, seed)| seed == "0"), "{latest:?}");
    assert!(latest.values().filter(|(released, _)| released.is_infinite()).count() == 1);
}

#[test]
fn the_readme_of_the_simulated_runs_says_how_heavy_each_seeds_burst_is() {
    let over = burst_over_nominal();
    let rows: String = (0..3)
        .map(|seed| {
            let heavier = over.iter().filter(|other| **other > over[seed]).count();
            let percent = 100.0 * (over[seed] - 1.0);
            format!("| {seed} | {percent:+.0} % | {} of {SEEDS} |\n", heavier + 1)
        })
        .collect();
    for page in ["results/sim/README.md", "docs/simulated-runs.md"] {
        let text = fs::read_to_string(root().join(page)).unwrap();
        assert!(text.contains(&rows), "{page} has to hold these rows:\n{rows}");
    }
}
