//! `trapcheck derive`: write every derived table.

use std::process::ExitCode;

use crate::analysis::outputs::{OutputFile, table_file};

use super::project;

/// Write the derived tables of the analyses to paper/derived/
///
/// What is computed from what is declared in analysis/*.yaml.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  trapcheck derive
  trapcheck derive vllm-cpu")]
pub struct Args {
    /// Analyses to derive; all of them if none is named
    #[arg(value_name = "ANALYSIS")]
    names: Vec<String>,
}

/// Runs the command.
///
/// # Errors
/// A configuration that cannot be used, or a file that cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let project = project::open()?;
    let mut unreadable = 0;
    for (path, analysis) in project::chosen(&project, &args.names)? {
        let evaluated = project::evaluate(&project, path, analysis)?;
        unreadable += evaluated.scoring.unreadable.len();
        let files: Vec<OutputFile> =
            evaluated.tables(&project.configs)?.iter().map(table_file).collect();
        project::write_all(&files)?;
    }
    Ok(project::code(unreadable))
}
