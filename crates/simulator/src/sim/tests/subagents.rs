//! Sessions with subagents, on every engine's ways.

use std::sync::Arc;

use super::recorded::{engine, made_up, ways};
use super::*;
use crate::limits;
use crate::plan::{Arrivals, Kind, Plan, PlanError};
use crate::run::TurnStatus;
use crate::setup::{Awaited, Subagent, Trace};

/// The made-up sessions, two of three with subagents: two beside each other, of which one has one of
/// its own, and one that no turn waits for.
fn with_subagents(number: u64) -> Workload {
    let traces = made_up(number).recorded.unwrap();
    let traces = traces.traces.iter().enumerate().map(|(i, trace)| {
        let mut trace = Trace::clone(trace);
        if i % 3 != 0 {
            let other = |n: usize| &traces.traces[(7 * i + n) % traces.traces.len()];
            let turns = trace.turns.len() as u32;
            let agent = |n: usize, after, delay_s, awaited, subagents| Subagent {
                trace: Arc::new(Trace {
                    id: format!("{}/{n}", trace.id),
                    subagents,
                    ..Trace::clone(other(n))
                }),
                after,
                delay_s,
                awaited,
            };
            let inner = Awaited { turn: 2, rest_s: 0.25 };
            let inner = agent(1, 1, 0.0, Some(inner), Vec::new());
            let waits = Some(Awaited { turn: turns, rest_s: 1.5 });
            trace.subagents = vec![
                agent(2, turns - 1, 0.0, waits, vec![inner]),
                agent(3, 1, 2.0, waits, Vec::new()),
                agent(4, turns, 0.5, None, Vec::new()),
            ];
        }
        trace
    });
    Workload::of_traces("with subagents", traces.collect()).unwrap()
}

/// The row of a turn; `None` where it was not sent.
fn row(run: &SimRun, (kind, session): (Kind, u32), turn: u32) -> Option<&crate::run::Turn> {
    let place = run.plan.place(kind, session)?;
    run.turns.iter().find(|t| (t.session.at(), t.number) == (place, turn.into()))
}

/// Each subagent that ran starts its delay after the answer that it follows, and a turn that waits
/// for subagents is ready its rest after the last of their ends and its session's own answer. How
/// many subagents ended, and how many turns waited for one.
fn run_as_recorded(run: &SimRun) -> (usize, usize) {
    let (mut ended, mut waited) = (0, 0);
    let end_s = |kind, number| {
        run.sessions.iter().find(|s| (s.kind, s.session) == (kind, number)).and_then(|s| s.t_end_s)
    };
    let agents = || run.plan.sessions.iter().filter(|s| s.kind == Kind::Subagent);
    for agent in agents() {
        let by = agent.started_by.unwrap();
        let Some(first) = row(run, (agent.kind, agent.session), 1) else { continue };
        let answered_s = row(run, (by.kind, by.session), by.after).unwrap().t_end_s.unwrap();
        assert!((first.t_ready_s - answered_s - by.delay_s).abs() < 1e-9, "{agent:?}");
        assert_eq!(first.t_ready_s, first.t_submit_s);
        ended += usize::from(end_s(agent.kind, agent.session).is_some());
    }
    for parent in &run.plan.sessions {
        let who = (parent.kind, parent.session);
        for turn in 2..=parent.turns() {
            let awaits = |s: &&crate::plan::DrawnSession| {
                s.started_by
                    .is_some_and(|by| (by.kind, by.session) == who && by.awaited_by == Some(turn))
            };
            let awaited: Vec<_> = agents().filter(awaits).collect();
            let Some(sent) = row(run, who, turn).filter(|_| !awaited.is_empty()) else { continue };
            let own_s = row(run, who, turn - 1).unwrap().t_end_s.unwrap();
            let ends_s = awaited.iter().map(|a| end_s(a.kind, a.session).unwrap());
            let ready_s = ends_s.fold(own_s, f64::max) + parent.tool_s[turn as usize - 2];
            assert!((sent.t_ready_s - ready_s).abs() < 1e-9, "{parent:?} turn {turn}");
            waited += 1;
        }
    }
    (ended, waited)
}

#[test]
fn skipping_gives_what_stepping_gives_with_subagents_and_each_runs_while_its_session_waits() {
    // As many as may wait at the gate at once.
    let (workload, protocol) = (with_subagents(700), short());
    let cell = engine(16);
    for options in ways(&cell) {
        for arm in [
            ArmSpec::Closed { population: 12 },
            ArmSpec::Burst { sessions: Some(20) },
            ArmSpec::Capped { cap: 8 },
        ] {
            let mut spec = spec(&cell, &workload, &protocol, &arm, 4);
            spec.options = options;
            let skip = simulate(&spec).unwrap();
            same_but_for_rounding(&skip, &simulate_with(&spec, Stepping::Plain).unwrap());
            let (ended, waited) = run_as_recorded(&skip);
            assert!(ended > 20 && waited > 10, "{arm:?}: {ended} ended, {waited} waited");
        }
    }
}

