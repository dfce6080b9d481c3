//! The client on the wire, against small engines that behave, and that do not.
#![allow(clippy::unwrap_used)] // a test that cannot go on fails

mod fake;
mod setup;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use fake::{Fake, Flush, Manner, Report, Trouble};
use setup::{Setup, drive, drive_until, engine, label, runtime};
use tokio::sync::Notify;
use trapcheck_drive::dialect::Dialect;
use trapcheck_drive::make::{MakeError, make};
use trapcheck_drive::preflight::PreflightError;
use trapcheck_drive::progress::Now;
use trapcheck_setup::setup::{ArmSpec, Awaited, Subagent, Trace, TraceTurn, Workload};

const BURST: ArmSpec = ArmSpec::Burst { sessions: None };

/// Requests of the canary.
const CANARY: usize = 3;

#[test]
fn a_run_is_recorded_turn_by_turn_and_closed() {
    for (manner, dialect) in [(Manner::vllm(), Dialect::Vllm), (Manner::sglang(), Dialect::Sglang)]
    {
        let fake = Fake::start(manner);
        let run = drive(&fake, dialect, &BURST);
        let made = run.made.as_ref().unwrap();
        let counts = made.meta.counts;
        assert!(counts.sessions_arrived > 20 && counts.turns > 40, "{counts:?}");
        assert_eq!((counts.request_errors, counts.sessions_failed), (0, 0));
        assert_eq!(run.rows("turns").len() as u64, counts.turns);
        assert_eq!(run.rows("sessions").len() as u64, counts.sessions_arrived);
        assert!(run.rows("engine").len() > 5, "{}", run.text("engine.csv"));
        let files = ["started.json", ".meta.json.tmp", ".sessions.csv.tmp"];
        assert!(files.iter().all(|file| !run.dir.join(file).exists()));
        let meta: serde_json::Value = serde_json::from_str(&run.text("meta.json")).unwrap();
        assert_eq!(meta["status"], "completed");
        assert_eq!(meta["client"]["ended"], "horizon");
        assert_eq!(meta["canary"]["cached_before"], 736);
        assert_eq!(meta["canary"]["cached_after"], 0);
        assert!(meta["client"]["lag"]["sends"].as_u64().unwrap() >= counts.turns);
    }
}

#[test]
fn the_next_prompt_holds_the_output_so_follow_ups_hit_and_first_turns_do_not() {
    let fake = Fake::start(Manner::vllm());
    let run = drive(&fake, Dialect::Vllm, &ArmSpec::NoBurst {});
    let (turns, cached) = (run.column("turns", "turn"), run.column("turns", "cached_tokens"));
    let prompts = run.column("turns", "prompt_tokens");
    let status = run.column("turns", "status");
    let mut follow_ups = 0;
    for row in (0..turns.len()).filter(|row| status[*row] == "ok") {
        let (turn, prompt): (u64, u64) =
            (turns[row].parse().unwrap(), prompts[row].parse().unwrap());
        assert_eq!(prompt, 200 + 65 * (turn - 1));
        // What came before this turn, in whole blocks: the prompt and output of the one before.
        let before = if turn == 1 { 0 } else { (200 + 65 * (turn - 2) + 10) / 32 * 32 };
        assert_eq!(cached[row], before.to_string(), "turn {turn}");
        follow_ups += u64::from(turn > 1);
    }
    assert!(follow_ups > 20);
}

