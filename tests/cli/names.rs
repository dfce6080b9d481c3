//! Names that come out of data and configuration: plain where they become a path, one of a
//! kind where they become an output, and harmless where they are printed.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Output;

use crate::project::{Project, stderr, stdout};

const PULL: &str = "results/vllm-cpu/cpu_1_pulled_20261129-125700";
const BURST: &str = "agentload_burst/20261129-121107_x1.5_s0";
const E0A: &str = "agentload_e0a/20261129-115514_n32";

/// A copy of a run under another name, its text changed.
fn copy_run(project: &Project, run: &str, to: &Path, changes: &[(&str, &str)]) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(project.path(PULL).join(run)).unwrap().flatten() {
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
    let meta = to.join("meta.json");
    let mut text = fs::read_to_string(&meta).unwrap();
    for (from, into) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, into, 1);
    }
    fs::write(meta, text).unwrap();
}

fn edit(project: &Project, path: &str, from: &str, to: &str) {
    let text = fs::read_to_string(project.path(path)).unwrap();
    assert!(text.contains(from), "{from}");
    fs::write(project.path(path), text.replacen(from, to, 1)).unwrap();
}

fn run(project: &Project, args: &[&str]) -> Output {
    project.trapcheck(args).output().unwrap()
}

#[track_caller]
fn refused(project: &Project, args: &[&str], words: &[&str]) {
    let output = run(project, args);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {}", stderr(&output));
    for word in words {
        assert!(stderr(&output).contains(word), "{word:?} is not in: {}", stderr(&output));
    }
}

#[test]
fn a_cell_that_names_a_place_writes_no_file_there() {
    let project = Project::copy();
    let outside = tempfile::tempdir().unwrap();
    let absolute = outside.path().join("x").display().to_string();
    for (i, cell) in ["../../../x", &absolute, "..", "a\\nb"].into_iter().enumerate() {
        let to = format!("other/{i}");
        let cell = format!("\"cell\": \"{cell}\"");
        copy_run(&project, E0A, &project.path(&to), &[("\"cell\": \"vllm-cpu-tiny-30k\"", &cell)]);
        let names = ["--workload", "standard-tenth", "--protocol", "vllm-cpu"];
        let args = [&["calibrate", &to][..], &names].concat();
        refused(&project, &args, &["meta.json: cell", "cannot be a name"]);
    }
    assert!(fs::read_dir(outside.path()).unwrap().next().is_none());
    assert!(!project.path("x.yaml").exists() && !project.path("../x.yaml").exists());
}

#[test]
fn a_name_in_a_configuration_that_leads_elsewhere_is_refused_with_its_file() {
    let figure = "name: vllm-cpu_stampede";
    for name in ["../configs/evil", "/tmp/evil", ".hidden", "\"a\\nb\""] {
        let project = Project::copy();
        edit(&project, "analysis/vllm-cpu.yaml", figure, &format!("name: {name}"));
        let words = ["analysis/vllm-cpu.yaml:", "cannot be a name"];
        refused(&project, &["figures"], &words);
        refused(&project, &["derive"], &words);
        assert!(!project.path("paper/derived").exists(), "nothing is written first");
    }
    for prefix in ["/x/", "../", "x/../"] {
        let project = Project::copy();
        edit(&project, "analysis/vllm-cpu.yaml", "tables:", &format!("prefix: {prefix}\ntables:"));
        refused(&project, &["derive"], &["analysis/vllm-cpu.yaml", "cannot be a name"]);
    }
    let project = Project::copy();
    for (i, test) in ["\"..\"", "a/b", ".x"].into_iter().enumerate() {
        let file = format!("c{i}.yaml");
        let text = format!(
            "name: c{i}\ntests:\n- {{ test: {test}, place: p, cell: sglang-300k, arms: [{{ arm: noburst }}], multiples: [1], seeds: [0] }}\n"
        );
        fs::write(project.path(&file), text).unwrap();
        refused(&project, &["campaign", &file, "--out", "made"], &[&file, "test: "]);
    }
    assert!(!project.path("made").exists());
    let fill = ["register", "fill", "--inputs", "configs/fill/sglang-300k.yaml", "--name"];
    for name in ["../x", "", ".x", "a/b"] {
        refused(&project, &[&fill[..], &[name]].concat(), &["cannot be a name"]);
    }
    let simulate = ["simulate", "--cell", "sglang-300k", "--arm", "closed", "--population", "2"];
    refused(&project, &[&simulate[..], &["--out", "made/.run"]].concat(), &["begins with a dot"]);
}

