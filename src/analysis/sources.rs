//! What of the published data is here: each batch and each artifact of Table 19 and of the
//! repository's own list is present, stood in for, or missing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_yaml::Value;

use crate::published;
use crate::setup::Campaign;
use crate::setup::ConfigError;
use crate::table::{Cell, Col, Heading, Table};

use super::batches::{Batch, Chosen, Origin, SimulatedOrigin};
use super::outputs::Project;
use super::simulated::SimulatedError;

const TABLES: &str = "paper/published/tables.yaml";
const ARTIFACTS: &str = "paper/published/artifacts.yaml";

/// A batch of runs, or another artifact.
struct Source {
    key: String,
    result: String,
    batch: Option<String>,
    state: &'static str,
    /// How many runs a batch has.
    runs: Option<u64>,
    /// Where it comes from; `None` for an artifact that is not here.
    from: Option<String>,
    belongs_at: String,
}

const COLUMNS: &[Col<Source>] = &[
    Heading("result", "", "The paper's name of the result").key(|of| Cell::text(&of.result)),
    Heading("batch", "", "Name of the batch in configs/batches.yaml")
        .key(|of| of.batch.as_ref().map_or(Cell::Empty, Cell::text)),
    Heading("state", "", "present, stood in for or missing").new(|of| Cell::text(of.state)),
    Heading("runs", "", "How many runs").new(|of| of.runs.map_or(Cell::Empty, Cell::Count)),
    Heading("from", "", "Where they are taken from")
        .new(|of| of.from.as_ref().map_or(Cell::Empty, Cell::text)),
    Heading("belongs_at", "", "Where the pull belongs").new(|of| Cell::text(&of.belongs_at)),
];

/// A published item: what it is, and the paths it has in the original repository.
struct Item {
    result: String,
    paths: Vec<String>,
}

/// The table: batches of runs, in the order of `configs/batches.yaml`; with `all`, then every
/// other artifact, which no command reads.
///
/// # Errors
/// A published file or a campaign that cannot be used.
pub fn sources(project: &Project, all: bool) -> Result<Table, SimulatedError> {
    let items = if all { items()? } else { Vec::new() };
    let mut rows = Vec::new();
    let mut campaigns = Campaigns::default();
    for batch in &project.batches.batches {
        rows.push(of_batch(batch, project, &mut campaigns)?);
    }
    let pulls: Vec<&String> = project
        .batches
        .batches
        .iter()
        .flat_map(|batch| &batch.from)
        .filter_map(|origin| match origin {
            Origin::Runs(runs) => Some(&runs.runs),
            Origin::Simulated(_) => None,
        })
        .flatten()
        .collect();
    let of_a_batch = |path: &str| pulls.iter().any(|glob| glob.trim_end_matches("**") == path);
    for item in items {
        for path in &item.paths {
            if of_a_batch(path) {
                continue;
            }
            let there = !is_ours(path) && exists(path);
            let state = if there { "present" } else { "missing" };
            rows.push(Source {
                key: format!("{}/{path}", item.result),
                result: item.result.clone(),
                batch: None,
                state,
                runs: None,
                from: there.then(|| path.clone()),
                belongs_at: path.clone(),
            });
        }
    }
    let title = "Published data: what is here, what stands in, where the rest belongs";
    Ok(Table::of("sources", title, COLUMNS, rows, |of| (of.key.clone(), Vec::new())))
}

fn of_batch(
    batch: &Batch,
    project: &Project,
    campaigns: &mut Campaigns,
) -> Result<Source, SimulatedError> {
    let belongs = match batch.from.first() {
        Some(Origin::Runs(runs)) => {
            runs.runs.iter().map(|g| g.trim_end_matches("**")).collect::<Vec<_>>().join(", ")
        }
        _ => String::new(),
    };
    let (state, runs, from) = match batch.choose(&project.runs) {
        Chosen::Runs(place, origin, dirs) => {
            let state = if place == 0 { "present" } else { "stood in for" };
            (state, dirs.len() as u64, origin.runs.join(", "))
        }
        Chosen::Simulated(_, origin) => {
            let count = campaigns.count(origin)?;
            let tests = origin.tests.join(", ");
            let words =
                format!("{} ({tests}), simulated when asked for", origin.simulate.display());
            ("stood in for", count, words)
        }
        Chosen::Missing => ("missing", 0, String::new()),
    };
    let result =
        if batch.published.is_empty() { batch.title.clone() } else { batch.published.join(", ") };
    Ok(Source {
        key: batch.batch.clone(),
        result,
        batch: Some(batch.batch.clone()),
        state,
        runs: Some(runs),
        from: Some(from),
        belongs_at: belongs,
    })
}

