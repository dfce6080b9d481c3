//! What is written is whole or not there, and nothing that was there is lost by it.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::project::{Project, bytes_under, root, stderr, stdout, trapcheck};

/// Runs a line of shell in the project; `$T` is the program.
pub fn shell(line: &str) -> Output {
    shell_in(&root(), line)
}

pub fn shell_in(folder: &Path, line: &str) -> Output {
    let mut sh = Command::new("sh");
    sh.args(["-c", line]).env("T", assert_cmd::cargo::cargo_bin("trapcheck")).current_dir(folder);
    sh.output().unwrap()
}

/// Writes the plan of a run to a file.
fn plan_to(out: &Path) -> Output {
    let out = out.to_str().unwrap();
    trapcheck(&["plan", "--cell", "sglang-300k", "--arm", "burst", "--rate", "1", "--out", out])
        .output()
        .unwrap()
}

fn plan() -> Vec<u8> {
    plan_to(Path::new("-")).stdout
}

/// What is left of the writer's own files.
pub fn unfinished(folder: &Path) -> Vec<PathBuf> {
    let walk = walkdir::WalkDir::new(folder).into_iter().flatten();
    let ours = |e: &walkdir::DirEntry| {
        e.file_name().to_str().is_some_and(|n| n.starts_with(".trapcheck-"))
    };
    walk.filter(ours).map(walkdir::DirEntry::into_path).collect()
}

/// Whether a command for special files worked; says so where it may not be used.
fn made(program: &str, args: &[&str]) -> bool {
    let works = Command::new(program).args(args).status().is_ok_and(|status| status.success());
    if !works {
        eprintln!("skipped: {program} {args:?} is not allowed here");
    }
    works
}

#[test]
fn a_device_is_written_through_and_stays_a_device() {
    let folder = tempfile::tempdir().unwrap();
    let (null, full) = (folder.path().join("null"), folder.path().join("full"));
    if !made("mknod", &[null.to_str().unwrap(), "c", "1", "3"])
        || !made("mknod", &[full.to_str().unwrap(), "c", "1", "7"])
    {
        return;
    }
    let output = plan_to(&null);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(fs::metadata(&null).unwrap().file_type().is_char_device());
    let output = plan_to(&full);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("No space left on device"), "{}", stderr(&output));
    assert!(fs::metadata(&full).unwrap().file_type().is_char_device());
}

#[test]
fn a_fifo_gives_its_reader_the_bytes_and_stays_a_fifo() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    assert!(made("mkfifo", &[fifo.to_str().unwrap()]));
    let reader = {
        let fifo = fifo.clone();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            File::open(fifo).unwrap().read_to_end(&mut bytes).unwrap();
            bytes
        })
    };
    assert_eq!(plan_to(&fifo).status.code(), Some(0));
    assert!(reader.join().unwrap() == plan());
    assert!(fs::metadata(&fifo).unwrap().file_type().is_fifo());
}

#[test]
fn a_link_stays_and_what_it_leads_to_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("far")).unwrap();
    fs::write(at("far/old"), "old").unwrap();
    symlink("far/old", at("to_old")).unwrap();
    symlink("to_old", at("twice")).unwrap();
    symlink("far/new", at("to_new")).unwrap();
    for (link, file) in [("twice", "far/old"), ("to_new", "far/new")] {
        let output = plan_to(&at(link));
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(fs::symlink_metadata(at(link)).unwrap().is_symlink(), "{link}");
        assert!(fs::read(at(file)).unwrap() == plan(), "{link}");
        assert!(!fs::symlink_metadata(at(file)).unwrap().is_symlink(), "{file}");
    }
    symlink("b", at("a")).unwrap();
    symlink("a", at("b")).unwrap();
    let output = plan_to(&at("a"));
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("too many links"), "{}", stderr(&output));
}

#[test]
fn a_file_keeps_its_mode_and_its_neighbours() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plan.csv");
    fs::write(&file, "old").unwrap();
    for mode in [0o600, 0o664, 0o640] {
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(plan_to(&file).status.code(), Some(0));
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, mode);
    }
    assert!(fs::read(&file).unwrap() == plan());
    // Everything with a name that is nearly one of the writer's own.
    for near in ["plan.csv.tmp", ".trapcheck-notes.tmp", ".trapcheck-1-x.tmp", ".trapcheck-1-2"] {
        fs::write(folder.path().join(near), "mine").unwrap();
    }
    assert_eq!(plan_to(&file).status.code(), Some(0));
    assert_eq!(bytes_under(folder.path()).len(), 5);
}

#[test]
fn standard_output_by_its_name_is_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    let plan = "$T plan --cell sglang-300k --arm burst --rate 1";
    let at = folder.path().display();
    let output =
        shell(&format!("{plan} --out /dev/stdout > {at}/both; {plan} > {at}/said; cat {at}/said"));
    let both = fs::read(folder.path().join("both")).unwrap();
    assert!(both == [self::plan(), output.stdout].concat(), "what was printed before is there");
    // A reader that stops reading is no error.
    let output = shell(&format!("({plan} --out /dev/stdout; echo code $? >&2) | head -n 1"));
    assert!(stderr(&output).contains("code 0"), "{}", stderr(&output));
}

