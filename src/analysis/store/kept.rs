//! A kept file: the statistics of one run, with what they were measured from.
//!
//! The file is named by the hash of its origin, and begins with the hash of its content, so
//! one that was renamed or edited is told apart. Whoever writes a whole new file with both
//! hashes right is not: only measuring the run again shows that, and nothing here claims
//! otherwise (see [`Trust`](super::Trust)).

use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::files::{FileError, write_beside};
use crate::hash::sha256_hex;
use crate::judged::statistics::RunStatistics;
use crate::limits;
use crate::reading::{self, Bounded};

/// The ending of a kept file.
const ENDING: &str = "run";

/// Digits of the hash that comes before the content.
const HASH_DIGITS: usize = 64;

/// What statistics were measured from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// SHA-256 of the library's source that measured.
    pub program: String,
    /// SHA-256 of the configuration it measured under.
    pub configs: String,
    /// SHA-256 of a registration outside the configuration that was measured for as well.
    pub also: Option<String>,
    /// How the run was read.
    pub reading: String,
    /// The run's folder.
    pub run: PathBuf,
    /// Its files with their hashes, or the configuration it was simulated from.
    pub inputs: String,
}

impl Origin {
    /// The name of the file that keeps what was measured from it.
    pub fn file_name(&self) -> String {
        let said = format!(
            "program {}\nconfigs {}\nalso {}\nreading {}\nrun {}\n{}",
            self.program,
            self.configs,
            self.also.as_deref().unwrap_or_default(),
            self.reading,
            self.run.display(),
            self.inputs
        );
        format!("{}.{ENDING}", sha256_hex(said.as_bytes()))
    }
}

/// Why a kept file is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It is no kept file, cut off, or a byte was changed.
    #[error("not the kept statistics of a run, or damaged: measure it again")]
    Damaged,
    /// Its content was changed, and packed again.
    #[error("its content was changed after it was kept: measure the run again")]
    Edited,
    /// It keeps something else than its name says.
    #[error(
        "its name is not that of what it keeps, it was renamed or changed: measure the run again"
    )]
    Renamed,
    /// It keeps what another version of the program measured.
    #[error("kept by another version of this program: measure it again")]
    OtherProgram,
}

/// Reads a kept file; `None` when there is none.
pub(super) fn read(file: &Path) -> Option<Result<(Origin, RunStatistics), Refused>> {
    match reading::bytes(file) {
        Err(e) if e.kind() == ErrorKind::NotFound => None,
        Err(_) => Some(Err(Refused::Damaged)),
        Ok(packed) => Some(unpacked(file, &packed)),
    }
}

fn unpacked(file: &Path, packed: &[u8]) -> Result<(Origin, RunStatistics), Refused> {
    let content = bounded(packed).map_err(|_| Refused::Damaged)?;
    let (hash, mut rest) = content.split_at_checked(HASH_DIGITS).ok_or(Refused::Damaged)?;
    if sha256_hex(rest).as_bytes() != hash {
        return Err(Refused::Edited);
    }
    // The origin stands first: it is read even where another version has other statistics.
    let origin: Origin = rmp_serde::from_read(&mut rest).map_err(|_| Refused::Damaged)?;
    if file.file_name().is_none_or(|name| name != origin.file_name().as_str()) {
        return Err(Refused::Renamed);
    }
    if origin.program != super::PROGRAM {
        return Err(Refused::OtherProgram);
    }
    let statistics: RunStatistics = rmp_serde::from_slice(rest).map_err(|_| Refused::Damaged)?;
    if statistics.dir != origin.run {
        return Err(Refused::Edited);
    }
    Ok((origin, statistics))
}

fn bounded(packed: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut content = Vec::new();
    let unpacker = zstd::Decoder::with_buffer(packed)?;
    Bounded::new(unpacker, limits::KEPT_BYTES).read_to_end(&mut content)?;
    Ok(content)
}

/// Writes statistics into a folder, packed and with a checksum.
pub(super) fn write(
    folder: &Path,
    origin: &Origin,
    statistics: &RunStatistics,
) -> Result<(), FileError> {
    let encode = |why| FileError::new(&statistics.dir, why);
    let mut content = rmp_serde::to_vec_named(origin).map_err(encode)?;
    content.extend(rmp_serde::to_vec_named(statistics).map_err(encode)?);
    let hash = sha256_hex(&content);
    let pack = || -> std::io::Result<Vec<u8>> {
        let mut packer = zstd::Encoder::new(Vec::new(), 1)?;
        packer.include_checksum(true)?;
        packer.write_all(hash.as_bytes())?;
        packer.write_all(&content)?;
        packer.finish()
    };
    let path = folder.join(origin.file_name());
    pack().and_then(|packed| write_beside(&path, &packed)).map_err(|why| FileError::new(&path, why))
}

/// The kept files under some paths, in order of path.
pub fn find_kept<P: AsRef<Path>>(paths: &[P]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = paths
        .iter()
        .flat_map(|path| reading::walk(path.as_ref()).flatten())
        .filter(|entry| entry.file_type().is_file())
        .map(walkdir::DirEntry::into_path)
        .filter(|path| path.extension().is_some_and(|ending| ending == ENDING))
        .collect();
    found.sort();
    found.dedup();
    found
}
