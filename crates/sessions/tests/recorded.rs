//! The 710 recorded sessions, where they lie beside the project; they are not part of it.
#![allow(clippy::unwrap_used)]

use std::fs::File;
use std::path::{Path, PathBuf};

use trapcheck_sessions::reading::Reading;
use trapcheck_sessions::session::Session;
use trapcheck_sessions::{Inputs, Names, read};

fn traces() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let traces = root.join("../../../shared/traces/kv-cache-tester");
    let found = traces.is_dir().then_some(traces);
    if found.is_none() {
        println!("skipped: the recorded sessions are not here");
    }
    found
}

fn sessions(path: &Path) -> (Vec<Session>, Reading) {
    let mut sessions = Vec::new();
    let file = File::open(path).unwrap();
    let source: Box<dyn std::io::Read> = match path.extension().unwrap().to_str() {
        Some("gz") => Box::new(flate2::read::MultiGzDecoder::new(file)),
        _ => Box::new(file),
    };
    let reading = read("it", source, Inputs::Whole, &mut Names::new(), &mut |session| {
        sessions.push(session);
        Ok(())
    });
    (sessions, reading.unwrap())
}

#[test]
fn the_table_of_recorded_sessions_is_read_whole() {
    let Some(traces) = traces() else { return };
    let (sessions, reading) = sessions(&traces.join("turns.csv.gz"));
    assert_eq!((reading.read.sessions, reading.read.turns), (710, 48_658));
    assert!(reading.left_out.is_empty() && !reading.cut, "{:?}", reading.examples);
    assert_eq!(sessions.iter().map(|s| s.turns.len()).sum::<usize>(), 48_658);
}
