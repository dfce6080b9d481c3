//! Which crates are compiled, by what Cargo says.

use std::collections::BTreeSet;
use std::process::Command;

/// Each crate with its version and features, over some kinds of dependencies.
fn compiled(edges: &str) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--workspace", "--locked", "--offline", "--prefix", "none"])
        .args(["--format", "{p} {f}", "--edges", edges])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect()
}

#[test]
fn the_tests_ask_no_crate_of_the_program_for_another_feature() {
    let (program, tests) = (compiled("normal,build"), compiled("normal,build,dev"));
    let twice: Vec<_> = program.difference(&tests).collect();
    assert!(
        twice.is_empty(),
        "compiled once for the program and once more for its tests, with all above them: {twice:#?}"
    );
}

#[test]
fn the_program_has_no_network_stack_but_a_plain_client() {
    let stacks = ["hyper ", "h2 ", "reqwest ", "rustls ", "openssl ", "object_store "];
    let there = compiled("normal,build");
    // What `drive` asks an engine with: HTTP/1.1 and nothing else.
    let plain = |name: &str| name.starts_with("hyper ") && name.ends_with(" client,default,http1");
    let found: Vec<_> = there
        .iter()
        .filter(|name| stacks.iter().any(|stack| name.starts_with(stack)) && !plain(name))
        .collect();
    assert!(found.is_empty(), "{found:#?}");
    assert!(there.iter().any(|name| name.starts_with("polars-sql ")), "names begin the lines");
}
