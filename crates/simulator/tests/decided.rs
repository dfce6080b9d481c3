//! A run that is decided before its window ends has that state when it has ended, whatever the
//! engine does in between: fast, slow, stuck, dying, forgetful, and all of these in one run.

#![allow(clippy::unwrap_used)]

mod cut;

use std::path::Path;

use cut::cut;
use proptest::prelude::*;
use trapcheck_runs::measure::{RunMeasures, measure, still_open};
use trapcheck_runs::rule::registration::PairedThresholds;
use trapcheck_runs::rule::state::{Load, State, judge};
use trapcheck_runs::run::{Run, Source};
use trapcheck_setup::setup::{ArmSpec, Cell, Protocol, Workload};
use trapcheck_simulator::client::timers::Timers;
use trapcheck_simulator::client::{Action, Answer, Client, Outcome, Request, arm};
use trapcheck_simulator::plan::Plan;
use trapcheck_simulator::sim::directory::{Label, meta, planned, tables};
use trapcheck_simulator::sim::{Options, RunSpec, plan_of};

const WORKLOAD: &str = "
name: short
turns: { law: truncated-geometric, mean: 4, max: 8 }
first_prompt_tokens: 200
tool_output_tokens: 55
decoded_tokens: 10
tool_time: { law: exponential, mean_s: 1.5 }
";

const CELL: &str = "
name: small
workload: short
protocol: brief
engine: { name: vllm, version: 0.32.0 }
model: m
gpu: none
pool_tokens: 30016
block_tokens: 32
batching: mixed
chunk_tokens: 2048
max_running: 256
lambda_ref_per_s: 3.0
all_miss_tokens_per_s: 3150
costs: { kind: iteration, a_s: 0.01, f0_s: 0.0, b_s_per_token: 0.0003, c_p_s_per_pair: 0.0, c_d_s: 0.0 }
";

const PROTOCOL: &str = "
name: brief
paired:
  horizon_s: 150
  burst: { start_s: 10, length_s: 1, sessions: 40 }
  window_s: [30, 150]
  last_s: 5
  minimum_window_s: 5
closed: { warm_up_s: 5, window_s: 5 }
e0a: { warm_up_s: 5, window_s: 5 }
e0b: { horizon_s: 20, window_s: [10, 20] }
bins: { backlog_s: 1, hit_s: 5, follow_up_s: 5, gap_s: 5 }
";

struct Small {
    cell: Cell,
    workload: Workload,
    protocol: Protocol,
}

impl Small {
    fn new() -> Self {
        Self {
            cell: Cell::parse(Path::new("small.yaml"), CELL.as_bytes()).unwrap(),
            workload: Workload::parse(Path::new("short.yaml"), WORKLOAD.as_bytes()).unwrap(),
            protocol: Protocol::parse(Path::new("brief.yaml"), PROTOCOL.as_bytes()).unwrap(),
        }
    }

    fn load(&self, multiple: f64) -> Load {
        Load {
            lambda_per_s: multiple * self.cell.lambda_ref_per_s,
            lambda_ref_per_s: self.cell.lambda_ref_per_s,
            all_miss_tokens_per_s: self.cell.all_miss_tokens_per_s.unwrap(),
        }
    }

    fn state(&self, run: &Run, multiple: f64) -> State {
        let reach = still_open(run, &self.protocol, &self.workload);
        let measures = RunMeasures { reach, ..measure(run, &self.protocol) };
        judge(&measures, self.load(multiple), &PairedThresholds::default()).state
    }
}

/// What an engine does with the requests that it is sent for a while.
#[derive(Debug, Clone, Copy)]
enum Mood {
    /// Answers after so long, and of a hundred follow-ups finds so many cached.
    Quick { answer_s: f64, hits: u32 },
    /// Computes every prompt, one after the other.
    Queue { tokens_per_s: f64 },
    /// Answers nothing any more.
    Stuck,
    /// Fails every request at once.
    Fails,
}

