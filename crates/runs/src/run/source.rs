//! A file that was read, known by its hash.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A file that was read, with the hash of its bytes as they lie on disk.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SourceFile {
    /// The path it was read from.
    pub path: PathBuf,
    /// SHA-256 of the bytes on disk, in lower-case hexadecimal.
    pub sha256: String,
}
