//! Files and folders that are being written, under names of their own.
//!
//! A name is `.trapcheck-PID-N.tmp` in the folder of the result: made new or not at all, so
//! never somebody else's. Its writer holds a lock on it while it lives. What an error or a
//! signal ends is removed at once; what a kill or a power cut leaves has no lock any more,
//! and the next process that writes into the folder removes it, so that nothing piles up.
//! Where locks do not work (some network folders) it is left alone.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const BEGINS: &str = ".trapcheck-";
const ENDS: &str = ".tmp";

/// How many names this process has taken.
static TAKEN: AtomicU64 = AtomicU64::new(0);

/// What this process is writing.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Folders in which this process has looked for what others left.
static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// A file or folder that is not finished. Dropped, it is removed.
#[derive(Debug)]
pub struct Temporary {
    path: PathBuf,
    /// Open while it is written: the file itself, and the lock. None for a folder on a
    /// platform that opens no folders.
    file: Option<File>,
    is_done: bool,
}

impl Temporary {
    /// A new file in `folder`, which is made if need be.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn file(folder: &Path) -> io::Result<Self> {
        Self::new(folder, |path| File::create_new(path).map(Some))
    }

    /// A new folder in `folder`, which is made if need be.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn folder(folder: &Path) -> io::Result<Self> {
        Self::new(folder, |path| fs::create_dir(path).map(|()| File::open(path).ok()))
    }

    fn new(folder: &Path, make: impl Fn(&Path) -> io::Result<Option<File>>) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        sweep(folder);
        loop {
            let turn = TAKEN.fetch_add(1, Ordering::Relaxed);
            let path = folder.join(format!("{BEGINS}{}-{turn}{ENDS}", std::process::id()));
            let mut unfinished = held(&UNFINISHED);
            let file = match make(&path) {
                Ok(file) => file,
                // A dead process of the same number had it.
                Err(e) if e.kind() == ErrorKind::AlreadyExists => continue,
                Err(e) => return Err(e),
            };
            unfinished.insert(path.clone());
            drop(unfinished);
            let one = Self { path, file, is_done: false };
            if let Some(file) = &one.file {
                // A file system without locks is used as it is.
                let _ = file.lock();
            }
            // Another process may have swept it away before the lock held.
            if fs::symlink_metadata(&one.path).is_ok() {
                return Ok(one);
            }
        }
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Sees a file's bytes to the disk.
    ///
    /// # Errors
    /// The disk does not take them.
    pub fn sync(&self) -> io::Result<()> {
        self.file.as_ref().map_or(Ok(()), File::sync_all)
    }

    /// Renames it to its place; a file that is there is replaced, a folder only if empty.
    ///
    /// # Errors
    /// It cannot be renamed, and is gone.
    pub(crate) fn rename_to(self, place: &Path) -> io::Result<()> {
        self.finish(|path| fs::rename(path, place))
    }

    /// Gives a file its place, where nothing may be.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExists`]; or it cannot be placed. It is gone then.
    pub(crate) fn rename_to_new(self, place: &Path) -> io::Result<()> {
        self.finish(|path| match fs::hard_link(path, place) {
            Ok(()) => fs::remove_file(path),
            Err(e) if e.kind() == ErrorKind::AlreadyExists => Err(e),
            // A file system without links.
            Err(_) if fs::symlink_metadata(place).is_err() => fs::rename(path, place),
            Err(_) => Err(ErrorKind::AlreadyExists.into()),
        })
    }

    fn finish(mut self, place: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
        let mut unfinished = held(&UNFINISHED);
        place(&self.path)?;
        self.is_done = unfinished.remove(&self.path);
        Ok(())
    }

    /// Removes it with all that is in it.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn remove(mut self) -> io::Result<()> {
        let mut unfinished = held(&UNFINISHED);
        self.is_done = unfinished.remove(&self.path);
        remove(&self.path)
    }
}

impl Write for Temporary {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.file {
            Some(file) => file.write(bytes),
            None => Err(ErrorKind::IsADirectory.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), File::flush)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.is_done {
            let mut unfinished = held(&UNFINISHED);
            let _ = remove(&self.path);
            unfinished.remove(&self.path);
        }
    }
}

/// Removes what this process is writing, and lets it begin nothing more: for a process that
/// is about to end.
pub fn remove_unfinished() {
    let unfinished = held(&UNFINISHED);
    for path in unfinished.iter() {
        // Another thread may still be adding files to a folder.
        for _ in 0..20 {
            if remove(path).is_ok() || fs::symlink_metadata(path).is_err() {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    // Held until the end.
    std::mem::forget(unfinished);
}

/// Removes from a folder what dead processes of this program left there; once per process.
fn sweep(folder: &Path) {
    if !held(&SWEPT).insert(folder.to_owned()) {
        return;
    }
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let is_folder = match entry.file_type() {
            Ok(kind) if kind.is_dir() => true,
            Ok(kind) if kind.is_file() => false,
            _ => continue,
        };
        if !entry.file_name().to_str().is_some_and(is_ours) {
            continue;
        }
        let path = entry.path();
        // A folder cannot be opened for writing, and a network folder locks nothing else.
        let open = OpenOptions::new().read(is_folder).write(!is_folder).open(&path);
        // Locked, it is being written. The lock is held until it is gone.
        if let Ok(file) = open
            && file.try_lock().is_ok()
        {
            let _ = remove(&path);
        }
    }
}

/// Whether a name is one of those that are given here.
fn is_ours(name: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    name.strip_prefix(BEGINS)
        .and_then(|rest| rest.strip_suffix(ENDS))
        .and_then(|rest| rest.split_once('-'))
        .is_some_and(|(process, turn)| number(process) && number(turn))
}

fn remove(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    }
}

/// A list, also after a panic of another thread: each change to it is one step.
fn held<T>(list: &Mutex<T>) -> MutexGuard<'_, T> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}
