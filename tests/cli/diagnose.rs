//! `diagnose`, `import` and `watch` over the program: answers from files that people have.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Output;

use tempfile::TempDir;

fn trapcheck(folder: &Path, args: &[&str]) -> Output {
    assert_cmd::Command::cargo_bin("trapcheck")
        .unwrap()
        .current_dir(folder)
        .args(args)
        .output()
        .unwrap()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// SGLang's log, a batch every 10 s: five good minutes, then ten in which everything misses.
fn trapped_log() -> String {
    let mut text = String::from(
        "[2026-09-02 09:59:58 TP0] max_total_num_tokens=84032, chunked_prefill_size=8192\n",
    );
    for i in 0..90_u32 {
        let (new, cached, queue) = if i < 30 { (600, 9000, 0) } else { (9600, 0, 2 * (i - 30)) };
        let (m, s) = (i / 6, i % 6 * 10);
        let _ = writeln!(
            text,
            "[2026-09-02 10:{m:02}:{s:02} TP0] Prefill batch, #new-seq: 1, #new-token: {new}, #cached-token: {cached}, token usage: 0.97, #running-req: 8, #queue-req: {queue}, cuda graph: False"
        );
    }
    text
}

/// A client's requests: sessions that find what they sent before, or nothing.
fn requests(found: bool) -> String {
    let mut text = String::new();
    for turn in 1..=8_u32 {
        for session in 0..4_u32 {
            let t = 1_788_343_200 + 60 * turn + session;
            let prompt = 1000 + 500 * turn;
            let cached = if found && turn > 1 { prompt - 500 } else { 0 };
            let _ = writeln!(
                text,
                "{{\"session_id\":\"s{session}\",\"turn\":{turn},\"submit_timestamp\":{t}.0,\"complete_timestamp\":{}.5,\"usage\":{{\"prompt_tokens\":{prompt},\"completion_tokens\":20,\"prompt_tokens_details\":{{\"cached_tokens\":{cached}}}}}}}",
                t + 9
            );
        }
    }
    text
}

#[test]
fn a_log_answers_in_words_for_the_night_and_by_the_exit_code() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("server.log"), trapped_log()).unwrap();
    let output = trapcheck(folder.path(), &["diagnose", "server.log"]);
    let text = out(&output);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("TRAP since 2026-09-02 10:0"), "{text}");
    assert!(lines[1..4].iter().all(|line| line.starts_with("  ")), "{text}");
    assert!(lines[4].starts_with("  do: "), "{text}");
    assert_eq!(output.status.code(), Some(1), "{}", err(&output));
    std::fs::write(folder.path().join("good.jsonl"), requests(true)).unwrap();
    let output = trapcheck(folder.path(), &["diagnose", "good.jsonl"]);
    assert!(out(&output).starts_with("GOOD"), "{}", out(&output));
    assert_eq!(output.status.code(), Some(0));
    std::fs::write(folder.path().join("one.jsonl"), "{\"usage\":{\"prompt_tokens\":9}}\n").unwrap();
    let output = trapcheck(folder.path(), &["diagnose", "one.jsonl"]);
    assert!(out(&output).starts_with("UNMEASURABLE"), "{}", out(&output));
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn json_has_a_version_and_every_field_that_is_documented() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("server.log"), trapped_log()).unwrap();
    let output = trapcheck(folder.path(), &["diagnose", "--format", "json", "server.log"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["format"], "trapcheck-diagnose/1");
    let answer = &json["services"][0]["answers"][0];
    assert_eq!((&answer["verdict"], &answer["software"]), (&"trap".into(), &"sglang".into()));
    assert_eq!(answer["pool_tokens"], 84_032);
    assert_eq!(answer["until_s"], serde_json::Value::Null);
    assert!(answer["capacity"]["all_miss_tokens_per_s"].as_f64().unwrap() > 900.0, "{answer}");
    let page = std::fs::read_to_string(root().join("docs/diagnose.md")).unwrap();
    let service = json["services"][0].as_object().unwrap();
    let evidence = answer["evidence"][0].as_object().unwrap();
    let bin = answer["timeline"][0].as_object().unwrap();
    for key in
        [service, answer.as_object().unwrap(), evidence, bin].into_iter().flat_map(|o| o.keys())
    {
        assert!(page.contains(&format!("`{key}`")), "docs/diagnose.md does not name {key}");
    }
}

