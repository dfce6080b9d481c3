//! What the outputs of a project are called, and by whom they are made.
//!
//! Two that are called the same would overwrite each other. Names that differ only in
//! capitals are the same here, as they are on many a disk.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};

use super::output_files::{DERIVED, FIGURES};
use super::spec::Analysis;
use crate::name::PlainName;
use crate::setup::yaml::ConfigError;

/// Who makes each output.
#[derive(Debug, Clone, Default)]
pub struct OutputNames(BTreeMap<String, String>);

impl OutputNames {
    /// The tables and figures of some analyses.
    ///
    /// # Errors
    /// The first that cannot be called as it is; the error is of the later file.
    pub fn of(analyses: &[(PathBuf, Analysis)]) -> Result<Self, ConfigError> {
        let mut names = Self::default();
        for (path, analysis) in analyses {
            let of = path.display();
            for kind in &analysis.tables {
                let stem = analysis.table_stem(*kind);
                let maker = format!("table {kind} of {of}");
                names
                    .claim(Path::new(DERIVED), &stem, maker)
                    .map_err(|e| ConfigError::new(path, e))?;
            }
            for figure in &analysis.figures {
                let maker = format!("a figure of {of}");
                names
                    .claim(Path::new(FIGURES), &figure.name, maker)
                    .map_err(|e| ConfigError::new(path, e))?;
            }
        }
        Ok(names)
    }

    /// Takes a name in a folder for `maker`.
    ///
    /// # Errors
    /// It is no plain name, or something else is called so.
    pub fn claim(&mut self, folder: &Path, name: &str, maker: String) -> Result<(), String> {
        PlainName::new(name).map_err(|error| format!("{maker}: {error}"))?;
        let place = folder.join(name);
        match self.0.entry(place.to_string_lossy().to_lowercase()) {
            Entry::Occupied(first) => Err(format!(
                "{} would be made twice: by {} and by {maker}; call one of them otherwise",
                place.display(),
                first.get()
            )),
            Entry::Vacant(free) => {
                free.insert(maker);
                Ok(())
            }
        }
    }
}
