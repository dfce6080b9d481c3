use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::client::gate::GateRule;
use crate::client::records::{SessionStatus, TurnStatus};
use crate::client::{Behaviour, Request};
use crate::measure::share;
use crate::plan::{Arrivals, Kind};
use crate::setup::protocol::{Burst, WarmUp};
use crate::setup::{Batching, Scheduling, ToolTime, TurnLaw};
use engine::Engine;

mod recorded;
mod refusals;
mod subagents;

fn config<T>(
    folder: &str,
    name: &str,
    parse: fn(&Path, &[u8]) -> Result<T, crate::setup::ConfigError>,
) -> T {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs");
    let path = root.join(folder).join(format!("{name}.yaml"));
    parse(&path, &std::fs::read(&path).unwrap()).unwrap()
}

fn cell(name: &str) -> Cell {
    config("cells", name, Cell::parse)
}

fn workload(name: &str) -> Workload {
    config("workloads", name, Workload::parse)
}

/// A short run whose burst traps a small pool.
fn short() -> Protocol {
    let mut protocol = config("protocols", "paper", Protocol::parse);
    protocol.paired.horizon_s = 1500.0;
    protocol.paired.burst = Burst { sessions: 120, start_s: 300.0, length_s: 60.0 };
    protocol.closed = WarmUp { warm_up_s: 300.0, window_s: 1200.0 };
    protocol.e0a = protocol.closed;
    protocol.e0b.horizon_s = 1500.0;
    protocol
}

fn rescue(cap: u32, engage_s: f64) -> ArmSpec {
    ArmSpec::Rescue { cap, engage_s, min_capped_s: 600.0, hold_s: 300.0, tick_s: 10.0 }
}

fn arms() -> Vec<ArmSpec> {
    vec![
        ArmSpec::NoBurst {},
        ArmSpec::Burst { sessions: None },
        ArmSpec::Capped { cap: 20 },
        rescue(20, 500.0),
        ArmSpec::Shed { from_s: 500.0, length_s: 300.0 },
        ArmSpec::Toolslow { from_s: 300.0, to_s: 700.0, delay_s: 30.0 },
        ArmSpec::Cut { from_s: 600.0, multiple: 0.85 },
        ArmSpec::Closed { population: 40 },
        ArmSpec::E0a { population: 32 },
        ArmSpec::E0b {},
    ]
}

fn spec<'a>(
    cell: &'a Cell,
    workload: &'a Workload,
    protocol: &'a Protocol,
    arm: &'a ArmSpec,
    seed: u64,
) -> RunSpec<'a> {
    let multiple = arm.population().is_none().then_some(1.65);
    RunSpec { cell, workload, protocol, arm, multiple, seed, options: Options::default() }
}

fn same_but_for_rounding(skip: &SimRun, plain: &SimRun) {
    let close = |a: Option<f64>, b: Option<f64>| match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() < 1e-9,
        (a, b) => a == b,
    };
    assert_eq!(skip.turns.len(), plain.turns.len());
    for (a, b) in skip.turns.iter().zip(&plain.turns) {
        assert_eq!((a.session, a.number), (b.session, b.number));
        assert_eq!(a.cached_tokens, b.cached_tokens);
        assert!(close(a.t_end_s, b.t_end_s) && close(a.t_first_s, b.t_first_s), "{a:?} {b:?}");
    }
    assert_eq!(skip.gate.len(), plain.gate.len());
    assert_eq!(skip.engine, plain.engine);
}

#[test]
fn skipping_gives_what_stepping_gives() {
    let (cell, workload, protocol) = (cell("sglang-300k"), workload("standard"), short());
    for arm in arms() {
        for batching in [Batching::Mixed, Batching::Separate] {
            for scheduling in [Scheduling::Fcfs, Scheduling::Lpm] {
                let mut spec = spec(&cell, &workload, &protocol, &arm, 4);
                spec.options.batching = batching;
                spec.options.scheduling = Some(scheduling);
                spec.options.lpm_fallback = Some(40);
                let skip = simulate(&spec).unwrap();
                let plain = simulate_with(&spec, Stepping::Plain).unwrap();
                same_but_for_rounding(&skip, &plain);
            }
        }
    }
}

#[test]
fn the_same_inputs_give_the_same_run_in_any_thread_count() {
    use rayon::prelude::*;
    let (cell, workload, protocol) = (cell("sglang-300k"), workload("standard"), short());
    let arms = arms();
    let runs = |threads: usize| -> Vec<SimRun> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let one = |arm| simulate(&spec(&cell, &workload, &protocol, arm, 1)).unwrap();
            arms.par_iter().map(one).collect()
        })
    };
    assert_eq!(runs(1), runs(3));
}

