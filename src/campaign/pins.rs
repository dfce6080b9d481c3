//! The SHA-256 of every file of a campaign's runs, in the form `sha256sum -c`
//! reads: which bytes a run must have, wherever and whenever it is made.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use crate::files::write_beside;
use crate::hash::sha256_hex;
use crate::reading;

/// The file's name in the campaign's folder.
pub const FILE: &str = "SHA256SUMS";

/// Hashes by path, relative to the campaign's folder, with `/` between folders.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pins(BTreeMap<String, String>);

impl Pins {
    /// The pins of a campaign's folder; `None` if it has none.
    ///
    /// # Errors
    /// The file cannot be read, or a line is not `hash  path`.
    pub fn load(out: &Path) -> io::Result<Option<Self>> {
        let text = match reading::text(out.join(FILE)) {
            Ok(text) => text,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(e),
        };
        let pins: Option<BTreeMap<String, String>> = text
            .lines()
            .map(|line| line.split_once("  ").map(|(hash, path)| (path.into(), hash.into())))
            .collect();
        let wrong = || io::Error::new(io::ErrorKind::InvalidData, "expected lines of hash  path");
        pins.map(|pins| Some(Self(pins))).ok_or_else(wrong)
    }

    /// Writes the pins into a campaign's folder.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, out: &Path) -> io::Result<()> {
        let text: String = self.0.iter().map(|(path, hash)| format!("{hash}  {path}\n")).collect();
        write_beside(&out.join(FILE), text.as_bytes())
    }

    /// Hashes every file of the run directory `dir` under `out`.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn of_run(out: &Path, dir: &Path) -> io::Result<Self> {
        let mut pins = BTreeMap::new();
        for entry in fs::read_dir(out.join(dir))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let hash = sha256_hex(&reading::bytes(entry.path())?);
            pins.insert(format!("{}/{name}", posix(dir)), hash);
        }
        Ok(Self(pins))
    }

    /// Pins the files of the run `dir` as they are now.
    pub fn replace(&mut self, dir: &Path, found: Self) {
        let prefix = format!("{}/", posix(dir));
        self.0.retain(|path, _| !path.starts_with(&prefix));
        self.0.extend(found.0);
    }

    /// What differs between these pins of the run `dir` and what was found there:
    /// a line per file. Empty for a run that is not pinned at all.
    pub fn differences(&self, dir: &Path, found: &Self) -> Vec<String> {
        let prefix = format!("{}/", posix(dir));
        let mut pinned = self.0.iter().filter(|(path, _)| path.starts_with(&prefix)).peekable();
        if pinned.peek().is_none() {
            return Vec::new();
        }
        let new = found.0.keys().filter(|path| !self.0.contains_key(*path));
        let mut lines: Vec<String> = new.map(|path| format!("{path}: not pinned")).collect();
        lines.extend(pinned.filter_map(|(path, hash)| match found.0.get(path) {
            None => Some(format!("{path}: missing")),
            Some(now) if now != hash => Some(format!("{path}: SHA-256 is {now}, pinned {hash}")),
            Some(_) => None,
        }));
        lines
    }
}

fn posix(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}
