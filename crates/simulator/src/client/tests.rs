mod gates;

use super::gate::GateRule;
use super::records::{ClientRun, GateEventKind, SessionStatus};
use super::timers::Timers;
use super::*;
use crate::plan::{Arrivals, DrawnSession, Kind, StartedBy};
use crate::setup::{ToolTime, TurnLaw};

fn workload() -> Workload {
    Workload {
        name: "test".into(),
        turns: TurnLaw::TruncatedGeometric { mean: 4.0, max: 12 },
        first_prompt_tokens: 2000,
        tool_output_tokens: 550,
        decoded_tokens: 100,
        tool_time: ToolTime::Exponential { mean_s: 5.0 },
        sources: Default::default(),
        recorded: None,
    }
}

/// Sessions by (arrival, tool times).
fn plan(sessions: &[(f64, &[f64])]) -> Plan {
    let sessions = sessions.iter().enumerate().map(|(i, (t, tools))| DrawnSession {
        kind: Kind::Base,
        session: i as u32,
        t_arrival_s: Some(*t),
        tool_s: tools.to_vec(),
        trace: None,
        started_by: None,
    });
    Plan { seed: 0, sessions: sessions.collect() }
}

/// Drives a client against an engine that takes `service_s` for every turn,
/// however many there are.
fn drive(
    plan: &Plan,
    behaviour: Behaviour,
    service_s: f64,
    horizon_s: f64,
) -> Result<ClientRun, ClientError> {
    let workload = workload();
    let mut client = Client::new(plan, &workload, behaviour)?;
    let mut timers = Timers::default();
    let mut engine: Queue = Queue::new();
    let mut ends = std::collections::VecDeque::new();
    let mut actions = Vec::new();
    let mut now_s = 0.0;
    client.start(&mut actions);
    loop {
        for action in actions.drain(..) {
            match action {
                Action::At { t_s, timer } => timers.insert(t_s, timer),
                Action::Send(request) => {
                    engine.push_back(request.who);
                    ends.push_back(now_s + service_s);
                }
            }
        }
        let timer_s = timers.next_s().unwrap_or(f64::INFINITY);
        let end_s = ends.front().copied().unwrap_or(f64::INFINITY);
        if timer_s.min(end_s) > horizon_s {
            return Ok(client.finish(horizon_s));
        }
        if end_s < timer_s {
            now_s = end_s;
            ends.pop_front();
            let answer = Answer { t_first_s: None, cached_tokens: Some(0), completion_tokens: 100 };
            let who = engine.pop_front().unwrap();
            client.ended(now_s, who, Outcome::Answered(answer), &mut actions)?;
        } else {
            let (due_s, timer) = timers.pop_due(timer_s).unwrap();
            now_s = due_s;
            client.due(now_s, timer, &mut actions)?;
        }
    }
}

fn run(plan: &Plan, behaviour: Behaviour) -> ClientRun {
    drive(plan, behaviour, 1.0, 10_000.0).unwrap()
}

fn gated(gate: GateRule) -> Behaviour {
    Behaviour { gate, ..Behaviour::PLAIN }
}

fn rescue(cap: u32, engage_s: f64) -> GateRule {
    GateRule::Rescue { cap, engage_s, min_capped_s: 600.0, hold_s: 300.0, tick_s: 10.0 }
}

#[test]
fn a_session_sends_a_turn_waits_sleeps_and_sends_the_next() {
    let run = run(&plan(&[(10.0, &[3.0, 4.0])]), Behaviour::PLAIN);
    let times: Vec<_> = run.turns.iter().map(|t| (t.number, t.t_submit_s, t.t_end_s)).collect();
    assert_eq!(times, [(1, 10.0, Some(11.0)), (2, 14.0, Some(15.0)), (3, 19.0, Some(20.0))]);
    let tools: Vec<_> = run.turns.iter().map(|t| t.tool_s).collect();
    assert_eq!(tools, [Some(3.0), Some(4.0), None]);
    let prompts: Vec<_> = run.turns.iter().map(|t| t.prompt_tokens).collect();
    assert_eq!(prompts, [2000, 2650, 3300]);
    assert_eq!(run.sessions[0].t_end_s, Some(20.0));
    assert_eq!(run.sessions[0].status, SessionStatus::Completed);
    assert!(run.gate.is_empty());
}

#[test]
fn a_turn_in_flight_at_the_end_is_unfinished_and_no_error() {
    let run = drive(&plan(&[(0.0, &[1.0]), (99.0, &[])]), Behaviour::PLAIN, 60.0, 100.0).unwrap();
    let unfinished: Vec<_> =
        run.turns.iter().filter(|t| t.status == TurnStatus::UnfinishedAtHorizon).collect();
    assert_eq!(unfinished.len(), 2);
    assert!(unfinished.iter().all(|t| t.t_end_s.is_none() && t.cached_tokens.is_none()));
    assert!(run.sessions.iter().all(|s| s.status == SessionStatus::Running));
}

