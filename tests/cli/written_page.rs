//! `page`: the files it writes, and what is in them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;
use tempfile::TempDir;

use crate::project::{Project, bytes_under, root, stderr, stdout, trapcheck};
use crate::writing::{shell_in, unfinished};

/// Four runs of a real engine: one stuck after a burst, one without, one rescued, one capped.
const PULL: &str = "results/vllm-cpu/cpu_1_pulled_20261129-125700";

pub fn runs() -> [String; 4] {
    ["burst/20261129-121107_x1.5_s0", "noburst", "rescue", "capped"]
        .map(|name| format!("{PULL}/agentload_{name}"))
}

/// The page of these runs, written to `out`.
fn written(out: &Path, paths: &[String]) -> Output {
    let out = out.display().to_string();
    let mut args = vec!["page", "--no-cache", "--out", &out];
    args.extend(paths.iter().map(String::as_str));
    trapcheck(&args).output().unwrap()
}

fn json(path: impl AsRef<Path>) -> Value {
    let path = path.as_ref();
    let text = fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_slice(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value}"))
}

fn sha256(path: &Path) -> String {
    use sha2::Digest;
    let digest = sha2::Sha256::digest(fs::read(path).unwrap());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The parts that a page has, each held against the size and hash that the index gives it.
fn parts(page: &Path) -> BTreeMap<String, Value> {
    let index = json(page.join("data/index.json"));
    let mut parts = BTreeMap::new();
    for (name, said) in index["parts"].as_object().unwrap() {
        let Some(file) = said["file"].as_str() else {
            assert!(word(&said["absent"]).contains(' '), "{name} is absent without a reason");
            continue;
        };
        let path = page.join("data").join(file);
        assert_eq!(said["sha256"], sha256(&path), "{name}");
        assert_eq!(said["bytes"], fs::metadata(&path).unwrap().len(), "{name}");
        let part = json(&path);
        assert_eq!(part["format"], "trapcheck-page/1", "{name}");
        parts.insert(name.clone(), part);
    }
    parts
}

#[test]
fn a_page_of_runs_shows_each_with_its_files_hashes_and_the_verdict_that_score_gives() {
    let out = TempDir::new().unwrap();
    let output = written(out.path(), &runs());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let index = json(out.path().join("data/index.json"));
    assert_eq!(index["of"], "runs");
    assert_eq!(index["runs"].to_string(), r#"{"engine":4,"simulator":0}"#);
    assert_eq!(index["made_by"][0]["words"], "vLLM 0.32.0, CPU");
    assert!(word(&index["parts"]["ledger"]["absent"]).contains("of other runs"));
    let parts = parts(out.path());

    let mut asked = vec!["score", "--format", "json"];
    let paths = runs();
    asked.extend(paths.iter().map(String::as_str));
    let score: Value = serde_json::from_slice(&trapcheck(&asked).output().unwrap().stdout).unwrap();
    let lines = list(&parts["runs"]["runs"]);
    assert_eq!(lines.len(), 4);
    for (line, values) in lines.iter().zip(list(&score["runs"])) {
        let run = json(out.path().join("data").join(word(&line["file"])));
        assert_eq!(run["tables"]["runs"]["values"][0], *values);
        assert_eq!(line["run"], values["run"]);
        assert_eq!(word(&run["command"]), format!("trapcheck score {}", word(&line["run"])));
        let state = list(&score["states"]).iter().find(|s| s["run"] == line["run"]).unwrap();
        for key in ["state", "stuck", "because", "trapped", "recovered", "draining"] {
            assert_eq!(run["state"][key], state[key], "{key}");
        }
        assert_eq!(run["judged_by"], state["judged_by"]);
        // The deciding clause is one of the state's.
        let decided = word(&run["state"]["decided_by"]["words"]);
        assert!(run["state"].to_string().matches(decided).count() > 1, "{decided}");
        for file in list(&run["files"]) {
            assert_eq!(file["sha256"], sha256(&root().join(word(&file["path"]))));
        }
        assert!(list(&run["files"]).len() >= 4);
        assert!(run["meta"]["host"].is_null() && run["meta"]["start_unix"].is_null());
        let svg = fs::read_to_string(out.path().join("data").join(word(&run["picture"]))).unwrap();
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
        assert!(svg.contains("var(--figure-ink, #1a1a1a)") && svg.contains("vLLM 0.32.0"), "{svg}");
        let hits = &run["series"]["hits"];
        assert_eq!(list(&hits["t_s"]).len(), list(&hits["value"]).len());
    }
    let checks = list(&score["trap_check"]);
    let stuck = lines.iter().find(|line| line["stuck"] == true).unwrap();
    let stuck = json(out.path().join("data").join(word(&stuck["file"])));
    assert_eq!(list(&stuck["tables"]["trap_check"]["values"]), checks);
}

#[test]
fn the_first_screen_the_law_and_the_tests_name_runs_of_the_page() {
    let out = TempDir::new().unwrap();
    written(out.path(), &runs());
    let parts = parts(out.path());
    let ids: BTreeSet<&str> =
        list(&parts["runs"]["runs"]).iter().map(|line| word(&line["id"])).collect();
    let real = &parts["real"];
    assert_eq!(
        (&real["source"], &real["burst"]["start_s"]),
        (&"engine".into(), &Value::from(90.0))
    );
    let arms: Vec<&str> = list(&real["runs"]).iter().map(|run| word(&run["arm"])).collect();
    assert_eq!(arms, ["burst", "noburst", "capped", "rescue"]);
    assert!(fs::exists(out.path().join("data").join(word(&real["picture"]))).unwrap());
    let rescue = &real["runs"][3];
    let events: Vec<&str> = list(&rescue["events"]).iter().map(|e| word(&e["what"])).collect();
    assert!(events.contains(&"cap on") && events.contains(&"cap off"), "{events:?}");

    let law = list(&parts["law"]["figures"]);
    assert_eq!(law.len(), 2);
    for figure in law {
        assert_eq!(list(&figure["points"]).len(), 1);
        let point = &figure["points"][0];
        assert!(ids.contains(word(&point["id"])));
        // No analysis draws it: its numbers are its runs' trap checks.
        assert_eq!(word(&figure["command"]), format!("trapcheck score {}", word(&point["run"])));
        assert_eq!(list(&figure["panels"]).len(), 4);
        for panel in list(&figure["panels"]) {
            let quantity = word(&panel["quantity"]);
            assert!(point["values"][quantity].is_number(), "{quantity}");
            let curve = &figure["curves"][0];
            assert_eq!(list(&curve["values"][quantity]).len(), list(&curve["rho"]).len());
        }
        assert_eq!(figure["panels"][2]["quasi_static"][0].to_string(), "[1.0,0.0]");
    }

    let tests = list(&parts["tests"]["tests"]);
    let paired = tests.iter().find(|test| test["name"] == "vllm-cpu").unwrap();
    let file = root().join(word(&paired["file"]));
    assert_eq!(paired["sha256"], sha256(&file));
    assert_eq!(paired["text"], fs::read_to_string(&file).unwrap());
    assert!(word(&paired["rule"]).contains("in 2 of 3 seeds"));
    let outcome = &paired["outcomes"][0];
    assert_eq!(outcome["decisive"], false);
    for run in list(&outcome["runs"]) {
        assert!(ids.contains(word(&run["id"])));
    }
    // These runs and not what lies beside them.
    let command: Vec<&str> = word(&outcome["command"]).split(' ').skip(1).collect();
    let printed = trapcheck(&[&command[..], &["--format", "json"]].concat()).output().unwrap();
    let printed: Value = serde_json::from_slice(&printed.stdout).unwrap();
    for key in ["verdict", "because", "groups", "not_used", "notes"] {
        assert_eq!(outcome[key], printed["outcome"][key], "{key} by {command:?}");
    }
    let verdict = trapcheck(&["verdict", "vllm-cpu", "--format", "json", &runs()[0], &runs()[1]]);
    let verdict: Value = serde_json::from_slice(&{ verdict }.output().unwrap().stdout).unwrap();
    let first = word(&outcome["runs"][0]["id"]);
    let run = json(out.path().join(format!("data/runs/{first}.json")));
    let of_test = list(&run["tests"]).iter().find(|test| test["registration"] == "vllm-cpu");
    for key in ["label", "clauses", "secondary", "decided_by", "binding"] {
        assert_eq!(of_test.unwrap()[key], verdict["runs"][0][key], "{key}");
    }
    let none = tests.iter().find(|test| test["name"] == "r1").unwrap();
    assert_eq!(none["no_outcome"], "no run here is about it");
    assert!(none["command"].is_null());
    let parameter =
        |name: &str| list(&none["parameters"]).iter().find(|p| p["name"] == name).unwrap().clone();
    assert_eq!(parameter("test.engage_s")["stated"], true);
    assert_eq!(parameter("test.tile_s")["value"], "300");
    assert_eq!(parameter("test.tile_s")["stated"], false);
}

#[test]
fn the_same_runs_give_the_same_bytes_and_nothing_says_where_they_lie() {
    let folder = TempDir::new().unwrap();
    let mine = folder.path().join("mine");
    for (path, bytes) in bytes_under(&root().join(&runs()[0])) {
        fs::create_dir_all(mine.join("a")).unwrap();
        fs::write(mine.join("a").join(path), bytes).unwrap();
    }
    fs::create_dir(mine.join("b")).unwrap();
    fs::write(mine.join("b/turns.csv"), "").unwrap();
    let made = |out: &str, threads: &str| {
        let out = folder.path().join(out);
        let (place, runs) = (out.display().to_string(), mine.display().to_string());
        let output = trapcheck(&["page", "--no-cache", "--out", &place, &runs])
            .env("RAYON_NUM_THREADS", threads)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        bytes_under(&out)
    };
    let (one, four) = (made("one", "1"), made("four", "4"));
    assert!(one.len() > 8 && one == four);
    let above = folder.path().display().to_string();
    for (path, bytes) in &one {
        let text = String::from_utf8_lossy(bytes);
        assert!(!text.contains(&above), "{}: names {above}", path.display());
    }
    let index = json(folder.path().join("one/data/index.json"));
    assert_eq!(index["not_used"][0], "mine/b: has a turns table but no meta.json");
    let line = json(folder.path().join("one/data/runs.json"))["runs"][0].clone();
    assert_eq!((word(&line["run"]), word(&line["id"])), ("mine/a", "mine_a"));
}

#[test]
fn the_page_of_a_project_has_its_figures_its_ledger_and_whether_that_is_current() {
    // Without the derived tables and the simulated runs that its ledger rests on.
    let project = Project::copy();
    let output = project.trapcheck(&["page", "--out", "made"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("files of the ledger have changed: run trapcheck numbers"));
    let page = project.path("made");
    let parts = parts(&page);
    let names: Vec<&str> =
        list(&parts["figures"]["figures"]).iter().map(|figure| word(&figure["name"])).collect();
    assert!(names.contains(&"vllm-cpu_theorem") && names.contains(&"theory_cuts"), "{names:?}");
    assert_eq!(word(&parts["real"]["picture"]), "figures/vllm-cpu_stampede.svg");

    let index = json(page.join("data/index.json"));
    assert!(word(&index["parts"]["tables"]["absent"]).contains("no derived table is here"));

    let ledger = &parts["ledger"];
    assert_eq!(ledger["current"], false);
    assert_eq!(ledger["of"]["sha256"], sha256(&project.path("paper/numbers.json")));
    let manifest = json(project.path("paper/numbers.json"));
    let (rows, entries) = (list(&ledger["rows"]), list(&manifest["ledger"]));
    assert_eq!(rows.len(), entries.len());
    let mut of_sections = BTreeMap::new();
    for section in list(&ledger["sections"]) {
        let file = json(page.join("data").join(word(&section["file"])));
        let entries = file["entries"].as_object().unwrap().clone();
        assert_eq!(section["entries"], entries.len());
        of_sections.extend(entries);
    }
    for (row, entry) in rows.iter().zip(entries) {
        for key in ["id", "statement", "published", "ours", "status", "basis", "section"] {
            assert_eq!(row[key], entry[key], "{}", row["id"]);
        }
        let full = &of_sections[word(&row["id"])];
        assert_eq!((&full["query"], &full["intervals"]), (&entry["query"], &entry["intervals"]));
        assert_eq!(list(&full["files"]).len(), list(&entry["computed_from"]).len());
        assert!(list(&full["files"]).iter().all(|file| file["sha256"].is_string()), "{full}");
        for table in list(&full["tables"]) {
            let table = &parts["sources"]["tables"][word(table)];
            assert!(table["sha256"].is_string(), "{}: {table}", row["id"]);
        }
    }
    // The chain of a table ends at a run's file, with its hash.
    let sources = &parts["sources"];
    let files = &sources["tables"]["vllm-cpu_runs"]["files"];
    let turns = list(files).iter().map(|i| &sources["files"][i.as_u64().unwrap() as usize]);
    let turns = turns.filter(|file| word(&file[0]).contains("/turns.")).collect::<Vec<_>>();
    assert_eq!(turns.len(), 22);
    for file in turns {
        assert_eq!(file[1], sha256(&project.path(word(&file[0]))));
    }
    // Written again, nothing changes.
    let again = project.trapcheck(&["page", "--out", "made"]).output().unwrap();
    assert!(stdout(&again).starts_with("made: 0 files written, "), "{}", stdout(&again));
}

#[test]
fn a_folder_with_something_else_in_it_is_left_as_it_is() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("thesis.tex"), "mine").unwrap();
    let output = written(folder.path(), &runs()[..1]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("a page was written to; found thesis.tex"),
        "{}",
        stderr(&output)
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    for (args, said) in [
        (&["page"][..], "where to? --out DIR writes the page, --open serves it"),
        (&["page", "--open", "src"], "src: expected a page with an index.html"),
        (&["page", PULL, "--open", "src"], "a page that is there is served as it is"),
        (&["page", "--out", "x", "src"], "no run directory under src"),
    ] {
        let output = trapcheck(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(said), "{args:?}: {}", stderr(&output));
    }
}

#[test]
fn a_disk_that_fills_up_leaves_whole_files_and_no_index_and_the_next_page_takes_the_folder() {
    let folder = TempDir::new().unwrap();
    let place = folder.path().join("page").display().to_string();
    let run = root().join(&runs()[0]).display().to_string();
    let page = format!("$T -C {} page --no-cache --out {place} {run}", root().display());
    let output = shell_in(folder.path(), &format!("ulimit -f 60; {page}"));
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let out = folder.path().join("page");
    assert_eq!(unfinished(&out), Vec::<PathBuf>::new());
    assert!(!out.join("data/index.json").exists());
    let whole = |path: &Path, bytes: &[u8]| match path.extension().and_then(|e| e.to_str()) {
        Some("json") => serde_json::from_slice::<Value>(bytes).is_ok(),
        Some("svg") => bytes.ends_with(b"</svg>\n"),
        _ => !path.starts_with("data"),
    };
    let there = bytes_under(&out);
    assert!(!there.is_empty() && there.iter().all(|(path, bytes)| whole(path, bytes)));
    let output = shell_in(folder.path(), &page);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    parts(&out);
}
