//! A file that was read: known by its hash, its text unpacked.

use std::borrow::Cow;
use std::io;
use std::path::Path;

pub use crate::hash::SourceFile;

use super::problem::Problem;

/// A file's unpacked text in memory, without a byte-order mark.
#[derive(Debug)]
pub struct Text<'a> {
    bytes: Cow<'a, [u8]>,
    /// Bytes of its mark.
    skipped: usize,
    /// Why there is no more of it, where its stream broke.
    pub broken: Option<io::Error>,
}

impl<'a> Text<'a> {
    /// What was unpacked of `file`, and why there is no more where its stream broke.
    ///
    /// # Errors
    /// UTF-16, which Windows shells write, and a stream that broke at its start.
    pub fn new(
        file: &Path,
        bytes: Cow<'a, [u8]>,
        broken: Option<io::Error>,
    ) -> Result<Self, Problem> {
        let mut text = Self { bytes, skipped: 0, broken };
        let head = &text.bytes[..text.bytes.len().min(3)];
        if head.len() < 3 {
            text.whole(file)?;
        }
        // No text of ours holds a zero byte: that is UTF-16 without its mark.
        let marked = head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]);
        if marked || head.contains(&0) {
            let message = "this is UTF-16; expected UTF-8: convert it with iconv";
            return Err(Problem::new(file, message));
        }
        if head == [0xef, 0xbb, 0xbf] {
            text.skipped = 3;
        }
        Ok(text)
    }

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
}

fn broken(path: &Path, error: &io::Error) -> Problem {
    match error.kind() {
        io::ErrorKind::FileTooLarge => Problem::new(path, error.to_string()),
        _ => Problem::new(path, format!("cut off or damaged: {error}")),
    }
}
