//! A question that cannot be answered, in the words that its asker reads.

use std::error::Error;

use trapcheck_setup::setup::ConfigError;
use trapcheck_simulator::sim::SimError;

use crate::model::ModelError;

/// Why there is no answer: bad usage, or an input that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);

impl Refused {
    /// With these words.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// An error and its causes in one line, below `what` it was about.
    pub fn about(what: &str, error: &dyn Error) -> Self {
        Self(format!("{what}: {}", causes(error)))
    }
}

/// An error and its causes in one line. A cause that the one before it has quoted already is
/// not said again.
pub fn causes(error: &dyn Error) -> String {
    let mut said: Vec<String> = vec![error.to_string()];
    let mut next = error.source();
    while let Some(cause) = next {
        let words = cause.to_string();
        if said.last().is_none_or(|before| !before.ends_with(&words)) {
            said.push(words);
        }
        next = cause.source();
    }
    said.join(": ")
}

impl From<ModelError> for Refused {
    fn from(error: ModelError) -> Self {
        Self(causes(&error))
    }
}

impl From<SimError> for Refused {
    fn from(error: SimError) -> Self {
        Self(causes(&error))
    }
}

impl From<ConfigError> for Refused {
    fn from(error: ConfigError) -> Self {
        Self(causes(&error))
    }
}
