//! `trapcheck simulate`, and what it refuses.

use std::path::Path;
use std::process::Command;

use crate::project::{bytes_under, root, stderr, stdout, trapcheck};

/// Runs it on the burst arm of a cell and gives its exit code and what it said.
fn simulate(args: &[&str], out: &Path) -> (Option<i32>, String) {
    let out = out.to_str().unwrap();
    let output = trapcheck(&[&["simulate", "--out", out], args].concat()).output().unwrap();
    (output.status.code(), stdout(&output) + &stderr(&output))
}

fn nothing_in(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().next().is_none()
}

const BURST: [&str; 6] = ["--cell", "sglang-300k", "--arm", "burst", "--rate", "1.65"];

#[test]
fn a_simulated_run_says_so_loads_without_a_problem_and_is_scored() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let registered = [&BURST[..], &["--registration", "sglang-300k", "--check"]].concat();
    assert_eq!(simulate(&registered, &run), (Some(0), String::new() + &said(&run)));
    let run = run.to_str().unwrap();
    let listed = trapcheck(&["inspect", "--format", "csv", "--notes", run]).output().unwrap();
    assert_eq!(listed.status.code(), Some(0), "{}", stderr(&listed));
    // The plan's hash is that of its text form, which a parquet plan does not have.
    let notes: Vec<_> = stderr(&listed).lines().map(str::to_owned).collect();
    assert!(notes.len() == 1 && notes[0].contains("the hash of plan.csv"), "{notes:?}");
    assert!(stdout(&listed).contains(",simulator,"), "{}", stdout(&listed));
    let scored = stdout(&trapcheck(&["score", run]).output().unwrap());
    assert!(scored.contains("TRAPPED"), "{scored}");
    assert!(scored.contains("sglang-300k (EXPLORATORY, simulator runs)"), "{scored}");
}

fn said(run: &Path) -> String {
    format!(
        "wrote {}: 1273 sessions, 862 completed, 13366 turns in 8700 s (simulated)\n",
        run.display()
    )
}

#[test]
fn the_same_command_gives_the_same_bytes_in_every_form() {
    let folder = tempfile::tempdir().unwrap();
    for form in ["parquet", "csv", "csv-gz", "csv-zst"] {
        let of = |name: &str| {
            let parent = folder.path().join(format!("{form}-{name}"));
            let run = parent.join("run");
            let args = [&BURST[..], &["--seed", "4", "--tables", form]].concat();
            let (code, said) = simulate(&args, &run);
            assert_eq!(code, Some(0), "{said}");
            bytes_under(&run)
        };
        assert!(of("a") == of("b"), "{form}");
    }
}

#[test]
fn a_run_that_makes_no_sense_is_refused_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let cases: [(&[&str], &str); 5] = [
        (&["--cell", "vllm-300k", "--arm", "burst", "--rate", "1.5"], "token_cost_factor"),
        (
            &["--cell", "sglang-300k", "--arm", "capped", "--cap", "0", "--rate", "1"],
            "cap: expected at least 1",
        ),
        (
            &["--cell", "sglang-300k", "--arm", "burst", "--burst", "0", "--rate", "1"],
            "sessions: expected at least 1",
        ),
        (
            &[
                "--cell",
                "sglang-300k",
                "--arm",
                "shed",
                "--from",
                "9000",
                "--for",
                "60",
                "--rate",
                "1",
            ],
            "outside the run",
        ),
        (&["--cell", "nowhere", "--arm", "noburst", "--rate", "1"], "no cell nowhere"),
    ];
    for (args, why) in cases {
        let (code, said) = simulate(args, &run);
        assert_eq!(code, Some(2), "{args:?}: {said}");
        assert!(said.contains(why), "{args:?}: {said}");
        assert!(nothing_in(folder.path()), "{args:?}");
    }
}

