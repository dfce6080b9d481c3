//! Reading files: regular ones only, of a bounded size; and walking folders.
//!
//! Every file that the program reads comes through here, so that a named pipe, a device or
//! a link to one is an error where it lies instead of a command that never ends.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use walkdir::{DirEntry, WalkDir};

use crate::limits;
pub use trapcheck_setup::packing::Bounded;
use trapcheck_setup::packing::{size_of, too_large};

/// Opens a regular file, or what a link to one leads to.
///
/// # Errors
/// It is not there, is something else (a folder, a named pipe, a device), or may not be read.
pub fn open(path: impl AsRef<Path>) -> io::Result<File> {
    let path = path.as_ref();
    // Looked at first: opening a named pipe waits for its writer.
    let kind = fs::metadata(path)?.file_type();
    if !kind.is_file() {
        let message = format!("expected a file, found {}", named(kind));
        return Err(io::Error::new(ErrorKind::InvalidInput, message));
    }
    File::open(path)
}

/// The bytes of a file of at most [`limits::FILE_BYTES`].
///
/// # Errors
/// As [`open`], and a file that is larger.
pub fn bytes(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    at_most(path, limits::FILE_BYTES)
}

/// The text of a file of at most [`limits::TEXT_BYTES`].
///
/// # Errors
/// As [`open`], a file that is larger, and one that is not UTF-8.
pub fn text(path: impl AsRef<Path>) -> io::Result<String> {
    String::from_utf8(at_most(path, limits::TEXT_BYTES)?)
        .map_err(|e| io::Error::new(ErrorKind::InvalidData, e.utf8_error()))
}

/// The bytes of a file of at most `most`.
///
/// # Errors
/// As [`open`], and a file that is larger.
pub fn at_most(path: impl AsRef<Path>, most: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let size = file.metadata()?.len();
    if size > most {
        return Err(too_large(&format!("found {}", size_of(size)), most));
    }
    let mut bytes = Vec::with_capacity(size as usize);
    Bounded::new(file, most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Everything under a path, in order of name, links followed. What begins with a dot or is
/// being written (`.tmp`) is left out with all that is in it, unless it is the path itself.
pub fn walk(path: &Path) -> impl Iterator<Item = walkdir::Result<DirEntry>> + use<> {
    let walk = WalkDir::new(path).follow_links(true).sort_by_file_name();
    walk.into_iter().filter_entry(|entry| entry.depth() == 0 || counts(entry.path()))
}

/// Whether a name counts: see [`walk`].
pub fn counts(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    !name.starts_with(b".") && !name.ends_with(b".tmp")
}

#[cfg(unix)]
fn named(kind: fs::FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    match kind {
        kind if kind.is_dir() => "a folder",
        kind if kind.is_fifo() => "a named pipe",
        kind if kind.is_socket() => "a socket",
        _ => "a device",
    }
}

#[cfg(not(unix))]
fn named(kind: fs::FileType) -> &'static str {
    if kind.is_dir() { "a folder" } else { "a device" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(path: &Path) -> String {
        bytes(path).unwrap_err().to_string()
    }

    #[test]
    fn what_is_no_regular_file_is_named_and_never_waited_for() {
        let folder = tempfile::TempDir::new().unwrap();
        let at = |name: &str| folder.path().join(name);
        assert!(why(folder.path()).contains("found a folder"));
        assert!(why(Path::new("/dev/zero")).contains("found a device"));
        std::os::unix::fs::symlink("/dev/zero", at("link")).unwrap();
        assert!(why(&at("link")).contains("found a device"));
        let made = std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap();
        assert!(made.success());
        assert!(why(&at("pipe")).contains("found a named pipe"));
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        assert!(why(&at("socket")).contains("found a socket"));
    }

    #[test]
    fn a_link_to_a_file_is_that_file() {
        let folder = tempfile::TempDir::new().unwrap();
        fs::write(folder.path().join("file"), "text").unwrap();
        std::os::unix::fs::symlink("file", folder.path().join("link")).unwrap();
        assert_eq!(text(folder.path().join("link")).unwrap(), "text");
    }

    #[test]
    fn a_file_that_is_too_large_is_refused_before_it_is_read() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("sparse");
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(why(&path), "too large: expected at most 512 MiB, found 1048576 MiB");
    }

    #[test]
    fn hidden_and_half_written_folders_are_not_walked_unless_they_are_asked_for() {
        let folder = tempfile::TempDir::new().unwrap();
        for name in ["seen", ".hidden", "half.tmp"] {
            fs::create_dir(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join("file"), "").unwrap();
        }
        let files = |path: &Path| {
            let entries = walk(path).map(Result::unwrap).filter(|e| e.file_type().is_file());
            entries.map(|e| e.path().strip_prefix(path).unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(files(folder.path()), [Path::new("seen/file")]);
        assert_eq!(files(&folder.path().join(".hidden")), [Path::new("file")]);
    }

    /// The tests of a module follow its code.
    fn code(text: &str) -> &str {
        text.split("#[cfg(test)]").next().unwrap_or_default()
    }

    #[test]
    fn every_file_is_read_through_here() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let elsewhere: Vec<_> = walk(&root)
            .map(|entry| entry.unwrap().into_path())
            .filter(|path| path.extension().is_some_and(|e| e == "rs"))
            .filter(|path| !path.ends_with("reading.rs") && !path.ends_with("tests.rs"))
            .filter(|path| {
                let text = fs::read_to_string(path).unwrap();
                ["fs::read(", "fs::read_to_string(", "File::open("]
                    .iter()
                    .any(|call| code(&text).contains(call))
            })
            .collect();
        // A folder that is being written is opened to lock it, and how the process was started
        // is asked of the system: neither is a file.
        let allowed = ["cli/signals.rs", "files/temporary.rs"].map(|path| root.join(path));
        assert_eq!(elsewhere, allowed, "read files by crate::reading, which waits for no pipe");
    }
}
