//! The runs of a page: a line of each, and everything behind its verdict.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rayon::prelude::*;
use serde_json::{Map, Value, json};

use crate::analysis::draw::{made_by, run_picture};
use crate::figure::svg;
use crate::judged::ScoredRun;
use crate::judged::verdict::{Verdict, json as verdict_json};
use crate::rule;
use crate::run::Source;
use crate::setup::Configs;
use crate::table::{self, Table};

use super::series::{events, series};
use super::{FORMAT, Judged, PageError, commands, text};

/// The longest id, so that a file of its name fits everywhere.
const LONGEST: usize = 140;

#[derive(Debug)]
struct Shown<'a> {
    run: &'a ScoredRun,
    configs: &'a Configs,
    id: String,
    analyses: Vec<&'a str>,
}

/// Every run of a page, in order of path. One that several analyses name is one run, as the
/// first of them has it.
#[derive(Debug)]
pub struct Runs<'a>(BTreeMap<&'a Path, Shown<'a>>);

impl<'a> Runs<'a> {
    /// The runs of some groups.
    pub fn of(groups: &'a [Judged<'_>]) -> Self {
        let mut runs: BTreeMap<&Path, Shown<'_>> = BTreeMap::new();
        for group in groups {
            for run in &group.scoring.runs {
                let configs = group.configs;
                let new = || Shown { run, configs, id: String::new(), analyses: Vec::new() };
                let shown = runs.entry(run.dir.as_path()).or_insert_with(new);
                if !group.name.is_empty() {
                    shown.analyses.push(&group.name);
                }
            }
        }
        let mut taken = BTreeSet::new();
        for (dir, shown) in &mut runs {
            let id = id_of(&dir.display().to_string());
            let numbered = (2..).map(|n| format!("{id}-{n}"));
            let mut free = std::iter::once(id.clone()).chain(numbered);
            shown.id = free.find(|id| taken.insert(id.to_lowercase())).unwrap_or_default();
        }
        Self(runs)
    }

    /// The runs, in order.
    pub fn iter(&self) -> impl Iterator<Item = &'a ScoredRun> {
        self.0.values().map(|shown| shown.run)
    }

    /// The directory of every run.
    pub fn dirs(&self) -> BTreeSet<&Path> {
        self.0.keys().copied().collect()
    }

    /// The id of a run by its directory.
    pub fn id(&self, dir: &Path) -> Option<&str> {
        self.0.get(dir).map(|shown| shown.id.as_str())
    }

    /// What happened in a run, in order of time.
    pub fn events(&self, run: &ScoredRun) -> Option<Value> {
        self.0.get(run.dir.as_path()).map(|shown| events(run, shown.configs))
    }

    /// How many an engine ran, and how many were simulated.
    pub fn counts(&self) -> Value {
        let count = |source| self.iter().filter(|run| run.meta.source == source).count();
        json!({"engine": count(Source::Engine), "simulator": count(Source::Simulator)})
    }

    /// What made them, engines first, each with the number of its runs.
    pub(crate) fn makers(&self) -> Value {
        let mut makers: BTreeMap<_, (Source, usize)> = BTreeMap::new();
        for run in self.iter() {
            makers.entry(made_by(&run.meta)).or_insert((run.meta.source, 0)).1 += 1;
        }
        let maker = |(made_by, (source, runs)): (
            &crate::figure::origin::Source,
            &(Source, usize),
        )| {
            json!({"words": made_by.words(), "source": source.word(), "runs": runs})
        };
        makers.iter().map(maker).collect()
    }

    /// A run in a line, with which every place that shows it begins.
    pub fn line(&self, run: &ScoredRun) -> Map<String, Value> {
        let shown = self.0.get(run.dir.as_path());
        let id = shown.map_or("", |shown| shown.id.as_str());
        let meta = &run.meta;
        let hits = run.measures.window.as_ref().and_then(|window| window.hits.value());
        let line = json!({
            "id": id,
            "run": run.dir.display().to_string(),
            "source": meta.source.word(),
            "made_by": made_by(meta).words(),
            "cell": meta.cell,
            "arm": meta.arm.word(),
            "rate_multiple": meta.rate.multiple,
            "population": meta.population,
            "seed": meta.seed,
            "state": run.state.as_ref().map(|state| state.state.word()),
            "stuck": run.stuck,
            "hit_fraction": hits,
            "analyses": shown.map_or(&[][..], |shown| shown.analyses.as_slice()),
            "file": format!("runs/{id}.json"),
        });
        match line {
            Value::Object(line) => line,
            _ => Map::new(),
        }
    }

    /// The line of every run.
    pub fn list(&self) -> Value {
        let lines: Vec<Value> = self.iter().map(|run| self.line(run).into()).collect();
        json!({"runs": lines})
    }

    /// The files of every run: its details and its picture, by their path below `data/`.
    ///
    /// # Errors
    /// A picture that cannot be drawn.
    pub fn details(
        &self,
        verdicts: &[(&str, Vec<Verdict>)],
    ) -> Result<Vec<(String, Vec<u8>)>, PageError> {
        let tests = labels(verdicts);
        let shown: Vec<&Shown<'_>> = self.0.values().collect();
        let files: Result<Vec<_>, PageError> = shown
            .par_iter()
            .map(|shown| {
                let of_run = tests.get(shown.run.dir.as_path()).map_or(&[][..], Vec::as_slice);
                self.detail(shown, of_run)
            })
            .collect();
        Ok(files?.into_iter().flatten().collect())
    }

    fn detail(
        &self,
        Shown { run, configs, id, .. }: &Shown<'_>,
        tests: &[Value],
    ) -> Result<[(String, Vec<u8>); 2], PageError> {
        let dir = run.dir.display().to_string();
        let figure = run_picture::draw(run);
        let picture = svg::for_page(&figure.drawing)
            .map_err(|error| PageError::Picture { run: dir.clone(), error })?;
        let window = run.measures.window.as_ref().map(|window| window.span);
        let files: Vec<Value> = run
            .sources
            .iter()
            .map(|file| json!({"path": file.path.display().to_string(), "sha256": file.sha256}))
            .collect();
        let detail = json!({
            "meta": meta(run)?,
            "files": files,
            "notes": run.notes.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "window_s": window.map(|span| [span.start_s, span.end_s]),
            "horizon_s": run.meta.horizon_s,
            "events": events(run, configs),
            "series": series(run),
            "picture": format!("runs/{id}.svg"),
            "picture_says": figure.origin.heading(),
            "judged_by": run.judged_by,
            "binding": run.judged_in_words(),
            "state": run.state.as_ref().map(|state| {
                let mut said = rule::json::state(state);
                said["decided_by"] = state.deciding().map(rule::json::clause).into();
                said
            }),
            "tables": {
                "runs": shown_table(&table::runs::table([*run])),
                "trap_check": shown_table(&table::trap_check::table(std::slice::from_ref(*run))),
            },
            "no_trap_check_because": run.checks.as_ref().err(),
            "tests": tests,
            "command": commands::of_each("score", [&*run.statistics]),
            "format": FORMAT,
        });
        let mut all = self.line(run);
        if let Value::Object(detail) = detail {
            all.extend(detail);
        }
        Ok([
            (format!("runs/{id}.json"), text(all.into())),
            (format!("runs/{id}.svg"), picture.into_bytes()),
        ])
    }
}

