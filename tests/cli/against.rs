//! `trapcheck knee --against`: closed runs that played recorded sessions, simulated in their own
//! order beside what was measured; and the predictions that are frozen.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use trapcheck::configs;
use trapcheck::directory::write::{TableFormat, write};
use trapcheck::knee::in_order;
use trapcheck::run::Source;
use trapcheck::sessions::{Inputs, load};
use trapcheck::setup::{ArmSpec, Workload};
use trapcheck::sim::{Options, RunSpec};
use trapcheck_sessions::play::{Rules, play};
use trapcheck_setup::hash::sha256_hex;

use crate::knee::{sessions, trees};
use crate::project::{root, stderr, stdout, trapcheck};

/// SHA-256 of predictions/vllm-cpu-recorded/SHA256SUMS, which has those of the predictions: they were
/// fixed before the runs they are about, and do not change.
const FROZEN: &str = "829e5e66eba2eb10c9b59f1e2013bada4c68dffd4a1f8d8c4c68a2465f9d18be";

/// The recorded sessions, which are not part of the project.
pub fn traces() -> Option<PathBuf> {
    let traces = root().join("../shared/traces/kv-cache-tester/turns.csv.gz");
    let found = traces.exists().then_some(traces);
    if found.is_none() {
        println!("skipped: the recorded sessions are not here");
    }
    found
}

/// A closed run of six lanes on `sglang-300k`, as if an engine had made it that does exactly what
/// the simulator does.
fn made_up_run(file: &Path, dir: &Path, source: Source) {
    let configs = configs::load(&root().join("configs")).unwrap();
    let (cell, _, protocol) = configs.of_cell("sglang-300k").unwrap();
    let sessions = load(file, Inputs::Whole).unwrap().sessions;
    let played = play(&sessions, Rules::as_recorded(60.0, cell.pool_tokens));
    let workload = Workload::of_traces("made-up", played.traces).unwrap();
    let mut order = workload.recorded.as_ref().unwrap().traces.clone();
    order.reverse();
    let order: Vec<_> = (0..720 / order.len()).flat_map(|_| order.iter().cloned()).collect();
    let arm = ArmSpec::Closed { population: 6 };
    let own = Options::of_engine(&cell.engine);
    let options = Options { ramp_s: 2.0, sample_s: 1.0, gauges_of_last_pass: true, ..own };
    let workload = &workload;
    let (multiple, seed, arm) = (None, 0, &arm);
    let spec = RunSpec { cell, workload, protocol, arm, multiple, seed, options };
    let mut run = in_order(&spec, &order).unwrap();
    run.meta.source = source;
    write(&run, dir, TableFormat::CsvGz).unwrap();
}

fn against(file: &Path, run: &Path, more: &[&str]) -> (Option<i32>, String, String) {
    let args = ["knee", "--cell", "sglang-300k", "--speeds", "3", "--orders", "2"];
    let own = ["--sessions", file.to_str().unwrap(), "--against", run.to_str().unwrap()];
    let output = trapcheck(&[&args[..], &own, more].concat()).output().unwrap();
    (output.status.code(), stdout(&output), stderr(&output))
}

#[test]
fn an_engine_that_does_what_the_simulator_does_is_predicted_to_the_digit() {
    let folder = tempfile::tempdir().unwrap();
    let (file, run) = (sessions(folder.path()), folder.path().join("run"));
    made_up_run(&file, &run, Source::Engine);
    let (code, said, notes) = against(&file, &run, &["--ramp", "2", "--format", "csv"]);
    assert_eq!(code, Some(0), "{notes}");
    let mut rows = said.lines().map(|row| row.split(',').map(str::to_owned).collect::<Vec<_>>());
    let header = rows.next().unwrap();
    let place = |name: &str| header.iter().position(|column| column == name).unwrap();
    let (quantity, measured, predicted) =
        (place("quantity"), place("measured"), place("predicted"));
    let rows: Vec<Vec<String>> = rows.collect();
    assert_eq!(rows.len(), 12, "{said}");
    for row in &rows {
        assert_eq!(row[measured], row[predicted], "{}: {said}", row[quantity]);
    }
    let of = |name: &str| rows.iter().find(|row| row[quantity] == name).unwrap();
    assert!(of("follow_up_hits")[measured].parse::<f64>().unwrap() > 0.8, "{said}");
    assert_eq!(of("state")[measured], "good");
    assert_eq!(of("good_up_to")[measured], "6");
    assert_eq!(of("trapped_from")[measured], "");
    // Speeds are spread on both sides of the run's own.
    let turns = of("turns_per_s");
    let [least, own, greatest] =
        ["least", "predicted", "greatest"].map(|name| turns[place(name)].parse::<f64>().unwrap());
    assert!(least <= own && own <= greatest && least < greatest, "{turns:?}");
}

#[test]
fn a_run_with_subagents_is_simulated_with_them_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let (file, run) = (trees(folder.path()), folder.path().join("run"));
    made_up_run(&file, &run, Source::Engine);
    let (code, said, notes) = against(&file, &run, &["--ramp", "2", "--format", "csv"]);
    assert_eq!(code, Some(0), "{notes}");
    let mut reader = csv::Reader::from_reader(said.as_bytes());
    let header = reader.headers().unwrap().clone();
    let place = |name: &str| header.iter().position(|column| column == name).unwrap();
    let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 12, "{said}");
    for row in &rows {
        assert_eq!(row[place("measured")], row[place("predicted")], "{said}");
    }
    let (code, _, notes) = against(&file, &run, &["--subagents", "left-out"]);
    assert_eq!(code, Some(2), "{notes}");
    let said = "plan: 720 subagents; the workload has 0 in these sessions (--subagents)";
    assert!(notes.contains(said), "{notes}");
}

