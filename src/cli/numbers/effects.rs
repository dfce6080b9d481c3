//! `trapcheck numbers effects`: what becomes of every number with another ensemble.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use anyhow::bail;

use trapcheck::nearest::unknown;
use trapcheck::numbers::ledger::LedgerInputs;
use trapcheck::numbers::ledger::beside::Beside;
use trapcheck::numbers::ledger::effects::{counts, table};

use super::super::output::{self, Print};
use super::project;

/// Prints a row per number or field that is drawn.
///
/// # Errors
/// No such ensemble, no draws of it, or what cannot be computed.
pub fn run(which: &str, how: Print) -> anyhow::Result<ExitCode> {
    let found = Beside::ALL.into_iter().find(|one| one.word() == which);
    let Some(which) = found else {
        bail!("{}", unknown("ensemble", which, "", Beside::ALL.map(Beside::word)));
    };
    let inputs = LedgerInputs::load()?;
    if !inputs.has(which) {
        bail!("{}: there are no draws; make ensemble makes them", which.folder().display());
    }
    let project = project::open()?;
    let stores = project.stores(Some(Path::new(project::CACHE)));
    let (mut tables, mut names) = (Vec::new(), BTreeMap::new());
    // The simulator's own published values are no campaign's: nothing of them is drawn.
    let drawn = project.analyses.iter().filter(|(_, analysis)| analysis.fidelity.is_none());
    for (path, analysis) in drawn {
        let evaluated = project::evaluate(&project, path, analysis, &stores)?;
        tables.extend(evaluated.tables(project.configs_for(analysis))?);
        names.extend(evaluated.names);
    }
    let effects = inputs.effects(tables, &names, which)?;
    for (status, without, with) in counts(&effects) {
        eprintln!("{}: {without} without, {with} with {}", status.words(), which.words());
    }
    output::table("numbers-effects", &table(effects, which), SHOWN, how)?;
    Ok(ExitCode::SUCCESS)
}

/// The columns for people.
const SHOWN: &[(&str, &str)] = &[
    ("id", "id"),
    ("published", "published"),
    ("without", "without"),
    ("with", "with"),
    ("median_without", "median"),
    ("median_with", "with it"),
];
