//! Run directories (format 1): one run of one arm, as files.
//!
//! [`find_runs`] finds them under any path, [`Run::load`] reads and checks one,
//! [`write::write`] makes one. [`find_runs_by`] and [`Run::load_by`] take also runs of
//! other shapes, which a layout maps onto format 1 value by value as they are read. Everything that is wrong with a run comes back as
//! a list of [`Problem`]s that name file, line and column; nothing is clamped,
//! guessed or dropped.

mod answer;
mod check;
mod columns;
mod discover;
mod engine;
mod files;
pub(crate) mod format;
mod gate;
mod load;
mod meta;
mod plan;
mod problem;
mod sessions;
mod shape;
mod source;
mod turns;
pub mod write;

pub use columns::PARQUET_THREAD;
pub use discover::{Found, find_runs, find_runs_by};
pub use engine::EngineSample;
pub use files::RunFiles;
pub use gate::{GateEvent, GateEventKind};
pub use load::{LoadOptions, Run};
pub use meta::{
    Canary, Code, Counts, Engine, Gate, Gpu, Meta, Rate, RegistrationRef, RunStatus, Source,
};
pub use plan::PlannedSession;
pub use problem::{Problem, Problems, Severity};
pub use sessions::{Session, SessionStatus};
pub use shape::{layout_of, metadata_of};
pub use source::SourceFile;
pub use turns::{Turn, TurnStatus, by_session};

use serde::{Deserialize, Serialize};

/// Where a session's arrival comes from (`kind` in every table).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// The Poisson stream.
    Base,
    /// The burst.
    Burst,
}

impl Kind {
    /// The word used in the files.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Base => "base",
            Self::Burst => "burst",
        }
    }

    #[inline]
    fn from_word(word: &str) -> Option<Self> {
        match word {
            "base" => Some(Self::Base),
            "burst" => Some(Self::Burst),
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
