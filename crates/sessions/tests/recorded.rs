//! The 710 recorded sessions, where they lie beside the project; they are not part of it.
#![allow(clippy::unwrap_used)]

use std::fs::File;
use std::path::{Path, PathBuf};

use trapcheck_sessions::description::Description;
use trapcheck_sessions::empirical::fit;
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

#[test]
fn what_they_are_like_is_what_was_published_with_them() {
    let Some(traces) = traces() else { return };
    let (sessions, _) = sessions(&traces.join("turns.csv.gz"));
    let found = Description::of(&sessions);
    let median = |name| {
        let quantity = found.quantities.iter().find(|q| q.name == name).unwrap();
        quantity.sample.quantile(0.5).unwrap()
    };
    assert_eq!(median("turns"), 45.0);
    assert_eq!(median("prompt_tokens"), 104_644.0);
    assert_eq!(median("output_tokens"), 216.0);
    assert_eq!(median("new_tokens"), 705.0);
    assert_eq!(median("gap_s"), 10.0);
    assert_eq!((found.follow_ups, found.shrunk), (47_948, 422));
    let percent = |x: Option<f64>| format!("{:.1}", 100.0 * x.unwrap());
    assert_eq!(percent(found.reuse_ceiling), "96.3");
    assert_eq!(percent(found.follow_up_reuse_ceiling), "97.4");
    assert_eq!(format!("{:.1}", found.work_ratio.unwrap()), "27.1");
}

/// How far what is drawn from the quantiles is from the record, in the record's own measures.
#[test]
fn a_fit_to_them_draws_sessions_that_are_like_them() {
    let Some(traces) = traces() else { return };
    let (recorded, _) = sessions(&traces.join("turns.csv.gz"));
    let fitted = fit(&recorded, "agent-sessions", "the recorded set").unwrap();
    let drawn: Vec<Session> = (0..2000).map(|i| fitted.session(0, i)).collect();
    let (recorded, drawn) = (Description::of(&recorded), Description::of(&drawn));
    let ratio = |of: &dyn Fn(&Description) -> f64| of(&drawn) / of(&recorded);
    let mean = |name: &'static str| {
        move |d: &Description| {
            d.quantities.iter().find(|q| q.name == name).unwrap().sample.mean().unwrap()
        }
    };
    let mut ratios = vec![("work ratio".to_owned(), ratio(&|d| d.work_ratio.unwrap()))];
    for name in
        ["turns", "prompt_tokens", "new_tokens", "output_tokens", "gap_s", "footprint_tokens"]
    {
        ratios.push((name.to_owned(), ratio(&mean(name))));
    }
    for k in [1, 2, 5, 10, 20, 50, 100, 200] {
        let prompt = ratio(&|d| d.by_turn[k - 1].mean_prompt_tokens);
        ratios.push((format!("prompt of turn {k}"), prompt));
    }
    for (what, ratio) in ratios {
        assert!((0.9..1.1).contains(&ratio), "{what}: {ratio:.4} of the recorded");
    }
}

#[test]
fn the_published_files_reduce_to_the_rows_of_the_table() {
    let Some(traces) = traces() else { return };
    let (table, _) = sessions(&traces.join("turns.csv.gz"));
    for (file, beside) in [("0187", 0), ("0277", 4), ("0291", 2), ("0504", 0), ("0613", 0)] {
        let (found, reading) = sessions(&traces.join(format!("raw/trace_{file}.json")));
        assert!(reading.left_out.is_empty(), "{:?}", reading.examples);
        assert_eq!(reading.beside.sessions, beside);
        let main = &found[0];
        let row = table.iter().find(|session| session.id == main.id).unwrap();
        assert_eq!(main.turns, row.turns, "{file}");
        assert!(main.shared_tokens.unwrap() > 5_000);
    }
}
