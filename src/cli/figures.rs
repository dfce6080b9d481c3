//! `trapcheck figures`: draw figures.

use std::process::ExitCode;

use anyhow::bail;

use super::project;

/// Draw the figures of the analyses to figures/: svg, pdf, png and the plotted data
///
/// Text is drawn with a font that the program carries, so the files are the same
/// on every machine.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  trapcheck figures                     all of them
  trapcheck figures vllm_cpu_stampede   one")]
pub struct Args {
    /// Figures to draw; all of them if none is named
    #[arg(value_name = "FIGURE")]
    names: Vec<String>,
}

/// Runs the command.
///
/// # Errors
/// A figure that there is not, a configuration that cannot be used, or a file
/// that cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let project = project::open()?;
    let known: Vec<&str> = project
        .analyses
        .iter()
        .flat_map(|(_, analysis)| analysis.figures.iter().map(|f| f.name()))
        .collect();
    if let Some(name) = args.names.iter().find(|name| !known.contains(&name.as_str())) {
        bail!("no figure {name}; there are: {}", known.join(", "));
    }
    let mut unreadable = 0;
    for (path, analysis) in &project.analyses {
        let wanted: Vec<_> = analysis
            .figures
            .iter()
            .filter(|f| args.names.is_empty() || args.names.iter().any(|name| name == f.name()))
            .collect();
        if wanted.is_empty() {
            continue;
        }
        let evaluated = project::evaluate(&project, path, analysis)?;
        unreadable += evaluated.scoring.unreadable.len();
        for spec in wanted {
            project::write_all(&evaluated.figure(spec)?.files)?;
        }
    }
    Ok(project::code(unreadable))
}
