//! The rows of a run (format 1): parsed from tables that are unpacked already, and checked.
//!
//! A [`Layout`](crate::setup::Layout) maps runs of other shapes onto format 1 value by value
//! as they are read. Everything that is wrong with a run comes back as a list of
//! [`Problem`]s that name file, line and column; nothing is clamped, guessed or dropped.

mod answer;
pub mod check;
pub mod columns;
pub mod derived;
pub mod engine;
mod format;
pub mod gate;
mod layout;
pub mod load;
mod meta;
mod order;
pub mod plan;
mod problem;
pub mod sessions;
mod shape;
mod source;
pub mod tables;
pub mod turns;
mod unclosed;

use std::path::PathBuf;

pub use engine::EngineSample;
pub use gate::{GateEvent, GateEventKind};
pub use layout::check_layout;
pub use load::LoadOptions;
pub use meta::{
    Canary, Code, Counts, Engine, Gate, Gpu, Meta, Rate, RegistrationRef, RunStatus, Source,
};
pub use plan::PlannedSession;
pub use problem::{Problem, Problems, Severity};
pub use sessions::{Session, SessionStatus};
pub use shape::{ENDINGS, META, STARTED, Shape, matches};
pub use source::{SourceFile, Text};
pub use turns::{BySession, Turn, TurnStatus, by_session};

use serde::{Deserialize, Serialize};

/// Where a session's arrival comes from (`kind` in every table).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// The Poisson stream.
    Base,
    /// The burst.
    Burst,
    /// Streams that sessions start beside their own: they arrive with none of the others.
    Subagent,
}

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::Base, Self::Burst, Self::Subagent];

    /// The word used in the files.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Base => "base",
            Self::Burst => "burst",
            Self::Subagent => "subagent",
        }
    }

    #[inline]
    fn from_word(word: &str) -> Option<Self> {
        match word {
            "base" => Some(Self::Base),
            "burst" => Some(Self::Burst),
            "subagent" => Some(Self::Subagent),
            _ => None,
        }
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

/// A session of a run: an index into [`Run::sessions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionIndex(pub u32);

impl SessionIndex {
    /// As an index into a slice.
    #[inline]
    pub const fn at(self) -> usize {
        self.0 as usize
    }
}

/// A run in memory, checked.
#[derive(Debug, Clone)]
pub struct Run {
    /// Its directory.
    pub dir: PathBuf,
    /// Who, what and when.
    pub meta: Meta,
    /// Sessions that arrived, in order of arrival; [`SessionIndex`] points
    /// into this.
    pub sessions: Vec<Session>,
    /// Turns that were sent, in order of sending: not of the file's rows, so that
    /// no result depends on those.
    pub turns: Vec<Turn>,
    /// The engine's gauges, in order of time; empty where there are none.
    pub engine: Vec<EngineSample>,
    /// The gate's events, in order of time; empty where the arm has no gate.
    pub gate: Vec<GateEvent>,
    /// The arrival plan, in order of kind and arrival; empty where the directory
    /// has none.
    pub plan: Vec<PlannedSession>,
    /// Every file that was read, with its hash, in order of path.
    pub sources: Vec<SourceFile>,
    /// What is worth knowing but does not stop the run from being used.
    pub notes: Vec<Problem>,
}
