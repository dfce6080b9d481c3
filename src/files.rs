//! Writing files so that nobody sees half of one.
//!
//! A file is written beside its place and renamed into it: a reader finds the old bytes or
//! the new ones, and a disk that fills up leaves the old. Links are followed, and what they
//! lead to is replaced. What is no regular file (a device, a FIFO) is written through, never
//! replaced; a FIFO waits for its reader, as in a shell.

mod temporary;

use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

pub use temporary::{Temporary, remove_unfinished};

/// A file or folder that cannot be read, written or used, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", crate::escape::shown(path))]
pub struct FileError {
    /// Where, with the line where there is one.
    pub path: PathBuf,
    /// What is wrong.
    pub message: String,
}

impl FileError {
    /// What is wrong with a file or folder.
    pub fn new(path: impl Into<PathBuf>, why: impl std::fmt::Display) -> Self {
        Self { path: path.into(), message: why.to_string() }
    }
}

/// Links that are followed before they count as a circle, as in the kernel.
const MOST_LINKS: usize = 40;

/// Where the bytes of a file go.
enum Place {
    /// Beside this path, then renamed into it; with the permissions that it has.
    Beside(PathBuf, Option<Permissions>),
    /// Into what is there.
    Through,
    /// To this process' own output.
    Stdout,
}

/// Writes `bytes` to `path`, whole or not at all; makes the folder. A file that is there
/// keeps its permissions.
///
/// # Errors
/// The folder cannot be made or the file not written; an old file stays as it was.
pub fn write_beside(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match place(path)? {
        Place::Beside(path, permissions) => {
            let mut beside = Temporary::file(folder_of(&path))?;
            if let Some(permissions) = permissions {
                // A file that may not be written is not replaced either.
                OpenOptions::new().write(true).open(&path)?;
                // Before there is anything in it that others may not read.
                fs::set_permissions(beside.path(), permissions)?;
            }
            beside.write_all(bytes)?;
            beside.rename_to(&path)
        }
        Place::Through => {
            let mut file = OpenOptions::new().append(true).open(path)?;
            unless_gone(file.write_all(bytes))
        }
        Place::Stdout => {
            let mut stdout = io::stdout().lock();
            unless_gone(stdout.write_all(bytes).and_then(|()| stdout.flush()))
        }
    }
}

/// Writes `bytes` to a file that must not be there yet, whole or not at all, and sees them
/// to the disk; makes the folder.
///
/// # Errors
/// As [`write_beside`]; [`ErrorKind::AlreadyExists`] if something is there, which stays.
pub fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut beside = Temporary::file(folder_of(path))?;
    beside.write_all(bytes)?;
    beside.sync()?;
    beside.rename_to_new(path)
}

/// A reader that has gone away is no error.
pub fn unless_gone(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// The folder that holds a path.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn place(path: &Path) -> io::Result<Place> {
    let mut at = path.to_owned();
    for _ in 0..MOST_LINKS {
        // A file that this process holds open: another in its place would not be it.
        if ["/dev/fd/1", "/proc/self/fd/1"].iter().any(|own| at == Path::new(own)) {
            return Ok(Place::Stdout);
        }
        if at.starts_with("/dev/fd") || at.starts_with("/proc") {
            return Ok(Place::Through);
        }
        match fs::symlink_metadata(&at) {
            Ok(there) if there.is_symlink() => {
                let to = fs::read_link(&at)?;
                at = folder_of(&at).join(to);
            }
            Ok(there) if there.is_dir() => return Err(ErrorKind::IsADirectory.into()),
            Ok(there) if there.is_file() => {
                return Ok(Place::Beside(at, Some(there.permissions())));
            }
            Ok(_) => return Ok(Place::Through),
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Place::Beside(at, None)),
            Err(e) => return Err(e),
        }
    }
    Err(io::Error::other("too many links lead to each other"))
}

#[cfg(test)]
#[path = "files/tests.rs"]
mod tests;
