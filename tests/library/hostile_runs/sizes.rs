//! Small files that ask for gigabytes: each is refused by its name and the limit.

use std::io::{Read, Write};

use polars::prelude::{Column, DataFrame, NamedFrom, Series};
use polars_io::parquet::write::ParquetWriter;
use trapcheck::run::Problem;

use crate::hostile_runs::fixture::{Fixture, says, sound};

/// A stream of `head` and then a line over and over, packed with zstd.
fn packed(head: &str, line: &[u8], bytes: u64) -> Vec<u8> {
    let mut packer = zstd::Encoder::new(Vec::new(), 1).expect("packs");
    packer.write_all(head.as_bytes()).expect("packs");
    let lines = line.repeat((1 << 20) / line.len());
    let mut rest = Repeated { lines: &lines, left: bytes };
    std::io::copy(&mut rest, &mut packer).expect("packs");
    packer.finish().expect("packs")
}

struct Repeated<'a> {
    lines: &'a [u8],
    left: u64,
}

impl Read for Repeated<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = buffer.len().min(self.lines.len()).min(self.left as usize);
        buffer[..n].copy_from_slice(&self.lines[..n]);
        self.left -= n as u64;
        Ok(n)
    }
}

fn header(table: &str) -> String {
    sound(table).lines().next().expect("a header").to_owned() + "\n"
}

#[test]
fn a_field_without_end_is_refused_with_its_line() {
    let fixture = Fixture::new();
    fixture.replace("turns", "turns.csv.zst", packed(&header("turns"), b"x", 64 << 20));
    says(&fixture.problem(), "turns.csv.zst", 2, "", &["a row is longer than 16 MiB"]);
}

#[test]
fn a_quoted_field_of_many_lines_is_one_row() {
    let fixture = Fixture::new();
    let head = header("turns") + "\"";
    fixture.replace("turns", "turns.csv.zst", packed(&head, b"x\n", 64 << 20));
    let problem = fixture.problem();
    assert!(problem.message.contains("a row is longer than 16 MiB"), "{problem}");
}

#[test]
fn metadata_that_unpack_to_much_more_are_refused() {
    let fixture = Fixture::new();
    fixture.write("meta.json", packed("{", b" ", 32 << 20));
    let words = ["too large: expected at most 16 MiB, it unpacks to more"];
    says(&fixture.problem(), "meta.json", 0, "", &words);
}

#[test]
fn a_parquet_file_of_too_many_rows_is_refused_before_they_are_made() {
    let rows = 2_000_001;
    let column = Column::from(Series::new("turn".into(), vec![1_i64; rows]));
    let mut frame = DataFrame::new_infer_height(vec![column]).expect("a table");
    let mut bytes = Vec::new();
    ParquetWriter::new(&mut bytes).finish(&mut frame).expect("packs");
    assert!(bytes.len() < 1 << 20, "{} bytes", bytes.len());
    let fixture = Fixture::new();
    fixture.replace("turns", "turns.parquet", bytes);
    let words = ["expected at most 2000000 rows, found 2000001"];
    says(&fixture.problem(), "turns.parquet", 0, "", &words);
}

#[test]
fn a_parquet_footer_that_is_larger_than_its_file_needs_is_refused() {
    let mut bytes = b"PAR1".to_vec();
    bytes.extend(vec![0; 1 << 20]);
    bytes.extend((1_u32 << 20).to_le_bytes());
    bytes.extend(b"PAR1");
    let fixture = Fixture::new();
    fixture.replace("turns", "turns.parquet", bytes);
    let words = ["its footer has 1048576 bytes; expected at most 256 KiB"];
    says(&fixture.problem(), "turns.parquet", 0, "", &words);
}

#[test]
fn columns_nested_without_end_are_an_error_and_no_stack_overflow() {
    // A footer by hand: a schema of groups in groups, in thrift's compact form.
    let group = |children: u8| [b"\x35\x00\x18\x01a\x15".as_slice(), &[children * 2, 0]].concat();
    let levels = 25_000_u32;
    let mut footer = b"\x15\x02\x19\xfc".to_vec();
    let mut length = levels + 1;
    while length >= 128 {
        footer.push(length as u8 | 128);
        length >>= 7;
    }
    footer.push(length as u8);
    footer.extend(group(1).repeat(levels as usize));
    footer.extend(b"\x15\x02\x25\x00\x18\x01x\x00\x16\x00\x19\x0c\x00");
    let mut bytes = b"PAR1".to_vec();
    bytes.extend(&footer);
    bytes.extend((footer.len() as u32).to_le_bytes());
    bytes.extend(b"PAR1");
    let fixture = Fixture::new();
    fixture.replace("turns", "turns.parquet", bytes);
    let problems = fixture.load().expect_err("a table without its columns");
    assert!(problems.iter().all(|problem| problem.file.ends_with("turns.parquet")), "{problems:?}");
}

#[test]
fn of_a_table_with_problems_in_every_row_some_are_listed_and_all_are_counted() {
    let fixture = Fixture::new();
    let row = "0,base,1,1.0,1.0,1.5,2.0,2000,0,100,1.0,ok\n";
    fixture.write("turns.csv", header("turns") + &row.repeat(10_000));
    let problems = fixture.load().expect_err("one turn over and over");
    assert_eq!(problems.len(), 1001);
    assert_eq!(Problem::count(&problems), 9999, "the first row alone is one turn");
    let last = problems.last().expect("a problem");
    assert!(last.message.starts_with("8999 more problems"), "{last}");
}
