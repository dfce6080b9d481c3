//! `trapcheck score`.

mod rules;

use std::fs;

use crate::project::{Project, stderr, stdout, trapcheck};

const BURST: &str =
    "results/vllm-cpu/cpu_1_pulled_20261129-125700/agentload_burst/20261129-121107_x1.5_s0";

fn json(args: &[&str]) -> serde_json::Value {
    let output = trapcheck(&[&["score", "--format", "json"], args].concat()).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_burst_run_is_trapped_and_every_clause_shows_its_margin() {
    let score = json(&[BURST]);
    let state = &score["states"][0];
    assert_eq!(state["state"], "TRAPPED");
    let clauses = state["trapped"].as_array().unwrap();
    assert_eq!(clauses.len(), 3);
    for clause in clauses {
        assert_eq!(clause["holds"], true, "{clause}");
        assert!(clause["margin"].as_f64().unwrap() > 0.0, "{clause}");
    }
    // The README of these runs gives 7,242 tokens/s over an all-miss 7,683 and a slope of +0.14.
    let run = &score["runs"][0];
    for (name, printed, half_digit) in [
        ("uncached_tokens_per_s", 7242.0, 0.5),
        ("uncached_over_all_miss", 0.943, 0.0005),
        ("backlog_slope_per_s", 0.1415, 0.00005),
        ("slope_threshold_per_s", 0.1164, 0.00005),
    ] {
        let value = run[name].as_f64().unwrap();
        assert!((value - printed).abs() <= half_digit, "{name}: {value}");
    }
}

#[test]
fn the_whole_set_gives_the_states_that_its_readme_describes() {
    let score = json(&["results/vllm-cpu"]);
    let expected =
        [("burst", 3, "TRAPPED"), ("noburst", 3, "RECOVERED"), ("capped", 3, "RECOVERED")];
    for (arm, count, state) in expected {
        let runs: Vec<_> =
            score["runs"].as_array().unwrap().iter().filter(|run| run["arm"] == arm).collect();
        assert_eq!(runs.len(), count);
        assert!(runs.iter().all(|run| run["state"] == state), "{arm}");
    }
    let paired = score["paired"].as_array().unwrap();
    assert_eq!(paired.len(), 3);
    for seed in paired {
        assert_eq!(seed["rate_verdict"], "PASS");
        assert_eq!(seed["status"], "EXPLORATORY");
        assert_eq!(seed["decisive"], "no");
    }
}

#[test]
fn a_stuck_run_is_checked_under_both_calibrations_each_named() {
    let score = json(&[BURST]);
    let checks = score["trap_check"].as_array().unwrap();
    let named: Vec<_> = checks.iter().map(|c| c["calibration"].as_str().unwrap()).collect();
    let own_speed = "the cell's calibration at the run's own speed";
    assert_eq!(named, ["the cell's calibration", own_speed]);
    for check in checks {
        let number = |name: &str| check[name].as_f64().unwrap();
        // Numbers are not rounded, so neither are their ratios.
        for (measured, predicted, ratio) in [
            ("mean_prompt_tokens", "tilted_mix_prompt_tokens", "prompt_ratio"),
            ("gap_slope", "one_minus_1_over_z", "gap_slope_over_one_minus_1_over_z"),
            ("completions_per_s", "model_completions_per_s", "completions_ratio"),
            ("backlog_slope_per_s", "alpha_per_s", "backlog_slope_over_alpha"),
        ] {
            let expected = number(measured) / number(predicted);
            assert!((expected - number(ratio)).abs() < 1e-12 * expected, "{ratio} in {check}");
        }
        // In model F arrivals are completions plus growth.
        let arrivals = number("model_completions_per_s") + number("alpha_per_s");
        assert!((arrivals - 0.6984).abs() < 2e-4, "{check}");
    }
}

#[test]
fn two_arms_of_one_seed_are_not_decidable_but_shown() {
    let noburst = BURST.replace("burst/20261129-121107", "noburst/20261129-122011");
    let output = trapcheck(&["score", BURST, &noburst]).output().unwrap();
    let text = stdout(&output);
    assert!(text.contains("rate 1.50: not decidable (0 of 0 seeds"), "{text}");
    assert!(text.contains("set aside: seed 0 has no capped run"), "{text}");
    assert!(text.contains("TRAPPED"), "{text}");
}

#[test]
fn unknown_cached_tokens_are_unknown_never_zero() {
    let project = Project::copy();
    let turns = project.path(&format!("{BURST}/turns.csv.gz"));
    let mut text = String::new();
    let bytes = fs::read(&turns).unwrap();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&bytes[..]), &mut text)
        .unwrap();
    // cached_tokens is the 9th column; the engine of this copy never says.
    let unknown: String = text
        .lines()
        .enumerate()
        .map(|(i, line)| {
            let mut fields: Vec<&str> = line.split(',').collect();
            if i > 0 {
                fields[8] = "";
            }
            fields.join(",") + "\n"
        })
        .collect();
    fs::remove_file(&turns).unwrap();
    fs::write(project.path(&format!("{BURST}/turns.csv")), unknown).unwrap();
    let output = project.trapcheck(&["score", "--wide", BURST]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    let row = text.lines().find(|line| line.starts_with("burst")).unwrap();
    assert!(row.contains("UNMEASURABLE"), "{row}");
    assert!(row.contains("unknown uncached token rate"), "{row}");
    assert!(!row.contains("0.000"), "{row}");
}

