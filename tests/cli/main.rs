//! The program as a user runs it: one file per promise.
#![allow(clippy::unwrap_used)] // a test that cannot go on fails

mod against;
mod calibrate;
mod campaign;
mod derive;
mod determinism;
mod diagnose;
mod documents;
mod drive;
mod ensemble;
mod examples;
#[path = "../../crates/drive/tests/fake/mod.rs"]
mod fake;
mod help;
mod inspect;
mod installed;
mod knee;
mod knee_reports;
mod layouts;
mod ledger;
mod limits;
mod measure;
mod model;
mod names;
mod numbers;
mod output;
mod page;
mod plan;
mod project;
mod query;
mod readme;
mod register;
mod score;
mod seeds;
mod served_page;
mod session_workloads;
mod sessions;
mod sim_against_engine;
mod simulate;
mod sources;
mod streams;
mod writing;
mod written_page;
