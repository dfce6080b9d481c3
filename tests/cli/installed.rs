//! An installed program, with no project around it, knows the configurations of the paper.

use std::fs;

use crate::project::{root, stderr, stdout, trapcheck};

const TRAP: [&str; 6] = ["model", "trap", "--cell", "sglang-300k", "--rate", "1.65"];

#[test]
fn in_an_empty_folder_the_built_in_cells_answer_and_this_is_said() {
    let empty = tempfile::tempdir().unwrap();
    let output = trapcheck(&TRAP).current_dir(empty.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(
        stderr(&output),
        "no configs folder here: using the configuration built into this program\n"
    );
    let here = trapcheck(&TRAP).output().unwrap();
    assert_eq!(stdout(&output), stdout(&here));
    assert_eq!(stderr(&here), "");
    assert_eq!(fs::read_dir(empty.path()).unwrap().count(), 0);
}

#[test]
fn runs_are_scored_under_the_built_in_configuration_as_under_the_folder() {
    let empty = tempfile::tempdir().unwrap();
    let runs = root().join("results/vllm-cpu/cpu_2_pulled_20261129-141500/agentload_burst");
    let runs = runs.to_string_lossy();
    let args = ["score", "--format", "csv", &*runs];
    let output = trapcheck(&args).current_dir(empty.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stdout(&output), stdout(&trapcheck(&args).output().unwrap()));
}

#[test]
fn the_built_in_settings_can_be_asked_as_those_of_the_folder() {
    let empty = tempfile::tempdir().unwrap();
    let sql = "select file, path, value, text from settings";
    let args = ["query", sql, "--format", "csv"];
    let output = trapcheck(&args).current_dir(empty.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).lines().count() > 1000);
    assert_eq!(stdout(&output), stdout(&trapcheck(&args).output().unwrap()));
}

#[test]
fn the_built_in_campaign_and_inputs_of_a_fill_are_found_under_their_usual_names() {
    let empty = tempfile::tempdir().unwrap();
    let campaign = ["campaign", "configs/campaigns/paper.yaml", "--list", "--format", "csv"];
    let fill = ["register", "fill", "--name", "mine", "--inputs", "configs/fill/sglang-300k.yaml"];
    let fill: Vec<&str> = fill.into_iter().chain(["--dry-run"]).collect();
    for args in [campaign.as_slice(), fill.as_slice()] {
        let output = trapcheck(args).current_dir(empty.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(stdout(&output), stdout(&trapcheck(args).output().unwrap()));
    }
    assert_eq!(fs::read_dir(empty.path()).unwrap().count(), 0);
}

#[test]
fn what_is_to_be_written_into_configs_needs_the_folder() {
    let empty = tempfile::tempdir().unwrap();
    let args = ["register", "fill", "--name", "mine", "--inputs", "configs/fill/sglang-300k.yaml"];
    let output = trapcheck(&args).current_dir(empty.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("configs: no such directory"), "{}", stderr(&output));
    assert_eq!(fs::read_dir(empty.path()).unwrap().count(), 0);
}

#[test]
fn a_folder_that_was_asked_for_and_is_not_there_is_an_error() {
    let empty = tempfile::tempdir().unwrap();
    let mut args = TRAP.to_vec();
    args.extend(["--configs", "mine"]);
    let output = trapcheck(&args).current_dir(empty.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("mine: no such directory"), "{}", stderr(&output));
}

#[test]
fn a_folder_of_ones_own_is_used_alone_even_where_it_lacks_a_cell() {
    let project = tempfile::tempdir().unwrap();
    fs::create_dir(project.path().join("configs")).unwrap();
    let output = trapcheck(&TRAP).current_dir(project.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("no cell sglang-300k"), "{}", stderr(&output));
    assert!(!stderr(&output).contains("built into"), "{}", stderr(&output));
}