/// A digest of a run's turns that any change of a time's last bit changes.
fn digest(run: &SimRun) -> String {
    let bits = |t: Option<f64>| t.map_or(0, f64::to_bits);
    let text: String = run
        .turns
        .iter()
        .map(|t| {
            let (who, n) = (&run.plan.sessions[t.session.at()], t.number);
            let (first, end) = (bits(t.t_first_s), bits(t.t_end_s));
            format!("{}{} {n} {first:x} {end:x} {:?}\n", who.kind, who.session, t.cached_tokens)
        })
        .collect();
    crate::hash::sha256_hex(text.as_bytes())
}

#[test]
fn the_run_of_a_seed_never_changes() {
    let (cell, workload, protocol) = (cell("sglang-300k"), workload("standard"), short());
    let run =
        simulate(&spec(&cell, &workload, &protocol, &ArmSpec::Capped { cap: 20 }, 0)).unwrap();
    assert_eq!(digest(&run), "16dbad39667ee115619cc7edc63d0ac7c24e83f9b389964cf99a944472ad71b7");
}

#[test]
fn turns_are_conserved_and_their_times_are_in_order() {
    let (cell, workload, protocol) = (cell("sglang-300k"), workload("standard"), short());
    for arm in arms() {
        let run = simulate(&spec(&cell, &workload, &protocol, &arm, 2)).unwrap();
        let done: u32 = run.sessions.iter().map(|s| s.turns_done).sum();
        let ok: Vec<_> = run.turns.iter().filter(|t| t.status == TurnStatus::Ok).collect();
        assert_eq!(done as usize, ok.len(), "{}", arm.arm());
        assert!(ok.len() > 500, "{}: only {} turns", arm.arm(), ok.len());
        for turn in ok {
            let (first, end) = (turn.t_first_s.unwrap(), turn.t_end_s.unwrap());
            assert!(turn.t_ready_s <= turn.t_submit_s && turn.t_submit_s < first && first < end);
            assert!(end <= run.horizon_s);
            let cached = turn.cached_tokens.unwrap();
            assert!(cached == 0 || cached == turn.prompt_tokens - 551);
            assert!(turn.number > 1 || cached == 0);
        }
        let last = run.engine.last().unwrap();
        assert_eq!(last.t_s, 1500.0);
        let in_flight =
            run.turns.iter().filter(|t| t.status == TurnStatus::UnfinishedAtHorizon).count();
        assert_eq!(
            (last.running.unwrap() + last.waiting.unwrap()) as usize,
            in_flight,
            "{}",
            arm.arm()
        );
        assert!(
            run.engine
                .iter()
                .all(|s| s.kv_used_tokens.unwrap() + s.kv_evictable_tokens.unwrap() <= 300_000)
        );
    }
}

#[test]
fn arms_of_a_seed_are_one_run_until_they_differ() {
    let (cell, workload, protocol) = (cell("sglang-300k"), workload("standard"), short());
    let until = |arm: ArmSpec, t_s: f64| -> Vec<((Kind, u32), Turn)> {
        let run = simulate(&spec(&cell, &workload, &protocol, &arm, 7)).unwrap();
        let before = run.turns.into_iter().filter(|t| t.t_end_s.is_some_and(|end| end < t_s));
        // By kind and number: a plan of fewer sessions has them in other places.
        let named = |turn: Turn| {
            let of = &run.plan.sessions[turn.session.at()];
            ((of.kind, of.session), Turn { session: crate::run::SessionIndex(0), ..turn })
        };
        before.map(named).collect()
    };
    let burst = ArmSpec::Burst { sessions: None };
    assert_eq!(until(ArmSpec::NoBurst {}, 300.0), until(burst.clone(), 300.0));
    assert_eq!(until(rescue(20, 600.0), 600.0), until(burst.clone(), 600.0));
    assert_eq!(until(ArmSpec::Cut { from_s: 700.0, multiple: 0.9 }, 700.0), until(burst, 700.0));
}