#[test]
fn packed_logs_of_the_repository_are_read_as_they_lie() {
    let of = |name: &str| {
        let output = trapcheck(root(), &["diagnose", &format!("results/vllm-cpu/{name}.log.gz")]);
        (out(&output), output.status.code())
    };
    let (text, code) = of("server_prefix_caching_on");
    assert!(text.contains("almost all that could be reused is missed"), "{text}");
    assert_eq!(code, Some(1));
    let (text, code) = of("server_prefix_caching_off");
    assert!(text.contains("the prefix cache is off"), "{text}");
    assert_eq!(code, Some(1));
}

#[test]
fn run_directories_are_judged_each_by_itself_the_worst_first() {
    let output = trapcheck(root(), &["diagnose", "results/vllm-cpu/cpu_1_pulled_20261129-125700/"]);
    let text = out(&output);
    let first: Vec<&str> =
        text.lines().filter(|line| !line.starts_with("  ") && !line.contains("left out")).collect();
    let of =
        |name: &str| first.iter().find(|line| line.contains(name)).copied().unwrap_or_default();
    assert!(first[0].contains("TRAP"), "{text}");
    assert!(of("20261129-121107_x1.5_s0").contains("TRAP"), "{text}");
    assert!(of("20261129-120826_n48").contains("TRAP"), "{text}");
    assert!(of("20261129-122916_x1.5_s0").contains("GOOD"), "{text}");
    assert!(of("20261129-122011_x1.5_s0").contains("GOOD"), "{text}");
    assert!(of("20261129-115514_n32").contains("the prefix cache is off"), "{text}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_simulated_run_says_so_in_its_first_line() {
    let run = "results/sim/cut-b/agentload_cut/cut-b_sglang-300k_cut0.85_x1.65_s2";
    let output = trapcheck(root(), &["diagnose", run]);
    let text = out(&output);
    assert!(text.lines().next().unwrap().contains("simulated: "), "{text} {}", err(&output));
}

#[test]
fn bad_input_is_one_error_with_what_was_expected() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("prose.txt"), "nothing here\n").unwrap();
    std::fs::write(folder.path().join("good.jsonl"), requests(true)).unwrap();
    std::fs::write(folder.path().join("rule.yaml"), "waiting: -1\n").unwrap();
    let head = "program_id,turn,status,prompt_tokens\n";
    std::fs::write(folder.path().join("head.csv"), head).unwrap();
    for (args, says) in [
        (&["diagnose", "prose.txt"][..], "prose.txt: not recognised"),
        (&["diagnose", "absent.log"], "absent.log: cannot read"),
        (&["diagnose", "--from", "vlm-log", "prose.txt"], "did you mean vllm-log"),
        (&["diagnose", "--reuse-ceiling", "80", "good.jsonl"], "--reuse-ceiling: expected a share"),
        (&["diagnose", "--rule", "rule.yaml", "good.jsonl"], "waiting: expected a positive number"),
        (&["diagnose", "--plot", "x.gif", "good.jsonl"], "expected a .svg"),
        (&["diagnose", "head.csv"], "nothing in it could be used: no record is in it"),
        (
            &["import", "good.jsonl", "--out", "run"],
            "good.jsonl: the KV pool is not told: give --pool TOKENS",
        ),
        (&["watch", "https://127.0.0.1:1/metrics"], "plain http only"),
        (&["watch", "http://127.0.0.1:1/", "--serve", "elsewhere"], "--serve elsewhere: expected"),
    ] {
        let output = trapcheck(folder.path(), args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", out(&output));
        assert!(err(&output).contains(says), "{args:?}: {}", err(&output));
    }
    assert!(!folder.path().join("run").exists());
}

#[test]
fn recorded_sessions_are_no_engines_files_and_the_error_names_the_command_for_them() {
    let folder = TempDir::new().unwrap();
    for name in ["agents.jsonl", "arrays.json", "mooncake.jsonl"] {
        let path = root().join("tests/sessions").join(name).display().to_string();
        for args in [&["diagnose", &path][..], &["import", &path, "--out", "run"]] {
            let output = trapcheck(folder.path(), args);
            assert_eq!(output.status.code(), Some(2), "{args:?}: {}", out(&output));
            let said = err(&output);
            assert!(said.contains(name), "{said}");
            assert!(said.contains("`trapcheck sessions describe FILE`"), "{said}");
        }
    }
}

#[test]
fn a_picture_is_drawn_and_its_data_are_the_timelines() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("server.log"), trapped_log()).unwrap();
    for name in ["night.svg", "night.csv"] {
        let output = trapcheck(folder.path(), &["diagnose", "--plot", name, "server.log"]);
        assert!(err(&output).contains("wrote"), "{}", err(&output));
    }
    let svg = std::fs::read_to_string(folder.path().join("night.svg")).unwrap();
    assert!(svg.contains("sglang of unknown version"), "the engine is named above the panels");
    let csv = std::fs::read_to_string(folder.path().join("night.csv")).unwrap();
    assert!(csv.lines().any(|line| line.contains("hit_fraction")), "{csv}");
}

