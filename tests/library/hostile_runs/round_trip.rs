//! What is written is what is read, in every format, from any of them.

use proptest::prelude::*;
use trapcheck::directory::LoadOptions;
use trapcheck::directory::write::{TableFormat, write};
use trapcheck::run::{
    Counts, EngineSample, GateEvent, GateEventKind, Kind, PlannedSession, Run, Session,
    SessionIndex, SessionStatus, Turn, TurnStatus,
};

use crate::hostile_runs::fixture::{Fixture, same_data};

const FORMATS: [TableFormat; 4] =
    [TableFormat::Csv, TableFormat::CsvGz, TableFormat::CsvZst, TableFormat::Parquet];

/// What a made-up session is made from.
#[derive(Debug, Clone)]
struct Sketch {
    kind: Kind,
    /// Ticks of 0.1 ms after the arrival before it.
    after: u32,
    turns: Vec<TurnSketch>,
    recorded: Option<Box<str>>,
    ends: Ends,
}

/// A turn: how long it waits, is served and is followed by a tool call, in ticks of
/// 0.1 ms, and its tokens.
#[derive(Debug, Clone)]
struct TurnSketch {
    wait: u32,
    serve: u32,
    tool: u32,
    prompt: u64,
    cached: Option<u64>,
    decoded: Option<u64>,
}

#[derive(Debug, Clone)]
enum Ends {
    Completed,
    Failed(String),
    Unfinished,
}

fn sketch() -> impl Strategy<Value = Sketch> {
    let kind = prop_oneof![Just(Kind::Base), Just(Kind::Burst), Just(Kind::Subagent)];
    let count = || proptest::option::of(0..5_000_u64);
    let turn = (0..3000_u32, 1..9000_u32, 0..9000_u32, 1..90_000_u64, count(), count()).prop_map(
        |(wait, serve, tool, prompt, cached, decoded)| TurnSketch {
            wait,
            serve,
            tool,
            prompt,
            cached,
            decoded,
        },
    );
    let ends = prop_oneof![
        3 => Just(Ends::Completed),
        1 => error().prop_map(Ends::Failed),
        1 => Just(Ends::Unfinished),
    ];
    let name = prop_oneof![Just("a trace"), Just("an, other"), Just("\"third\"")];
    let recorded = proptest::option::of(name.prop_map(Box::from));
    (kind, 0..30_000_u32, proptest::collection::vec(turn, 1..6), recorded, ends).prop_map(
        |(kind, after, turns, recorded, ends)| Sketch { kind, after, turns, recorded, ends },
    )
}

/// A client's words: any text but the format's own and, because the end of a line is
/// where a carriage return is stripped, one that ends with it.
fn error() -> impl Strategy<Value = String> {
    let text =
        proptest::string::string_regex("[ -~\u{85}\u{2028}é,\"\n\r]{1,40}").expect("a regex");
    text.prop_filter("not the format's own words", |text| {
        !text.ends_with('\r') && text != "ok" && text != "unfinished_at_horizon"
    })
}

fn seconds(ticks: u32) -> f64 {
    f64::from(ticks) / 10_000.0
}

/// A sound run from sketches. Identifiers count within each kind, in order of arrival.
fn run_of(sketches: &[Sketch], samples: &[Option<u64>]) -> Run {
    let mut run = Fixture::new().sound();
    (run.sessions, run.turns, run.plan) = (Vec::new(), Vec::new(), Vec::new());
    let mut arrival = 0;
    for sketch in sketches {
        arrival += sketch.after;
        add_session(&mut run, sketch, arrival);
    }
    run.turns.sort_by(|a, b| {
        let times = a.t_submit_s.total_cmp(&b.t_submit_s).then(a.t_ready_s.total_cmp(&b.t_ready_s));
        times.then((a.session, a.number).cmp(&(b.session, b.number)))
    });
    run.plan.sort_by(|a, b| {
        let times = a.t_arrival_s.unwrap_or(0.0).total_cmp(&b.t_arrival_s.unwrap_or(0.0));
        a.kind.cmp(&b.kind).then(times)
    });
    run.engine = samples.iter().enumerate().map(|(i, value)| sample(i, *value)).collect();
    run.gate = run.sessions.iter().enumerate().map(|(i, s)| admission(i, s)).collect();
    let with = |status| run.sessions.iter().filter(|s| s.status == status).count() as u64;
    run.meta.counts = Counts {
        sessions_arrived: run.sessions.len() as u64,
        sessions_completed: with(SessionStatus::Completed),
        sessions_failed: with(SessionStatus::Failed),
        turns: run.turns.len() as u64,
        request_errors: with(SessionStatus::Failed),
    };
    // As long as a run may be of which the tables hold nothing.
    run.meta.duration_s = 600.0;
    run.meta.horizon_s = 600.0;
    run.meta.end_unix = None;
    // Every prompt fits.
    run.meta.pool_tokens = 90_000;
    run
}

