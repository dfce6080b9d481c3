//! A file as bytes: its hash, and its content behind gzip or zstd.

use std::borrow::Cow;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::run::{Problem, SourceFile, Text};
use crate::{hash, reading};
pub use trapcheck_setup::packing::Packing;
use trapcheck_setup::packing::unpack;

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
        Packing::of(&self.raw)
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

fn unpacked<'a>(stream: impl Read, packed: usize, most: u64) -> (Cow<'a, [u8]>, Option<io::Error>) {
    let mut bytes = Vec::new();
    let broken = unpack(stream, packed, most, &mut bytes);
    (bytes.into(), broken)
}