#[test]
fn what_is_in_flight_when_a_run_ends_is_taken_back_from_the_engine() {
    let fake = Fake::start(Manner::vllm().with(CANARY, Trouble::Stuck));
    let (setup, folder) = (Setup::of("vllm"), tempfile::tempdir().unwrap());
    let engine = engine(&fake.url, Dialect::Vllm, None);
    runtime().block_on(async {
        let dir = folder.path().join("run");
        let (spec, label) = (setup.spec(&BURST), label());
        let go_on = |_: &Now<'_>| ControlFlow::Continue(());
        let made = make(&spec, &label, engine, &dir, &Notify::new(), go_on).await.unwrap();
        assert!(made.meta.counts.turns > 20);
        // The runtime goes on, as it does between the runs of a campaign.
        for _ in 0..200 {
            if fake.held() == 0 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(fake.held(), 0);
    });
}

#[test]
fn a_run_waits_for_what_others_left_in_the_engine() {
    for (manner, dialect) in [(Manner::vllm(), Dialect::Vllm), (Manner::sglang(), Dialect::Sglang)]
    {
        let fake = Fake::start(Manner { busy_s: 1.5, ..manner });
        let run = drive(&fake, dialect, &ArmSpec::NoBurst {});
        assert_eq!(run.made.unwrap().meta.canary.unwrap().cached_after, Some(0));
    }
}

#[test]
fn a_key_is_sent_and_written_nowhere_whatever_the_server_says() {
    const KEY: &str = "sk-0123456789";
    // A server that puts the key into everything it says.
    let manner = Manner { model: format!("model {KEY}"), ..Manner::vllm() };
    let fake = Fake::start(manner.with(CANARY + 5, Trouble::Status(401)));
    let engine = engine(&fake.url, Dialect::Vllm, Some(KEY));
    let run = drive_until(&Setup::of("vllm"), &BURST, engine, |_| ControlFlow::Continue(()));
    let made = run.made.as_ref().unwrap();
    assert!(made.meta.counts.request_errors > 0);
    assert!(
        fake.seen().iter().all(|seen| seen.head.contains(&format!("authorization: Bearer {KEY}")))
    );
    for entry in std::fs::read_dir(&run.dir).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains(KEY), "{}", path.display());
    }
    assert!(!format!("{made:?}").contains(KEY));
}

#[test]
fn sglang_says_its_version_under_the_name_of_today_or_the_one_before() {
    for (is_older, version) in [(false, "0.5.23"), (true, "0.5.5")] {
        let fake = Fake::start(Manner { is_older, ..Manner::sglang() });
        let run = drive(&fake, Dialect::Sglang, &ArmSpec::NoBurst {});
        run.made.as_ref().unwrap();
        let meta: serde_json::Value = serde_json::from_str(&run.text("meta.json")).unwrap();
        assert_eq!(meta["engine"]["version"], version);
    }
}

#[test]
fn sglangs_gauges_are_read_under_its_names_and_its_counters_over_their_parts() {
    let fake = Fake::start(Manner::sglang());
    let engine = engine(&fake.url, Dialect::Sglang, None);
    let sample = runtime().block_on(async {
        let prompt: Vec<u32> = (1000..1100).collect();
        for _ in 0..2 {
            engine.ask(&prompt, 10).await.unwrap();
        }
        while fake.held() > 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        engine.metrics(5.0).await.unwrap().sample(1.0)
    });
    // The warm-up of 3 and 8 tokens is one part, these two requests the other.
    assert_eq!(sample.prompt_tokens_total, Some(3 + 2 * 100));
    assert_eq!(sample.generation_tokens_total, Some(8 + 2 * 10));
    assert_eq!(sample.cached_tokens_total, Some(96), "three blocks of 32, the second time");
    assert_eq!((sample.running, sample.waiting), (Some(0), Some(0)));
    assert_eq!((sample.kv_used_tokens, sample.kv_evictable_tokens), (Some(0), Some(96)));
    assert_eq!((sample.kv_total_tokens, sample.preemptions_total), (Some(30_016), None));
    let run = drive(&fake, Dialect::Sglang, &BURST);
    for gauge in ["kv_used_tokens", "kv_evictable_tokens", "cached_tokens_total"] {
        let column = run.column("engine", gauge);
        assert!(column.iter().all(|cell| cell.parse::<u64>().is_ok()), "{gauge}: {column:?}");
    }
}

