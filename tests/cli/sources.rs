//! A pull in its place is preferred to what stands in for it, and every output says so.

use std::fs;

use crate::project::{Project, bytes_under, root, stderr, stdout};

const PULL: &str = "results/nova/e2_170933xx_pulled_20261025-144558";

/// A project with simulated runs in the place of the cluster's paired test, called an
/// engine's, as a pull would say.
fn with_a_pull() -> Project {
    let project = Project::whole();
    for arm in ["burst", "noburst", "capped"] {
        let from = root().join(format!("results/sim/paired/agentload_{arm}"));
        for (path, bytes) in bytes_under(&from) {
            if !path.to_string_lossy().contains("sglang-300k") {
                continue;
            }
            let to = project.path(PULL).join(format!("agentload_{arm}")).join(&path);
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            let bytes = if path.ends_with("meta.json") {
                let text = String::from_utf8(bytes).unwrap();
                text.replace("\"source\": \"simulator\"", "\"source\": \"engine\"").into_bytes()
            } else {
                bytes
            };
            fs::write(to, bytes).unwrap();
        }
    }
    project
}

#[test]
fn without_a_pull_every_batch_is_stood_in_for() {
    let project = Project::whole();
    let output = project.trapcheck(&["sources", "--all", "--format", "csv"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let table = stdout(&output);
    assert!(table.contains("E2,e2,stood in for,18,"), "{table}");
    assert!(table.contains("notes/PREDICTIONS.md"), "{table}");
    assert!(!table.contains(",present,"), "{table}");
}

#[test]
fn with_a_pull_in_place_the_same_command_computes_from_it_and_says_so() {
    let project = with_a_pull();
    let output = project.trapcheck(&["sources", "--format", "csv"]).output().unwrap();
    assert!(stdout(&output).contains("E2,e2,present,18,"), "{}", stdout(&output));

    project.trapcheck(&["derive"]).assert().code(0);
    let runs = fs::read_to_string(project.path("paper/derived/paper_runs.csv")).unwrap();
    let of_pull = runs.lines().filter(|line| line.starts_with(PULL));
    assert_eq!(of_pull.clone().filter(|line| line.contains(",engine,sglang-300k,")).count(), 18);
    assert!(!runs.contains("results/sim/paired/agentload_burst/paired_sglang-300k"));
    assert!(runs.contains("results/sim/paired/agentload_burst/paired_sglang-native"));

    // The published table beside ours finds the pull's runs, which have folders of their own. Its
    // rows come of one query over both; each rests on its own runs.
    let table = fs::read_to_string(project.path("paper/derived/table_7.csv")).unwrap();
    let ours = |cell: &str, whose: &str| {
        table.lines().any(|line| line.starts_with(&format!("{cell},1.35,BURST,{whose},")))
    };
    assert!(ours("sglang-300k", "engine runs") && ours("vllm-300k", "simulated runs"), "{table}");

    project.trapcheck(&["figures", "fig1", "fig7"]).assert().code(0);
    let data = |name: &str| fs::read(project.path(&format!("figures/{name}.svg"))).unwrap();
    let committed = |name: &str| fs::read(root().join(format!("figures/{name}.svg"))).unwrap();
    assert_ne!(data("fig1_stampede"), committed("fig1_stampede"), "it still says simulated");
    assert_eq!(data("fig7_stampede_native"), committed("fig7_stampede_native"));
}
