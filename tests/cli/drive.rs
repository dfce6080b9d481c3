//! `trapcheck drive` against a small engine: runs that end, that are stopped, that are killed.

mod recorded;
mod registered;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::fake::{Fake, Manner, Trouble, small};
use crate::project::{stderr, stdout, trapcheck};

const CAMPAIGN: &str = "
name: two
tables: csv
tests:
  - { test: pair, place: here, cell: small, arms: [{ arm: noburst }, { arm: burst }], multiples: [1.0], seeds: [0] }
";

/// A folder with a configuration of its own.
struct Lab(tempfile::TempDir);

impl Lab {
    fn new(horizon_s: f64) -> Self {
        let lab = Self(tempfile::tempdir().unwrap());
        for (file, text) in [
            ("configs/cells/small.yaml", small::cell("vllm", "0.32.0", 5.0)),
            ("configs/workloads/short.yaml", small::workload(0.2)),
            ("configs/protocols/brief.yaml", small::protocol(horizon_s, 1.0)),
            ("configs/campaigns/two.yaml", CAMPAIGN.into()),
        ] {
            let path = lab.at(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::create_dir_all(lab.at("configs/registrations")).unwrap();
        lab
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn trapcheck(&self, args: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("trapcheck"));
        command.args(args).current_dir(self.0.path());
        command
    }

    /// One run of the small cell.
    fn drive(&self, fake: &Fake, more: &[&str]) -> Command {
        let one =
            ["drive", "--url", &fake.url, "--cell", "small", "--rate", "1", "--sample", "0.5"];
        self.trapcheck(&[&one[..], &["--out", "run"], more].concat())
    }

    /// What `inspect` says of the runs in `folder`: exit code, table and notes.
    fn inspect(&self, folder: &str) -> (Option<i32>, String, String) {
        let output = self.trapcheck(&["inspect", "--notes", "--all", folder]).output().unwrap();
        (output.status.code(), stdout(&output), stderr(&output))
    }

    fn meta(&self, run: &str) -> serde_json::Value {
        let text = fs::read(self.at(run).join("meta.json")).unwrap();
        serde_json::from_slice(&text).unwrap()
    }
}

fn said(output: &Output) -> String {
    stdout(output) + &stderr(output)
}

/// Starts it and waits until some of its turns are written.
fn under_way(command: &mut Command, run: &Path) -> Child {
    let child = command.stderr(Stdio::piped()).spawn().unwrap();
    let sessions = run.join("sessions.csv");
    let since = Instant::now();
    let is_begun = || fs::read_to_string(&sessions).is_ok_and(|text| text.lines().count() > 1);
    while !is_begun() {
        assert!(since.elapsed() < Duration::from_secs(60), "nothing was written");
        sleep(Duration::from_millis(100));
    }
    child
}

fn signal(child: &Child, name: &str) {
    let kill = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
}

#[test]
fn a_driven_run_loads_without_a_problem_and_follows_its_plan() {
    let (lab, fake) = (Lab::new(4.0), Fake::start(Manner::vllm()));
    let output = lab.drive(&fake, &["--arm", "burst"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let told = stderr(&output);
    assert!(
        told.contains("wrote run: ") && told.contains(" 0 errors in 4 s (completed)"),
        "{told}"
    );
    assert!(told.contains("run 1/4 s: "), "a line for a log: {told}");
    let (code, table, notes) = lab.inspect("run");
    assert_eq!((code, notes.as_str()), (Some(0), ""), "{table}");
    assert!(table.contains("engine") && table.contains("burst"), "{table}");
    // It is there now, and stays as it is.
    let again = lab.drive(&fake, &["--arm", "burst"]).output().unwrap();
    assert_eq!(again.status.code(), Some(2));
    assert!(stderr(&again).contains("run is there already; a run is never overwritten"));
}

#[test]
fn an_interrupt_closes_the_run_and_a_campaign_goes_on_where_it_was() {
    let (lab, fake) = (Lab::new(30.0), Fake::start(Manner::vllm()));
    let args =
        ["drive", "--url", &fake.url, "--config", "configs/campaigns/two.yaml", "--out", "runs"];
    let run = "runs/pair/agentload_noburst/pair_small_noburst_x1_s0";
    let child = under_way(&mut lab.trapcheck(&args), &lab.at(run));
    // Heeded as an interrupt is, which whoever runs the tests may have set to be ignored.
    signal(&child, "-TERM");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let meta = lab.meta(run);
    assert_eq!(
        (&meta["status"], &meta["client"]["ended"]),
        (&"truncated".into(), &"stopped".into())
    );
    assert_eq!(lab.inspect("runs").0, Some(0));
    // A shorter protocol, so that the rest is made quickly; the run that was stopped is kept.
    fs::write(lab.at("configs/protocols/brief.yaml"), small::protocol(4.0, 1.0)).unwrap();
    let output = lab.trapcheck(&args).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(stderr(&output).contains("not to its end: "), "{}", said(&output));
    assert_eq!(lab.meta(run)["status"], "completed");
    let aside = "runs/pair/agentload_noburst/.unfinished-1-pair_small_noburst_x1_s0";
    assert_eq!(lab.meta(aside)["status"], "truncated");
    let output = lab.trapcheck(&args).output().unwrap();
    assert_eq!(stderr(&output).matches("there already: ").count(), 2, "{}", said(&output));
}

#[test]
fn a_run_that_is_killed_loads_as_truncated_and_says_so() {
    let (lab, fake) = (Lab::new(60.0), Fake::start(Manner::vllm()));
    let mut child = under_way(&mut lab.drive(&fake, &["--arm", "burst"]), &lab.at("run"));
    // While it is under way, too.
    let (code, _, notes) = lab.inspect("run");
    assert_eq!(code, Some(0), "{notes}");
    signal(&child, "-KILL");
    child.wait().unwrap();
    assert!(!lab.at("run/meta.json").exists() && lab.at("run/started.json").exists());
    // The end of a line that was being written.
    let turns = lab.at("run/turns.csv");
    let cut = fs::read_to_string(&turns).unwrap() + "3,base,1,0.1";
    fs::write(&turns, cut).unwrap();
    let (code, table, notes) = lab.inspect("run");
    assert_eq!(code, Some(0), "{table}{notes}");
    assert!(notes.contains("not closed by a meta.json"), "{notes}");
    assert!(notes.contains("truncated"), "{notes}");
}

#[test]
fn a_key_from_the_environment_is_in_no_file_and_on_no_screen() {
    const KEY: &str = "sk-0123456789abcdef";
    let (lab, fake) = (Lab::new(4.0), Fake::start(Manner::vllm().with(10, Trouble::Status(401))));
    let mut command =
        lab.drive(&fake, &["--arm", "noburst", "--api-key-env", "TRAPCHECK_TEST_KEY"]);
    let output = command.env("TRAPCHECK_TEST_KEY", KEY).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(!said(&output).contains(KEY));
    assert!(fake.seen().iter().any(|seen| seen.head.contains(KEY)));
    for (path, bytes) in crate::project::bytes_under(&lab.at("run")) {
        assert!(!String::from_utf8_lossy(&bytes).contains(KEY), "{}", path.display());
    }
    let lacking = lab.drive(&fake, &["--arm", "noburst", "--api-key-env", "TRAPCHECK_NONE"]);
    let output = { lacking }.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn what_cannot_be_driven_is_refused_before_anything_is_written() {
    let (lab, fake) = (Lab::new(4.0), Fake::start(Manner::vllm()));
    let refused = |args: &[&str], why: &str| {
        let output = lab.trapcheck(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", said(&output));
        assert!(stderr(&output).contains(why), "{args:?}: {}", said(&output));
        assert!(!lab.at("run").exists(), "{args:?}");
    };
    let one = |url: &'static str| {
        vec![
            "drive", "--url", url, "--cell", "small", "--arm", "burst", "--rate", "1", "--out",
            "run",
        ]
    };
    refused(&one("https://127.0.0.1:1"), "https is not spoken here");
    refused(&one("http://me:pw@127.0.0.1:1"), "--api-key-env");
    refused(&one("http://127.0.0.1:1"), "no connection: refused");
    let off = Fake::start(Manner { prefix_caching: false, ..Manner::vllm() });
    let args = [
        "drive", "--url", &off.url, "--cell", "small", "--arm", "burst", "--rate", "1", "--out",
        "run",
    ];
    refused(&args, "the engine has it off");
    let with = |more: &[&'static str]| -> Vec<String> {
        let base = ["drive", "--url", &fake.url, "--out", "run"];
        base.iter().chain(more).map(|word| (*word).to_owned()).collect()
    };
    for (more, why) in [
        (
            &["--cell", "small", "--arm", "burst", "--rate", "1", "--tokens", "5..9"][..],
            "at least 100 ids",
        ),
        (
            &["--cell", "small", "--arm", "capped", "--cap", "2", "--burst", "5", "--rate", "1"],
            "--burst says nothing about this arm",
        ),
        (&["--cell", "smal", "--arm", "burst", "--rate", "1"], "small"),
        (&["--config", "configs/campaigns/two.yaml", "--run", "x"], "no run"),
        (&["--registered", "configs/registrations/none.yaml"], "none.yaml"),
        (&[], "--config"),
    ] {
        let args = with(more);
        refused(&args.iter().map(String::as_str).collect::<Vec<_>>(), why);
    }
    assert_eq!(fake.connections(), 0, "nothing was asked of the engine");
}

#[test]
fn the_help_says_which_arm_may_have_a_burst_of_another_size() {
    let output = trapcheck(&["drive", "--help"]).output().unwrap();
    let help = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        help.contains("(burst only: a run of another arm keeps its protocol's number"),
        "{help}"
    );
}

#[test]
fn the_campaigns_of_the_small_engine_are_listed() {
    let listed = [
        ("vllm-cpu-calibrate", 1),
        ("vllm-cpu-trap", 3),
        ("vllm-cpu-trap-quick", 1),
        ("vllm-cpu-2", 42),
    ];
    for (campaign, runs) in listed {
        let file = format!("configs/campaigns/{campaign}.yaml");
        let args = [
            "drive",
            "--url",
            "http://127.0.0.1:1",
            "--config",
            &file,
            "--out",
            "nowhere",
            "--list",
        ];
        let output = trapcheck(&args).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        assert_eq!(stdout(&output).matches("missing").count(), runs, "{}", said(&output));
    }
}

/// Sessions of about twenty turns, most of which hit; RECOVERED is asked over the whole window.
fn long_sessions(lab: &Lab) {
    let workload = small::workload(0.5).replace("mean: 4, max: 8", "mean: 20, max: 40");
    fs::write(lab.at("configs/workloads/short.yaml"), workload).unwrap();
    let protocol = small::protocol(24.0, 6.0)
        .replace("window_s: [12.0, 24.0]\n  last_s: 6.0", "window_s: [4.0, 24.0]\n  last_s: 20.0");
    fs::write(lab.at("configs/protocols/brief.yaml"), protocol).unwrap();
}

#[test]
fn a_run_whose_state_is_decided_ends_early_and_is_scored_as_it_was_decided() {
    let (lab, fake) = (Lab::new(24.0), Fake::start(Manner::vllm()));
    long_sessions(&lab);
    let args = ["drive", "--url", &fake.url, "--cell", "small", "--rate", "0.15", "--out", "run"];
    let args = [&args[..], &["--arm", "noburst", "--stop-when-decided"]].concat();
    let output = lab.trapcheck(&args).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(stderr(&output).contains(" s (decided: RECOVERED);"), "{}", said(&output));
    let meta = lab.meta("run");
    assert_eq!(meta["status"], "truncated");
    assert_eq!(meta["client"]["ended"], "decided: RECOVERED");
    let ended_s = meta["duration_s"].as_f64().unwrap();
    assert!(ended_s > 12.0 && ended_s < 24.0, "{ended_s}");
    assert_eq!(lab.inspect("run").0, Some(0));
    // What is read back says the same, by the same rule, from the plan and the turns.
    let score = lab.trapcheck(&["score", "--format", "json", "run"]).output().unwrap();
    let score: serde_json::Value = serde_json::from_slice(&score.stdout).unwrap();
    assert_eq!(score["states"][0]["state"], "RECOVERED", "{score}");
    let text = stdout(&lab.trapcheck(&["score", "--wide", "run"]).output().unwrap());
    assert!(
        text.contains(&format!("decided at {ended_s:.1} s, before its window ended")),
        "{text}"
    );
    // Without its plan nothing bounds what was to come.
    fs::remove_file(lab.at("run/plan.csv")).unwrap();
    let text = stdout(&lab.trapcheck(&["score", "--wide", "run"]).output().unwrap());
    assert!(text.contains("UNMEASURABLE"), "{text}");
}

#[test]
fn a_campaign_goes_on_after_a_decided_run_and_does_not_make_it_again() {
    // The window ends at 4 s of 60.
    let (lab, fake) = (Lab::new(60.0), Fake::start(Manner::vllm()));
    let args = ["drive", "--url", &fake.url, "--config", "configs/campaigns/two.yaml"];
    let args = [&args[..], &["--out", "runs", "--stop-when-decided"]].concat();
    let output = lab.trapcheck(&args).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(stderr(&output).matches(" s (decided: ").count(), 2, "{}", said(&output));
    let run = "runs/pair/agentload_burst/pair_small_burst_x1_s0";
    let ended_s = lab.meta(run)["duration_s"].as_f64().unwrap();
    assert!((4.0..20.0).contains(&ended_s), "{ended_s}");
    let output = lab.trapcheck(&args).output().unwrap();
    assert_eq!(stderr(&output).matches("there already: ").count(), 2, "{}", said(&output));
}

#[test]
fn a_run_that_is_decided_after_its_window_is_judged_with_what_is_in_flight() {
    // Its turns hit, and 40 of them are under way when the window ends: that is not RECOVERED.
    let manner = Manner { answer_s: 2.0, ..Manner::vllm() };
    let (lab, fake) = (Lab::new(24.0), Fake::start(manner));
    fs::write(lab.at("configs/protocols/brief.yaml"), small::protocol(24.0, 3.0)).unwrap();
    let output = lab.drive(&fake, &["--arm", "noburst", "--stop-when-decided"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let meta = lab.meta("run");
    let ended_s = meta["duration_s"].as_f64().unwrap();
    assert!((12.0..20.0).contains(&ended_s), "{ended_s}");
    let score = lab.trapcheck(&["score", "--format", "json", "run"]).output().unwrap();
    let score: serde_json::Value = serde_json::from_slice(&score.stdout).unwrap();
    let state = score["states"][0]["state"].as_str().unwrap();
    assert_eq!(meta["client"]["ended"], format!("decided: {state}"), "{score}");
    assert_ne!(state, "RECOVERED", "{score}");
}

#[test]
fn no_run_is_ended_early_that_a_rule_looks_at_as_a_whole() {
    for (runs, why) in [
        (
            ["--registered", "configs/registrations/vllm-cpu-2.yaml"],
            "vllm-cpu-2-mechanism looks at the whole of the runs of vllm-cpu-2",
        ),
        (["--config", "configs/campaigns/vllm-cpu-calibrate.yaml"], "only a run of an open arm"),
    ] {
        let args = ["drive", "--url", "http://127.0.0.1:1", "--out", "nowhere"];
        let output = trapcheck(&[&args[..], &runs, &["--stop-when-decided"]].concat()).output();
        let output = output.unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(stderr(&output).contains(why), "{}", said(&output));
    }
}

/// Where `make engine` has built the engine; else `TRAPCHECK_ENGINE` may name its folder.
fn engine() -> Option<PathBuf> {
    let named = std::env::var_os("TRAPCHECK_ENGINE").map(PathBuf::from);
    let built = crate::project::root().join("engines/vllm-cpu/built");
    named.into_iter().chain([built]).find(|dir| dir.join("venv/bin/python").exists())
}

#[test]
fn a_burst_traps_the_real_engine_where_it_is_built() {
    let Some(engine) = engine() else {
        println!("skipped: no engine is built here (make engine)");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("runs");
    let script = crate::project::root().join("engines/vllm-cpu/trap.sh");
    let output = Command::new(script)
        .args([engine.as_path(), Path::new("vllm-cpu-trap-quick"), &out])
        .env("TRAPCHECK", assert_cmd::cargo::cargo_bin("trapcheck"))
        .env("PORT", "8399")
        .current_dir(crate::project::root())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let out = out.to_str().unwrap();
    let scored = stdout(&trapcheck(&["score", "--format", "csv", out]).output().unwrap());
    let mut lines = scored.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let place = lines.next().unwrap().iter().position(|name| *name == "stuck").unwrap();
    assert!(lines.all(|row| row[place] == "yes"), "{scored}");
}
