//! The paper's campaign can be simulated: every run of it, by name.

use std::path::Path;

use rayon::prelude::*;
use trapcheck::setup::{Campaign, Configs};
use trapcheck::sim::{Options, RunSpec, simulate};

#[test]
fn every_published_run_can_be_simulated() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs");
    let campaign = Campaign::load(&root.join("campaigns/paper.yaml")).unwrap();
    let configs = Configs::load(&root).unwrap();
    let runs = campaign.runs();
    // One seed of each arm is enough here: seeds differ in nothing but their draws.
    let first: Vec<_> =
        runs.iter().filter(|r| r.seed == r.test.seeds[0] && r.repeat == 0).collect();
    first.par_iter().for_each(|run| {
        let (cell, workload, protocol) = configs.of_cell(&run.test.cell).unwrap();
        let spec = RunSpec {
            cell,
            workload,
            protocol,
            arm: run.arm,
            multiple: run.multiple,
            seed: run.seed,
            options: Options::of(run),
        };
        let simulated = simulate(&spec).unwrap_or_else(|error| panic!("{}: {error}", run.id));
        assert!(simulated.turns.len() > 1000, "{}", run.id);
        assert_eq!(simulated.gate.is_empty(), !["capped", "rescue"].contains(&run.arm.name()));
    });
}
