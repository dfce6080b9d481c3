//! Finding files of sessions, and their text behind gzip or zstd, with the hash of the bytes.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::Fault;
use crate::reading;

/// How the names of files end that may hold sessions; each also packed.
const ENDINGS: [&str; 5] = ["json", "jsonl", "ndjson", "csv", "parquet"];
const PACKED: [&str; 3] = ["", ".gz", ".zst"];

/// The files that these paths name, each with what it is called: a file as its own name says, a
/// file in a folder by its path within that folder.
///
/// # Errors
/// A folder without a file of sessions, or one that cannot be walked.
pub fn files_of(paths: &[PathBuf]) -> Result<Vec<(PathBuf, String)>, Fault> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            let name = path.file_name().unwrap_or(path.as_os_str());
            files.push((path.clone(), name.to_string_lossy().into_owned()));
            continue;
        }
        let unreadable = |error| Fault::Unreadable { file: path.display().to_string(), error };
        let before = files.len();
        for entry in reading::walk(path) {
            let entry = entry.map_err(|e| unreadable(io::Error::other(e)))?;
            if entry.file_type().is_file() && may_hold_sessions(entry.path()) {
                let within = entry.path().strip_prefix(path).unwrap_or(entry.path());
                files.push((entry.path().to_owned(), within.to_string_lossy().into_owned()));
            }
        }
        if files.len() == before {
            let endings = ENDINGS.map(|ending| format!(".{ending}")).join(", ");
            let message = format!("expected files of sessions ({endings}), found none");
            return Err(unreadable(io::Error::new(ErrorKind::NotFound, message)));
        }
    }
    Ok(files)
}

fn may_hold_sessions(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    ENDINGS.iter().any(|ending| PACKED.iter().any(|p| name.ends_with(&format!(".{ending}{p}"))))
}

/// A file's bytes, hashed as they are read.
pub struct Stream {
    hashed: BufReader<Hashed>,
}

struct Hashed {
    file: File,
    hasher: Sha256,
}

impl Read for Hashed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read(buffer)?;
        self.hasher.update(&buffer[..n]);
        Ok(n)
    }
}

impl Stream {
    pub fn open(path: &Path) -> io::Result<Self> {
        let hashed = Hashed { file: reading::open(path)?, hasher: Sha256::new() };
        Ok(Self { hashed: BufReader::with_capacity(1 << 16, hashed) })
    }

    /// Its text, by its first bytes; `None` where it is parquet.
    pub fn unpacked(&mut self) -> io::Result<Option<Box<dyn Read + '_>>> {
        let mut first = [0; 4];
        let there = self.hashed.fill_buf()?;
        let n = there.len().min(first.len());
        first[..n].copy_from_slice(&there[..n]);
        let text = &mut self.hashed;
        Ok(match first {
            [0x1f, 0x8b, ..] => Some(Box::new(flate2::bufread::MultiGzDecoder::new(text))),
            [0x28, 0xb5, 0x2f, 0xfd] => {
                Some(Box::new(zstd::stream::read::Decoder::with_buffer(text)?))
            }
            [b'P', b'A', b'R', b'1'] => None,
            _ => Some(Box::new(text)),
        })
    }

    /// SHA-256 of all its bytes, those that nothing asked for as well.
    pub fn sha256(mut self) -> io::Result<String> {
        io::copy(&mut self.hashed, &mut io::sink())?;
        let digest = self.hashed.into_inner().hasher.finalize();
        Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}
