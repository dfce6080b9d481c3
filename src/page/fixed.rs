//! The page's static part: built into the program; where there is a folder `page`, its files.

use std::path::Path;

use super::parts::static_files;
use super::{Files, PageError};

/// Each file's path in the page, in order, with its bytes.
static BUILT_IN: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/page_files.rs"));

/// Where the static part lies in a project.
const FOLDER: &str = "page";

/// The files of the static part.
///
/// # Errors
/// A file of the folder that cannot be read.
pub fn files() -> Result<Files, PageError> {
    let failed = |path: &str, error| PageError::Fixed { path: path.to_owned(), error };
    let here = Path::new(FOLDER);
    if !here.join("index.html").is_file() {
        let built_in = BUILT_IN.iter();
        return Ok(built_in.map(|(path, bytes)| ((*path).to_owned(), bytes.to_vec())).collect());
    }
    static_files(here)
        .map_err(|error| failed("", error))?
        .into_iter()
        .map(|(name, path)| match crate::reading::bytes(&path) {
            Ok(bytes) => Ok((name, bytes)),
            Err(error) => Err(failed(&name, error)),
        })
        .collect()
}
