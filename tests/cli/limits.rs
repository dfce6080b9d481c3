//! Nothing waits for a pipe or reads a device, the same folders count everywhere, and what
//! asks for gigabytes is refused.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use crate::project::{Project, stderr, stdout};

const RUN: &str = "results/vllm-cpu/cpu_1_pulled_20261129-125700/agentload_burst/\
                   20261129-121107_x1.5_s0";

/// The program in a project, which must end by itself.
fn answers(project: &Project, args: &[&str]) -> Output {
    project.trapcheck(args).timeout(Duration::from_secs(120)).output().unwrap()
}

#[track_caller]
fn refused(project: &Project, args: &[&str], words: &str) {
    let output = answers(project, args);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains(words), "{words:?} is not in: {}", stderr(&output));
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn replace(project: &Project, file: &str, from: &str, to: &str) {
    let text = fs::read_to_string(project.path(file)).unwrap();
    assert!(text.contains(from), "{from:?} is not in {file}");
    fs::write(project.path(file), text.replace(from, to)).unwrap();
}

#[test]
fn a_pipe_or_a_device_where_a_file_is_expected_is_named() {
    let project = Project::copy();
    let inspect = ["inspect", "results/vllm-cpu"];
    let meta = project.path(RUN).join("meta.json");
    fs::remove_file(&meta).unwrap();
    pipe(&meta);
    refused(&project, &inspect, "meta.json: cannot read: expected a file, found a named pipe");
    fs::remove_file(&meta).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &meta).unwrap();
    refused(&project, &inspect, "meta.json: cannot read: expected a file, found a device");
    fs::remove_file(&meta).unwrap();
    let lost = project.path("results/vllm-cpu/lost");
    pipe(&lost);
    refused(&project, &["manifest", "--verify"], "lost: expected a file, found a named pipe");
    fs::remove_file(&lost).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &lost).unwrap();
    refused(&project, &["manifest", "--verify"], "lost: expected a file, found a device");
    // No run and no statistics: a search passes it by.
    assert_eq!(
        answers(&project, &["inspect", "results/vllm-cpu/cpu_2_pulled_20261129-141500"])
            .status
            .code(),
        Some(0)
    );
    pipe(&project.path("configs/cells/pipe.yaml"));
    let score = ["score", "results/vllm-cpu"];
    refused(&project, &score, "pipe.yaml: cannot read: expected a file, found a named pipe");
}

#[test]
fn a_hidden_folder_holds_no_runs_for_any_command() {
    let project = Project::copy();
    let args = ["inspect", "results/vllm-cpu", "--format", "csv"];
    let (seen, sums) = (answers(&project, &args), answers(&project, &["manifest"]));
    assert_eq!((seen.status.code(), sums.status.code()), (Some(0), Some(0)), "{}", stderr(&sums));
    let hidden = project.path("results/vllm-cpu/.hidden");
    fs::create_dir(&hidden).unwrap();
    fs::rename(project.path(RUN), hidden.join("run")).unwrap();
    let lines = |output: &Output| stdout(output).lines().count();
    assert_eq!(lines(&answers(&project, &args)) + 1, lines(&seen));
    let verified = answers(&project, &["manifest", "--verify"]);
    assert_eq!(verified.status.code(), Some(1), "{}", stdout(&verified));
    assert!(stdout(&verified).contains("meta.json: missing"), "{}", stdout(&verified));
    // The folder that is asked for is looked at.
    let asked = answers(&project, &["inspect", "results/vllm-cpu/.hidden", "--format", "csv"]);
    assert_eq!(lines(&asked), 2, "{}", stdout(&asked));
}

#[test]
fn a_simulation_that_no_memory_holds_is_refused() {
    let project = Project::copy();
    let simulate = ["simulate", "--out", "run", "--cell", "sglang-300k", "--arm"];
    let with = |more: &[&'static str]| [&simulate[..], more].concat();
    refused(
        &project,
        &with(&["closed", "--population", "4000000"]),
        "turns of 4002700 sessions: the rate, the population, the burst or the horizon is too large",
    );
    refused(
        &project,
        &with(&["noburst", "--rate", "1", "--sample", "1e-3"]),
        "sampled every 0.001 s; expected between 1 and 1999999 samples",
    );
    assert!(!project.path("run").exists());
}

#[test]
fn settings_that_no_memory_or_clock_holds_are_refused_with_their_file() {
    let burst = ["plan", "--cell", "sglang-300k", "--arm", "burst", "--rate", "1"];
    let workload = "configs/workloads/standard.yaml";
    let protocol = "configs/protocols/paper.yaml";
    for (file, from, to, words) in [
        (workload, "tokens: 2000", "tokens: 18446744073709551615", "a last turn of at most"),
        (workload, "max: 60", "max: 10001", "expected 1 to 10000 turns"),
        (workload, "mean: 15, max: 60", "mean: 1e300, max: 10000", "(limit 2000000 turns)"),
        (workload, "mean_s: 5 }", "mean_s: 1e300 }", "is over 31 days: check tool_time"),
        (protocol, "follow_up_s: 60", "follow_up_s: 1e-300", "more than 50000 bins"),
        (protocol, "horizon_s: 8700", "horizon_s: 8700000", "is over 31 days: expected seconds"),
    ] {
        let project = Project::copy();
        replace(&project, file, from, to);
        refused(&project, &burst, words);
    }
}

#[test]
fn a_rule_whose_steps_are_no_time_is_refused_with_its_file() {
    for (file, from, to) in [
        ("vllm-cpu-persistence.yaml", "step_s: 1", "step_s: 0"),
        ("vllm-cpu-persistence.yaml", "window_s: 30", "window_s: -1"),
        ("vllm-cpu-mechanism.yaml", "detector_over_s: 6", "detector_over_s: -1"),
    ] {
        let project = Project::copy();
        replace(&project, &format!("configs/registrations/{file}"), from, to);
        let words =
            format!("{file}: test.{}: expected at least 0.1 s", from.split(':').next().unwrap());
        refused(&project, &["score", "results/vllm-cpu"], &words);
    }
}

#[test]
fn a_gate_that_never_stops_ticking_is_refused() {
    let project = Project::copy();
    let campaign = "name: endless\ntests:\n- { test: t, place: p, cell: sglang-300k, multiples: [1], \
                    seeds: [0], arms: [{ arm: rescue, cap: 2, engage_s: 1800, tick_s: 1.0e-300 }] }\n";
    fs::write(project.path("configs/campaigns/endless.yaml"), campaign).unwrap();
    let args = ["campaign", "configs/campaigns/endless.yaml", "--out", "runs"];
    let output = answers(&project, &args);
    assert_ne!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("more than 1000000 ticks"), "{}", stderr(&output));
}

#[test]
fn a_yaml_file_that_stands_for_gigabytes_is_refused_with_its_name() {
    let project = Project::copy();
    let cell = project.path("configs/cells/bomb.yaml");
    let aliases = format!("a: &a [{}]\nb: [{}]\n", "x, ".repeat(9999), "*a, ".repeat(99_999));
    fs::write(&cell, aliases).unwrap();
    let score = ["score", "results/vllm-cpu"];
    refused(&project, &score, "bomb.yaml: its aliases (*name) stand for more than 4 MiB");
    fs::write(&cell, "{a: ".repeat(100_000)).unwrap();
    refused(&project, &score, "bomb.yaml: line 1: nested more than 128 deep");
    fs::write(&cell, "#".repeat(5 << 20)).unwrap();
    refused(&project, &score, "bomb.yaml: cannot read: too large: expected at most 4 MiB");
}
