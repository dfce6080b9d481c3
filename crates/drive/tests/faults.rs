//! What goes wrong with an engine ends a session and no other, and no run.
#![allow(clippy::unwrap_used)] // a test that cannot go on fails

mod fake;
mod setup;

use std::ops::ControlFlow;

use fake::{Fake, Manner, Trouble};
use setup::{Setup, drive, drive_until, engine};
use trapcheck_drive::dialect::Dialect;
use trapcheck_drive::engine::Engine;
use trapcheck_setup::setup::ArmSpec;

/// Prompts of the canary.
const CANARY: usize = 3;

/// Both interfaces.
fn both() -> [(Manner, Dialect); 2] {
    [(Manner::vllm(), Dialect::Vllm), (Manner::sglang(), Dialect::Sglang)]
}

#[test]
fn a_stuck_engine_delays_no_arrival() {
    for (manner, dialect) in both() {
        let fake = Fake::start(manner.with(CANARY, Trouble::Stuck));
        let run = drive(&fake, dialect, &ArmSpec::Burst { sessions: None });
        let made = run.made.unwrap();
        // Every planned session was sent, though nothing was answered.
        let plan = std::fs::read_to_string(run.dir.join("plan.csv")).unwrap();
        assert_eq!(made.meta.counts.sessions_arrived, plan.lines().count() as u64 - 1);
        assert_eq!(made.meta.counts.turns, made.meta.counts.sessions_arrived);
        let lag = made.lag.unwrap();
        assert_eq!(lag.sends, made.meta.counts.turns);
        assert!(lag.p99_s < 0.1, "{lag:?}");
        // And they came when they were due, by the server's own clock.
        let seen = fake.seen();
        let sent: Vec<_> = seen.iter().filter(|s| s.prompt.len() == 200).collect();
        assert_eq!(sent.len() as u64, made.meta.counts.turns);
        let span = sent.last().unwrap().at.duration_since(sent[0].at).as_secs_f64();
        assert!(span > 1.0 && span < 2.1, "{span}");
    }
}

/// What each fault is called.
const FAULTS: [(Trouble, &str); 13] = [
    (Trouble::Status(503), "answered with status 503"),
    (Trouble::EndlessHead, "answer is not HTTP or its head is too large"),
    (Trouble::EndlessLine, "answer too large"),
    (Trouble::EndlessEvents, "answer too large"),
    (Trouble::ShortBody, "connection broken"),
    (Trouble::CutStream, "connection broken"),
    (Trouble::NotJson, "malformed event"),
    (Trouble::NotHttp, "answer is not HTTP"),
    (Trouble::NoIds, "no token ids in the answer"),
    (Trouble::FewIds, "answered 9 of 10 tokens"),
    (Trouble::MoreCached, "impossible usage: more cached than prompt tokens"),
    (Trouble::OtherPrompt, "impossible usage: another number of prompt tokens"),
    (Trouble::ErrorEvent, "engine reported an error"),
];

fn each_fault_is_named_in_its_turn_and_ends_that_session_only(manner: &Manner, dialect: Dialect) {
    for (trouble, expected) in FAULTS {
        let fake = Fake::start(manner.clone().with(CANARY + 12, trouble.clone()));
        let run = drive(&fake, dialect, &ArmSpec::NoBurst {});
        let made = run.made.as_ref().unwrap();
        let status = run.column("turns", "status");
        let counts = made.meta.counts;
        assert_eq!(
            status.iter().filter(|word| *word == "ok").count(),
            12,
            "{trouble:?}: {status:?}"
        );
        assert!(
            status[12..].iter().any(|word| word.starts_with(expected)),
            "{trouble:?}: {status:?}"
        );
        // No retry: a failed turn is the last of its session, and others arrive all the same.
        assert_eq!(counts.request_errors, counts.sessions_failed, "{trouble:?}");
        assert!(counts.request_errors > 3, "{trouble:?}: {counts:?}");
    }
}

#[test]
fn each_fault_of_vllm_is_named_in_its_turn_and_ends_that_session_only() {
    let [(manner, dialect), _] = both();
    each_fault_is_named_in_its_turn_and_ends_that_session_only(&manner, dialect);
}

#[test]
fn each_fault_of_sglang_is_named_in_its_turn_and_ends_that_session_only() {
    let [_, (manner, dialect)] = both();
    each_fault_is_named_in_its_turn_and_ends_that_session_only(&manner, dialect);
}

