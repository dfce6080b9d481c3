//! The program as a user runs it: one file per promise.

mod calibrate;
mod determinism;
mod inspect;
mod numbers;
mod project;
mod readme;
mod score;
