//! `meta.json`, files that are missing or there twice, and directories.

use std::fs;

use trapcheck::directory::{LoadOptions, find_runs};

use crate::hostile_runs::fixture::{Fixture, TABLES, same_data, says, sound};

/// Breaks one place of meta.json and names what the reader must say about it.
#[track_caller]
fn broken_meta(from: &str, to: &str, line: u64, column: &str, words: &[&str]) {
    let fixture = Fixture::new();
    fixture.edit("meta.json", from, to);
    says(&fixture.problem(), "meta.json", line, column, words);
}

#[test]
fn nan_and_infinity_are_not_json() {
    for word in ["NaN", "Infinity", "-Infinity"] {
        let to = format!("\"duration_s\": {word}");
        let fixture = Fixture::new();
        fixture.edit("meta.json", "\"duration_s\": 60.0", &to);
        let problem = fixture.problem();
        let column = problem.column.clone().unwrap_or_default();
        says(&problem, "meta.json", 12, &column, &["not JSON", "null where a value is unknown"]);
    }
    broken_meta(
        "\"duration_s\": 60.0",
        "\"duration_s\": 1e999",
        12,
        "column 20",
        &["out of range"],
    );
}

#[test]
fn a_cut_off_meta_json_is_an_error_at_its_end() {
    let fixture = Fixture::new();
    let text = fs::read_to_string(fixture.path("meta.json")).expect("a text");
    for length in 0..text.trim_end().len() {
        fixture.write("meta.json", &text[..length]);
        let problem = fixture.problem();
        assert!(problem.line.is_some() && problem.message.contains("EOF"), "{length}: {problem}");
    }
}

#[test]
fn bytes_after_meta_json_are_an_error() {
    let fixture = Fixture::new();
    let text = fs::read_to_string(fixture.path("meta.json")).expect("a text");
    fixture.write("meta.json", format!("{text}{text}"));
    says(&fixture.problem(), "meta.json", 27, "column 1", &["trailing characters"]);
}

#[test]
fn meta_json_may_carry_a_byte_order_mark_and_carriage_returns() {
    let fixture = Fixture::new();
    let text = fs::read_to_string(fixture.path("meta.json")).expect("a text");
    fixture.write("meta.json", format!("\u{feff}{}", text.replace('\n', "\r\n")));
    same_data(&fixture.sound(), &Fixture::new().sound());
    let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    fixture.write("meta.json", wide);
    says(&fixture.problem(), "meta.json", 0, "", &["UTF-16"]);
}

#[test]
fn a_key_that_is_there_twice_is_an_error() {
    broken_meta(
        "\"seed\": 7",
        "\"seed\": 7, \"seed\": 8",
        10,
        "column 18",
        &["duplicate field `seed`"],
    );
}

#[test]
fn a_missing_key_is_named() {
    let fixture = Fixture::new();
    fixture.edit("meta.json", " \"seed\": 7,\n", "");
    let problem = fixture.problem();
    assert!(problem.message.contains("missing field `seed`"), "{problem}");
    fixture.edit("meta.json", "\"turns\": 6,\n", "");
    assert!(fixture.load().is_err());
}

#[test]
fn words_meta_json_does_not_know_are_errors() {
    broken_meta(
        "\"source\": \"engine\"",
        "\"source\": \"real\"",
        4,
        "column 17",
        &["unknown word `real`", "`simulator`"],
    );
    broken_meta(
        "\"completed\"",
        "\"done\"",
        14,
        "column 17",
        &["unknown word `done`", "`truncated`"],
    );
}

#[test]
fn values_meta_json_cannot_hold_are_errors_that_name_their_key() {
    broken_meta("\"format\": 1", "\"format\": 2", 0, "format", &["expected 1, found 2"]);
    broken_meta("\"pool_tokens\": 30000", "\"pool_tokens\": 0", 0, "pool_tokens", &["positive"]);
    broken_meta("\"n_cap\": 2", "\"n_cap\": 0", 0, "gate.n_cap", &["at least 1"]);
    broken_meta(
        "\"lambda\": 0.6",
        "\"lambda\": 600",
        0,
        "rate.lambda",
        &["multiple x lambda_ref", "600"],
    );
    broken_meta(
        "\"end_unix\": 1060.0",
        "\"end_unix\": 940",
        0,
        "end_unix",
        &["940 lies before start_unix 1000"],
    );
    let words = &["expected a whole number, 0 or more, found 7.5"];
    broken_meta("\"seed\": 7", "\"seed\": 7.5", 10, "column 12", words);
    broken_meta(
        "\"pool_tokens\": 30000",
        "\"pool_tokens\": \"30,000\"",
        7,
        "column 24",
        &["expected a whole number, 0 or more, found the text \"30,000\""],
    );
    let rate = "{\"multiple\": 1.5, \"lambda_ref\": 0.4, \"lambda\": 0.6}";
    broken_meta(rate, "3", 11, "column 10", &["expected keys with values, found 3"]);
    let words = &["expected a positive rate or null, found 0"];
    broken_meta(rate, "{\"multiple\": 0.0}", 0, "rate.multiple", words);
}

