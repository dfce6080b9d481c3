//! What a quantity is answered with: its value, or why it has none.

use crate::model::ModelError;

/// Why a quantity has no value.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Unanswered {
    /// There is no such state, or the question leaves something open.
    #[error("{0}")]
    Because(String),
    /// The model refuses what it is given.
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl Unanswered {
    pub(in crate::table) fn new(reason: impl Into<String>) -> Self {
        Self::Because(reason.into())
    }

    /// The configuration lacks a cell that is asked about.
    pub(in crate::table) fn no_cell(name: &str) -> Self {
        Self::new(format!("no cell {name} in the configuration"))
    }
}

/// A value, or why there is none.
pub type Answer = Result<f64, Unanswered>;
