//! What a user is promised of registrations and verdicts, on the command line and on
//! the real runs in results/vllm-cpu.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;
use trapcheck::analysis::score::{Scoring, score};
use trapcheck::analysis::store::Store;
use trapcheck::directory::find_runs;
use trapcheck::table::{self, Cell, Table};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn trapcheck(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("trapcheck").unwrap();
    command.current_dir(root()).args(args);
    command
}

/// A copy of the configuration in which a test may write.
fn configs_copy() -> tempfile::TempDir {
    fn copy(from: &Path, to: &Path) {
        std::fs::create_dir_all(to).unwrap();
        for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
            let target = to.join(entry.file_name());
            if entry.path().is_dir() {
                copy(&entry.path(), &target);
            } else {
                std::fs::copy(entry.path(), target).unwrap();
            }
        }
    }
    let dir = tempfile::tempdir().unwrap();
    copy(&root().join("configs"), dir.path());
    dir
}

fn fill(dir: &Path, inputs: &str, name: &str) -> Command {
    let configs = dir.to_str().unwrap();
    trapcheck(&["register", "fill", "--name", name, "--inputs", inputs, "--configs", configs])
}

#[test]
fn a_fill_is_written_once_and_never_overwritten() {
    let dir = configs_copy();
    let inputs = "configs/fill/sglang-300k.yaml";
    fill(dir.path(), inputs, "mine").assert().code(0);
    let path = dir.path().join("registrations/mine.yaml");
    let first = std::fs::read(&path).unwrap();
    let again = fill(dir.path(), inputs, "mine").assert().code(2);
    let stderr = String::from_utf8_lossy(&again.get_output().stderr).into_owned();
    assert!(stderr.contains("a registration is never overwritten"), "{stderr}");
    assert_eq!(std::fs::read(&path).unwrap(), first);
}

#[test]
fn the_registrations_of_the_repository_are_what_their_inputs_give() {
    let dir = configs_copy();
    for cell in ["sglang-300k", "sglang-native", "vllm-300k"] {
        let name = format!("e2-{cell}");
        std::fs::remove_file(dir.path().join(format!("registrations/{name}.yaml"))).unwrap();
        fill(dir.path(), &format!("configs/fill/{cell}.yaml"), &name).assert().code(0);
        let file = format!("registrations/{name}.yaml");
        let made = std::fs::read_to_string(dir.path().join(&file)).unwrap();
        let kept = std::fs::read_to_string(root().join("configs").join(&file)).unwrap();
        assert_eq!(made, kept, "{cell}");
    }
}

#[test]
fn an_incomplete_fill_is_written_and_exits_with_1() {
    let dir = configs_copy();
    fill(dir.path(), "configs/fill/h200-300k.yaml", "h200").assert().code(1);
    let text = std::fs::read_to_string(dir.path().join("registrations/h200.yaml")).unwrap();
    assert!(text.contains("status: INCOMPLETE") && text.contains("(1.10, 1.17)"), "{text}");
}

fn verdict(registration: &str, paths: &[&str]) -> Value {
    let file = format!("configs/registrations/{registration}.yaml");
    let args = [&["verdict", "--format", "json", &file], paths].concat();
    let output = trapcheck(&args).assert().code(0);
    serde_json::from_slice(&output.get_output().stdout).unwrap()
}