fn moods() -> impl Strategy<Value = Mood> {
    prop_oneof![
        3 => (0.01..2.0, 60..=100_u32).prop_map(|(answer_s, hits)| Mood::Quick { answer_s, hits }),
        3 => (2500.0..4000.0).prop_map(|tokens_per_s| Mood::Queue { tokens_per_s }),
        1 => Just(Mood::Stuck),
        1 => Just(Mood::Fails),
    ]
}

fn arms() -> impl Strategy<Value = ArmSpec> {
    prop_oneof![
        3 => Just(ArmSpec::Burst { sessions: None }),
        3 => Just(ArmSpec::NoBurst {}),
        1 => Just(ArmSpec::Capped { cap: 15 }),
        1 => Just(ArmSpec::Shed { from_s: 95.0, length_s: 30.0 }),
        1 => Just(ArmSpec::Toolslow { from_s: 85.0, to_s: 130.0, delay_s: 4.0 }),
    ]
}

/// A run on an engine whose mood changes at these times.
fn run(small: &Small, arm: &ArmSpec, multiple: f64, seed: u64, moods: &[(f64, Mood)]) -> Run {
    let Small { cell, workload, protocol } = small;
    let options = Options::default();
    let spec = RunSpec { cell, workload, protocol, arm, multiple: Some(multiple), seed, options };
    let plan = plan_of(&spec).unwrap();
    let horizon_s = protocol.paired.horizon_s;
    let behaviour = arm::behaviour(arm, horizon_s).unwrap();
    let mut client = Client::new(&plan, workload, behaviour).unwrap();
    drive(&mut client, horizon_s, moods);
    directory(&spec, &plan, client, horizon_s)
}

fn drive(client: &mut Client<'_>, horizon_s: f64, moods: &[(f64, Mood)]) {
    let (mut timers, mut actions) = (Timers::default(), Vec::new());
    let (mut answers, mut sent, mut free_s): (Vec<(f64, usize, Outcome)>, u32, f64) =
        (Vec::new(), 0, 0.0);
    client.start(&mut actions);
    let mut now_s = 0.0;
    loop {
        for action in actions.drain(..) {
            match action {
                Action::At { t_s, timer } => timers.insert(t_s, timer),
                Action::Send(request) => {
                    sent += 1;
                    let mood = moods.iter().rfind(|(from_s, _)| *from_s <= now_s).unwrap().1;
                    answers.extend(answer(mood, now_s, request, sent, &mut free_s));
                }
            }
        }
        let first = answers.iter().enumerate().min_by(|a, b| a.1.0.total_cmp(&b.1.0));
        let answer_s = first.map_or(f64::INFINITY, |(_, (t_s, ..))| *t_s);
        let first = first.map(|(place, _)| place);
        let timer_s = timers.next_s().unwrap_or(f64::INFINITY);
        now_s = answer_s.min(timer_s);
        if now_s > horizon_s {
            return;
        }
        if timer_s <= answer_s {
            let (_, timer) = timers.pop_due(now_s).unwrap();
            client.due(now_s, timer, &mut actions).unwrap();
        } else {
            let (_, who, outcome) = answers.swap_remove(first.unwrap());
            client.ended(now_s, who, outcome, &mut actions).unwrap();
        }
    }
}

fn answer(
    mood: Mood,
    now_s: f64,
    request: Request,
    sent: u32,
    free_s: &mut f64,
) -> Option<(f64, usize, Outcome)> {
    let answered = |is_hit: bool| {
        let cached_tokens = Some(if is_hit { request.reusable_tokens } else { 0 });
        let completion_tokens = request.decode_tokens;
        Outcome::Answered(Answer { t_first_s: None, cached_tokens, completion_tokens })
    };
    match mood {
        Mood::Quick { answer_s, hits } => {
            Some((now_s + answer_s, request.who, answered(sent * 37 % 100 < hits)))
        }
        Mood::Queue { tokens_per_s } => {
            *free_s = free_s.max(now_s) + request.prompt_tokens as f64 / tokens_per_s;
            Some((*free_s, request.who, answered(false)))
        }
        Mood::Stuck => None,
        Mood::Fails => Some((now_s, request.who, Outcome::Failed("no connection".into()))),
    }
}

