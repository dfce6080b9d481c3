//! What the commands print: 80 characters for people, documented JSON and csv for machines.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::project::{Project, root, stderr, stdout, trapcheck};

const RUNS: &str = "results/vllm-cpu";
const CAMPAIGN: &str = "configs/campaigns/paper.yaml";

/// Every command that answers with tables, and the exit code of its answer.
const ANSWERS: [(&[&str], i32); 23] = [
    (&["inspect", RUNS], 0),
    (&["inspect", "tests/layouts"], 0),
    (&["score", RUNS], 0),
    (&["verdict", "vllm-cpu", RUNS], 0),
    (&["verdict", "vllm-cpu-rescue", RUNS], 0),
    (&["verdict", "vllm-cpu", "vllm-cpu-rescue", RUNS], 0),
    (&["sources", "--all"], 0),
    (&["sessions", "describe", "tests/sessions/agents.jsonl"], 0),
    (&["campaign", CAMPAIGN, "--only", "paired", "--list"], 0),
    (&["campaign", CAMPAIGN, "--only", "paired", "--status"], 0),
    (&["model", "trap", "--cell", "sglang-300k", "--rate", "1.65"], 0),
    (&["model", "trap", "--cell", "sglang-300k", "--rho", "0.5"], 0),
    (&["model", "cut", "--cell", "sglang-300k", "--rate", "1.65"], 0),
    (&["model", "stop", "--cell", "sglang-300k", "--rate", "1.35"], 0),
    (&["model", "curve", "--cell", "sglang-300k"], 0),
    (&["model", "burst", "--cell", "sglang-300k", "--rate", "1.65"], 0),
    (&["model", "rescue", "--cell", "sglang-300k", "--rate", "1.65"], 0),
    (&["model", "rescue", "--cell", "sglang-300k", "--rate", "1.65", "--backlog", "240"], 0),
    (&["model", "table", "--show", "traps"], 0),
    (&["model", "table", "--show", "corollary-3"], 0),
    (&["model", "table", "--show", "mirror"], 0),
    (&["model", "table", "--show", "windows"], 0),
    (&["model", "table", "--show", "crossings"], 0),
];

fn answer(args: &[&str], code: i32, more: &[&str]) -> String {
    let output = trapcheck(&[args, more].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{args:?} {more:?}: {}", stderr(&output));
    stdout(&output)
}

#[test]
fn tables_take_80_characters_and_wide_ones_lose_nothing() {
    for (args, code) in ANSWERS {
        let text = answer(args, code, &[]);
        assert!(!text.contains('\x1b'), "{args:?}: colour in a pipe");
        // A note's sentences and the paths in them are no table.
        for line in text.lines().filter(|line| line.contains("  ") || line.starts_with('(')) {
            assert!(line.chars().count() <= 80, "{args:?}: {line}");
        }
        let wide = answer(args, code, &["--wide"]);
        assert!(!wide.contains("--wide adds") && !wide.contains('…'), "{args:?}: {wide}");
    }
}

#[test]
fn the_width_of_the_terminal_changes_no_byte() {
    let args = ["score", RUNS];
    let narrow = trapcheck(&args).env("COLUMNS", "40").output().unwrap();
    let wide = trapcheck(&args).env("COLUMNS", "300").output().unwrap();
    assert_eq!(stdout(&narrow), stdout(&wide));
}

/// The fields that docs/output.md describes with a unit, by its headings of the second level.
fn documented() -> Vec<(String, BTreeSet<String>)> {
    let text = fs::read_to_string(root().join("docs/output.md")).unwrap();
    let mut sections: Vec<(String, BTreeSet<String>)> = Vec::new();
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            sections.push((heading.to_owned(), BTreeSet::new()));
        }
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, names, unit, meaning, _] = cells[..] else { continue };
        if let Some((_, fields)) = sections.last_mut().filter(|_| names.starts_with('`')) {
            assert!(!unit.is_empty() && !meaning.is_empty(), "{line}");
            fields.extend(names.split(',').map(|name| name.trim().trim_matches('`').to_owned()));
        }
    }
    sections
}