fn refusal(manner: Manner, arm: &ArmSpec) -> MakeError {
    let dialect = if manner.is_sglang { Dialect::Sglang } else { Dialect::Vllm };
    let fake = Fake::start(manner);
    let run = drive(&fake, dialect, arm);
    assert!(!run.dir.exists(), "nothing is written of a run that did not start");
    run.made.unwrap_err()
}

#[test]
fn the_canary_refuses_an_engine_that_cannot_be_measured_and_says_what_helps() {
    use PreflightError::{NoFlush, NotEmptied, NotReported};
    let vllm = Manner::vllm;
    let said = refusal(Manner { report: Report::Never, ..vllm() }, &BURST);
    assert!(matches!(said, MakeError::Preflight(NotReported(_))), "{said}");
    assert!(said.to_string().contains("--enable-prompt-tokens-details"), "{said}");
    let said = refusal(Manner { report: Report::Never, ..Manner::sglang() }, &BURST);
    assert!(said.to_string().contains("--enable-cache-report"), "{said}");
    let said = refusal(Manner { flush: Flush::NotThere, ..vllm() }, &BURST);
    assert!(matches!(said, MakeError::Preflight(NoFlush { .. })), "{said}");
    assert!(said.to_string().contains("VLLM_SERVER_DEV_MODE=1"), "{said}");
    let said = refusal(Manner { flush: Flush::DoesNothing, ..vllm() }, &BURST);
    assert!(matches!(said, MakeError::Preflight(NotEmptied(736))), "{said}");
}

#[test]
fn an_engine_that_is_not_the_cells_is_refused() {
    let said = refusal(Manner { pool_blocks: 500, ..Manner::vllm() }, &BURST).to_string();
    assert_eq!(said, "cell small: the engine has a pool of 16000 tokens, the cell one of 30016");
    let off = Manner { prefix_caching: false, ..Manner::vllm() };
    let said = refusal(off.clone(), &BURST).to_string();
    assert!(said.contains("runs with the prefix cache on, the engine has it off"), "{said}");
    let fake = Fake::start(Manner::sglang());
    let said = drive(&fake, Dialect::Vllm, &BURST).made.unwrap_err().to_string();
    assert!(said.contains("/metrics has nothing of vllm"), "{said}");
    // The cache-off arm wants exactly that engine.
    let fake = Fake::start(off);
    let run = drive(&fake, Dialect::Vllm, &ArmSpec::E0a { population: 4 });
    assert_eq!(run.made.as_ref().unwrap().meta.counts.request_errors, 0);
    assert!(run.column("turns", "cached_tokens").iter().all(|n| n == "0" || n.is_empty()));
}

#[test]
fn a_count_that_is_left_out_where_it_is_0_is_0() {
    let fake = Fake::start(Manner { report: Report::NotZero, ..Manner::vllm() });
    let run = drive(&fake, Dialect::Vllm, &ArmSpec::NoBurst {});
    let (turns, cached) = (run.column("turns", "turn"), run.column("turns", "cached_tokens"));
    let status = run.column("turns", "status");
    let first = (0..turns.len()).filter(|row| turns[*row] == "1" && status[*row] == "ok");
    assert!(first.into_iter().all(|row| cached[row] == "0"), "{cached:?}");
    assert!(run.text("config.yaml").contains("zero_is_absent: true"));
}

#[test]
fn a_gate_admits_no_more_than_its_cap() {
    let fake = Fake::start(Manner { answer_s: 0.05, ..Manner::vllm() });
    let run = drive(&fake, Dialect::Vllm, &ArmSpec::Capped { cap: 2 });
    let admitted = run.column("gate", "admitted");
    assert!(admitted.len() > 10, "{admitted:?}");
    assert!(admitted.iter().all(|n| n.parse::<u32>().unwrap() <= 2), "{admitted:?}");
    let meta = run.made.unwrap().meta;
    assert_eq!(meta.gate.map(|gate| gate.n_cap), Some(2));
}

