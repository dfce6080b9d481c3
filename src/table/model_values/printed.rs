//! Arithmetic on printed measurements: what a row needs that is measured, not modelled,
//! read from `paper/published/cells.yaml` and `tables.yaml`.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::entry::half_hit;
use super::question::{Answer, Question, Unanswered};
use crate::model::window::{
    FillRule, largest_feasible_multiple, predicted_drain_s, slope_threshold_per_s,
};
use crate::setup::yaml::{self, ConfigError};

/// The printed measurements that rows refer to.
#[derive(Debug, Clone, PartialEq)]
pub struct Printed {
    cells: BTreeMap<String, PrintedCell>,
    table_3: Vec<RateRow>,
    from_empty: Vec<RateRow>,
    table_20: Vec<Table20Row>,
}

/// A published file that lacks what is expected of it.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct PrintedError(#[from] ConfigError);

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct CellsFile {
    cells: BTreeMap<String, PrintedCell>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct PrintedCell {
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
    status: String,
    measured: f64,
}

impl Printed {
    /// Reads the texts of `cells.yaml` and `tables.yaml`.
    ///
    /// # Errors
    /// A file that is not YAML or lacks an expected entry.
    pub fn parse(cells_yaml: &str, tables_yaml: &str) -> Result<Self, PrintedError> {
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
    pub fn table_3(&self) -> impl Iterator<Item = (&str, f64)> {
        self.table_3.iter().map(|row| (row.cell.as_str(), row.rate))
    }

    /// Cells and multiples of the runs stuck from empty (App. B).
    pub fn from_empty(&self) -> impl Iterator<Item = (&str, f64)> {
        self.from_empty.iter().map(|row| (row.cell.as_str(), row.rate))
    }

    fn cell(&self, name: Option<&str>) -> Result<&PrintedCell, Unanswered> {
        name.and_then(|name| self.cells.get(name))
            .ok_or_else(|| Unanswered::new("no measurements of this cell are printed"))
    }
}

impl PrintedCell {
    fn all_miss_tokens_per_s(&self) -> Answer {
        known(self.all_miss_token_rate.as_ref().and_then(|rate| rate.value), "all-miss token rate")
    }

    /// The uncached token rate of the cache-off run at a population.
    fn cache_off_tokens_per_s(&self, population: u64) -> Answer {
        let runs = self.e0a.as_ref().and_then(|e0a| e0a.runs.as_ref()?.as_sequence());
        let rate = runs.into_iter().flatten().find_map(|run| {
            let at = run.get("population")?.as_u64()?;
            (at == population).then(|| run.get("uncached_tokens_s")?.as_f64()).flatten()
        });
        known(rate, "cache-off token rate at this population")
    }

    fn zero_hit_tokens_per_s(&self) -> Answer {
        let estimates =
            self.e0a.as_ref().and_then(|e0a| e0a.estimates_of_lambda_miss_in_lambda_ref.as_ref());
        known(estimates.and_then(|e| e.zero_hit_n96_tokens_s), "zero-hit token rate")
    }

    fn mu_per_s(&self, population: f64) -> Answer {
        let points = self.closed_curve.as_ref().and_then(|curve| curve.points.as_ref());
        let mu = points.into_iter().flatten().find(|p| p.n == population).and_then(|p| p.mu);
        known(mu, "measured mu at this population")
    }

    fn registered_rate_per_s(&self, index: usize) -> Answer {
        let rates = self.registered_rates.as_ref().and_then(|rates| rates.sessions_s.as_ref());
        known(rates.and_then(|rates| rates.get(index).copied()), "registered rate")
    }
}

fn known(value: Option<f64>, what: &str) -> Answer {
    value.ok_or_else(|| Unanswered::new(format!("no {what} is printed")))
}

pub(super) fn answer(q: &Question) -> Option<Answer> {
    let quantity = q.quantity;
    let measured = || q.printed.cell(q.subject.cell);
    Some(match quantity {
        "C/E[W]" => measured().and_then(|cell| sessions(q, cell.all_miss_tokens_per_s()?)),
        "C/E[W] / lam_ref" => {
            measured().and_then(|cell| multiple(q, cell.all_miss_tokens_per_s()?))
        }
        "64-session C/E[W] / lam_ref" => {
            measured().and_then(|cell| multiple(q, cell.cache_off_tokens_per_s(64)?))
        }
        "n=96 C/E[W] / lam_ref" => {
            measured().and_then(|cell| multiple(q, cell.zero_hit_tokens_per_s()?))
        }
        _ if quantity.starts_with("slope threshold ") => q.theory().and_then(|t| {
            let lambda = t.rate_per_s(q.number_after("threshold ")?);
            Ok(slope_threshold_per_s(lambda, t.cell.lambda_ref_per_s))
        }),
        _ if quantity.starts_with("predicted drain ") => measured().and_then(|cell| {
            let lambda = cell.registered_rate_per_s(q.occurrence)?;
            let drain = predicted_drain_s(
                cell.mu_per_s(q.number_after("mu(")?)?,
                lambda,
                &FillRule::paper(),
            );
            drain.ok_or_else(|| Unanswered::new("the cap does not serve the load"))
        }),
        _ if quantity.starts_with("largest multiple whose drain fits") => {
            measured().and_then(|cell| {
                let lambda_ref = q.theory()?.cell.lambda_ref_per_s;
                // The registered caps of both cells are 20 (App. E.11).
                Ok(largest_feasible_multiple(cell.mu_per_s(20.0)?, lambda_ref, &FillRule::paper()))
            })
        }
        _ if quantity.starts_with("mean error (") => mean_error(q),
        _ if quantity.starts_with("h(W/C) = ") => q.theory().and_then(|t| {
            let pool = t.cell.pool_tokens as f64 / t.means.mean_footprint_tokens();
            Ok(q.number_after("= ")? * pool)
        }),
        _ => return None,
    })
}

/// Tokens per second as sessions per second.
fn sessions(q: &Question, tokens_per_s: f64) -> Answer {
    Ok(tokens_per_s / q.theory()?.means.session_prompt_tokens())
}

fn multiple(q: &Question, tokens_per_s: f64) -> Answer {
    Ok(sessions(q, tokens_per_s)? / q.theory()?.cell.lambda_ref_per_s)
}

/// Mean distance of a predictor from the measured crossings of Table 20, over the cells
/// predicted blind ("b and a") or over all but the one that fixes the constant.
fn mean_error(q: &Question) -> Answer {
    let blind = q.subject.name == "b";
    let rows = q.printed.table_20.iter().filter(|row| {
        if blind { row.status.starts_with(['b', 'a']) } else { row.cell != "sglang-300k" }
    });
    let mut errors = Vec::new();
    for row in rows {
        // Llama was predicted from its a-priori cost vector.
        let theory = q.named(&format!("{}-apriori", row.cell)).or_else(|_| q.named(&row.cell))?;
        let predicted = if q.quantity.ends_with("of n_1/2") {
            half_hit(theory)?.population
        } else if q.quantity.ends_with("of M/E_S") {
            theory.curve()?.model().onset().pool_part
        } else {
            let pool = theory.cell.pool_tokens as f64 / theory.means.mean_footprint_tokens();
            q.number_after("of ")? * pool
        };
        errors.push((predicted - row.measured).abs());
    }
    Ok(errors.iter().sum::<f64>() / errors.len() as f64)
}
