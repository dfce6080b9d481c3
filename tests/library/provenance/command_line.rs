//! `trapcheck provenance` and `trapcheck manifest` as they are typed.

use std::fs;
use std::process::{Command as Process, Output};

use assert_cmd::Command;

use crate::provenance::fixture::{FILE, Project};

fn trapcheck(project: &Project, arguments: &[&str]) -> Output {
    let mut command = Command::cargo_bin("trapcheck").expect("the binary");
    command.current_dir(project.dir()).args(arguments).output().expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const EXPORT: [&str; 10] = [
    "provenance",
    "export",
    "--file",
    FILE,
    "--revision",
    "mirror-reg",
    "--pushed",
    "2026-11-05 14:07:35 CST",
    "--first-job",
    "2026-11-05 14:50:52 CST",
];

#[test]
fn a_proof_is_exported_and_verified() {
    let project = Project::new();
    let output = trapcheck(&project, &[&EXPORT[..], &["provenance/mirror"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "wrote provenance/mirror\n");
    let expected = "ok      provenance/mirror: pre-registered: configs/registrations/mirror.yaml, \
                    pushed 2026-11-05T20:07:35Z, 43 m 17 s before the first job\n\
                    1 proofs, 0 failures\n";
    assert_eq!(text(&output.stdout), expected);
    let again = trapcheck(&project, &["provenance", "verify", "provenance"]);
    assert_eq!((text(&again.stdout), again.status.code()), (expected.into(), Some(0)));
}

#[test]
fn the_file_that_is_named_is_the_one_whose_bytes_were_compared() {
    let project = Project::new();
    let text_of = fs::read_to_string(project.path(FILE)).expect("a text");
    project.write("p/copy.yaml", &text_of);
    let dir = ["--published", "p/copy.yaml", "provenance/mirror"];
    assert!(trapcheck(&project, &[&EXPORT[..], &dir].concat()).status.success());
    let verify = || {
        let output = trapcheck(&project, &["provenance", "verify", "provenance"]);
        (output.status.code(), text(&output.stdout))
    };
    let (code, out) = verify();
    let named = format!(": p/copy.yaml (committed as {FILE}, the same here), pushed ");
    assert!(code == Some(0) && out.contains(&named), "{out}");
    // The committed path is here and says something else.
    project.write(FILE, "name: mirror\nrates: [9.99]\n");
    let (code, out) = verify();
    assert!(
        code == Some(1) && out.contains(&format!("{FILE} differs from the committed")),
        "{out}"
    );
    fs::remove_file(project.path(FILE)).expect("it is there");
    let (code, out) = verify();
    let named = format!(": p/copy.yaml (committed as {FILE}, not in this project), pushed ");
    assert!(code == Some(0) && out.contains(&named), "{out}");
    project.write("p/copy.yaml", "name: other\n");
    let (code, out) = verify();
    assert!(code == Some(1) && out.contains("p/copy.yaml differs from the committed"), "{out}");
    fs::remove_file(project.path("p/copy.yaml")).expect("it is there");
    let (code, out) = verify();
    assert!(code == Some(1) && out.contains("cannot read p/copy.yaml"), "{out}");
}

#[test]
fn one_failure_among_proofs_is_counted_and_exits_1() {
    let project = Project::new();
    for dir in ["provenance/a", "provenance/b"] {
        assert!(trapcheck(&project, &[&EXPORT[..], &[dir]].concat()).status.success());
    }
    let path = project.path("provenance/b/proof.yaml");
    let proof = fs::read_to_string(&path).expect("a text").replace("14:07:35 CST", "14:07:35 CDT");
    fs::write(path, proof).expect("it is writable");
    let output = trapcheck(&project, &["provenance", "verify", "provenance"]);
    assert_eq!(output.status.code(), Some(1));
    let out = text(&output.stdout);
    assert!(out.contains("ok      provenance/a: pre-registered"), "{out}");
    assert!(
        out.contains("FAILED  provenance/b: time \"2026-11-05 14:07:35 CDT\": CDT was not"),
        "{out}"
    );
    assert!(out.ends_with("2 proofs, 1 failures\n"), "{out}");
}

#[test]
fn a_tag_that_was_moved_since_is_found_in_the_repository() {
    let project = Project::new();
    assert!(trapcheck(&project, &[&EXPORT[..], &["provenance/mirror"]].concat()).status.success());
    let verify = ["provenance", "verify", "--repository", ".", "provenance"];
    assert_eq!(trapcheck(&project, &verify).status.code(), Some(0));
    let proven = project.id("mirror-reg");
    project.git(&["tag", "--force", "-a", "-m", "Again", "mirror-reg", "mirror-reg^{commit}"]);
    let now = project.id("mirror-reg");
    let output = trapcheck(&project, &verify);
    let out = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1));
    let words = format!("tag mirror-reg was moved since: it is {now}, proven was {proven}");
    assert!(out.contains(&words) && out.ends_with("1 proofs, 1 failures\n"), "{out}");
    project.git(&["tag", "--delete", "mirror-reg"]);
    assert!(text(&trapcheck(&project, &verify).stdout).contains("no tag, branch or commit named"));
    // The proof itself holds without the repository.
    assert_eq!(trapcheck(&project, &["provenance", "verify", "provenance"]).status.code(), Some(0));
}

#[test]
fn a_folder_without_proofs_is_bad_usage() {
    let project = Project::new();
    for (dir, words) in [("configs", "no proof under configs"), ("nowhere", "nowhere is no folder")]
    {
        let output = trapcheck(&project, &["provenance", "verify", dir]);
        assert_eq!(output.status.code(), Some(2), "{dir}");
        assert_eq!(text(&output.stdout), "");
        assert!(text(&output.stderr).contains(words), "{}", text(&output.stderr));
    }
}

#[test]
fn an_objects_file_hashes_to_its_name_for_anyone() {
    let project = Project::new();
    let proof = project.proof();
    let Ok(output) = Process::new("sha1sum").args(proof.objects()).output() else { return };
    for line in text(&output.stdout).lines() {
        let (hash, path) = line.split_once("  ").expect("a line of sha1sum");
        assert!(path.ends_with(hash), "{line}");
    }
}

#[test]
fn the_manifest_is_what_sha256sum_checks() {
    let project = Project::new();
    project
        .write("results/x/meta.json", "{}\n")
        .write("results/x/.hidden", "")
        .write("results/a b", "c");
    let output = trapcheck(&project, &["manifest"]);
    assert_eq!(text(&output.stderr), "wrote SHA256SUMS: 5 files\n");
    let manifest = fs::read_to_string(project.path("SHA256SUMS")).expect("a manifest");
    let paths: Vec<_> = manifest.lines().filter_map(|l| l.split_once("  ")).map(|l| l.1).collect();
    let expected =
        ["configs/a.yaml", "configs/a/b.yaml", FILE, "results/a b", "results/x/meta.json"];
    assert_eq!(paths, expected);
    let verified = trapcheck(&project, &["manifest", "--verify"]);
    assert_eq!(text(&verified.stdout), "verified: 5 files are as SHA256SUMS says\n");
    let check =
        Process::new("sha256sum").current_dir(project.dir()).args(["-c", "SHA256SUMS"]).output();
    if let Ok(check) = check {
        assert!(check.status.success(), "{}", text(&check.stderr));
    }
}

#[test]
fn the_manifest_names_what_changed_what_is_missing_and_what_nobody_claims() {
    let project = Project::new();
    project.write("results/x/meta.json", "{}\n");
    assert!(trapcheck(&project, &["manifest"]).status.success());
    project.write("configs/a.yaml", "a: 2\n").write("results/x/extra.csv", "t\n");
    fs::remove_file(project.path("results/x/meta.json")).expect("it is there");
    let output = trapcheck(&project, &["manifest", "--verify"]);
    assert_eq!(output.status.code(), Some(1));
    let out = text(&output.stdout);
    let lines: Vec<_> = out.lines().collect();
    assert!(lines[0].starts_with("configs/a.yaml: SHA-256 is "), "{out}");
    assert_eq!(lines[1], "results/x/extra.csv: claimed by nobody: not in SHA256SUMS");
    assert_eq!(lines[2], "results/x/meta.json: missing");
    assert_eq!(lines.len(), 3);
}

#[test]
fn what_is_published_and_the_figures_page_are_held_to_their_hashes() {
    let project = Project::new();
    project
        .write("paper/published/rules.yaml", "slope: 0.5\n")
        .write("figures/README.md", "# Figures\n")
        .write("figures/made.svg", "<svg/>")
        .write("paper/derived/made.csv", "a\n");
    let output = trapcheck(&project, &["manifest"]);
    assert_eq!(text(&output.stderr), "wrote SHA256SUMS: 5 files\n");
    project
        .write("paper/published/rules.yaml", "slope: 0.4\n")
        .write("paper/published/added.yaml", "a: 1\n")
        .write("figures/README.md", "# Other figures\n");
    let output = trapcheck(&project, &["manifest", "--verify"]);
    let out = text(&output.stdout);
    let lines: Vec<_> = out.lines().collect();
    assert_eq!(output.status.code(), Some(1));
    assert!(lines[0].starts_with("figures/README.md: SHA-256 is "), "{out}");
    assert_eq!(lines[1], "paper/published/added.yaml: claimed by nobody: not in SHA256SUMS");
    assert!(lines[2].starts_with("paper/published/rules.yaml: SHA-256 is "), "{out}");
    assert_eq!(lines.len(), 3, "what is made is not in this list");
}

#[test]
fn a_folders_own_list_vouches_for_its_files_made_or_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir_all(path("results/sim")).expect("made");
    std::fs::write(path("results/sim/made"), "one").expect("written");
    let one = "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed";
    let list = format!("{one}  made\n{one}  not-made-yet\n");
    std::fs::write(path("results/sim/SHA256SUMS"), list).expect("written");
    let run = |args: &[&str]| {
        let mut command = assert_cmd::Command::cargo_bin("trapcheck").expect("the program");
        command.args(args).current_dir(folder.path()).output().expect("it runs")
    };
    assert_eq!(run(&["manifest"]).status.code(), Some(0));
    let sums = std::fs::read_to_string(path("SHA256SUMS")).expect("read");
    assert_eq!(sums.lines().count(), 1, "{sums}");
    assert_eq!(run(&["manifest", "--verify"]).status.code(), Some(0));
    std::fs::write(path("results/sim/made"), "two").expect("written");
    let output = run(&["manifest", "--verify"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.starts_with("results/sim/made: SHA-256 is "), "{said}");
}

#[test]
fn a_manifest_that_was_edited_by_hand_does_not_hold() {
    let project = Project::new();
    assert!(trapcheck(&project, &["manifest"]).status.success());
    let sound = fs::read_to_string(project.path("SHA256SUMS")).expect("a manifest");
    let first = sound.lines().next().expect("a line");
    let edits = [
        (format!("{sound}{first}\n"), "SHA256SUMS:4: this path is there twice"),
        (sound.replacen("  ", " ", 1), "SHA256SUMS:1: expected HASH  PATH"),
        (sound.to_uppercase(), "SHA256SUMS:1: expected a SHA-256"),
        (sound.replacen("configs/", "configs/../", 1), "SHA256SUMS:1: expected a path under"),
        (sound.replacen("configs/", "/etc/", 1), "SHA256SUMS:1: expected a path under"),
    ];
    for (text_of, words) in edits {
        fs::write(project.path("SHA256SUMS"), text_of).expect("it is writable");
        let output = trapcheck(&project, &["manifest", "--verify"]);
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stdout).contains(words), "{}", text(&output.stdout));
    }
    fs::remove_file(project.path("SHA256SUMS")).expect("it is there");
    assert_eq!(trapcheck(&project, &["manifest", "--verify"]).status.code(), Some(2));
}