fn add_session(run: &mut Run, sketch: &Sketch, arrival: u32) {
    let index = SessionIndex(run.sessions.len() as u32);
    let number = run.sessions.iter().filter(|s| s.kind == sketch.kind).count();
    // Padded, so that equal arrival times sort as they were made.
    let id: Box<str> = format!("{number:04}").into();
    let planned = sketch.turns.len() as u64;
    let mut t = arrival;
    for (i, turn) in sketch.turns.iter().enumerate() {
        let TurnSketch { wait, serve, tool, prompt, cached, decoded } = turn.clone();
        let last = i + 1 == sketch.turns.len();
        let status = match &sketch.ends {
            Ends::Failed(words) if last => TurnStatus::Error(words.as_str().into()),
            Ends::Unfinished if last => TurnStatus::UnfinishedAtHorizon,
            _ => TurnStatus::Ok,
        };
        let ended = status != TurnStatus::UnfinishedAtHorizon;
        run.turns.push(Turn {
            session: index,
            number: i as u64 + 1,
            t_ready_s: seconds(t),
            t_submit_s: seconds(t + wait),
            t_first_s: decoded.filter(|_| ended).map(|_| seconds(t + wait)),
            t_end_s: ended.then(|| seconds(t + wait + serve)),
            prompt_tokens: prompt,
            cached_tokens: cached.map(|c| c.min(prompt)).filter(|_| ended),
            completion_tokens: decoded,
            tool_s: (!last).then(|| seconds(tool)),
            status,
        });
        t += wait + serve + if last { 0 } else { tool };
    }
    let (status, done) = match sketch.ends {
        Ends::Completed => (SessionStatus::Completed, planned),
        Ends::Failed(_) => (SessionStatus::Failed, planned - 1),
        Ends::Unfinished => (SessionStatus::Running, planned - 1),
    };
    run.sessions.push(Session {
        id: id.clone(),
        kind: sketch.kind,
        t_planned_s: Some(seconds(arrival)),
        t_admitted_s: Some(seconds(arrival)),
        t_end_s: (status != SessionStatus::Running).then(|| seconds(t)),
        turns_planned: planned,
        turns_done: done,
        gate_wait_s: 0.0,
        pauses: 0,
        pause_s: 0.0,
        status,
    });
    let tools = &sketch.turns[..sketch.turns.len() - 1];
    run.plan.push(PlannedSession {
        id,
        kind: sketch.kind,
        t_arrival_s: Some(seconds(arrival)),
        turns: planned,
        tool_s: tools.iter().map(|turn| seconds(turn.tool)).collect(),
        recorded: sketch.recorded.clone(),
        follows: sketch.recorded.clone(),
    });
}

fn sample(i: usize, value: Option<u64>) -> EngineSample {
    EngineSample {
        t_s: i as f64 * 5.0,
        running: value,
        waiting: Some(i as u64),
        kv_used_tokens: value,
        kv_evictable_tokens: None,
        kv_total_tokens: Some(90_000),
        prompt_tokens_total: Some(4_000_000_000_000),
        cached_tokens_total: value,
        generation_tokens_total: Some(0),
        preemptions_total: None,
    }
}

fn admission(i: usize, session: &Session) -> GateEvent {
    GateEvent {
        t_s: session.t_admitted_s.unwrap_or_default(),
        event: GateEventKind::Admit,
        session: Some(SessionIndex(i as u32)),
        admitted: i as u64 + 1,
        gated: 0,
        paused: 0,
    }
}

fn written_and_read(run: &Run, format: TableFormat) -> Run {
    let parent = tempfile::TempDir::new().expect("a temporary directory");
    let dir = parent.path().join("run");
    write(run, &dir, format).expect("it can be written");
    trapcheck::directory::load(&dir, &LoadOptions::default())
        .unwrap_or_else(|e| panic!("{format:?}: {:#?}", e.0))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_run_reads_as_it_was_written_in_every_format(
        sketches in proptest::collection::vec(sketch(), 0..9),
        samples in proptest::collection::vec(proptest::option::of(0..30_000_u64), 0..5),
    ) {
        let run = run_of(&sketches, &samples);
        for format in FORMATS {
            same_data(&written_and_read(&run, format), &run);
        }
    }
}

#[test]
fn a_run_without_a_single_row_reads_as_it_was_written() {
    for format in FORMATS {
        let run = run_of(&[], &[]);
        same_data(&written_and_read(&run, format), &run);
    }
}

#[test]
fn the_same_run_is_the_same_bytes() {
    let run = Fixture::new().sound();
    for format in FORMATS {
        let parent = tempfile::TempDir::new().expect("a temporary directory");
        let names: Vec<_> = ["a", "b"].map(|name| parent.path().join(name)).into();
        names.iter().for_each(|dir| write(&run, dir, format).expect("it can be written"));
        for entry in std::fs::read_dir(&names[0]).expect("a directory") {
            let name = entry.expect("a file").file_name();
            let [a, b] = [0, 1].map(|i| std::fs::read(names[i].join(&name)).expect("it is there"));
            assert_eq!(a, b, "{format:?}: {}", name.display());
        }
    }
}

#[test]
fn a_run_is_never_overwritten() {
    let (run, fixture) = (Fixture::new().sound(), Fixture::new());
    let error = write(&run, fixture.dir(), TableFormat::Csv).expect_err("it is there");
    assert!(error.message.contains("never overwritten"));
    fixture.sound();
}