#[test]
fn one_bad_run_never_ends_the_batch() {
    let project = Project::copy();
    fs::write(project.path(&format!("{BURST}/meta.json")), "{\"format\": 1").unwrap();
    let output = project.trapcheck(&["score", "results/vllm-cpu"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains(&format!("not scored: {BURST}")), "{}", stderr(&output));
    assert!(stdout(&output).contains("set aside: seed 0 has no burst run"));
}

#[test]
fn out_writes_the_tables_and_leaves_no_half_written_file() {
    let project = Project::copy();
    project.trapcheck(&["score", "--out", "scores", "results/vllm-cpu"]).assert().success();
    let names: Vec<_> = project
        .bytes_of("scores")
        .into_iter()
        .map(|(path, _)| path.to_string_lossy().into_owned())
        .collect();
    assert_eq!(names, ["paired.csv", "runs.csv", "score.json", "trap_check.csv"]);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("trapcheck"))
        .args(["score", "--format", "json", "results/vllm-cpu"])
        .current_dir(crate::project::root())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn a_run_of_an_unknown_cell_says_how_to_make_the_cell() {
    let project = Project::copy();
    let meta = project.path(&format!("{BURST}/meta.json"));
    let text = fs::read_to_string(&meta).unwrap();
    fs::write(&meta, text.replace("vllm-cpu-tiny-30k", "my-cell")).unwrap();
    let output = project.trapcheck(&["score", BURST]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains("no cell my-cell in configs/cells"), "{said}");
    assert!(said.contains("trapcheck calibrate"), "{said}");
}

#[test]
fn what_cannot_be_asked_is_said_in_the_users_words() {
    for (args, why) in [
        (["--set", "slop_factor=1"], "no threshold slop_factor: there are token_rate_tolerance"),
        (["--set", "slop_factor=1"], "did you mean slope_factor?"),
        (["--set", "slope_factor"], "expected NAME=VALUE, as slope_factor=1"),
        (["--set", "slope_factor=fast"], "expected a number after =, found fast"),
        (["--set", "seeds_passing=9"], "seeds_at_least: expected at least seeds_passing"),
        (["--rule", "configs/registrations/r1.yaml"], "is a rule for sglang-300k"),
        (["--rule", "nowhere.yaml"], "nowhere.yaml: cannot read"),
    ] {
        let output = trapcheck(&[&["score"], &args[..], &[BURST]].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(why), "{args:?}: {}", stderr(&output));
    }
}

#[test]
fn what_inspect_notes_of_many_runs_score_says_once_with_a_count() {
    let output = trapcheck(&["score", "results/vllm-cpu"]).output().unwrap();
    let said = stderr(&output);
    let notes: Vec<&str> = said.lines().filter(|line| line.starts_with("note: ")).collect();
    assert_eq!(notes.len(), 1, "{said}");
    let words = "note: engine.csv.gz of 22 runs: does not report kv_evictable_tokens";
    assert!(notes[0].starts_with(words), "{said}");
}

#[test]
fn a_run_whose_rate_is_a_multiple_of_another_lambda_ref_is_noted() {
    let project = Project::copy();
    let meta = project.path(&format!("{BURST}/meta.json"));
    let text = fs::read_to_string(&meta).unwrap();
    assert!(text.contains("\"lambda_ref\": 0.4656"), "{text}");
    let text = text.replace("\"lambda_ref\": 0.4656", "\"lambda_ref\": 0.5656");
    fs::write(&meta, text.replace("\"multiple\": 1.5,", "\"multiple\": 1.2348,")).unwrap();
    let output = project.trapcheck(&["score", BURST]).output().unwrap();
    let said = stderr(&output);
    let why = "a multiple of 0.5656 sessions/s, and it is judged against lambda_ref 0.4656";
    assert!(said.contains(why), "{said}");
}

#[test]
fn the_states_of_the_engines_runs_are_what_they_were() {
    let score = json(&["results/vllm-cpu"]);
    let states: Vec<(&str, &str)> = score["states"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| {
            let name = run["run"].as_str().unwrap().rsplit('/').next().unwrap();
            (name, run["state"].as_str().unwrap())
        })
        .collect();
    let (trapped, recovered) = ("TRAPPED", "RECOVERED");
    let pinned = [
        ("20261129-121107_x1.5_s0", trapped),
        ("20261129-124725_x1.5_s1", trapped),
        ("20261129-122916_x1.5_s0", recovered),
        ("20261129-122011_x1.5_s0", recovered),
        ("20261129-123820_x1.5_s0", recovered),
        ("20261129-130103_x1.5_s2", trapped),
        ("20261129-131009_x1.5_s1", recovered),
        ("20261129-133722_x1.5_s2", recovered),
        ("20261129-131914_x1.5_s1", recovered),
        ("20261129-132818_x1.5_s2", recovered),
    ];
    assert_eq!(states, pinned);
    // Closed, cache-off and from-empty runs have none.
    assert_eq!(score["runs"].as_array().unwrap().len(), 22);
}
