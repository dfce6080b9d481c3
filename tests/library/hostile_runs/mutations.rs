//! Bytes flipped and files cut at random, but the same in every test run: the reader
//! never panics, and never takes other rows than `meta.json` counts for the run.

use std::fs;

use trapcheck::directory::LoadOptions;
use trapcheck::directory::write::{TableFormat, write};
use trapcheck::run::{Problems, Run};

use crate::hostile_runs::fixture::{Fixture, TABLES, same_data};

/// Per table and format. Five tables in four formats are 2,400 broken runs.
const MUTATIONS: u64 = 120;

/// A small generator of its own: 64-bit xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % n.max(1)
    }
}

/// One to three bits flipped, a byte changed, a stretch taken out or repeated, or a cut.
fn mutated(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    match random.below(6) {
        0 => bytes.truncate(random.below(bytes.len())),
        1 => {
            let at = random.below(bytes.len());
            bytes[at] = random.below(256) as u8;
        }
        2 => {
            let start = random.below(bytes.len());
            let end = (start + 1 + random.below(40)).min(bytes.len());
            bytes.drain(start..end);
        }
        3 => {
            let start = random.below(bytes.len());
            let end = (start + 1 + random.below(90)).min(bytes.len());
            let again = bytes[start..end].to_vec();
            bytes.splice(end..end, again);
        }
        _ => {
            for _ in 0..=random.below(3) {
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
            }
        }
    }
    bytes
}

fn as_counted(run: &Run) -> bool {
    let counts = &run.meta.counts;
    run.turns.len() as u64 == counts.turns && run.sessions.len() as u64 == counts.sessions_arrived
}

/// Breaks each table of a run in one format many times.
fn survive(format: TableFormat) {
    let parent = tempfile::TempDir::new().expect("a temporary directory");
    let dir = parent.path().join("run");
    write(&Fixture::new().sound(), &dir, format).expect("it can be written");
    for table in TABLES {
        let path = dir.join(format!("{table}.{}", format.ending()));
        let sound = fs::read(&path).expect("it is there");
        let mut refused = 0;
        for seed in 1..=MUTATIONS {
            let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            fs::write(&path, mutated(&sound, &mut random)).expect("it is writable");
            match trapcheck::directory::load(&dir, &LoadOptions::default()) {
                Ok(run) => assert!(as_counted(&run), "{table} {format:?} {seed}: other rows"),
                Err(Problems(list)) => {
                    assert!(
                        !list.is_empty(),
                        "{table} {format:?} {seed}: refused without a reason"
                    );
                    refused += 1;
                }
            }
            // With a cut-off line left out, fewer rows are used only with a note.
            if let Ok(run) = trapcheck::directory::load(&dir, &LoadOptions { drop_cut_off: true }) {
                assert!(as_counted(&run) || !run.notes.is_empty(), "{table} {format:?} {seed}");
            }
        }
        assert!(refused > MUTATIONS / 4, "{table} {format:?}: only {refused} refused");
        fs::write(&path, &sound).expect("it is writable");
    }
}

/// Both packings carry a checksum of what is inside.
#[test]
fn a_flipped_bit_of_a_packed_table_changes_no_value() {
    for format in [TableFormat::CsvGz, TableFormat::CsvZst] {
        let parent = tempfile::TempDir::new().expect("a temporary directory");
        let dir = parent.path().join("run");
        let run = Fixture::new().sound();
        write(&run, &dir, format).expect("it can be written");
        let path = dir.join(format!("engine.{}", format.ending()));
        let sound = fs::read(&path).expect("it is there");
        let (mut tried, mut refused) = (0, 0);
        for bit in (0..sound.len() * 8).step_by(3) {
            tried += 1;
            let mut flipped = sound.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            fs::write(&path, flipped).expect("it is writable");
            match trapcheck::directory::load(&dir, &LoadOptions::default()) {
                Ok(read) => same_data(&read, &run),
                Err(_) => refused += 1,
            }
        }
        // A few bits of the header say nothing about the content: time, system, window.
        assert!(refused * 8 > tried * 7, "{format:?}: {refused} of {tried} bits");
    }
}

#[test]
fn broken_csv_never_passes_for_other_rows() {
    survive(TableFormat::Csv);
}

#[test]
fn broken_gzip_never_passes_for_other_rows() {
    survive(TableFormat::CsvGz);
}

#[test]
fn broken_zstd_never_passes_for_other_rows() {
    survive(TableFormat::CsvZst);
}

#[test]
fn broken_parquet_never_passes_for_other_rows() {
    survive(TableFormat::Parquet);
}

#[test]
fn broken_meta_json_never_passes_for_other_rows() {
    let fixture = Fixture::new();
    let sound = fs::read(fixture.path("meta.json")).expect("it is there");
    for seed in 1..=600_u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        fixture.write("meta.json", mutated(&sound, &mut random));
        if let Ok(run) = fixture.load() {
            assert!(as_counted(&run), "{seed}");
        }
    }
}
