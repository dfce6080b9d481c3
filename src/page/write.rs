//! Writing a page into a folder: each file whole or not at all, the index last.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::{FORMAT, Files, PageError};
use crate::files::{FileError, write_beside};

/// What says that the data are there, relative to the page.
pub(crate) const INDEX: &str = "data/index.json";

/// Where the data lie, relative to the page.
const DATA: &str = "data";

/// What was done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Written {
    /// Files that were written.
    pub written: usize,
    /// Files that were there with the same bytes.
    pub same: usize,
    /// Files of an older page that this one does not have.
    pub removed: usize,
}

/// Writes a page's files into a folder. Of an older page's data, what this one does not have is
/// removed once everything else is there.
///
/// # Errors
/// A folder that holds something else, before anything is written; a file that cannot be
/// written: those before it are.
pub fn write(files: &Files, folder: &Path) -> Result<Written, PageError> {
    check_free(files, folder)?;
    let mut done = Written::default();
    let last = files.get_key_value(INDEX);
    for (name, bytes) in files.iter().filter(|(name, _)| *name != INDEX).chain(last) {
        let path = folder.join(name);
        if crate::reading::bytes(&path).is_ok_and(|there| there == *bytes) {
            done.same += 1;
            continue;
        }
        write_beside(&path, bytes).map_err(|why| failed(&path, &why))?;
        done.written += 1;
    }
    let ours: BTreeSet<PathBuf> = files.keys().map(|name| folder.join(name)).collect();
    for path in data_files(folder).filter(|path| !ours.contains(path)) {
        fs::remove_file(&path).map_err(|why| failed(&path, &why))?;
        done.removed += 1;
    }
    Ok(done)
}

fn failed(path: &Path, why: &io::Error) -> PageError {
    PageError::Write(FileError::new(path, why))
}

/// The files of a page's data, without what is being written.
fn data_files(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let data = WalkDir::new(folder.join(DATA)).into_iter().flatten();
    let files = data.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path);
    files.filter(|path| path.extension().is_some_and(|e| e == "json" || e == "svg"))
}

/// Refuses a folder with anything but a page in it.
fn check_free(files: &Files, folder: &Path) -> Result<(), PageError> {
    let occupied = |found: &str| {
        let expected = "expected a new or empty folder, or one that a page was written to";
        Err(FileError::new(folder, format_args!("{expected}; found {found}")).into())
    };
    match fs::symlink_metadata(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Ok(_) if !folder.is_dir() => return occupied("a file"),
        _ => {}
    }
    let unread = |why| failed(folder, &why);
    let entries = fs::read_dir(folder).map_err(unread)?;
    let names = entries.map(|entry| entry.map(|entry| entry.file_name()));
    let mut names = names.collect::<io::Result<Vec<_>>>().map_err(unread)?;
    names.sort();
    // What an interrupted process left, hidden files of whoever keeps the folder.
    names.retain(|name| !name.as_encoded_bytes().starts_with(b"."));
    let Some(first) = names.first() else { return Ok(()) };
    if is_page(folder) || is_begun(files, folder, &names) {
        return Ok(());
    }
    occupied(&first.to_string_lossy())
}

/// Whether a page lies there, of this version or another.
fn is_page(folder: &Path) -> bool {
    let index = crate::reading::text(folder.join(INDEX)).unwrap_or_default();
    let index: serde_json::Value = serde_json::from_str(&index).unwrap_or_default();
    let (name, _) = FORMAT.split_once('/').unwrap_or((FORMAT, ""));
    let format = index["format"].as_str().and_then(|format| format.split_once('/'));
    format.is_some_and(|(of, _)| of == name)
}

/// Whether nothing lies there but what a page of this program begins with: its static part, and
/// data without an index. That is the folder `page/` of a project, and what an interrupt left.
fn is_begun(files: &Files, folder: &Path, names: &[std::ffi::OsString]) -> bool {
    let same = |name: &str| {
        let there = crate::reading::bytes(folder.join(name));
        files.get(name).is_some_and(|own| there.is_ok_and(|there| there == *own))
    };
    let only_data = names.iter().all(|name| name == DATA);
    same("index.html")
        || (only_data
            && data_files(folder).next().is_some_and(|path| {
                let name = path.strip_prefix(folder).ok().and_then(Path::to_str);
                name.is_some_and(|name| files.contains_key(name))
            }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(files: &[(&str, &str)]) -> Files {
        files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect()
    }

    #[test]
    fn a_second_page_replaces_the_first_and_leaves_nothing_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("new/page");
        let index = format!("{{\"format\":\"{FORMAT}\"}}");
        let first = page(&[(INDEX, &index), ("index.html", "a"), ("data/runs/old.json", "1")]);
        let done = write(&first, &out).unwrap();
        assert_eq!(done, Written { written: 3, same: 0, removed: 0 });
        let second = page(&[(INDEX, &index), ("index.html", "b"), ("data/runs/new.json", "1")]);
        let done = write(&second, &out).unwrap();
        assert_eq!(done, Written { written: 2, same: 1, removed: 1 });
        assert!(!out.join("data/runs/old.json").exists());
        assert_eq!(fs::read(out.join("index.html")).unwrap(), b"b");
    }

    #[test]
    fn a_folder_with_something_else_in_it_is_refused_and_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("thesis.tex"), "mine").unwrap();
        let error = write(&page(&[(INDEX, "{}")]), folder.path()).unwrap_err().to_string();
        assert!(error.ends_with("a page was written to; found thesis.tex"), "{error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let file = folder.path().join("thesis.tex");
        assert!(write(&page(&[(INDEX, "{}")]), &file).is_err());
    }

    #[test]
    fn what_an_interrupt_left_is_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let files = page(&[(INDEX, "{}"), ("index.html", "a"), ("data/real.json", "1")]);
        fs::create_dir(folder.path().join("data")).unwrap();
        fs::write(folder.path().join("data/real.json"), "1").unwrap();
        assert_eq!(write(&files, folder.path()).unwrap().written, 2);
    }
}
