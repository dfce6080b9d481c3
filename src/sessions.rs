//! Files of recorded sessions: found, opened, unpacked and read, one session at a time; and
//! written as the one table they are imported into.
//!
//! [`load`] holds the sessions of one file or folder, [`recorded`] those of a workload; [`Import`]
//! hands them on, whatever their number.

mod open;
mod parquet;
mod write;

use std::io;
use std::path::{Path, PathBuf};

pub use open::files_of;
pub use trapcheck_sessions::reading::{Fault, Reading};
pub use trapcheck_sessions::session::Session;
pub use trapcheck_sessions::{Inputs, Names};
pub use write::{Kind, Writer};

use crate::hash::SourceFile;
use crate::limits;
use crate::setup::RecordedFile;

/// One file that was read.
#[derive(Debug, Clone)]
pub struct Read {
    /// Where it lies, with the hash of its bytes.
    pub source: SourceFile,
    /// What was read of it, and what was not.
    pub reading: Reading,
}

/// What is read of any number of files. A session's name is read once.
#[derive(Debug, Default)]
pub struct Import {
    inputs: Inputs,
    names: Names,
    /// The files so far.
    pub files: Vec<Read>,
}

impl Import {
    /// Rows that are a request each have input lengths of this kind.
    pub fn new(inputs: Inputs) -> Self {
        Self { inputs, ..Self::default() }
    }

    /// Reads a file and hands its sessions to `take`. In messages and names it is called `name`.
    ///
    /// # Errors
    /// It cannot be read to its end, or `take` fails.
    pub fn read(
        &mut self,
        path: &Path,
        name: &str,
        take: &mut dyn FnMut(Session) -> io::Result<()>,
    ) -> Result<(), Fault> {
        let unreadable = |error| Fault::Unreadable { file: name.to_owned(), error };
        let mut stream = open::Stream::open(path).map_err(unreadable)?;
        let reading = match stream.unpacked().map_err(unreadable)? {
            Some(text) => trapcheck_sessions::read(name, text, self.inputs, &mut self.names, take)?,
            None => parquet::read(path, name, &mut self.names, take)?,
        };
        let sha256 = stream.sha256().map_err(unreadable)?;
        self.files.push(Read { source: SourceFile { path: path.to_owned(), sha256 }, reading });
        Ok(())
    }
}

/// The sessions of a file, or of all files in a folder, in memory.
#[derive(Debug)]
pub struct Loaded {
    /// The sessions, subagents and branches among them.
    pub sessions: Vec<Session>,
    /// The files they are from.
    pub files: Vec<Read>,
}

/// Reads a file, or a folder's files in order of name.
///
/// # Errors
/// A file that cannot be read to its end, a folder without one, or more than
/// [`limits::ROWS`] turns.
pub fn load(path: &Path, inputs: Inputs) -> Result<Loaded, Fault> {
    load_all(&[path.to_owned()], inputs)
}

/// The same for several.
///
/// # Errors
/// As [`load`].
pub fn load_all(paths: &[PathBuf], inputs: Inputs) -> Result<Loaded, Fault> {
    let mut sessions: Vec<Session> = Vec::new();
    let mut import = Import::new(inputs);
    let mut turns = 0;
    for (path, name) in files_of(paths)? {
        import.read(&path, &name, &mut |session| {
            turns += session.turns.len();
            if turns > limits::ROWS {
                let message = format!("expected at most {} turns, found more", limits::ROWS);
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
            }
            sessions.push(session);
            Ok(())
        })?;
    }
    Ok(Loaded { sessions, files: import.files })
}

/// The sessions of a workload of kind `recorded`.
///
/// # Errors
/// Its file cannot be read, or is not the one that it names: a sentence that says where the file
/// is from, if the workload does, and what works without.
pub fn recorded(workload: &RecordedFile) -> Result<Vec<Session>, String> {
    let failed = |why: String| {
        let from = workload.sources.get("path");
        let from = from.map_or_else(String::new, |from| format!("; they are from {from}"));
        format!(
            "workload {}: {why}{from}; a workload of kind empirical, such as agent-sessions, needs \
             no file",
            workload.name
        )
    };
    let loaded = load(&workload.path, Inputs::Whole).map_err(|fault| failed(fault.to_string()))?;
    match loaded.files.iter().find(|read| read.source.sha256 != workload.sha256) {
        None => Ok(loaded.sessions),
        Some(read) => {
            let (path, sha256) = (read.source.path.display(), &read.source.sha256);
            Err(failed(format!(
                "{path} has the SHA-256 {sha256}, and the workload is of {}: other sessions are \
                 another workload",
                workload.sha256
            )))
        }
    }
}
