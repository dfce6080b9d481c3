//! `trapcheck plan`.

use sha2::{Digest, Sha256};

use crate::project::{stderr, stdout, trapcheck};

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
