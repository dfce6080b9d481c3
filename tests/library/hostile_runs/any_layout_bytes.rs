//! Any bytes in the files of a run of another shape: the corpus of the fuzz target, and sound
//! files with a few bytes changed. Each is a run, or an error in words.

use std::fs;
use std::path::Path;

use crate::hostile_runs::any_file::AnyFile;

const PROJECT: &str = env!("CARGO_MANIFEST_DIR");

/// The files of a folder of this one, in order of name.
fn corpus(folder: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(PROJECT).join("tests/library/hostile_runs").join(folder);
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| fs::read(path).unwrap()).collect()
}

/// Reads a run with these bytes in a file: whether it is one.
fn is_read(runs: &AnyFile, file: usize, bytes: &[u8]) -> bool {
    match runs.read_with(file, bytes) {
        Ok(run) => {
            assert!(run.turns.iter().all(|turn| turn.t_ready_s.is_finite()));
            true
        }
        Err(problems) => {
            assert!(problems.iter().any(|words| words.contains(": ")), "{problems:?}");
            false
        }
    }
}

#[test]
fn sound_files_are_read_and_none_of_the_corpus_is_a_crash() {
    let runs = AnyFile::new(PROJECT);
    let (odd, packed) = (corpus("any_bytes"), corpus("frames"));
    assert!(odd.len() >= 12 && packed.len() == 2, "{} {}", odd.len(), packed.len());
    for file in 0..runs.files() {
        assert!(is_read(&runs, file, runs.sound(file)), "{file}");
        for bytes in odd.iter().chain(&packed) {
            is_read(&runs, file, bytes);
        }
    }
}

#[test]
fn a_byte_changed_anywhere_in_a_table_its_metadata_or_its_layout_is_no_crash() {
    let runs = AnyFile::new(PROJECT);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let (mut read, mut refused) = (0, 0);
    for file in 0..runs.files() {
        let with_parquet = [runs.sound(file).to_vec()].into_iter().chain(corpus("frames"));
        for sound in with_parquet {
            for _ in 0..12 {
                let mut bytes = sound.clone();
                for _ in 0..=next() % 3 {
                    let at = next() as usize % bytes.len();
                    let marks = b"{}[]\",:&*!|\n\r\0\xff9-e. ";
                    bytes[at] = marks[next() as usize % marks.len()];
                }
                bytes.truncate(bytes.len() - next() as usize % 5 * bytes.len() / 16);
                *(if is_read(&runs, file, &bytes) { &mut read } else { &mut refused }) += 1;
            }
        }
    }
    assert!(read > 0 && refused > 0, "{read} {refused}");
}

#[test]
fn the_fuzz_target_reads_what_these_tests_read() {
    let target = include_str!("../../../fuzz/fuzz_targets/layouts.rs");
    for what in ["hostile_runs/any_file.rs", "read_with(file, bytes)", "0..RUNS.files()"] {
        assert!(target.contains(what), "{what}");
    }
}