/// How many runs of which cell each test of a campaign has, counted once.
#[derive(Default)]
struct Campaigns(BTreeMap<PathBuf, Vec<(String, String)>>);

impl Campaigns {
    fn count(&mut self, origin: &SimulatedOrigin) -> Result<u64, SimulatedError> {
        let path = &origin.simulate;
        if !self.0.contains_key(path) {
            let campaign = crate::configs::read(path, Campaign::parse)?;
            let runs = campaign.runs().into_iter();
            let runs = runs.map(|run| (run.test.test.clone(), run.test.cell.clone())).collect();
            self.0.insert(path.clone(), runs);
        }
        let wanted = |(test, cell): &&(String, String)| {
            origin.tests.contains(test) && (origin.cells.is_empty() || origin.cells.contains(cell))
        };
        Ok(self.0[path].iter().filter(wanted).count() as u64)
    }
}

/// Table 19's rows, then the repository's data that no row names.
fn items() -> Result<Vec<Item>, ConfigError> {
    let tables = published::tables(Path::new(TABLES))?;
    let table_19 = tables.into_iter().find(|table| table.id == "table_19");
    let mut items: Vec<Item> = Vec::new();
    for row in table_19.map_or_else(Vec::new, |table| table.rows) {
        let of = |name: &str| row.iter().find(|(field, _)| field == name).map(|(_, v)| v.clone());
        let paths = match of("paths") {
            Some(Value::Sequence(paths)) => {
                paths.iter().filter_map(|p| p.as_str().map(str::to_owned)).collect()
            }
            _ => Vec::new(),
        };
        let result = of("result").map_or(String::new(), |v| published::shown(&v));
        items.push(Item { result, paths });
    }
    let artifacts: BTreeMap<String, Value> = crate::configs::yaml(Path::new(ARTIFACTS))?;
    let known: BTreeSet<String> = items.iter().flat_map(|item| item.paths.clone()).collect();
    let data = artifacts.get("data").and_then(Value::as_sequence).cloned().unwrap_or_default();
    for entry in data {
        let word = |key: &str| entry.get(key).and_then(Value::as_str).map(str::to_owned);
        if let Some(path) = word("path").filter(|path| !known.contains(path)) {
            items.push(Item { result: word("holds").unwrap_or_default(), paths: vec![path] });
        }
    }
    Ok(items)
}

/// Whether a path of the paper's repository is where this one writes its own outputs, so
/// that what lies there says nothing about the paper's data.
fn is_ours(path: &str) -> bool {
    ["paper/", "figures/"].iter().any(|own| path.starts_with(own))
}

/// Whether anything lies where a path or a glob says; a README that keeps the place is not
/// the data.
fn exists(path: &str) -> bool {
    if path.trim_end_matches('/') == "results/nova" {
        return super::batches::globs(&["results/nova/*/**".to_owned()]).is_ok_and(|set| {
            walkdir::WalkDir::new("results/nova")
                .into_iter()
                .flatten()
                .any(|e| set.is_match(e.path()))
        });
    }
    let Some(star) = path.find('*') else { return Path::new(path).exists() };
    let folder = Path::new(&path[..star]).parent().unwrap_or(Path::new(""));
    let Ok(set) = super::batches::globs(&[path.trim_end_matches('/').to_owned()]) else {
        return false;
    };
    let depth = path.matches('/').count() + 1;
    walkdir::WalkDir::new(folder)
        .max_depth(depth)
        .into_iter()
        .flatten()
        .any(|e| set.is_match(e.path()))
}
