//! Scores one run: reads its directory, measures it over its window, judges it by the
//! published thresholds of the paired test.
//!
//!     cargo run --example score_run [RUN]

use std::error::Error;
use std::path::{Path, PathBuf};

use trapcheck::configs;
use trapcheck::directory::{self, LoadOptions};
use trapcheck::measure::measure;
use trapcheck::rule::state::{Load, judge};
use trapcheck::setup::PairedThresholds;

/// A run of a real engine that a burst trapped.
const TRAPPED: &str =
    "results/vllm-cpu/cpu_1_pulled_20261129-125700/agentload_burst/20261129-121107_x1.5_s0";

/// The run's state, and each clause that led to it.
pub fn score(dir: &Path) -> Result<String, Box<dyn Error>> {
    let configs = configs::load(Path::new("configs"))?;
    let run = directory::load(dir, &LoadOptions::default())?;
    let (cell, _, protocol) = configs.of_cell(&run.meta.cell).ok_or("its cell is not known")?;
    // The load is what was offered, against what the cell serves if every turn misses.
    let load = Load {
        lambda_per_s: run.meta.rate.lambda.ok_or("a closed run has no load")?,
        lambda_ref_per_s: cell.lambda_ref_per_s,
        all_miss_tokens_per_s: cell.all_miss_tokens_per_s.unwrap_or(f64::NAN),
    };
    let outcome = judge(&measure(&run, protocol), load, &PairedThresholds::default());
    let mut said = outcome.state.word().to_owned();
    for clause in &outcome.trapped {
        let measured = clause.measured.map_or("unknown".into(), |value| format!("{value:.4}"));
        said += &format!("\n  {}: {measured}", clause.quantity);
    }
    Ok(said)
}

#[allow(dead_code)] // a test calls `score` alone
fn main() -> Result<(), Box<dyn Error>> {
    let dir = std::env::args_os().nth(1).map_or_else(|| TRAPPED.into(), PathBuf::from);
    println!("{}", score(&dir)?);
    Ok(())
}
