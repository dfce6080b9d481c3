//! `proof.yaml`: what a proof says, before any of it is checked.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::Verdict;
use super::object::Id;
use crate::setup::ConfigError;

/// The name of the file in a proof's folder.
pub(crate) const FILE_NAME: &str = "proof.yaml";

/// What a proof says.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    /// Format of this file, 1.
    pub format: u64,
    /// The registered file's path in the repository it was committed to.
    pub file: String,
    /// Where the same bytes lie in this project, relative to its folder; `file` if not given.
    /// A place outside it proves nothing about the project, and fails.
    #[serde(default)]
    pub published: Option<PathBuf>,
    /// SHA-256 of those bytes, as `meta.json` of the bound runs carries it.
    pub sha256: String,
    /// The commit.
    pub commit: Id,
    /// The annotated tag that names the commit.
    #[serde(default)]
    pub tag: Option<TagRef>,
    /// The push that first carried the commit.
    #[serde(default)]
    pub push: Option<Push>,
    /// The jobs it concerns.
    #[serde(default)]
    pub jobs: Option<Jobs>,
    /// The verdict it claims; a weaker one is a failure.
    #[serde(default)]
    pub claim: Option<Verdict>,
}

/// An annotated tag.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TagRef {
    /// Its name.
    pub name: String,
    /// Its object.
    pub object: Id,
}

/// A push by the server's log.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Push {
    /// When, with its zone.
    pub time: String,
    /// The commit the branch pointed at after it: the commit or a later one.
    pub head: Id,
    /// Where the time was read, for readers.
    #[serde(default)]
    pub source: Option<String>,
}

/// The jobs a registration concerns.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jobs {
    /// When the first was submitted, with its zone.
    pub first_submitted: String,
    /// Their numbers, for readers.
    #[serde(default)]
    pub ids: Option<String>,
    /// Where the time was read, for readers.
    #[serde(default)]
    pub source: Option<String>,
}

impl Proof {
    /// Reads the `proof.yaml` of a folder.
    ///
    /// # Errors
    /// It cannot be read, or is not in the format.
    pub fn load(dir: &Path) -> Result<Self, ConfigError> {
        let path = dir.join(FILE_NAME);
        let proof: Self = crate::configs::yaml(&path)?;
        if proof.format != 1 {
            let message = format!("format: expected 1, found {}", proof.format);
            return Err(ConfigError::new(&path, message));
        }
        Ok(proof)
    }

    /// Where the registered bytes lie in this project.
    pub fn published(&self) -> PathBuf {
        self.published.clone().unwrap_or_else(|| self.file.clone().into())
    }

    /// The text of a `proof.yaml`; every word in quotes, so that none is taken for a number.
    pub fn to_yaml(&self) -> String {
        let mut text = String::from("format: 1\n");
        let mut line = |indent: &str, key: &str, value: &str| {
            let quoted = serde_json::Value::from(value);
            text.push_str(&format!("{indent}{key}: {quoted}\n"));
        };
        line("", "file", &self.file);
        if let Some(path) = &self.published {
            line("", "published", &path.to_string_lossy());
        }
        line("", "sha256", &self.sha256);
        line("", "commit", &self.commit.to_string());
        if let Some(claim) = self.claim {
            line("", "claim", claim.word());
        }
        if let Some(tag) = &self.tag {
            text.push_str("tag:\n");
            text.push_str(&block(&[
                ("name", Some(&tag.name)),
                ("object", Some(&tag.object.to_string())),
            ]));
        }
        if let Some(push) = &self.push {
            let head = push.head.to_string();
            text.push_str("push:\n");
            text.push_str(&block(&[
                ("time", Some(&push.time)),
                ("head", Some(&head)),
                ("source", push.source.as_ref()),
            ]));
        }
        if let Some(jobs) = &self.jobs {
            text.push_str("jobs:\n");
            text.push_str(&block(&[
                ("first_submitted", Some(&jobs.first_submitted)),
                ("ids", jobs.ids.as_ref()),
                ("source", jobs.source.as_ref()),
            ]));
        }
        text
    }
}

fn block(lines: &[(&str, Option<&String>)]) -> String {
    let there = lines.iter().filter_map(|(key, value)| value.map(|value| (key, value)));
    there
        .map(|(key, value)| format!("  {key}: {}\n", serde_json::Value::from(value.as_str())))
        .collect()
}
