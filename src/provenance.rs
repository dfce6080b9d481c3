//! Proofs that a registration or prediction was fixed before its jobs (paper: Table 1,
//! App. E.11-E.13): git's own hash chain from a commit or tag to the file, and the
//! times of its push and of the first job.
//!
//! What the chain shows is that the file is the one that was committed; when it was
//! pushed is only as good as the push log the time was taken from, and nothing here
//! asks a server. A proof is a folder:
//!
//! ```text
//! proof.yaml        what is proven: file, commit, tag, push, first job (see [`Proof`])
//! objects/<name>    each git object of the chain, as git hashes it: `sha1sum` prints its name
//! ```
//!
//! [`verify()`] checks one, [`find_proofs`] finds them, [`export::export`] makes one
//! from a local repository. The format is described in `docs/provenance.md`.

pub mod export;
pub mod manifest;
pub mod object;
mod proof;
mod repository;
pub mod time;
mod verify;

use std::path::{Path, PathBuf};

use crate::reading;

pub use proof::{Jobs, Proof, Push, TagRef};
pub use repository::Repository;
pub use verify::{Failure, Verified, tag_is_kept, verify};

/// Bytes of an object, or words of a time, that are not written as they have to be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(pub String);

/// What the times of a proof say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Committed and pushed before the first job was submitted.
    PreRegistered,
    /// Committed before the first job was submitted; pushed later, or no push is known.
    Registered,
    /// Committed when a job had already been submitted.
    Late,
    /// No job is named yet.
    Pending,
}

impl Verdict {
    /// The verdict of three times in Unix seconds. A tie is not "before".
    pub fn of(committed: i64, pushed: Option<i64>, first_job: Option<i64>) -> Self {
        match (first_job, pushed) {
            (None, _) => Self::Pending,
            (Some(job), _) if committed >= job => Self::Late,
            (Some(job), Some(pushed)) if pushed < job => Self::PreRegistered,
            _ => Self::Registered,
        }
    }

    /// The word used in files and outputs.
    pub const fn word(self) -> &'static str {
        match self {
            Self::PreRegistered => "pre-registered",
            Self::Registered => "registered",
            Self::Late => "late",
            Self::Pending => "pending",
        }
    }

    /// Whether this verdict bears out a claim: itself or a weaker one.
    pub(crate) fn bears_out(self, claim: Self) -> bool {
        self == claim || (self == Self::PreRegistered && claim == Self::Registered)
    }
}

/// Every folder under `dir` that holds a `proof.yaml`, in order of path.
///
/// # Errors
/// A place that cannot be read.
pub fn find_proofs(dir: &Path) -> Result<Vec<PathBuf>, walkdir::Error> {
    let mut found = Vec::new();
    for entry in reading::walk(dir) {
        let entry = entry?;
        if entry.file_name() == proof::FILE_NAME {
            found.extend(entry.path().parent().map(Path::to_owned));
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_push_before_the_first_job_is_pre_registered_and_a_tie_is_not() {
        assert_eq!(Verdict::of(10, Some(19), Some(20)), Verdict::PreRegistered);
        assert_eq!(Verdict::of(10, Some(20), Some(20)), Verdict::Registered);
        assert_eq!(Verdict::of(10, None, Some(20)), Verdict::Registered);
    }

    #[test]
    fn a_commit_that_does_not_precede_the_first_job_is_late() {
        assert_eq!(Verdict::of(19, Some(30), Some(20)), Verdict::Registered);
        assert_eq!(Verdict::of(20, Some(30), Some(20)), Verdict::Late);
        assert_eq!(Verdict::of(20, Some(30), None), Verdict::Pending);
    }

    #[test]
    fn a_verdict_bears_out_itself_and_what_is_weaker() {
        assert!(Verdict::PreRegistered.bears_out(Verdict::Registered));
        assert!(!Verdict::Registered.bears_out(Verdict::PreRegistered));
        assert!(!Verdict::Late.bears_out(Verdict::Registered));
    }
}
