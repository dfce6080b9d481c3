//! The page's static part: built into the program; where there is a folder `page`, its files.

use std::path::Path;

use super::parts::static_files;
use super::{Files, PageError};
use crate::files::FileError;

/// Each file's path in the page, in order, with its bytes.
static BUILT_IN: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/page_files.rs"));

/// Where the static part lies in a project.
const FOLDER: &str = "page";

/// The files of the static part.
///
/// # Errors
/// A file of the folder that cannot be read.
pub fn files() -> Result<Files, PageError> {
    let here = Path::new(FOLDER);
    let failed = |name: &str, why: std::io::Error| FileError::new(here.join(name), why);
    if !here.join("index.html").is_file() {
        let built_in = BUILT_IN.iter();
        return Ok(built_in.map(|(path, bytes)| ((*path).to_owned(), bytes.to_vec())).collect());
    }
    static_files(here)
        .map_err(|why| failed("", why))?
        .into_iter()
        .map(|(name, path)| match crate::reading::bytes(&path) {
            Ok(bytes) => Ok((name, bytes)),
            Err(why) => Err(failed(&name, why).into()),
        })
        .collect()
}
