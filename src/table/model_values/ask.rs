//! What a published value asks for: a quantity of the registry, where it is taken, and how
//! several values become one.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::answer::{Answer, Unanswered};
use super::printed::Printed;
use super::question::{At, Load, Settings};
use super::registry::Quantity;
use crate::model::Theory;

/// Whether a published value can be computed from the text.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asks {
    /// It can.
    For(Box<Ask>),
    /// The text says too little.
    Undetermined(Undetermined),
}

/// What the text leaves open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Undetermined {
    /// The plans of single seeds.
    #[error("depends on the client's plan of each seed, which the text does not give")]
    ClientPlans,
    /// The two layers together.
    #[error("how layer H4 takes layer H1 is not defined in the text")]
    LayerH4UnderH1,
    /// What a frozen prediction was made from.
    #[error("rests on a frozen file whose inputs the text does not give")]
    FrozenInputs,
}

/// A quantity, where it is taken, and how several values become one.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// What.
    pub quantity: Quantity,
    /// Of which cells, at which loads.
    pub at: Vec<Point>,
    /// With what else.
    #[serde(default)]
    pub with: Settings,
    /// Which number is printed where there are several.
    #[serde(default)]
    pub take: Take,
}

/// A cell and the loads at which it is asked about; a quantity of the cell alone has none.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// The cell's name in the configuration.
    pub cell: String,
    /// Loads as multiples of lambda_ref ...
    #[serde(default)]
    pub multiples: Vec<f64>,
    /// ... and of lambda_miss.
    #[serde(default)]
    pub rhos: Vec<f64>,
}

/// Which number is printed of several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Take {
    /// There is one.
    #[default]
    Only,
    /// The smallest.
    Least,
    /// The largest.
    Greatest,
    /// The sum.
    Sum,
    /// The mean.
    Mean,
    /// The first less the second.
    Difference,
}

impl Asks {
    /// Whether the text suffices to compute it.
    pub fn computable(&self) -> bool {
        matches!(self, Self::For(_))
    }

    /// The answer from solved cells and printed measurements.
    ///
    /// # Errors
    /// The text says too little, a cell is not there, or the quantity has no value.
    pub fn answer(&self, theories: &BTreeMap<String, Theory>, printed: &Printed) -> Answer {
        match self {
            Self::For(ask) => ask.answer(theories, printed),
            Self::Undetermined(open) => Err(Unanswered::new(open.to_string())),
        }
    }
}

impl Ask {
    fn answer(&self, theories: &BTreeMap<String, Theory>, printed: &Printed) -> Answer {
        let mut values = Vec::new();
        for point in &self.at {
            let theory =
                theories.get(&point.cell).ok_or_else(|| Unanswered::no_cell(&point.cell))?;
            for load in point.loads() {
                let at = At { theory, load, with: self.with, printed: Some(printed) };
                values.push((self.quantity.of)(&at)?);
            }
        }
        self.take.of(&values)
    }
}

impl Point {
    fn loads(&self) -> Vec<Option<Load>> {
        let multiples = self.multiples.iter().copied().map(Load::Multiple);
        let loads: Vec<_> = multiples.chain(self.rhos.iter().copied().map(Load::Rho)).collect();
        if loads.is_empty() { vec![None] } else { loads.into_iter().map(Some).collect() }
    }
}

impl Take {
    fn of(self, values: &[f64]) -> Answer {
        let all = || values.iter().copied();
        match (self, values) {
            (_, []) => Err(Unanswered::new("it is asked of no cell")),
            (Self::Only, [one]) => Ok(*one),
            (Self::Difference, [first, second]) => Ok(first - second),
            (Self::Least, _) => Ok(all().fold(f64::INFINITY, f64::min)),
            (Self::Greatest, _) => Ok(all().fold(f64::NEG_INFINITY, f64::max)),
            (Self::Sum, _) => Ok(all().sum()),
            (Self::Mean, _) => Ok(all().sum::<f64>() / values.len() as f64),
            (Self::Only | Self::Difference, _) => Err(Unanswered::new(format!(
                "{} values where {} expected",
                values.len(),
                if self == Self::Only { "one is" } else { "two are" }
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_values_become_the_one_that_is_asked_for() {
        let of = |take: Take, values: &[f64]| take.of(values).unwrap();
        let values = [4.0, 1.0, 7.0];
        assert_eq!(of(Take::Least, &values), 1.0);
        assert_eq!(of(Take::Greatest, &values), 7.0);
        assert_eq!(of(Take::Sum, &values), 12.0);
        assert_eq!(of(Take::Mean, &values), 4.0);
        assert_eq!(of(Take::Difference, &values[..2]), 3.0);
        assert!(Take::Only.of(&values).is_err() && Take::Difference.of(&values).is_err());
        assert!(Take::Greatest.of(&[]).is_err());
    }

    #[test]
    fn a_misspelt_quantity_is_refused_with_the_nearest_one() {
        let json = r#"{"quantity": "gap_slop", "at": [{"cell": "sglang-300k"}]}"#;
        let message = serde_json::from_str::<Ask>(json).unwrap_err().to_string();
        assert!(message.contains("did you mean gap_slope?"), "{message}");
    }
}
