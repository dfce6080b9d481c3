//! Simulates a burst on the paper's main cell and measures what it left behind.
//!
//!     cargo run --example simulate_burst [SEED]

use std::error::Error;
use std::path::Path;

use trapcheck::configs;
use trapcheck::measure::measure;
use trapcheck::setup::ArmSpec;
use trapcheck::sim::directory::{Label, to_run};
use trapcheck::sim::{Options, RunSpec, simulate};

/// Hit fraction and sessions in the system over the evaluation window, simulated.
pub fn after_burst(sessions: Option<u32>, seed: u64) -> Result<(f64, f64), Box<dyn Error>> {
    let configs = configs::load(Path::new("configs"))?;
    let (cell, workload, protocol) = configs.of_cell("sglang-300k").ok_or("no such cell")?;
    let arm = sessions.map_or(ArmSpec::NoBurst {}, |n| ArmSpec::Burst { sessions: Some(n) });
    let options = Options::default();
    let multiple = Some(1.65);
    let spec = RunSpec { cell, workload, protocol, arm: &arm, multiple, seed, options };
    let label = Label { run_id: "example".into(), registration: None };
    // What the simulator gives is a run like any other, and says that it is simulated.
    let run = to_run(&simulate(&spec)?, &spec, &label);
    let window = measure(&run, protocol).window.ok_or("the run is shorter than its window")?;
    Ok((window.hits.value().ok_or("no turn in the window")?, window.backlog_mean))
}

#[allow(dead_code)] // a test calls `after_burst` alone
fn main() -> Result<(), Box<dyn Error>> {
    let seed = std::env::args().nth(1).map_or(Ok(0), |text| text.parse())?;
    for sessions in [None, Some(200)] {
        let (hits, backlog) = after_burst(sessions, seed)?;
        let arm = sessions.map_or("no burst".to_owned(), |n| format!("a burst of {n}"));
        println!("simulated, {arm}: hit fraction {hits:.3}, {backlog:.1} sessions in the system");
    }
    Ok(())
}
