//! `trapcheck derive`: write every derived table.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use trapcheck::analysis::output_files::{OutputFile, table_files};

use super::{project, runs};

/// Derive the tables of the analyses to paper/derived/
///
/// Every table is made again from its runs, the published tables beside ours (table_7.csv
/// and so on) as well; only files that differ from what is there are written. What was
/// measured on a run is kept under the hash of the run's files, the configuration and the
/// program, and not measured again while these are the same.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  trapcheck derive                  all analyses
  trapcheck derive vllm-cpu         one
  trapcheck derive --no-cache       make everything again

Exit codes: 0 all made; 1 a binding of a number leads nowhere; 2 a run could not be read, or bad
usage or input")]
pub struct Args {
    /// Names of analyses; all of them if none is given
    #[arg(value_name = "ANALYSIS")]
    names: Vec<String>,
    /// Where statistics of runs are kept
    #[arg(long, value_name = "DIR", default_value = project::CACHE)]
    cache: PathBuf,
    /// Keep nothing, and use nothing that was kept
    #[arg(long, conflicts_with = "cache")]
    no_cache: bool,
}

/// Runs the command.
///
/// # Errors
/// A name that there is not, a configuration that cannot be used, or a file that
/// cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let project = project::open()?;
    let cache: Option<&Path> = (!args.no_cache).then_some(&args.cache);
    let stores = project.stores(cache);
    // Before anything is written.
    let inputs = if args.names.is_empty() { project::ledger_inputs(&project)? } else { None };
    let (mut tables, mut names) = (Vec::new(), BTreeMap::new());
    let (mut unreadable, mut as_they_were) = (project.problems.len(), 0);
    for (path, analysis) in project::chosen(&project, &args.names)? {
        if analysis.tables.is_empty() {
            continue;
        }
        let evaluated = project::evaluate(&project, path, analysis, &stores)?;
        let made = evaluated.tables(project.configs_for(analysis))?;
        as_they_were += write_changed(made.iter().flat_map(table_files).collect())?;
        tables.extend(made);
        names.extend(evaluated.names);
        unreadable += evaluated.scoring.unreadable.len();
    }
    let mut broken = false;
    if let Some(inputs) = &inputs {
        let ledger = inputs.ledger(tables, &names)?;
        for binding in &ledger.broken {
            eprintln!("problem: {binding}");
        }
        broken = !ledger.broken.is_empty();
        as_they_were += write_changed(ledger.files())?;
    }
    if as_they_were > 0 {
        let are = if as_they_were == 1 { "file is" } else { "files are" };
        eprintln!("{as_they_were} {are} as before");
    }
    runs::tell_trust(stores.trust());
    let code = project::code(unreadable);
    Ok(if broken && unreadable == 0 { ExitCode::from(1) } else { code })
}

/// Writes the files that are not there with these bytes; how many are.
fn write_changed(mut files: Vec<OutputFile>) -> anyhow::Result<usize> {
    let all = files.len();
    files.retain(|file| trapcheck::reading::bytes(&file.path).ok().as_ref() != Some(&file.bytes));
    project::write_all(&files)?;
    Ok(all - files.len())
}
