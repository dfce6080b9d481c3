//! Files that were dropped on a page: their paths and their bytes.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::Refused;
use crate::question::Question;

/// Gives the bytes at a place of so many bytes; none where there are none.
pub type Source<'a> = &'a dyn Fn(u32, u32) -> Option<Vec<u8>>;

/// What is said of a file behind zstd, whose unpacker a page does not have.
pub const NO_ZSTD: &str = "zstd is not unpacked here: give csv or csv.gz, or ask the command line";

/// A file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    /// Its path from where it was dropped.
    pub path: PathBuf,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// A file of a question.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    name: String,
    ptr: Option<u32>,
    len: Option<u32>,
    text: Option<String>,
}

/// The files of a question, in order of path.
///
/// # Errors
/// None, a name that is no path below where it was dropped, or bytes that are not there.
pub fn files(question: &Question, bytes: Source<'_>) -> Result<Vec<Dropped>, Refused> {
    let named: Vec<Named> = question.field("files")?.unwrap_or_default();
    let mut files =
        named.into_iter().map(|file| read(file, bytes)).collect::<Result<Vec<_>, _>>()?;
    if files.is_empty() {
        return Err(Refused::new("files: expected at least one"));
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// The paths of a question's files, without their bytes.
///
/// # Errors
/// As [`files`].
pub fn paths(question: &Question) -> Result<Vec<PathBuf>, Refused> {
    let named: Vec<Named> = question.field("files")?.unwrap_or_default();
    let mut paths = named.iter().map(|file| path(&file.name)).collect::<Result<Vec<_>, _>>()?;
    paths.sort();
    Ok(paths)
}

fn read(file: Named, source: Source<'_>) -> Result<Dropped, Refused> {
    let path = path(&file.name)?;
    let bytes = match (file.text, file.ptr, file.len) {
        (Some(text), None, None) => Some(text.into_bytes()),
        (None, Some(ptr), Some(len)) => source(ptr, len),
        _ => None,
    };
    let bytes = bytes.ok_or_else(|| Refused(format!("{}: no bytes", file.name)))?;
    Ok(Dropped { path, bytes })
}

/// A path below where it was dropped.
fn path(name: &str) -> Result<PathBuf, Refused> {
    let plain = |part: &str| !part.is_empty() && part != ".." && part != ".";
    if !name.split('/').all(plain) {
        return Err(Refused(format!("files: {name}: expected a path like run/turns.csv.gz")));
    }
    let path = Path::new(name);
    // A file alone lies where it was dropped.
    Ok(if name.contains('/') { path.into() } else { Path::new(".").join(path) })
}

/// What was dropped: a file, or the folder that a file lies in.
pub fn outermost(path: &Path) -> &Path {
    let path = path.strip_prefix(".").unwrap_or(path);
    let parts: Vec<&Path> = path.ancestors().collect();
    parts.iter().rev().nth(1).copied().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_dropped_is_a_file_or_the_folder_it_lies_in() {
        assert_eq!(outermost(Path::new("./a.log")), Path::new("a.log"));
        assert_eq!(outermost(Path::new("night/one/a.log")), Path::new("night"));
        assert_eq!(outermost(Path::new("night")), Path::new("night"));
    }
}
