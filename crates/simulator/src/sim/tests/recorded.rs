//! Recorded sessions, and engines in their own ways.

use super::*;
use crate::plan;
use crate::setup::Trace;
use crate::sim::options::{Hits, HostTier, Refresh};

/// 60 made-up sessions of 2 to 13 turns; every fifth turn is a compaction.
fn recorded() -> Workload {
    made_up(60)
}

/// The same, of any number.
pub(super) fn made_up(number: u64) -> Workload {
    let turn = |i: u64, k: u64| {
        let grown = 2000 + 900 * k + 37 * ((7 * i + 3 * k) % 11);
        let prompt_tokens = if k % 5 == 4 { grown / 3 } else { grown };
        let reusable_tokens = if k % 5 == 4 { 1500 } else { (grown - 900).min(prompt_tokens) };
        TraceTurn {
            gap_s: if k == 0 { 0.0 } else { 1.0 + ((5 * i + k) % 9) as f64 },
            prompt_tokens,
            output_tokens: 1 + (13 * i + 29 * k) % 90,
            reusable_tokens: if k == 0 { 0 } else { reusable_tokens },
        }
    };
    let trace = |i: u64| Trace {
        id: format!("trace-{i}"),
        turns: (0..2 + i % 12).map(|k| turn(i, k)).collect(),
        subagents: Vec::new(),
    };
    Workload::of_traces("recorded", (0..number).map(trace).collect()).unwrap()
}

/// The engine's own ways, and each option beside them.
pub(super) fn ways(cell: &Cell) -> Vec<Options> {
    let own = Options::of_engine(&cell.engine);
    let host = Some(HostTier { tokens: 60_000, s_per_token: 1e-5 });
    vec![
        own,
        Options { refresh: None, batching: Batching::Mixed, ..own },
        Options { host, ramp_s: 60.0, ..own },
        Options { cold_until_s: 400.0, ..own },
        Options { refresh: Some(Refresh { every_passes: 3, requests: 5 }), ..own },
        Options { scheduling: Some(Scheduling::Lpm), lpm_fallback: Some(6), ..own },
        Options { keep_finished: false, ..own },
        Options::default(),
    ]
}

pub(super) fn engine(block_tokens: u64) -> Cell {
    let mut cell = cell("sglang-300k");
    (cell.pool_tokens, cell.block_tokens, cell.max_running) = (80_000, block_tokens, 24);
    cell
}

#[test]
fn skipping_gives_what_stepping_gives_for_recorded_sessions_in_every_way() {
    // As many as may be in the backlog at once.
    let (workload, protocol) = (made_up(240), short());
    for cell in [engine(1), engine(16)] {
        for options in ways(&cell) {
            for arm in [ArmSpec::Closed { population: 20 }, ArmSpec::Burst { sessions: Some(30) }] {
                let mut spec = spec(&cell, &workload, &protocol, &arm, 4);
                spec.options = options;
                let skip = simulate(&spec).unwrap();
                let plain = simulate_with(&spec, Stepping::Plain).unwrap();
                same_but_for_rounding(&skip, &plain);
            }
        }
    }
}

#[test]
fn each_turn_sends_what_was_recorded_and_hits_at_most_what_it_repeats() {
    let (cell, workload, protocol) = (engine(16), recorded(), short());
    let arm = ArmSpec::Closed { population: 6 };
    let mut spec = spec(&cell, &workload, &protocol, &arm, 1);
    spec.options = Options::of_engine(&cell.engine);
    let run = simulate(&spec).unwrap();
    let mut hits = 0;
    for turn in run.turns.iter().filter(|turn| turn.status == TurnStatus::Ok) {
        let trace = run.plan.sessions[turn.session.at()].trace.as_ref().unwrap();
        let recorded = trace.turns[turn.number as usize - 1];
        let (cached, most) = (turn.cached_tokens.unwrap(), recorded.reusable_tokens);
        assert_eq!(turn.prompt_tokens, recorded.prompt_tokens);
        assert_eq!(turn.completion_tokens, Some(recorded.output_tokens));
        assert!(cached <= most && cached % 16 == 0, "{turn:?}");
        hits += usize::from(cached > 0 && most - cached < 16);
    }
    assert!(hits > 500, "{hits}");
}

#[test]
fn a_closed_run_never_plays_a_recorded_session_twice_at_once() {
    let (cell, mut protocol) = (engine(1), short());
    protocol.closed.window_s = 3000.0;
    // Longer gaps, so that no more sessions end than a plan holds.
    let mut traces: Vec<Trace> =
        recorded().recorded.unwrap().traces.iter().map(|trace| Trace::clone(trace)).collect();
    traces.iter_mut().flat_map(|trace| &mut trace.turns).for_each(|turn| turn.gap_s *= 4.0);
    let workload = Workload::of_traces("slow", traces).unwrap();
    let arm = ArmSpec::Closed { population: 30 };
    let run = simulate(&spec(&cell, &workload, &protocol, &arm, 2)).unwrap();
    let mut plays: Vec<(&str, f64, f64)> = run
        .sessions
        .iter()
        .map(|s| {
            let id = run.plan.sessions[s.session as usize].trace.as_ref().unwrap().id.as_str();
            (id, s.t_planned_s, s.t_end_s.unwrap_or(run.horizon_s))
        })
        .collect();
    plays.sort_by(|a, b| a.0.cmp(b.0).then(a.1.total_cmp(&b.1)));
    assert!(plays.len() > 200);
    assert!(plays.windows(2).all(|w| w[0].0 != w[1].0 || w[0].2 <= w[1].1));
    let arm = ArmSpec::Closed { population: 61 };
    let error = simulate(&spec(&cell, &workload, &protocol, &arm, 2)).unwrap_err();
    assert!(error.to_string().contains("there are 60 recorded sessions"), "{error}");
}

