//! Every command has its completions and its man page; a wrong name suggests the nearest.

use std::collections::BTreeSet;

use crate::project::{stderr, stdout, trapcheck};

/// Every command with those before it, as the program lists them.
fn commands() -> Vec<String> {
    fn below(path: &str, all: &mut Vec<String>) {
        all.push(path.to_owned());
        let words = path.split(' ').skip(1).chain(["--help"]).collect::<Vec<_>>();
        let help = stdout(&trapcheck(&words).output().unwrap());
        let Some((_, list)) = help.split_once("\nCommands:\n") else { return };
        let lines = list.lines().take_while(|line| !line.is_empty());
        // What a line is continued with is further in.
        let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        let names = names.filter_map(|line| line.split_whitespace().next());
        for name in names.filter(|name| *name != "help") {
            below(&format!("{path} {name}"), all);
        }
    }
    let mut all = Vec::new();
    below("trapcheck", &mut all);
    assert!(all.len() > 25, "{all:?}");
    all
}

#[test]
fn completions_know_every_command_in_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = trapcheck(&["completions", shell]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{shell}: {}", stderr(&output));
        let script = stdout(&output);
        for path in commands() {
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
        commands().iter().map(|path| format!("{}.1", path.replace(' ', "-"))).collect();
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
