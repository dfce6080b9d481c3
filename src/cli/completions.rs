//! `trapcheck completions`: what a shell completes after `trapcheck`.

use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use super::output;

/// Print the completions of a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  trapcheck completions bash > ~/.local/share/bash-completion/completions/trapcheck
  trapcheck completions zsh > ~/.zfunc/_trapcheck
  trapcheck completions fish > ~/.config/fish/completions/trapcheck.fish

Exit codes: 0 printed; 2 bad usage")]
pub struct Args {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Runs the command.
///
/// # Errors
/// Stdout cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    generate(args.shell, &mut super::Cli::command(), "trapcheck", &mut script);
    output::print(std::str::from_utf8(&script)?)?;
    Ok(ExitCode::SUCCESS)
}
