//! Every command explains itself: an example, its exit codes; completions and man pages.

use std::collections::BTreeSet;

use clap::CommandFactory;
use trapcheck::cli::Cli;

use crate::project::{stderr, stdout, trapcheck};

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
    use clap::Parser;
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

#[test]
fn completions_know_every_command_in_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = trapcheck(&["completions", shell]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{shell}: {}", stderr(&output));
        let script = stdout(&output);
        for (path, _) in commands() {
            let name = path.rsplit(' ').next().unwrap();
            assert!(script.contains(name), "{shell}: {path}");
        }
    }
    let output = trapcheck(&["completions", "bahs"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("bash"), "{}", stderr(&output));
}

#[test]
fn there_is_a_man_page_for_every_command_and_it_has_the_exit_codes() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let output = trapcheck(&["man", "--out", out]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let expected: BTreeSet<String> =
        commands().iter().map(|(path, _)| format!("{}.1", path.replace(' ', "-"))).collect();
    let found: BTreeSet<String> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(found, expected);
    for name in &found {
        let page = std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert!(page.contains("Exit codes"), "{name}");
    }
    let main = trapcheck(&["man"]).output().unwrap();
    let written = std::fs::read_to_string(folder.path().join("trapcheck.1")).unwrap();
    assert_eq!(stdout(&main), written);
}

#[test]
fn a_wrong_name_suggests_the_nearest_one() {
    let cell = "vllm-cpu-tiny-30";
    let campaign = "configs/campaigns/paper.yaml";
    let arm = ["--arm", "burst", "--rate", "1"];
    let asked: [(Vec<&str>, &str); 12] = [
        ([&["plan", "--cell", cell][..], &arm].concat(), "vllm-cpu-tiny-30k"),
        (vec!["model", "curve", "--cell", "sglang-30k"], "sglang-300k"),
        (vec!["plan", "--cell", cell, "--arm", "brust", "--rate", "1"], "'burst'"),
        (vec!["verdict", "vlm-cpu", "results/vllm-cpu"], "vllm-cpu"),
        (vec!["derive", "vllm-cp"], "vllm-cpu"),
        (vec!["figures", "fig1_stampeed"], "fig1_stampede"),
        (vec!["numbers", "show", "gap-ratio-medain"], "gap-ratio-median"),
        (vec!["campaign", campaign, "--only", "pared", "--list"], "paired"),
        (
            vec!["campaign", campaign, "--run", "paired_sglang-300k_burst_1.35_s9", "--list"],
            "paired",
        ),
        (vec!["scroe", "results"], "'score'"),
        (
            vec![
                "calibrate",
                "--workload",
                "standrad",
                "--protocol",
                "paper",
                "--dry-run",
                "results/vllm-cpu/cpu_1_pulled_20261129-125700/agentload_e0a",
            ],
            "standard",
        ),
        (
            vec!["register", "fill", "--name", "x", "--cell", cell, "results/vllm-cpu"],
            "vllm-cpu-tiny-30k",
        ),
    ];
    for (args, meant) in asked {
        let output = trapcheck(&args).output().unwrap();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains("did you mean") || said.contains("similar"), "{args:?}: {said}");
        assert!(said.contains(meant), "{args:?}: {said}");
    }
}
