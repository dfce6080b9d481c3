//! What the outputs of a project are called, and by whom they are made.
//!
//! Two that are called the same would overwrite each other. Names that differ only in
//! capitals are the same here, as they are on many a disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::outputs::{DERIVED, FIGURES};
use super::spec::Analysis;
use crate::name::PlainName;
use crate::setup::yaml::ConfigError;

/// Who makes each output.
#[derive(Debug, Clone, Default)]
pub struct OutputNames(BTreeMap<String, String>);

/// An output that cannot be called so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OutputNameError {
    /// It is no plain name.
    #[error("{maker}: {error}")]
    NotPlain {
        /// Who would make it.
        maker: String,
        /// What is wrong with it.
        error: crate::name::NameError,
    },
    /// Something else is called so.
    #[error("{} would be made twice: by {first} and by {second}; call one of them otherwise", place.display())]
    Twice {
        /// The output, without its ending.
        place: PathBuf,
        /// Who makes it.
        first: String,
        /// Who would make it too.
        second: String,
    },
}

impl OutputNames {
    /// The tables and figures of some analyses.
    ///
    /// # Errors
    /// The first that cannot be called as it is; the error is of the later file.
    pub fn of(analyses: &[(PathBuf, Analysis)]) -> Result<Self, ConfigError> {
        let unusable = |path: &Path, e: &OutputNameError| ConfigError::new(path, e.to_string());
        let mut names = Self::default();
        for (path, analysis) in analyses {
            let of = path.display();
            for kind in &analysis.tables {
                let stem = analysis.table_stem(*kind);
                let maker = format!("table {kind} of {of}");
                names.claim(Path::new(DERIVED), &stem, maker).map_err(|e| unusable(path, &e))?;
            }
            for figure in &analysis.figures {
                let maker = format!("a figure of {of}");
                names
                    .claim(Path::new(FIGURES), &figure.name, maker)
                    .map_err(|e| unusable(path, &e))?;
            }
        }
        Ok(names)
    }

    /// Takes a name in a folder for `maker`.
    ///
    /// # Errors
    /// [`OutputNameError`].
    pub fn claim(
        &mut self,
        folder: &Path,
        name: &str,
        maker: String,
    ) -> Result<(), OutputNameError> {
        if let Err(error) = PlainName::new(name) {
            return Err(OutputNameError::NotPlain { maker, error });
        }
        let place = folder.join(name);
        let key = place.to_string_lossy().to_lowercase();
        match self.0.get(&key) {
            Some(first) => {
                Err(OutputNameError::Twice { place, first: first.clone(), second: maker })
            }
            None => {
                self.0.insert(key, maker);
                Ok(())
            }
        }
    }
}
