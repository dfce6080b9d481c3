//! `trapcheck inspect`.

use std::fs;

use crate::project::{Project, stderr, stdout, trapcheck};

const BATCH: &str = "results/vllm-cpu/cpu_1_pulled_20261129-125700";

#[test]
fn the_committed_runs_have_no_problem_and_two_kinds_of_note() {
    let output = trapcheck(&["inspect", "--wide", "--notes", "results"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(
        stdout(&output).lines().filter(|line| line.contains("results/vllm-cpu/")).count(),
        22
    );
    // vLLM does not say it, and recorded sessions were compacted. No run contradicts itself, the
    // simulated ones neither.
    let lacking = "does not report kv_evictable_tokens: unknown in every row";
    let shorter =
        "a session's prompt gets shorter at 1 to 33 turns: its context was compacted or replaced";
    let notes = format!(
        "note: engine.csv.gz of 31 runs: {lacking}\nnote: turns.csv.gz of 9 runs: {shorter}\n"
    );
    assert_eq!(stderr(&output), notes);
}

#[test]
fn a_note_on_several_runs_is_printed_once_with_their_number_unless_all_are_asked_for() {
    let note = "does not report kv_evictable_tokens: unknown in every row";
    let output = trapcheck(&["inspect", BATCH]).output().unwrap();
    assert_eq!(stderr(&output), "11 notes; --notes lists them\n");
    let output = trapcheck(&["inspect", "--notes", BATCH]).output().unwrap();
    assert_eq!(stderr(&output), format!("note: engine.csv.gz of 11 runs: {note}\n"));
    let output = trapcheck(&["inspect", "--notes", "--all", BATCH]).output().unwrap();
    assert_eq!(stderr(&output).matches(note).count(), 11, "{}", stderr(&output));
    assert!(stderr(&output).contains(&format!("note: {BATCH}/agentload_burst/")));
}

#[test]
fn a_damaged_run_is_a_row_with_its_reason_and_the_others_are_still_there() {
    let project = Project::copy();
    let table = format!("{BATCH}/agentload_closed/20261129-120009_n16/turns.csv.gz");
    let bytes = fs::read(project.path(&table)).unwrap();
    fs::write(project.path(&table), &bytes[..bytes.len() / 2]).unwrap();
    let output = project.trapcheck(&["inspect", "--format", "csv", BATCH]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let rows = stdout(&output);
    assert_eq!(rows.lines().count(), 12, "{rows}");
    assert!(rows.lines().any(|row| row.contains("unreadable") && row.contains("n16")), "{rows}");
    assert!(stderr(&output).contains(&format!("problem: {table}:")), "{}", stderr(&output));
}

#[test]
fn a_folder_without_runs_and_a_path_that_is_not_there_are_errors() {
    let output = trapcheck(&["inspect", "configs"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("no run directory"), "{}", stderr(&output));
    let output = trapcheck(&["inspect", "no/such/path"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("no/such/path"), "{}", stderr(&output));
}

#[test]
fn json_says_null_for_what_does_not_apply_and_lists_what_is_unknown() {
    let run = format!("{BATCH}/agentload_closed/20261129-120009_n16");
    let output = trapcheck(&["inspect", "--format", "json", &run]).output().unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let row = &answer["runs"][0];
    assert_eq!(answer["format"], "trapcheck-inspect/1");
    assert_eq!(row["population"], 16);
    assert_eq!(row.get("rate_multiple"), Some(&serde_json::Value::Null));
    assert_eq!(row["unknown"], serde_json::json!([]), "it does not apply to a closed run");
}
