//! Standard output and standard error that are full, closed, or no longer read.

use std::fs;
use std::process::Output;

use crate::project::{Project, stderr};
use crate::writing::{shell, shell_in};

const RUN: &str =
    "results/vllm-cpu/cpu_1_pulled_20261129-125700/agentload_burst/20261129-121107_x1.5_s0";

/// A command of each kind of output.
fn commands() -> Vec<String> {
    let e0a = "results/vllm-cpu/cpu_1_pulled_20261129-125700/agentload_e0a";
    vec![
        "--help".into(),
        "--version".into(),
        "score --help".into(),
        "plan --cell sglang-300k --arm burst --rate 1 --out -".into(),
        "plan --cell sglang-300k --arm burst --rate 1".into(),
        format!("inspect {RUN}"),
        format!("inspect --format json {RUN}"),
        format!("score {RUN}"),
        format!("verdict configs/registrations/vllm-cpu.yaml {RUN}"),
        format!("calibrate --dry-run {e0a}"),
        "register fill --name x --dry-run --inputs configs/fill/sglang-300k.yaml".into(),
        "model trap --cell sglang-300k --rate 1.65".into(),
        "sources".into(),
        "campaign configs/campaigns/paper.yaml --only shed --list".into(),
        "numbers show gap-ratio-median".into(),
    ]
}

fn is_no_panic(output: &Output, command: &str) {
    assert_ne!(output.status.code(), Some(101), "{command}: {}", stderr(output));
    assert!(!stderr(output).contains("panicked"), "{command}: {}", stderr(output));
}

#[test]
fn a_full_standard_output_is_an_error_that_says_so() {
    for command in commands() {
        let output = shell(&format!("$T {command} > /dev/full"));
        is_no_panic(&output, &command);
        assert_eq!(output.status.code(), Some(2), "{command}: {}", stderr(&output));
        assert!(stderr(&output).contains("cannot write to stdout"), "{command}");
    }
}

#[test]
fn a_full_or_closed_standard_error_changes_no_outcome() {
    for command in commands() {
        for redirected in ["2> /dev/full", "2>&-"] {
            let output = shell(&format!("$T {command} {redirected}"));
            assert_eq!(output.status.code(), Some(0), "{command} {redirected}");
        }
        let output = shell(&format!("$T {command} >&- 2>&- <&-"));
        assert_ne!(output.status.code(), Some(101), "{command}, all closed");
    }
    let output = shell("$T plan --cell nowhere --arm burst --rate 1 2> /dev/full");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_full_standard_error_does_not_end_a_derivation_halfway() {
    let project = Project::copy();
    let output = shell_in(&project.path(""), "$T derive --no-cache vllm-cpu 2> /dev/full");
    assert_eq!(output.status.code(), Some(0));
    let csv = fs::read_dir(project.path("paper/derived")).unwrap().flatten();
    let csv = csv.filter(|e| e.path().extension().is_some_and(|ending| ending == "csv")).count();
    assert_eq!(csv, 12, "one for each table of the analysis");
}

#[test]
fn a_reader_that_stops_reading_is_no_error() {
    for command in commands() {
        let output = shell(&format!("($T {command}; echo code $? >&2) | true"));
        is_no_panic(&output, &command);
        assert!(stderr(&output).contains("code 0"), "{command}: {}", stderr(&output));
    }
}