#[test]
fn what_was_not_played_so_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (file, run) = (sessions(folder.path()), folder.path().join("run"));
    made_up_run(&file, &run, Source::Engine);
    let simulated = folder.path().join("simulated");
    made_up_run(&file, &simulated, Source::Simulator);
    let law = root().join("results/vllm-cpu/cpu_1_pulled_20261129-125700/agentload_closed");
    let open = root().join("results/vllm-cpu/cpu_1_pulled_20261129-125700/agentload_burst");
    for (run, more, said) in [
        (&run, vec!["--gap-limit", "5"], "gaps are not those of the workload"),
        (&simulated, vec![], "is simulated; expected a run of an engine"),
        (&law, vec!["--measured", "30,120"], "names no recorded session"),
        (&open, vec![], "expected a closed run, found burst"),
        (&run, vec!["--speed-spread", "1"], "--speed-spread: expected a share below 1"),
        (&run, vec!["--ramp", "-1"], "--ramp: expected seconds"),
        (&run, vec!["--measured", "9,3"], "--measured: expected two times"),
        (&folder.path().to_owned(), vec!["--measured", "9,99999"], "ended before its window did"),
    ] {
        let (code, _, stderr) = against(&file, run, &more);
        assert_eq!(code, Some(2), "{more:?}");
        assert!(stderr.contains(said), "{more:?}: {stderr}");
    }
}

#[test]
fn the_predictions_of_recorded_runs_are_those_that_were_frozen() {
    let folder = root().join("predictions/vllm-cpu-recorded");
    let sums = std::fs::read(folder.join("SHA256SUMS")).unwrap();
    assert_eq!(sha256_hex(&sums), FROZEN);
    for line in String::from_utf8(sums).unwrap().lines() {
        let (hash, name) = line.split_once("  ").unwrap();
        assert_eq!(sha256_hex(&std::fs::read(folder.join(name)).unwrap()), hash, "{name}");
    }
}

#[test]
fn the_predictions_come_out_again_where_the_sessions_are() {
    let Some(traces) = traces() else { return };
    let folder = tempfile::tempdir().unwrap();
    let made = std::process::Command::new(root().join("predictions/vllm-cpu-recorded/make.sh"))
        .arg(folder.path())
        .env("TRACES", traces)
        .env("TRAPCHECK", assert_cmd::cargo::cargo_bin("trapcheck"))
        .status()
        .unwrap();
    assert!(made.success());
    for (path, bytes) in crate::project::bytes_under(folder.path()) {
        let frozen = std::fs::read(root().join("predictions/vllm-cpu-recorded").join(&path));
        assert!(frozen.unwrap() == bytes, "{}", path.display());
    }
}

/// Rows of a prediction, by population and quantity: what was measured and what was predicted.
fn rows(name: &str) -> BTreeMap<(u32, String), [String; 2]> {
    let path = root().join("predictions/vllm-cpu-recorded").join(name);
    let mut reader = csv::Reader::from_path(path).unwrap();
    let header = reader.headers().unwrap().clone();
    let place = |name: &str| header.iter().position(|column| column == name).unwrap();
    let [arm, population, quantity, measured, predicted] =
        ["arm", "population", "quantity", "measured", "predicted"].map(place);
    let rows = reader.records().map(Result::unwrap);
    let closed = rows.filter(|row| &row[arm] == "closed" && !row[population].is_empty());
    closed
        .map(|row| {
            let key = (row[population].parse().unwrap(), row[quantity].to_owned());
            (key, [row[measured].to_owned(), row[predicted].to_owned()])
        })
        .collect()
}

#[test]
fn the_fall_of_a_real_engine_on_recorded_sessions_comes_out() {
    let rows = rows("gap10.csv");
    let of = |n: u32, quantity: &str| -> [f64; 2] {
        rows[&(n, quantity.to_owned())].each_ref().map(|value| value.parse().unwrap())
    };
    let populations = [8, 12, 16, 20, 24, 28, 32, 48];
    for n in populations {
        let [measured, predicted] = of(n, "token_hits");
        assert!((measured - predicted).abs() < 0.05, "{n}: {measured} {predicted}");
        for rate in ["turns_per_s", "uncached_tokens_per_s"] {
            let [measured, predicted] = of(n, rate);
            assert!((predicted / measured - 1.0).abs() < 0.1, "{n}: {measured} {predicted}");
        }
        let [measured, predicted] = &rows[&(n, "state".to_owned())];
        assert_eq!(measured, predicted, "{n}");
    }
    // Both hold up to 16 and have fallen at 24.
    for n in [8, 12, 16] {
        assert!(of(n, "token_hits").iter().all(|hits| *hits > 0.9), "{n}");
    }
    for n in [24, 28, 32, 48] {
        assert!(of(n, "token_hits").iter().all(|hits| *hits < 0.2), "{n}");
    }
}