#[test]
fn a_cap_holds_arrivals_in_order_and_a_slot_lasts_to_the_last_turns_end() {
    let run = run(
        &plan(&[(0.0, &[8.0]), (1.0, &[]), (2.0, &[]), (3.0, &[])]),
        gated(GateRule::Capped { cap: 1 }),
    );
    let admitted: Vec<_> = run.sessions.iter().map(|s| s.t_admitted_s.unwrap()).collect();
    assert_eq!(admitted, [0.0, 10.0, 11.0, 12.0]);
    let waits: Vec<_> = run.sessions.iter().map(|s| s.gate_wait_s).collect();
    assert_eq!(waits, [0.0, 9.0, 9.0, 9.0]);
    assert_eq!(run.gate[0].event, GateEventKind::Engage);
    assert_eq!(run.gate[0].t_s, 0.0);
    assert_eq!(run.gate.iter().map(|g| g.gated).max(), Some(3));
}

#[test]
fn a_rescue_pauses_at_tool_boundaries_and_resumes_before_new_arrivals() {
    // Three sessions run when a cap of 1 engages at 10 s; a fourth arrives at 11 s.
    let sessions: [(f64, &[f64]); 4] =
        [(0.0, &[20.0]), (0.5, &[20.0]), (1.0, &[20.0]), (11.0, &[])];
    let run = run(&plan(&sessions), gated(rescue(1, 10.0)));
    let events: Vec<_> =
        run.gate.iter().map(|g| (g.event, g.session.map(|s| s.0), g.admitted)).collect();
    use GateEventKind::*;
    assert_eq!(
        events,
        [
            (Engage, None, 3),
            (Queue, Some(3), 3),
            (Pause, Some(0), 2),
            (Pause, Some(1), 1),
            // Session 2 keeps the last slot; it ends at 23 s.
            (Resume, Some(0), 1),
            (Resume, Some(1), 1),
            (Admit, Some(3), 1),
            (Release, None, 0),
        ]
    );
    let pauses: Vec<_> = run.sessions.iter().map(|s| (s.pauses, s.pause_s)).collect();
    assert_eq!(pauses, [(1, 2.0), (1, 2.5), (0, 0.0), (0, 0.0)]);
    assert_eq!(run.sessions[3].gate_wait_s, 14.0);
}

#[test]
fn a_rescue_is_released_at_the_first_tick_after_both_queues_were_empty_long_enough() {
    let released = |arrival_s: f64, engage_s: f64| {
        // One session holds the only slot; another queues at `arrival_s` for 1 s.
        let sessions: [(f64, &[f64]); 2] = [(arrival_s - 0.5, &[]), (arrival_s, &[])];
        let run = run(&plan(&sessions), gated(rescue(1, engage_s)));
        run.gate.iter().find(|g| g.event == GateEventKind::Release).unwrap().t_s
    };
    // The queue empties at arrival + 0.5 s, when the slot is freed.
    assert_eq!(released(400.0, 100.0), 710.0);
    assert_eq!(released(399.5, 100.0), 700.0);
    assert_eq!(released(200.0, 100.0), 700.0);
    assert_eq!(released(1000.0, 100.0), 700.0);
}

#[test]
fn before_it_engages_and_after_its_release_a_rescue_gate_holds_nobody() {
    let sessions: Vec<(f64, &[f64])> =
        (0..30).map(|i| (100.0 + f64::from(i) / 64.0, &[][..])).collect();
    for engage_s in [150.0, 5000.0] {
        let run = run(&plan(&sessions), gated(rescue(1, engage_s)));
        assert!(run.sessions.iter().all(|s| s.gate_wait_s == 0.0));
    }
    let late: Vec<(f64, &[f64])> =
        (0..30).map(|i| (800.0 + f64::from(i) / 64.0, &[][..])).collect();
    let run = run(&plan(&late), gated(rescue(1, 50.0)));
    assert!(run.sessions.iter().all(|s| s.gate_wait_s == 0.0 && s.t_end_s.is_some()));
}

#[test]
fn arrivals_are_refused_from_the_stops_start_to_just_before_its_end() {
    let sessions: [(f64, &[f64]); 4] = [(9.0, &[]), (10.0, &[]), (19.0, &[]), (20.0, &[])];
    let behaviour = Behaviour { refuse_s: Some((10.0, 20.0)), ..Behaviour::PLAIN };
    let run = run(&plan(&sessions), behaviour);
    use SessionStatus::*;
    let statuses: Vec<_> = run.sessions.iter().map(|s| s.status).collect();
    assert_eq!(statuses, [Completed, Refused, Refused, Completed]);
    // A refused session keeps its number, so the next one is still the fourth.
    assert_eq!(run.turns.iter().map(|t| t.session.0).collect::<Vec<_>>(), [0, 3]);
}

