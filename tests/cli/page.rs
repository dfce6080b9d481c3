//! The page's wasm, as it is committed, against the program: the same answers, to the bit.

use std::path::Path;
use std::process::Command;

/// The modules, and what each may weigh at most, and behind gzip, bytes.
const MODULES: [&str; 3] = ["trapcheck", "runs", "logs"];
const MOST: usize = 1_000_000;
const MOST_PACKED: usize = 400_000;

/// Runs Node; `None` where there is none, which is said.
fn node(args: &[&str]) -> Option<(bool, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let Ok(output) = Command::new("node").args(args).current_dir(root).output() else {
        eprintln!("skipped: no node here to run the page's wasm");
        return None;
    };
    let said = [output.stdout, output.stderr].concat();
    Some((output.status.success(), String::from_utf8_lossy(&said).into_owned()))
}

#[test]
fn the_committed_wasm_answers_random_questions_as_the_program_does() {
    let program = env!("CARGO_BIN_EXE_trapcheck");
    let args = ["tests/page/answers.mjs", "--bin", program, "--questions", "312", "--seed", "17"];
    let Some((same, said)) = node(&args) else { return };
    assert!(same, "{said}\nIf the program changed on purpose, build the wasm again: page/build.sh");
    assert!(said.contains("312 questions, 0 differ"), "{said}");
    let of_model = ["trap", "rescue", "cut", "stop", "curve", "burst"];
    let others = ["knee", "simulate", "time_scales", "judge", "lists"];
    for ask in of_model.into_iter().chain(others) {
        assert!(said.contains(&format!("{ask} answered")), "no {ask} in {said}");
    }
}

#[test]
fn the_committed_wasm_is_what_is_said_of_it_and_grows_no_further() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("page");
    // Each is more than a first view may weigh: a page asks for them afterwards.
    for module in MODULES {
        let wasm = std::fs::read(page.join(format!("{module}.wasm"))).unwrap();
        let about = std::fs::read_to_string(page.join(format!("{module}.wasm.txt"))).unwrap();
        let of = |what: &str| about.lines().find_map(|l| l.strip_prefix(what)).unwrap().trim();
        let packed: usize = of("gzip -9 ").parse().unwrap();
        assert!(wasm.len() < MOST && packed < MOST_PACKED, "{module}: {about}");
        assert_eq!(of("bytes "), wasm.len().to_string());
        assert_eq!(of("sha256 "), trapcheck_setup::hash::sha256_hex(&wasm));
        assert!(of("compiler ").starts_with("rustc "));
    }
}
