//! `trapcheck knee`: how many sessions fit, on made-up recorded sessions and on a law.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::project::{stderr, stdout, trapcheck};

/// 80 sessions of 4 to 15 turns that grow to some 20,000 tokens, with gaps of 4 to 12 s; two have a
/// turn that no small pool holds.
pub fn sessions(folder: &Path) -> PathBuf {
    made_up(folder, 80)
}

/// The same, of any number.
pub fn made_up(folder: &Path, number: u64) -> PathBuf {
    let mut text =
        "session,turn,t_s,prompt_tokens,output_tokens,reusable_tokens,think_s,api_s\n".to_owned();
    for i in 0..number {
        let mut before = 0;
        for k in 1..=4 + i % 12 {
            let huge = if i % 40 == 7 && k == 4 { 90_000 } else { 0 };
            let prompt = 4000 + 1300 * k + 64 * ((5 * i + 3 * k) % 7) + huge;
            let reusable = if k == 1 { 0 } else { (before / 64) * 64 };
            let think = if k == 1 { 0 } else { 4 + (3 * i + k) % 9 };
            let output = 20 + (11 * i + 7 * k) % 60;
            let t = 30 * k;
            writeln!(text, "s{i},{k},{t},{prompt},{output},{},{think},1", reusable.min(prompt))
                .unwrap();
            before = prompt;
        }
    }
    let path = folder.join("made-up.csv");
    std::fs::write(&path, text).unwrap();
    path
}

const SIZES: [&str; 10] = [
    "--pool-tokens",
    "80000",
    "--prefill-rate",
    "12000",
    "--warm-up",
    "300",
    "--window",
    "600",
    "--seeds",
    "2",
];

fn knee(args: &[&str]) -> (Option<i32>, String, String) {
    let output = trapcheck(&[&["knee"], args].concat()).output().unwrap();
    (output.status.code(), stdout(&output), stderr(&output))
}

fn fact(answer: &Value, name: &str) -> Value {
    let rows = answer["knee"].as_array().unwrap();
    rows.iter().find(|row| row["quantity"] == name).unwrap()["value"].clone()
}

#[test]
fn recorded_sessions_have_a_bracket_a_cap_and_a_theory_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let (file, plot) = (sessions(folder.path()), folder.path().join("knee.svg"));
    let own = ["--sessions", file.to_str().unwrap(), "--plot", plot.to_str().unwrap()];
    let args = [&SIZES[..], &own, &["--format", "json"]].concat();
    let (code, said, notes) = knee(&args);
    assert_eq!(code, Some(0), "{notes}");
    assert!(notes.contains("78 of 80 sessions are played"), "{notes}");
    assert!(notes.contains("2 sessions left out: a turn larger than the pool"), "{notes}");
    let answer: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(answer["format"], "trapcheck-knee/1");
    let number = |name: &str| fact(&answer, name).as_f64().unwrap();
    let (good, trapped) = (number("from empty: good up to"), number("from empty: trapped from"));
    let (cap, onset) = (number("cap to set"), number("theory: all-miss onset n_b"));
    assert!(1.0 <= cap && cap <= good && good < trapped, "{said}");
    // 80,000 tokens hold about six sessions of 12,000.
    assert!((3.0..12.0).contains(&good) && (3.0..20.0).contains(&onset), "{said}");
    let crossing = number("from empty: half-hit crossing");
    assert!(good <= crossing && crossing <= trapped, "{said}");
    let picture = std::fs::read_to_string(&plot).unwrap();
    assert!(picture.contains("simulated"), "a picture of simulated runs says so");
    // The same question has the same answer.
    assert_eq!(knee(&args).1, said);
}