#[test]
fn a_burst_outside_the_run_is_refused_with_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let configs = folder.path().join("configs");
    for (path, bytes) in bytes_under(&root().join("configs")) {
        let to = configs.join(&path);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let late = text.replace("start_s: 1200, length_s: 60", "start_s: 8690, length_s: 60");
        std::fs::write(to, late).unwrap();
    }
    let run = folder.path().join("run");
    let args = [&BURST[..], &["--configs", configs.to_str().unwrap()]].concat();
    let (code, said) = simulate(&args, &run);
    assert_eq!(code, Some(2));
    assert!(said.contains("paper.yaml") && said.contains("paired.burst"), "{said}");
    assert!(!run.exists());
}

#[test]
fn a_run_that_is_there_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    std::fs::create_dir(&run).unwrap();
    let (code, said) = simulate(&BURST, &run);
    assert_eq!(code, Some(2));
    assert!(said.contains("is there already"), "{said}");
    assert!(nothing_in(&run));
}

#[test]
fn a_disk_that_is_full_leaves_no_half_written_run() {
    // A limit on file size stands for it: a write fails in the middle of a table.
    let program = assert_cmd::cargo::cargo_bin("trapcheck");
    for form in ["parquet", "csv", "csv-zst"] {
        let folder = tempfile::tempdir().unwrap();
        let line = format!(
            "trap '' XFSZ; ulimit -f 100; exec {} simulate {} --tables {form} --out {}",
            program.display(),
            BURST.join(" "),
            folder.path().join("run").display()
        );
        let output = Command::new("sh").args(["-c", &line]).current_dir(root()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains("cannot write"), "{}", stderr(&output));
        assert!(nothing_in(folder.path()), "{form}");
    }
}

#[test]
fn a_cell_simulated_with_another_workload_is_judged_by_the_models_rates_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let other =
        ["--cell", "sglang-300k", "--workload", "mirror", "--arm", "burst", "--rate", "1.6"];
    let (code, said) = simulate(&[&other[..], &["--tables", "csv"]].concat(), &run);
    assert_eq!(code, Some(0), "{said}");
    let meta = std::fs::read_to_string(run.join("meta.json")).unwrap();
    let meta: serde_json::Value = serde_json::from_str(&meta).unwrap();
    assert_eq!(meta["cell"], "sglang-300k+mirror");
    let model = ["--cell", "sglang-300k", "--workload", "mirror", "--rho", "1.6"];
    let model = [&["model", "trap", "--format", "json"], &model[..]].concat();
    let model = stdout(&trapcheck(&model).output().unwrap());
    let model: serde_json::Value = serde_json::from_str(&model).unwrap();
    let rows = model["model_trap"].as_array().unwrap();
    let arrivals = rows.iter().find(|row| row["quantity"] == "arrivals");
    let lambda = arrivals.and_then(|row| row["value"].as_f64());
    let ratio = meta["rate"]["lambda"].as_f64().unwrap() / lambda.unwrap();
    assert!((ratio - 1.0).abs() < 1e-9, "{ratio} of {model}");
    let scored = trapcheck(&["score", run.to_str().unwrap()]).output().unwrap();
    let scored = stdout(&scored);
    assert!(scored.contains("TRAPPED") && scored.contains("published rule"), "{scored}");
}

#[test]
fn a_cells_own_workload_by_name_is_the_same_run_and_one_that_is_not_there_is_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let [own, named] = ["a", "b"].map(|name| folder.path().join(name).join("run"));
    assert_eq!(simulate(&BURST, &own).0, Some(0));
    assert_eq!(simulate(&[&BURST[..], &["--workload", "standard"]].concat(), &named).0, Some(0));
    assert!(bytes_under(&own) == bytes_under(&named));
    let nowhere = folder.path().join("c");
    let (code, said) = simulate(&[&BURST[..], &["--workload", "miror"]].concat(), &nowhere);
    assert_eq!(code, Some(2));
    assert!(said.contains("no workload miror") && said.contains("mirror"), "{said}");
    assert!(!nowhere.exists());
}
