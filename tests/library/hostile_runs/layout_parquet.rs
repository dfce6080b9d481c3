//! Runs of another shape whose tables are parquet.

use std::fs;

use polars::prelude::{Column, DataFrame, NamedFrom, Series};
use polars_io::parquet::write::ParquetWriter;

use crate::hostile_runs::fixture::{Fixture, says};
use crate::hostile_runs::theirs::Theirs;

/// Their csv as parquet: whole numbers, numbers or text, as a data frame would guess.
fn parquet(csv: &str) -> Vec<u8> {
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let column = |i: usize| {
        let texts: Vec<&str> = rows[1..].iter().map(|row| row[i]).collect();
        let known = || texts.iter().filter(|text| !text.is_empty());
        let name = rows[0][i].into();
        Column::from(if known().all(|text| text.parse::<i64>().is_ok()) {
            Series::new(name, texts.iter().map(|t| t.parse::<i64>().ok()).collect::<Vec<_>>())
        } else if known().all(|text| text.parse::<f64>().is_ok()) {
            Series::new(name, texts.iter().map(|t| t.parse::<f64>().ok()).collect::<Vec<_>>())
        } else {
            Series::new(name, texts)
        })
    };
    let columns = (0..rows[0].len()).map(column).collect();
    let mut frame = DataFrame::new_infer_height(columns).expect("as many rows each");
    let mut bytes = Vec::new();
    ParquetWriter::new(&mut bytes).finish(&mut frame).expect("packs");
    bytes
}

#[test]
fn their_parquet_reads_as_their_csv_does_nanoseconds_too() {
    let ours = Fixture::new().sound();
    for table in ["requests", "conversations", "gauges_node17", "limiter"] {
        let theirs = Theirs::cluster();
        let csv = theirs.dir().join(format!("{table}.csv"));
        // Nanoseconds since 1970 are whole numbers that no float holds.
        let text = fs::read_to_string(&csv).expect("a text").replace("928,", "928000000,");
        let text = text.replace("5028,", "5028000000,");
        fs::remove_file(&csv).expect("it is there");
        theirs.write(&format!("{table}.parquet"), parquet(&text));
        let yaml = theirs.yaml("cluster-csv");
        let layout = fs::read_to_string(&yaml).expect("a text");
        let (head, of_table) = layout.split_once(&format!("file: {}", &table[..6])).expect("there");
        let (of_table, rest) = of_table.split_once("    file: ").unwrap_or((of_table, ""));
        let file = if rest.is_empty() { "" } else { "    file: " };
        let in_ns = of_table.replace("unit: ms, absolute", "unit: ns, absolute");
        let layout = format!("{head}file: {}{in_ns}{file}{rest}", &table[..6]);
        fs::write(&yaml, layout).expect("writable");
        let run = theirs.sound();
        assert_eq!((&run.turns, &run.sessions), (&ours.turns, &ours.sessions), "{table}");
        assert_eq!((&run.engine, &run.gate), (&ours.engine, &ours.gate), "{table}");
    }
}

#[test]
fn what_is_wrong_in_their_parquet_names_its_row() {
    let theirs = Theirs::cluster();
    let csv = theirs.dir().join("requests.csv");
    let text = fs::read_to_string(&csv).expect("a text").replace("0,spike,0,", "0,spike,,");
    fs::remove_file(&csv).expect("it is there");
    theirs.write("requests.parquet", parquet(&text));
    let words = ["expected a value, found none"];
    says(&theirs.problem(), "requests.parquet", 4, "round (turn)", &words);
    let text = text
        .replace("spike,,", "spike,0,")
        .replace(",open", ",504")
        .replace("1,background,1", "1,night,1");
    theirs.write("requests.parquet", parquet(&text));
    let words = ["expected one of background, spike", "night"];
    says(&theirs.problem(), "requests.parquet", 6, "stream (kind)", &words);
}
