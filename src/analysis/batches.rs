//! Batches of runs and where each comes from, in order of preference: the cluster's pull,
//! else the simulator's stand-in (`configs/batches.yaml`; Table 19).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::{Deserialize, Serialize};

use crate::campaign::CampaignRun;
use crate::run::Meta;
use crate::setup::{Arm, ConfigError};

/// Where the batches are declared, relative to the project's folder.
pub(crate) const BATCHES: &str = "configs/batches.yaml";

/// Every batch, as the file states them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Batches {
    /// The campaign whose tests they are.
    pub campaign: PathBuf,
    /// The batches, in the order of the paper.
    pub batches: Vec<Batch>,
}

/// Runs that were made together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Batch {
    /// Its name.
    pub batch: String,
    /// What it holds.
    pub title: String,
    /// The rows of Table 19 that it is, by their `result`.
    #[serde(default)]
    pub published: Vec<String>,
    /// Its tests in the campaign.
    pub tests: Vec<String>,
    /// Where it comes from: the first that is there.
    pub from: Vec<Origin>,
}

/// One place where a batch may come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Origin {
    /// Run directories.
    Runs(RunsOrigin),
    /// Runs of a campaign, simulated in memory when they are asked for.
    Simulated(SimulatedOrigin),
}

/// Run directories by glob; `*` stays within one folder, `**` does not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunsOrigin {
    /// Globs, relative to the project's folder.
    pub runs: Vec<String>,
    /// Of these not those that fit one of these globs.
    #[serde(default)]
    pub except: Vec<String>,
    /// Of these only runs of these cells; all, if there are none.
    #[serde(default)]
    pub cells: Vec<String>,
    /// Of these only runs of these arms; all, if there are none.
    #[serde(default)]
    pub arms: Vec<Arm>,
}

/// Runs of a campaign.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimulatedOrigin {
    /// The campaign's file.
    pub simulate: PathBuf,
    /// Its tests.
    pub tests: Vec<String>,
    /// Of these only runs of these cells; all, if there are none.
    #[serde(default)]
    pub cells: Vec<String>,
}

/// Where a batch does come from.
#[derive(Debug, Clone, PartialEq)]
pub enum Chosen<'a> {
    /// These run directories; the place in `from`, and what else is asked of them.
    Runs(usize, &'a RunsOrigin, Vec<PathBuf>),
    /// These runs of a campaign; the place in `from`.
    Simulated(usize, &'a SimulatedOrigin),
    /// Nothing of it is there.
    Missing,
}

impl Batches {
    /// Reads the file; none when there is no file.
    ///
    /// # Errors
    /// As [`crate::configs::yaml`]; a name that is there twice, a batch from nowhere, a glob that is
    /// none.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        if !path.is_file() {
            return Ok(Self::default());
        }
        let batches: Self = crate::configs::yaml(path)?;
        let mut seen = BTreeSet::new();
        for batch in &batches.batches {
            let wrong = |what: String| Err(ConfigError::new(path, what));
            if !seen.insert(&batch.batch) {
                return wrong(format!("batch {}: this name is there twice", batch.batch));
            }
            if batch.from.is_empty() {
                return wrong(format!("batch {}: from: expected at least one", batch.batch));
            }
            for origin in &batch.from {
                if let Origin::Runs(runs) = origin
                    && let Err(e) = globs(&runs.runs).and_then(|_| globs(&runs.except))
                {
                    return wrong(format!("batch {}: runs: {e}", batch.batch));
                }
            }
        }
        Ok(batches)
    }

    /// The batch of a name.
    pub fn get(&self, name: &str) -> Option<&Batch> {
        self.batches.iter().find(|batch| batch.batch == name)
    }
}

impl Batch {
    /// The first of its places that is there, among the given run directories.
    pub fn choose(&self, dirs: &[PathBuf]) -> Chosen<'_> {
        for (place, origin) in self.from.iter().enumerate() {
            match origin {
                Origin::Simulated(simulated) => return Chosen::Simulated(place, simulated),
                Origin::Runs(runs) => {
                    // Checked when the file was read.
                    let set = globs(&runs.runs).unwrap_or_default();
                    let except = globs(&runs.except).unwrap_or_default();
                    let belongs = |dir: &&PathBuf| {
                        set.is_match(dir) && !except.is_match(dir) && runs.may_hold(dir)
                    };
                    let found: Vec<PathBuf> = dirs.iter().filter(belongs).cloned().collect();
                    if !found.is_empty() {
                        return Chosen::Runs(place, runs, found);
                    }
                }
            }
        }
        Chosen::Missing
    }
}

impl RunsOrigin {
    /// Whether a directory's metadata let it belong to the batch; one that cannot be read
    /// may, so that its problem is said.
    fn may_hold(&self, dir: &Path) -> bool {
        if self.cells.is_empty() && self.arms.is_empty() {
            return true;
        }
        let text = crate::reading::bytes(dir.join("meta.json")).unwrap_or_default();
        let meta: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
        let word = |key: &str| meta.get(key).and_then(serde_json::Value::as_str);
        let of_cell = |cell: &str| self.cells.iter().any(|one| one == cell);
        let of_arm = |arm: &str| self.arms.contains(&arm.into());
        (self.cells.is_empty() || word("cell").is_none_or(of_cell))
            && (self.arms.is_empty() || word("arm").is_none_or(of_arm))
    }

    /// Whether a run found here belongs to the batch.
    pub fn holds(&self, meta: &Meta) -> bool {
        (self.cells.is_empty() || self.cells.contains(&meta.cell))
            && (self.arms.is_empty() || self.arms.contains(&meta.arm))
    }
}

impl SimulatedOrigin {
    /// Whether a run of the campaign belongs to the batch.
    pub fn holds(&self, run: &CampaignRun<'_>) -> bool {
        let test = run.planned.test;
        self.tests.contains(&test.test)
            && (self.cells.is_empty() || self.cells.contains(&test.cell))
    }
}

/// Globs as one matcher.
///
/// # Errors
/// One of them is none.
pub(crate) fn globs(globs: &[String]) -> Result<GlobSet, globset::Error> {
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        set.add(GlobBuilder::new(glob).literal_separator(true).build()?);
    }
    set.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch() -> Batch {
        let text = "{batch: e2, title: x, tests: [paired], from: [{runs: ['results/nova/e2_*/**']}, {runs: ['results/sim/e2/*']}, {simulate: c.yaml, tests: [e2]}]}";
        serde_yaml::from_str(text).unwrap()
    }

    #[test]
    fn a_pull_is_preferred_to_its_stand_ins() {
        let dirs = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        let pull = dirs(&["results/nova/e2_1/agentload_burst/a", "results/sim/e2/a"]);
        assert!(matches!(batch().choose(&pull), Chosen::Runs(0, _, found) if found.len() == 1));
        let committed = dirs(&["results/sim/e2/a", "results/sim/e2/b"]);
        assert!(
            matches!(batch().choose(&committed), Chosen::Runs(1, _, found) if found.len() == 2)
        );
        assert!(matches!(batch().choose(&[]), Chosen::Simulated(2, _)));
    }

    #[test]
    fn without_a_stand_in_it_is_missing() {
        let batch = Batch { from: batch().from[..2].to_vec(), ..batch() };
        assert_eq!(batch.choose(&[]), Chosen::Missing);
    }
}