#[test]
fn a_tool_call_is_slowed_if_it_starts_within_the_slowdown() {
    let slow = Some(Slow { from_s: 10.0, to_s: 20.0, delay_s: 30.0 });
    let behaviour = Behaviour { slow, ..Behaviour::PLAIN };
    // Turns end, and tool calls start, 1 s after arrival.
    let sessions: [(f64, &[f64]); 4] =
        [(8.9, &[1.0]), (9.0, &[1.0]), (18.9, &[1.0]), (19.0, &[1.0])];
    let run = run(&plan(&sessions), behaviour);
    let slept =
        |who| run.turns.iter().find(|t| t.session.0 == who && t.number == 1).unwrap().tool_s;
    assert_eq!([slept(0), slept(1), slept(2), slept(3)], [1.0, 31.0, 31.0, 1.0].map(Some));
}

#[test]
fn a_closed_run_replaces_a_session_at_once() {
    let plan = Plan::draw(&workload(), 3, &Arrivals::Closed { sessions: 400 }).unwrap();
    let behaviour = Behaviour { population: Some(7), ..Behaviour::PLAIN };
    let run = drive(&plan, behaviour, 2.0, 600.0).unwrap();
    let mut starts: Vec<f64> = run.sessions.iter().map(|s| s.t_planned_s).collect();
    assert_eq!(starts.drain(..7).collect::<Vec<_>>(), [0.0; 7]);
    let mut ends: Vec<f64> = run.sessions.iter().filter_map(|s| s.t_end_s).collect();
    ends.sort_by(f64::total_cmp);
    assert_eq!(starts, ends);
    let running = run.sessions.iter().filter(|s| s.t_end_s.is_none()).count();
    assert_eq!(running, 7);
}

#[test]
fn a_failed_request_ends_its_session_and_frees_its_slot() {
    let plan = plan(&[(0.0, &[5.0]), (1.0, &[])]);
    let workload = workload();
    let behaviour = gated(GateRule::Capped { cap: 1 });
    let mut client = Client::new(&plan, &workload, behaviour).unwrap();
    let mut actions = Vec::new();
    client.start(&mut actions);
    client.due(0.0, Timer::Arrival { who: 0 }, &mut actions).unwrap();
    client.due(1.0, Timer::Arrival { who: 1 }, &mut actions).unwrap();
    assert_eq!((client.gate().admitted(), client.gate().gated()), (1, 1));
    actions.clear();
    client.ended(2.0, 0, Outcome::Failed("timeout".into()), &mut actions).unwrap();
    assert!(matches!(actions[..], [Action::Send(Request { who: 1, turn: 1, .. })]));
    let run = client.finish(3.0);
    assert_eq!(run.turns[0].status, TurnStatus::Error("timeout".into()));
    assert_eq!(run.sessions[0].status, SessionStatus::Failed);
    assert_eq!(run.sessions[0].turns_done, 0);
}

#[test]
fn a_run_under_way_has_the_turns_in_flight_after_those_that_ended() {
    let plan = plan(&[(0.0, &[5.0]), (1.0, &[])]);
    let workload = workload();
    let mut client = Client::new(&plan, &workload, Behaviour::PLAIN).unwrap();
    let mut actions = Vec::new();
    client.start(&mut actions);
    client.due(0.0, Timer::Arrival { who: 0 }, &mut actions).unwrap();
    client.due(1.0, Timer::Arrival { who: 1 }, &mut actions).unwrap();
    client.ended(2.0, 1, Outcome::Failed("timeout".into()), &mut actions).unwrap();
    let turns = client.turns_so_far();
    let found: Vec<_> = turns.iter().map(|t| (t.session.0, t.t_submit_s, t.t_end_s)).collect();
    assert_eq!(found, [(1, 1.0, Some(2.0)), (0, 0.0, None)]);
    assert_eq!(turns[1].status, TurnStatus::UnfinishedAtHorizon);
    assert_eq!(client.turns().len(), 1);
    assert_eq!(client.finish(3.0).turns, turns);
}

