//! What an analysis reads of the configuration. One that names it does not change with a cell
//! or a registration that a user adds for runs of his own.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::nearest::unknown;
use crate::setup::{ConfigError, Configs};

use super::spec::Analysis;
use super::store::{Store, Trust};

/// The file that an analysis names with `reads`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reads {
    /// The cells, by name.
    pub cells: BTreeSet<String>,
    /// The registrations, by name.
    pub registrations: BTreeSet<String>,
}

/// A store for each part of the configuration that analyses read.
#[derive(Debug)]
pub struct Stores<'a>(BTreeMap<Option<PathBuf>, Store<'a>>);

impl Reads {
    /// The part of a configuration that a file names.
    ///
    /// # Errors
    /// As [`crate::configs::yaml`]; a cell or a registration that there is not, or a
    /// registration of a cell that is not named.
    pub(crate) fn narrowed(path: &Path, configs: &Configs) -> Result<Configs, ConfigError> {
        let Self { cells, registrations } = crate::configs::yaml(path)?;
        let check = |what: &str, names: &BTreeSet<String>, known: Vec<&String>| {
            let stranger = names.iter().find(|name| !known.contains(name));
            let known = known.iter().map(|name| name.as_str());
            stranger.map_or(Ok(()), |name| {
                Err(ConfigError::new(path, unknown(what, name, &format!("configs/{what}s"), known)))
            })
        };
        check("cell", &cells, configs.cells.keys().collect())?;
        check("registration", &registrations, configs.registrations.keys().collect())?;
        let mut narrowed = configs.clone();
        narrowed.cells.retain(|name, _| cells.contains(name));
        narrowed.registrations.retain(|name, _| registrations.contains(name));
        let homeless = narrowed
            .registrations
            .values()
            .find(|file| !narrowed.cells.contains_key(&file.registration.cell));
        match homeless {
            Some(file) => {
                let (name, cell) = (&file.registration.name, &file.registration.cell);
                Err(ConfigError::new(
                    path,
                    format!("cells: {cell} is missing, which {name} is about"),
                ))
            }
            None => Ok(narrowed),
        }
    }
}

impl<'a> Stores<'a> {
    /// A store for each of these, kept in a folder if there is one.
    pub fn new(
        configs: impl IntoIterator<Item = (Option<&'a PathBuf>, &'a Configs)>,
        kept: Option<&Path>,
    ) -> Self {
        let store = |(path, configs): (Option<&'a PathBuf>, &'a Configs)| {
            (path.cloned(), Store::new(configs).kept_in(kept))
        };
        Self(configs.into_iter().map(store).collect())
    }

    /// The store of an analysis.
    pub fn of(&self, analysis: &Analysis) -> Option<&Store<'a>> {
        self.0.get(&analysis.reads)
    }

    /// What was taken from kept files so far, and what was refused.
    pub fn trust(&self) -> Trust {
        let mut all = Trust::default();
        for trust in self.0.values().map(Store::trust) {
            all.same_inputs.extend(trust.same_inputs);
            all.not_here.extend(trust.not_here);
            all.refused.extend(trust.refused);
        }
        all
    }
}
