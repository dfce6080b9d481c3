//! Every command explains itself: an example that it accepts, its exit codes.
#![allow(clippy::unwrap_used)] // a test that cannot go on fails

use clap::{CommandFactory, Parser};

use super::Cli;

/// Every command with its path, those below it too.
fn commands() -> Vec<(String, clap::Command)> {
    fn below(path: &str, command: &clap::Command, all: &mut Vec<(String, clap::Command)>) {
        all.push((path.to_owned(), command.clone()));
        for one in command.get_subcommands() {
            below(&format!("{path} {}", one.get_name()), one, all);
        }
    }
    let mut all = Vec::new();
    below("trapcheck", &Cli::command(), &mut all);
    all
}

#[test]
fn the_help_of_every_command_has_an_example_and_its_exit_codes() {
    let commands = commands();
    assert!(commands.len() > 25, "{}", commands.len());
    for (path, mut command) in commands {
        let help = command.render_long_help().to_string();
        let (_, after) = help
            .split_once("Example")
            .unwrap_or_else(|| panic!("{path}: no example in its help\n{help}"));
        let example = after.lines().nth(1).unwrap_or_default();
        let below = path.strip_prefix("trapcheck").unwrap().trim();
        assert!(
            example.trim_start().starts_with(format!("trapcheck {below}").trim_end()),
            "{path}: its first example is {example:?}"
        );
        let codes = after
            .split_once("Exit codes: ")
            .unwrap_or_else(|| panic!("{path}: no exit codes in its help\n{help}"))
            .1;
        assert!(codes.starts_with("0 ") || codes.starts_with("as of its"), "{path}: {codes}");
    }
}

#[test]
fn the_examples_are_accepted() {
    let mut seen = 0;
    for (path, mut command) in commands() {
        let help = command.render_long_help().to_string();
        // A line that goes on below is one line.
        let help = help.replace("\\\n      ", "").replace("\\\n    ", "");
        let (_, examples) = help.split_once("Example").unwrap();
        for line in examples.lines().filter_map(|line| line.trim().strip_prefix("trapcheck ")) {
            // Up to a pipe, a second command, or what is said of it at some distance.
            let end = [" | ", " && ", " > ", "   "].iter().filter_map(|stop| line.find(stop)).min();
            let words = shell_words(&line[..end.unwrap_or(line.len())]);
            let given = std::iter::once("trapcheck".to_owned()).chain(words);
            match Cli::try_parse_from(given) {
                Ok(_) => seen += 1,
                Err(error) => {
                    let is_help = error.kind() == clap::error::ErrorKind::DisplayHelp;
                    assert!(is_help, "{path}: {line}: {error}");
                }
            }
        }
    }
    assert!(seen > 50, "{seen}");
}

/// Words as a shell splits them, as far as our examples need it.
fn shell_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (i, part) in line.split('\'').enumerate() {
        if i % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}