#[test]
fn a_behaviour_that_does_not_fit_its_plan_is_refused_before_the_run() {
    let open = plan(&[(0.0, &[])]);
    let closed = Plan::draw(&workload(), 0, &Arrivals::Closed { sessions: 3 }).unwrap();
    let workload = workload();
    let refused = |plan, behaviour| Client::new(plan, &workload, behaviour).unwrap_err();
    let of = |population| Behaviour { population: Some(population), ..Behaviour::PLAIN };
    assert_eq!(refused(&open, gated(GateRule::Capped { cap: 0 })), ClientError::CapOfZero);
    assert_eq!(refused(&open, gated(rescue(0, 1.0))), ClientError::CapOfZero);
    assert_eq!(refused(&closed, of(0)), ClientError::PopulationOfZero);
    let short = ClientError::PlanTooShort { population: 4, sessions: 3 };
    assert_eq!(refused(&closed, of(4)), short);
    let timeless = ClientError::NoArrivalTime { kind: Kind::Base, session: 0 };
    assert_eq!(refused(&closed, Behaviour::PLAIN), timeless);
}

#[test]
fn a_closed_run_that_used_its_plan_says_so() {
    let plan = Plan::draw(&workload(), 3, &Arrivals::Closed { sessions: 10 }).unwrap();
    let behaviour = Behaviour { population: Some(5), ..Behaviour::PLAIN };
    let error = drive(&plan, behaviour, 1.0, 1e6).unwrap_err();
    assert!(matches!(error, ClientError::PlanExhausted { sessions: 10, .. }), "{error}");
}

#[test]
fn a_driver_that_reports_what_never_happened_is_told() {
    let plan = plan(&[(0.0, &[5.0])]);
    let workload = workload();
    let mut client = Client::new(&plan, &workload, Behaviour::PLAIN).unwrap();
    let mut actions = Vec::new();
    let error = client.due(1.0, Timer::ToolEnd { who: 0 }, &mut actions).unwrap_err();
    assert!(matches!(error, ClientError::Unexpected { who: 0, .. }), "{error}");
    assert!(client.due(1.0, Timer::Arrival { who: 9 }, &mut actions).is_err());
}

#[test]
fn timers_come_by_time_and_then_in_the_order_they_were_asked_for() {
    let mut timers = Timers::default();
    for (t_s, who) in [(2.0, 0), (1.0, 1), (2.0, 2), (1.0, 3)] {
        timers.insert(t_s, Timer::ToolEnd { who });
    }
    assert_eq!(timers.pop_due(0.5), None);
    let order: Vec<_> = std::iter::from_fn(|| timers.pop_due(2.0)).map(|(_, t)| t).collect();
    assert_eq!(order, [1, 3, 0, 2].map(|who| Timer::ToolEnd { who }));
}

#[test]
fn a_subagent_that_fails_lets_its_session_go_on_and_one_that_nobody_awaits_holds_nobody_up() {
    let subagent = |session, delay_s, awaited_by| DrawnSession {
        kind: Kind::Subagent,
        session,
        t_arrival_s: None,
        tool_s: Vec::new(),
        trace: None,
        started_by: Some(StartedBy {
            who: 0,
            kind: Kind::Base,
            session: 0,
            after: 1,
            delay_s,
            awaited_by,
        }),
    };
    let mut plan = plan(&[(0.0, &[3.0])]);
    plan.sessions.extend([subagent(0, 0.0, Some(2)), subagent(1, 1.0, None)]);
    let workload = workload();
    let mut client = Client::new(&plan, &workload, Behaviour::PLAIN).unwrap();
    let answer = Answer { t_first_s: None, cached_tokens: None, completion_tokens: 1 };
    let mut actions = Vec::new();
    client.start(&mut actions);
    client.due(0.0, Timer::Arrival { who: 0 }, &mut actions).unwrap();
    actions.clear();
    client.ended(5.0, 0, Outcome::Answered(answer), &mut actions).unwrap();
    let at = |t_s, timer| Action::At { t_s, timer };
    // The second turn waits: there is no timer for it yet.
    let starts = [Timer::Subagent { who: 1 }, Timer::Subagent { who: 2 }];
    assert_eq!(actions, [at(5.0, starts[0]), at(6.0, starts[1])]);
    for (t_s, timer) in [(5.0, starts[0]), (6.0, starts[1])] {
        client.due(t_s, timer, &mut actions).unwrap();
    }
    actions.clear();
    client.ended(9.0, 1, Outcome::Failed("no".into()), &mut actions).unwrap();
    assert_eq!(actions, [at(12.0, Timer::ToolEnd { who: 0 })]);
    client.due(12.0, Timer::ToolEnd { who: 0 }, &mut actions).unwrap();
    client.ended(13.0, 0, Outcome::Answered(answer), &mut actions).unwrap();
    let states: Vec<_> =
        client.finish(20.0).sessions.iter().map(|s| (s.t_end_s, s.status)).collect();
    let (done, failed) = (SessionStatus::Completed, SessionStatus::Failed);
    assert_eq!(states, [(Some(13.0), done), (Some(9.0), failed), (None, SessionStatus::Running)]);
}
