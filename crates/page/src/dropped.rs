//! Files that were dropped on a page: their paths and their bytes.

use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use trapcheck_setup::limits;
use trapcheck_setup::packing::{size_of, too_large};

use crate::Refused;
use crate::question::Question;
use crate::reply::Reply;

/// Gives the bytes at a place of so many bytes; none where there are none.
pub type Source<'a> = &'a dyn Fn(u32, u32) -> Option<Vec<u8>>;

/// What is said of a file behind zstd, whose unpacker a page does not have.
pub(crate) const NO_ZSTD: &str = "zstd is not unpacked in a page: unpack it first (zstd -d), or give it to \
                           trapcheck score or trapcheck diagnose, which read it";

/// A file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    /// Its path from where it was dropped.
    pub path: PathBuf,
    /// Its bytes; none where it is too large to be read.
    pub bytes: Vec<u8>,
    /// Its size, bytes.
    pub size: u64,
}

impl Dropped {
    /// Why it is not read, if it is too large: a page has no room for it.
    pub fn too_large(&self) -> Option<io::Error> {
        let found = || format!("found {}", size_of(self.size));
        (self.size > limits::FILE_BYTES).then(|| too_large(&found(), limits::FILE_BYTES))
    }
}

/// A file of a question.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    name: String,
    ptr: Option<u32>,
    len: Option<u32>,
    text: Option<String>,
    size: Option<u64>,
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

/// Answers `sizes`: which files are too large to be read. A page asks by name and size before
/// it reads any, and gives those by their size alone.
///
/// # Errors
/// As [`files`].
pub fn sizes(question: &Question) -> Result<Reply, Refused> {
    let named: Vec<Named> = question.field("files")?.unwrap_or_default();
    let over = named.iter().filter(|file| file.size.is_some_and(|size| size > limits::FILE_BYTES));
    let names: Vec<&String> = over.map(|file| &file.name).collect();
    Ok(Reply::empty().with("too_large", names))
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
    let unread = Dropped { path, bytes: Vec::new(), size: file.size.unwrap_or(0) };
    match bytes {
        Some(bytes) => Ok(Dropped { size: bytes.len() as u64, bytes, ..unread }),
        None if unread.too_large().is_some() => Ok(unread),
        None => Err(Refused(format!("{}: no bytes", file.name))),
    }
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
pub(crate) fn outermost(path: &Path) -> &Path {
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
