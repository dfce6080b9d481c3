//! `trapcheck campaign`: every run once, whole or not at all.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use trapcheck::directory::{LoadOptions, find_runs};

use crate::project::{bytes_under, root, stderr, stdout, trapcheck};

const FILE: &str = "configs/campaigns/paper.yaml";

/// Runs it and gives its exit code and what it printed.
fn campaign(out: &Path, args: &[&str]) -> (Option<i32>, String) {
    let out = out.to_str().unwrap();
    let output = trapcheck(&[&["campaign", FILE, "--out", out], args].concat()).output().unwrap();
    (output.status.code(), stdout(&output) + &stderr(&output))
}

const BASIN: [&str; 4] = ["--only", "basin-1", "--only", "basin-2"];

#[test]
fn a_killed_campaign_leaves_whole_runs_and_the_same_command_makes_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let (killed, whole) = (folder.path().join("killed"), folder.path().join("whole"));
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("trapcheck"))
        .args(["campaign", FILE, "--out", killed.to_str().unwrap()])
        .args(BASIN)
        .current_dir(root())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while find_runs(&[&killed]).runs.is_empty() && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(1));
    }
    // SIGKILL: nothing can be tidied up.
    child.kill().unwrap();
    child.wait().unwrap();
    let left = find_runs(&[&killed]);
    assert!(!left.runs.is_empty() && left.runs.len() < 15, "{} runs", left.runs.len());
    assert!(left.problems.is_empty(), "{:?}", left.problems);
    for dir in &left.runs {
        trapcheck::directory::load(dir, &LoadOptions::default()).unwrap();
    }
    let (code, said) = campaign(&killed, &BASIN);
    assert_eq!(code, Some(0), "{said}");
    let there = left.runs.len();
    let counted = format!("{} runs made, {there} were there, 0 differ, 0 failed", 15 - there);
    assert!(said.contains(&counted), "{said}");
    assert_eq!(campaign(&whole, &BASIN).0, Some(0));
    assert!(bytes_under(&killed) == bytes_under(&whole), "a resumed campaign differs");
}

#[test]
fn the_bytes_do_not_depend_on_the_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let made = |threads: &str| {
        let out = folder.path().join(threads);
        let args = ["campaign", FILE, "--only", "shed", "--out", out.to_str().unwrap()];
        let mut command = trapcheck(&args);
        command.env("RAYON_NUM_THREADS", threads).assert().success();
        bytes_under(&out)
    };
    let one = made("1");
    assert_eq!(one.len(), 4 * 6);
    assert!(one == made("4"));
}

