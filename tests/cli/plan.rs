//! `trapcheck plan`.

use sha2::{Digest, Sha256};

use crate::project::{root, stderr, stdout, trapcheck};

const BURST: [&str; 7] = ["plan", "--cell", "sglang-300k", "--arm", "burst", "--rate", "1.65"];

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

#[test]
fn the_plan_on_stdout_has_the_hash_that_its_explanation_gives() {
    let text = trapcheck(&[&BURST[..], &["--out", "-"]].concat()).output().unwrap().stdout;
    let said = stdout(&trapcheck(&BURST).output().unwrap());
    assert!(said.starts_with(&format!("SHA-256 {}\n", hex(&text))), "{said}");
    assert!(said.contains("burst: 200 sessions in [1200.0, "), "{said}");
    assert!(said.contains("nominal rate 0.118031 sessions/s"), "{said}");
}

#[test]
fn a_plan_is_the_same_bytes_wherever_it_is_drawn() {
    // The first lines of the plan of seed 0, as every machine must draw them.
    let text = trapcheck(&[&BURST[..], &["--out", "-"]].concat()).output().unwrap().stdout;
    assert_eq!(hex(&text), "773a402a270be29e889f5e25a111614612cbfce6345c371b3f26ebe8d09cb5b8");
}

#[test]
fn an_arm_that_lacks_a_value_or_has_one_too_many_says_which() {
    let refused = |args: &[&str]| {
        let output = trapcheck(&[&["plan", "--cell", "sglang-300k"], args].concat()).output();
        let output = output.unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        stderr(&output)
    };
    assert!(refused(&["--arm", "capped", "--rate", "1.5"]).contains("needs --cap"));
    let idle = refused(&["--arm", "noburst", "--cap", "3", "--rate", "1.5"]);
    assert!(idle.contains("--cap says nothing about this arm"), "{idle}");
    assert!(refused(&["--arm", "burst"]).contains("expected an arrival rate"));
    let closed = refused(&["--arm", "closed", "--population", "4", "--rate", "1"]);
    assert!(closed.contains("no arrival rate"), "{closed}");
}

/// SHA-256 of the list of the predictions' hashes, as it was frozen.
const FROZEN: &str = "f0c11e834996184abaaad38274b8a5c3cf78a123e9a9feb0e9d8caa439c68fff";

#[test]
fn the_plans_of_the_registered_runs_are_those_that_were_frozen() {
    let folder = root().join("predictions/vllm-cpu-2");
    let sums = std::fs::read(folder.join("SHA256SUMS")).unwrap();
    assert_eq!(hex(&sums), FROZEN);
    let sums = String::from_utf8(sums).unwrap();
    for (hash, name) in sums.lines().map(|line| line.split_once("  ").unwrap()) {
        assert_eq!(hex(&std::fs::read(folder.join(name)).unwrap()), hash, "{name}");
    }
    let plans = std::fs::read_to_string(folder.join("plans.sha256")).unwrap();
    assert_eq!(plans.lines().count(), 42);
    for (hash, run) in plans.lines().map(|line| line.split_once("  ").unwrap()) {
        let [_, cell, arm, rate, seed] = run.split('_').collect::<Vec<_>>()[..] else {
            panic!("{run}")
        };
        let arm: &[&str] = match arm {
            "capped20" => &["capped", "--cap", "20"],
            "rescue20-at150" => &["rescue", "--cap", "20", "--from", "150"],
            arm => &[arm],
        };
        let of_run = ["--rate", &rate[1..], "--seed", &seed[1..], "--out", "-"];
        let args = [&["plan", "--cell", cell, "--arm"], arm, &of_run].concat();
        let output = trapcheck(&args).output().unwrap();
        assert_eq!(hex(&output.stdout), hash, "{run}: {}", stderr(&output));
    }
}