#[test]
fn what_is_imported_is_a_run_that_every_command_reads() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("client.jsonl"), requests(true)).unwrap();
    let output =
        trapcheck(folder.path(), &["import", "client.jsonl", "--pool", "50000", "--out", "run"]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    assert!(out(&output).contains("run: 4 sessions, 32 turns, 0 samples"), "{}", out(&output));
    assert!(out(&output).contains("taken as when it sent"), "{}", out(&output));
    let inspected = trapcheck(folder.path(), &["inspect", "run"]);
    assert_eq!(inspected.status.code(), Some(0), "{} {}", out(&inspected), err(&inspected));
    let answer = trapcheck(folder.path(), &["diagnose", "run"]);
    assert!(out(&answer).starts_with("GOOD"), "{}", out(&answer));
    let again =
        trapcheck(folder.path(), &["import", "client.jsonl", "--pool", "50000", "--out", "run"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(err(&again).contains("already there"), "{}", err(&again));
}

/// Answers each request with the next scrape: hits that stop while the queue grows.
fn endpoint(scrapes: u32) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for i in 0..scrapes {
            let Ok((mut stream, _)) = listener.accept() else { return };
            let mut request = [0; 4096];
            let _ = stream.read(&mut request);
            let body = format!(
                "vllm:num_requests_running{{engine=\"0\"}} 8.0\nvllm:num_requests_waiting{{engine=\"0\"}} {}.0\nvllm:prefix_cache_queries_total{{engine=\"0\"}} {}.0\nvllm:prefix_cache_hits_total{{engine=\"0\"}} {}.0\n",
                5 * i,
                1000 * (i + 1),
                900 * (i.min(2) + 1)
            );
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    port
}

#[test]
fn an_endpoint_is_watched_scrape_by_scrape_and_the_last_answer_is_the_exit_code() {
    let folder = TempDir::new().unwrap();
    let url = format!("http://127.0.0.1:{}/metrics", endpoint(12));
    std::fs::write(folder.path().join("rule.yaml"), "sustained_s: 0.1\n").unwrap();
    let output = trapcheck(
        folder.path(),
        &["watch", &url, "--every", "0.1", "--count", "12", "--rule", "rule.yaml"],
    );
    let text = out(&output);
    assert_eq!(text.lines().count(), 12, "{text} {}", err(&output));
    assert!(
        text.lines().next().unwrap().contains("engine 0: UNMEASURABLE: one scrape alone"),
        "{text}"
    );
    assert!(text.lines().last().unwrap().contains("engine 0: TRAP since "), "{text}");
    assert_eq!(output.status.code(), Some(1));
    let gone = trapcheck(
        folder.path(),
        &["watch", "http://127.0.0.1:1/metrics", "--every", "0.01", "--count", "2"],
    );
    assert_eq!(gone.status.code(), Some(2), "{}", err(&gone));
    assert_eq!(err(&gone).lines().count(), 2, "{}", err(&gone));
}

#[test]
fn the_answers_are_served_as_metrics_to_whoever_asks_on_this_machine() {
    let folder = TempDir::new().unwrap();
    let url = format!("http://127.0.0.1:{}/metrics", endpoint(60));
    let program = assert_cmd::cargo::cargo_bin("trapcheck");
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let mut watch = std::process::Command::new(program)
        .current_dir(folder.path())
        .args(["watch", &url, "--every", "0.1", "--count", "50", "--serve", &free])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let asked = |path: &str| {
        let mut stream = TcpStream::connect(format!("127.0.0.1:{free}")).ok()?;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").ok()?;
        let mut text = String::new();
        stream.read_to_string(&mut text).ok()?;
        Some(text)
    };
    let mut seen = String::new();
    for _ in 0..40 {
        std::thread::sleep(std::time::Duration::from_millis(100));
        seen = asked("/metrics").unwrap_or_default();
        if seen.contains("trapcheck_up 1") {
            break;
        }
    }
    let elsewhere = asked("/").unwrap_or_default();
    let _ = watch.kill();
    let _ = watch.wait();
    assert!(seen.contains("trapcheck_up 1"), "{seen}");
    assert!(seen.contains("# TYPE trapcheck_verdict gauge"), "{seen}");
    assert!(elsewhere.starts_with("HTTP/1.1 404"), "{elsewhere}");
}
