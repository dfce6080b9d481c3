//! gzip and zstd: told by content, cut off, damaged.

use std::io::Write;

use crate::hostile_runs::fixture::{Fixture, TABLES, only, same_data, says, sound};

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(bytes).and_then(|()| packer.finish()).expect("packs")
}

pub fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut packer = zstd::stream::write::Encoder::new(Vec::new(), 3).expect("a packer");
    packer.include_checksum(true).expect("a checksum");
    packer.write_all(bytes).and_then(|()| packer.finish()).expect("packs")
}

/// A turns table too long for one block of either packing.
fn long_turns() -> String {
    let header = sound("turns").lines().next().expect("a header");
    let mut state = 1_u64;
    let rows = (1..=6000_u64).map(|turn| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let t = turn as f64 / 1000.0;
        format!(
            "0,base,{turn},{t:.4},{t:.4},,{t:.4},{},0,{},,ok\n",
            2000 + (state >> 40),
            state >> 50
        )
    });
    format!("{header}\n{}", rows.collect::<String>())
}

/// The fixture with one session of very many turns.
fn long_run(name: &str, bytes: Vec<u8>) -> Fixture {
    let fixture = Fixture::new();
    fixture.replace("turns", name, bytes).remove("gate.csv").remove("plan.csv");
    let header = sound("sessions").lines().next().expect("a header");
    fixture.write(
        "sessions.csv",
        format!("{header}\n0,base,0.0,0.0,6.0000,6000,6000,0.0,0,0.0,completed\n"),
    );
    fixture
        .edit("meta.json", "\"sessions_arrived\": 3", "\"sessions_arrived\": 1")
        .edit("meta.json", "\"sessions_completed\": 2", "\"sessions_completed\": 1")
        .edit("meta.json", "\"turns\": 6", "\"turns\": 6000")
        .edit("meta.json", "\"pool_tokens\": 30000", "\"pool_tokens\": 20000000");
    fixture
}

#[test]
fn content_decides_how_a_table_is_packed_not_its_name() {
    type Pack = fn(&[u8]) -> Vec<u8>;
    let forms: [(&str, Pack); 9] = [
        ("csv", gzip),
        ("csv", zstd),
        ("csv.gz", gzip),
        ("csv.gz", zstd),
        ("csv.gz", <[u8]>::to_vec),
        ("csv.zst", zstd),
        ("csv.zst", gzip),
        ("csv.zst", <[u8]>::to_vec),
        ("parquet", <[u8]>::to_vec),
    ];
    for (ending, pack) in forms {
        let fixture = Fixture::new();
        for table in TABLES {
            fixture.replace(table, &format!("{table}.{ending}"), pack(sound(table).as_bytes()));
        }
        same_data(&fixture.sound(), &Fixture::new().sound());
    }
}

#[test]
fn several_packed_members_are_one_table() {
    let fixture = Fixture::new();
    let (head, tail) = sound("turns").split_at(200);
    let members = [gzip(head.as_bytes()), gzip(tail.as_bytes())].concat();
    fixture.replace("turns", "turns.csv.gz", members);
    same_data(&fixture.sound(), &Fixture::new().sound());
}

#[test]
fn a_byte_order_mark_and_utf_16_are_seen_inside_a_packed_table() {
    let fixture = Fixture::new();
    fixture.replace(
        "turns",
        "turns.csv.gz",
        gzip(format!("\u{feff}{}", sound("turns")).as_bytes()),
    );
    same_data(&fixture.sound(), &Fixture::new().sound());
    let wide: Vec<u8> = sound("turns").encode_utf16().flat_map(u16::to_le_bytes).collect();
    fixture.write("turns.csv.gz", zstd(&wide));
    says(&fixture.problem(), "turns.csv.gz", 0, "", &["UTF-16"]);
}

