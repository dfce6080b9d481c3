//! `--report`: the simulator against every published value of it.

use std::process::ExitCode;

use trapcheck::fidelity::{load, report, runs};
use trapcheck::setup::Configs;
use trapcheck::table::fidelity;

use super::super::output;
use super::super::progress;
use super::super::project;
use super::Args;

pub fn run(args: &Args, configs: &Configs) -> anyhow::Result<ExitCode> {
    let fidelity = load(&project::config_file(&args.fidelity))?;
    let bar = progress::bar(runs(&fidelity), "simulating");
    let rows = report(&fidelity, configs, &|| bar.inc(1))?;
    bar.finish_and_clear();
    let table = fidelity::table(&rows, &[]);
    let shown = [
        ("row", "row"),
        ("published", "published"),
        ("ours", "ours"),
        ("ours_greatest", "to"),
        ("band_low", "band from"),
        ("band_high", "to"),
        ("verdict", "verdict"),
        ("runs", "runs"),
    ];
    output::table("campaign-report", &table, &shown, args.print)?;
    let inside = rows.iter().filter(|row| row.inside).count();
    eprintln!("{inside} of {} rows lie in their band, over {} runs", rows.len(), runs(&fidelity));
    Ok(ExitCode::SUCCESS)
}