#[test]
fn given_populations_are_simulated_from_both_starts_and_a_host_tier_moves_the_fall() {
    let folder = tempfile::tempdir().unwrap();
    let file = sessions(folder.path());
    let own = ["--sessions", file.to_str().unwrap(), "--population", "2,24"];
    let tier = ["--host-tokens", "1000000", "--host-load-rate", "1000000", "--format", "csv"];
    let (code, said, notes) = knee(&[&SIZES[..], &own, &tier].concat());
    assert_eq!(code, Some(0), "{notes}");
    let rows: Vec<Vec<&str>> = said.lines().skip(1).map(|row| row.split(',').collect()).collect();
    assert_eq!(rows.len(), 8, "{said}");
    let hits = |start: &str, n: &str| -> f64 {
        let row = said.lines().find(|row| row.starts_with(&format!("{start},{n},"))).unwrap();
        row.rsplit(',').nth(12).unwrap().parse().unwrap()
    };
    assert!(hits("empty", "2") > 90.0 && hits("trap", "2") > 90.0, "{said}");
    assert!(hits("empty", "24") < 20.0 && hits("trap", "24") < 20.0, "{said}");
    assert!(hits("\"empty, host tier\"", "24") > 60.0, "{said}");
}

#[test]
fn what_cannot_be_asked_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = sessions(folder.path());
    let file = file.to_str().unwrap();
    for (args, said) in [
        (vec!["--sessions", file], "--cell"),
        (vec!["--cell", "sglang-300k", "--workload", "standart"], "standard"),
        (vec!["--cell", "sglang-3000", "--workload", "standard"], "sglang-300k"),
        (vec!["--pool-tokens", "80000", "--prefill-rate", "12000"], "give the sessions"),
        (
            vec!["--sessions", file, "--pool-tokens", "80000", "--prefill-rate", "1e9"],
            "an iteration of 8192 tokens takes at least",
        ),
        (
            vec!["--sessions", file, "--pool-tokens", "3000", "--prefill-rate", "12000"],
            "none of its 80 sessions can be played",
        ),
        (vec!["--sessions", file, "--cell", "sglang-300k", "--gap-limit", "-1"], "--gap-limit"),
        (vec!["--cell", "sglang-300k", "--population", "0"], "expected at least 1"),
        (vec!["--cell", "sglang-300k", "--good", "0.1"], "0 < trapped <= good <= 1"),
        (vec!["--cell", "sglang-300k", "--host-tokens", "10"], "--host-load-rate"),
        (vec!["--sessions", "no-such.csv", "--cell", "sglang-300k"], "no-such.csv"),
    ] {
        let (code, out, error) = knee(&args);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{args:?}: {error}");
        assert!(error.contains(said), "{args:?}: {error}");
    }
}

#[test]
fn a_workload_of_kind_recorded_is_asked_for_by_name_and_bound_to_its_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let file = sessions(folder.path());
    let configs = folder.path().join("configs");
    for part in ["cells", "protocols", "workloads"] {
        let to = configs.join(part);
        std::fs::create_dir_all(&to).unwrap();
        for entry in std::fs::read_dir(crate::project::root().join("configs").join(part)).unwrap() {
            let path = entry.unwrap().path();
            std::fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
        }
    }
    let sha256 = trapcheck_setup::hash::sha256_hex(&std::fs::read(&file).unwrap());
    let write = |sha256: &str| {
        let text = format!(
            "name: agents\nkind: recorded\npath: {}\nsha256: {sha256}\ngap_limit_s: 10\n",
            file.display()
        );
        std::fs::write(configs.join("workloads/agents.yaml"), text).unwrap();
    };
    write(&sha256);
    let ask = ["--workload", "agents", "--configs", configs.to_str().unwrap()];
    let (code, said, error) = knee(&[&SIZES[..], &ask, &["--population", "3"]].concat());
    assert_eq!(code, Some(0), "{error}");
    assert!(said.contains("agents, gaps up to 10 s"), "{said}");
    let model = ["model", "trap", "--cell", "sglang-300k", "--rho", "1.5"];
    let output = trapcheck(&[&model[..], &ask].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    write(&"0".repeat(64));
    let (code, _, error) = knee(&[&SIZES[..], &ask].concat());
    assert_eq!(code, Some(2));
    assert!(error.contains("other sessions are another workload"), "{error}");
}