#[test]
fn a_rate_that_is_null_is_unknown() {
    let fixture = Fixture::new();
    let rate = "{\"multiple\": 1.5, \"lambda_ref\": 0.4, \"lambda\": 0.6}";
    fixture.edit("meta.json", rate, "null");
    assert_eq!(fixture.sound().meta.rate, trapcheck::run::Rate::default());
    fixture.edit("meta.json", " \"rate\": null,\n", "");
    says(&fixture.problem(), "meta.json", 25, "column 1", &["missing field `rate`"]);
}

#[test]
fn metadata_that_are_no_json_are_told_from_json_with_nan_in_it() {
    let fixture = Fixture::new();
    fixture.write("meta.json", "format: 1\nrun_id: x\n");
    let problem = fixture.problem();
    assert!(problem.message.contains("expected JSON, which begins with {"), "{problem}");
    assert!(problem.message.contains("format: 1") && !problem.message.contains("NaN"), "{problem}");
    // A value that is missing is no NaN either.
    let fixture = Fixture::new();
    fixture.edit("meta.json", "\"seed\": 7", "\"seed\": ");
    let problem = fixture.problem();
    assert!(problem.message.contains("expected value"), "{problem}");
    assert!(!problem.message.contains("NaN"), "{problem}");
}

#[test]
fn a_duration_in_another_unit_is_an_error() {
    let fixture = Fixture::new();
    fixture.edit("meta.json", "\"duration_s\": 60.0", "\"duration_s\": 60000000000");
    says(&fixture.problem(), "meta.json", 0, "duration_s", &["60000000000 s is over 31 days"]);
    let fixture = Fixture::new();
    fixture.edit("meta.json", "\"duration_s\": 60.0", "\"duration_s\": 0.06");
    assert!(fixture.load().is_err(), "everything lies after the end");
}

#[test]
fn a_run_that_ended_early_is_not_completed() {
    let fixture = Fixture::new();
    fixture.edit("meta.json", "\"horizon_s\": 60.0", "\"horizon_s\": 70.0");
    says(&fixture.problem(), "meta.json", 0, "", &["status is completed", "60 s of 70 s"]);
    fixture.edit("meta.json", "\"completed\"", "\"truncated\"");
    says(&fixture.sound().notes[0], "meta.json", 0, "", &["status is truncated"]);
}

#[test]
fn counts_that_disagree_with_the_rows_are_errors() {
    let disagrees = |from: &str, to: &str, file: &str, words: &[&str]| {
        let fixture = Fixture::new();
        fixture.edit("meta.json", from, to);
        says(&fixture.problem(), file, 0, "", words);
    };
    disagrees("\"turns\": 6", "\"turns\": 7", "turns.csv", &["counts 7 as turns, the table has 6"]);
    disagrees(
        "\"request_errors\": 0",
        "\"request_errors\": 1",
        "turns.csv",
        &["counts 1 as request_errors"],
    );
    disagrees(
        "\"sessions_arrived\": 3",
        "\"sessions_arrived\": 4",
        "sessions.csv",
        &["counts 4 as sessions_arrived"],
    );
    disagrees(
        "\"sessions_completed\": 2",
        "\"sessions_completed\": 3",
        "sessions.csv",
        &["3 as sessions_completed, the table has 2"],
    );
    disagrees(
        "\"sessions_failed\": 0",
        "\"sessions_failed\": 1",
        "sessions.csv",
        &["counts 1 as sessions_failed"],
    );
}

#[test]
fn a_plan_of_another_run_is_an_error() {
    // sha256sum of the fixture's plan.csv.
    let hash = "fabd92b46168434583dfac384d1ef11379762d8bdfb3bf00fcca8a9bac563cca";
    for (name, bytes) in [
        ("plan.csv", sound("plan").as_bytes().to_vec()),
        ("plan.csv.gz", crate::hostile_runs::packed_tables::gzip(sound("plan").as_bytes())),
        ("plan.csv.zst", crate::hostile_runs::packed_tables::zstd(sound("plan").as_bytes())),
    ] {
        let fixture = Fixture::new();
        fixture
            .edit("meta.json", "\"plan_sha256\": null", &format!("\"plan_sha256\": \"{hash}\""))
            .replace("plan", name, bytes);
        fixture.sound();
        fixture.edit("meta.json", hash, &hash.replace('a', "b"));
        says(&fixture.problem(), name, 0, "", &["SHA-256", hash, "not the plan of this run"]);
    }
}

