//! `trapcheck figures`: draw figures.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::bail;
use clap::Subcommand;

use crate::analysis::draw::run_picture;
use crate::analysis::outputs::{OutputFile, figure_files};
use crate::analysis::score::{ScoreOptions, score};
use crate::run::find_runs;
use crate::setup::Configs;

use super::{progress, project};

/// Draw the figures of the analyses to figures/: svg, pdf, png and the plotted data
///
/// Text is drawn with a font that the program carries, so the files are the same
/// on every machine.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  trapcheck figures                     all of them
  trapcheck figures vllm-cpu_stampede   one
  trapcheck figures run results/vllm-cpu/cpu_1_pulled_20261129-125700/agentload_rescue"
)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Figures to draw; all of them if none is named
    #[arg(value_name = "FIGURE")]
    names: Vec<String>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Draw one picture per run: hits, backlog, token rate, gap and turnover, gate,
    /// with the thresholds that its verdict used
    Run {
        /// Run directories, or folders to search for them
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<PathBuf>,
        /// Where to write the pictures
        #[arg(long, value_name = "DIR", default_value = "figures/runs")]
        out: PathBuf,
        /// Folder of cells, protocols, workloads and registrations
        #[arg(long, value_name = "DIR", default_value = "configs")]
        configs: PathBuf,
    },
}

/// Runs the command.
///
/// # Errors
/// A figure that there is not, a configuration that cannot be used, or a file
/// that cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if let Some(Command::Run { paths, out, configs }) = &args.command {
        return draw_runs(paths, out, configs);
    }
    let project = project::open()?;
    let known: Vec<&str> = project
        .analyses
        .iter()
        .flat_map(|(_, analysis)| analysis.figures.iter().map(|f| f.name.as_str()))
        .collect();
    if let Some(name) = args.names.iter().find(|name| !known.contains(&name.as_str())) {
        bail!("no figure {name}; there are: {}", known.join(", "));
    }
    let mut unreadable = 0;
    for (path, analysis) in &project.analyses {
        let wanted: Vec<_> = analysis
            .figures
            .iter()
            .filter(|f| {
                args.names.is_empty() || args.names.iter().any(|name| name == f.name.as_str())
            })
            .collect();
        if wanted.is_empty() {
            continue;
        }
        let evaluated = project::evaluate(&project, path, analysis)?;
        unreadable += evaluated.scoring.unreadable.len();
        for spec in wanted {
            project::write_all(&evaluated.figure(spec, &project.configs)?.files)?;
        }
    }
    Ok(project::code(unreadable))
}

fn draw_runs(paths: &[PathBuf], out: &Path, configs: &Path) -> anyhow::Result<ExitCode> {
    let configs = Configs::load(configs)?;
    let found = find_runs(paths);
    if found.runs.is_empty() {
        bail!("no run directory under these paths (a run directory holds a meta.json)");
    }
    let bar = progress::bar(found.runs.len(), "reading runs");
    let scoring = score(&found.runs, &configs, &ScoreOptions::default(), || bar.inc(1));
    bar.finish_and_clear();
    for run in &scoring.runs {
        let parts: Vec<_> = run.dir.components().rev().take(2).collect();
        let name: Vec<_> =
            parts.iter().rev().map(|p| p.as_os_str().to_string_lossy().into_owned()).collect();
        let files: Vec<OutputFile> = figure_files(&name.join("_"), &run_picture::draw(run))?
            .into_iter()
            .map(|file| OutputFile {
                path: out.join(file.path.file_name().unwrap_or_default()),
                bytes: file.bytes,
            })
            .collect();
        project::write_all(&files)?;
    }
    for problem in found.problems.iter().chain(scoring.unreadable.iter().flat_map(|u| &u.problems))
    {
        eprintln!("problem: {problem}");
    }
    Ok(project::code(scoring.unreadable.len() + found.problems.len()))
}