#[test]
fn each_open_arm_does_on_the_wire_what_it_is_called_after() {
    let fake = Fake::start(Manner { answer_s: 0.02, ..Manner::vllm() });
    let drive = |arm: &ArmSpec| {
        let run = drive(&fake, Dialect::Vllm, arm);
        let counts = run.made.as_ref().unwrap().meta.counts;
        assert!(counts.turns > 20 && counts.request_errors == 0, "{arm:?}: {counts:?}");
        run
    };
    let (min_capped_s, hold_s, tick_s) = (0.2, 0.1, 0.05);
    let rescue = drive(&ArmSpec::Rescue { cap: 3, engage_s: 0.8, min_capped_s, hold_s, tick_s });
    let gate = rescue.rows("gate");
    let engaged: f64 = gate[0][0].parse().unwrap();
    assert!(gate[0].contains(&"engage".to_owned()) && (0.8..1.0).contains(&engaged), "{gate:?}");
    let shed = drive(&ArmSpec::Shed { from_s: 0.8, length_s: 0.6 });
    let refused = shed.rows("sessions").into_iter().filter(|row| row.contains(&"refused".into()));
    let times: Vec<f64> = refused.map(|row| row[2].parse().unwrap()).collect();
    assert!(times.len() > 1 && times.iter().all(|t| (0.8..1.4).contains(t)), "{times:?}");
    let slowed = drive(&ArmSpec::Toolslow { from_s: 0.5, to_s: 1.0, delay_s: 0.7 });
    let (ends, tools) = (slowed.column("turns", "t_end"), slowed.column("turns", "tool_s"));
    let mut during = 0;
    for (end, tool) in ends.iter().zip(&tools).filter(|(_, tool)| !tool.is_empty()) {
        let (end, tool): (f64, f64) = (end.parse().unwrap(), tool.parse().unwrap());
        let inside = (0.5..1.0).contains(&end);
        assert!(tool >= 0.7 || !inside, "a call from {end} s took {tool} s");
        during += usize::from(inside);
    }
    assert!(during > 3, "{ends:?}");
    let cut = drive(&ArmSpec::Cut { from_s: 1.0, multiple: 0.1 });
    let late = |run: &setup::Run| {
        let times = run.column("sessions", "t_planned").into_iter().map(|t| t.parse::<f64>());
        times.filter(|t| t.as_ref().unwrap() > &1.0).count()
    };
    assert!(late(&cut) < late(&slowed) / 2, "{} {}", late(&cut), late(&slowed));
    assert_eq!(drive(&ArmSpec::E0b {}).made.unwrap().meta.arm.word(), "e0b");
}

#[test]
fn a_closed_plan_that_is_used_up_ends_the_run_and_says_so() {
    let fake = Fake::start(Manner { answer_s: 0.0, ..Manner::vllm() });
    let mut setup = Setup::of("vllm");
    // A reference rate so low that hardly a session is drawn beyond the population.
    setup.cell.lambda_ref_per_s = 0.01;
    let engine = engine(&fake.url, Dialect::Vllm, None);
    let arm = ArmSpec::Closed { population: 3 };
    let run = drive_until(&setup, &arm, engine, |_| ControlFlow::Continue(()));
    let meta: serde_json::Value = serde_json::from_str(&run.text("meta.json")).unwrap();
    assert_eq!(meta["client"]["ended"], "plan used up");
    assert_eq!(meta["status"], "truncated");
}

#[test]
fn a_closed_population_is_kept() {
    let fake = Fake::start(Manner::vllm());
    let run = drive(&fake, Dialect::Vllm, &ArmSpec::Closed { population: 3 });
    let status = run.column("sessions", "status");
    assert_eq!(status.iter().filter(|word| *word == "running").count(), 3, "{status:?}");
    assert!(status.iter().filter(|word| *word == "completed").count() > 3, "{status:?}");
}

