//! A file as bytes: its hash, and its content behind gzip or zstd.
//!
//! Compression is told from the first bytes, not from the name, because files
//! in the field carry either without the other.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::reading::Bounded;
use crate::run::{Problem, SourceFile};
use crate::{hash, limits, reading};

/// How a file's content is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// Plain text.
    Plain,
    /// gzip (one or several members).
    Gzip,
    /// zstd.
    Zstd,
    /// An Apache Parquet file.
    Parquet,
}

/// A file's bytes in memory.
pub struct Bytes {
    /// Where it lies.
    pub path: PathBuf,
    /// Its bytes as they lie on disk.
    pub raw: Vec<u8>,
}

impl Bytes {
    pub fn read(path: &Path) -> Result<Self, Problem> {
        let raw =
            reading::bytes(path).map_err(|e| Problem::new(path, format!("cannot read: {e}")))?;
        Ok(Self { path: path.into(), raw })
    }

    pub fn source(&self) -> SourceFile {
        SourceFile { path: self.path.clone(), sha256: hash::sha256_hex(&self.raw) }
    }

    pub fn packing(&self) -> Packing {
        match self.raw.as_slice() {
            [0x1f, 0x8b, ..] => Packing::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Packing::Zstd,
            [b'P', b'A', b'R', b'1', ..] => Packing::Parquet,
            _ => Packing::Plain,
        }
    }

    /// The problem of a stream that ended before its end.
    pub fn broken(&self, error: &io::Error) -> Problem {
        broken(&self.path, error)
    }

    /// The whole unpacked text of a file of settings or metadata.
    pub fn whole_text(&self) -> Result<Vec<u8>, Problem> {
        let mut text = Vec::new();
        Bounded::new(self.text()?, limits::TEXT_BYTES)
            .read_to_end(&mut text)
            .map_err(|e| self.broken(&e))?;
        Ok(text)
    }

    /// The unpacked text as a stream, without a byte-order mark. It fails beyond
    /// [`limits::FILE_BYTES`].
    ///
    /// # Errors
    /// UTF-16, which Windows shells write, and a stream that breaks at its start.
    pub fn text(&self) -> Result<Box<dyn Read + '_>, Problem> {
        let unpacked: Box<dyn Read> = match self.packing() {
            Packing::Gzip => Box::new(flate2::read::MultiGzDecoder::new(self.raw.as_slice())),
            Packing::Zstd => Box::new(
                zstd::stream::read::Decoder::with_buffer(self.raw.as_slice())
                    .map_err(|e| Problem::new(&self.path, format!("not readable as zstd: {e}")))?,
            ),
            Packing::Plain | Packing::Parquet => Box::new(self.raw.as_slice()),
        };
        let bounded = Box::new(Bounded::new(unpacked, limits::FILE_BYTES));
        without_byte_order_mark(&self.path, bounded)
    }
}

fn broken(path: &Path, error: &io::Error) -> Problem {
    match error.kind() {
        io::ErrorKind::FileTooLarge => Problem::new(path, error.to_string()),
        _ => Problem::new(path, format!("cut off or damaged: {error}")),
    }
}

fn without_byte_order_mark<'a>(
    path: &Path,
    mut stream: Box<dyn Read + 'a>,
) -> Result<Box<dyn Read + 'a>, Problem> {
    let mut head = Vec::with_capacity(3);
    stream.by_ref().take(3).read_to_end(&mut head).map_err(|e| broken(path, &e))?;
    // No text of ours holds a zero byte: that is UTF-16 without its mark.
    let marked = head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]);
    if marked || head.contains(&0) {
        return Err(Problem::new(path, "this is UTF-16; expected UTF-8: convert it with iconv"));
    }
    if head.starts_with(&[0xef, 0xbb, 0xbf]) {
        head.clear();
    }
    Ok(Box::new(io::Cursor::new(head).chain(stream)))
}