#[test]
fn two_outputs_of_one_name_are_refused_and_both_are_named() {
    let figure = Project::copy();
    edit(&figure, "analysis/vllm-cpu.yaml", "name: vllm-cpu_rescue", "name: vllm-cpu_STAMPEDE");
    let words = ["figures/vllm-cpu_STAMPEDE would be made twice", "analysis/vllm-cpu.yaml"];
    refused(&figure, &["figures"], &words);
    let of_two = Project::copy();
    edit(&of_two, "analysis/vllm-cpu.yaml", "name: vllm-cpu_rescue", "name: theory_cuts");
    let words = ["by a figure of analysis/theory.yaml and by a figure of analysis/vllm-cpu.yaml"];
    refused(&of_two, &["figures"], &words);
    let table = Project::copy();
    edit(&table, "analysis/vllm-cpu.yaml", "[runs, paired,", "[runs, paired, runs,");
    let words =
        ["paper/derived/vllm-cpu_runs would be made twice", "table runs of analysis/vllm-cpu"];
    refused(&table, &["derive"], &words);
    refused(&table, &["numbers"], &words);
    let whole = Project::whole();
    edit(&whole, "analysis/vllm-cpu.yaml", "tables:\n", "prefix: \"\"\ntables:\n");
    let words = ["paper/derived/from_empty would be made twice", "and by published table "];
    refused(&whole, &["derive"], &words);
}

#[test]
fn two_runs_of_one_name_are_not_drawn_over_each_other() {
    let project = Project::copy();
    for pull in ["a", "b"] {
        copy_run(&project, BURST, &project.path("other").join(pull).join(BURST), &[]);
    }
    let words = ["would be made twice", "other/a/agentload_burst", "other/b/agentload_burst"];
    refused(&project, &["figures", "run", "other", "--out", "pictures"], &words);
    assert!(!project.path("pictures").exists());
}

#[test]
fn a_run_has_its_name_wherever_one_stands() {
    let project = Project::copy();
    let dir = project.path(PULL).join(BURST);
    let pictures = project.path("pictures");
    let args = ["figures", "run", ".", "--out", pictures.to_str().unwrap(), "--configs"];
    let configs = project.path("configs");
    let mut command = project.trapcheck(&[&args[..], &[configs.to_str().unwrap()]].concat());
    let output = command.current_dir(&dir).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(pictures.join(format!("{}.svg", BURST.replace('/', "_"))).is_file());
}

#[test]
fn a_run_whose_name_is_not_text_is_named_and_nothing_is_written_broken() {
    let project = Project::copy();
    fs::remove_file(project.path("analysis/theory.yaml")).unwrap();
    let few = "name: vllm-cpu\ntitle: t\nruns: [\"results/vllm-cpu/*/agentload_*/*\"]\ntables: [runs]\nfigures:\n- { name: vllm-cpu_time_scales, title: t, draw: { kind: time-scales } }\n";
    fs::write(project.path("analysis/vllm-cpu.yaml"), few).unwrap();
    let bad = project.path("results/vllm-cpu/x_pulled_20260101-000000/agentload_burst");
    copy_run(&project, BURST, &bad.join(OsStr::from_bytes(b"bad\xff")), &[]);
    for args in [
        &["inspect", "results"][..],
        &["score", "results"],
        &["verdict", "configs/registrations/vllm-cpu.yaml", "results"],
        &["derive", "vllm-cpu"],
        &["figures", "vllm-cpu_time_scales"],
        &["numbers"],
    ] {
        refused(&project, args, &["bad\u{fffd}: its name is not UTF-8"]);
    }
    let json = fs::read_to_string(project.path("paper/numbers.json")).unwrap();
    serde_json::from_str::<serde_json::Value>(&json).unwrap();
}

#[test]
fn names_with_escapes_and_line_breaks_are_printed_on_one_line_and_steer_nothing() {
    let project = Project::copy();
    let evil = "x\\u001b[2J\\nok      forged";
    let dir = project.path("other").join("a\nproblem: forged").join("\u{1b}[31mred");
    let changes = [
        ("\"arm\": \"burst\"", format!("\"arm\": \"{evil}\"")),
        ("\"cell\": \"vllm-cpu-tiny-30k\"", format!("\"cell\": \"{evil}\"")),
    ];
    let changes = changes.each_ref().map(|(from, to)| (*from, to.as_str()));
    copy_run(&project, BURST, &dir, &changes);
    for args in [
        &["inspect", "other"][..],
        &["inspect", "other", "--format", "csv", "--notes"],
        &["inspect", "other", "--format", "json"],
        &["score", "other"],
        &["score", "other", "--format", "csv"],
        &["score", "other", "--format", "json"],
        &["verdict", "configs/registrations/vllm-cpu.yaml", "other"],
        &["calibrate", "other"],
    ] {
        let output = run(&project, args);
        let said = stdout(&output) + &stderr(&output);
        assert!(!said.contains('\u{1b}'), "{args:?}: {said:?}");
        let forged = |line: &str| line.starts_with("ok ") || line.starts_with("problem: forged");
        assert!(!said.lines().any(forged), "{args:?}: {said}");
    }
    let listed = stdout(&run(&project, &["inspect", "--wide", "other"]));
    assert!(listed.contains("a\\nproblem: forged/\\u001b[31mred"), "{listed}");
}