fn fields_of(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                found.insert(key.clone());
                fields_of(value, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| fields_of(item, found)),
        _ => {}
    }
}

/// What is documented of a command: its own section and those for all.
fn documented_for(format: &str) -> BTreeSet<String> {
    let sections = documented();
    let of = |wanted: &dyn Fn(&str) -> bool| -> BTreeSet<String> {
        sections.iter().filter(|(name, _)| wanted(name)).flat_map(|(_, f)| f.clone()).collect()
    };
    let own = of(&|name| name.split(", ").any(|one| one == format));
    assert!(!own.is_empty(), "docs/output.md has no section {format}");
    let shared = of(&|name| name == "JSON" || name == "A clause");
    own.union(&shared).cloned().collect()
}

#[test]
fn every_field_of_every_json_answer_is_documented_with_its_unit() {
    for (args, code) in ANSWERS {
        let json: Value = serde_json::from_str(&answer(args, code, &["--format", "json"])).unwrap();
        let format = json["format"].as_str().unwrap_or_else(|| panic!("{args:?}: no format"));
        let name = format!("trapcheck-{}", args[0]);
        assert!(format.starts_with(&name) && format.ends_with("/1"), "{args:?}: {format}");
        let mut fields = BTreeSet::new();
        fields_of(&json, &mut fields);
        let known = documented_for(format);
        let missing: Vec<_> = fields.difference(&known).collect();
        assert!(missing.is_empty(), "{args:?}: not in docs/output.md: {missing:?}");
    }
}

#[test]
fn every_column_of_every_csv_answer_is_documented_and_holds_no_range() {
    for (args, code) in ANSWERS {
        let csv = answer(args, code, &["--format", "csv"]);
        let json: Value = serde_json::from_str(&answer(args, code, &["--format", "json"])).unwrap();
        let known = documented_for(json["format"].as_str().unwrap());
        for block in csv.split("\n\n") {
            for column in block.lines().next().unwrap().split(',') {
                let range = column.strip_suffix("_least").or(column.strip_suffix("_most"));
                let is_known =
                    known.contains(column) || range.is_some_and(|name| known.contains(name));
                assert!(is_known, "{args:?}: {column} is not in docs/output.md");
            }
        }
    }
    let csv = answer(
        &["model", "rescue", "--cell", "sglang-300k", "--rate", "1.65"],
        0,
        &["--format", "csv"],
    );
    assert!(csv.contains("\"rescuing caps, in sessions\",11,31,\n"), "{csv}");
}

#[test]
fn json_keeps_every_key_in_every_row_and_does_not_round() {
    let score: Value =
        serde_json::from_str(&answer(&["score", RUNS], 0, &["--format", "json"])).unwrap();
    let rows = score["runs"].as_array().unwrap();
    let keys = |row: &Value| row.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert!(rows.len() > 20 && rows.iter().all(|row| keys(row) == keys(&rows[0])));
    let digits = |x: f64| x.to_string().split_once('.').map_or(0, |(_, after)| after.len());
    let longest = rows.iter().filter_map(|row| row["backlog_slope_per_s"].as_f64()).map(digits);
    assert!(longest.max().unwrap() > 10);
    let closed = rows.iter().find(|row| row["arm"] == "closed").unwrap();
    assert_eq!(closed["state"], Value::Null);
    assert_eq!(closed["registration"], Value::Null);
    assert!(!closed["unknown"].as_array().unwrap().contains(&Value::from("state")));
}

#[test]
fn ranges_are_two_numbers_in_json() {
    let args = ["model", "rescue", "--cell", "sglang-300k", "--rate", "1.65"];
    let json: Value = serde_json::from_str(&answer(&args, 0, &["--format", "json"])).unwrap();
    let caps = &json["model_rescuing_caps"][0];
    assert_eq!(caps["quantity"], "rescuing caps, in sessions");
    assert_eq!(caps["value"], serde_json::json!([11.0, 31.0]));
    let score: Value =
        serde_json::from_str(&answer(&["score", RUNS], 0, &["--format", "json"])).unwrap();
    let clause = score["states"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|state| state["trapped"].as_array().unwrap())
        .find(|clause| clause["needs"] == "within")
        .unwrap();
    assert_eq!(
        (&clause["needs_least"], &clause["needs_most"]),
        (&Value::from(0.85), &Value::from(1.15))
    );
}

