//! The simulator against a real engine on recorded sessions: closed populations on a vLLM, tokens
//! and time scaled down. Its costs are fitted to the cache-off run alone.
//!
//! Traces and runs lie beside the project; where they are not, the test says so.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::read::MultiGzDecoder;
use trapcheck_runs::law::iteration;
use trapcheck_runs::run::{Kind, Run, SessionIndex, Shape, Turn, TurnStatus};
use trapcheck_sessions::session::Session;
use trapcheck_sessions::{Inputs, Names, read};
use trapcheck_setup::setup::cell::Engine;
use trapcheck_setup::setup::protocol::WarmUp;
use trapcheck_setup::setup::{
    ArmSpec, Batching, Cell, Costs, Protocol, Scheduling, Speed, Trace, TraceTurn, Workload,
};
use trapcheck_simulator::client::records::TurnRecord;
use trapcheck_simulator::plan::{DrawnSession, Plan};
use trapcheck_simulator::sim::{Options, RunSpec, SimRun, replay};

/// Recorded tokens per token of the runs.
const TOKENS: u64 = 64;

type TableRow = BTreeMap<String, String>;
type Traces = BTreeMap<String, Arc<Trace>>;

fn beside(path: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(path);
    let found = path.exists().then_some(path);
    if found.is_none() {
        println!("skipped: the recorded sessions and runs are not here");
    }
    found
}

fn rows(path: &Path) -> Vec<TableRow> {
    let mut reader = csv::Reader::from_reader(MultiGzDecoder::new(File::open(path).unwrap()));
    let names: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let row = |record: csv::StringRecord| {
        names.iter().cloned().zip(record.iter().map(str::to_owned)).collect()
    };
    reader.records().map(|record| row(record.unwrap())).collect()
}

/// The recorded sessions in the runs' scale, by name: those of at most 400 turns and 245,000
/// prompt tokens.
fn traces() -> Option<Traces> {
    let path = beside("traces/kv-cache-tester/turns.csv.gz")?;
    let mut sessions: Vec<Session> = Vec::new();
    let text = MultiGzDecoder::new(File::open(path).unwrap());
    read("turns", text, Inputs::Whole, &mut Names::new(), &mut |session| {
        sessions.push(session);
        Ok(())
    })
    .unwrap();
    let kept = sessions.iter().filter(|session| {
        let most = session.turns.iter().map(|turn| turn.prompt_tokens).max().unwrap();
        session.turns.len() <= 400 && most <= 245_000
    });
    let scaled = |session: &Session| {
        let turns = session.turns.iter().map(|turn| TraceTurn {
            gap_s: 0.0,
            prompt_tokens: turn.prompt_tokens.div_ceil(TOKENS),
            output_tokens: (turn.output_tokens as f64 / TOKENS as f64).round().max(1.0) as u64,
            reusable_tokens: turn.reusable_tokens.unwrap() / TOKENS,
        });
        Arc::new(Trace { id: session.id.clone(), turns: turns.collect() })
    };
    Some(kept.map(|session| (session.id.clone(), scaled(session))).collect())
}

/// The plan that a real run followed.
fn plan(dir: &Path, traces: &Traces) -> Plan {
    let session = |(row, number): (TableRow, u32)| {
        let trace = &traces[&row["recorded"]];
        let tool_s = row["tool_s"].split(';').filter(|s| !s.is_empty());
        let tool_s: Vec<f64> = tool_s.map(|s| s.parse().unwrap()).collect();
        assert_eq!(tool_s.len() + 1, trace.turns.len());
        let trace = Some(Arc::clone(trace));
        DrawnSession { kind: Kind::Base, session: number, t_arrival_s: None, tool_s, trace }
    };
    let sessions = rows(&dir.join("plan.csv.gz")).into_iter().zip(0..).map(session).collect();
    Plan { seed: 0, sessions }
}

/// A real run, as much of it as is measured here.
fn measured(dir: &Path) -> Run {
    let number = |row: &TableRow, name: &str| row[name].parse::<f64>().ok();
    let turn = |row: &TableRow| Turn {
        session: SessionIndex(row["session"].parse().unwrap()),
        number: row["turn"].parse().unwrap(),
        t_ready_s: number(row, "t_ready").unwrap(),
        t_submit_s: number(row, "t_submit").unwrap(),
        t_first_s: number(row, "t_first"),
        t_end_s: number(row, "t_end"),
        prompt_tokens: row["prompt_tokens"].parse().unwrap(),
        cached_tokens: row["cached_tokens"].parse().ok(),
        completion_tokens: row["completion_tokens"].parse().ok(),
        tool_s: number(row, "tool_s"),
        status: if row["status"] == "ok" {
            TurnStatus::Ok
        } else {
            TurnStatus::UnfinishedAtHorizon
        },
    };
    let meta = dir.join("meta.json");
    Run {
        dir: dir.into(),
        meta: Shape::new(dir, None).meta(&std::fs::read(meta).unwrap()).unwrap(),
        sessions: Vec::new(),
        turns: rows(&dir.join("turns.csv.gz")).iter().map(turn).collect(),
        engine: Vec::new(),
        gate: Vec::new(),
        plan: Vec::new(),
        sources: Vec::new(),
        notes: Vec::new(),
    }
}

