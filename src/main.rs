//! The command line: parse, run, print the error chain, exit.

use std::process::ExitCode;

use clap::Parser;
use trapcheck::cli::{Cli, run};
use trapcheck::run::PARQUET_THREAD;

fn main() -> ExitCode {
    hush_the_parquet_reader();
    match run(&Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// A damaged file makes the parquet reader panic, on a thread of its own. Its caller
/// names the file instead, so the panic's own words say nothing.
fn hush_the_parquet_reader() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().name() != Some(PARQUET_THREAD) {
            print(panic);
        }
    }));
}
