//! The registered tests of a page: each rule in words with its parameters, how it comes out over
//! the runs here, and what is known of when it was fixed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::configs::built_in;
use crate::judged::verdict::{Verdict, json as verdict_json};
use crate::provenance::{Verified, find_proofs, time, verify};
use crate::rule::json::clause;
use crate::rule::rule_in_words;
use crate::setup::{ConfigError, Configs, RegistrationFile};

use super::claimed::claims;
use super::runs::Runs;
use super::{PageError, commands};

/// What a registration says beside its rule.
const ELSEWHERE: [&str; 5] = ["name", "status", "because", "cell", "sources"];
/// Where proofs of registrations lie in a project.
const PROOFS: &str = "provenance";

/// Every registration that there is, in order of name, with its outcome over each analysis' runs.
///
/// # Errors
/// A registration's file that cannot be read again.
pub fn tests(
    configs: &Configs,
    verdicts: &[(&str, Vec<Verdict>)],
    runs: &Runs<'_>,
    in_project: bool,
) -> Result<Value, PageError> {
    let (proofs, claims) =
        if in_project { (proofs(), claims()?) } else { (Vec::new(), BTreeMap::new()) };
    let all = in_project.then(|| runs.dirs());
    let of = |file: &RegistrationFile| {
        let command =
            |(analysis, verdict): &(&str, &Verdict)| command(analysis, verdict, all.as_ref());
        let mut said = test(file, verdicts, runs, command)?;
        let name = file.registration.name.as_str();
        let own = proofs.iter().find(|proof| proof.proof.sha256 == file.sha256);
        let predicted = proofs.iter().find(|proof| proof.proof.file == predictions(name));
        said["provenance"] = provenance(own, predicted);
        said["claimed"] = serde_json::to_value(claims.get(name))?;
        Ok::<_, PageError>(said)
    };
    let tests = configs.registrations.values().map(of).collect::<Result<Vec<_>, _>>()?;
    Ok(json!({"tests": tests}))
}

fn test(
    file: &RegistrationFile,
    verdicts: &[(&str, Vec<Verdict>)],
    runs: &Runs<'_>,
    command: impl Fn(&(&str, &Verdict)) -> Option<String>,
) -> Result<Value, PageError> {
    let registration = &file.registration;
    let bytes = built_in::read(&file.path)
        .map_err(|e| ConfigError::new(&file.path, format!("cannot read: {e}")))?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let stated: Value =
        serde_yaml::from_str(&text).map_err(|e| ConfigError::new(&file.path, e.to_string()))?;
    let mut outcomes: Vec<(&str, &Verdict)> = verdicts
        .iter()
        .flat_map(|(analysis, all)| all.iter().map(move |verdict| (*analysis, verdict)))
        .filter(|(_, verdict)| verdict.registration.sha256 == file.sha256)
        .collect();
    // The runs made for it before others, the many before the few.
    outcomes.sort_by_key(|(analysis, verdict)| {
        let fewer = std::cmp::Reverse(verdict.subjects().count());
        (!verdict.has_bound_subjects(), fewer, *analysis)
    });
    let outcome = |of @ (analysis, verdict): &(&str, &Verdict)| {
        let mut said = verdict_json::outcome(verdict);
        said["analysis"] = (*analysis).into();
        said["command"] = command(of).into();
        let of_test = verdict.runs.iter().filter(|run| !run.role.is_empty());
        // Its clauses are in the run's own file.
        said["runs"] = of_test
            .map(|run| {
                let labelled = run.labelled.as_ref();
                json!({
                    "id": runs.id(&run.statistics.dir),
                    "role": run.role,
                    "label": labelled.map(|labelled| labelled.label),
                    "because": labelled.and_then(|labelled| labelled.because.as_ref()),
                    "decided_by": labelled.and_then(|labelled| labelled.deciding()).map(clause),
                    "set_aside": run.set_aside,
                })
            })
            .collect();
        said
    };
    let name = &registration.name;
    Ok(json!({
        "name": name,
        "kind": registration.test.words(),
        "rule": rule_in_words(registration),
        "cell": registration.cell,
        "also_cells": registration.also_cells,
        "status": registration.status.word(),
        "because": registration.because,
        "file": shown(&file.path),
        "sha256": file.sha256,
        "text": text,
        "parameters": parameters(registration, &stated)?,
        "sources": registration.sources,
        "outcomes": outcomes.iter().map(outcome).collect::<Vec<_>>(),
        "no_outcome": outcomes.is_empty().then_some("no run here is about it"),
        "command": outcomes.first().and_then(command),
    }))
}

/// What prints a verdict. Runs that it makes lie apart from those of the rule's other outcomes.
fn command(analysis: &str, verdict: &Verdict, all: Option<&BTreeSet<&Path>>) -> Option<String> {
    let name = &verdict.registration.registration.name;
    let group = verdict.runs.iter().map(|run| run.dir.as_path()).collect();
    let of_test = verdict.runs.iter().filter(|run| !run.role.is_empty());
    let of_test = of_test.map(|run| &*run.statistics);
    let made = format!("{analysis}/{name}");
    commands::of_group(&format!("verdict {name}"), &made, of_test, &group, all)
}

