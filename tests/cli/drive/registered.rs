//! `trapcheck drive --registered`, where the load average is what a test says it is: each run
//! of the program has a `/proc/loadavg` of its own, in a namespace of its own.

use std::fs;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{Lab, said, signal};
use crate::fake::{Fake, Manner};
use crate::project::{stderr, stdout, trapcheck};

const REGISTRATION: &str = "
name: two
status: FILLED
cell: small
lambda_ref_per_s: 5.0
all_miss_tokens_per_s: 7683.0
rates: [1.0]
cap: 2
seeds: [0]
test: { kind: paired }
sources: { rates: chosen }
";

const DRIVE: [&str; 6] =
    ["--registered", "configs/registrations/two.yaml", "--sample", "0.5", "--out", "runs"];

const FIRST: &str = "runs/pair/agentload_noburst/pair_small_noburst_x1_s0";
const SECOND: &str = "runs/pair/agentload_burst/pair_small_burst_x1_s0";

/// A configuration with a registration and the campaign of its name.
fn lab() -> Lab {
    let lab = Lab::new(4.0);
    let campaign = super::CAMPAIGN.replace("cell: small,", "cell: small, registration: two,");
    fs::write(lab.at("configs/campaigns/two.yaml"), campaign).unwrap();
    fs::write(lab.at("configs/registrations/two.yaml"), REGISTRATION).unwrap();
    lab
}

impl Lab {
    fn load(&self, load: &str) {
        fs::write(self.at("loadavg"), format!("{load} {load} {load} 1/99 99\n")).unwrap();
    }

    /// The registered runs, on a machine of the load that was said.
    fn registered(&self, fake: &Fake) -> Command {
        let program = assert_cmd::cargo::cargo_bin("trapcheck");
        let mut command = Command::new("unshare");
        command.args([
            "-rm",
            "sh",
            "-c",
            "mount --bind loadavg /proc/loadavg && exec \"$0\" \"$@\"",
        ]);
        command.arg(program).args(["drive", "--url", &fake.url]).args(DRIVE);
        command.current_dir(self.0.path());
        command
    }
}

/// Whether a test may say what the load is.
fn has_namespaces() -> bool {
    let lab = lab();
    lab.load("0.25");
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", "mount --bind loadavg /proc/loadavg && cat /proc/loadavg"]);
    let said = command.current_dir(lab.0.path()).output();
    let is_said = said.is_ok_and(|output| stdout(&output).starts_with("0.25 "));
    if !is_said {
        println!("skipped: no namespace can be had here (unshare -rm)");
    }
    is_said
}

/// What it says up to a line with `words`.
fn said_up_to(child: &mut Child, words: &str) -> String {
    let (mut text, mut byte) = (String::new(), [0]);
    let stderr = child.stderr.as_mut().unwrap();
    while !text.contains(words) {
        assert!(stderr.read(&mut byte).unwrap() > 0, "it ended: {text}");
        text.push(byte[0].into());
    }
    text
}

/// Asks it to end; its exit code, and how long it took.
fn stopped(mut child: Child) -> (Option<i32>, String, Duration) {
    let since = Instant::now();
    signal(&child, "-TERM");
    let code = child.wait().unwrap().code();
    let took = since.elapsed();
    let mut rest = String::new();
    child.stderr.unwrap().read_to_string(&mut rest).unwrap();
    (code, rest, took)
}

