//! What there is in a run's place.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use trapcheck_drive::meta::DECIDED;

use trapcheck::files::folder_of;
use trapcheck::reading;
use trapcheck::run::META;

/// What there is in a run's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Nothing.
    Free,
    /// A run that came to its end, or was ended because its state was decided.
    Completed,
    /// A run that did not: it was stopped, killed, or is under way.
    Unfinished,
}

impl Place {
    /// Looks.
    pub fn of(dir: &Path) -> Self {
        if fs::symlink_metadata(dir).is_err() {
            return Self::Free;
        }
        let meta = reading::text(dir.join(META)).unwrap_or_default();
        let meta: serde_json::Value = serde_json::from_str(&meta).unwrap_or_default();
        let decided = meta["client"]["ended"].as_str().is_some_and(|why| why.starts_with(DECIDED));
        let is_made = meta["status"] == "completed" || decided;
        if is_made { Self::Completed } else { Self::Unfinished }
    }

    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Free => "missing",
            Self::Completed => "made",
            Self::Unfinished => "unfinished",
        }
    }
}

/// Renames a run that did not come to its end, so that it can be made again and nothing of it
/// is lost. Its new name begins with a dot: no command takes it for a run of the campaign.
///
/// # Errors
/// It cannot be renamed.
pub fn set_aside(dir: &Path) -> io::Result<PathBuf> {
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    let mut tries = 1..1000;
    loop {
        let Some(number) = tries.next() else {
            return Err(io::Error::other("it was set aside too often"));
        };
        let aside = folder_of(dir).join(format!(".unfinished-{number}-{name}"));
        if fs::symlink_metadata(&aside).is_err() {
            return fs::rename(dir, &aside).map(|()| aside);
        }
    }
}