#[test]
fn a_capped_closed_system_is_the_closed_system_of_its_cap() {
    // Prop. 2: of n sessions behind a cap of c, the admitted are a closed system of c.
    let (cell, workload, arm) = (cell("sglang-300k"), workload("standard"), ArmSpec::NoBurst {});
    let plan = Plan::draw(&workload, 5, &Arrivals::Closed { sessions: 900 }).unwrap();
    let engine = EngineSpec::new(&cell, &arm, &Options::default()).unwrap();
    let turns = |population, gate| {
        let inputs = run::RunInputs {
            plan: &plan,
            workload: &workload,
            behaviour: Behaviour { population: Some(population), gate, ..Behaviour::PLAIN },
            engine,
            horizon_s: 1200.0,
            sample_s: 5.0,
            gauges_of_last_pass: false,
            stepping: Stepping::Skip,
            check: true,
        };
        let (client, samples) = run::drive(&inputs).unwrap();
        let key = |t: &Turn| (t.session, t.number, t.t_submit_s, t.t_end_s, t.cached_tokens);
        (client.turns.iter().map(key).collect::<Vec<_>>(), samples)
    };
    assert_eq!(turns(60, GateRule::Capped { cap: 22 }), turns(22, GateRule::Open));
}

#[test]
fn a_closed_run_is_the_same_with_only_the_sessions_that_it_may_need() {
    let (mut cell, workload, protocol) = (cell("sglang-300k"), workload("standard"), short());
    let arm = ArmSpec::Closed { population: 12 };
    // The second cell is expected to end next to none, so that the first draw is used up.
    for lambda_ref_per_s in [cell.lambda_ref_per_s, 1e-9] {
        cell.lambda_ref_per_s = lambda_ref_per_s;
        let spec = spec(&cell, &workload, &protocol, &arm, 3);
        let (all, few) = (simulate(&spec).unwrap(), simulate_to_measure(&spec).unwrap());
        assert_eq!(few.turns, all.turns);
        assert_eq!((&few.sessions, &few.engine), (&all.sessions, &all.engine));
        assert!(all.plan.sessions.starts_with(&few.plan.sessions));
        assert_eq!(few.plan == all.plan, lambda_ref_per_s == 1e-9);
    }
}

#[test]
fn without_prefix_caching_nothing_hits_and_nothing_is_idle() {
    let (cell, workload, protocol) = (cell("sglang-300k"), workload("standard"), short());
    let arm = ArmSpec::E0a { population: 8 };
    let run = simulate(&spec(&cell, &workload, &protocol, &arm, 0)).unwrap();
    assert!(run.turns.iter().all(|t| t.cached_tokens.unwrap_or(0) == 0));
    assert!(run.engine.iter().all(|s| s.kv_evictable_tokens == Some(0)));
    let arm = ArmSpec::Closed { population: 8 };
    let run = simulate(&spec(&cell, &workload, &protocol, &arm, 0)).unwrap();
    let followups = run.turns.iter().filter(|t| t.number > 1 && t.status == TurnStatus::Ok);
    assert!(followups.into_iter().all(|t| t.cached_tokens == Some(t.prompt_tokens - 551)));
}

#[test]
fn finished_kv_is_freed_unless_it_is_kept() {
    let (cell, workload, protocol) = (cell("sglang-300k"), workload("standard"), short());
    let arm = ArmSpec::Closed { population: 4 };
    let mut spec = spec(&cell, &workload, &protocol, &arm, 0);
    let idle = |spec: &RunSpec<'_>| {
        let run = simulate(spec).unwrap();
        run.engine.iter().map(|s| s.kv_evictable_tokens).max().unwrap()
    };
    // Four sessions hold at most four footprints; kept KV fills the pool.
    assert!(idle(&spec) <= Some(4 * workload.footprint_tokens(60)));
    spec.options.keep_finished = true;
    assert!(idle(&spec) > Some(250_000));
}

#[test]
fn a_hit_is_rounded_down_to_whole_blocks() {
    let (cell, workload, protocol) = (cell("vllm-300k"), workload("standard"), short());
    let arm = ArmSpec::Closed { population: 8 };
    let mut spec = spec(&cell, &workload, &protocol, &arm, 0);
    spec.options.token_cost_factor = Some(1.0882);
    let run = simulate(&spec).unwrap();
    let hits: Vec<_> = run.turns.iter().filter(|t| t.cached_tokens.unwrap_or(0) > 0).collect();
    assert!(hits.len() > 100);
    for turn in hits {
        let (cached, cacheable) = (turn.cached_tokens.unwrap(), turn.prompt_tokens - 551);
        assert!(cached % 16 == 0 && cached <= cacheable && cacheable - cached < 16);
    }
}

