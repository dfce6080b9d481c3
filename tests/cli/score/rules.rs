//! By which rule a run is judged, and what if by another.

use std::fs;

use super::{BURST, json};
use crate::project::{Project, stderr, stdout, trapcheck};

/// Binds the burst run to a registration of the given status; gives the scored row.
fn bound_to(status: &str, sha256: Option<&str>) -> serde_json::Value {
    let project = Project::copy();
    let path = project.path("configs/registrations/vllm-cpu.yaml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("status: EXPLORATORY", &format!("status: {status}"))).unwrap();
    let hash = sha256.map_or_else(
        || {
            use sha2::Digest;
            let digest = sha2::Sha256::digest(fs::read(&path).unwrap());
            digest.iter().map(|b| format!("{b:02x}")).collect::<String>()
        },
        str::to_owned,
    );
    let meta = project.path(&format!("{BURST}/meta.json"));
    let text = fs::read_to_string(&meta).unwrap();
    let registration = format!(
        r#""registration": {{"file": "r.yaml", "sha256": "{hash}", "status": "{status}"}}"#
    );
    fs::write(&meta, text.replace(r#""registration": null"#, &registration)).unwrap();
    let output = project.trapcheck(&["score", "--format", "json", BURST]).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn only_a_run_bound_to_a_filled_registration_is_decisive() {
    let filled = bound_to("FILLED", None);
    assert_eq!(filled["runs"][0]["registration"], "vllm-cpu");
    assert_eq!(filled["runs"][0]["binding"], "bound");
    assert_eq!(filled["paired"][0]["decisive"], "yes");
    let exploratory = bound_to("EXPLORATORY", None);
    assert_eq!(exploratory["runs"][0]["registration"], "vllm-cpu");
    assert_eq!(exploratory["paired"][0]["status"], "EXPLORATORY");
    assert_eq!(exploratory["paired"][0]["decisive"], "no");
}

#[test]
fn a_run_bound_to_another_registration_votes_for_none_and_says_so() {
    let other = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    let score = bound_to("FILLED", Some(other));
    // The rule that was used is named, and how the run stands to it.
    assert_eq!(score["runs"][0]["registration"], "vllm-cpu");
    assert_eq!(score["runs"][0]["binding"], "bound to another");
    assert_eq!(score["states"][0]["judged_by"], "vllm-cpu");
    assert_eq!(score["paired"].as_array().unwrap().len(), 0);
}

#[test]
fn a_simulated_run_decides_nothing_in_score_nor_in_verdict_as_text_or_json() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let run = run.to_str().unwrap();
    let registration = "configs/registrations/e2-sglang-300k.yaml";
    let arm = ["--cell", "sglang-300k", "--arm", "noburst", "--rate", "1.35"];
    let bound = ["--registration", "e2-sglang-300k", "--out", run];
    trapcheck(&[&["simulate"], &arm[..], &bound].concat()).assert().success();
    let said = |args: &[&str]| stdout(&trapcheck(args).output().unwrap());
    let why = "1 of 1 runs are simulated, and only an engine's decide";

    let text = said(&["score", run]);
    assert!(text.contains("(bound to e2-sglang-300k)"), "{text}");
    assert!(text.contains("e2-sglang-300k on sglang-300k (FILLED, simulator runs)"), "{text}");
    assert!(text.contains("met all three conditions, not decisive)"), "{text}");
    let score = json(&[run]);
    assert_eq!(score["paired"][0]["source"], "simulator");
    assert_eq!(score["paired"][0]["decisive"], "no");

    let text = said(&["verdict", registration, run]);
    assert!(text.contains(&format!("(not decisive: {why})")), "{text}");
    let verdict = said(&["verdict", "--format", "json", registration, run]);
    let verdict: serde_json::Value = serde_json::from_str(&verdict).unwrap();
    assert_eq!(verdict["outcome"]["decisive"], false);
    assert_eq!(verdict["outcome"]["not_decisive_because"], why);
}

const RULE: &str = "configs/registrations/vllm-cpu.yaml";

#[test]
fn a_cell_without_a_registration_is_judged_by_the_published_rule_and_the_output_says_so() {
    let project = Project::copy();
    let with = json(&["results/vllm-cpu"]);
    fs::remove_file(project.path(RULE)).unwrap();
    let output = project.trapcheck(&["score", "results/vllm-cpu"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    let words = "exploratory: judged by the paper's published rule, no registration for its cell";
    assert!(text.contains(&format!("({words})")), "{text}");
    let heading = "Paired test by the paper's published rule on vllm-cpu-tiny-30k (EXPLORATORY,";
    assert!(text.contains(heading), "{text}");
    assert!(text.contains("rate 1.50: PASS (3 of 3 seeds met all three conditions, not decisive)"));
    let output = project.trapcheck(&["score", "--format", "json", "results/vllm-cpu"]).output();
    let without: serde_json::Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
    // The cell's calibration is what that registration states, so every state is the same.
    let states = |score: &serde_json::Value| -> Vec<(String, String)> {
        let word = |state: &serde_json::Value, key: &str| state[key].as_str().unwrap().to_owned();
        let all = score["states"].as_array().unwrap().iter();
        all.map(|state| (word(state, "run"), word(state, "state"))).collect()
    };
    assert_eq!(states(&without), states(&with));
    assert_eq!(without["states"][0]["judged_by"], "the paper's published rule");
    assert_eq!(without["states"][0]["binding"], words);
    assert_eq!(without["paired"][0]["decisive"], "no");
}

/// Adds a registration beside the cell's own, a copy with another name and slope factor.
fn with_two_rules() -> Project {
    let project = Project::copy();
    let text = fs::read_to_string(project.path(RULE)).unwrap();
    let text = text.replace("name: vllm-cpu", "name: mine");
    let text = text.replace("slope_factor: 0.5", "slope_factor: 1.0");
    fs::write(project.path("configs/registrations/mine.yaml"), text).unwrap();
    project
}

#[test]
fn two_registrations_that_fit_are_an_error_that_names_both_and_the_way_out() {
    let project = with_two_rules();
    let output = project.trapcheck(&["score", "results/vllm-cpu"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    let files = "configs/registrations/mine.yaml, configs/registrations/vllm-cpu.yaml";
    assert!(said.contains(&format!("2 fit: {files}; choose one with --rule FILE")), "{said}");
    let text = stdout(&output);
    assert!(text.contains("not judged") && !text.contains("TRAPPED"), "{text}");
    assert!(!text.contains("Paired test"), "{text}");
    // Chosen, it is answered, and marked as what it is.
    for (rule, verdict) in [("mine", "FAIL (0 of 3 seeds)"), ("vllm-cpu", "PASS (3 of 3 seeds)")] {
        let file = format!("configs/registrations/{rule}.yaml");
        let output = project.trapcheck(&["score", "--rule", &file, "results/vllm-cpu"]).output();
        let output = output.unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let text = stdout(&output);
        assert!(text.contains(&format!("WHAT IF {file}?")), "{text}");
        assert!(text.contains(&format!("rate 1.50: no verdict, what if: {verdict}")), "{text}");
    }
}

#[test]
fn a_copy_of_the_same_rule_under_another_name_is_two_rules_and_a_filled_one_goes_first() {
    let project = Project::copy();
    let text = fs::read_to_string(project.path(RULE)).unwrap();
    let copy = project.path("configs/registrations/aaa.yaml");
    fs::write(&copy, text.replace("name: vllm-cpu", "name: aaa")).unwrap();
    let score = || project.trapcheck(&["score", BURST]).output().unwrap();
    assert_eq!(score().status.code(), Some(2));
    let filled = text.replace("name: vllm-cpu", "name: aaa").replace("EXPLORATORY", "FILLED");
    fs::write(&copy, filled).unwrap();
    assert!(stdout(&score()).contains("not bound, judged by aaa"), "{}", stdout(&score()));
}

#[test]
fn what_if_shows_states_and_verdicts_before_and_after_and_decides_nothing() {
    let args = ["--set", "slope_factor=1", "results/vllm-cpu"];
    let score = json(&args);
    let what_if = &score["what_if"];
    assert_eq!(what_if["asked"], "slope_factor = 1");
    assert_eq!(what_if["set"]["slope_factor"], 1.0);
    assert_eq!(what_if["rule"], serde_json::Value::Null);
    assert_eq!(what_if["decisive"], false);
    let runs = what_if["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 10);
    for run in runs {
        let burst = run["run"].as_str().unwrap().contains("agentload_burst");
        let states = [&run["before"]["state"], &run["what_if"]["state"]];
        let expected =
            if burst { ["TRAPPED", "INDETERMINATE"] } else { ["RECOVERED", "RECOVERED"] };
        assert_eq!(states, expected, "{run}");
        assert_eq!(run["changes"], burst);
    }
    let rate = &what_if["paired"][0];
    assert_eq!(
        (&rate["before"]["verdict"], &rate["what_if"]["verdict"]),
        (&"PASS".into(), &"FAIL".into())
    );
    // What judges is untouched, and without asking there is no answer.
    assert_eq!(score["states"], json(&["results/vllm-cpu"])["states"]);
    assert_eq!(json(&[BURST])["what_if"], serde_json::Value::Null);

    let said = |args: &[&str]| stdout(&trapcheck(&[&["score"], args].concat()).output().unwrap());
    let text = said(&args);
    assert!(text.contains("WHAT IF slope_factor = 1?"), "{text}");
    assert!(text.contains("3 of 10 runs change"), "{text}");
    let rate = "rate 1.50: PASS (3 of 3 seeds) by vllm-cpu, what if: FAIL (0 of 3 seeds)";
    assert!(text.contains(rate), "{text}");
    let csv = said(&[&["--format", "csv"], &args[..]].concat());
    let burst = csv.lines().find(|line| line.contains("agentload_burst/")).unwrap();
    assert!(burst.starts_with("slope_factor = 1,"), "{burst}");
    assert!(burst.ends_with(",vllm-cpu,TRAPPED,INDETERMINATE,yes,yes,yes"), "{burst}");
}

#[test]
fn a_rule_from_anywhere_judges_runs_bound_to_an_edited_registration_as_what_if() {
    let project = Project::copy();
    let bytes = fs::read(project.path(RULE)).unwrap();
    fs::write(project.path("mine.yaml"), String::from_utf8(bytes).unwrap() + "# edited\n").unwrap();
    let output = project.trapcheck(&["score", "--rule", "mine.yaml", "results/vllm-cpu"]).output();
    let text = stdout(&output.unwrap());
    assert!(text.contains("WHAT IF mine.yaml?") && text.contains("0 of 10 runs change"), "{text}");
    let rate = "PASS (3 of 3 seeds) by vllm-cpu, what if: PASS (3 of 3 seeds)";
    assert!(text.contains(rate), "{text}");
    let out = ["score", "--rule", "mine.yaml", "--out", "scores", "results/vllm-cpu"];
    project.trapcheck(&out).assert().success();
    for name in ["what_if.csv", "what_if_paired.csv"] {
        assert!(project.path("scores").join(name).is_file(), "{name}");
    }
}
