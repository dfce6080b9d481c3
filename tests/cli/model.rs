//! `trapcheck model`: what it prints, what it refuses, with which exit code.

mod edges;

use std::process::{Command, Output};

fn model(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_trapcheck"))
        .arg("model")
        .args(args)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap()
}

fn printed(args: &[&str]) -> String {
    let output = model(args);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// The value of a fact in a printed table.
fn fact(text: &str, quantity: &str) -> String {
    let line = text.lines().find(|line| line.trim_start().starts_with(quantity)).expect(quantity);
    let rest = line.trim_start().strip_prefix(quantity).unwrap();
    rest.split("  ").find(|part| !part.trim().is_empty()).unwrap().trim().to_owned()
}

fn refused(args: &[&str], message: &str) {
    let output = model(args);
    assert_eq!(output.status.code(), Some(2), "{args:?}");
    assert!(output.stdout.is_empty(), "{args:?}: stdout is data only");
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains(message), "{args:?}: {text}");
}

#[test]
fn a_load_above_capacity_is_trapped_and_says_how() {
    let text = printed(&["trap", "--cell", "sglang-300k", "--rate", "1.65"]);
    assert_eq!(fact(&text, "load rho"), "1.6430");
    assert_eq!(fact(&text, "mean served prompt"), "8606");
    assert_eq!(fact(&text, "completions over lambda_ref"), "1.228");
    assert!(text.contains("trapped: it never empties"));
    assert!(text.lines().count() <= 40, "one screen");
}

#[test]
fn a_load_below_capacity_drains_and_says_when() {
    let text = printed(&["trap", "--cell", "sglang-300k", "--rho", "0.5"]);
    assert_eq!(fact(&text, "all-miss queue"), "drains");
    let empty_s: f64 = fact(&text, "drains, empty at").parse().unwrap();
    // 200 sessions and the good state's, each 1/lambda_miss of work, at half load.
    assert!(empty_s > 1260.0 + 200.0 / 0.0718, "{empty_s}");
}

#[test]
fn the_same_load_in_three_units_gives_the_same_answer() {
    let by = |unit: &str, value: &str| {
        fact(
            &printed(&["trap", "--cell", "sglang-300k", unit, value]),
            "completions over lambda_ref",
        )
    };
    assert_eq!(by("--rate", "1.65"), by("--sessions-per-s", "0.1180311"));
    assert_eq!(by("--rate", "1.65"), by("--rho", "1.64297"));
}

#[test]
fn a_cell_can_be_given_by_flags_alone() {
    let flags = [
        "trap",
        "--fixed-s",
        "2",
        "--per-token-us",
        "0",
        "--mean-turns",
        "1",
        "--max-turns",
        "1",
        "--first-prompt",
        "1",
        "--tool-output",
        "0",
        "--decoded",
        "1",
        "--sessions-per-s",
        "0.75",
    ];
    let text = printed(&flags);
    assert_eq!(fact(&text, "Perron root z"), "1.500000");
    assert_eq!(fact(&text, "completions D"), "0.50000");
}

#[test]
fn flags_change_a_named_cell() {
    let text = printed(&["curve", "--cell", "sglang-300k", "--pool", "600000"]);
    assert_eq!(fact(&text, "all-miss onset n_b"), "61.17");
}

#[test]
fn a_cut_shows_the_corollary_and_its_fates() {
    let text = printed(&["cut", "--cell", "sglang-300k", "--rate", "1.65"]);
    for word in ["grows", "settles", "empties"] {
        assert!(text.lines().any(|line| line.split("  ").any(|cell| cell == word)), "{word}");
    }
    // Each fate's number stands in a column of its own unit.
    let csv = printed(&["cut", "--cell", "sglang-300k", "--rate", "1.65", "--format", "csv"]);
    assert!(csv.contains(",fate,empty_at,settles_at,grows_by,"), "{csv}");
    for row in csv.lines().filter(|row| row.contains(",settles,")) {
        let fields: Vec<&str> = row.split(',').collect();
        assert!(fields[3].is_empty() && !fields[4].is_empty() && fields[5].is_empty(), "{row}");
    }
    let to = printed(&[
        "cut",
        "--cell",
        "sglang-300k",
        "--rate",
        "1.65",
        "--at",
        "2400",
        "--to",
        "0.85",
    ]);
    assert!(to.contains("27101"), "{to}");
}

