//! Why an analysis, or one of its tables or figures, cannot be made.

use crate::campaign::CampaignError;
use crate::setup::yaml::ConfigError;
use crate::sim::SimError;
use crate::table::model_values::Unanswered;

use super::draw::DrawError;

/// An analysis that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    /// A configuration file cannot be used: the pinned registration is another one now, several fit
    /// runs that are bound to none, or what it says makes no sense.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Runs could not be simulated.
    #[error(transparent)]
    Campaign(#[from] CampaignError),
    /// A run of an ensemble could not be simulated or measured.
    #[error("draw {draw}: {problem}")]
    Draw {
        /// The draw.
        draw: u64,
        /// The run and why.
        problem: String,
    },
    /// The simulator's published values could not be computed again.
    #[error(transparent)]
    Fidelity(#[from] SimError),
    /// A table of the theory could not be made.
    #[error(transparent)]
    Theory(#[from] Unanswered),
    /// A figure could not be drawn.
    #[error("figure {name}: {error}")]
    Figure {
        /// The figure.
        name: String,
        /// What went wrong.
        error: DrawError,
    },
}