/// Weka sessions in pairs: one alone, and one that sends two subagents out beside each other and waits
/// for both.
pub fn trees(folder: &Path) -> PathBuf {
    let mut text = String::new();
    let ids =
        |from: u64, n: u64| (from..from + n).map(|i| i.to_string()).collect::<Vec<_>>().join(",");
    for i in 0..40 {
        let request = |t: u64, blocks: u64, think: u64| {
            let (tokens, ids) = (64 * blocks, ids(0, blocks));
            format!(
                r#"{{"t":{t},"in":{tokens},"out":40,"hash_ids":[{ids}],"api_time":2,"think_time":{think}}}"#
            )
        };
        let agent = |n: u64| {
            let turns: Vec<_> = (0..6).map(|k| request(5 * k, 60 + 20 * k + i % 7, 3)).collect();
            format!(
                r#"{{"type":"subagent","agent_id":"a{n}","t":60,"duration_ms":40000,"requests":[{}]}}"#,
                turns.join(",")
            )
        };
        let mut requests = vec![request(0, 70 + i % 11, 0), request(15, 90 + i % 11, 13)];
        if i % 2 == 1 {
            requests.extend([agent(1), agent(2)]);
        }
        requests.extend([request(70, 120 + i % 11, 53), request(80, 130 + i % 11, 8)]);
        writeln!(text, r#"{{"id":"s{i}","block_size":64,"requests":[{}]}}"#, requests.join(","))
            .unwrap();
    }
    let path = folder.join("trees.jsonl");
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn subagents_are_played_unless_they_are_left_out_and_a_population_with_them_falls_off_earlier() {
    let folder = tempfile::tempdir().unwrap();
    let file = trees(folder.path());
    let table = folder.path().join("trees.csv");
    let import = ["sessions", "import", file.to_str().unwrap(), "--out", table.to_str().unwrap()];
    assert!(trapcheck(&import).output().unwrap().status.success());
    let ask = |file: &Path, more: &[&str]| {
        let own = ["--sessions", file.to_str().unwrap(), "--format", "json"];
        let (code, said, notes) = knee(&[&SIZES[..], &own, more].concat());
        assert_eq!(code, Some(0), "{notes}");
        (serde_json::from_str::<Value>(&said).unwrap(), notes)
    };
    let (with, notes) = ask(&file, &[]);
    assert!(notes.contains("40 of 80 sessions are played"), "{notes}");
    assert!(notes.contains("40 subagents played beside them, with 240 turns"), "{notes}");
    assert!(notes.contains("theory beside it is of the sessions alone"), "{notes}");
    assert_eq!(fact(&with, "sessions"), "trees, gaps up to 60 s, with subagents");
    // The table that they are imported into says the same of when they ran.
    let rungs = |answer: &Value| answer["knee_populations"].clone();
    assert!(rungs(&with).as_array().is_some_and(|rows| rows.len() > 4), "{with}");
    assert_eq!(rungs(&ask(&table, &[]).0), rungs(&with));
    let (without, notes) = ask(&file, &["--subagents", "left-out"]);
    assert!(notes.contains("40 subagents and branches left out, with 240 turns"), "{notes}");
    assert_eq!(fact(&without, "sessions"), "trees, gaps up to 60 s");
    let crossing = |of: &Value| fact(of, "from empty: half-hit crossing").as_f64().unwrap();
    assert!(crossing(&with) < 0.9 * crossing(&without), "{with} {without}");
    let onset = |of: &Value| fact(of, "theory: all-miss onset n_b");
    assert_eq!(onset(&with), onset(&without));
    let law = ["--workload", "standard", "--subagents", "played"];
    let (code, _, error) = knee(&[&SIZES[..], &law].concat());
    assert_eq!(code, Some(2));
    assert!(error.contains("--subagents is of recorded sessions"), "{error}");
}
