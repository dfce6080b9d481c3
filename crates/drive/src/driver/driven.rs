//! A run that has ended, and why it did.

use crate::client::records::ClientRun;
use crate::lag::Lags;
use crate::machine::Machine;

/// Why a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// Its time was over.
    Horizon,
    /// Somebody asked for it.
    Stopped,
    /// Whoever looked on said so.
    Decided(String),
    /// A closed run had no session left to replace one that ended, or an open one no recorded
    /// session that was not being played.
    UsedUp,
    /// Its directory could not be written any more.
    NotWritten,
}

/// A run that has ended.
#[derive(Debug)]
pub struct Driven {
    /// What the client recorded.
    pub run: ClientRun,
    /// Why it ended.
    pub ended: Ended,
    /// When, s.
    pub duration_s: f64,
    /// How late its requests were begun.
    pub lags: Lags,
    /// Of the turns that have not ended, in the order of `run.turns`.
    pub late_s: Vec<Option<f64>>,
    /// Gate events that the recorder has.
    pub gate_written: usize,
    /// What else the machine did.
    pub machine: Vec<Machine>,
}
