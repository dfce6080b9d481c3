//! How a file is packed, told from its first bytes and not from its name, because files in the
//! field carry either without the other; and unpacking within bounds.

use std::io::{self, ErrorKind, Read};

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

impl Packing {
    /// Of a file that begins with these bytes.
    pub const fn of(bytes: &[u8]) -> Self {
        match bytes {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            [b'P', b'A', b'R', b'1', ..] => Self::Parquet,
            _ => Self::Plain,
        }
    }
}

/// A stream that fails where it gives more than it may: what a packed file unpacks to is
/// not to be known beforehand.
pub struct Bounded<R> {
    inner: R,
    left: u64,
    most: u64,
}

impl<R: Read> Bounded<R> {
    /// At most `most` bytes of `inner`.
    pub fn new(inner: R, most: u64) -> Self {
        Self { inner, left: most, most }
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.left = self
            .left
            .checked_sub(n as u64)
            .ok_or_else(|| too_large("it unpacks to more", self.most))?;
        Ok(n)
    }
}

/// Puts into `bytes` what a stream gives before it ends or breaks; says why it broke. `packed`
/// bytes are behind it.
pub fn unpack(
    stream: impl Read,
    packed: usize,
    most: u64,
    bytes: &mut Vec<u8>,
) -> Option<io::Error> {
    // So much at a time: what a stream gave in the call that fails is lost.
    const PIECE: usize = 8 << 10;
    let mut stream = Bounded::new(stream, most);
    bytes.clear();
    bytes.reserve(packed.saturating_mul(4).min(most as usize));
    loop {
        let end = bytes.len();
        bytes.resize(end + PIECE, 0);
        let read = stream.read(&mut bytes[end..]);
        bytes.truncate(end + read.as_ref().map_or(0, |n| *n));
        match read {
            Ok(0) => return None,
            Ok(_) => {}
            Err(e) => return Some(e),
        }
    }
}

/// Why a file of more than `most` bytes is refused; `found` says what there is.
pub fn too_large(found: &str, most: u64) -> io::Error {
    let message = format!("too large: expected at most {}, {found}", size_of(most));
    io::Error::new(ErrorKind::FileTooLarge, message)
}

/// A size in words.
pub fn size_of(bytes: u64) -> String {
    match bytes {
        0..0x400 => format!("{bytes} bytes"),
        0x400..0x10_0000 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_that_gives_more_than_it_may_fails() {
        let mut stream = Bounded::new(io::repeat(0).take(4097), 4096);
        let error = stream.read_to_end(&mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        assert!(Bounded::new(io::repeat(0).take(4096), 4096).read_to_end(&mut Vec::new()).is_ok());
    }
}
