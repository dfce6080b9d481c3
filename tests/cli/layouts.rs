//! Runs of another shape at the command line: the engine's own runs, written as a cluster
//! would have, must give what they give in format 1.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::project::{Project, stderr, stdout, trapcheck};

const BATCH: &str = "results/vllm-cpu/cpu_1_pulled_20261129-125700";

/// A row of format 1, and how a column of theirs is made of it.
type Row = BTreeMap<String, String>;
type Column<'a> = (&'static str, &'a dyn Fn(&Row) -> String);

/// Seconds as written, in microseconds.
fn micros(seconds: &str) -> i64 {
    let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
    assert!(fraction.len() <= 6 && !whole.starts_with('-'), "{seconds}");
    format!("{whole}{fraction:0<6}").parse().unwrap()
}

/// Microseconds as milliseconds.
fn ms(micros: i64) -> String {
    format!("{}.{:03}", micros / 1000, micros % 1000)
}

fn rows(path: &Path) -> Vec<Row> {
    let bytes = fs::read(path).unwrap();
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
    let mut lines = text.lines().map(|line| line.split(','));
    let names: Vec<String> = lines.next().unwrap().map(str::to_owned).collect();
    lines.map(|fields| names.iter().cloned().zip(fields.map(str::to_owned)).collect()).collect()
}