/// The file as a project has it, be it built in or elsewhere.
fn shown(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    format!("configs/registrations/{name}")
}

/// Every parameter by its name, whether the file states it or leaves it to the rule's default.
fn parameters(registration: &impl serde::Serialize, stated: &Value) -> Result<Value, PageError> {
    let (mut all, mut named) = (BTreeMap::new(), BTreeMap::new());
    flatten("", &serde_json::to_value(registration)?, &mut all);
    flatten("", stated, &mut named);
    let said: BTreeSet<&String> = named.keys().collect();
    let is_rule = |name: &str| {
        let first = name.split(['.', '[']).next().unwrap_or_default();
        !ELSEWHERE.contains(&first)
    };
    Ok(all
        .iter()
        .filter(|(name, _)| is_rule(name))
        .map(|(name, value)| json!({"name": name, "value": value, "stated": said.contains(name)}))
        .collect())
}

/// The leaves of a value by their path; a list of plain values is one leaf.
fn flatten(path: &str, value: &Value, leaves: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(keys) => {
            for (key, value) in keys {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                flatten(&path, value, leaves);
            }
        }
        Value::Array(items) if items.iter().any(|item| item.is_object()) => {
            for (i, value) in items.iter().enumerate() {
                flatten(&format!("{path}[{i}]"), value, leaves);
            }
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(leaf).collect();
            leaves.insert(path.to_owned(), items.join(", "));
        }
        _ => {
            leaves.insert(path.to_owned(), leaf(value));
        }
    }
}

fn leaf(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(number) => number.as_f64().map_or(number.to_string(), |x| x.to_string()),
        other => other.to_string(),
    }
}

/// The list of what was predicted of a test's runs.
fn predictions(name: &str) -> String {
    format!("predictions/{name}/SHA256SUMS")
}

/// The proofs that hold.
fn proofs() -> Vec<Verified> {
    let folder = Path::new(PROOFS);
    let found = if folder.is_dir() { find_proofs(folder).unwrap_or_default() } else { Vec::new() };
    found.iter().filter_map(|proof| verify(proof, Path::new(".")).ok()).collect()
}

/// What is proven of a registration, and of what was predicted of its runs.
fn provenance(own: Option<&Verified>, predicted: Option<&Verified>) -> Value {
    let mut said = own.map_or_else(Map::new, times);
    let words = match own {
        None => "no proof of when it was committed is here".to_owned(),
        Some(proof) => in_words(proof),
    };
    said.insert("words".into(), words.into());
    said.insert("is_proven".into(), own.is_some().into());
    let predicted = predicted.map(|proof| {
        let mut said = times(proof);
        said.insert("file".into(), proof.proof.file.as_str().into());
        said.insert("words".into(), in_words(proof).into());
        Value::from(said)
    });
    said.insert("predictions".into(), predicted.into());
    said.into()
}

/// When it was committed, pushed, and its first job submitted.
fn times(proof: &Verified) -> Map<String, Value> {
    let at = |t: Option<i64>| t.map(time::utc);
    let Value::Object(times) = json!({
        "commit": proof.proof.commit.to_string(),
        "committed": at(Some(proof.committed_unix)),
        "pushed": at(proof.pushed_unix),
        "first_job": at(proof.first_job_unix),
    }) else {
        return Map::new();
    };
    times
}

/// What a proof shows, and what it leaves open.
fn in_words(proof: &Verified) -> String {
    let at = |what: &str, none: &str, t: Option<i64>| {
        t.map_or_else(|| none.to_owned(), |t| format!("{what} {}", time::utc(t)))
    };
    format!(
        "{}: committed {} (by its own clock), {}, {}",
        proof.verdict.word(),
        time::utc(proof.committed_unix),
        at("pushed", "no push is on record", proof.pushed_unix),
        at("first job", "no job is named", proof.first_job_unix),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_says_whether_the_file_states_it() {
        let stated = json!({"name": "x", "test": {"kind": "edge"}, "rates": [1.5, 2.0]});
        let filled = json!({
            "name": "x", "rates": [1.5, 2.0],
            "test": {"kind": "edge", "stability": {"rise_at_most": 10.0}},
            "doses": [{"dose": 40.0, "expect": null}],
        });
        let all = parameters(&filled, &stated).unwrap();
        let line = |p: &Value| format!("{}={} {}", p["name"], p["value"], p["stated"]);
        let lines: Vec<String> = all.as_array().unwrap().iter().map(line).collect();
        assert_eq!(
            lines,
            [
                r#""doses[0].dose"="40" false"#,
                r#""doses[0].expect"="none" false"#,
                r#""rates"="1.5, 2" true"#,
                r#""test.kind"="edge" true"#,
                r#""test.stability.rise_at_most"="10" false"#,
            ]
        );
    }
}
