//! The program: parse, run, print the error chain, exit.

mod cli;

use std::io::ErrorKind;
use std::process::ExitCode;

use clap::Parser;
use trapcheck::directory::PARQUET_THREAD;

use cli::{Cli, output, run, signals};

fn main() -> ExitCode {
    keep_what_is_freed();
    hush_the_parquet_reader();
    signals::tidy_up();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(answer) => return show(&answer),
    };
    match run(&cli) {
        Ok(code) => code,
        Err(error) => {
            output::tell(format_args!("error: {}", causes(&error)));
            ExitCode::from(2)
        }
    }
}

/// An error and its causes in one line. A cause that the one before it has quoted already
/// is not said again.
fn causes(error: &anyhow::Error) -> String {
    let mut said: Vec<String> = Vec::new();
    for cause in error.chain().map(ToString::to_string) {
        if said.last().is_none_or(|before| !before.ends_with(&cause)) {
            said.push(cause);
        }
    }
    said.join(": ")
}

/// Help, version or what is wrong with the usage. A reader that has gone away is no error.
fn show(answer: &clap::Error) -> ExitCode {
    match answer.print() {
        Err(e) if !answer.use_stderr() && e.kind() != ErrorKind::BrokenPipe => {
            output::tell(format_args!("error: cannot write to stdout: {e}"));
            ExitCode::from(2)
        }
        _ => ExitCode::from(u8::try_from(answer.exit_code()).unwrap_or(2)),
    }
}

/// Runs are read one after the other into memory of much the same size. The GNU allocator gives
/// large pieces back to the system, to be asked for again page by page, until one as large as
/// this has been freed (mallopt(3), the dynamic threshold); elsewhere this does nothing.
fn keep_what_is_freed() {
    const LARGE: usize = 31 << 20;
    drop(std::hint::black_box(Vec::<u8>::with_capacity(LARGE)));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_that_was_quoted_is_said_once() {
        let cause = std::io::Error::other("no such file");
        let error = anyhow::Error::new(cause).context("x.yaml: cannot read: no such file");
        assert_eq!(causes(&error.context("proof p")), "proof p: x.yaml: cannot read: no such file");
    }
}
