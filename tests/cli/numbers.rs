//! The manifest holds, and anything that changes is named.

use std::fs;

use crate::project::{Project, stderr, stdout, trapcheck};

const TURNS: &str = "results/vllm-cpu/cpu_1_pulled_20261129-125700/agentload_burst/20261129-121107_x1.5_s0/turns.csv.gz";

/// A project of the engine's runs, with its own manifest.
fn project() -> Project {
    let project = Project::copy();
    project.trapcheck(&["numbers"]).assert().success();
    project
}

/// Runs the verification and gives its exit code and what it printed.
fn verify(project: &Project) -> (Option<i32>, String) {
    let output = project.trapcheck(&["numbers", "--verify"]).output().unwrap();
    (output.status.code(), stdout(&output) + &stderr(&output))
}

#[test]
fn the_committed_manifest_verifies_at_five_threads() {
    let verify = &mut trapcheck(&["numbers", "--verify"]);
    let output = verify.env("RAYON_NUM_THREADS", "5").output().unwrap();
    let said = stdout(&output) + &stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.starts_with("verified: "), "{said}");
}

#[test]
fn the_committed_manifest_of_data_verifies() {
    let output = trapcheck(&["manifest", "--verify"]).output().unwrap();
    let said = stdout(&output) + &stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
}

#[test]
fn one_flipped_byte_of_a_turns_file_fails_and_is_named() {
    let project = project();
    let mut bytes = fs::read(project.path(TURNS)).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(project.path(TURNS), bytes).unwrap();
    let (code, said) = verify(&project);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains(&format!("source {TURNS}: SHA-256 is")), "{said}");
}

#[test]
fn a_changed_value_fails_and_is_named() {
    let project = project();
    let path = project.path("paper/numbers.json");
    let text = fs::read_to_string(&path).unwrap();
    let run = TURNS.trim_end_matches("/turns.csv.gz");
    let id = format!("vllm-cpu_runs.{run}.backlog_slope_per_s");
    let table = text.find("\"name\":\"vllm-cpu_runs\"").unwrap();
    let at = table + text[table..].find(&format!("\"row\":\"{run}\"")).unwrap();
    let value = at + text[at..].find("0.1415").unwrap();
    let changed = format!("{}0.1416{}", &text[..value], &text[value + 6..]);
    fs::write(&path, changed).unwrap();
    let (code, said) = verify(&project);
    assert_eq!(code, Some(1), "{said}");
    let line = format!("value {id}: computed 0.1415 sessions/s, recorded 0.1416 sessions/s");
    assert!(said.contains(&line), "{said}");
}

#[test]
fn a_missing_output_a_missing_source_and_a_changed_table_are_each_named() {
    let project = project();
    let figure = "figures/vllm-cpu_stampede.png";
    let engine = TURNS.replace("turns.csv.gz", "engine.csv.gz");
    let table = "paper/derived/vllm-cpu_runs.csv";
    fs::remove_file(project.path(figure)).unwrap();
    fs::remove_file(project.path(&engine)).unwrap();
    let text = fs::read_to_string(project.path(table)).unwrap();
    fs::write(project.path(table), text.replace("TRAPPED", "RECOVERED")).unwrap();
    let (code, said) = verify(&project);
    assert_eq!(code, Some(1), "{said}");
    for line in [
        format!("output {figure}: "),
        format!("source {engine}: "),
        format!("output {table}: SHA-256 is"),
    ] {
        assert!(said.contains(&line), "no {line:?} in {said}");
    }
}

#[test]
fn a_file_that_nothing_makes_is_named_wherever_it_stands() {
    let project = project();
    let (code, said) = verify(&project);
    assert_eq!(code, Some(0), "{said}");
    let added = ["figures/fake.svg", "figures/.x/fake.csv", "paper/derived/fake.csv", "paper/fake"];
    for path in added {
        fs::create_dir_all(project.path(path).parent().unwrap()).unwrap();
        fs::write(project.path(path), "x").unwrap();
        let (code, said) = verify(&project);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains(&format!("{path}: not made by anything here\n")), "{said}");
        fs::remove_file(project.path(path)).unwrap();
    }
    // What is a user's own, or held by the manifest of data.
    for path in ["figures/from/mine.svg", "figures/runs/mine.svg", "figures/README.md"] {
        fs::create_dir_all(project.path(path).parent().unwrap()).unwrap();
        fs::write(project.path(path), "x").unwrap();
    }
    let (code, said) = verify(&project);
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn a_changed_digit_of_any_published_file_is_named_by_one_of_the_checks() {
    let project = project();
    project.trapcheck(&["manifest"]).assert().success();
    project.trapcheck(&["manifest", "--verify"]).assert().success();
    for (path, bytes) in project.bytes_of("paper/published") {
        let place = project.path("paper/published").join(&path);
        let mut changed = bytes.clone();
        let digit = changed.iter().rposition(u8::is_ascii_digit).unwrap();
        changed[digit] = if changed[digit] == b'7' { b'8' } else { b'7' };
        fs::write(&place, changed).unwrap();
        let output = project.trapcheck(&["manifest", "--verify"]).output().unwrap();
        let said = stdout(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        let named = format!("paper/published/{}: SHA-256 is ", path.display());
        assert!(said.starts_with(&named), "{said}");
        fs::write(&place, bytes).unwrap();
    }
}

#[test]
fn a_run_that_is_new_or_gone_is_named() {
    let project = project();
    let run = TURNS.trim_end_matches("/turns.csv.gz");
    fs::rename(project.path(run), project.path(&format!("{run}_moved"))).unwrap();
    let (code, said) = verify(&project);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains(&format!("source {run}/turns.csv.gz: ")), "{said}");
    assert!(
        said.contains(&format!("source {run}_moved/turns.csv.gz: not in the manifest")),
        "{said}"
    );
}

#[test]
fn a_registration_that_changed_after_it_was_pinned_judges_nothing() {
    let project = project();
    let path = project.path("configs/registrations/vllm-cpu.yaml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("slope_factor: 0.5", "slope_factor: 0.4")).unwrap();
    let output = project.trapcheck(&["derive"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains("the registration changed after it was bound"), "{said}");
}

#[test]
fn verifying_writes_nothing() {
    let project = project();
    let before = [project.bytes_of("paper"), project.bytes_of("figures")];
    fs::remove_file(project.path("figures/vllm-cpu_stampede.svg")).unwrap();
    verify(&project);
    assert_eq!(project.bytes_of("paper"), before[0]);
    assert!(!project.path("figures/vllm-cpu_stampede.svg").exists());
}

#[test]
fn without_a_manifest_it_says_how_to_make_one() {
    let project = project();
    fs::remove_file(project.path("paper/numbers.json")).unwrap();
    let (code, said) = verify(&project);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("trapcheck numbers writes it"), "{said}");
}