/// What came before the runs of vllm-cpu-2 in this project's own history.
#[test]
fn the_registrations_and_the_predictions_of_vllm_cpu_2_are_proved_from_this_repository() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    if !root.join(".git").exists() {
        println!("skipped: this is no git repository");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let proofs = folder.path().join("proofs");
    let run = |args: &[&str]| {
        let mut command = Command::cargo_bin("trapcheck").expect("the binary");
        command.current_dir(root).args(args).output().expect("it runs")
    };
    let files = [
        "configs/registrations/vllm-cpu-2.yaml",
        "configs/registrations/vllm-cpu-2-mechanism.yaml",
        "configs/registrations/vllm-cpu-2-rescue.yaml",
        "configs/cells/vllm-cpu-2.yaml",
        "predictions/vllm-cpu-2/SHA256SUMS",
    ];
    for (number, file) in files.iter().enumerate() {
        let proof = proofs.join(number.to_string());
        let output = run(&["provenance", "export", "--file", file, &proof.to_string_lossy()]);
        assert_eq!(output.status.code(), Some(0), "{file}: {}", text(&output.stderr));
    }
    let verified = run(&["provenance", "verify", &proofs.to_string_lossy()]);
    let out = text(&verified.stdout);
    assert_eq!(verified.status.code(), Some(0), "{out}");
    for file in files {
        assert!(out.contains(&format!("pending: {file}, committed 20")), "{out}");
    }
    // The list proves each of the predictions.
    let predictions = root.join("predictions/vllm-cpu-2");
    let sums = fs::read_to_string(predictions.join("SHA256SUMS")).expect("a text");
    assert_eq!(sums.lines().count(), 8, "{sums}");
    for line in sums.lines() {
        let (hash, name) = line.split_once("  ").expect("a hash and a name");
        let bytes = fs::read(predictions.join(name)).expect("it is there");
        assert_eq!(trapcheck_setup::hash::sha256_hex(&bytes), hash, "{name}");
    }
}