/// The stream of a text, cut off where the text's head has just gone through.
fn cut_after(head: &str, tail: &str) -> [(&'static str, Vec<u8>); 2] {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(head.as_bytes()).and_then(|()| packer.flush()).expect("packs");
    let length = packer.get_ref().len();
    packer.write_all(tail.as_bytes()).expect("packs");
    let gz = packer.finish().expect("packs")[..length].to_vec();
    let mut packer = zstd::stream::write::Encoder::new(Vec::new(), 3).expect("a packer");
    packer.write_all(head.as_bytes()).and_then(|()| packer.flush()).expect("packs");
    let length = packer.get_ref().len();
    packer.write_all(tail.as_bytes()).expect("packs");
    let zst = packer.finish().expect("packs")[..length].to_vec();
    [("turns.csv.gz", gz), ("turns.csv.zst", zst)]
}

#[test]
fn a_cut_packed_stream_is_an_error_and_its_last_line_is_left_out_when_asked() {
    let text = long_turns();
    let last_line = text.trim_end().rfind('\n').expect("lines") + 1;
    let (head, tail) = text.split_at(last_line + 7);
    for (name, packed) in cut_after(head, tail) {
        let fixture = long_run(name, packed);
        let problem = fixture.problem();
        says(&problem, name, problem.line.unwrap_or(0), "", &["cut off", "--drop-cut-off"]);
        let run = fixture.load_without_cut_off().expect("all but its last line is sound");
        assert_eq!(run.turns.len(), 5999, "{name}");
        // The named line is the one after the last row that was used.
        let left_out = run.notes.iter().find(|note| note.message.contains("left out, as asked"));
        says(left_out.expect("noted"), name, 6001, "", &["cut off"]);
        assert!(run.notes.iter().any(|note| note.message.contains("counts 6000 as turns")));
    }
}

#[test]
fn a_packed_stream_that_lost_more_than_a_line_is_refused_also_when_asked() {
    let text = long_turns();
    for (name, packed) in
        [("turns.csv.gz", gzip(text.as_bytes())), ("turns.csv.zst", zstd(text.as_bytes()))]
    {
        assert_eq!(long_run(name, packed.clone()).sound().turns.len(), 6000);
        let fixture = long_run(name, packed[..packed.len() * 3 / 4].to_vec());
        let problem = fixture.problem();
        says(&problem, name, problem.line.unwrap_or(0), "", &["cut off", "--drop-cut-off"]);
        let problems = fixture.load_without_cut_off().expect_err("rows are lost");
        let words = ["counts 6000 as turns", "more than the line that was left out"];
        says(&problems[0], name, 0, "", &words);
    }
    // Two lines less than are counted.
    let two = text.trim_end().rmatch_indices('\n').nth(1).expect("lines").0 + 1;
    let (head, tail) = text.split_at(two + 7);
    for (name, packed) in cut_after(head, tail) {
        let problems = long_run(name, packed).load_without_cut_off().expect_err("a row is lost");
        says(&problems[0], name, 0, "", &["the table has 5998", "more than the line"]);
    }
}

#[test]
fn a_cut_packed_stream_of_a_table_that_nothing_counts_is_refused_also_when_asked() {
    for (table, head) in [("engine", 250), ("gate", 100)] {
        let (head, tail) = sound(table).split_at(head);
        for (name, packed) in cut_after(head, tail) {
            let fixture = Fixture::new();
            let name = name.replace("turns", table);
            fixture.replace(table, &name, packed);
            let problem = only(fixture.load_without_cut_off().expect_err("rows are lost"));
            says(&problem, &name, 0, "", &["nothing counts how many rows are lost"]);
        }
    }
}

#[test]
fn a_packed_stream_cut_in_its_first_bytes_is_an_error_either_way() {
    for (name, packed) in [("turns.csv.gz", gzip(b"session")), ("turns.csv.zst", zstd(b"session"))]
    {
        for length in 4..packed.len() {
            let fixture = Fixture::new();
            fixture.replace("turns", name, &packed[..length]);
            says(&fixture.problem(), name, 0, "", &["cut off"]);
            assert!(fixture.load_without_cut_off().is_err());
        }
    }
}

#[test]
fn a_damaged_packed_stream_is_an_error_and_never_left_out() {
    let text = long_turns();
    for (name, packed) in
        [("turns.csv.gz", gzip(text.as_bytes())), ("turns.csv.zst", zstd(text.as_bytes()))]
    {
        let mut damaged = packed.clone();
        // The checksum stands in the last bytes of both.
        let at = damaged.len() - if name.ends_with("gz") { 8 } else { 4 };
        damaged[at] ^= 1;
        let fixture = long_run(name, damaged);
        for problem in
            [fixture.problem(), only(fixture.load_without_cut_off().expect_err("damaged"))]
        {
            says(&problem, name, problem.line.unwrap_or(0), "", &["damaged"]);
        }
    }
}

#[test]
fn bytes_after_the_end_of_a_packed_stream_are_damage() {
    let fixture = Fixture::new();
    let mut packed = gzip(sound("turns").as_bytes());
    packed.extend(sound("turns").as_bytes());
    fixture.replace("turns", "turns.csv.gz", packed);
    let problem = fixture.problem();
    says(&problem, "turns.csv.gz", problem.line.unwrap_or(0), "", &["damaged"]);
}