/// An engine on which sessions 1 and 2 left idle KV and the queue is long.
fn queue_of(waiting: usize, fallback: usize) -> Vec<usize> {
    let (cell, workload) = (cell("sglang-300k"), workload("standard"));
    let options = Options {
        scheduling: Some(Scheduling::Lpm),
        lpm_fallback: Some(fallback),
        ..Options::default()
    };
    let spec = EngineSpec::new(&cell, &ArmSpec::NoBurst {}, &options).unwrap();
    let mut engine = Engine::new(spec, 500);
    let request = |who, turn: u32| Request {
        who,
        turn,
        prompt_tokens: workload.prompt_tokens(turn as usize),
        decode_tokens: 100,
        reusable_tokens: workload.turn(turn as usize).reusable_tokens,
    };
    let mut done = Vec::new();
    // Session 2's KV is longer than session 1's.
    for (who, turn) in [(1, 3), (2, 5)] {
        engine.submit(request(who, turn), false);
        while engine.begin(0.0, None, Stepping::Skip).is_some() {
            engine.commit(&mut done);
        }
    }
    assert_eq!(done.len(), 2);
    for who in 0..waiting - 2 {
        engine.submit(request(10 + who, 1), false);
    }
    engine.submit(request(1, 4), false);
    engine.submit(request(2, 6), false);
    engine.begin(0.0, None, Stepping::Skip);
    engine.prefills.iter().map(|p| p.job.request.who).collect()
}

#[test]
fn lpm_admits_the_longest_resident_prefix_first_up_to_its_fallback() {
    assert_eq!(queue_of(128, 128)[..3], [2, 1, 10]);
    assert_eq!(queue_of(129, 128)[..3], [10, 2, 1]);
    assert_eq!(queue_of(131, 128)[..4], [10, 11, 12, 2]);
    assert_eq!(queue_of(300, usize::MAX)[..3], [2, 1, 10]);
}

#[test]
fn the_good_state_holds_without_a_burst_and_a_large_burst_ends_it() {
    let (cell, workload) = (cell("sglang-300k"), workload("standard"));
    let protocol = config("protocols", "paper", Protocol::parse);
    let hits = |arm: ArmSpec| {
        let spec = spec(&cell, &workload, &protocol, &arm, 0);
        let label = directory::Label { run_id: "any".into(), registration: None };
        let run = directory::to_measure(&simulate(&spec).unwrap(), &spec, &label);
        share::hits(&run, protocol.paired.window_s).value().unwrap()
    };
    assert_eq!(hits(ArmSpec::Burst { sessions: None }), 0.0);
    assert!(hits(ArmSpec::NoBurst {}) > 0.9);
    assert!(hits(ArmSpec::Capped { cap: 20 }) > 0.9);
}

/// A small engine and odd sessions, to reach corners the paper's cells do not.
fn odd(pool: u64, chunk: u64, running: u64, decoded: u64) -> (Cell, Workload) {
    let mut cell = cell("sglang-300k");
    (cell.pool_tokens, cell.chunk_tokens, cell.max_running) = (pool, chunk, running);
    cell.lambda_ref_per_s = 0.3;
    let workload = Workload {
        name: "odd".into(),
        turns: TurnLaw::TruncatedGeometric { mean: 6.0, max: 12 },
        first_prompt_tokens: 300,
        tool_output_tokens: 70,
        decoded_tokens: decoded,
        tool_time: ToolTime::Exponential { mean_s: 2.0 },
        sources: Default::default(),
        recorded: None,
    };
    (cell, workload)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn odd_engines_keep_their_invariants_and_skip_exactly(
        seed in 0_u64..10_000,
        pool in 3_000_u64..20_000,
        chunk in prop_oneof![Just(64_u64), Just(512), Just(8192)],
        running in 1_u64..40,
        decoded in prop_oneof![Just(1_u64), Just(2), Just(37)],
        arm in prop::sample::select(arms()),
        separate: bool, lpm: bool, keep: bool,
    ) {
        let (cell, workload) = odd(pool, chunk, running, decoded);
        let protocol = short();
        let mut spec = spec(&cell, &workload, &protocol, &arm, seed);
        spec.options = Options {
            batching: if separate { Batching::Separate } else { Batching::Mixed },
            scheduling: Some(if lpm { Scheduling::Lpm } else { Scheduling::Fcfs }),
            lpm_fallback: Some(10),
            keep_finished: keep,
            check: true,
            ..Options::default()
        };
        let skip = simulate(&spec);
        // A closed population of such quick sessions can use up its plan.
        if let Err(SimError::Client(ClientError::PlanExhausted { .. })) = skip {
            return Ok(());
        }
        let skip = skip.unwrap();
        same_but_for_rounding(&skip, &simulate_with(&spec, Stepping::Plain).unwrap());
        let refused = skip.sessions.iter().filter(|s| s.status == SessionStatus::Refused).count();
        prop_assert!(refused == 0 || arm.arm() == crate::setup::Arm::Shed);
        prop_assert!(skip.sessions.iter().all(|s| s.kind == Kind::Base || arm.has_burst()));
    }
}