fn csv(rows: &[Row], columns: &[Column<'_>]) -> String {
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let line = |row| columns.iter().map(|(_, of)| of(row)).collect::<Vec<_>>().join(",");
    let lines = rows.iter().map(line);
    [names.join(",")].into_iter().chain(lines).map(|line| line + "\n").collect()
}

/// Writes a run of format 1 as the layout cluster-csv has it, and removes the old files.
fn convert(dir: &Path) {
    let meta: Value = serde_json::from_slice(&fs::read(dir.join("meta.json")).unwrap()).unwrap();
    let start = micros(&meta["start_unix"].to_string());
    let of = |name: &'static str| move |row: &Row| row.get(name).cloned().unwrap_or_default();
    let known = |text: String, then: &dyn Fn(&str) -> String| match text.as_str() {
        "" => String::new(),
        text => then(text),
    };
    let length = |name: &'static str| move |row: &Row| known(of(name)(row), &|t| ms(micros(t)));
    let moment =
        |name: &'static str| move |row: &Row| known(of(name)(row), &|t| ms(start + micros(t)));
    let less = |a: &'static str, b: &'static str| {
        move |row: &Row| {
            let number = |name| of(name)(row).parse::<i64>();
            number(a).and_then(|a| Ok((a - number(b)?).to_string())).unwrap_or_default()
        }
    };
    let thousands = |name: &'static str| {
        move |row: &Row| {
            let number = of(name)(row).parse::<i64>();
            number.map(|n| format!("{}.{:03}", n / 1000, n % 1000)).unwrap_or_default()
        }
    };
    let word = |name: &'static str, words: &'static [(&str, &str)]| {
        move |row: &Row| {
            let ours = of(name)(row);
            words.iter().find(|(w, _)| *w == ours).map_or(ours.clone(), |(_, w)| (*w).to_owned())
        }
    };
    let stream = word("kind", &[("base", "background"), ("burst", "spike")]);
    let session = of("session");
    let table = |name: &str, columns: &[Column<'_>]| {
        let path = dir.join(format!("{name}.csv.gz"));
        let text = path.is_file().then(|| csv(&rows(&path), columns));
        drop(fs::remove_file(path));
        text
    };
    let write = |name: &str, text: Option<String>| {
        if let Some(text) = text {
            fs::write(dir.join(name), text).unwrap();
        }
    };
    let ttft = |row: &Row| {
        let first = of("t_first")(row);
        known(first, &|t| ms(micros(t) - micros(&of("t_submit")(row))))
    };
    let round = |row: &Row| (of("turn")(row).parse::<u64>().unwrap() - 1).to_string();
    let outcome = word("status", &[("ok", "200"), ("unfinished_at_horizon", "open")]);
    let turns = table(
        "turns",
        &[
            ("conversation", &session),
            ("stream", &stream),
            ("round", &round),
            ("ready_ms", &moment("t_ready")),
            ("sent_ms", &moment("t_submit")),
            ("ttft_ms", &ttft),
            ("done_ms", &moment("t_end")),
            ("prompt", &of("prompt_tokens")),
            ("computed", &less("prompt_tokens", "cached_tokens")),
            ("output", &of("completion_tokens")),
            ("think_ms", &length("tool_s")),
            ("outcome", &outcome),
        ],
    );
    write("requests.csv", turns);
    let state = word(
        "status",
        &[
            ("completed", "done"),
            ("running", "live"),
            ("gated", "queued"),
            ("paused", "held"),
            ("refused", "rejected"),
            ("failed", "broken"),
        ],
    );
    let sessions = table(
        "sessions",
        &[
            ("conversation", &session),
            ("stream", &stream),
            ("due_ms", &moment("t_planned")),
            ("begun_ms", &moment("t_admitted")),
            ("over_ms", &moment("t_end")),
            ("rounds", &of("turns_planned")),
            ("rounds_done", &of("turns_done")),
            ("held_ms", &length("gate_wait_s")),
            ("holds", &of("pauses")),
            ("on_hold_ms", &length("pause_s")),
            ("state", &state),
        ],
    );
    write("conversations.csv", sessions);
    let think = |row: &Row| {
        let times = of("tool_s")(row);
        known(times, &|t| t.split(';').map(|t| ms(micros(t))).collect::<Vec<_>>().join("|"))
    };
    let plan = table(
        "plan",
        &[
            ("conversation", &session),
            ("stream", &stream),
            ("due_ms", &moment("t_arrival")),
            ("rounds", &of("turns")),
            ("think_ms", &think),
        ],
    );
    let plan_sha256 = plan.as_ref().map(|text| {
        Sha256::digest(text.as_bytes()).iter().map(|b| format!("{b:02x}")).collect::<String>()
    });
    write("arrivals.csv", plan);
    let engine = table(
        "engine",
        &[
            ("at_ms", &moment("t")),
            ("active", &of("running")),
            ("queue", &of("waiting")),
            ("kv_used_k", &thousands("kv_used_tokens")),
            ("kv_idle_k", &thousands("kv_evictable_tokens")),
            ("kv_pool_k", &thousands("kv_total_tokens")),
            ("prompt_total", &of("prompt_tokens_total")),
            ("computed_total", &less("prompt_tokens_total", "cached_tokens_total")),
            ("output_total", &of("generation_tokens_total")),
            ("preemptions", &of("preemptions_total")),
        ],
    );
    write("gauges_node1.csv", engine);
    let event = word("event", &[("engage", "on"), ("pause", "hold"), ("release", "off")]);
    let gate = table(
        "gate",
        &[
            ("at_ms", &moment("t")),
            ("event", &event),
            ("stream", &stream),
            ("conversation", &session),
            ("in_use", &of("admitted")),
            ("in_queue", &of("gated")),
            ("on_hold", &of("paused")),
        ],
    );
    write("limiter.csv", gate);
    let text = serde_json::to_string_pretty(&metadata(&meta, start, plan_sha256)).unwrap();
    fs::write(dir.join("run_info.json"), text).unwrap();
    fs::remove_file(dir.join("meta.json")).unwrap();
}

