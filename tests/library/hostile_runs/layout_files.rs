//! Layouts that say what cannot be: each is refused when it is read, before any run is.

use std::fs;
use std::path::Path;

use trapcheck::setup::{ConfigError, Layout};

fn committed(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(root.join(format!("configs/layouts/{name}.yaml"))).expect("a text")
}

fn read(text: &str) -> Result<Layout, ConfigError> {
    let folder = tempfile::TempDir::new().expect("a temporary directory");
    let path = folder.path().join("cluster-csv.yaml");
    fs::write(&path, text).expect("writable");
    trapcheck::configs::layout(&path)
}

/// What is said about the cluster's layout with one place changed.
#[track_caller]
fn refused(from: &str, to: &str) -> ConfigError {
    let text = committed("cluster-csv");
    assert!(text.contains(from), "{from:?} is in the layout");
    let error = read(&text.replacen(from, to, 1)).expect_err("it is refused");
    assert!(error.path.ends_with("cluster-csv.yaml"));
    error
}

#[track_caller]
fn says(error: &ConfigError, words: &[&str]) {
    for word in words {
        assert!(error.message.contains(word), "{word:?} is not in: {error}");
    }
}

#[test]
fn the_committed_layouts_are_sound() {
    for name in ["cluster-csv", "frames", "lab-summary"] {
        assert_eq!(read(&committed(name)).map(|l| l.name).expect("sound"), name);
    }
}

#[test]
fn what_the_parser_sees_is_named_by_line() {
    for (from, to, words) in [
        ("about:", "abuot:", "unknown field `abuot`"),
        (
            "unit: ms, absolute: true}",
            "unit: minutes, absolute: true}",
            "unknown word `minutes`, expected one of `s`, `ms`, `us`, `ns`",
        ),
        ("unit: ms, absolute: true}", "units: ms, absolute: true}", "unknown field `units`"),
        (
            "      session: conversation",
            "      session: conversation\n      session: stream",
            "duplicate",
        ),
        ("  gate:\n", "  gates:\n", "unknown word `gates`"),
        ("others: keep", "others: drop", "unknown word `drop`"),
        ("seed: experiment.seed", "seed: 7", "expected a name of theirs, or a map"),
    ] {
        let error = refused(from, to);
        says(&error, &[words]);
        assert!(error.line.is_some(), "{error}");
    }
}

#[test]
fn what_format_1_does_not_have_or_needs_is_named() {
    for (from, to, words) in [
        ("      turn: {", "      number: {", ["tables.turns.columns", "no number here"]),
        (
            "      turn: {from: round, add: 1}\n",
            "",
            ["tables.turns.columns", "nothing answers turn"],
        ),
        ("      pauses: holds\n", "", ["tables.sessions.columns", "nothing answers pauses"]),
        ("  seed: experiment.seed\n", "", ["meta", "nothing answers seed"]),
        ("  seed: exp", "  sead: exp", ["meta", "no sead here"]),
    ] {
        says(&refused(from, to), &words);
    }
    let text = committed("cluster-csv");
    let (before, turns) = text.split_once("  turns:\n").expect("there");
    let (_, after) = turns.split_once("  sessions:\n").expect("there");
    let error = read(&format!("{before}  sessions:\n{after}")).expect_err("refused");
    says(&error, &["format 1 needs a turns table"]);
}

#[test]
fn a_conversion_that_makes_no_sense_is_refused() {
    for (from, to, words) in [
        (
            "{background: base",
            "{background: bsae",
            "expected one of base, burst, subagent, found \"bsae\"",
        ),
        ("prompt_tokens: prompt\n", "prompt_tokens: {from: prompt, unit: ms}\n", "it is no time"),
        (
            "session: conversation\n",
            "session: {from: conversation, factor: 2}\n",
            "it is no number",
        ),
        (
            "session: conversation\n",
            "session: {from: conversation, plus: [round]}\n",
            "it is no number",
        ),
        (
            "tool_s: {from: think_ms, unit: ms}",
            "tool_s: {from: think_ms, absolute: true}",
            "no point in time",
        ),
        (
            "tool_s: {from: think_ms, unit: ms}",
            "tool_s: {from: think_ms, unit: ms, factor: 2}",
            "a unit or a factor",
        ),
        (
            "tool_s: {from: think_ms, unit: ms}",
            "tool_s: {from: think_ms, factor: 0}",
            "a positive factor",
        ),
        ("tool_s: {from: think_ms, unit: ms}", "tool_s: {unit: ms}", "expected from"),
        (
            "tool_s: {from: think_ms, unit: ms}",
            "tool_s: {constant: 1, unit: ms}",
            "no other key beside it",
        ),
        (
            "tool_s: {from: think_ms, unit: ms}",
            "tool_s: {constant: long}",
            "expected a number, found \"long\"",
        ),
        ("separator: \"|\"", "separator: \"\"", "a separator is"),
        ("separator: \"|\", ", "", "expected their separator"),
        (
            "status: {from: outcome, values: {\"200\": ok, open: unfinished_at_horizon}, others: keep}",
            "status: {from: outcome, others: keep}",
            "others: expected values",
        ),
        (
            "source: {constant: engine}",
            "source: {constant: cluster}",
            "expected one of engine, simulator",
        ),
        ("{\"on\": true", "{\"on\": yes", "expected true or false, found \"yes\""),
        ("origin: {from: clock.start_ms, unit: ms}\n", "", "needs the layout's origin"),
        (
            "origin: {from: clock.start_ms, unit: ms}",
            "origin: {from: clock.start_ms, absolute: true}",
            "no point in time",
        ),
        ("file: requests", "file: ../requests", "a file of the run's folder"),
        ("file: requests", "file: /requests", "a file of the run's folder"),
        ("file: gauges_*", "file: \"*_*\"", "at most one *"),
        ("metadata: run_info.json", "metadata: info/run.json", "expected a file's name"),
        ("about: An", "about: \"\"\n# An", "about: expected a sentence"),
    ] {
        says(&refused(from, to), &[words]);
    }
}
