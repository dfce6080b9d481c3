//! A file as bytes: its hash, and its content behind gzip or zstd.
//!
//! Compression is told from the first bytes, not from the name, because files
//! in the field carry either without the other.

use std::borrow::Cow;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::reading::Bounded;
use crate::run::{Problem, SourceFile, Text};
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
    /// Its hash, once it was asked for.
    sha256: OnceLock<String>,
}

impl Bytes {
    pub fn read(path: &Path) -> Result<Self, Problem> {
        let raw =
            reading::bytes(path).map_err(|e| Problem::new(path, format!("cannot read: {e}")))?;
        Ok(Self { path: path.into(), raw, sha256: OnceLock::new() })
    }

    pub fn source(&self) -> SourceFile {
        let sha256 = self.sha256.get_or_init(|| hash::sha256_hex(&self.raw)).clone();
        SourceFile { path: self.path.clone(), sha256 }
    }

    pub fn packing(&self) -> Packing {
        match self.raw.as_slice() {
            [0x1f, 0x8b, ..] => Packing::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Packing::Zstd,
            [b'P', b'A', b'R', b'1', ..] => Packing::Parquet,
            _ => Packing::Plain,
        }
    }

    /// The whole unpacked text of a file of settings or metadata.
    pub fn whole_text(&self) -> Result<Vec<u8>, Problem> {
        let text = self.text(limits::TEXT_BYTES)?;
        text.whole(&self.path).map(<[u8]>::to_vec)
    }

    /// The unpacked text of at most `most` bytes, without a byte-order mark.
    ///
    /// # Errors
    /// UTF-16, which Windows shells write, and a stream that breaks at its start.
    pub fn text(&self, most: u64) -> Result<Text<'_>, Problem> {
        let raw = self.raw.as_slice();
        let (bytes, broken) = match self.packing() {
            Packing::Gzip => unpacked(flate2::read::MultiGzDecoder::new(raw), raw.len(), most),
            Packing::Zstd => match unpacked_at_once(raw, most) {
                Some(bytes) => (bytes.into(), None),
                None => {
                    let unpacker = zstd::stream::read::Decoder::with_buffer(raw).map_err(|e| {
                        Problem::new(&self.path, format!("not readable as zstd: {e}"))
                    })?;
                    unpacked(unpacker, raw.len(), most)
                }
            },
            _ if raw.len() as u64 > most => unpacked(raw, raw.len(), most),
            _ => (Cow::Borrowed(raw), None),
        };
        Text::new(&self.path, bytes, broken)
    }
}

/// What a zstd file unpacks to, straight into its place: a stream goes through memory of its
/// own. `None` of what is broken or larger, which is for the stream to tell.
fn unpacked_at_once(packed: &[u8], most: u64) -> Option<Vec<u8>> {
    /// No table of ours unpacks to as many times its size. Room is not touched before it is used.
    const TIMES: usize = 16;
    let mut bytes = Vec::with_capacity(packed.len().saturating_mul(TIMES).min(most as usize));
    zstd::bulk::Decompressor::new().ok()?.decompress_to_buffer(packed, &mut bytes).ok()?;
    Some(bytes)
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
