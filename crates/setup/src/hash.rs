//! SHA-256, written as `sha256sum` writes it, so that readers can check it.

use std::io::{self, Read};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A file that was read, with the hash of its bytes as they lie on disk.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SourceFile {
    /// The path it was read from.
    pub path: PathBuf,
    /// SHA-256 of the bytes on disk, in lower-case hexadecimal.
    pub sha256: String,
}

/// SHA-256 in lower-case hexadecimal, as `sha256sum` prints it.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// SHA-256 of a stream's content.
///
/// # Errors
/// The stream cannot be read to its end.
pub fn sha256_of(mut stream: impl Read) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match stream.read(&mut buffer)? {
            0 => return Ok(hex(&hasher.finalize())),
            n => hasher.update(&buffer[..n]),
        }
    }
}

fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
