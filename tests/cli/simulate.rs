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
