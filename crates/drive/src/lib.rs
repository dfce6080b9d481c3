//! The simulator's client on the wire: an open-loop load on a real engine, recorded as a run
//! directory while it runs.
//!
//! What a client does is [`trapcheck_simulator::client`]'s, the same state machine that drives
//! the simulator; here are its clock, its connections and its pen. The load is open: no answer,
//! however late, delays an arrival. One thread sends and receives; another writes, so that a
//! slow disk delays nothing.
//!
//! It connects only to the address it is given, follows no redirect, asks no proxy, bounds
//! every head, line and body, and writes nothing that an engine says in its own words: only
//! numbers, and faults in words of ours. An API key is in no output.
//!
//! Left out: TLS (put a tunnel or a proxy in front), retries, several engines at once.

use trapcheck_runs::run;
use trapcheck_setup::{limits, setup};
use trapcheck_simulator::{client, plan, sim};

pub mod address;
pub mod dialect;
pub mod driver;
pub mod engine;
pub mod fault;
pub mod http;
pub mod lag;
mod lines;
pub mod machine;
pub mod make;
pub mod meta;
pub mod metrics;
pub mod preflight;
pub mod progress;
pub mod prompts;
pub mod record;