fn metadata(meta: &Value, start: i64, plan_sha256: Option<String>) -> Value {
    let start_ms = start as f64 / 1000.0;
    let after = |s: &Value| s.as_f64().map(|s| s * 1000.0);
    let at = |s: &Value| after(s).map(|ms| start_ms + ms);
    let (engine, rate, counts) = (&meta["engine"], &meta["rate"], &meta["counts"]);
    let traffic = match meta["arm"].as_str().unwrap() {
        "burst" => "spike",
        "noburst" => "steady",
        "capped" => "limited",
        other => other,
    };
    json!({
        "id": meta["run_id"],
        "experiment": {
            "cell": meta["cell"], "traffic": traffic, "seed": meta["seed"],
            "load": rate["multiple"], "reference_per_s": rate["lambda_ref"],
            "arrivals_per_s": rate["lambda"], "concurrency": meta["population"],
        },
        "server": {
            "name": engine["name"], "version": engine["version"], "model": meta["model"],
            "gpu": {"name": meta["gpu"]["name"]},
            "kv_pool_ktokens": meta["pool_tokens"].as_f64().unwrap() / 1000.0,
            "prefix_cache": if meta["prefix_caching"] == true { "on" } else { "off" },
        },
        "clock": {
            "start_ms": start_ms, "stop_ms": at(&meta["duration_s"]),
            "asked_ms": after(&meta["horizon_s"]),
        },
        "result": "finished",
        "limiter": {
            "max_conversations": meta["gate"]["n_cap"],
            "on_ms": at(&meta["gate"]["engage_s"]), "off_ms": at(&meta["gate"]["release_s"]),
        },
        "arrivals_sha256": plan_sha256,
        "canary": {"hot": meta["canary"]["cached_before"], "cold": meta["canary"]["cached_after"]},
        "totals": {
            "conversations": counts["sessions_arrived"], "finished": counts["sessions_completed"],
            "broken": counts["sessions_failed"], "requests": counts["turns"],
            "errors": counts["request_errors"],
        },
    })
}

#[test]
fn the_engines_runs_in_the_clusters_shape_score_the_same_to_the_last_digit() {
    let project = Project::copy();
    let score = |out: &str| {
        project.trapcheck(&["score", "--out", out, BATCH]).assert().success();
        let output = project.trapcheck(&["score", "--format", "csv", BATCH]).output().unwrap();
        (output.stdout, project.bytes_of(out))
    };
    let before = score("before");
    let runs: Vec<_> = walkdir::WalkDir::new(project.path(BATCH))
        .into_iter()
        .map(|entry| entry.unwrap().into_path())
        .filter(|path| path.ends_with("meta.json"))
        .collect();
    assert_eq!(runs.len(), 11);
    runs.iter().for_each(|meta| convert(meta.parent().unwrap()));
    let after = score("after");
    assert_eq!(String::from_utf8(after.0).unwrap(), String::from_utf8(before.0).unwrap());
    for ((name, before), (_, after)) in before.1.iter().zip(&after.1) {
        if name.extension().is_some_and(|ending| ending == "csv") {
            assert_eq!(after, before, "{}", name.display());
        }
    }
}

#[test]
fn inspect_names_the_layout_and_says_so_in_a_note() {
    let output = trapcheck(&["inspect", "--notes", "tests/layouts"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let rows = stdout(&output);
    assert_eq!(rows.lines().filter(|row| row.starts_with("vllm-cpu")).count(), 3, "{rows}");
    assert!(rows.lines().nth(1).unwrap().contains("cluster-csv"), "{rows}");
    let note = "limited_4711: read with the layout cluster-csv (configs/layouts/cluster-csv.yaml)";
    assert!(stderr(&output).contains(note), "{}", stderr(&output));
    let nowhere = ["inspect", "--configs", "no/such/folder", "tests/layouts"];
    assert_eq!(trapcheck(&nowhere).output().unwrap().status.code(), Some(2));
}

#[test]
fn a_layout_that_cannot_be_used_stops_every_command_with_its_line() {
    let project = Project::copy();
    let path = project.path("configs/layouts/cluster-csv.yaml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("unit: ms", "unit: min", 1)).unwrap();
    for command in ["inspect", "score"] {
        let output = project.trapcheck(&[command, BATCH]).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let words = "configs/layouts/cluster-csv.yaml:9:";
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
}