#[test]
fn a_run_that_is_ended_early_is_closed_as_truncated_with_its_reason() {
    let fake = Fake::start(Manner::vllm());
    let engine = engine(&fake.url, Dialect::Vllm, None);
    let run = drive_until(&Setup::of("vllm"), &BURST, engine, |progress| {
        if progress.turns > 0 {
            ControlFlow::Break("enough".into())
        } else {
            ControlFlow::Continue(())
        }
    });
    let meta: serde_json::Value = serde_json::from_str(&run.text("meta.json")).unwrap();
    assert_eq!(
        (&meta["status"], &meta["client"]["ended"]),
        (&"truncated".into(), &"decided: enough".into())
    );
    let duration_s = meta["duration_s"].as_f64().unwrap();
    assert!((1.0..2.0).contains(&duration_s), "{duration_s}");
    assert_eq!(run.rows("turns").len() as u64, run.made.unwrap().meta.counts.turns);
}

#[test]
fn a_session_waits_on_the_wire_for_the_subagents_that_it_started() {
    let turn = |gap_s, prompt_tokens, reusable_tokens| TraceTurn {
        gap_s,
        prompt_tokens,
        output_tokens: 5,
        reusable_tokens,
    };
    let trace = |id: String, subagents| Trace {
        id,
        turns: vec![turn(0.0, 200, 0), turn(0.1, 300, 200)],
        subagents,
    };
    let traces = (0..60).map(|i| {
        let agent = |n: u32| Subagent {
            trace: Arc::new(trace(format!("s{i}/{n}"), Vec::new())),
            after: 1,
            delay_s: 0.01 * f64::from(n),
            awaited: Some(Awaited { turn: 2, rest_s: 0.02 }),
        };
        trace(format!("s{i}"), vec![agent(1), agent(2)])
    });
    let workload = Workload::of_traces("trees", traces.collect()).unwrap();
    let setup = Setup { workload, ..Setup::of("vllm") };
    let fake = Fake::start(Manner::vllm());
    let arm = ArmSpec::Closed { population: 3 };
    let engine = engine(&fake.url, Dialect::Vllm, None);
    let run = drive_until(&setup, &arm, engine, |_| ControlFlow::Continue(()));
    assert_eq!(run.made.as_ref().unwrap().meta.counts.request_errors, 0);
    let turns = run.rows("turns");
    // Of a turn: when it was ready, sent and answered.
    let times = |kind: &str, session: &str, turn: &str| -> Option<[f64; 3]> {
        let row = turns.iter().find(|r| (&*r[1], &*r[0], &*r[2]) == (kind, session, turn))?;
        let [ready, submit, end] = [3, 4, 6].map(|column| row[column].parse().ok());
        Some([ready?, submit?, end?])
    };
    let mut waited = 0;
    for planned in run.rows("plan").iter().filter(|row| row[1] == "subagent") {
        let follows = planned.last().unwrap();
        let session = follows.strip_prefix("base ").unwrap().split(' ').next().unwrap();
        assert!(follows.ends_with(" s; turn 2 waits"), "{follows}");
        let (Some([ready, ..]), Some([_, _, end]), Some([second, ..])) = (
            times("subagent", &planned[0], "1"),
            times("subagent", &planned[0], "2"),
            times("base", session, "2"),
        ) else {
            continue;
        };
        let [_, _, answered] = times("base", session, "1").unwrap();
        assert!(answered + 0.0099 <= ready && end + 0.0199 <= second, "{planned:?}");
        waited += 1;
    }
    assert!(waited > 5, "{waited}");
    // An identity of its own: nothing that its session sent hits.
    let first = |r: &&Vec<String>| r[1] == "subagent" && r[2] == "1" && r[11] == "ok";
    assert!(turns.iter().filter(first).all(|r| r[8] == "0"), "{turns:?}");
}
