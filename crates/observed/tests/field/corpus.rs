//! The corpus: a small file of every format and version, and broken ones. Its names begin with
//! the format's word, or with `broken`.

use std::path::PathBuf;

use trapcheck_observed::answer::Ask;
use trapcheck_observed::form::Observed;
use trapcheck_observed::format::Format;
use trapcheck_observed::import::{Told, runs};
use trapcheck_observed::read::{Reader, whole};

use crate::made::judged;

pub struct Sample {
    pub name: String,
    /// None of the broken ones.
    pub format: Option<Format>,
    pub bytes: Vec<u8>,
}

/// All of them, in order of name.
pub fn corpus() -> Vec<Sample> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let sample = |path: PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let word = name.split('.').next().unwrap().to_owned();
        let format = Format::ALL.into_iter().find(|format| format.word() == word);
        assert!(format.is_some() || word == "broken", "{name}");
        Sample { bytes: std::fs::read(path).unwrap(), format, name }
    };
    paths.into_iter().map(sample).collect()
}

/// Those that are whole.
pub fn whole_ones() -> impl Iterator<Item = (Sample, Format)> {
    corpus().into_iter().filter_map(|sample| {
        let format = sample.format?;
        Some((sample, format))
    })
}

/// Everything that is said, but for where it came from: what two readings have to agree in.
pub fn told(observed: &Observed) -> String {
    let session = |r: &trapcheck_observed::form::Request| {
        r.session.map(|s| observed.names.session_id(s).to_owned())
    };
    let requests: Vec<_> = observed
        .requests
        .iter()
        .map(|r| {
            let mut plain = r.clone();
            (plain.session, plain.row) = (None, 0);
            (session(r), plain)
        })
        .collect();
    let engines: Vec<_> = observed
        .engines
        .iter()
        .map(|(name, e)| {
            (name, &e.version, e.pool_tokens, e.prefix_caching, e.series.samples().to_vec())
        })
        .collect();
    format!("{requests:#?}\n{engines:#?}\n{:#?}\n{:?}", observed.rungs, observed.reuse_ceiling)
}

/// Nothing of what is said may be infinite or no number.
pub fn is_finite(observed: &Observed) -> bool {
    let said = told(observed);
    let values = said.replace("values: [", "").replace("NaN,", "").replace("NaN\n", "");
    !values.contains("inf,") && !values.contains("inf\n")
}

#[test]
fn every_format_has_a_file_and_every_file_is_recognised_by_its_content() {
    let mut seen = std::collections::BTreeSet::new();
    for (sample, format) in whole_ones() {
        let observed = whole(&sample.bytes, None).unwrap();
        assert_eq!(observed.formats, [format], "{}", sample.name);
        let forced = whole(&sample.bytes, Some(format)).unwrap();
        assert_eq!(told(&observed), told(&forced), "{}", sample.name);
        seen.insert(format);
    }
    assert_eq!(seen.len(), Format::ALL.len());
}

#[test]
fn no_file_read_as_any_format_panics_or_gives_what_is_no_number() {
    for sample in corpus() {
        for format in Format::ALL.map(Some).into_iter().chain([None]) {
            let Ok(observed) = whole(&sample.bytes, format) else { continue };
            assert!(is_finite(&observed), "{} as {format:?}", sample.name);
            for answer in judged(&observed, &Ask::default()) {
                assert!(!answer.headline.contains("NaN"), "{}: {}", sample.name, answer.headline);
                assert!(!answer.headline.contains("inf "), "{}: {}", sample.name, answer.headline);
            }
            drop(runs(&observed, &told_of_a_run()));
        }
    }
}

/// All that a run needs beside its files.
fn told_of_a_run() -> Told {
    Told {
        run_id: "r".into(),
        cell: "c".into(),
        arm: "a".into(),
        pool_tokens: Some(1000),
        prefix_caching: Some(true),
        population: None,
    }
}

#[test]
fn the_fuzz_target_goes_through_what_the_corpus_goes_through() {
    let target = include_str!("../../fuzz/fuzz_targets/readers.rs");
    for what in ["Format::ALL", "Reader::new", "answers(", "runs("] {
        assert!(target.contains(what), "{what}");
    }
}

/// The same bytes with one of them changed, at many places, by a fixed stream.
#[test]
fn files_with_a_byte_changed_anywhere_never_panic() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for sample in corpus().into_iter().filter(|sample| !sample.bytes.is_empty()) {
        for _ in 0..60 {
            let mut bytes = sample.bytes.clone();
            for _ in 0..=next() % 3 {
                let at = next() as usize % bytes.len();
                let marks = b"{}[]\",:\\\n\r\0\xff9-e ";
                bytes[at] = marks[next() as usize % marks.len()];
            }
            for format in [None, sample.format] {
                if let Ok(observed) = whole(&bytes, format) {
                    let _ = judged(&observed, &Ask::default());
                    drop(runs(&observed, &told_of_a_run()));
                }
            }
        }
    }
}

#[test]
fn pieces_of_any_size_give_what_the_whole_gives() {
    for (sample, format) in whole_ones() {
        let all = told(&whole(&sample.bytes, None).unwrap());
        for size in [1, 7, 64, 4093] {
            let mut reader = Reader::new(Some(format), None);
            for piece in sample.bytes.chunks(size) {
                reader.push(piece).unwrap();
            }
            assert_eq!(told(&reader.finish().unwrap()), all, "{} by {size}", sample.name);
        }
    }
}
