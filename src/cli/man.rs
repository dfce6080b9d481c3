//! `trapcheck man`: the manual pages, made from the same texts as `--help`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::CommandFactory;
use clap_mangen::Man;

use trapcheck::files::write_beside;

use super::output;

/// Print the manual page, or write one for every command
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  trapcheck man | man -l -
  trapcheck man --out ~/.local/share/man/man1       then: man trapcheck-score

Exit codes: 0 printed or written; 2 bad usage, or a file that cannot be written")]
pub struct Args {
    /// Write trapcheck.1, trapcheck-score.1 and so on here
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// Stdout or a file cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut program = super::Cli::command().disable_help_subcommand(true);
    // Names those below by their whole path: trapcheck-model-trap.
    program.build();
    let Some(out) = &args.out else {
        output::print(&page(&Man::new(program))?)?;
        return Ok(ExitCode::SUCCESS);
    };
    let mut pages = Vec::new();
    pages_of(&program, &mut pages);
    for man in &pages {
        let path = out.join(man.get_filename());
        write_beside(&path, page(man)?.as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    eprintln!("wrote {} pages to {}", pages.len(), out.display());
    Ok(ExitCode::SUCCESS)
}

fn page(man: &Man) -> anyhow::Result<String> {
    let mut page = Vec::new();
    man.render(&mut page)?;
    Ok(String::from_utf8(page)?)
}

/// The page of a command and of those below it.
fn pages_of(command: &clap::Command, pages: &mut Vec<Man>) {
    pages.push(Man::new(command.clone()));
    command.get_subcommands().for_each(|below| pages_of(below, pages));
}
