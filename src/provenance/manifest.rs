//! The manifest of committed data: the SHA-256 of every file that nothing here makes, in
//! the format of `sha256sum -c`: configurations, runs, and the paper's values.
//!
//! It says that the bytes are the ones that were committed to, not who made them. Files
//! that are there but not in it are claimed by nobody, and are named. What is made from
//! them (`paper/derived`, the figures) is in `paper/numbers.json`.
//!
//! A folder may hold a list of its own (`results/sim/SHA256SUMS`): that list is in the
//! manifest and vouches for its files, which may be there or still to be made.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use crate::files::FileError;
use crate::{hash, reading};

/// Where the manifest lies, relative to the project's folder: where `sha256sum -c` runs.
pub const PATH: &str = "SHA256SUMS";

/// The folders whose files are committed data, and a page that stands among what is made.
pub(crate) const PLACES: [&str; 4] = ["configs", FIGURES_PAGE, "paper/published", "results"];

/// The page that shows the figures.
pub(crate) const FIGURES_PAGE: &str = "figures/README.md";

/// What a line of a manifest says.
const EXPECTED: &str = "expected HASH  PATH";

/// The SHA-256 of each file, by its path with forward slashes.
pub type Listing = BTreeMap<String, String>;

/// Hashes every file under the `PLACES` of `root`. Names that begin with a dot and
/// files that are being written (`.tmp`) are no data.
///
/// # Errors
/// A place cannot be read, or a name does not fit the format.
pub fn listing(root: &Path) -> Result<Listing, FileError> {
    let mut listing = Listing::new();
    for folder in PLACES.iter().map(|place| root.join(place)).filter(|place| place.exists()) {
        for entry in reading::walk(&folder) {
            let entry = entry.map_err(|e| FileError::new(e.path().unwrap_or(&folder), &e))?;
            if entry.file_type().is_dir() {
                continue;
            }
            let path = entry.path();
            let inside = path.strip_prefix(root).map_err(|e| FileError::new(path, e))?;
            let name =
                name(inside).ok_or_else(|| FileError::new(path, "not a name for a manifest"))?;
            let sha256 = sha256(path).map_err(|e| FileError::new(path, e))?;
            listing.insert(name, sha256);
        }
    }
    Ok(listing)
}

/// Takes the files that a folder's own list vouches for out of `found`, and says which
/// of them differ from it.
///
/// # Errors
/// A folder's list cannot be read or is not one.
pub fn vouched(root: &Path, found: &mut Listing) -> Result<Vec<String>, FileError> {
    let own = format!("/{PATH}");
    let lists: Vec<String> = found.keys().filter(|path| path.ends_with(&own)).cloned().collect();
    let mut differ = Vec::new();
    for list in lists {
        let place = root.join(&list);
        let text = reading::text(&place).map_err(|e| FileError::new(&place, e))?;
        let folder = list.trim_end_matches(PATH);
        for (i, line) in text.lines().enumerate() {
            let (pinned, path) = line.split_once("  ").ok_or_else(|| {
                FileError::new(format!("{}:{}", place.display(), i + 1), EXPECTED)
            })?;
            let path = format!("{folder}{path}");
            if let Some(sha256) = found.remove(&path)
                && sha256 != pinned
            {
                differ.push(format!("{path}: SHA-256 is {sha256}, {list} pins {pinned}"));
            }
        }
    }
    Ok(differ)
}

/// The manifest's text.
pub fn render(listing: &Listing) -> String {
    listing.iter().map(|(path, sha256)| format!("{sha256}  {path}\n")).collect()
}

/// Reads a manifest's text; `place` is only named in errors.
///
/// # Errors
/// A line that is not one of the format, a path that is there twice, or one outside.
pub fn parse(place: &Path, text: &str) -> Result<Listing, FileError> {
    let mut listing = Listing::new();
    for (i, line) in text.lines().enumerate() {
        let at = |why: &str| FileError::new(format!("{}:{}", place.display(), i + 1), why);
        let (sha256, path) = line.split_once("  ").ok_or_else(|| at(EXPECTED))?;
        if sha256.len() != 64 || !sha256.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(at("expected a SHA-256 in lower-case hexadecimal"));
        }
        let inside = PLACES.iter().any(|place| Path::new(path).starts_with(place));
        if !inside || path.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return Err(at(&format!("expected a path under {}", PLACES.join(", "))));
        }
        if listing.insert(path.to_owned(), sha256.to_owned()).is_some() {
            return Err(at("this path is there twice"));
        }
    }
    Ok(listing)
}

/// What differs between the manifest and the files, in order of path. Empty: all holds.
pub fn differences(recorded: &Listing, found: &Listing) -> Vec<String> {
    let paths: std::collections::BTreeSet<_> = recorded.keys().chain(found.keys()).collect();
    let difference = |path: &String| match (recorded.get(path), found.get(path)) {
        (Some(was), Some(is)) if was == is => None,
        (Some(was), Some(is)) => Some(format!("{path}: SHA-256 is {is}, recorded {was}")),
        (Some(_), None) => Some(format!("{path}: missing")),
        (None, _) => Some(format!("{path}: claimed by nobody: not in {PATH}")),
    };
    paths.into_iter().filter_map(difference).collect()
}

/// With forward slashes; none where `sha256sum` would have to escape it.
fn name(path: &Path) -> Option<String> {
    let parts: Option<Vec<&str>> = path.iter().map(|part| part.to_str()).collect();
    let name = parts?.join("/");
    (!name.contains(['\n', '\r', '\\'])).then_some(name)
}

/// Streamed: run directories hold files larger than memory should.
fn sha256(path: &Path) -> io::Result<String> {
    hash::sha256_of(reading::open(path)?)
}
