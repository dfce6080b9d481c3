//! Writing files so that nobody sees half of one.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many files this process has written.
static WRITTEN: AtomicU64 = AtomicU64::new(0);

/// Writes `bytes` beside `path` and renames them into place; makes the folder.
///
/// # Errors
/// The folder cannot be made or the file not written; an old file stays as it was.
pub fn write_beside(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        fs::create_dir_all(folder)?;
    }
    // A name of its own, so that two writers of one file do not write into each other's.
    let mut beside = path.as_os_str().to_owned();
    let turn = WRITTEN.fetch_add(1, Ordering::Relaxed);
    beside.push(format!(".{}-{turn}.tmp", std::process::id()));
    fs::write(&beside, bytes)
        .and_then(|()| fs::rename(&beside, path))
        .inspect_err(|_| drop(fs::remove_file(&beside)))
}
