//! `trapcheck figures`: draw figures.

use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Subcommand;

use trapcheck::analysis::Analysis;
use trapcheck::analysis::draw::{draw, run_picture};
use trapcheck::analysis::output_files::{OutputFile, figure_files};
use trapcheck::analysis::output_names::OutputNames;
use trapcheck::analysis::spec::FigureSpec;
use trapcheck::analysis::store::Store;
use trapcheck::judged::score::{Scoring, score};
use trapcheck::nearest::unknown;
use trapcheck::setup::Configs;

use super::{project, runs};

/// Draw the figures of the analyses to figures/: svg, pdf, png and the plotted data
///
/// Text is drawn with a font that the program carries, so the files are the same
/// on every machine.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  trapcheck figures                     all of them
  trapcheck figures fig3                one
  trapcheck figures fig3 --from results/nova
  trapcheck figures run results/vllm-cpu/cpu_1_pulled_20261129-125700/agentload_rescue

Exit codes: 0 all drawn; 2 a run could not be read, or bad usage or input"
)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Figures to draw, by name or by its part before the first underscore; all of them
    /// if none is named
    #[arg(value_name = "FIGURE")]
    names: Vec<String>,
    /// Draw from the runs under this path instead of those that the analysis names
    #[arg(long, value_name = "PATH", requires = "names")]
    from: Option<PathBuf>,
    /// Where to write what is drawn with --from
    #[arg(long, value_name = "DIR", default_value = "figures/from", requires = "from")]
    out: PathBuf,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Draw one picture per run: hits, backlog, token rate, gap and turnover, gate,
    /// with the thresholds that its verdict used
    #[command(after_help = "Example:
  trapcheck figures run results/vllm-cpu/cpu_1_pulled_20261129-125700/agentload_rescue

Exit codes: 0 all drawn; 2 a run could not be read, or bad usage or input")]
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
    let specs: Vec<(&Path, &Analysis, &FigureSpec)> = project
        .analyses
        .iter()
        .flat_map(|(path, analysis)| {
            analysis.figures.iter().map(move |spec| (path.as_path(), analysis, spec))
        })
        .collect();
    for name in &args.names {
        if !specs.iter().any(|(_, _, spec)| is_called(spec, name)) {
            let known = specs.iter().map(|(_, _, spec)| spec.name.as_str());
            bail!(unknown("figure", name, "analysis", known));
        }
    }
    let wanted = |spec: &FigureSpec| {
        args.names.is_empty() || args.names.iter().any(|name| is_called(spec, name))
    };
    if let Some(from) = &args.from {
        let specs: Vec<&FigureSpec> =
            specs.iter().map(|(_, _, spec)| *spec).filter(|spec| wanted(spec)).collect();
        return draw_from(from, &args.out, &specs, &project.configs);
    }
    let stores = project.stores(Some(Path::new(project::CACHE)));
    let mut unreadable = project.problems.len();
    for (path, analysis) in &project.analyses {
        let wanted: Vec<_> = analysis.figures.iter().filter(|spec| wanted(spec)).collect();
        if wanted.is_empty() {
            continue;
        }
        let evaluated = project::evaluate(&project, path, analysis, &stores)?;
        unreadable += evaluated.scoring.unreadable.len();
        for spec in wanted {
            project::write_all(&evaluated.figure(spec, project.configs_for(analysis))?.files)?;
        }
    }
    runs::tell_trust(stores.trust());
    Ok(project::code(unreadable))
}

/// `fig3` is `fig3_rescue`.
fn is_called(spec: &FigureSpec, name: &str) -> bool {
    *spec.name == *name || spec.name.split('_').next() == Some(name)
}

/// Draws figures from the runs under a path, whatever they are: the figure says which.
fn draw_from(
    from: &Path,
    out: &Path,
    specs: &[&FigureSpec],
    configs: &Configs,
) -> anyhow::Result<ExitCode> {
    let scoring = read(&[from.to_owned()], configs)?;
    for spec in specs {
        let spec = FigureSpec { source: None, ..(*spec).clone() };
        let (figure, _) = draw(&scoring.runs, &spec, configs)?;
        project::write_all(&placed(figure_files(&spec.name, &figure)?, out))?;
    }
    Ok(project::code(scoring.unreadable.len()))
}

/// The files of a figure in another folder.
fn placed(files: Vec<OutputFile>, out: &Path) -> Vec<OutputFile> {
    let place = |file: OutputFile| OutputFile {
        path: out.join(file.path.file_name().unwrap_or_default()),
        bytes: file.bytes,
    };
    files.into_iter().map(place).collect()
}

/// Scores every run under some paths, and says what cannot be read.
fn read(paths: &[PathBuf], configs: &Configs) -> anyhow::Result<Scoring> {
    let found = runs::find(paths, configs)?;
    let measured = runs::measure(&Store::new(configs), &found, "reading runs");
    let scoring = score(measured, configs, None);
    let unusable = scoring.unreadable.iter().map(|r| (r.dir.as_path(), r.problems.as_slice()));
    runs::tell_unusable(unusable, "not drawn");
    Ok(scoring)
}

fn draw_runs(paths: &[PathBuf], out: &Path, configs: &Path) -> anyhow::Result<ExitCode> {
    let configs = project::configs(configs)?;
    let scoring = read(paths, &configs)?;
    // Before anything is drawn.
    let mut taken = OutputNames::default();
    let mut names = Vec::new();
    for run in &scoring.runs {
        let name = picture_name(&run.dir)?;
        taken.claim(out, &name, run.dir.display().to_string()).map_err(anyhow::Error::msg)?;
        names.push(name);
    }
    for (run, name) in scoring.runs.iter().zip(&names) {
        project::write_all(&placed(figure_files(name, &run_picture::draw(run))?, out))?;
    }
    Ok(project::code(scoring.unreadable.len()))
}

/// The last two folders of a run's place, wherever it was looked for from.
fn picture_name(dir: &Path) -> anyhow::Result<String> {
    let place = dir.canonicalize().with_context(|| format!("cannot find {}", dir.display()))?;
    let named = |part: Component<'_>| match part {
        Component::Normal(name) => name.to_str().map(str::to_owned),
        _ => None,
    };
    let mut parts: Vec<String> = place.components().rev().map_while(named).take(2).collect();
    parts.reverse();
    Ok(parts.join("_"))
}