#[test]
fn a_verdict_takes_a_registration_by_its_name_or_by_its_path() {
    let by = |name: &str| answer(&["verdict", name, RUNS], 0, &["--format", "json"]);
    assert_eq!(by("vllm-cpu"), by("configs/registrations/vllm-cpu.yaml"));
    let project = Project::copy();
    fs::copy(project.path("configs/registrations/vllm-cpu.yaml"), project.path("mine.yaml"))
        .unwrap();
    project.trapcheck(&["verdict", "mine.yaml", RUNS]).assert().code(0);
    let output = project.trapcheck(&["verdict", "no/such.yaml", RUNS]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("no/such.yaml"), "{}", stderr(&output));
}

#[test]
fn several_registrations_are_judged_as_each_is_alone() {
    let names = ["vllm-cpu", "vllm-cpu-rescue", "vllm-cpu-mechanism"];
    let all = |how: &[&str]| answer(&["verdict", names[0], names[1], names[2], RUNS], 0, how);
    let each = |how: &[&str]| names.map(|name| answer(&["verdict", name, RUNS], 0, how));
    assert_eq!(all(&["--wide"]), each(&["--wide"]).join("\n"));
    let mut json: Value = serde_json::from_str(&all(&["--format", "json"])).unwrap();
    assert_eq!(json["format"], "trapcheck-verdicts/1");
    let alone = each(&["--format", "json"]).map(|text| {
        let mut object: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(object["format"], "trapcheck-verdict/1");
        object.as_object_mut().unwrap().remove("format");
        object
    });
    assert_eq!(json["verdicts"].take(), Value::from(alone.to_vec()));
    let csv = each(&["--format", "csv"]);
    let headers = csv.each_ref().map(|text| text.split_once('\n').unwrap());
    let rows: String = headers.iter().map(|(_, rows)| *rows).collect();
    assert_eq!(all(&["--format", "csv"]), format!("{}\n{rows}", headers[0].0));
    // A file is a registration, too; a folder is runs, whatever its name; none is an error.
    let project = Project::copy();
    fs::copy(project.path("configs/registrations/vllm-cpu.yaml"), project.path("mine.yaml"))
        .unwrap();
    let by_file = ["verdict", "vllm-cpu-rescue", "mine.yaml", RUNS];
    let said = stdout(&project.trapcheck(&by_file).output().unwrap());
    assert!(said.contains("\n\nvllm-cpu: "), "{said}");
    fs::rename(project.path(RUNS), project.path("vllm-cpu")).unwrap();
    let runs = stdout(&project.trapcheck(&["verdict", "vllm-cpu", "vllm-cpu"]).output().unwrap());
    assert!(runs.starts_with("vllm-cpu: ") && runs.lines().count() > 10, "{runs}");
    let none = project.trapcheck(&["verdict", "vllm-cpu", "mine.yaml"]).output().unwrap();
    assert_eq!(none.status.code(), Some(2));
    assert!(stderr(&none).contains("expected the runs to judge"), "{}", stderr(&none));
}

#[test]
fn every_column_of_every_derived_table_is_documented() {
    // Published tables have the columns of the paper's own.
    let theirs = ["table_", "cut_outcome", "mirror_", "from_empty", "corollary_3"];
    let known: BTreeSet<String> = documented().into_iter().flat_map(|(_, fields)| fields).collect();
    let mut checked = 0;
    for entry in fs::read_dir(root().join("paper/derived")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.ends_with(".csv") || theirs.iter().any(|start| name.starts_with(start)) {
            continue;
        }
        let header = fs::read_to_string(&path).unwrap().lines().next().unwrap().to_owned();
        for column in header.split(',') {
            assert!(known.contains(column), "{name}: {column} is not in docs/output.md");
        }
        checked += 1;
    }
    assert!(checked > 40, "{checked}");
}