#[test]
fn two_forms_of_one_table_are_an_error() {
    for table in TABLES {
        let fixture = Fixture::new();
        let packed = crate::hostile_runs::packed_tables::gzip(sound(table).as_bytes());
        fixture.write(&format!("{table}.csv.gz"), packed);
        let also = format!("{table}.csv.gz is there too");
        says(&fixture.problem(), &format!("{table}.csv"), 0, "", &[&also, "which one"]);
    }
}

#[test]
fn tables_a_run_needs_are_missed_and_others_noted() {
    for (table, words) in [("sessions", "no sessions table"), ("turns", "no turns table")] {
        let fixture = Fixture::new();
        fixture.remove(&format!("{table}.csv"));
        let problem = fixture.problem();
        assert_eq!(problem.file, fixture.dir());
        assert!(
            problem.message.contains(words) && problem.message.contains(".parquet"),
            "{problem}"
        );
    }
    for (table, words) in [("engine", "no engine table"), ("plan", "no plan table")] {
        let fixture = Fixture::new();
        fixture.remove(&format!("{table}.csv"));
        let run = fixture.sound();
        assert!(run.notes.len() == 1 && run.notes[0].message.contains(words), "{:?}", run.notes);
    }
}

#[test]
fn what_lies_in_the_place_of_a_table_and_is_no_file_is_named() {
    for table in TABLES {
        let (fixture, name) = (Fixture::new(), format!("{table}.csv"));
        fixture.remove(&name);
        fs::create_dir(fixture.path(&name)).expect("a folder");
        says(&fixture.problem(), &name, 0, "", &["expected a file, found a folder"]);
    }
}

#[cfg(unix)]
#[test]
fn a_fifo_in_the_place_of_a_table_is_named_and_not_waited_for() {
    for table in TABLES {
        let (fixture, name) = (Fixture::new(), format!("{table}.csv"));
        fixture.remove(&name);
        let made = std::process::Command::new("mkfifo").arg(fixture.path(&name)).status();
        assert!(made.expect("mkfifo").success());
        says(&fixture.problem(), &name, 0, "", &["expected a file, found a named pipe"]);
    }
}

#[test]
fn every_broken_table_of_a_run_is_reported() {
    let fixture = Fixture::new();
    for table in TABLES {
        fixture.write(&format!("{table}.csv"), "");
    }
    let problems = fixture.load().expect_err("five empty tables");
    let files: Vec<_> = problems.iter().filter_map(|p| p.file.file_stem()).collect();
    assert_eq!(files, ["plan", "engine", "sessions", "turns", "gate"]);
}

#[test]
fn a_directory_without_meta_json_is_a_problem_and_no_run() {
    let fixture = Fixture::new();
    fixture.remove("meta.json");
    let found = find_runs(&[fixture.dir()]);
    assert!(found.runs.is_empty());
    assert_eq!(found.problems.len(), 1);
    assert_eq!(found.problems[0].file, fixture.dir());
    assert!(found.problems[0].message.contains("no meta.json"));
    says(&fixture.problem(), "meta.json", 0, "", &["cannot read"]);
}

#[test]
fn a_path_that_is_not_there_is_a_problem() {
    let fixture = Fixture::new();
    let found = find_runs(&[fixture.path("nowhere")]);
    assert!(found.runs.is_empty());
    says(&found.problems[0], "nowhere", 0, "", &["cannot look here"]);
}

#[test]
fn a_path_given_twice_is_one_run() {
    let fixture = Fixture::new();
    let found = find_runs(&[fixture.dir(), fixture.dir()]);
    assert_eq!((found.runs.len(), found.problems.len()), (1, 0));
}

#[cfg(unix)]
#[test]
fn a_loop_of_links_is_a_problem_and_its_run_is_found_once() {
    let fixture = Fixture::new();
    std::os::unix::fs::symlink(fixture.dir(), fixture.path("again")).expect("a link");
    let found = find_runs(&[fixture.dir()]);
    assert_eq!(found.runs, [fixture.dir()]);
    says(&found.problems[0], "again", 0, "", &["cannot look here", "loop"]);
}

#[cfg(unix)]
#[test]
fn a_run_reached_through_a_link_as_well_is_one_run() {
    let fixture = Fixture::new();
    let batch = tempfile::TempDir::new().expect("a temporary directory");
    for name in ["a", "b"] {
        std::os::unix::fs::symlink(fixture.dir(), batch.path().join(name)).expect("a link");
    }
    let found = find_runs(&[batch.path()]);
    assert_eq!(found.runs, [batch.path().join("a")]);
    assert!(trapcheck::directory::load(&found.runs[0], &LoadOptions::default()).is_ok());
}

#[cfg(unix)]
#[test]
fn a_dangling_link_in_the_place_of_a_table_is_a_missing_table() {
    let fixture = Fixture::new();
    fixture.remove("turns.csv");
    std::os::unix::fs::symlink(fixture.path("gone"), fixture.path("turns.csv")).expect("a link");
    assert!(fixture.problem().message.contains("no turns table"));
}
