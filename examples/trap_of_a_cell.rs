//! Asks model F what a trapped engine of a cell does at a load.
//!
//!     cargo run --example trap_of_a_cell [MULTIPLE]

use std::error::Error;
use std::path::Path;

use trapcheck::configs;
use trapcheck::model::Theory;

/// The answer for a cell at a multiple of its all-miss session rate lambda_ref.
pub fn trap_of(cell: &str, multiple: f64) -> Result<String, Box<dyn Error>> {
    let configs = configs::load(Path::new("configs"))?;
    let (cell, workload, _) = configs.of_cell(cell).ok_or("no such cell")?;
    let theory = Theory::of(cell, workload)?;
    let lambda_per_s = theory.rate_per_s(multiple);
    let Some(trap) = theory.trap(lambda_per_s)? else {
        return Ok(format!("{} at {multiple}: the all-miss queue empties: no trap", cell.name));
    };
    Ok(format!(
        "{} at {multiple}: Perron root z {:.6}, the gap grows by {:.5} s/s, the backlog by {:.5} \
         sessions/s; {:.5} sessions/s complete, {:.5} if only the mean session counted",
        cell.name,
        1.0 + trap.gamma,
        trap.gamma,
        trap.alpha_per_s,
        trap.completions_per_s,
        theory.model_f.lambda_miss_per_s(),
    ))
}

#[allow(dead_code)] // a test calls `trap_of` alone
fn main() -> Result<(), Box<dyn Error>> {
    let multiple = std::env::args().nth(1).map_or(Ok(1.65), |text| text.parse())?;
    println!("{}", trap_of("sglang-300k", multiple)?);
    Ok(())
}