#[test]
fn a_server_that_dies_is_recorded_to_the_end_of_the_run() {
    for (manner, dialect) in both() {
        let fake = Fake::start(manner.with(CANARY + 12, Trouble::Dies));
        let run = drive(&fake, dialect, &ArmSpec::NoBurst {});
        let made = run.made.as_ref().unwrap();
        let status = run.column("turns", "status");
        assert!(status.iter().any(|word| word == "no connection: refused"), "{status:?}");
        assert_eq!(made.meta.duration_s, 2.0);
        assert!(made.meta.counts.sessions_failed > 3);
    }
}

#[test]
fn a_redirect_is_not_followed() {
    for (manner, dialect) in both() {
        let elsewhere = Fake::start(manner.clone());
        let path = if manner.is_sglang { "/generate" } else { "/v1/completions" };
        let to = format!("{}{path}", elsewhere.url);
        let fake = Fake::start(manner.with(CANARY, Trouble::Redirect(to)));
        let run = drive(&fake, dialect, &ArmSpec::NoBurst {});
        let status = run.column("turns", "status");
        assert!(status.iter().all(|word| word.contains("redirect (status 307)")), "{status:?}");
        assert_eq!(elsewhere.connections(), 0);
    }
}

#[test]
fn a_request_that_takes_too_long_ends_its_session_and_no_other() {
    for (manner, dialect) in both() {
        let fake = Fake::start(manner.with_some(CANARY + 8..CANARY + 11, Trouble::Stuck));
        let engine = Engine { timeout_s: 1, ..engine(&fake.url, dialect, None) };
        let (setup, arm) = (Setup::of(dialect.word()), ArmSpec::NoBurst {});
        let run = drive_until(&setup, &arm, engine, |_| ControlFlow::Continue(()));
        let turns = run.rows("turns");
        let late: Vec<_> = turns.iter().filter(|row| row[11] == "no answer within 1 s").collect();
        assert_eq!(late.len(), 3, "{turns:?}");
        let ended_s = |row: &[String]| row[6].parse::<f64>().unwrap();
        for row in &late {
            let submitted_s: f64 = row[4].parse().unwrap();
            assert!((1.0..1.2).contains(&(ended_s(row) - submitted_s)), "{row:?}");
            let of_session = |other: &&Vec<String>| other[..2] == row[..2];
            assert_eq!(turns.iter().rfind(of_session), Some(*row), "its last turn");
        }
        // Others were answered meanwhile, and after it.
        let answered = turns.iter().filter(|row| row[11] == "ok");
        let first_s = late.iter().map(|row| ended_s(row)).fold(f64::INFINITY, f64::min);
        assert!(answered.clone().filter(|row| ended_s(row) < first_s).count() > 8 + 5);
        assert!(answered.filter(|row| ended_s(row) > first_s).count() > 5);
        let counts = run.made.unwrap().meta.counts;
        assert_eq!((counts.request_errors, counts.sessions_failed), (3, 3), "{counts:?}");
    }
}

#[test]
fn answers_without_an_end_beside_the_turns_stop_no_run_and_are_not_read_to_it() {
    for (manner, dialect) in both() {
        let (version, flush) = match dialect {
            Dialect::Vllm => ("/version", "/reset_prefix_cache"),
            Dialect::Sglang => ("/server_info", "/flush_cache"),
        };
        // The first two pages of metrics are of the time before the run.
        for endless in [(version, 0), (flush, 0), ("/metrics", 2)] {
            let fake = Fake::start(Manner { endless: Some(endless), ..manner.clone() });
            let run = drive(&fake, dialect, &ArmSpec::NoBurst {});
            let made = run.made.as_ref().unwrap();
            assert_eq!(made.meta.duration_s, 2.0, "{endless:?}");
            assert_eq!(made.meta.counts.request_errors, 0, "{endless:?}");
            assert!(made.meta.counts.turns > 20, "{endless:?}");
            assert!(made.lag.unwrap().p99_s < 0.1, "{endless:?}: {:?}", made.lag);
            // The bound of the largest page, and what is on its way.
            assert!((1..16 << 20).contains(&fake.poured()), "{endless:?}: {}", fake.poured());
            assert_eq!(run.rows("engine").is_empty(), endless.0 == "/metrics", "{endless:?}");
        }
        let fake = Fake::start(Manner { endless: Some(("/metrics", 0)), ..manner });
        let run = drive(&fake, dialect, &ArmSpec::NoBurst {});
        let said = run.made.unwrap_err().to_string();
        assert!(said.starts_with("/metrics: answer too large: over 4194304 bytes"), "{said}");
    }
}
