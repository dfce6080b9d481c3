//! Questions and their answers, as a page sends and gets them.
#![allow(clippy::unwrap_used)] // a test that cannot go on fails

use serde_json::{Value, json};
use trapcheck_page::{answer, answer_live, answer_logs, answer_runs, answer_with};

fn ok(question: Value) -> Value {
    let said: Value = serde_json::from_str(&answer(&question.to_string())).unwrap();
    assert_eq!(said["error"], Value::Null, "{question}");
    said["ok"].clone()
}

fn refused(question: &str) -> String {
    let said: Value = serde_json::from_str(&answer(question)).unwrap();
    said["error"].as_str().unwrap_or_else(|| panic!("{said}")).to_owned()
}

#[test]
fn an_answer_has_its_tables_raw_and_printed_and_its_command() {
    let said = ok(json!({"ask": "trap", "cell": "sglang-300k", "rate": 1.65}));
    assert_eq!(said["command"], "trapcheck model trap --cell sglang-300k --rate 1.65");
    assert_eq!(said["format"], "trapcheck-model/1");
    let gamma = |table: &Value, name: &str| {
        let rows = table.as_array().unwrap();
        rows.iter().find(|row| row[name] == "gap growth, per joining time").cloned().unwrap()
    };
    let raw = gamma(&said["model_trap"], "quantity")["value"].as_f64().unwrap();
    assert_eq!(format!("{raw:.5}"), "0.02301");
    let printed = said["printed"]["model_trap"]["rows"].as_array().unwrap();
    assert!(printed.contains(&json!(["gap growth, per joining time", "0.02301", "s/s"])));
    let mix = said["mix"].as_array().unwrap();
    let trapped: f64 = mix.iter().map(|turn| turn["trapped"].as_f64().unwrap()).sum();
    assert!((trapped - 1.0).abs() < 1e-9 && mix.len() == 60);
    assert!((said["at"]["multiple"].as_f64().unwrap() - 1.65).abs() < 1e-9);
    assert!(said["premium"].as_array().unwrap().len() > 200);
}

#[test]
fn a_queue_that_drains_has_no_mix() {
    let said = ok(json!({"ask": "trap", "cell": "sglang-300k", "rate": 0.8}));
    assert_eq!((&said["mix"], &said["at"]), (&json!([]), &Value::Null));
}

