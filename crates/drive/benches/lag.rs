//! How late the client begins its requests with 2,000 sessions in flight, against a local engine
//! that answers none of them before all are sent. The client has one thread; the engine has one
//! per request. By the client's own measure, from when a turn was due until its request began.
//!
//! It fails where the 99th percentile is 5 ms or more. On one core, which the engine shares:
//! `taskset -c 0 cargo bench --locked --profile dev -p trapcheck-drive`.

#![allow(clippy::unwrap_used)] // a bench that cannot go on fails

#[path = "../tests/fake/mod.rs"]
mod fake;
#[path = "../tests/setup/mod.rs"]
mod setup;

use std::ops::ControlFlow;

use fake::{Fake, Manner};
use trapcheck_drive::dialect::Dialect;
use trapcheck_setup::setup::ArmSpec;

/// Sessions of the burst.
const SESSIONS: u32 = 2000;

/// What the 99th percentile of the lag has to stay under, s.
const MOST_S: f64 = 0.005;

fn main() {
    // Every session of the burst is in flight before the first is answered.
    let fake = Fake::start(Manner { answer_s: 8.0, ..Manner::vllm() });
    let engine = setup::engine(&fake.url, Dialect::Vllm, None);
    let mut setup = setup::Setup::of("vllm");
    setup.protocol.paired.horizon_s = 20.0;
    setup.protocol.paired.burst.length_s = 5.0;
    let mut most = 0;
    let arm = ArmSpec::Burst { sessions: Some(SESSIONS) };
    let run = setup::drive_until(&setup, &arm, engine, |progress| {
        most = progress.in_flight.max(most);
        ControlFlow::Continue(())
    });
    let lag = run.made.as_ref().unwrap().lag.unwrap();
    println!(
        "{} requests, up to {most} in flight: late by {:.2} ms (median), {:.2} ms (99 %), {:.2} ms (most)",
        lag.sends,
        1000.0 * lag.p50_s,
        1000.0 * lag.p99_s,
        1000.0 * lag.max_s
    );
    let late: Vec<f64> =
        run.column("turns", "late_s").iter().filter_map(|t| t.parse().ok()).collect();
    assert_eq!(late.len() as u64, lag.sends, "each is in its row");
    assert!(most >= u64::from(SESSIONS), "only {most} were in flight at once");
    assert!(lag.p99_s < MOST_S, "late by {} s, expected less than {MOST_S} s", lag.p99_s);
}
