//! Ensembles beside the campaign's own: as many draws with one thing otherwise, to be held
//! against or to see what that thing makes of a number.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::ENSEMBLE;

/// What is otherwise in an ensemble.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Beside {
    /// Engines in their own ways, not the paper's simulator's.
    Ways,
    /// Plans that received what the paper's runs received.
    Arrivals,
}

impl Beside {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Ways, Self::Arrivals];

    /// The word of the files.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ways => "ways",
            Self::Arrivals => "arrivals",
        }
    }

    /// Whether a draw has other plans than the campaign's draw of the same number, so that the two
    /// are no pair.
    pub(crate) const fn has_other_plans(self) -> bool {
        match self {
            Self::Ways => false,
            Self::Arrivals => true,
        }
    }

    /// In a sentence, after "with".
    pub const fn words(self) -> &'static str {
        match self {
            Self::Ways => "the engines' own ways",
            Self::Arrivals => "plans that received what the paper prints of its own",
        }
    }

    /// Where its draws lie.
    pub fn folder(self) -> PathBuf {
        let name = format!("{}-{}", Path::new(ENSEMBLE).display(), self.word());
        PathBuf::from(name)
    }
}