#[test]
fn an_open_run_ends_with_an_error_before_it_plays_a_recorded_session_twice_at_once() {
    let (cell, protocol) = (engine(1), short());
    let arm = ArmSpec::Burst { sessions: Some(30) };
    let (few, many) = (recorded(), made_up(240));
    let error = simulate(&spec(&cell, &few, &protocol, &arm, 4)).unwrap_err().to_string();
    assert!(error.contains("none is played twice at once"), "{error}");
    assert!(error.contains("more than 60 recorded sessions"), "{error}");
    // Where each has ended before its next turn comes, sessions are played again.
    let run = simulate(&spec(&cell, &many, &protocol, &arm, 4)).unwrap();
    assert!(run.sessions.len() > 150);
    let quiet = ArmSpec::NoBurst {};
    let spec = RunSpec { multiple: Some(0.7), ..spec(&cell, &few, &protocol, &quiet, 4) };
    let run = simulate(&spec).unwrap();
    assert!(run.sessions.len() > 60, "{}", run.sessions.len());
}

#[test]
fn every_arm_takes_recorded_sessions_and_its_plan_is_the_one_that_is_written() {
    let (cell, workload, protocol) = (engine(16), made_up(240), short());
    for arm in arms() {
        let spec = spec(&cell, &workload, &protocol, &arm, 4);
        let spec = RunSpec { options: Options::stock(&cell, &workload), ..spec };
        let run = simulate(&spec).unwrap_or_else(|e| panic!("{}: {e}", arm.arm()));
        let label = directory::Label { run_id: "run".into(), registration: None };
        let written = directory::to_run(&run, &spec, &label);
        let mut plan = Vec::new();
        let tables = crate::run::tables::tables(&written);
        let table = tables.iter().find(|table| table.name == "plan").unwrap();
        table.push_header(&mut plan);
        (0..table.rows()).for_each(|row| table.push_row(row, &mut plan));
        assert_eq!(String::from_utf8(plan).unwrap(), run.plan.to_csv(), "{}", arm.arm());
        let config = directory::config_yaml(&spec, &label).unwrap();
        let recorded = workload.recorded.as_ref().unwrap();
        let stated = format!(
            "workload:\n  name: recorded\n  sessions: 240\n  turns: {}\n  sha256: {}\n",
            recorded.turns_in_all(),
            recorded.sha256
        );
        assert!(config.contains(&stated), "{config}");
    }
}

#[test]
fn a_closed_plan_has_all_the_recorded_sessions_that_can_be_begun() {
    let (cell, protocol) = (engine(1), short());
    // An engine that answers at once, so that sessions last as long as their gaps.
    let fast = Cell { speed: crate::setup::Speed::Factor { factor: 1e6 }, ..cell };
    for (number, lanes) in [(60, 4), (60, 40), (240, 100)] {
        let workload = made_up(number);
        let arm = ArmSpec::Closed { population: lanes };
        let run = simulate(&spec(&fast, &workload, &protocol, &arm, 3)).unwrap();
        assert!(run.sessions.len() < run.plan.sessions.len());
        // Not many more than are begun, however long the run is.
        assert!(run.plan.sessions.len() < 2 * run.sessions.len());
        assert!(run.sessions.len() > lanes as usize * 20, "{}", run.sessions.len());
    }
}

#[test]
fn recorded_sessions_are_the_same_at_every_rate_and_a_burst_plays_others() {
    let workload = recorded();
    let draw = |rate_per_s, burst| {
        let burst = (burst > 0).then_some(Burst { sessions: burst, start_s: 10.0, length_s: 5.0 });
        let open = plan::OpenArrivals { rate_per_s, horizon_s: 100.0, cut: None, burst };
        Plan::draw(&workload, 3, &Arrivals::Open(open)).unwrap()
    };
    let names = |plan: &Plan, kind| -> Vec<String> {
        let of = plan.sessions.iter().filter(|s| s.kind == kind);
        of.map(|s| s.trace.as_ref().unwrap().id.clone()).collect()
    };
    let (few, many) = (draw(0.1, 0), draw(0.3, 12));
    let base = names(&few, Kind::Base);
    assert_eq!(base[..], names(&many, Kind::Base)[..base.len()]);
    let burst = names(&many, Kind::Burst);
    assert_eq!(burst.len(), 12);
    assert!(burst.iter().all(|id| !names(&many, Kind::Base).contains(id)));
    let text = many.to_csv();
    assert!(text.starts_with("session,kind,t_arrival,turns,tool_s,recorded\n0,base,"));
    assert!(text.lines().nth(1).unwrap().ends_with(&format!(",{}", base[0])));
}