fn directory(spec: &RunSpec<'_>, plan: &Plan, client: Client<'_>, horizon_s: f64) -> Run {
    let label = Label { run_id: "run".into(), registration: None };
    let engine = trapcheck_runs::run::Engine { name: "vllm".into(), version: "0".into() };
    let opened = meta::opening(spec, &label, Source::Engine, engine);
    let recorded = client.finish(horizon_s);
    let (sessions, turns, _) = tables(plan, &recorded.sessions, &recorded.turns);
    Run {
        dir: "run".into(),
        meta: trapcheck_runs::run::Meta { duration_s: horizon_s, ..opened },
        sessions,
        turns,
        engine: Vec::new(),
        gate: Vec::new(),
        plan: plan.sessions.iter().map(planned).collect(),
        sources: Vec::new(),
        notes: Vec::new(),
    }
}

/// Looks at a run from its window's start on; from when it is decided, and the state.
fn decided(small: &Small, whole: &Run, multiple: f64, offset_s: f64) -> Option<(f64, State)> {
    let window = small.protocol.paired.window_s;
    let (mut first, mut left_s) = (None, window.length_s() - offset_s);
    // The nearer the end, the closer together.
    while left_s > 0.3 {
        let t_s = window.end_s - left_s;
        left_s *= 0.92;
        let state = small.state(&cut(whole, t_s), multiple);
        if state != State::Unmeasurable {
            let ended = small.state(whole, multiple);
            assert_eq!(state, ended, "at {t_s} s");
            first = first.or(Some((t_s, state)));
        }
        assert!(first.is_none() || state != State::Unmeasurable, "{t_s} s: open again");
    }
    first
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_run_that_is_decided_early_has_that_state_at_its_end(
        arm in arms(),
        multiple in 0.3..2.5,
        seed in 0..1000_u64,
        first in moods(),
        then in prop::collection::vec((15.0..150.0, moods()), 0..4),
        offset_s in 0.0..9.0,
    ) {
        let small = Small::new();
        let mut moods = vec![(0.0_f64, first)];
        moods.extend(then);
        moods.sort_by(|a, b| a.0.total_cmp(&b.0));
        let whole = run(&small, &arm, multiple, seed, &moods);
        decided(&small, &whole, multiple, offset_s);
    }
}

#[test]
fn each_state_is_decided_before_the_end_of_some_run() {
    let small = Small::new();
    let burst = ArmSpec::Burst { sessions: None };
    let queue = |tokens_per_s| Mood::Queue { tokens_per_s };
    let quick = |hits| Mood::Quick { answer_s: 0.05, hits };
    for (arm, multiple, moods, expected) in [
        (&ArmSpec::NoBurst {}, 1.2, vec![(0.0, queue(3150.0))], State::Trapped),
        (&ArmSpec::NoBurst {}, 0.3, vec![(0.0, quick(100))], State::Recovered),
        (&ArmSpec::NoBurst {}, 1.5, vec![(0.0, quick(0))], State::Indeterminate),
        (&burst, 0.3, vec![(0.0, queue(250.0)), (20.0, quick(0))], State::Draining),
    ] {
        let whole = run(&small, arm, multiple, 1, &moods);
        let found = decided(&small, &whole, multiple, 0.0);
        assert_eq!(small.state(&whole, multiple), expected, "{moods:?}");
        let (t_s, _) = found.unwrap_or_else(|| panic!("{expected:?}: never before the end"));
        println!("{expected:?}: decided at {t_s:.1} of 150 s");
    }
}
