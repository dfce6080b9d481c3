//! Parquet: wrong types, unknown values, damaged bytes.

use polars::prelude::{Column, DataFrame, NamedFrom, Series};
use polars_io::SerReader;
use polars_io::parquet::{read::ParquetReader, write::ParquetWriter};
use trapcheck::directory::write::{TableFormat, write};

use crate::hostile_runs::fixture::{Fixture, TABLES, only, same_data, says};

/// The sound run with one table as parquet, changed by `change`.
fn with(table: &str, change: impl FnOnce(&mut DataFrame)) -> Fixture {
    let fixture = Fixture::new();
    let parquet = tempfile::TempDir::new().expect("a temporary directory");
    let dir = parquet.path().join("run");
    write(&fixture.sound(), &dir, TableFormat::Parquet).expect("it can be written");
    let bytes = std::fs::read(dir.join(format!("{table}.parquet"))).expect("it is there");
    let mut frame = ParquetReader::new(std::io::Cursor::new(bytes)).finish().expect("a table");
    change(&mut frame);
    let mut bytes = Vec::new();
    ParquetWriter::new(&mut bytes).finish(&mut frame).expect("packs");
    fixture.replace(table, &format!("{table}.parquet"), bytes);
    fixture
}

fn set(frame: &mut DataFrame, series: Series) {
    frame.with_column(Column::from(series)).expect("as many rows");
}

#[test]
fn every_table_reads_the_same_from_parquet_under_any_name() {
    for table in TABLES {
        let fixture = with(table, |_| {});
        let run = fixture.sound();
        same_data(&run, &Fixture::new().sound());
        let bytes = std::fs::read(fixture.path(&format!("{table}.parquet"))).expect("it is there");
        fixture.remove(&format!("{table}.parquet")).write(&format!("{table}.csv"), bytes);
        same_data(&fixture.sound(), &Fixture::new().sound());
    }
}

#[test]
fn identifiers_may_be_whole_numbers() {
    let fixture = with("turns", |frame| {
        set(frame, Series::new("session".into(), [0_i64, 1, 0, 0, 0, 1]));
    });
    same_data(&fixture.sound(), &Fixture::new().sound());
}

#[test]
fn identifiers_as_floats_or_truth_values_are_of_the_wrong_type() {
    let floats = with("turns", |frame| {
        set(frame, Series::new("session".into(), [0.0, 1.0, 0.0, 0.0, 0.0, 1.0]));
    });
    says(
        &floats.problem(),
        "turns.parquet",
        0,
        "session",
        &["expected text", "a column of floating-point numbers"],
    );
    let truths = with("turns", |frame| set(frame, Series::new("kind".into(), [true; 6])));
    says(
        &truths.problem(),
        "turns.parquet",
        0,
        "kind",
        &["expected text", "a column of true and false"],
    );
}

#[test]
fn numbers_as_text_are_of_the_wrong_type() {
    let counts =
        with("turns", |frame| set(frame, Series::new("prompt_tokens".into(), ["2000"; 6])));
    says(
        &counts.problem(),
        "turns.parquet",
        0,
        "prompt_tokens",
        &["expected whole numbers", "a column of text"],
    );
    let times = with("engine", |frame| set(frame, Series::new("t".into(), ["0", "20", "40"])));
    says(&times.problem(), "engine.parquet", 0, "t", &["expected numbers", "a column of text"]);
}

#[test]
fn counts_as_floats_are_read_when_they_are_whole() {
    let tokens = [2000.0, 2000.0, 2650.0, 2000.0, 3300.0, 2650.0];
    let fixture = with("turns", |frame| set(frame, Series::new("prompt_tokens".into(), tokens)));
    same_data(&fixture.sound(), &Fixture::new().sound());
    for wrong in [192.5, -1.0, f64::NAN, f64::INFINITY, 1e300] {
        let mut tokens = tokens;
        tokens[3] = wrong;
        let fixture =
            with("turns", |frame| set(frame, Series::new("prompt_tokens".into(), tokens)));
        says(
            &fixture.problem(),
            "turns.parquet",
            4,
            "prompt_tokens",
            &["whole number", &wrong.to_string()],
        );
    }
}

#[test]
fn negative_counts_and_times_that_are_no_numbers_are_errors_with_their_row() {
    let fixture = with("turns", |frame| {
        set(frame, Series::new("completion_tokens".into(), [100_i64, 100, -100, 100, 100, 100]));
    });
    says(&fixture.problem(), "turns.parquet", 3, "completion_tokens", &["whole number", "-100"]);
    let fixture =
        with("engine", |frame| set(frame, Series::new("t".into(), [0.0, f64::NAN, 40.0])));
    says(&fixture.problem(), "engine.parquet", 2, "t", &["finite number", "NaN"]);
}

#[test]
fn a_missing_value_is_an_error_where_one_is_needed() {
    let fixture = with("turns", |frame| {
        let tokens = [Some(2000_i64), None, Some(2650), Some(2000), Some(3300), Some(2650)];
        set(frame, Series::new("prompt_tokens".into(), tokens));
    });
    says(&fixture.problem(), "turns.parquet", 2, "prompt_tokens", &["expected a value"]);
    let fixture = with("turns", |frame| {
        set(
            frame,
            Series::new("status".into(), ["ok", "ok", "ok", "ok", "", "unfinished_at_horizon"]),
        );
    });
    says(&fixture.problem(), "turns.parquet", 5, "status", &["expected a value"]);
    let fixture = with("turns", |frame| {
        set(frame, Series::new("t_ready".into(), [None::<f64>; 6]));
    });
    says(&fixture.problem(), "turns.parquet", 1, "t_ready", &["expected a value"]);
}

#[test]
fn a_column_of_unknown_values_has_no_type_to_be_wrong() {
    for unknown in [
        Series::new_null("cached_tokens".into(), 6),
        Series::new("cached_tokens".into(), [None::<&str>; 6]),
        Series::new("cached_tokens".into(), [None::<f64>; 6]),
    ] {
        let fixture = with("turns", |frame| set(frame, unknown));
        assert!(fixture.sound().turns.iter().all(|t| t.cached_tokens.is_none()));
    }
}

#[test]
fn a_missing_column_is_an_error_and_a_missing_gauge_a_note() {
    let fixture = with("turns", |frame| drop(frame.drop_in_place("cached_tokens")));
    says(&fixture.problem(), "turns.parquet", 1, "cached_tokens", &["missing", "prompt_tokens"]);
    let fixture = with("engine", |frame| drop(frame.drop_in_place("waiting")));
    says(&only(fixture.sound().notes), "engine.parquet", 0, "", &["does not report waiting"]);
}

#[test]
fn a_parquet_plan_is_noted_where_its_hash_cannot_be_checked() {
    let fixture = with("plan", |_| {});
    fixture.edit("meta.json", "\"plan_sha256\": null", "\"plan_sha256\": \"00\"");
    says(
        &only(fixture.sound().notes),
        "plan.parquet",
        0,
        "",
        &["hash of plan.csv", "not to be checked"],
    );
}

#[test]
fn a_cut_parquet_file_is_an_error_whatever_was_cut() {
    let fixture = with("turns", |_| {});
    let bytes = std::fs::read(fixture.path("turns.parquet")).expect("it is there");
    for length in (4..bytes.len()).step_by(7) {
        fixture.write("turns.parquet", &bytes[..length]);
        for problem in [fixture.problem(), only(fixture.load_without_cut_off().expect_err("cut"))] {
            assert!(problem.message.contains("parquet"), "{length}: {problem}");
        }
    }
}
