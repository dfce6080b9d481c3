//! Parquet files as no data frame of ours writes them: two columns of one name, and types
//! that hold no text and no number. Their footers are made here by hand.

use crate::hostile_runs::fixture::{Fixture, says};

/// A structure of Thrift's compact protocol, in which a parquet footer is written.
#[derive(Default)]
struct Fields {
    bytes: Vec<u8>,
    last: u8,
}

const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

fn varint(mut x: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while x > 127 {
        bytes.push((x & 127) as u8 | 128);
        x >>= 7;
    }
    bytes.push(x as u8);
    bytes
}

impl Fields {
    fn field(mut self, id: u8, kind: u8, bytes: &[u8]) -> Self {
        self.bytes.push((id - self.last) << 4 | kind);
        self.bytes.extend(bytes);
        self.last = id;
        self
    }

    fn int(self, id: u8, x: u64) -> Self {
        self.field(id, I32, &varint(2 * x))
    }

    fn text(self, id: u8, text: &str) -> Self {
        self.field(id, BINARY, &[&varint(text.len() as u64), text.as_bytes()].concat())
    }

    fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

/// Physical types of parquet.
const INT64: u64 = 2;
const BYTES: u64 = 6;

/// A column of a physical type with further fields of its description.
fn column(name: &str, physical: u64, more: impl Fn(Fields) -> Fields) -> Vec<u8> {
    more(Fields::default().int(1, physical).int(3, 1).text(4, name)).end()
}

/// A file of no rows: its footer is all that is looked at before the types are refused.
fn file(columns: &[Vec<u8>]) -> Vec<u8> {
    let root = Fields::default().text(4, "root").int(5, columns.len() as u64).end();
    let length = columns.len() as u8 + 1;
    let schema = [vec![0xf0 | STRUCT, length], root, columns.concat()].concat();
    let footer = Fields::default()
        .int(1, 1)
        .field(2, LIST, &schema)
        .field(3, I64, &varint(0))
        .field(4, LIST, &[STRUCT])
        .end();
    let size = (footer.len() as u32).to_le_bytes();
    [b"PAR1", footer.as_slice(), &size, b"PAR1"].concat()
}

/// The turns table, one of whose columns is replaced by these.
fn turns(name: &str, instead: &[Vec<u8>]) -> Fixture {
    let plain = |name: &str| {
        let text = matches!(name, "session" | "kind" | "status");
        column(name, if text { BYTES } else { INT64 }, |fields| fields)
    };
    let names =
        crate::hostile_runs::fixture::sound("turns").lines().next().expect("a header").split(',');
    let columns: Vec<_> =
        names.flat_map(|n| if n == name { instead.to_vec() } else { vec![plain(n)] }).collect();
    let fixture = Fixture::new();
    fixture.replace("turns", "turns.parquet", file(&columns));
    fixture
}

#[test]
fn two_columns_of_one_name_are_refused_as_in_csv() {
    let twice = vec![column("prompt_tokens", INT64, |fields| fields); 2];
    let problem = turns("prompt_tokens", &twice).problem();
    says(&problem, "turns.parquet", 1, "prompt_tokens", &["this column is there twice"]);
    let fixture = Fixture::new();
    fixture.write(
        "turns.csv",
        crate::hostile_runs::fixture::sound("turns").replacen("t_first", "t_end", 1),
    );
    let problems = fixture.load().expect_err("t_end is there twice");
    says(&problems[0], "turns.csv", 1, "t_end", &["this column is there twice"]);
}

#[test]
fn a_column_of_a_type_that_is_not_read_is_named() {
    let decimal = column("t_end", INT64, |fields| fields.int(6, 5).int(7, 4).int(8, 18));
    let timestamp = column("t_end", INT64, |fields| fields.int(6, 9));
    let map = [
        Fields::default().int(3, 1).text(4, "t_end").int(5, 1).int(6, 1).end(),
        Fields::default().int(3, 2).text(4, "key_value").int(5, 2).end(),
        column("key", BYTES, |fields| fields),
        column("value", INT64, |fields| fields),
    ]
    .concat();
    for (instead, words) in
        [(decimal, "a column of decimals"), (timestamp, "a column of timestamps: write seconds")]
    {
        let problem = turns("t_end", &[instead]).problem();
        says(&problem, "turns.parquet", 0, "t_end", &["expected text or numbers", words]);
    }
    let fixture = turns("t_end", &[map]);
    // The list of columns is longer by the map's three parts.
    let mut bytes = std::fs::read(fixture.path("turns.parquet")).expect("it is there");
    let length = bytes.iter().position(|b| *b == 13).expect("the length of the list");
    bytes[length] = 16;
    fixture.write("turns.parquet", bytes);
    let words = ["expected text or numbers", "a column of lists, maps or records"];
    says(&fixture.problem(), "turns.parquet", 0, "t_end", &words);
}

#[test]
fn a_column_that_nobody_asks_for_may_hold_what_it_likes() {
    let status = column("status", BYTES, |fields| fields);
    let timestamp = column("wall_clock", INT64, |fields| fields.int(6, 9));
    let problems = turns("status", &[status, timestamp]).load().expect_err("a table of no rows");
    assert!(problems.iter().all(|p| p.column.as_deref() != Some("wall_clock")), "{problems:#?}");
    assert!(problems.iter().any(|p| p.message.contains("counts 6 as turns")), "{problems:#?}");
}
