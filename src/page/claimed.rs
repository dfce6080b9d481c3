//! When the paper says that its registrations were committed: its claims, which nothing here
//! proves, as its repository is not here.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::setup::ConfigError;

/// What the paper's repository is said to hold.
const ARTIFACTS: &str = "paper/published/artifacts.yaml";

/// A file or a tag that the paper names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The file's path there.
    path: Option<String>,
    tag: Option<String>,
    /// The commit, as it is printed.
    commit: Option<String>,
    /// Where the paper says so.
    #[serde(rename = "where")]
    places: Vec<String>,
    /// The registrations here that are about the same test.
    #[serde(default, skip_serializing)]
    ours: Vec<String>,
}

#[derive(Deserialize)]
struct Artifacts {
    configs: Vec<Claim>,
    tags: Vec<Claim>,
}

/// The claims about each registration here, by its name; none without the file.
///
/// # Errors
/// The file cannot be read as what it is.
pub fn claims() -> Result<BTreeMap<String, Vec<Claim>>, ConfigError> {
    let path = Path::new(ARTIFACTS);
    let mut claims: BTreeMap<String, Vec<Claim>> = BTreeMap::new();
    if !path.is_file() {
        return Ok(claims);
    }
    let Artifacts { configs, tags } = crate::configs::yaml(path)?;
    for claim in configs.into_iter().chain(tags) {
        for name in &claim.ours {
            claims.entry(name.clone()).or_default().push(claim.clone());
        }
    }
    Ok(claims)
}
