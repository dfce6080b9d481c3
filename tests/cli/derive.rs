//! Only what changed is made again.

use std::fs;

use crate::project::{Project, stderr};

fn derive(project: &Project) -> String {
    let output = project.trapcheck(&["derive"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    stderr(&output)
}

#[test]
fn files_that_would_be_the_same_are_left_alone() {
    let project = Project::copy();
    let first = derive(&project);
    assert!(first.contains("wrote paper/derived/vllm-cpu_runs.csv"), "{first}");
    assert!(!first.contains("note:"), "{first}");
    let again = derive(&project);
    assert!(!again.contains("wrote"), "{again}");
    let files = project.bytes_of("paper/derived").len();
    assert!(again.starts_with(&format!("{files} files are as before\n")), "{again}");
    assert!(again.contains("were kept, not recomputed; what they were measured from"), "{again}");
}

#[test]
fn a_changed_run_a_changed_setting_and_a_changed_output_are_made_again() {
    let project = Project::copy();
    derive(&project);
    let table = project.path("paper/derived/vllm-cpu_runs.csv");
    let made = fs::read(&table).unwrap();

    fs::write(&table, "changed by hand").unwrap();
    let said = derive(&project);
    let wrote: Vec<&str> = said.lines().filter(|line| line.starts_with("wrote")).collect();
    assert_eq!(wrote, ["wrote paper/derived/vllm-cpu_runs.csv"]);
    assert_eq!(fs::read(&table).unwrap(), made);

    let run =
        "results/vllm-cpu/cpu_1_pulled_20261129-125700/agentload_burst/20261129-121107_x1.5_s0";
    let meta = project.path(run).join("meta.json");
    let text = fs::read_to_string(&meta).unwrap();
    fs::write(&meta, text.replace("\"seed\": 0", "\"seed\": 7")).unwrap();
    assert!(derive(&project).contains("wrote paper/derived/vllm-cpu_runs.csv"));
    assert_ne!(fs::read(&table).unwrap(), made);

    let cell = project.path("configs/cells/vllm-cpu-tiny-30k.yaml");
    fs::write(&cell, fs::read_to_string(&cell).unwrap() + "# a word\n").unwrap();
    assert!(!derive(&project).contains("not recomputed"));
}

#[test]
fn a_run_that_is_gone_is_a_change() {
    let project = Project::copy();
    derive(&project);
    let run =
        "results/vllm-cpu/cpu_1_pulled_20261129-125700/agentload_burst/20261129-121107_x1.5_s0";
    fs::remove_dir_all(project.path(run)).unwrap();
    assert!(derive(&project).contains("vllm-cpu_runs.csv"));
}

#[test]
fn every_table_of_a_readable_length_has_markdown_and_latex_of_the_same_cells() {
    let project = Project::copy();
    derive(&project);
    let read = |ending: &str| {
        fs::read_to_string(project.path(&format!("paper/derived/vllm-cpu_paired_ranges.{ending}")))
            .unwrap()
    };
    let (csv, markdown, latex) = (read("csv"), read("md"), read("tex"));
    for value in csv.lines().nth(1).unwrap().split(',').filter(|v| !v.is_empty()) {
        assert!(markdown.contains(value), "{value} in {markdown}");
        assert!(latex.contains(&value.replace('_', "\\_")), "{value} in {latex}");
    }
    assert!(latex.contains("\\toprule") && latex.contains("\\bottomrule"));
}
