//! A row's words, taken apart: which cell or group of cells, at which rate.

use std::collections::BTreeMap;

use super::printed::Printed;
use crate::model::{ModelError, Theory, Trap};

/// Why a row has no value of ours.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unanswered(String);

impl Unanswered {
    pub(super) fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

/// A value, or why there is none.
pub(super) type Answer = Result<f64, Unanswered>;

impl From<ModelError> for Unanswered {
    fn from(error: ModelError) -> Self {
        Self(error.to_string())
    }
}

/// What a row asks about.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Subject {
    /// The first word, as printed.
    pub name: String,
    /// The configuration's cell that it names, if it names one.
    pub cell: Option<&'static str>,
    /// A multiple of lambda_ref.
    pub multiple: Option<f64>,
    /// A load rho.
    pub rho: Option<f64>,
    /// A cut, in multiples of lambda_miss.
    pub cut: Option<f64>,
    /// A later multiple of lambda_ref.
    pub later: Option<f64>,
}

/// The file's names for cells.
const CELLS: &[(&str, &str)] = &[
    ("A100_150k", "sglang-150k"),
    ("A100_300k", "sglang-300k"),
    ("A100_600k", "sglang-600k"),
    ("A100_native", "sglang-native"),
    ("H200_300k", "h200-300k"),
    ("H200_600k", "h200-600k"),
    ("vLLM_300k", "vllm-300k"),
    ("Llama_300k", "llama-300k"),
    ("Llama_apriori", "llama-300k-apriori"),
    ("MIRROR", "mirror"),
    ("300k", "sglang-300k"),
    ("sglang", "sglang-300k"),
    ("native", "sglang-native"),
    ("vllm", "vllm-300k"),
    ("vLLM", "vllm-300k"),
    // Model F's numbers at a load, and the workload's own, are the main cell's.
    ("rho", "sglang-300k"),
    ("workload", "sglang-300k"),
    ("slow", "sglang-300k"),
];

impl Subject {
    pub(super) fn parse(text: &str) -> Result<Self, Unanswered> {
        let mut words = text.split_whitespace();
        let name = words.next().unwrap_or_default();
        let mut subject = Self {
            name: name.to_owned(),
            cell: CELLS.iter().find(|(printed, _)| *printed == name).map(|(_, cell)| *cell),
            multiple: None,
            rho: None,
            cut: None,
            later: None,
        };
        let mut place = if name == "rho" { "rho" } else { "" };
        for word in words {
            match (place, word.parse::<f64>()) {
                ("rho", Ok(x)) => subject.rho = Some(x),
                ("cut", Ok(x)) => subject.cut = Some(x),
                ("->", Ok(x)) => subject.later = Some(x),
                (_, Ok(x)) => subject.multiple = Some(x),
                (_, Err(_)) => place = word,
            }
        }
        Ok(subject)
    }
}

/// One row's question, with everything an answer may use.
pub(super) struct Question<'a> {
    pub quantity: &'a str,
    pub subject: Subject,
    /// How many rows before this one ask the same in the same words: such rows stand for the
    /// cell's registered rates, in order.
    pub occurrence: usize,
    pub theories: &'a BTreeMap<String, Theory>,
    pub printed: &'a Printed,
}

impl<'a> Question<'a> {
    /// The cell it is about.
    pub fn theory(&self) -> Result<&'a Theory, Unanswered> {
        let cell = self
            .subject
            .cell
            .ok_or_else(|| Unanswered::new(format!("\"{}\" names no cell", self.subject.name)))?;
        self.named(cell)
    }

    /// A cell by its configuration's name.
    pub fn named(&self, cell: &str) -> Result<&'a Theory, Unanswered> {
        self.theories
            .get(cell)
            .ok_or_else(|| Unanswered::new(format!("no cell {cell} in the configuration")))
    }

    /// The cells of a group: the eight of Table 20, the A100 pools, or the cell itself.
    pub fn group(&self) -> Result<Vec<&'a Theory>, Unanswered> {
        let eight = || self.printed.cells().map(|cell| self.named(cell)).collect();
        match self.subject.name.as_str() {
            "all" => eight(),
            "A100" => {
                let main = self.named("sglang-300k")?;
                let pools: Result<Vec<_>, Unanswered> = eight();
                let same = |t: &&Theory| {
                    let (a, b) = (&t.cell, &main.cell);
                    (&a.engine, &a.model, &a.gpu) == (&b.engine, &b.model, &b.gpu)
                };
                Ok(pools?.into_iter().filter(same).collect())
            }
            _ => Ok(vec![self.theory()?]),
        }
    }

    /// lambda of the question's multiple, in sessions/s.
    pub fn rate_per_s(&self) -> Answer {
        let multiple =
            self.subject.multiple.ok_or_else(|| Unanswered::new("the row names no rate"))?;
        Ok(self.theory()?.rate_per_s(multiple))
    }

    /// The trapped state at the question's rate.
    pub fn trap(&self) -> Result<Trap, Unanswered> {
        trap(self.theory()?, self.rate_per_s()?)
    }

    /// The number that follows `words` in the quantity.
    pub fn number_after(&self, words: &str) -> Answer {
        let missing = || Unanswered::new(format!("no number after \"{words}\""));
        let start = self.quantity.find(words).ok_or_else(missing)? + words.len();
        let rest = &self.quantity[start..];
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
        rest[..end].trim_end_matches('.').parse().map_err(|_| missing())
    }

    /// The smaller or larger of the values, as the quantity says "min" or "max".
    pub fn extreme(&self, values: impl Iterator<Item = f64>) -> f64 {
        if self.quantity.contains("min") {
            values.fold(f64::INFINITY, f64::min)
        } else {
            values.fold(f64::NEG_INFINITY, f64::max)
        }
    }
}

/// The trapped state, or that there is none.
pub(super) fn trap(theory: &Theory, lambda_per_s: f64) -> Result<Trap, Unanswered> {
    theory
        .trap(lambda_per_s)?
        .ok_or_else(|| Unanswered::new("the rate is not above capacity: model F drains"))
}