#[test]
fn unbound_runs_never_decide_and_the_output_says_so() {
    let found = verdict("vllm-cpu", &["results/vllm-cpu"]);
    assert_eq!(found["outcome"]["verdict"], "PASS");
    assert_eq!(found["outcome"]["decisive"], false);
    assert_eq!(found["outcome"]["sources"], "engine");
    let runs = found["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 9);
    for run in runs {
        assert_eq!(run["binding"], "exploratory: not bound, judged by vllm-cpu");
        let decided = &run["decided_by"];
        let margin = decided["margin"].as_f64().unwrap();
        assert_eq!(decided["holds"].as_bool(), Some(margin > 0.0), "{run}");
    }
}

#[test]
fn a_missing_control_is_named_and_leaves_the_test_undecided() {
    let found = verdict("vllm-cpu", &["results/vllm-cpu/cpu_1_pulled_20261129-125700"]);
    assert_eq!(found["outcome"]["verdict"], "not decidable");
    let not_used = found["outcome"]["not_used"].to_string();
    assert!(not_used.contains("seed 1 has no noburst run"), "{not_used}");
}

#[test]
fn a_rule_that_fails_on_the_real_runs_is_shown_with_its_clause() {
    let found = verdict("vllm-cpu-mechanism", &["results/vllm-cpu"]);
    assert_eq!(found["outcome"]["verdict"], "NOT MET");
    let failed: Vec<&Value> =
        found["runs"].as_array().unwrap().iter().filter(|r| r["label"] == "FAILED").collect();
    assert_eq!(failed.len(), 3);
    assert!(failed.iter().all(|r| r["decided_by"]["quantity"] == "(b) mean KV usage"));
}

#[test]
fn the_real_rescue_is_rescued_and_one_seed_decides_nothing() {
    let found = verdict("vllm-cpu-rescue", &["results/vllm-cpu"]);
    assert_eq!(found["outcome"]["verdict"], "not decidable");
    let rescue = found["runs"].as_array().unwrap().iter().find(|r| r["arm"] == "rescue").unwrap();
    assert_eq!(rescue["label"], "RESCUED");
    assert!(rescue["secondary"].as_array().unwrap().iter().all(|c| c["holds"] == true));
}

#[test]
fn a_verdict_is_written_as_csv_too() {
    let out = tempfile::tempdir().unwrap();
    let file = "configs/registrations/vllm-cpu-rescue.yaml";
    let dir = out.path().to_str().unwrap();
    trapcheck(&["verdict", "--out", dir, file, "results/vllm-cpu"]).assert().code(0);
    let lines = |name: &str| {
        let text = std::fs::read_to_string(out.path().join(name)).unwrap();
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(lines("verdict.csv")[1].starts_with("vllm-cpu-rescue,EXPLORATORY,rescue,engine,test,"));
    assert_eq!(lines("verdict_runs.csv").len(), 8);
    let rescue = lines("rescue.csv");
    assert_eq!(rescue.len(), 2);
    assert!(rescue[1].contains(",RESCUED,20,"), "{}", rescue[1]);
}

/// When RECOVERED first held before the release, least and most over a test's runs.
fn recovered_before_release_s(registration: &str) -> [f64; 2] {
    let out = tempfile::tempdir().unwrap();
    let file = format!("configs/registrations/{registration}.yaml");
    let dir = out.path().to_str().unwrap();
    let runs = format!("results/sim/{registration}");
    trapcheck(&["verdict", "--out", dir, &file, &runs]).assert().code(0);
    let text = std::fs::read_to_string(out.path().join("rescue.csv")).unwrap();
    let mut rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = rows.next().unwrap();
    let place = names.iter().position(|name| *name == "recovered_before_release_s").unwrap();
    let times: Vec<f64> = rows.filter_map(|row| row[place].parse().ok()).collect();
    [times.iter().copied().fold(f64::MAX, f64::min), times.iter().copied().fold(0.0, f64::max)]
}

#[test]
fn a_simulated_rescue_is_recovered_as_long_before_its_release_as_outstanding_at_the_end_says() {
    // App. E.7 prints 540 to 700 s and 300 to 350 s of the engine; a mean over the last 300 s
    // would give 240 to 350 s and 50 to 60 s here.
    assert_eq!(recovered_before_release_s("r1"), [380.0, 530.0]);
    assert_eq!(recovered_before_release_s("r4"), [280.0, 300.0]);
}

#[test]
fn a_registration_that_cannot_be_read_is_bad_input() {
    trapcheck(&["verdict", "configs/registrations/none.yaml", "results/vllm-cpu"]).assert().code(2);
    trapcheck(&["verdict", "configs/registrations/vllm-cpu.yaml", "src"]).assert().code(2);
}

fn scored() -> Scoring {
    let configs = trapcheck::configs::load(&root().join("configs")).unwrap();
    let found = find_runs(&[root().join("results/vllm-cpu")]);
    score(Store::new(&configs).runs(&found.runs, || {}), &configs, None)
}

fn number(table: &Table, row: usize, column: &str) -> Option<f64> {
    let place = table.columns.iter().position(|c| c.name == column).unwrap();
    match &table.rows[row].cells[place] {
        Cell::Number(x, _) => Some(*x),
        Cell::Count(n) => Some(*n as f64),
        _ => None,
    }
}

fn text(table: &Table, row: usize, column: &str) -> String {
    let place = table.columns.iter().position(|c| c.name == column).unwrap();
    table.rows[row].cells[place].print()
}

#[test]
fn the_derived_tables_agree_with_each_other_on_the_real_runs() {
    let runs = scored().runs;
    let ranges = table::paired_ranges::table(&runs);
    assert_eq!(ranges.rows.len(), 3);
    for row in 0..3 {
        for (least, most) in [
            ("hit_fraction_least", "hit_fraction_most"),
            ("backlog_least_sessions", "backlog_most_sessions"),
        ] {
            assert!(number(&ranges, row, least) <= number(&ranges, row, most));
        }
        let good = text(&ranges, row, "arm") != "burst";
        assert_eq!(text(&ranges, row, "states"), if good { "R R R" } else { "T T T" });
    }
    let counts = table::arm_counts::table(&runs);
    let burst = (0..3).find(|r| text(&counts, *r, "arm") == "burst").unwrap();
    assert_eq!(number(&counts, burst, "trapped"), Some(3.0));
    assert_eq!(number(&counts, burst, "seeds_lower_than_noburst"), Some(3.0));
    assert_eq!(number(&counts, burst, "sign_test_p"), Some(0.125));
    let (cost, loops) =
        (table::client_cost::table(&runs), table::loop_variables::table(&runs, &BTreeMap::new()));
    let around = table::burst::table(&runs);
    assert_eq!((cost.rows.len(), loops.rows.len(), around.rows.len()), (10, 10, 10));
    for row in 0..10 {
        let (gap, turnover, ratio) = (
            number(&loops, row, "gap_median_s").unwrap(),
            number(&loops, row, "turnover_s").unwrap(),
            number(&loops, row, "gap_over_turnover").unwrap(),
        );
        assert!((gap / turnover / ratio - 1.0).abs() < 1e-9);
        // A trapped run's hits end; a capped run's gate drains after the burst arrived.
        let arm = text(&around, row, "arm");
        assert_eq!(number(&around, row, "first_bin_without_hits_s").is_some(), arm == "burst");
        if arm == "capped" {
            assert!(number(&around, row, "gate_drained_after_s").unwrap() >= 6.0);
            assert!(number(&cost, row, "sessions_held_at_gate").unwrap() > 100.0);
        }
    }
}