/// A table as it is printed, and its values with all their digits.
fn shown_table(table: &Table) -> Value {
    let mut shown = table.to_printed();
    shown["values"] = table.to_json();
    shown
}

/// What a run says of itself; where and when it was made is nobody's business on a page.
fn meta(run: &ScoredRun) -> serde_json::Result<Value> {
    let mut meta = serde_json::to_value(&run.meta)?;
    if let Value::Object(keys) = &mut meta {
        for private in ["host", "job_id", "start_unix", "end_unix"] {
            keys.remove(private);
        }
    }
    Ok(meta)
}

/// What every run is to the registered tests, by its directory.
fn labels<'a>(verdicts: &'a [(&str, Vec<Verdict>)]) -> BTreeMap<&'a Path, Vec<Value>> {
    let mut labels: BTreeMap<&Path, Vec<Value>> = BTreeMap::new();
    for (analysis, verdict) in
        verdicts.iter().flat_map(|(name, all)| all.iter().map(move |v| (name, v)))
    {
        let registration = &verdict.registration.registration;
        for run in verdict.runs.iter().filter(|run| !run.role.is_empty()) {
            let mut said = verdict_json::run(run);
            said["registration"] = registration.name.as_str().into();
            said["analysis"] = (*analysis).into();
            said["kind"] = registration.test.words().into();
            labels.entry(run.statistics.dir.as_path()).or_default().push(said);
        }
    }
    labels
}

/// A run's id: its path with nothing that an address or a file system would mind.
fn id_of(dir: &str) -> String {
    let safe = |c: char| match c {
        '/' | '\\' => '_',
        c if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') => c,
        _ => '-',
    };
    let id: String = dir.strip_prefix("results/").unwrap_or(dir).chars().map(safe).collect();
    let id = id[id.len().saturating_sub(LONGEST)..].trim_start_matches(['.', '-', '_']);
    if id.is_empty() { "run".to_owned() } else { id.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_safe_in_an_address_and_as_a_file() {
        assert_eq!(id_of("results/sim/paired/x1.35_s0"), "sim_paired_x1.35_s0");
        assert_eq!(id_of("../my runs/\u{e4}?#&"), "my-runs_----");
        assert_eq!(id_of(&"a/".repeat(200)).len(), LONGEST);
        assert_eq!(id_of("."), "run");
    }
}