fn cell(costs: Costs) -> Cell {
    Cell {
        name: "recorded".into(),
        workload: "recorded".into(),
        protocol: "recorded".into(),
        engine: Engine { name: "vllm".into(), version: "0.32.0".into() },
        model: "tiny".into(),
        gpu: "CPU".into(),
        pool_tokens: 30_016,
        block_tokens: 32,
        scheduling: Scheduling::Fcfs,
        batching: Batching::Mixed,
        chunk_tokens: 2048,
        max_running: 256,
        lambda_ref_per_s: 1.0,
        all_miss_tokens_per_s: None,
        costs,
        iteration_costs: None,
        speed: Speed::Own,
        sources: BTreeMap::new(),
    }
}

fn protocol() -> Protocol {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/protocols/paper.yaml");
    let paper = Protocol::parse(&path, &std::fs::read(&path).unwrap()).unwrap();
    let closed = WarmUp { warm_up_s: 46.0, window_s: 134.0 };
    Protocol { closed, e0a: WarmUp { warm_up_s: 40.0, window_s: 80.0 }, ..paper }
}

/// What turns that ended in a window did.
#[derive(Debug, Clone, Copy)]
struct Measured {
    token_hit: f64,
    turns_per_s: f64,
    uncached_per_s: f64,
}

/// Of (end, prompt, cached) of each turn.
fn over(turns: impl Iterator<Item = (f64, u64, u64)>, (from_s, to_s): (f64, f64)) -> Measured {
    let (mut n, mut prompt, mut cached) = (0.0, 0, 0);
    for (_, p, c) in turns.filter(|turn| from_s <= turn.0 && turn.0 < to_s) {
        (n, prompt, cached) = (n + 1.0, prompt + p, cached + c);
    }
    let window_s = to_s - from_s;
    Measured {
        token_hit: cached as f64 / prompt as f64,
        turns_per_s: n / window_s,
        uncached_per_s: (prompt - cached) as f64 / window_s,
    }
}

fn of_engine(run: &Run, window_s: (f64, f64)) -> Measured {
    let ended = run.turns.iter().filter(|turn| turn.status == TurnStatus::Ok);
    let turn = |t: &Turn| Some((t.t_end_s?, t.prompt_tokens, t.cached_tokens.unwrap_or(0)));
    over(ended.filter_map(turn), window_s)
}

fn of_simulator(run: &SimRun, window_s: (f64, f64)) -> Measured {
    let turn = |t: &TurnRecord| Some((t.t_end_s?, t.prompt_tokens, t.cached_tokens.unwrap_or(0)));
    over(run.turns.iter().filter_map(turn), window_s)
}

#[test]
fn the_fall_of_a_real_engine_on_recorded_sessions_comes_out() {
    let runs = beside("results/vllm-cpu-recorded/rec_1_pulled_20261130-011500");
    let (Some(runs), Some(traces)) = (runs, traces()) else { return };
    assert_eq!(traces.len(), 567);
    let played = traces.values().map(|trace| Trace::clone(trace)).collect();
    let workload = Workload::of_traces("recorded", played).unwrap();
    let protocol = protocol();
    let cache_off = runs.join("agentload_e0a/20261130-002254_n24");
    let fit = iteration::fit(&measured(&cache_off)).unwrap();
    let cell = cell(fit.costs());
    let simulated = |dir: &Path, arm: ArmSpec| {
        let options = Options { ramp_s: 2.0, ..Options::of_engine(&cell.engine) };
        let (cell, workload, protocol) = (&cell, &workload, &protocol);
        let (arm, multiple, seed) = (&arm, None, 0);
        let spec = RunSpec { cell, workload, protocol, arm, multiple, seed, options };
        replay(&spec, plan(dir, &traces)).unwrap()
    };
    let off_s = (40.0, 120.0);
    println!("{fit:?}");
    println!("cache off: engine    {:.3?}", of_engine(&measured(&cache_off), off_s));
    let off = simulated(&cache_off, ArmSpec::E0a { population: 24 });
    println!("           simulated {:.3?}", of_simulator(&off, off_s));
    let mut hits = BTreeMap::new();
    for entry in std::fs::read_dir(runs.join("agentload_closed")).unwrap() {
        let dir = entry.unwrap().path();
        let engine = measured(&dir);
        let population = engine.meta.population.unwrap() as u32;
        let window_s = (46.0, 180.0);
        let theirs = of_engine(&engine, window_s);
        let ours = of_simulator(&simulated(&dir, ArmSpec::Closed { population }), window_s);
        hits.insert(population, (theirs, ours));
    }
    assert_eq!(hits.len(), 8);
    for (n, (theirs, ours)) in &hits {
        println!("n {n}: engine    {theirs:.3?}\n      simulated {ours:.3?}");
    }
    // Everywhere the simulator is close, at 20 too, where the engine is half fallen.
    for (n, (theirs, ours)) in &hits {
        assert!((theirs.token_hit - ours.token_hit).abs() < 0.05, "{n}");
        assert!((ours.turns_per_s / theirs.turns_per_s - 1.0).abs() < 0.1, "{n}");
        assert!((ours.uncached_per_s / theirs.uncached_per_s - 1.0).abs() < 0.1, "{n}");
    }
    // Both hold up to 16 and have fallen at 24.
    for n in [8, 12, 16] {
        assert!(hits[&n].0.token_hit > 0.9 && hits[&n].1.token_hit > 0.9, "{n}");
    }
    for n in [24, 28, 32, 48] {
        assert!(hits[&n].0.token_hit < 0.2 && hits[&n].1.token_hit < 0.2, "{n}");
    }
}