#[test]
fn what_a_dead_writer_left_is_removed_and_what_is_being_written_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at(".trapcheck-999999-0.tmp"), "half").unwrap();
    fs::create_dir(at(".trapcheck-999999-1.tmp")).unwrap();
    fs::write(at(".trapcheck-999999-1.tmp/turns.csv"), "half").unwrap();
    let being_written = File::create(at(".trapcheck-999999-2.tmp")).unwrap();
    being_written.lock().unwrap();
    fs::create_dir(at(".trapcheck-999999-3.tmp")).unwrap();
    let folder_being_written = File::open(at(".trapcheck-999999-3.tmp")).unwrap();
    folder_being_written.lock().unwrap();
    symlink("elsewhere", at(".trapcheck-999999-4.tmp")).unwrap();
    assert_eq!(plan_to(&at("plan.csv")).status.code(), Some(0));
    let mut left = unfinished(folder.path());
    left.sort();
    let numbers: Vec<_> = left.iter().map(|p| p.file_name().unwrap().to_str().unwrap()).collect();
    let expected = [2, 3, 4].map(|n| format!(".trapcheck-999999-{n}.tmp"));
    assert_eq!(numbers, expected);
}

#[test]
fn a_campaign_told_to_end_ends_by_that_signal_and_leaves_nothing_half_written() {
    let folder = tempfile::tempdir().unwrap();
    for signal in ["TERM", "INT"] {
        let out = folder.path().join(signal);
        let mut child = Command::new(assert_cmd::cargo::cargo_bin("trapcheck"))
            .args(["campaign", "configs/campaigns/paper.yaml", "--only", "basin-1", "--out"])
            .arg(&out)
            .current_dir(root())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let start = Instant::now();
        while unfinished(&out).is_empty() && start.elapsed() < Duration::from_secs(120) {
            std::thread::sleep(Duration::from_millis(1));
        }
        let id = child.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
        let status = child.wait().unwrap();
        let number = if signal == "TERM" { 15 } else { 2 };
        assert_eq!(status.signal(), Some(number), "{status:?}");
        assert_eq!(unfinished(&out), Vec::<PathBuf>::new());
    }
}

#[test]
fn a_full_disk_leaves_the_old_file_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let plan = "$T plan --cell sglang-300k --arm burst --rate 1 --out";
    for old in [None, Some("old")] {
        let file = folder.path().join("plan.csv");
        if let Some(old) = old {
            fs::write(&file, old).unwrap();
        }
        let output = shell(&format!("ulimit -f 1; $T {} {}", &plan[3..], file.display()));
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains("cannot write"), "{}", stderr(&output));
        assert_eq!(fs::read_to_string(&file).ok().as_deref(), old);
        assert!(unfinished(folder.path()).is_empty());
    }
}

/// A registration that a disk had no room for binds nothing and is in nobody's way.
#[test]
fn a_registration_is_written_whole_or_not_at_all_and_never_over_another() {
    let project = Project::copy();
    let fill = "register fill --inputs configs/fill/sglang-300k.yaml --name";
    let registration = project.path("configs/registrations/mine.yaml");
    let folder = project.path("");
    let output = shell_in(&folder, &format!("ulimit -f 1; $T {fill} mine"));
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("registrations/mine.yaml: "), "{}", stderr(&output));
    assert!(!registration.exists() && unfinished(&folder).is_empty());
    let output = shell_in(&folder, &format!("$T {fill} mine"));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(fs::read_to_string(&registration).unwrap(), stdout(&output));
    let output = shell_in(&folder, &format!("$T {fill} mine"));
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("never overwritten"), "{}", stderr(&output));
    // A link that leads nowhere is something as well.
    symlink("nowhere", project.path("configs/registrations/linked.yaml")).unwrap();
    let output = shell_in(&folder, &format!("$T {fill} linked"));
    assert_eq!(output.status.code(), Some(2));
    assert!(unfinished(&folder).is_empty());
}

#[test]
fn a_run_is_made_beside_whatever_else_lies_there() {
    let folder = tempfile::tempdir().unwrap();
    let mine = folder.path().join("run.tmp/mine");
    fs::create_dir_all(&mine).unwrap();
    fs::write(mine.join("notes"), "kept").unwrap();
    let run = folder.path().join("run");
    let args = ["simulate", "--cell", "sglang-300k", "--arm", "closed", "--population", "2"];
    let output = trapcheck(&[&args[..], &["--out", run.to_str().unwrap()]].concat()).output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(run.join("meta.json").is_file());
    assert_eq!(fs::read_to_string(mine.join("notes")).unwrap(), "kept");
    assert!(unfinished(folder.path()).is_empty());
}

fn campaign(out: &TempDir, args: &[&str]) -> Output {
    let out = out.path().to_str().unwrap();
    let file = "configs/campaigns/paper.yaml";
    trapcheck(&[&["campaign", file, "--out", out], args].concat()).output().unwrap()
}

#[test]
fn replacing_a_run_removes_no_file_that_is_not_a_runs() {
    let out = tempfile::tempdir().unwrap();
    let only = ["--run", "shed_sglang-300k_shed600_x1.35_s1"];
    assert_eq!(campaign(&out, &only).status.code(), Some(0));
    let run = trapcheck::directory::find_runs(&[out.path()]).runs.remove(0);
    fs::write(run.join("config.yaml"), "other: values\n").unwrap();
    fs::write(run.join("notes.txt"), "kept").unwrap();
    let replace = [&only[..], &["--replace"]].concat();
    let output = campaign(&out, &replace);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("notes.txt is no file of a run"), "{}", stderr(&output));
    assert_eq!(fs::read_to_string(run.join("notes.txt")).unwrap(), "kept");
    fs::remove_file(run.join("notes.txt")).unwrap();
    assert_eq!(campaign(&out, &replace).status.code(), Some(0));
    assert_ne!(fs::read_to_string(run.join("config.yaml")).unwrap(), "other: values\n");
    assert!(unfinished(out.path()).is_empty());
}