#[test]
fn a_stop_says_when_the_onset_is_reached_and_when_the_queue_is_empty() {
    let text = printed(&["stop", "--cell", "sglang-300k", "--rate", "1.35"]);
    assert_eq!(fact(&text, "backlog falls to the onset after"), "2015");
    assert_eq!(fact(&text, "queue empty after, V_tot"), "3184");
}

#[test]
fn a_rescue_lists_the_caps_between_the_fixed_points() {
    let text = printed(&["rescue", "--cell", "sglang-300k", "--rate", "1.65", "--cap", "10,20,32"]);
    assert_eq!(fact(&text, "rescuing caps, in sessions"), "11 to 31");
    let verdict = |cap: &str| {
        let line = text.lines().find(|line| line.trim_start().starts_with(cap)).unwrap().to_owned();
        line.split_whitespace().nth(2).unwrap().to_owned()
    };
    assert_eq!(
        (verdict("10 "), verdict("20 "), verdict("32 ")),
        ("no".into(), "yes".into(), "no".into())
    );
}

#[test]
fn json_holds_the_same_facts() {
    let text = printed(&["trap", "--cell", "sglang-300k", "--rate", "1.65", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let facts = json["model_trap"].as_array().unwrap();
    let rho = facts.iter().find(|fact| fact["quantity"] == "load rho").unwrap();
    let unrounded = rho["value"].as_f64().unwrap();
    assert!((unrounded - 1.643).abs() < 5e-5 && unrounded != 1.643, "{unrounded}");
    assert_eq!(json["format"], "trapcheck-model/1");
    assert!(json["model_turn_mix"].is_array());
}

#[test]
fn the_published_values_are_all_listed_and_every_text_row_holds() {
    let csv = printed(&["table", "--format", "csv"]);
    assert_eq!(csv.lines().count(), 385);
    assert_eq!(csv, printed(&["table", "--format", "csv"]), "same inputs, same bytes");
}

#[test]
fn a_text_row_that_does_not_hold_is_exit_code_1_and_a_misspelt_quantity_2() {
    let folder = std::env::temp_dir().join(format!("trapcheck-model-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let published = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("paper/published");
    for name in ["cells.yaml", "tables.yaml"] {
        std::fs::copy(published.join(name), folder.join(name)).unwrap();
    }
    let row = "meta: test\nentries: []\nmodel_values:\n  - {id: T1, value: 14.0, decimals: 0, \
               where: test, quantity: 'E[T]', cell: workload, basis: text, \
               asks: {for: {quantity: mean_turns, at: [{cell: sglang-300k}]}}}\n";
    let file = folder.join("numbers.yaml");
    let table = |row: &str| {
        std::fs::write(&file, row).unwrap();
        model(&["table", "--published", folder.to_str().unwrap()])
    };
    let missed = table(row);
    let misspelt = table(&row.replace("mean_turns", "mean_turn"));
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(missed.status.code(), Some(1));
    assert_eq!(misspelt.status.code(), Some(2));
    let message = String::from_utf8(misspelt.stderr).unwrap();
    assert!(message.contains("no quantity mean_turn; did you mean mean_turns?"), "{message}");
}

#[test]
fn every_table_of_the_theory_prints() {
    for show in ["traps", "from-empty", "corollary-3", "mirror", "windows", "crossings"] {
        let text = printed(&["table", "--show", show, "--format", "csv"]);
        assert!(text.lines().count() > 2, "{show}");
    }
}

#[test]
fn bad_input_is_refused_with_what_to_do() {
    let cell = ["--cell", "sglang-300k"];
    let on = |first: &[&'static str], rest: &[&'static str]| [first, &cell, rest].concat();
    refused(
        &["trap", "--cell", "nope", "--rate", "1"],
        "no cell nope in configs/cells; there are: agents-native, h200-300k",
    );
    refused(&on(&["trap"], &["--rate", "-1"]), "the arrival rate must be positive");
    refused(&on(&["trap"], &["--rate", "0"]), "the arrival rate must be positive");
    refused(&on(&["trap"], &["--rate", "nan"]), "the arrival rate must be positive");
    refused(&on(&["trap"], &[]), "required");
    refused(&["trap", "--rate", "1"], "give --cell NAME, or a cell by --fixed-s");
    refused(&on(&["trap"], &["--rate", "1", "--max-turns", "99999999"]), "a session must end");
    refused(&on(&["trap"], &["--rate", "1", "--mean-turns", "0.5"]), "expected at least 1 turn");
    refused(&on(&["trap"], &["--rate", "1", "--speed", "0"]), "speed.factor");
    refused(
        &on(&["trap"], &["--rate", "1", "--fixed-s", "-1", "--per-token-us", "0"]),
        "expected fixed_s and per_token_s at least 0",
    );
    refused(&on(&["curve"], &["--fixed-s", "1", "--per-token-us", "0"]), "needs iteration costs");
    refused(&on(&["curve"], &["--population", "-5"]), "population (sessions)");
    refused(&on(&["curve"], &["--from-empty", "0"]), "length of a from-empty run");
    refused(&on(&["curve"], &["--a-s", "0.01", "--fixed-s", "1"]), "cannot be used with");
    refused(&on(&["burst"], &["--rate", "1.65", "--sessions", "0"]), "burst (sessions)");
    refused(&on(&["burst"], &["--rate", "0.5"]), "below the all-miss capacity no burst");
    refused(&on(&["rescue"], &["--rate", "1.65", "--backlog", "nan"]), "backlog (sessions)");
    refused(&on(&["rescue"], &["--rate", "1.65", "--hold", "0"]), "stays empty before release");
    refused(&["curve", "--a-s", "0.01", "--b-s-per-token", "1e-4"], "give --pool TOKENS");
    refused(&["curve", "--a-s", "0.01", "--pool", "300000"], "at least --a-s and --b-s-per-token");
    refused(&on(&["cut"], &["--rate", "1.65", "--to", "-1"]), "expected a number of at least 0");
    refused(&on(&["cut"], &["--rate", "1.65", "--at", "100"]), "time from the burst to the cut");
    refused(&on(&["cut"], &["--rate", "1.65", "--until", "4000"]), "time from the cut to the end");
    refused(&on(&["stop"], &["--rate", "1.65", "--at", "0"]), "time from the burst to the stop");
    refused(&on(&["rescue"], &["--rate", "1.65", "--cap", "0"]), "cap (sessions)");
    refused(&["table", "--published", "no-such-folder"], "cannot read");
    refused(&["table", "--configs", "no-such-folder"], "no such directory");
}

#[test]
fn a_load_without_a_good_state_has_no_rescuing_cap() {
    let text = printed(&["rescue", "--cell", "sglang-300k", "--rate", "5"]);
    assert!(text.contains("none: this load has no good state"));
}

#[test]
fn a_plot_is_written_in_the_format_of_its_ending_and_no_other() {
    let dir = tempfile::tempdir().expect("a folder");
    for (ending, head) in
        [("svg", "<svg"), ("pdf", "%PDF"), ("png", "\u{fffd}PNG"), ("csv", "series")]
    {
        let file = dir.path().join(format!("mix.{ending}"));
        let path = file.to_str().expect("UTF-8");
        let args = ["trap", "--cell", "sglang-300k", "--rate", "1.65", "--plot", path];
        let output = assert_cmd::Command::cargo_bin("trapcheck")
            .expect("the program")
            .arg("model")
            .args(args)
            .output()
            .expect("it runs");
        assert!(output.status.success());
        let bytes = std::fs::read(&file).expect("the plot");
        let start = String::from_utf8_lossy(&bytes[..40.min(bytes.len())]).into_owned();
        assert!(start.contains(head), "{ending}: {start}");
    }
    let wrong = dir.path().join("mix.bmp");
    let output = assert_cmd::Command::cargo_bin("trapcheck")
        .expect("the program")
        .args(["model", "trap", "--cell", "sglang-300k", "--rate", "1.65", "--plot"])
        .arg(&wrong)
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(!wrong.exists());
}
