//! A file as bytes: its hash, and its content behind gzip or zstd.
//!
//! Compression is told from the first bytes, not from the name, because files
//! in the field carry either without the other.

use std::borrow::Cow;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::problem::Problem;
use crate::reading::Bounded;
use crate::{hash, reading};

/// A file that was read, with the hash of its bytes as they lie on disk.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SourceFile {
    /// The path it was read from.
    pub path: PathBuf,
    /// SHA-256 of the bytes on disk, in lower-case hexadecimal.
    pub sha256: String,
}

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
    pub path: PathBuf,
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

    /// The unpacked text of at most `most` bytes, without a byte-order mark.
    ///
    /// # Errors
    /// UTF-16, which Windows shells write, and a stream that breaks at its start.
    pub fn text(&self, most: u64) -> Result<Text<'_>, Problem> {
        let raw = self.raw.as_slice();
        let (bytes, broken) = match self.packing() {
            Packing::Gzip => unpacked(flate2::read::MultiGzDecoder::new(raw), raw.len(), most),
            Packing::Zstd => {
                let unpacker = zstd::stream::read::Decoder::with_buffer(raw)
                    .map_err(|e| Problem::new(&self.path, format!("not readable as zstd: {e}")))?;
                unpacked(unpacker, raw.len(), most)
            }
            _ if raw.len() as u64 > most => unpacked(raw, raw.len(), most),
            _ => (Cow::Borrowed(raw), None),
        };
        Text { bytes, skipped: 0, broken }.without_byte_order_mark(&self.path)
    }
}

/// A file's text in memory.
#[derive(Debug)]
pub struct Text<'a> {
    bytes: Cow<'a, [u8]>,
    /// Bytes of its mark.
    skipped: usize,
    /// Why there is no more of it, where its stream broke.
    pub broken: Option<io::Error>,
}

impl Text<'_> {
    /// What there is of it.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.skipped..]
    }

    /// All of it.
    ///
    /// # Errors
    /// Its stream broke.
    pub fn whole(&self, file: &Path) -> Result<&[u8], Problem> {
        self.broken.as_ref().map_or_else(|| Ok(self.bytes()), |e| Err(broken(file, e)))
    }

    fn without_byte_order_mark(mut self, file: &Path) -> Result<Self, Problem> {
        let head = &self.bytes[..self.bytes.len().min(3)];
        if head.len() < 3 {
            self.whole(file)?;
        }
        // No text of ours holds a zero byte: that is UTF-16 without its mark.
        let marked = head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]);
        if marked || head.contains(&0) {
            let message = "this is UTF-16; expected UTF-8: convert it with iconv";
            return Err(Problem::new(file, message));
        }
        if head == [0xef, 0xbb, 0xbf] {
            self.skipped = 3;
        }
        Ok(self)
    }
}

/// What a stream gives before it ends or breaks, and why it broke.
fn unpacked<'a>(stream: impl Read, packed: usize, most: u64) -> (Cow<'a, [u8]>, Option<io::Error>) {
    // So much at a time: what a stream gave in the call that fails is lost.
    const PIECE: usize = 8 << 10;
    let mut stream = Bounded::new(stream, most);
    let mut bytes = Vec::with_capacity(packed.saturating_mul(4).min(most as usize));
    loop {
        let end = bytes.len();
        bytes.resize(end + PIECE, 0);
        let read = stream.read(&mut bytes[end..]);
        bytes.truncate(end + read.as_ref().map_or(0, |n| *n));
        match read {
            Ok(0) => return (bytes.into(), None),
            Ok(_) => {}
            Err(e) => return (bytes.into(), Some(e)),
        }
    }
}

fn broken(path: &Path, error: &io::Error) -> Problem {
    match error.kind() {
        io::ErrorKind::FileTooLarge => Problem::new(path, error.to_string()),
        _ => Problem::new(path, format!("cut off or damaged: {error}")),
    }
}
