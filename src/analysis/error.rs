//! Why an analysis, or one of its tables or figures, cannot be made.

use std::path::PathBuf;

use crate::campaign::CampaignError;
use crate::fidelity::FidelityError;
use crate::setup::yaml::ConfigError;
use crate::table::model_values::Unanswered;

use super::draw::DrawError;

/// An analysis that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    /// A configuration file cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The pinned registration is another file now.
    #[error("{}: its SHA-256 is {found}, analysis {analysis} pins {expected}: the registration changed after it was bound", path.display())]
    Unbound {
        /// The analysis.
        analysis: String,
        /// The registration.
        path: PathBuf,
        /// What its bytes hash to.
        found: String,
        /// What the analysis pins.
        expected: String,
    },
    /// Several registrations fit runs that are bound to none.
    #[error("{}: {} fit {run} and are not the same rule: pin one with registration: in the analysis", analysis.display(), files.join(" and "))]
    SeveralRules {
        /// The analysis' file.
        analysis: PathBuf,
        /// The registrations.
        files: Vec<String>,
        /// The first of the runs.
        run: String,
    },
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
    Fidelity(#[from] FidelityError),
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
