//! What `derive`, `figures` and `numbers` share: open the project, evaluate its
//! analyses, write files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use trapcheck::analysis::Analysis;
use trapcheck::analysis::output_files::OutputFile;
use trapcheck::analysis::reads::Stores;
use trapcheck::analysis::{Evaluated, Project};
use trapcheck::campaign::CampaignRun;
use trapcheck::configs::built_in;
use trapcheck::files::write_beside;
use trapcheck::nearest::unknown;
use trapcheck::numbers::MadeAnalysis;
use trapcheck::numbers::ledger::LedgerInputs;
use trapcheck::setup::Configs;
use trapcheck::setup::yaml::ConfigError;

use super::progress;

/// Where the configuration lies unless another folder is named.
const CONFIGS: &str = "configs";

/// Where statistics of runs are kept unless another folder is named.
pub const CACHE: &str = ".trapcheck";

/// The folder a command takes its configuration from: the one asked for; where that is the
/// default and not there, the built-in one.
pub fn configs_folder(asked: &Path) -> &Path {
    if asked != Path::new(CONFIGS) || asked.exists() {
        return asked;
    }
    Path::new(built_in::FOLDER)
}

/// A file of the configuration that a command names; the built-in one of its name where there
/// is no such folder.
pub fn config_file(asked: &Path) -> PathBuf {
    let built_in = asked.strip_prefix(CONFIGS).map(|name| Path::new(built_in::FOLDER).join(name));
    match built_in {
        Ok(file) if !Path::new(CONFIGS).exists() && built_in::bytes(&file).is_some() => file,
        _ => asked.into(),
    }
}

/// The configuration in [`configs_folder`]; that it is the built-in one is said.
///
/// # Errors
/// A file that cannot be used, or a folder that was asked for and is not there.
pub fn configs(asked: &Path) -> anyhow::Result<Configs> {
    let folder = configs_folder(asked);
    if folder == Path::new(built_in::FOLDER) {
        eprintln!("no {CONFIGS} folder here: using the configuration built into this program");
    }
    Ok(trapcheck::configs::load(folder)?)
}

/// Says what is to be said of the sessions that the cells of these runs play.
pub fn tell_sessions<'a>(
    configs: &Configs,
    runs: impl IntoIterator<Item = &'a &'a CampaignRun<'a>>,
) {
    let cells: BTreeSet<&str> = runs.into_iter().map(|run| run.spec.cell.name.as_str()).collect();
    for cell in cells {
        configs.notes_of(cell).iter().for_each(|note| eprintln!("{cell}: {note}"));
    }
}

/// Opens the project in the current folder.
///
/// # Errors
/// It has no configuration or no analyses, or one of them cannot be used.
pub fn open() -> anyhow::Result<Project> {
    let project = Project::open(Path::new("configs"))?;
    if project.analyses.is_empty() {
        bail!("no analysis/*.yaml here; run in the project's folder, or pass -C DIR");
    }
    for problem in &project.problems {
        eprintln!("warning: {problem}");
    }
    Ok(project)
}

/// The published values and what is bound to them, where the project has any.
///
/// # Errors
/// A file that cannot be used, or a table that is called as another output is.
pub fn ledger_inputs(project: &Project) -> Result<Option<LedgerInputs>, ConfigError> {
    let inputs = LedgerInputs::are_there().then(LedgerInputs::load).transpose()?;
    if let Some(inputs) = &inputs {
        inputs.claim_names(project.output_names.clone())?;
    }
    Ok(inputs)
}

/// The analyses with these names; all of them when none is given.
///
/// # Errors
/// A name that there is not.
pub fn chosen<'a>(
    project: &'a Project,
    names: &[String],
) -> anyhow::Result<Vec<&'a (PathBuf, Analysis)>> {
    let known: Vec<&str> = project.analyses.iter().map(|(_, a)| a.name.as_str()).collect();
    if let Some(name) = names.iter().find(|name| !known.contains(&name.as_str())) {
        bail!(unknown("analysis", name, "analysis", known));
    }
    let wanted = |a: &Analysis| names.is_empty() || names.contains(&a.name);
    Ok(project.analyses.iter().filter(|(_, a)| wanted(a)).collect())
}

/// Reads and judges one analysis' runs, saying what could not be used.
///
/// # Errors
/// Its registration changed or cannot be used.
pub fn evaluate(
    project: &Project,
    path: &Path,
    analysis: &Analysis,
    stores: &Stores<'_>,
) -> anyhow::Result<Evaluated> {
    let store = stores.of(analysis).context("every analysis has a store")?;
    let bar = progress::bar(0, "reading runs");
    let expect = |steps| bar.inc_length(steps as u64);
    let evaluated = project.evaluate(path, analysis, store, expect, || bar.inc(1))?;
    bar.finish_and_clear();
    for idle in &evaluated.idle {
        eprintln!("warning: analysis {}: {idle}", analysis.name);
    }
    for run in &evaluated.scoring.unreadable {
        for problem in &run.problems {
            eprintln!("problem: {problem}");
        }
    }
    Ok(evaluated)
}

/// Evaluates every analysis and makes its tables and figures.
///
/// # Errors
/// As [`evaluate`], and a figure that cannot be drawn.
pub fn make_all(project: &Project) -> anyhow::Result<Vec<MadeAnalysis>> {
    make(project, &project.analyses)
}

/// Evaluates some analyses and makes their tables and figures.
///
/// # Errors
/// As [`make_all`].
pub fn make<'a>(
    project: &Project,
    analyses: impl IntoIterator<Item = &'a (PathBuf, Analysis)>,
) -> anyhow::Result<Vec<MadeAnalysis>> {
    // Nothing kept is used: what is verified is computed from its sources.
    let stores = project.stores(None);
    analyses
        .into_iter()
        .map(|(path, analysis)| {
            let evaluated = evaluate(project, path, analysis, &stores)?;
            let configs = project.configs_for(analysis);
            let tables = evaluated.tables(configs)?;
            let figures = analysis
                .figures
                .iter()
                .map(|spec| evaluated.figure(spec, configs))
                .collect::<Result<Vec<_>, _>>()?;
            Ok(MadeAnalysis { evaluated, tables, figures })
        })
        .collect()
}

/// Whether every named run could be used: 0, else 2.
pub fn code(unreadable: usize) -> std::process::ExitCode {
    if unreadable == 0 { std::process::ExitCode::SUCCESS } else { std::process::ExitCode::from(2) }
}

/// Writes files and says where.
///
/// # Errors
/// One of them cannot be written.
pub fn write_all(files: &[OutputFile]) -> anyhow::Result<()> {
    for file in files {
        write_beside(&file.path, &file.bytes)
            .with_context(|| format!("cannot write {}", file.path.display()))?;
        eprintln!("wrote {}", file.path.display());
    }
    Ok(())
}