#[test]
fn a_population_and_a_cap_are_of_sessions_and_subagents_come_on_top() {
    let (workload, protocol, cell) = (with_subagents(700), short(), engine(16));
    for (arm, most) in [(ArmSpec::Closed { population: 12 }, 12), (ArmSpec::Capped { cap: 8 }, 8)] {
        let run = simulate(&spec(&cell, &workload, &protocol, &arm, 4)).unwrap();
        let at_once = |are: fn(Kind) -> bool| {
            let of = run.sessions.iter().filter(|s| are(s.kind));
            let changes = of.filter_map(|s| {
                Some([(s.t_admitted_s?, 1), (s.t_end_s.unwrap_or(run.horizon_s), -1)])
            });
            let mut changes: Vec<(f64, i32)> = changes.flatten().collect();
            changes.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let sums = changes.iter().scan(0, |n, (_, by)| {
                *n += by;
                Some(*n)
            });
            sums.max().unwrap_or(0)
        };
        assert_eq!(at_once(|kind| kind != Kind::Subagent), most);
        assert!(at_once(|_| true) > most);
        let gated = run.gate.iter().filter_map(|event| event.session);
        assert!(gated.into_iter().all(|who| run.plan.sessions[who.at()].kind != Kind::Subagent));
    }
}

#[test]
fn without_subagents_the_same_sessions_are_played_in_the_same_order() {
    let (cell, protocol) = (engine(16), short());
    let arm = ArmSpec::Burst { sessions: Some(20) };
    let plan = |workload: &Workload| plan_of(&spec(&cell, workload, &protocol, &arm, 4)).unwrap();
    let (with, without) = (plan(&with_subagents(240)), plan(&made_up(240)));
    let names = |plan: &Plan| -> Vec<_> {
        let own = plan.sessions.iter().filter(|s| s.kind != Kind::Subagent);
        own.map(|s| (s.kind, s.session, s.t_arrival_s, s.trace.as_ref().unwrap().id.clone()))
            .collect()
    };
    assert_eq!(names(&with), names(&without));
    assert!(!without.to_csv().contains("follows"));
    let (text, last) = (with.to_csv(), with.sessions.last().unwrap());
    assert!(text.starts_with("session,kind,t_arrival,turns,tool_s,recorded,follows\n"));
    assert!(text.lines().last().unwrap().ends_with(&format!(",{}", last.started_by.unwrap())));
    assert!(with.sessions.is_sorted_by_key(|s| (s.kind, s.session)));
    assert_eq!(with.place(last.kind, last.session), Some(with.sessions.len() - 1));
}

#[test]
fn a_run_directory_keeps_subagents_and_its_sessions_are_counted_without_them() {
    use crate::sim::directory::{Label, to_run};
    let (workload, protocol, cell) = (with_subagents(240), short(), engine(16));
    let arm = ArmSpec::Closed { population: 12 };
    let spec = spec(&cell, &workload, &protocol, &arm, 4);
    let simulated = simulate(&spec).unwrap();
    let run = to_run(&simulated, &spec, &Label { run_id: "r".into(), registration: None });
    let agents = run.sessions.iter().filter(|s| s.kind == Kind::Subagent).count();
    let whole = crate::measure::measure(&run, &protocol).whole;
    assert!(agents > 20);
    assert_eq!(whole.sessions_arrived as usize, run.sessions.len() - agents);
    assert!(run.plan.iter().any(|p| p.follows.as_deref().is_some_and(|f| f.contains("waits"))));
    let served = run.turns.iter().filter(|t| t.status == TurnStatus::Ok);
    assert!(served.filter(|t| run.sessions[t.session.at()].kind == Kind::Subagent).count() > 50);
}

#[test]
fn a_plan_is_refused_for_its_subagents_turns_before_it_is_drawn() {
    let workload = with_subagents(30);
    let traces = &workload.recorded.as_ref().unwrap().traces;
    let own: usize = traces.iter().map(|trace| trace.turns.len()).sum();
    let streams = traces.iter().flat_map(|trace| trace.streams());
    let all: usize = streams.map(|stream| stream.turns.len()).sum();
    // The sessions' own turns would fit.
    let sessions = (limits::ROWS / own * traces.len()) as u32;
    let refused = Plan::draw(&workload, 0, &Arrivals::Closed { sessions }).unwrap_err();
    let turns = f64::from(sessions) * (all as f64 / traces.len() as f64);
    assert_eq!(refused, PlanError::TooMany { sessions: f64::from(sessions), turns });
}
