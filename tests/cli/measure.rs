//! What was measured is kept, used again, and enough without the runs.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::project::{Project, stderr, stdout};

const RUNS: &str = "results/vllm-cpu/cpu_1_pulled_20261129-125700";
const REGISTRATION: &str = "configs/registrations/vllm-cpu.yaml";

#[test]
fn kept_statistics_judge_as_the_runs_do_and_need_no_runs() {
    let project = Project::copy();
    let direct = project.trapcheck(&["score", RUNS, "--format", "csv"]).output().unwrap();
    let judged = project.trapcheck(&["verdict", REGISTRATION, RUNS]).output().unwrap();
    let measured = project.trapcheck(&["measure", RUNS, "--cache", "kept"]).output().unwrap();
    assert_eq!(measured.status.code(), Some(0), "{}", stderr(&measured));
    assert_eq!(stdout(&measured), "11 of 11 runs are kept in kept\n");
    fs::rename(project.path(RUNS), project.path("elsewhere")).unwrap();
    let combined = project.trapcheck(&["score", "kept", "--format", "csv"]).output().unwrap();
    assert_eq!(combined.status.code(), Some(0), "{}", stderr(&combined));
    assert_eq!(stdout(&combined), stdout(&direct));
    let verdict = project.trapcheck(&["verdict", REGISTRATION, "kept"]).output().unwrap();
    assert_eq!(stdout(&verdict), stdout(&judged));
}

#[test]
fn what_was_kept_is_used_until_something_changes() {
    let project = Project::copy();
    let names = || -> Vec<_> { project.bytes_of("kept").into_iter().map(|(p, _)| p).collect() };
    let measure = || project.trapcheck(&["measure", RUNS, "--cache", "kept"]).assert().code(0);
    measure();
    let first = names();
    measure();
    assert_eq!(names(), first, "measured again");
    // A run's meta.json with another space is another input, and so is a changed setting.
    let meta = project.path(RUNS).join("agentload_burst/20261129-121107_x1.5_s0/meta.json");
    fs::write(&meta, fs::read_to_string(&meta).unwrap() + "\n").unwrap();
    measure();
    assert_eq!(names().len(), first.len() + 1);
    let protocol = project.path("configs/protocols/vllm-cpu.yaml");
    fs::write(&protocol, fs::read_to_string(&protocol).unwrap() + "# a word\n").unwrap();
    measure();
    assert_eq!(names().len(), 2 * first.len() + 1);
}