#[test]
fn a_start_without_kept_kv_misses_until_it_ends() {
    let (cell, workload, protocol) = (engine(1), recorded(), short());
    let arm = ArmSpec::Closed { population: 6 };
    let mut spec = spec(&cell, &workload, &protocol, &arm, 1);
    spec.options = Options { cold_until_s: 400.0, ..Options::of_engine(&cell.engine) };
    let run = simulate(&spec).unwrap();
    let cached = |from: f64, to: f64| -> u64 {
        let within =
            run.turns.iter().filter(|t| t.t_end_s.is_some_and(|end| from <= end && end < to));
        within.map(|t| t.cached_tokens.unwrap_or(0)).sum()
    };
    assert_eq!(cached(0.0, 400.0), 0);
    assert!(cached(420.0, 1500.0) > 0);
}

#[test]
fn a_host_tier_gives_back_what_the_pool_evicted() {
    let (cell, workload, protocol) = (engine(1), recorded(), short());
    let arm = ArmSpec::Closed { population: 40 };
    let mut spec = spec(&cell, &workload, &protocol, &arm, 1);
    let hit = |spec: &RunSpec<'_>| -> f64 {
        let run = simulate(spec).unwrap();
        let cached: u64 = run.turns.iter().filter_map(|t| t.cached_tokens).sum();
        cached as f64 / run.turns.iter().map(|t| t.prompt_tokens).sum::<u64>() as f64
    };
    spec.options = Options::of_engine(&cell.engine);
    assert!(hit(&spec) < 0.1);
    spec.options.host = Some(HostTier { tokens: 1_000_000, s_per_token: 1e-6 });
    assert!(hit(&spec) > 0.6);
}

#[test]
fn a_prefix_hits_in_part_where_whole_sessions_hit_or_miss() {
    let (cell, workload, protocol) = (engine(1), recorded(), short());
    let arm = ArmSpec::Closed { population: 14 };
    let mut spec = spec(&cell, &workload, &protocol, &arm, 1);
    let in_part = |spec: &RunSpec<'_>| {
        let run = simulate(spec).unwrap();
        let reusable = |t: &Turn| {
            run.plan.sessions[t.session.at()].turn(t.number as u32, &workload).reusable_tokens
        };
        let partial = run
            .turns
            .iter()
            .filter(|t| t.cached_tokens.is_some_and(|cached| cached > 0 && cached < reusable(t)));
        partial.count()
    };
    spec.options = Options { keep_finished: true, ..Options::default() };
    assert_eq!(in_part(&spec), 0);
    spec.options.hits = Hits::Prefix;
    assert!(in_part(&spec) > 20);
}

#[test]
fn gauges_of_the_last_pass_leave_out_what_was_sent_and_admitted_since() {
    let (workload, protocol, cell) = (recorded(), short(), engine(16));
    let arm = ArmSpec::Closed { population: 20 };
    let run = |gauges_of_last_pass| {
        let own = Options { sample_s: 1.0, ..Options::of_engine(&cell.engine) };
        let options = Options { gauges_of_last_pass, ..own };
        simulate(&RunSpec { options, ..spec(&cell, &workload, &protocol, &arm, 4) }).unwrap()
    };
    let (now, last) = (run(false), run(true));
    assert_eq!(now.turns, last.turns);
    // Nothing has ended when the first iteration is under way.
    assert_eq!((last.engine[0].running, last.engine[0].waiting), (Some(0), Some(0)));
    let in_system = |run: &SimRun| -> u64 {
        run.engine.iter().map(|s| s.running.unwrap() + s.waiting.unwrap()).sum()
    };
    assert!(in_system(&last) < in_system(&now), "{} {}", in_system(&last), in_system(&now));
}

#[test]
fn a_record_is_played_in_its_seeds_order_again_and_again_each_play_under_a_number_of_its_own() {
    use crate::plan::{Arrivals, Plan};
    let workload = made_up(10);
    let names = |seed| -> Vec<String> {
        let plan = Plan::draw(&workload, seed, &Arrivals::Closed { sessions: 25 }).unwrap();
        assert!(plan.sessions.iter().map(|s| s.session).eq(0..25));
        plan.sessions.iter().map(|s| s.trace.as_ref().unwrap().id.clone()).collect()
    };
    let (one, other) = (names(4), names(5));
    assert_eq!((&one[10..20], &one[20..]), (&one[..10], &one[..5]));
    let sorted = |names: &[String]| {
        let mut names = names.to_vec();
        names.sort();
        names
    };
    let traces = workload.recorded.as_ref().unwrap().traces.iter().map(|t| t.id.clone());
    assert_eq!(sorted(&one[..10]), sorted(&traces.collect::<Vec<_>>()));
    assert!(one != other && sorted(&one[..10]) == sorted(&other[..10]));
}
