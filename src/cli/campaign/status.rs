//! `--list` and `--status`: which runs a campaign has, and what there is of them.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use rayon::prelude::*;

use trapcheck::campaign::{CampaignRun, Presence};
use trapcheck::table::{Cell, Col, Heading, Table};

use super::super::output::{self, Print};

/// Prints a row per run.
pub fn list(runs: &[&CampaignRun<'_>], how: Print) -> anyhow::Result<ExitCode> {
    let columns: &[Col<&CampaignRun<'_>>] = &[
        Heading("run", "", "The planned run").key(|run| Cell::text(&run.planned.id)),
        Heading("test", "", "The registered test").key(|run| Cell::text(&run.planned.test.test)),
        Heading("cell", "", "Engine, GPU, model and pool, as named in configs/cells")
            .key(|run| Cell::text(&run.planned.test.cell)),
        Heading("arm", "", "What was done to the run: burst, noburst, capped, ...")
            .key(|run| Cell::text(run.planned.arm.arm().word())),
        Heading("rate_multiple", "lambda_ref", "Nominal arrival rate; none for closed runs")
            .key(|run| Cell::optional(run.planned.multiple, 2)),
        Heading("seed", "", "Seed of the run's plan").key(|run| Cell::Count(run.planned.seed)),
        Heading("place", "", "Where the paper speaks of it")
            .key(|run| Cell::text(&run.planned.test.place)),
        Heading("directory", "", "Its directory, under --out")
            .key(|run| Cell::text(run.dir.display().to_string())),
    ];
    let shown: &[(&str, &str)] = &[
        ("run", "run"),
        ("arm", "arm"),
        ("rate_multiple", "rate"),
        ("seed", "seed"),
        ("place", "place"),
    ];
    let table = Table::of("list", "list", columns, runs, |run| (run.planned.id.clone(), vec![]));
    output::table("campaign-list", &table, shown, how)?;
    eprintln!("{} runs", runs.len());
    Ok(ExitCode::SUCCESS)
}

/// Prints a row per test, and the runs that differ; 1 if any is not made.
pub fn status(runs: &[&CampaignRun<'_>], out: &Path, how: Print) -> anyhow::Result<ExitCode> {
    let states = runs.par_iter().map(|run| run.presence(out)).collect::<Result<Vec<_>, _>>()?;
    let mut tests: Vec<&str> = Vec::new();
    let mut counts: BTreeMap<&str, [u64; 3]> = BTreeMap::new();
    for (run, state) in runs.iter().zip(&states) {
        let test = run.planned.test.test.as_str();
        if !tests.contains(&test) {
            tests.push(test);
        }
        counts.entry(test).or_default()[*state as usize] += 1;
        if *state == Presence::Differs {
            let dir = out.join(&run.dir);
            eprintln!("differs: {}: not made from the campaign's values", dir.display());
        }
    }
    let columns: &[Col<(&str, [u64; 3])>] = &[
        Heading("test", "", "The registered test").key(|(test, _)| Cell::text(*test)),
        Heading("missing", "runs", "Runs that are not there")
            .count(|(_, counts)| counts[Presence::Missing as usize]),
        Heading("made", "runs", "Runs that are there")
            .count(|(_, counts)| counts[Presence::Made as usize]),
        Heading("differ", "runs", "Runs made from other values")
            .count(|(_, counts)| counts[Presence::Differs as usize]),
    ];
    let rows = tests.iter().map(|test| (*test, counts.get(test).copied().unwrap_or_default()));
    let shown: &[(&str, &str)] =
        &[("test", "test"), ("made", "made"), ("missing", "missing"), ("differ", "differ")];
    let table =
        Table::of("status", "status", columns, rows, |(test, _)| ((*test).to_owned(), Vec::new()));
    output::table("campaign-status", &table, shown, how)?;
    let made = states.iter().filter(|s| **s == Presence::Made).count();
    eprintln!("{made} of {} runs are made", runs.len());
    Ok(ExitCode::from(u8::from(made < runs.len())))
}