#[test]
fn what_cannot_be_answered_is_refused_in_words() {
    assert!(refused("{").starts_with("question: "));
    assert_eq!(refused("{}"), "ask: expected a word");
    let nothing = refused(r#"{"ask":"trap","cell":"sglang-301k","rate":1}"#);
    assert!(nothing.contains("sglang-301k") && nothing.contains("sglang-300k"), "{nothing}");
    assert_eq!(
        refused(r#"{"ask":"trap","cell":"sglang-300k"}"#),
        "give a rate: --rate, --sessions-per-s or --rho"
    );
    assert!(refused(r#"{"ask":"trap","cell":"sglang-300k","rate":"x"}"#).contains("x"));
    assert!(
        refused(r#"{"ask":"simulate","cell":"sglang-300k","runs":[{"arm":"capped"}]}"#)
            .contains("this arm needs --cap")
    );
}

#[test]
fn two_engines_are_simulated_and_judged_each_with_what_happened_when() {
    let runs = json!([{"arm": "burst"}, {"arm": "rescue", "cap": 20, "from": 1800}]);
    let asked =
        json!({"ask": "simulate", "cell": "sglang-300k", "rate": 1.65, "seed": 0, "runs": runs});
    let said = ok(asked.clone());
    assert_eq!(
        said["command"],
        "trapcheck simulate --cell sglang-300k --rate 1.65 --seed 0 --arm burst --out burst && \
         trapcheck simulate --cell sglang-300k --rate 1.65 --seed 0 --arm rescue --cap 20 --from 1800 \
         --out rescue && trapcheck score burst rescue"
    );
    let engines = said["engines"].as_array().unwrap();
    assert_eq!(
        (engines[0]["state"].as_str(), engines[0]["source"].as_str()),
        (Some("TRAPPED"), Some("simulator"))
    );
    let happened = |engine: &Value, what: &str| {
        engine["events"]
            .as_array()
            .unwrap()
            .iter()
            .find(|e| e["what"] == what)
            .map(|e| e["t_s"].clone())
    };
    assert_eq!(happened(&engines[0], "burst begins"), Some(json!(1200.0)));
    assert_eq!(happened(&engines[0], "cap on"), None);
    assert_eq!(happened(&engines[1], "cap on"), Some(json!(1800.0)));
    // Each time that they change, off the curve that is drawn: alone they never come back.
    let changes = |engine: &Value| -> Vec<(f64, bool)> {
        let events = engine["events"].as_array().unwrap().iter();
        let hits = events.filter(|e| e["what"].as_str().unwrap().starts_with("hits "));
        hits.map(|e| (e["t_s"].as_f64().unwrap(), e["what"] == "hits back")).collect()
    };
    for engine in engines {
        let curve = &engine["follow_up_hits"];
        let (t_s, hits) = (curve["t_s"].as_array().unwrap(), curve["value"].as_array().unwrap());
        let (mut gone, mut expected) = (false, Vec::new());
        for (t, hit) in t_s.iter().zip(hits).filter_map(|(t, h)| Some((t.as_f64()?, h.as_f64()?))) {
            if if gone { hit > 0.8 } else { hit < 0.2 } {
                gone = !gone;
                expected.push((t, !gone));
            }
        }
        assert_eq!(changes(engine), expected);
    }
    assert_eq!(changes(&engines[0]).len(), 1);
    assert!(changes(&engines[1]).len() > 1);
    for series in ["hits", "backlog", "waiting"] {
        let (t_s, value) = (&engines[0][series]["t_s"], &engines[0][series]["value"]);
        assert_eq!(t_s.as_array().unwrap().len(), value.as_array().unwrap().len(), "{series}");
    }
    assert_eq!(ok(json!({"ask": "command", "question": asked}))["command"], said["command"]);
}

#[test]
fn dropped_files_are_told_apart_and_judged() {
    let log = include_str!("../../observed/tests/corpus/vllm-log.v1.txt");
    let said = ok(
        json!({"ask": "judge", "pool": 300_000, "files": [{"name": "server.log", "text": log}]}),
    );
    assert_eq!(
        (said["what"].as_str(), said["format"].as_str()),
        (Some("observed"), Some("trapcheck-diagnose/1"))
    );
    assert_eq!(said["command"], "trapcheck diagnose --pool 300000 server.log");
    assert!(!said["text"].as_str().unwrap().is_empty());
    let files = json!([{"name": "run/meta.json", "text": "{}"}]);
    let said = ok(json!({"ask": "judge", "files": files}));
    assert_eq!(
        (said["what"].as_str(), said["command"].as_str()),
        (Some("runs"), Some("trapcheck score run"))
    );
    assert!(said["not_scored"][0]["problems"][0].as_str().unwrap().starts_with("run/meta.json"));
    let orphan = json!({"ask": "judge", "files": [{"name": "run/turns.csv", "text": "a\n"}]});
    assert_eq!(refused(&orphan.to_string()), "run: has a turns table but no meta.json");
}

#[test]
fn of_a_pages_programs_one_answers_and_the_others_refuse() {
    let log = include_str!("../../observed/tests/corpus/vllm-log.v1.txt");
    let with_cell = json!({"ask": "judge", "cell": "agents-native", "sessions_per_s": 0.1,
        "files": [{"name": "server.log", "text": log}]});
    let orphan = json!({"ask": "judge", "files": [{"name": "run/turns.csv", "text": "a\n"}]});
    let run = json!({"ask": "judge", "files": [{"name": "run/meta.json", "text": "{}"}]});
    let killed = json!({"ask": "judge", "files": [{"name": "started.json", "text": "{}"}]});
    let live = json!({"ask": "trap", "cell": "sglang-300k", "rate": 1.65});
    let programs = [answer_live, answer_runs, answer_logs];
    for (question, at) in [(with_cell, 2), (orphan, 2), (run, 1), (killed, 1), (live, 0)] {
        let question = question.to_string();
        let answers = programs.map(|program| program(&question, &|_, _| None));
        for (i, said) in answers.iter().enumerate() {
            assert_eq!(*said == answer(&question), i == at, "{question}: {i}: {said}");
            assert_eq!(said.contains(" here\""), i != at, "{question}: {i}: {said}");
        }
    }
}

#[test]
fn bytes_of_a_dropped_file_are_asked_for_by_place_and_length() {
    let scrape = include_bytes!("../../observed/tests/corpus/prometheus.vllm.txt");
    let bytes = |at: u32, len: u32| (at == 64 && len == 7).then(|| scrape.to_vec());
    let question = r#"{"ask":"judge","files":[{"name":"a.prom","ptr":64,"len":7}]}"#;
    let said: Value = serde_json::from_str(&answer_with(question, &bytes)).unwrap();
    assert_eq!(said["ok"]["what"], "observed", "{said}");
    assert_eq!(refused(question), "a.prom: no bytes");
}

#[test]
fn a_file_too_large_to_be_read_is_told_by_its_size_and_judged_without_its_bytes() {
    let size = 600u64 << 20;
    let most = json!({"name": "run/most.csv", "size": 512u64 << 20});
    let files = json!([{"name": "run/meta.json", "size": 2}, {"name": "run/turns.csv", "size": size}, most]);
    assert_eq!(ok(json!({"ask": "sizes", "files": files}))["too_large"], json!(["run/turns.csv"]));
    let files =
        json!([{"name": "run/meta.json", "size": size}, {"name": "run/turns.csv", "text": ""}]);
    let said = ok(json!({"ask": "judge", "files": files}));
    assert_eq!(
        said["not_scored"][0]["problems"][0],
        "run/meta.json: cannot read: too large: expected at most 512 MiB, found 600 MiB"
    );
    let log = |size: u64| json!({"ask": "judge", "files": [{"name": "server.log", "size": size}]});
    assert_eq!(
        refused(&log(size).to_string()),
        "server.log: cannot read: too large: expected at most 512 MiB, found 600 MiB in a page; \
         trapcheck diagnose reads it"
    );
    assert_eq!(refused(&log(3).to_string()), "server.log: no bytes");
}

#[test]
fn what_a_page_cannot_unpack_is_told_with_what_does() {
    let zstd = [0x28, 0xb5, 0x2f, 0xfd, 0];
    let bytes = |_: u32, _: u32| Some(zstd.to_vec());
    let question = r#"{"ask":"judge","files":[{"name":"a.log.zst","ptr":8,"len":5}]}"#;
    let said: Value = serde_json::from_str(&answer_with(question, &bytes)).unwrap();
    assert_eq!(
        said["error"],
        "a.log.zst: zstd is not unpacked in a page: unpack it first (zstd -d), or give it to \
         trapcheck score or trapcheck diagnose, which read it"
    );
}