#[test]
fn registered_runs_are_made_one_after_another_stopped_and_gone_on_with() {
    if !has_namespaces() {
        return;
    }
    let (lab, fake) = (lab(), Fake::start(Manner::vllm()));
    lab.load("0.01");
    let mut child = lab.registered(&fake).stderr(Stdio::piped()).spawn().unwrap();
    said_up_to(&mut child, "/4 s: ");
    // The machine is busy by the time that the second run is to begin.
    lab.load("99.00");
    let told = said_up_to(&mut child, "per processor)");
    let why = "waiting for the machine to come to rest: load average 99.00, expected at most ";
    assert!(told.contains(why), "{told}");
    let (code, told, took) = stopped(child);
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("stopped before pair_small_burst_x1_s0 began"), "{told}");
    assert!(took < Duration::from_secs(3), "{took:?}");
    assert!(!lab.at(SECOND).exists());
    let meta = lab.meta(FIRST);
    let hash = trapcheck_setup::hash::sha256_hex(REGISTRATION.as_bytes());
    assert_eq!(meta["status"], "completed");
    assert_eq!(meta["registration"]["sha256"], hash);
    // What else the machine did: at the start there is nothing before it.
    let machine = meta["client"]["machine"].as_array().unwrap();
    assert_eq!(machine.len(), 2, "{machine:?}");
    assert_eq!((&machine[0]["load_1"], &machine[1]["load_1"]), (&0.01.into(), &99.0.into()));
    assert!(machine[0]["stolen_share"].is_null());
    let stolen = machine[1]["stolen_share"].as_f64();
    assert!(stolen.is_none_or(|share| (0.0..=1.0).contains(&share)), "{machine:?}");
    // Nothing is begun on a machine that is busy from the start.
    let output = lab.registered(&fake).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    let why = "the machine is busy: load average 99.00, expected at most ";
    assert!(stderr(&output).contains(why), "{}", said(&output));
    assert!(!lab.at(SECOND).exists());
    // At rest the second is made, and stopped; then it is kept, and made again.
    lab.load("0.02");
    let mut child = lab.registered(&fake).stderr(Stdio::piped()).spawn().unwrap();
    said_up_to(&mut child, "/4 s: ");
    let (code, told, _) = stopped(child);
    assert_eq!(code, Some(1), "{told}");
    assert_eq!(lab.meta(SECOND)["client"]["ended"], "stopped");
    let output = lab.registered(&fake).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let told = stderr(&output);
    assert!(told.contains("there already: ") && told.contains("not to its end: "), "{told}");
    assert_eq!(lab.meta(SECOND)["client"]["ended"], "horizon");
    assert_eq!(lab.inspect("runs").0, Some(0));
    // They are bound to the registration's bytes, and judged by it.
    let verdict = lab.trapcheck(&["verdict", "two", "runs", "--format", "csv"]).output().unwrap();
    assert_eq!(stdout(&verdict).matches(",bound to two,").count(), 2, "{}", said(&verdict));
}

#[test]
fn what_waits_for_an_engine_that_is_busy_ends_at_once_with_nothing_begun() {
    let manner = Manner { busy_s: 600.0, ..Manner::vllm() };
    let (lab, fake) = (Lab::new(4.0), Fake::start(manner));
    let mut command = lab.drive(&fake, &["--arm", "burst"]);
    let child = command.stderr(Stdio::piped()).spawn().unwrap();
    let since = Instant::now();
    // The first page is looked at for what the engine is, the others for whether it is idle.
    while fake.seen().iter().filter(|seen| seen.path == "/metrics").count() < 3 {
        assert!(since.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
    }
    let (code, told, took) = stopped(child);
    assert_eq!((code, told.as_str()), (Some(1), "stopped before run began\n"));
    assert!(took < Duration::from_secs(3), "{took:?}");
    assert!(!lab.at("run").exists());
    assert!(fake.seen().iter().all(|seen| seen.prompt.is_empty()), "not even the canary");
}

#[test]
fn a_registrations_runs_are_listed_from_the_campaign_of_its_name_in_its_folder() {
    let list = ["drive", "--url", "http://127.0.0.1:1", "--out", "nowhere", "--list"];
    let registered = ["--registered", "configs/registrations/vllm-cpu-2.yaml"];
    let output = trapcheck(&[&list[..], &registered].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(stdout(&output).matches("missing  ").count(), 42, "{}", said(&output));
    let lab = lab();
    fs::rename(lab.at("configs"), lab.at("mine")).unwrap();
    let registered = ["--configs", "mine", "--registered", "mine/registrations/two.yaml"];
    let output = lab.trapcheck(&[&list[..], &registered].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(stdout(&output).matches("missing  ").count(), 2, "{}", said(&output));
}
