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
    let proofs = if in_project { proofs() } else { BTreeMap::new() };
    let all = in_project.then(|| runs.dirs());
    let of = |file: &RegistrationFile| {
        let command =
            |(analysis, verdict): &(&str, &Verdict)| command(analysis, verdict, all.as_ref());
        test(file, verdicts, runs, proofs.get(&file.sha256), command)
    };
    let tests = configs.registrations.values().map(of).collect::<Result<Vec<_>, _>>()?;
    Ok(json!({"tests": tests}))
}

fn test(
    file: &RegistrationFile,
    verdicts: &[(&str, Vec<Verdict>)],
    runs: &Runs<'_>,
    proof: Option<&Verified>,
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
        "provenance": provenance(proof),
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

/// The proofs that hold, by the hash of the file that they are of.
fn proofs() -> BTreeMap<String, Verified> {
    let folder = Path::new(PROOFS);
    let found = if folder.is_dir() { find_proofs(folder).unwrap_or_default() } else { Vec::new() };
    let verified = found.iter().filter_map(|proof| verify(proof, Path::new(".")).ok());
    verified.map(|verified| (verified.proof.sha256.clone(), verified)).collect()
}

fn provenance(proof: Option<&Verified>) -> Value {
    let mut said = Map::new();
    let words = match proof {
        None => "no proof of when it was committed is here".to_owned(),
        Some(proof) => {
            let at = |t: Option<i64>| t.map(time::utc);
            said.insert("commit".into(), proof.proof.commit.to_string().into());
            said.insert("committed".into(), at(Some(proof.committed_unix)).into());
            said.insert("pushed".into(), at(proof.pushed_unix).into());
            said.insert("first_job".into(), at(proof.first_job_unix).into());
            proof.verdict.word().to_owned()
        }
    };
    said.insert("words".into(), words.into());
    said.insert("is_proven".into(), proof.is_some().into());
    said.into()
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
