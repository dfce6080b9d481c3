//! The fidelity report as a file: run sets, rows, bands, thresholds.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::setup::yaml;
use crate::setup::{ArmSpec, Batching, ConfigError, Scheduling, Span};

use super::super::Options;
use super::super::options::{Hits, Refresh};
use super::rules::Rules;
use super::statistic::Statistic;

/// A fidelity report as `configs/fidelity/<name>.yaml` states it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fidelity {
    /// The file's stem.
    pub name: String,
    /// What counts as stuck, good, stable, rescued.
    pub rules: Rules,
    /// Runs, by name. Each set is simulated once, whatever rows use it.
    pub run_sets: BTreeMap<String, RunSet>,
    /// What is compared.
    pub rows: Vec<RowSpec>,
}

/// Runs that differ only in their seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunSet {
    /// A file stem in `configs/cells`.
    pub cell: String,
    /// The arm.
    pub arm: ArmSpec,
    /// Rate in multiples of lambda_ref; none in closed arms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multiple: Option<f64>,
    /// Another window than the protocol's, for closed arms; the run ends with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_s: Option<Span>,
    /// How many seeds.
    pub seeds: u64,
    /// The first of them.
    #[serde(default)]
    pub first_seed: u64,
    /// Batching mode.
    #[serde(default = "mixed")]
    pub batching: Batching,
    /// Order of admission, if not the cell's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduling: Option<Scheduling>,
    /// Whether LPM falls back to FCFS while more than 128 wait.
    #[serde(default = "yes")]
    pub lpm_fallback: bool,
    /// Multiplies b, c_p and c_d.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_cost_factor: Option<f64>,
    /// A finished session's KV stays as idle cache.
    #[serde(default)]
    pub keep_finished: bool,
    /// What of a session's idle KV hits: what the paper's simulator leaves out (App. E.8).
    #[serde(default)]
    pub hits: Hits,
    /// Whether waiting requests renew their prefixes' places, as SGLang's do and as the prefix
    /// matching of LPM amounts to (App. E.2, E.8): another thing that it leaves out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh: Option<Refresh>,
}

fn mixed() -> Batching {
    Batching::Mixed
}

fn yes() -> bool {
    true
}

impl RunSet {
    /// The simulator's options for this set.
    pub fn options(&self) -> Options {
        let stock = Options::default();
        Options {
            batching: self.batching,
            scheduling: self.scheduling,
            lpm_fallback: if self.lpm_fallback { stock.lpm_fallback } else { None },
            token_cost_factor: self.token_cost_factor,
            keep_finished: self.keep_finished,
            hits: self.hits,
            refresh: self.refresh,
            ..stock
        }
    }
}

/// One row of the report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowSpec {
    /// A name.
    pub id: String,
    /// What is compared, in a few words with its unit.
    pub what: String,
    /// What the paper printed, as it printed it.
    pub published: String,
    /// Where.
    pub place: String,
    /// Where ours should lie.
    pub band: Band,
    /// What is read from each run.
    pub statistic: Statistic,
    /// How runs make one value (or two).
    pub reduce: Reduction,
    /// Names of run sets, in order.
    pub runs: Vec<String>,
    /// This simulator is known not to give the published value.
    #[serde(default)]
    pub known_to_miss: bool,
}

/// [low, high], both included.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Band {
    /// Least.
    pub low: f64,
    /// Greatest.
    pub high: f64,
}

impl Band {
    /// Whether `x` lies in the band.
    pub fn contains(self, x: f64) -> bool {
        (self.low..=self.high).contains(&x)
    }
}

/// How the values of many runs become one value, or two.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "to", deny_unknown_fields)]
pub enum Reduction {
    /// The mean over all runs: of an indicator, the share.
    Mean {},
    /// The least and the greatest.
    Range {},
    /// The population at which the mean, linear between the sets, falls through
    /// a level.
    Crossing {
        /// The level.
        level: f64,
    },
    /// The last set's mean over the greatest set's mean.
    LastOverPeak {},
}

impl Fidelity {
    /// Parses and checks a report's file.
    ///
    /// # Errors
    /// As [`yaml::from_bytes`]; a row that names no run set or a set that is not
    /// there; a repeated id; a crossing over arms without a population.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, ConfigError> {
        let fidelity: Self = yaml::from_bytes(path, bytes)?;
        fidelity.check().map_err(|message| ConfigError::new(path, message))?;
        Ok(fidelity)
    }

    /// Only some of its rows, and the runs they need.
    ///
    /// # Errors
    /// A row that there is not.
    pub fn only(mut self, ids: &[String]) -> Result<Self, String> {
        if let Some(id) = ids.iter().find(|id| !self.rows.iter().any(|row| row.id == **id)) {
            return Err(format!("no row is called {id}"));
        }
        self.rows.retain(|row| ids.contains(&row.id));
        let rows = &self.rows;
        self.run_sets.retain(|name, _| rows.iter().any(|row| row.runs.contains(name)));
        Ok(self)
    }

    fn check(&self) -> Result<(), String> {
        for (name, set) in &self.run_sets {
            set.arm.check().map_err(|message| format!("run_sets.{name}: {message}"))?;
            if set.window_s.is_some() && set.arm.population().is_none() {
                return Err(format!("run_sets.{name}.window_s: only a closed arm's can be set"));
            }
            if set.seeds == 0 {
                return Err(format!("run_sets.{name}.seeds: expected at least 1, found 0"));
            }
            if set.refresh.is_some_and(|refresh| refresh.every_passes == 0) {
                let what = "refresh.every_passes: expected at least 1, found 0";
                return Err(format!("run_sets.{name}.{what}"));
            }
        }
        for (i, row) in self.rows.iter().enumerate() {
            let at = |message: String| format!("rows[{i}] ({}): {message}", row.id);
            if self.rows[..i].iter().any(|other| other.id == row.id) {
                return Err(at("the id is used twice".into()));
            }
            if row.runs.is_empty() {
                return Err(at("runs: expected at least one run set".into()));
            }
            for name in &row.runs {
                let set = self.run_sets.get(name);
                let set = set.ok_or_else(|| at(format!("no run set is called {name}")))?;
                let crossing = matches!(row.reduce, Reduction::Crossing { .. });
                if crossing && set.arm.population().is_none() {
                    return Err(at(format!("a crossing needs closed arms; {name} is open")));
                }
            }
        }
        Ok(())
    }
}
