//! The files of one folder of the configuration.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::setup::ConfigError;
use crate::setup::yaml::{self, check_name};

/// One folder of the configuration.
pub(super) struct Folder<'a> {
    pub dir: PathBuf,
    /// Files of the configuration, with their bytes.
    pub files: &'a BTreeMap<PathBuf, Vec<u8>>,
    /// Which of them.
    pub counts: fn(&Path, &[u8]) -> bool,
}

impl Folder<'_> {
    /// Only those of its files.
    pub fn those(self, counts: fn(&Path, &[u8]) -> bool) -> Self {
        Self { counts, ..self }
    }

    /// Its files with their bytes, in order of path.
    fn files(&self) -> impl Iterator<Item = (&PathBuf, &Vec<u8>)> {
        let inside = self.files.iter().filter(|(path, _)| path.parent() == Some(&self.dir));
        inside.filter(|(path, bytes)| (self.counts)(path, bytes))
    }

    /// A line per file, as `sha256sum` prints it.
    pub fn listing(&self, folder: &str) -> String {
        let line = |(path, bytes): (&PathBuf, &Vec<u8>)| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            format!("{}  {folder}/{name}\n", yaml::sha256(bytes))
        };
        self.files().map(line).collect()
    }

    /// Every file's value, by its stem, which must be the name it states.
    pub fn each<T>(
        &self,
        parse: impl Fn(&Path, &[u8]) -> Result<T, ConfigError>,
        name: impl Fn(&T) -> &String,
    ) -> Result<BTreeMap<String, T>, ConfigError> {
        let mut found = BTreeMap::new();
        for (path, bytes) in self.files() {
            let item = parse(path, bytes)?;
            check_name(path, name(&item))?;
            found.insert(name(&item).clone(), item);
        }
        Ok(found)
    }
}
