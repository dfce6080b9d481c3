//! docs/knee-reports.yaml: where others saw an engine fall off, set beside what `trapcheck knee`
//! answers. The table is in docs/knee.md, misses too.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::against::traces;
use crate::project::{root, stderr, stdout, trapcheck};

/// What a report says and what is asked about it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Report {
    name: String,
    source: String,
    engine: String,
    reported: BTreeMap<String, serde_yaml::Value>,
    assumed: BTreeMap<String, String>,
    ask: Vec<String>,
    /// The sessions, where they are made up; else the recorded ones are asked about.
    session: Option<Alike>,
    /// The state of each population that the report has.
    rungs: BTreeMap<u32, String>,
    /// Its own cap.
    cap: Option<u32>,
}

/// Sessions that are all alike.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Alike {
    turns: u64,
    first_prompt_tokens: u64,
    new_tokens: u64,
    output_tokens: u64,
    think_s: f64,
}

impl Alike {
    /// So many of them that no lane waits for one.
    fn write(&self, folder: &Path) -> PathBuf {
        let mut text =
            "session,turn,t_s,prompt_tokens,output_tokens,reusable_tokens,think_s,api_s\n"
                .to_owned();
        for session in 0..400 {
            for k in 1..=self.turns {
                let prompt = self.first_prompt_tokens + self.new_tokens * (k - 1);
                let reusable = if k == 1 { 0 } else { prompt - self.new_tokens };
                let think_s = if k == 1 { 0.0 } else { self.think_s };
                let output = self.output_tokens;
                writeln!(text, "s{session},{k},{k},{prompt},{output},{reusable},{think_s},1")
                    .unwrap();
            }
        }
        let path = folder.join("alike.csv");
        std::fs::write(&path, text).unwrap();
        path
    }
}

fn reports() -> Vec<Report> {
    let text = std::fs::read_to_string(root().join("docs/knee-reports.yaml")).unwrap();
    serde_yaml::from_str(&text).unwrap()
}

fn ask(report: &Report, sessions: &Path, more: &[&str]) -> Value {
    let own: Vec<&str> = report.ask.iter().map(String::as_str).collect();
    let file = ["--sessions", sessions.to_str().unwrap(), "--format", "json"];
    let output = trapcheck(&[&["knee"], &own[..], &file, more].concat()).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_str(&stdout(&output)).unwrap()
}

/// The state of a population from empty, as the report's words are.
fn state(answer: &Value, population: u32) -> &'static str {
    let rows = answer["knee_populations"].as_array().unwrap();
    let is = |row: &&Value| row["start"] == "empty" && row["population"] == population;
    let row = rows.iter().find(is).unwrap();
    let seeds = |state: &str| row[state].as_u64().unwrap();
    match ["good", "between", "trapped"].map(seeds) {
        [_, 0, 0] => "good",
        [0, 0, _] => "trapped",
        [0, _, 0] => "between",
        _ => "mixed",
    }
}

/// The row of docs/knee.md.
fn row(report: &Report, sessions: &Path) -> String {
    let populations: Vec<String> = report.rungs.keys().map(u32::to_string).collect();
    let at_rungs = ask(report, sessions, &["--population", &populations.join(",")]);
    let searched = ask(report, sessions, &[]);
    let fact = |name: &str| {
        let facts = searched["knee"].as_array().unwrap();
        let value = &facts.iter().find(|fact| fact["quantity"] == name).unwrap()["value"];
        value.as_u64().map_or("none".to_owned(), |n| n.to_string())
    };
    let ours: Vec<(u32, &str)> = report.rungs.keys().map(|n| (*n, state(&at_rungs, *n))).collect();
    let agrees = ours.iter().all(|(n, ours)| match report.rungs[n].as_str() {
        "fallen" => *ours != "good",
        theirs => theirs == *ours,
    });
    let listed = |states: &mut dyn Iterator<Item = (u32, &str)>| {
        states.map(|(n, state)| format!("{n} {state}")).collect::<Vec<_>>().join(", ")
    };
    format!(
        "| {} | {} | {} | {} to {} | {} | {} | {} |",
        report.name,
        listed(&mut report.rungs.iter().map(|(n, state)| (*n, state.as_str()))),
        listed(&mut ours.iter().copied()),
        fact("from empty: good up to"),
        fact("from empty: trapped from"),
        report.cap.map_or(String::new(), |cap| cap.to_string()),
        fact("cap to set"),
        if agrees { "yes" } else { "**no**" },
    )
}

#[test]
fn what_others_measured_is_set_beside_what_we_answer() {
    let page = std::fs::read_to_string(root().join("docs/knee.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let recorded = traces();
    let mut missing = Vec::new();
    for report in reports() {
        let sessions = match (&report.session, &recorded) {
            (Some(alike), _) => alike.write(folder.path()),
            (None, Some(traces)) => traces.clone(),
            (None, None) => continue,
        };
        let row = row(&report, &sessions);
        if !page.contains(&row) {
            missing.push(row);
        }
    }
    assert!(missing.is_empty(), "docs/knee.md lacks\n{}", missing.join("\n"));
}

#[test]
fn each_report_says_where_it_is_from_and_what_was_assumed() {
    let reports = reports();
    assert_eq!(reports.len(), 5);
    for report in reports {
        let said = [&report.source, &report.engine];
        assert!(said.iter().all(|text| !text.is_empty()), "{}", report.name);
        assert!(!report.reported.is_empty() && !report.assumed.is_empty(), "{}", report.name);
        let known = ["good", "between", "trapped", "fallen"];
        assert!(report.rungs.values().all(|state| known.contains(&state.as_str())));
    }
}
