//! `trapcheck derive`: write every derived table.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::analysis::fresh::Fresh;
use crate::analysis::outputs::table_files;
use crate::analysis::store::Store;
use crate::numbers::ledger::Books;
use crate::table::Table;

use super::project;

/// Derive the tables of the analyses to paper/derived/
///
/// An analysis whose runs, configuration and outputs are what they were when it was last
/// made is left alone; so are the published tables beside ours (table_7.csv and so on). What was measured on each run is kept as well, so that a changed
/// table or threshold costs no reading.
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
    /// Where statistics of runs and notes of what was made are kept
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
    let fresh = cache.map(Fresh::new);
    let store = Store::new(&project.configs).kept_in(cache);
    // Before anything is written.
    let with_ledger = args.names.is_empty() && Books::are_there();
    let books = with_ledger.then(Books::load).transpose()?;
    let mut broken = false;
    let (mut unreadable, mut left_alone) = (project.problems.len(), 0);
    let mut tables: Vec<Table> = Vec::new();
    let mut names = BTreeMap::new();
    let mut not_made = Vec::new();
    for (path, analysis) in project::chosen(&project, &args.names)? {
        if analysis.tables.is_empty() {
            continue;
        }
        if let Some(fresh) = &fresh
            && fresh.is_up_to_date(&project, path, analysis)?
        {
            left_alone += 1;
            not_made.push((path, analysis));
            continue;
        }
        let evaluated = project::evaluate(&project, path, analysis, &store)?;
        let made = evaluated.tables(&project.configs)?;
        let files: Vec<_> = made.iter().flat_map(table_files).collect();
        project::write_all(&files)?;
        tables.extend(made);
        names.extend(evaluated.names.clone());
        unreadable += evaluated.scoring.unreadable.len();
        // An analysis that could not use a run says so every time.
        if let Some(fresh) = fresh.as_ref().filter(|_| evaluated.scoring.unreadable.is_empty()) {
            fresh.know(store.listings());
            fresh.note(&project, path, analysis, &files)?;
        }
    }
    if let Some(books) = &books {
        let up_to_date = match &fresh {
            Some(fresh) => fresh.is_ledger_up_to_date(&project)?,
            None => false,
        };
        if up_to_date {
            left_alone += 1;
        } else {
            for (path, analysis) in not_made {
                let evaluated = project::evaluate(&project, path, analysis, &store)?;
                tables.extend(evaluated.tables(&project.configs)?);
                names.extend(evaluated.names);
            }
            let ledger = books.ledger(tables, names);
            for binding in &ledger.broken {
                eprintln!("problem: {binding}");
            }
            broken = !ledger.broken.is_empty();
            let files = ledger.files();
            project::write_all(&files)?;
            if let Some(fresh) = fresh.as_ref().filter(|_| unreadable == 0 && !broken) {
                fresh.note_ledger(&project, &files)?;
            }
        }
    }
    if left_alone > 0 {
        let verb = if left_alone == 1 { "analysis is" } else { "analyses are" };
        eprintln!("{left_alone} {verb} up to date");
    }
    let code = project::code(unreadable);
    Ok(if broken && unreadable == 0 { ExitCode::from(1) } else { code })
}