#[test]
fn what_is_pinned_is_what_is_made_here() {
    // The committed pins cover runs that are not committed: these are made afresh.
    let folder = tempfile::tempdir().unwrap();
    let pins = root().join("results/sim/SHA256SUMS");
    fs::copy(&pins, folder.path().join("SHA256SUMS")).unwrap();
    let (code, said) = campaign(folder.path(), &["--only", "lpm-inf", "--only", "toolslow-d15"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("6 runs made"), "{said}");
    let run = find_runs(&[folder.path()]).runs.remove(0);
    let relative = run.strip_prefix(folder.path()).unwrap().display().to_string();
    assert!(fs::read_to_string(&pins).unwrap().contains(&relative));
    flip_a_byte(&run.join("turns.csv.zst"));
    let (code, said) = campaign(folder.path(), &["--only", "lpm-inf"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains(&format!("{relative}/turns.csv.zst: SHA-256 is")), "{said}");
}

fn flip_a_byte(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, bytes).unwrap();
}

#[test]
fn pins_are_what_sha256sum_checks() {
    let folder = tempfile::tempdir().unwrap();
    let (code, said) = campaign(folder.path(), &["--only", "cut-b", "--pin"]);
    assert_eq!(code, Some(0), "{said}");
    let check = || {
        let mut command = Command::new("sha256sum");
        command.args(["--check", "--quiet", "SHA256SUMS"]).current_dir(folder.path());
        command.output().unwrap().status.success()
    };
    assert!(check());
    let run = find_runs(&[folder.path()]).runs.remove(0);
    flip_a_byte(&run.join("plan.csv.zst"));
    assert!(!check());
}

#[test]
fn a_run_made_from_other_values_is_left_alone_until_told_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let only = ["--only", "cut-a"];
    assert_eq!(campaign(folder.path(), &only).0, Some(0));
    let config = find_runs(&[folder.path()]).runs.remove(0).join("config.yaml");
    let text = fs::read_to_string(&config).unwrap();
    let other = text.replace("seed: 0", "seed: 7");
    assert_ne!(text, other);
    fs::write(&config, &other).unwrap();
    let (code, said) = campaign(folder.path(), &only);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("differs: ") && said.contains("2 were there, 1 differ"), "{said}");
    assert_eq!(fs::read_to_string(&config).unwrap(), other);
    let (code, said) = campaign(folder.path(), &["--only", "cut-a", "--replace"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(fs::read_to_string(&config).unwrap(), text);
}

#[test]
fn status_counts_what_is_made_and_says_by_its_code_whether_that_is_all() {
    let folder = tempfile::tempdir().unwrap();
    let ask = || campaign(folder.path(), &["--only", "shed", "--status", "--format", "csv"]);
    assert_eq!(ask().0, Some(1));
    assert!(ask().1.contains("shed,4,0,0\n"), "{}", ask().1);
    assert_eq!(campaign(folder.path(), &["--only", "shed"]).0, Some(0));
    assert_eq!(ask().0, Some(0));
    assert!(ask().1.contains("shed,0,4,0\n"), "{}", ask().1);
}

#[test]
fn the_committed_runs_are_made_from_the_campaigns_values() {
    let (_, said) = campaign(&root().join("results/sim"), &["--only", "paired", "--status"]);
    assert!(said.contains("90 of 90 runs are made"), "{said}");
}

#[test]
fn a_name_that_there_is_not_is_answered_with_those_there_are() {
    let folder = tempfile::tempdir().unwrap();
    let (code, said) = campaign(folder.path(), &["--only", "e3"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("no test e3; there are: stage-c"), "{said}");
    let (code, said) = campaign(folder.path(), &["--run", "e3"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("no run e3"), "{said}");
}

/// A campaign file of one test.
fn one_test(folder: &Path, cell: &str, arm: &str) -> PathBuf {
    let path = folder.join("one.yaml");
    let text = format!(
        "name: one\ntests:\n- {{ test: t, place: p, cell: {cell}, arms: [{arm}], multiples: [1.5], seeds: [0] }}\n"
    );
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn a_campaign_with_one_bad_run_makes_none() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        ("sglang-300k", "{ arm: capped, cap: 0 }", "cap: expected at least 1"),
        ("sglang-300k", "{ arm: rescue, cap: 20, engage_s: 9000 }", "outside the run"),
        (
            "nowhere",
            "{ arm: burst }",
            "test t: no cell nowhere in configs/cells; there are: agents-native, h200",
        ),
    ];
    for (cell, arm, why) in cases {
        let file = one_test(folder.path(), cell, arm);
        let out = folder.path().join("out");
        let args = ["campaign", file.to_str().unwrap(), "--out", out.to_str().unwrap()];
        let output = trapcheck(&args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{cell}");
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
        assert!(!out.exists(), "{cell}");
    }
}

#[test]
fn a_disk_that_fills_ends_with_2_and_leaves_only_whole_runs() {
    let folder = tempfile::tempdir().unwrap();
    let line = format!(
        "trap '' XFSZ; ulimit -f 100; exec {} campaign {FILE} --only shed --out {}",
        assert_cmd::cargo::cargo_bin("trapcheck").display(),
        folder.path().display()
    );
    let output = Command::new("sh").args(["-c", &line]).current_dir(root()).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("0 runs made, 0 were there, 0 differ, 4 failed"));
    assert!(bytes_under(folder.path()).is_empty());
}

#[test]
fn a_job_array_holds_the_missing_runs_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let (out, jobs) = (folder.path().join("out"), folder.path().join("jobs"));
    let run = "shed_sglang-300k_shed600_x1.35_s1";
    assert_eq!(campaign(&out, &["--run", run]).0, Some(0));
    let slurm = ["--only", "shed", "--slurm", jobs.to_str().unwrap()];
    assert_eq!(campaign(&out, &slurm).0, Some(0));
    let script = fs::read_to_string(jobs.join("campaign.sbatch")).unwrap();
    assert!(script.contains("#SBATCH --array=0-2\n"), "{script}");
    assert!(!script.contains(run), "{script}");
    // A task is the script with its number: no cluster is needed to run one.
    let task = |number: &str| {
        let mut bash = Command::new("bash");
        bash.arg(jobs.join("campaign.sbatch")).env("SLURM_ARRAY_TASK_ID", number);
        bash.output().unwrap().status.success()
    };
    assert!(["0", "1", "2"].into_iter().all(task));
    let (code, said) = campaign(&out, &["--only", "shed", "--status"]);
    assert_eq!(code, Some(0), "{said}");
    let (_, said) = campaign(&out, &slurm);
    assert!(said.contains("nothing to submit"), "{said}");
}

#[test]
fn two_processes_at_once_make_whole_runs_and_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let both: Vec<_> = (0..2)
        .map(|_| {
            Command::new(assert_cmd::cargo::cargo_bin("trapcheck"))
                .args(["campaign", FILE, "--only", "mirror-burst", "--out"])
                .arg(folder.path())
                .current_dir(root())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in both {
        let output = child.wait_with_output().unwrap();
        let said = stderr(&output);
        // A run that the other one is writing is reported, and nothing else may fail.
        let fine = |line: &str| {
            !line.starts_with("failed: ") || line.contains("another process is writing this run")
        };
        assert!(said.lines().all(fine), "{said}");
    }
    assert_eq!(campaign(folder.path(), &["--only", "mirror-burst"]).0, Some(0));
    let found = find_runs(&[folder.path()]);
    assert_eq!(found.runs.len(), 6);
    assert!(
        found
            .runs
            .iter()
            .all(|dir| trapcheck::directory::load(dir, &LoadOptions::default()).is_ok())
    );
    let left: Vec<_> = bytes_under(folder.path());
    assert!(left.iter().all(|(path, _)| !path.display().to_string().contains(".tmp")));
}
