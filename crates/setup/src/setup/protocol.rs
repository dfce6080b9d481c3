//! A protocol: how long runs last, when the burst comes, which windows and bins
//! measure them (paper: sec 2, App. E.2, E.3, E.5, Table 6).
//!
//! Every duration is in seconds of the run. A scaled-down system states its own
//! protocol; nothing is rescaled behind the reader's back.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::yaml::{self, ConfigError};
use crate::limits;

/// A half-open span of run time, `[start, end)`, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(from = "(f64, f64)", into = "(f64, f64)")]
pub struct Span {
    /// First instant inside.
    pub start_s: f64,
    /// First instant after it.
    pub end_s: f64,
}

impl From<(f64, f64)> for Span {
    fn from((start_s, end_s): (f64, f64)) -> Self {
        Self { start_s, end_s }
    }
}

impl From<Span> for (f64, f64) {
    fn from(span: Span) -> Self {
        (span.start_s, span.end_s)
    }
}

impl Span {
    /// `[start, end)`.
    pub const fn new(start_s: f64, end_s: f64) -> Self {
        Self { start_s, end_s }
    }

    /// Its length, s.
    pub fn length_s(&self) -> f64 {
        self.end_s - self.start_s
    }

    /// Whether `t_s` lies in it.
    #[inline]
    pub fn holds(&self, t_s: f64) -> bool {
        self.start_s <= t_s && t_s < self.end_s
    }

    /// The last `length_s` seconds of it.
    pub fn last(&self, length_s: f64) -> Self {
        Self { start_s: self.end_s - length_s, end_s: self.end_s }
    }

    /// Consecutive bins of `width_s` from its start; a remainder shorter than a
    /// bin is left out.
    pub fn bins(&self, width_s: f64) -> Vec<Self> {
        let count = ((self.length_s() + 1e-9 * width_s) / width_s).floor() as usize;
        let edge = |i: usize| self.start_s + width_s * i as f64;
        (0..count).map(|i| Self::new(edge(i), edge(i + 1))).collect()
    }

    /// Its midpoint, s.
    pub fn middle_s(&self) -> f64 {
        0.5 * (self.start_s + self.end_s)
    }
}

/// A protocol as `configs/protocols/<name>.yaml` states it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// The name that cells refer to; equals the file's stem.
    pub name: String,
    /// Runs of the paired test and everything derived from it.
    pub paired: Paired,
    /// Closed-population runs (Stage C, App. E.3).
    pub closed: WarmUp,
    /// Cache-off runs that measure the all-miss capacity (E0a, App. E.3).
    pub e0a: WarmUp,
    /// From-empty runs (E0b, App. E.3).
    pub e0b: FromEmpty,
    /// Bin widths.
    pub bins: Bins,
    /// For each value: its place in the paper, or why it was chosen.
    #[serde(default)]
    pub sources: BTreeMap<String, String>,
}

/// The paired test's run (Table 6).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paired {
    /// Length of a run, s.
    pub horizon_s: f64,
    /// The burst.
    pub burst: Burst,
    /// The evaluation window.
    pub window_s: Span,
    /// The end of the run over which RECOVERED is judged, s.
    pub last_s: f64,
    /// The shortest window the rule accepts, s.
    pub minimum_window_s: f64,
}

impl Paired {
    /// The paper's protocol (App. E.5, Table 6), for cells that no file describes.
    pub const PAPER: Self = Self {
        horizon_s: 8700.0,
        burst: Burst { start_s: 1200.0, length_s: 60.0, sessions: 200 },
        window_s: Span::new(5700.0, 8700.0),
        last_s: 300.0,
        minimum_window_s: 600.0,
    };
}

/// The burst.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Burst {
    /// When it starts, s.
    pub start_s: f64,
    /// How long it lasts, s.
    pub length_s: f64,
    /// How many sessions it has.
    pub sessions: u64,
}

/// A run that is measured after a warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WarmUp {
    /// What is left out at the start, s.
    pub warm_up_s: f64,
    /// What is measured after it, s.
    pub window_s: f64,
}

