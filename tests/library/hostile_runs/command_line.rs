//! The same at the command line: the problem is named on stderr, stdout stays data,
//! and the exit code says bad input.

use std::process::Output;

use assert_cmd::Command;
use trapcheck::directory::write::{TableFormat, write};

use crate::hostile_runs::fixture::{Fixture, sound};

fn inspect(fixture: &Fixture, options: &[&str]) -> Output {
    let mut command = Command::cargo_bin("trapcheck").expect("the binary");
    let arguments = ["inspect", "--format", "csv", "."];
    command.current_dir(fixture.dir()).args(arguments).args(options).output().expect("it runs")
}

/// Exit code 2, one row on stdout that says so, the words on stderr, and no panic.
#[track_caller]
fn refuses(output: &Output, words: &[&str]) {
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert_eq!(out.lines().count(), 2, "a header and a row: {out}");
    assert!(out.contains("unreadable") && !out.contains("problem"), "{out}");
    assert!(!err.contains("panicked") && !err.contains("backtrace"), "{err}");
    words.iter().for_each(|word| assert!(err.contains(word), "{word:?} is not in: {err}"));
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_sound_run_is_a_row_and_exit_code_0() {
    let output = inspect(&Fixture::new(), &[]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output.stderr), "");
    assert_eq!(text(&output.stdout).lines().count(), 2);
}

#[test]
fn a_broken_value_is_named_with_file_line_and_column() {
    let fixture = Fixture::new();
    fixture.edit("turns.csv", "2650,1984,100", "2650,2651,100");
    let words = ["problem: ./turns.csv:4: cached_tokens: 2651 cached tokens of a prompt of 2650"];
    refuses(&inspect(&fixture, &[]), &words);
}

#[test]
fn a_cut_off_line_is_named_with_what_to_do_and_left_out_when_asked() {
    let fixture = Fixture::new();
    fixture.write("engine.csv", sound("engine").trim_end_matches(",4724,510,1\n"));
    refuses(&inspect(&fixture, &[]), &["problem: ./engine.csv:4: ", "--drop-cut-off"]);
    let output = inspect(&fixture, &["--drop-cut-off", "--notes"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stderr).contains("note: ./engine.csv:4: left out, as asked"));
}

#[test]
fn a_broken_meta_json_is_named_with_line_and_column() {
    let fixture = Fixture::new();
    fixture.edit("meta.json", "\"seed\": 7", "\"seed\": NaN");
    refuses(&inspect(&fixture, &[]), &["problem: ./meta.json:10: column 10: ", "not JSON"]);
}

#[test]
fn damaged_parquet_files_are_named_without_a_panic_message() {
    let (run, batch) = (Fixture::new().sound(), tempfile::TempDir::new().expect("a directory"));
    let sound = batch.path().join("sound");
    write(&run, &sound, TableFormat::Parquet).expect("it can be written");
    let parquet = std::fs::read(sound.join("turns.parquet")).expect("it is there");
    // One run per damaged byte of the first columns, among them their page headers.
    for at in (4..400).step_by(2) {
        let dir = batch.path().join(format!("{at:05}"));
        write(&run, &dir, TableFormat::Parquet).expect("it can be written");
        let mut damaged = parquet.clone();
        damaged[at] ^= 0xff;
        std::fs::write(dir.join("turns.parquet"), damaged).expect("it is writable");
    }
    let mut command = Command::cargo_bin("trapcheck").expect("the binary");
    let output = command.arg("inspect").arg(batch.path()).output().expect("it runs");
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(!err.contains("panicked") && !err.contains("backtrace"), "{err}");
    assert!(err.contains("turns.parquet: damaged: the parquet reader failed"), "{err}");
    assert!(!err.contains("sound/"), "{err}");
}

#[test]
fn a_long_list_of_problems_is_cut_unless_asked_for() {
    let fixture = Fixture::new();
    let (header, _) = sound("engine").split_once('\n').expect("a header");
    let rows: String = (0..50).map(|_| "x,,,,,,,,,\n").collect();
    fixture.write("engine.csv", format!("{header}\n{rows}"));
    let short = inspect(&fixture, &[]);
    refuses(&short, &["./engine.csv:11: t: ", "and 40 more; --all lists them"]);
    assert!(!text(&short.stderr).contains("./engine.csv:12:"));
    refuses(&inspect(&fixture, &["--all"]), &["./engine.csv:51: t: "]);
}

#[test]
fn one_broken_run_does_not_hide_the_others() {
    let (batch, broken) = (tempfile::TempDir::new().expect("a directory"), Fixture::new());
    broken.write("turns.csv", "");
    for (name, from) in [("a", &broken), ("b", &Fixture::new())] {
        let dir = batch.path().join(name);
        std::fs::create_dir(&dir).expect("a directory");
        for entry in std::fs::read_dir(from.dir()).expect("a directory") {
            let entry = entry.expect("a file");
            std::fs::copy(entry.path(), dir.join(entry.file_name())).expect("copied");
        }
    }
    let mut command = Command::cargo_bin("trapcheck").expect("the binary");
    let output = command.args(["inspect", "--wide"]).arg(batch.path()).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    let out = text(&output.stdout);
    assert_eq!(out.lines().count(), 3, "{out}");
    assert!(out.contains("unreadable") && out.contains("completed"), "{out}");
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_read_is_named() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    let fixture = Fixture::new();
    let turns = fixture.path("turns.csv");
    let mode = |path: &std::path::Path, mode| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(path, permissions).expect("it is ours");
    };
    mode(&turns, 0o000);
    if std::fs::read(&turns).is_err() {
        return refuses(&inspect(&fixture, &[]), &["./turns.csv: cannot read", "denied"]);
    }
    // The superuser reads everything: become nobody, with a binary nobody can reach.
    let binary = fixture.path("trapcheck");
    std::fs::copy(assert_cmd::cargo::cargo_bin("trapcheck"), &binary).expect("copied");
    mode(&binary, 0o755);
    mode(fixture.dir(), 0o755);
    let mut command = std::process::Command::new(&binary);
    command.args(["inspect", "--format", "csv", "."]).current_dir(fixture.dir()).uid(65_534);
    refuses(&command.output().expect("it runs"), &["./turns.csv: cannot read", "denied"]);
}
