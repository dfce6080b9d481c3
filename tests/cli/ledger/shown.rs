//! How numbers stand, for those who look, and a text that uses them.

use std::fs;

use super::{numbers, small};
use crate::project::{stderr, stdout, trapcheck};

#[test]
fn the_list_is_filtered_by_how_numbers_stand() {
    let project = small();
    numbers(&project);
    let listed = |args: &[&str]| {
        let args = [&["numbers", "list", "--format", "csv"], args].concat();
        let output = project.trapcheck(&args).output().unwrap();
        let said = stdout(&output);
        let ids = said.lines().skip(1).map(|line| line.split(',').next().unwrap().to_owned());
        (output.status.code(), ids.collect::<Vec<_>>(), stderr(&output))
    };
    assert_eq!(listed(&["--status", "differs"]).1, ["horizon"]);
    assert_eq!(listed(&["--status", "needs-nova"]).1, ["logs"]);
    assert_eq!(listed(&["--basis", "engine"]).1, ["trapped"]);
    assert_eq!(listed(&["--value", "14.76"]).1, ["mean-turns", "table_4/4"]);
    assert_eq!(listed(&["--grep", "SIMULATED"]).1, ["logs"]);
    assert_eq!(listed(&["--cause", "unknown"]).1, ["horizon"]);
    assert!(listed(&["--status", "differs", "--basis", "model"]).1.is_empty());
    let (code, _, said) = listed(&["--section", "sec-3"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("no section sec-3"), "{said}");
    let (code, _, said) = listed(&["--status", "difers"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("did you mean differs?"), "{said}");
}

#[test]
fn show_tells_the_chain_from_the_source_to_the_value() {
    let output = trapcheck(&["numbers", "show", "gap-ratio-median"]).output().unwrap();
    let said = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    for part in [
        "published",
        "1.01 ratio",
        "ours",
        "simulated runs",
        "interval",
        "query",
        "rows used",
        "paper/derived/paper_",
        "source",
    ] {
        assert!(said.contains(part), "no {part:?} in {said}");
    }
    let output = trapcheck(&["numbers", "show", "stuck-runs"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("there are: stuck-runs-"), "{}", stderr(&output));
}

#[test]
fn a_text_that_uses_an_unknown_number_fails_with_its_line() {
    let project = small();
    numbers(&project);
    fs::write(project.path("good.tex"), "\\ours{trapped} of \\published{trapped}\n").unwrap();
    project.trapcheck(&["numbers", "check-tex", "good.tex"]).assert().code(0);
    fs::write(project.path("bad.tex"), "x\n\\ours{traped}\n").unwrap();
    let output = project.trapcheck(&["numbers", "check-tex", "bad.tex"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stdout(&output), "bad.tex:2: no number traped; did you mean trapped?\n");
}