impl WarmUp {
    /// The measured window.
    pub fn window(&self) -> Span {
        Span::new(self.warm_up_s, self.warm_up_s + self.window_s)
    }
}

/// A run from an empty engine.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FromEmpty {
    /// Length of a run, s.
    pub horizon_s: f64,
    /// The second half, over which a run is judged, s.
    pub window_s: Span,
}

/// Bin widths, s.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bins {
    /// Means of the sessions in the system (Table 6).
    pub backlog_s: f64,
    /// Hit fraction over time (Fig. 1).
    pub hit_s: f64,
    /// Follow-up hit fraction over time (Fig. 3).
    pub follow_up_s: f64,
    /// Medians of the gap between a session's turns (App. B).
    pub gap_s: f64,
}

impl Protocol {
    /// Reads and checks a protocol file.
    ///
    /// # Errors
    /// As [`yaml::from_bytes`], and when a duration is not positive or a window does
    /// not lie within its run.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, ConfigError> {
        let protocol: Self = yaml::from_bytes(path, bytes)?;
        protocol.check().map_err(|message| ConfigError::new(path, message))?;
        Ok(protocol)
    }

    fn check(&self) -> Result<(), String> {
        let Paired { horizon_s, burst, window_s, last_s, minimum_window_s } = self.paired;
        let positive = [
            ("paired.horizon_s", horizon_s),
            ("paired.burst.length_s", burst.length_s),
            ("paired.last_s", last_s),
            ("paired.minimum_window_s", minimum_window_s),
            ("closed.window_s", self.closed.window_s),
            ("e0a.window_s", self.e0a.window_s),
            ("e0b.horizon_s", self.e0b.horizon_s),
            ("bins.backlog_s", self.bins.backlog_s),
            ("bins.hit_s", self.bins.hit_s),
            ("bins.follow_up_s", self.bins.follow_up_s),
            ("bins.gap_s", self.bins.gap_s),
        ];
        if let Some((name, x)) = positive.iter().find(|(_, x)| *x <= 0.0) {
            return Err(format!("{name}: expected a positive number of seconds, found {x}"));
        }
        let ends = [
            ("paired.horizon_s", horizon_s),
            ("closed.warm_up_s + window_s", self.closed.window().end_s),
            ("e0a.warm_up_s + window_s", self.e0a.window().end_s),
            ("e0b.horizon_s", self.e0b.horizon_s),
        ];
        if let Some((name, x)) = ends.iter().find(|(_, x)| *x >= limits::RUN_S) {
            return Err(format!("{name}: {x:?} s is over 31 days: expected seconds"));
        }
        for (name, warm_up) in [("closed", self.closed), ("e0a", self.e0a)] {
            if warm_up.warm_up_s < 0.0 {
                let found = warm_up.warm_up_s;
                return Err(format!("{name}.warm_up_s: expected at least 0 s, found {found:?}"));
            }
        }
        let Bins { backlog_s, hit_s, follow_up_s, gap_s } = self.bins;
        let longest_s = ends.iter().map(|(_, x)| *x).fold(0.0, f64::max);
        let widths = [
            ("bins.backlog_s", backlog_s),
            ("bins.hit_s", hit_s),
            ("bins.follow_up_s", follow_up_s),
            ("bins.gap_s", gap_s),
            ("paired.last_s", last_s),
        ];
        if let Some((name, x)) = widths.iter().find(|(_, x)| longest_s / x > limits::BINS) {
            return Err(format!(
                "{name}: {x:?} s makes more than {} bins of a run of {longest_s} s",
                limits::BINS
            ));
        }
        let within = |name: &str, span: Span, end_s: f64| {
            let sound = 0.0 <= span.start_s && span.start_s < span.end_s && span.end_s <= end_s;
            let (a, b) = span.into();
            if sound { Ok(()) } else { Err(format!("{name}: [{a}, {b}) must lie in [0, {end_s})")) }
        };
        within("paired.window_s", window_s, horizon_s)?;
        within(
            "paired.burst",
            Span::new(burst.start_s, burst.start_s + burst.length_s),
            horizon_s,
        )?;
        within("e0b.window_s", self.e0b.window_s, self.e0b.horizon_s)
    }
}
