//! The printed measurements that rows refer to: what is measured, not modelled, read from
//! `paper/published/cells.yaml` and `tables.yaml`.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::answer::{Answer, Unanswered};
use crate::setup::yaml::{self, ConfigError};

/// The printed measurements that rows refer to.
#[derive(Debug, Clone, PartialEq)]
pub struct Printed {
    cells: BTreeMap<String, PrintedCell>,
    table_3: Vec<RateRow>,
    from_empty: Vec<RateRow>,
    table_20: Vec<Table20Row>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct CellsFile {
    cells: BTreeMap<String, PrintedCell>,
}

/// What is printed of one cell's measurements.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct PrintedCell {
    all_miss_token_rate: Option<Valued>,
    e0a: Option<CacheOff>,
    closed_curve: Option<ClosedCurve>,
    registered_rates: Option<RegisteredRates>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Valued {
    value: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct CacheOff {
    runs: Option<serde_yaml::Value>,
    estimates_of_lambda_miss_in_lambda_ref: Option<Estimates>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Estimates {
    zero_hit_n96_tokens_s: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct ClosedCurve {
    points: Option<Vec<CurvePoint>>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct CurvePoint {
    n: f64,
    mu: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct RegisteredRates {
    multiples: Vec<f64>,
    sessions_s: Option<Vec<f64>>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct TablesFile {
    table_3: RowsOf<RateRow>,
    from_empty: RowsOf<RateRow>,
    table_20: RowsOf<Table20Row>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct RowsOf<T> {
    rows: Vec<T>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct RateRow {
    cell: String,
    rate: f64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Table20Row {
    cell: String,
    measured: f64,
}

impl Printed {
    /// Reads the texts of `cells.yaml` and `tables.yaml`.
    ///
    /// # Errors
    /// A file that is not YAML or lacks an expected entry.
    pub fn parse(cells_yaml: &str, tables_yaml: &str) -> Result<Self, ConfigError> {
        let cells: CellsFile = yaml::parse(Path::new("cells.yaml"), cells_yaml)?;
        let tables: TablesFile = yaml::parse(Path::new("tables.yaml"), tables_yaml)?;
        Ok(Self {
            cells: cells.cells,
            table_3: tables.table_3.rows,
            from_empty: tables.from_empty.rows,
            table_20: tables.table_20.rows,
        })
    }

    /// The eight cells, in the order of Table 20.
    pub fn cells(&self) -> impl Iterator<Item = &str> {
        self.table_20.iter().map(|row| row.cell.as_str())
    }

    /// Cells and multiples of Table 3.
    pub(crate) fn table_3(&self) -> impl Iterator<Item = (&str, f64)> {
        self.table_3.iter().map(|row| (row.cell.as_str(), row.rate))
    }

    /// Cells and multiples of the runs stuck from empty (App. B).
    pub fn from_empty(&self) -> impl Iterator<Item = (&str, f64)> {
        self.from_empty.iter().map(|row| (row.cell.as_str(), row.rate))
    }

    pub(super) fn cell(&self, name: &str) -> Result<&PrintedCell, Unanswered> {
        self.cells
            .get(name)
            .ok_or_else(|| Unanswered::new("no measurements of this cell are printed"))
    }

    /// The measured crossing of Table 20, also of the cell that a prediction was made for
    /// before its costs were measured.
    pub(super) fn measured_crossing(&self, cell: &str) -> Answer {
        let cell = cell.strip_suffix("-apriori").unwrap_or(cell);
        let row = self.table_20.iter().find(|row| row.cell == cell);
        known(row.map(|row| row.measured), "measured crossing")
    }
}

impl PrintedCell {
    pub(super) fn all_miss_tokens_per_s(&self) -> Answer {
        known(self.all_miss_token_rate.as_ref().and_then(|rate| rate.value), "all-miss token rate")
    }

    /// The uncached token rate of the cache-off run at a population.
    pub(super) fn cache_off_tokens_per_s(&self, population: u64) -> Answer {
        let runs = self.e0a.as_ref().and_then(|e0a| e0a.runs.as_ref()?.as_sequence());
        let rate = runs.into_iter().flatten().find_map(|run| {
            let at = run.get("population")?.as_u64()?;
            (at == population).then(|| run.get("uncached_tokens_s")?.as_f64()).flatten()
        });
        known(rate, "cache-off token rate at this population")
    }

    pub(super) fn zero_hit_tokens_per_s(&self) -> Answer {
        let estimates =
            self.e0a.as_ref().and_then(|e0a| e0a.estimates_of_lambda_miss_in_lambda_ref.as_ref());
        known(estimates.and_then(|e| e.zero_hit_n96_tokens_s), "zero-hit token rate")
    }

    pub(super) fn mu_per_s(&self, population: f64) -> Answer {
        let points = self.closed_curve.as_ref().and_then(|curve| curve.points.as_ref());
        let mu = points.into_iter().flatten().find(|p| p.n == population).and_then(|p| p.mu);
        known(mu, "measured mu at this population")
    }

    pub(super) fn registered_rate_per_s(&self, multiple: f64) -> Answer {
        let rate = self.registered_rates.as_ref().and_then(|rates| {
            let place = rates.multiples.iter().position(|m| *m == multiple)?;
            rates.sessions_s.as_ref()?.get(place).copied()
        });
        known(rate, "registered rate at this multiple")
    }
}

fn known(value: Option<f64>, what: &str) -> Answer {
    value.ok_or_else(|| Unanswered::new(format!("no {what} is printed")))
}
