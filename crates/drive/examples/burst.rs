//! Drives the burst arm of a cell on a real engine, by the library alone.
//!
//! `cargo run -p trapcheck-drive --example burst -- URL CONFIGS CELL MULTIPLE SEED OUT`

use std::error::Error;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use tokio::sync::Notify;
use trapcheck_drive::address::Address;
use trapcheck_drive::dialect::Dialect;
use trapcheck_drive::engine::Engine;
use trapcheck_drive::http::Http;
use trapcheck_drive::make::make;
use trapcheck_drive::prompts::Tokens;
use trapcheck_setup::setup::{ArmSpec, Cell, Protocol, Workload};
use trapcheck_simulator::sim::directory::Label;
use trapcheck_simulator::sim::{Options, RunSpec};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [url, configs, cell, multiple, seed, out] = args.as_slice() else {
        return Err("expected URL CONFIGS CELL MULTIPLE SEED OUT".into());
    };
    let file = |folder: &str, name: &str| {
        let path = Path::new(configs).join(folder).join(format!("{name}.yaml"));
        fs::read(&path).map(|bytes| (path, bytes))
    };
    let (path, bytes) = file("cells", cell)?;
    let cell = Cell::parse(&path, &bytes)?;
    let (path, bytes) = file("workloads", &cell.workload)?;
    let workload = Workload::parse(&path, &bytes)?;
    let (path, bytes) = file("protocols", &cell.protocol)?;
    let protocol = Protocol::parse(&path, &bytes)?;
    let arm = ArmSpec::Burst { sessions: None };
    let out = Path::new(out);
    let run_id = out.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let spec = RunSpec {
        cell: &cell,
        workload: &workload,
        protocol: &protocol,
        arm: &arm,
        multiple: Some(multiple.parse()?),
        seed: seed.parse()?,
        options: Options { sample_s: 1.0, ..Options::default() },
    };
    let label = Label { run_id, registration: None };
    let engine = Engine {
        http: Http::new(Address::parse(url)?, None),
        dialect: Dialect::of(&cell.engine.name).ok_or("expected vllm or sglang")?,
        model: String::new(),
        zero_is_absent: false,
        timeout_s: 3600,
        tokens: Tokens::USUAL,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut next_s = 0.0;
    let made = runtime.block_on(make(&spec, &label, engine, out, &Notify::new(), |now| {
        if now.t_s >= next_s {
            next_s = now.t_s + 30.0;
            println!(
                "{:.0} s: {} sessions, follow-ups hit {:?}, {} turns, {} errors",
                now.t_s, now.admitted, now.hit_fraction, now.turns, now.errors
            );
        }
        ControlFlow::Continue(())
    }))?;
    println!("{:?}, {:?}", made.meta.counts, made.lag);
    Ok(())
}