#[test]
fn a_kept_file_that_is_damaged_or_of_other_settings_is_named() {
    let project = Project::copy();
    project.trapcheck(&["measure", RUNS, "--cache", "kept"]).assert().code(0);
    let (first, mut bytes) = project.bytes_of("kept").swap_remove(0);
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(project.path("kept").join(&first), bytes).unwrap();
    let output = project.trapcheck(&["score", "kept"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("or damaged: measure it again"), "{}", stderr(&output));
    let protocol = project.path("configs/protocols/vllm-cpu.yaml");
    fs::write(&protocol, fs::read_to_string(&protocol).unwrap() + "# a word\n").unwrap();
    let output = project.trapcheck(&["score", "kept"]).output().unwrap();
    assert!(stderr(&output).contains("kept under another configuration"), "{}", stderr(&output));
}

/// A kept file's content: its hash and what is hashed.
fn unpacked(path: &Path) -> (Vec<u8>, Vec<u8>) {
    let content = zstd::decode_all(fs::read(path).unwrap().as_slice()).unwrap();
    let (hash, rest) = content.split_at(64);
    (hash.to_vec(), rest.to_vec())
}

fn pack(path: &Path, hash: &[u8], content: &[u8]) {
    let packed = zstd::encode_all([hash, content].concat().as_slice(), 1).unwrap();
    fs::write(path, packed).unwrap();
}

/// Every backlog slope of a kept file with its sign turned, and how many there were.
fn slopes_turned(content: &[u8]) -> (Vec<u8>, usize) {
    let (key, mut turned, mut count) = (b"backlog_slope_per_s", content.to_vec(), 0);
    for at in 0..content.len() - key.len() - 1 {
        // 0xcb begins a number of eight bytes, of which the first holds the sign.
        if content[at..].starts_with(key) && content[at + key.len()] == 0xcb {
            turned[at + key.len() + 1] ^= 0x80;
            count += 1;
        }
    }
    (turned, count)
}

/// What is kept of a trapped run of an engine, and its file.
fn kept() -> (Project, PathBuf) {
    let project = Project::copy();
    let run = format!("{RUNS}/agentload_burst/20261129-121107_x1.5_s0");
    project.trapcheck(&["measure", &run, "--cache", "kept"]).assert().code(0);
    let (file, _) = project.bytes_of("kept").swap_remove(0);
    let file = project.path("kept").join(file);
    (project, file)
}

fn score(project: &Project, args: &[&str]) -> (Option<i32>, String, String) {
    let output = project.trapcheck(&[&["score"], args].concat()).output().unwrap();
    (output.status.code(), stdout(&output), stderr(&output))
}

#[test]
fn a_kept_file_that_was_edited_or_renamed_is_refused_and_named() {
    let (project, file) = kept();
    let sound = fs::read(&file).unwrap();
    let (hash, content) = unpacked(&file);
    let (turned, count) = slopes_turned(&content);
    assert!(count > 0, "no slope to turn");
    pack(&file, &hash, &turned);
    let name = format!("kept/{}", file.file_name().unwrap().to_str().unwrap());
    let (code, _, said) = score(&project, &["kept"]);
    assert_eq!(code, Some(2), "{said}");
    let why = "its content was changed after it was kept: measure the run again";
    assert!(said.contains(&format!("{name}: {why}")), "{said}");
    // With the run at hand it is measured again, which mends the file.
    let run = format!("{RUNS}/agentload_burst/20261129-121107_x1.5_s0");
    let (code, out, said) = score(&project, &[&run, "--cache", "kept"]);
    assert!(code == Some(0) && out.contains("TRAPPED"), "{out}{said}");
    assert!(said.contains(&format!("problem: {name}: {why}; it was measured again")), "{said}");
    assert_eq!(fs::read(&file).unwrap(), sound);
    // Another run's name.
    let other = file.with_file_name(format!("{}.run", "0".repeat(64)));
    fs::rename(&file, &other).unwrap();
    let (code, _, said) = score(&project, &["kept"]);
    assert!(code == Some(2) && said.contains("its name is not that of what it keeps"), "{said}");
}

#[test]
fn what_is_taken_as_kept_is_said_not_to_be_recomputed() {
    let (project, file) = kept();
    let run = format!("{RUNS}/agentload_burst/20261129-121107_x1.5_s0");
    let same = format!(
        "note: the statistics of 1 run ({run}) were kept, not recomputed; what they were measured from has not changed\n"
    );
    let (_, direct, said) = score(&project, &[&run]);
    assert!(!said.contains("note: the statistics"), "{said}");
    for args in [&["kept"][..], &[&run, "--cache", "kept"]] {
        let (code, out, said) = score(&project, args);
        assert_eq!((code, out.as_str()), (Some(0), direct.as_str()), "{said}");
        assert!(said.contains(&same), "{said}");
    }
    // Forged whole, with its hash: the words are all that is left to say.
    let (_, content) = unpacked(&file);
    let (turned, _) = slopes_turned(&content);
    let hash: String = Sha256::digest(&turned).iter().map(|byte| format!("{byte:02x}")).collect();
    pack(&file, hash.as_bytes(), &turned);
    let (_, out, said) = score(&project, &["kept"]);
    assert!(out != direct && said.contains(&same), "{out}{said}");
    fs::rename(project.path(&run), project.path("elsewhere")).unwrap();
    let (_, _, said) = score(&project, &["kept"]);
    let alone = format!(
        "note: the statistics of 1 run ({run}) are trusted as they were kept, not recomputed: the runs are not here to compare with\n"
    );
    assert!(said.contains(&alone), "{said}");
}

#[test]
fn what_was_kept_of_other_files_than_the_run_has_is_refused() {
    let (project, _) = kept();
    let run = format!("{RUNS}/agentload_burst/20261129-121107_x1.5_s0");
    let meta = project.path(&run).join("meta.json");
    fs::write(&meta, fs::read_to_string(&meta).unwrap() + "\n").unwrap();
    let (code, _, said) = score(&project, &["kept"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("the run's files changed after it was kept: measure it again"), "{said}");
}

#[test]
fn a_job_array_has_a_task_per_run() {
    let project = Project::copy();
    let args = ["measure", RUNS, "--cache", "kept", "--slurm", "jobs"];
    project.trapcheck(&args).assert().code(0);
    let script = fs::read_to_string(project.path("jobs/measure.sbatch")).unwrap();
    assert!(script.contains("#SBATCH --array=0-10\n"), "{script}");
    assert!(script.contains(" measure --cache kept --configs configs \"${runs[$i]}\""), "{script}");
    assert!(!project.path("kept").exists());
}

#[test]
fn without_a_folder_to_keep_them_in_nothing_is_measured() {
    let output = Project::copy().trapcheck(&["measure", RUNS]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--cache DIR is missing"), "{}", stderr(&output));
}
