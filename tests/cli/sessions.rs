//! `trapcheck sessions`: traces in, one table out, and what they are like.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::project::{root, stderr, stdout, trapcheck};

const AGENTS: &str = "tests/sessions/agents.jsonl";

struct Ran {
    code: i32,
    out: String,
    err: String,
}

fn run(args: &[&str]) -> Ran {
    let output = trapcheck(&[&["sessions"], args].concat()).output().unwrap();
    let code = output.status.code().unwrap();
    Ran { code, out: stdout(&output), err: stderr(&output) }
}

fn import(from: &str, out: &Path) -> Ran {
    run(&["import", from, "--out", out.to_str().unwrap()])
}

fn described(path: &Path) -> Value {
    let ran = run(&["describe", path.to_str().unwrap(), "--format", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let mut json: Value = serde_json::from_str(&ran.out).unwrap();
    json.as_object_mut().unwrap().remove("format");
    json
}

#[test]
fn what_is_imported_is_described_as_its_trace_is_in_every_form() {
    let folder = TempDir::new().unwrap();
    let trace = described(&root().join(AGENTS));
    for name in ["a.csv", "a.csv.gz", "a.parquet"] {
        let table = folder.path().join(name);
        let ran = import(AGENTS, &table);
        assert_eq!((ran.code, ran.err.contains("left out")), (0, false), "{}", ran.err);
        assert!(ran.out.starts_with("4 sessions, 12 turns, of 1 file; subagents"), "{}", ran.out);
        assert_eq!(described(&table), trace, "{name}");
        let bytes = fs::read(&table).unwrap();
        import(AGENTS, &table);
        assert_eq!(fs::read(&table).unwrap(), bytes, "{name}: the same bytes again");
    }
}

#[test]
fn every_format_is_read_and_named() {
    let folder = TempDir::new().unwrap();
    let table = folder.path().join("all.csv");
    let copies = folder.path().join("traces");
    fs::create_dir(&copies).unwrap();
    for name in ["agents.jsonl", "mooncake.jsonl", "arrays.json", "requests.csv", "otlp.jsonl"] {
        fs::copy(root().join("tests/sessions").join(name), copies.join(name)).unwrap();
    }
    fs::write(copies.join("README.md"), "no trace").unwrap();
    let ran = import(copies.to_str().unwrap(), &table);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let kept = fs::read_to_string(folder.path().join("all.csv.json")).unwrap();
    let kept: Value = serde_json::from_str(&kept).unwrap();
    let files = kept["files"].as_array().unwrap();
    let formats: Vec<_> = files.iter().map(|file| file["format"].as_str().unwrap()).collect();
    assert_eq!(formats, ["weka", "turn-arrays", "mooncake", "spans", "requests"]);
    assert_eq!(files[3]["other_spans"], 1);
    assert!(files.iter().all(|file| file["sha256"].as_str().unwrap().len() == 64));
}

#[test]
fn what_is_left_out_is_named_counted_and_kept() {
    let folder = TempDir::new().unwrap();
    let table = folder.path().join("damaged.csv");
    let ran = import("tests/sessions/damaged.jsonl", &table);
    assert_eq!(ran.code, 1, "{}", ran.err);
    for said in [
        "damaged.jsonl:2: session \"no-numbers\": bad-value: request 2: hash_ids: ",
        "damaged.jsonl:3: session \"back-in-time\": bad-value: turn 3: ",
        "damaged.jsonl:4: session \"nothing\": no-turns",
        "damaged.jsonl:5: session \"question\": duplicate",
        "damaged.jsonl:6: session \"fix-a-test\": cut: the file ends inside this session",
        "cut: damaged.jsonl: the file ends early",
    ] {
        assert!(ran.err.contains(said), "{said}\n{}", ran.err);
    }
    assert!(ran.out.starts_with("1 session, 1 turn, of 1 file;"), "{}", ran.out);
    let kept = fs::read_to_string(folder.path().join("damaged.csv.json")).unwrap();
    let kept: Value = serde_json::from_str(&kept).unwrap();
    let reasons: Vec<_> = kept["left_out"].as_array().unwrap().iter().collect();
    assert_eq!(reasons.len(), 4);
    assert_eq!(kept["files"][0]["left_out_sessions"], 5);
    assert_eq!(kept["left_out_examples"].as_array().unwrap().len(), 5);
    // Described, the same is said.
    let described = run(&["describe", "tests/sessions/damaged.jsonl"]);
    assert_eq!(described.code, 1);
    assert!(described.err.contains("session \"no-numbers\""), "{}", described.err);
}

#[test]
fn a_trace_that_cannot_be_read_leaves_nothing_behind() {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: &str| -> PathBuf {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let agents = fs::read_to_string(root().join(AGENTS)).unwrap();
    let out = folder.path().join("out.csv.gz");
    for (name, text, said) in [
        ("a.jsonl", format!("{agents}{{\"id\":,}}\n"), "a.jsonl:4: not readable as JSON"),
        (
            "b.jsonl",
            format!("{agents}{{\"chat_id\":3}}\n"),
            "b.jsonl:4: expected a session of weka",
        ),
        ("c.csv", "a,b\n".to_owned(), "c.csv:1: expected JSON objects, or a header"),
        ("d.json", String::new(), "d.json:1: expected sessions, found an empty file"),
    ] {
        let ran = import(write(name, &text).to_str().unwrap(), &out);
        assert_eq!(ran.code, 2, "{name}");
        assert!(ran.err.contains(said), "{}", ran.err);
        assert!(!out.exists() && !folder.path().join("out.csv.gz.json").exists());
    }
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let ran = import(empty.to_str().unwrap(), &out);
    assert!(ran.code == 2 && ran.err.contains("expected files of sessions"), "{}", ran.err);
    let ran = import(AGENTS, &folder.path().join("out.txt"));
    assert!(
        ran.code == 2 && ran.err.contains("expected a .csv, .csv.gz or .parquet"),
        "{}",
        ran.err
    );
    let ran = import("no-such-file.json", &out);
    assert!(ran.code == 2 && ran.err.contains("no-such-file.json: cannot read"), "{}", ran.err);
    // A folder is a trace's, not a table's.
    let ran = import(AGENTS, &empty.join("x.csv"));
    assert_eq!(ran.code, 0, "{}", ran.err);
}

#[test]
fn a_picture_is_drawn_and_its_data_are_a_row_per_turn() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let ran = run(&["describe", AGENTS, "--plot", &at("a.svg")]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(fs::read_to_string(at("a.svg")).unwrap().contains("<svg"));
    run(&["describe", AGENTS, "--plot", &at("a.csv")]);
    let data = fs::read_to_string(at("a.csv")).unwrap();
    assert_eq!(data.lines().count(), 6, "{data}");
    assert!(data.contains("agents.jsonl,recorded sessions,1,1.000000,1600.0"), "{data}");
}

#[test]
fn subagents_are_described_alone_and_gaps_up_to_a_limit() {
    let overview = |args: &[&str]| -> Value {
        let args = [&["describe", AGENTS, "--format", "json"], args].concat();
        serde_json::from_str(&run(&args).out).unwrap()
    };
    let main = overview(&[]);
    assert_eq!(main["overview"][0]["value"], 3);
    assert_eq!(main["overview"][1]["value"], 1);
    let agents = overview(&["--subagents"]);
    assert_eq!(agents["overview"][0]["value"], 1);
    let gaps = |json: &Value| {
        let rows = json["quantities"].as_array().unwrap();
        rows.iter().find(|row| row["quantity"] == "gap_s").unwrap()["greatest"].clone()
    };
    assert_eq!(gaps(&main), 90.0);
    assert_eq!(gaps(&overview(&["--gap-limit", "20"])), 20.0);
    let ran = run(&["describe", AGENTS, "--gap-limit", "-1"]);
    assert_eq!(ran.code, 2);
}

#[test]
fn a_fit_holds_no_session_and_is_the_same_every_time() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("made-up.yaml");
    let fit = || run(&["fit", AGENTS, "--source", "made up", "--out", out.to_str().unwrap()]);
    let ran = fit();
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("mean turns"), "{}", ran.out);
    let text = fs::read_to_string(&out).unwrap();
    assert!(text.contains("\nname: \"made-up\"\nkind: empirical\nsource: \"made up\"\n"), "{text}");
    assert!(!text.contains("fix-a-test"));
    fit();
    assert_eq!(fs::read_to_string(&out).unwrap(), text);
    let single = folder.path().join("one.csv");
    let header = "session,turn,t_s,prompt_tokens,output_tokens,reusable_tokens,think_s,api_s";
    fs::write(&single, format!("{header}\na,1,0,9,1,0,,\n")).unwrap();
    let args = ["fit", single.to_str().unwrap(), "--source", "x", "--out", out.to_str().unwrap()];
    let ran = run(&args);
    assert!(ran.code == 2 && ran.err.contains("no follow-up"), "{}", ran.err);
    assert_eq!(fs::read_to_string(&out).unwrap(), text);
}

/// The recorded set lies beside the project and is no part of it.
fn recorded() -> Option<PathBuf> {
    let table = root().join("../shared/traces/kv-cache-tester/turns.csv.gz");
    let found = table.is_file().then_some(table);
    if found.is_none() {
        println!("skipped: the recorded sessions are not here");
    }
    found
}

#[test]
fn the_committed_workload_is_what_is_fitted_to_the_recorded_sessions() {
    let Some(table) = recorded() else { return };
    let committed = fs::read_to_string(root().join("configs/workloads/agent-sessions.yaml"));
    let committed = committed.unwrap();
    let source = committed.lines().find_map(|line| line.strip_prefix("source: ")).unwrap();
    let source: String = serde_json::from_str(source).unwrap();
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("agent-sessions.yaml");
    let (table, place) = (table.to_str().unwrap(), out.to_str().unwrap());
    let ran = run(&["fit", table, "--source", &source, "--out", place]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(fs::read_to_string(&out).unwrap(), committed);
}

#[test]
fn the_recorded_sessions_are_described_as_they_were_published() {
    let Some(table) = recorded() else { return };
    let ran = run(&["describe", table.to_str().unwrap(), "--format", "json"]);
    let json: Value = serde_json::from_str(&ran.out).unwrap();
    let overview = |quantity: &str| -> f64 {
        let rows = json["overview"].as_array().unwrap();
        let row = rows.iter().find(|row| row["quantity"] == quantity).unwrap();
        row["value"].as_f64().unwrap()
    };
    assert_eq!((overview("sessions"), overview("turns")), (710.0, 48_658.0));
    assert_eq!(overview("follow-ups whose prompt shrank"), 422.0);
    assert_eq!(format!("{:.1}", overview("reuse ceiling, all turns")), "96.3");
    assert_eq!(format!("{:.1}", overview("reuse ceiling, follow-ups")), "97.4");
    let work = overview("work ratio, all missing over all hitting");
    assert_eq!(format!("{work:.0}"), "27");
}
