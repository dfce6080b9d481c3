//! The command line: parse, run, print the error chain, exit.

use std::process::ExitCode;

use clap::Parser;
use trapcheck::cli::{Cli, run};

fn main() -> ExitCode {
    match run(&Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
