//! What was measured is kept, used again, and enough without the runs.

use std::fs;

use crate::project::{Project, stderr, stdout};

const RUNS: &str = "results/vllm-cpu/cpu_1_pulled_20261129-125700";
const REGISTRATION: &str = "configs/registrations/vllm-cpu.yaml";

#[test]
fn kept_statistics_judge_as_the_runs_do_and_need_no_runs() {
    let project = Project::copy();
    let direct = project.trapcheck(&["score", RUNS, "--format", "csv"]).output().unwrap();
    let judged = project.trapcheck(&["verdict", REGISTRATION, RUNS]).output().unwrap();
    let measured = project.trapcheck(&["measure", RUNS, "--cache", "kept"]).output().unwrap();
    assert_eq!(measured.status.code(), Some(0), "{}", stderr(&measured));
    assert_eq!(stdout(&measured), "11 of 11 runs are kept in kept\n");
    fs::rename(project.path(RUNS), project.path("elsewhere")).unwrap();
    let combined = project.trapcheck(&["score", "kept", "--format", "csv"]).output().unwrap();
    assert_eq!(combined.status.code(), Some(0), "{}", stderr(&combined));
    assert_eq!(stdout(&combined), stdout(&direct));
    let verdict = project.trapcheck(&["verdict", REGISTRATION, "kept"]).output().unwrap();
    assert_eq!(stdout(&verdict), stdout(&judged));
}

#[test]
fn what_was_kept_is_used_until_something_changes() {
    let project = Project::copy();
    let names = || -> Vec<_> { project.bytes_of("kept").into_iter().map(|(p, _)| p).collect() };
    let measure = || project.trapcheck(&["measure", RUNS, "--cache", "kept"]).assert().code(0);
    measure();
    let first = names();
    measure();
    assert_eq!(names(), first, "measured again");
    // A run's meta.json with another space is another input, and so is a changed setting.
    let meta = project.path(RUNS).join("agentload_burst/20261129-121107_x1.5_s0/meta.json");
    fs::write(&meta, fs::read_to_string(&meta).unwrap() + "\n").unwrap();
    measure();
    assert_eq!(names().len(), first.len() + 1);
    let protocol = project.path("configs/protocols/vllm-cpu.yaml");
    fs::write(&protocol, fs::read_to_string(&protocol).unwrap() + "# a word\n").unwrap();
    measure();
    assert_eq!(names().len(), 2 * first.len() + 1);
}

#[test]
fn a_kept_file_that_is_damaged_or_of_other_settings_is_named() {
    let project = Project::copy();
    project.trapcheck(&["measure", RUNS, "--cache", "kept"]).assert().code(0);
    let (first, mut bytes) = project.bytes_of("kept").swap_remove(0);
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(project.path("kept").join(&first), bytes).unwrap();
    let output = project.trapcheck(&["score", "kept"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("or damaged: measure it again"), "{}", stderr(&output));
    let protocol = project.path("configs/protocols/vllm-cpu.yaml");
    fs::write(&protocol, fs::read_to_string(&protocol).unwrap() + "# a word\n").unwrap();
    let output = project.trapcheck(&["score", "kept"]).output().unwrap();
    assert!(stderr(&output).contains("kept under another configuration"), "{}", stderr(&output));
}

#[test]
fn a_job_array_has_a_task_per_run() {
    let project = Project::copy();
    let args = ["measure", RUNS, "--cache", "kept", "--slurm", "jobs"];
    project.trapcheck(&args).assert().code(0);
    let script = fs::read_to_string(project.path("jobs/measure.sbatch")).unwrap();
    assert!(script.contains("#SBATCH --array=0-10\n"), "{script}");
    assert!(script.contains(" measure --cache kept --configs configs \"${runs[$i]}\""), "{script}");
    assert!(!project.path("kept").exists());
}

#[test]
fn without_a_folder_to_keep_them_in_nothing_is_measured() {
    let output = Project::copy().trapcheck(&["measure", RUNS]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--cache DIR is missing"), "{}", stderr(&output));
}
