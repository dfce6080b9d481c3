//! What a file in `analysis/` says of a figure: what is drawn, and of which runs.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::law::trap_check::Calibration;
use crate::name::PlainName;
use crate::run::Source;

/// A figure to draw.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigureSpec {
    /// File stem of the figure.
    pub name: PlainName,
    /// Title, for the files' own description.
    pub title: String,
    /// Where the runs have to come from, if that matters; what is printed is read from the runs.
    #[serde(default, deserialize_with = "required_source")]
    pub source: Option<Source>,
    /// What is drawn.
    pub draw: Draw,
}

fn required_source<'de, D: Deserializer<'de>>(typed: D) -> Result<Option<Source>, D::Error> {
    let typed = String::deserialize(typed)?;
    let known = [Source::Engine, Source::Simulator].into_iter().find(|s| s.word() == typed);
    known.map(Some).ok_or_else(|| {
        D::Error::custom(format!(
            "expected engine or simulator, what its runs have to be, found \"{typed}\"; what the \
             figure prints of them is read from the runs"
        ))
    })
}

/// What a figure shows.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Draw {
    /// Hit fraction and sessions in the system of the paired test's arms (Fig. 1).
    Stampede {
        /// Only runs of this cell.
        #[serde(default)]
        cell: Option<String>,
        /// A column per rate, multiples of lambda_ref.
        rates: Vec<f64>,
    },
    /// Completions and backlog of the step-capped workload (Fig. 4).
    Mirror {
        /// The step-capped cell.
        cell: String,
        /// The standard cell.
        standard: String,
        /// The rate, a multiple of lambda_ref.
        rate: f64,
    },
    /// Stability of runs from an empty engine (Fig. 6).
    FromEmpty {
        /// A panel per cell.
        cells: Vec<String>,
    },
    /// One engine left alone and one rescued, under one plan (page Fig. 11).
    TwoEngines {
        /// The cell.
        cell: String,
        /// The rate, a multiple of lambda_ref.
        rate: f64,
        /// The seed.
        seed: u64,
    },
    /// Trap, rescue and release beside the same seed's controls (Fig. 3).
    Rescue {
        /// A column each.
        columns: Vec<RescueSpec>,
    },
    /// The closed-population curve of each cell (Fig. 5).
    ClosedCurve {
        /// A column each.
        cells: Vec<String>,
    },
    /// Theorem 1 against the stuck runs of some cells (Fig. 2).
    Theorem {
        /// Cells whose stuck runs and model lines are drawn.
        cells: Vec<String>,
        /// The loads the lines span, rho.
        rho: (f64, f64),
        /// Whose lambda_miss the runs are divided by.
        #[serde(default)]
        calibration: Calibration,
        /// How many stuck runs the published figure has: what lacks here is named.
        #[serde(default)]
        published: Option<StuckCounts>,
    },
    /// A workload of sessions in the simulator beside the theory: stuck runs against model F, closed
    /// populations against the entry model (like Figs. 2 and 5).
    SessionLaw {
        /// The cell, whose workload consists of sessions.
        cell: String,
        /// The loads that model F's line spans, rho.
        rho: (f64, f64),
    },
    /// Good against trapped time scales (page Fig. 3).
    TimeScales {},
    /// The turn mix of a trap and the premium over the load (page Figs. 4 and 5).
    TiltedMix {
        /// The cell.
        cell: String,
        /// The rate, a multiple of lambda_ref.
        rate: f64,
    },
    /// Predicted closed-population curves, beside closed runs where there are any (Fig. 8).
    PredictedCurve {
        /// A panel per cell.
        cells: Vec<String>,
    },
    /// A trap whose arrivals are cut (Corollary 3).
    Cuts {
        /// The cell.
        cell: String,
        /// The rate before the cut, a multiple of lambda_ref.
        rate: f64,
        /// When arrivals are cut, s.
        at_s: f64,
        /// How far the backlog is followed, s.
        until_s: f64,
        /// What they are cut to, multiples of lambda_miss.
        to: Vec<f64>,
    },
}

/// Counts of stuck runs, by how they came into the trap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StuckCounts {
    /// After a trigger on a running engine.
    pub triggered: usize,
    /// From an empty engine.
    pub from_empty: usize,
}

/// A column of the rescue figure.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RescueSpec {
    /// The cell.
    pub cell: String,
    /// The rate, a multiple of lambda_ref.
    pub rate: f64,
    /// The seed shown.
    pub seed: u64,
}
