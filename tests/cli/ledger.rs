//! Every published number has a status, and a binding that makes no sense is named.

use std::fs;

use crate::project::{Project, stderr, stdout, trapcheck};

/// A project whose paper states four numbers.
fn small() -> Project {
    let project = Project::copy();
    let write = |path: &str, text: &str| {
        fs::create_dir_all(project.path(path).parent().unwrap()).unwrap();
        fs::write(project.path(path), text).unwrap();
    };
    write(
        "paper/published/numbers.yaml",
        "meta: {paper: x}
entries:
  - {id: mean-turns, where: [sec 2], statement: mean turns, value: 14.761, form: scalar, unit: turns, kind: model, decimals: 3}
  - {id: trapped, where: [sec 3], statement: bursts trapped, value: [3, 3], form: of, unit: runs, kind: measured, decimals: 0}
  - {id: horizon, where: [sec 2], statement: run length, value: 9999, form: scalar, unit: s, kind: registered, decimals: 0}
  - {id: logs, where: [App. E], statement: logs read, value: 73, form: scalar, unit: logs, kind: count, decimals: 0}
model_values:
  - {id: A001, number: mean-turns, where: x, quantity: x, cell: x, asks: {for: {quantity: mean_turns, at: [{cell: sglang-300k}]}}}
",
    );
    write("analysis/numbers.yaml", BINDINGS);
    write("analysis/numbers/tables.yaml", "words: {T: TRAPPED}\n");
    write(
        "analysis/numbers/tolerances.yaml",
        "exact: {units_of_last_digit: 0.5, because: x}\nruns: [{share: 0.2, relative: 0.15, because: x}]\n",
    );
    project
}

const BINDINGS: &str = "mean-turns: {model: A001}
trapped: {table: vllm-cpu_runs, where: {arm: burst}, take: of, is: {state: TRAPPED}}
horizon: {config: configs/protocols/paper.yaml, at: paired.horizon_s}
logs: {nova: results/nova/, because: logs are not simulated}
";

fn numbers(project: &Project) -> (Option<i32>, String) {
    let output = project.trapcheck(&["numbers"]).output().unwrap();
    (output.status.code(), stdout(&output) + &stderr(&output))
}

/// What the program says of the small project with other bindings.
fn said_of(bindings: &str) -> (Option<i32>, String) {
    let project = small();
    fs::write(project.path("analysis/numbers.yaml"), bindings).unwrap();
    numbers(&project)
}

#[test]
fn each_number_has_the_status_that_its_comparison_gives() {
    let project = small();
    let (code, said) = numbers(&project);
    assert_eq!(code, Some(0), "{said}");
    let ledger = fs::read_to_string(project.path("paper/NUMBERS.md")).unwrap();
    for line in [
        "| `mean-turns` | sec 2 | mean turns | turns | 14.761 | 14.761 | model | reproduced |",
        "| `trapped` | sec 3 | bursts trapped | runs | 3 of 3 | 3 of 3 | engine | replicated |",
        "| `horizon` | sec 2 | run length | s | 9999 | 8700 | settings | differs | -13.0 %",
        "| `logs` | App. E | logs read | logs | 73 |  |  | needs nova | results/nova/: logs are not simulated |",
    ] {
        assert!(ledger.contains(line), "no {line} in the ledger");
    }
    let macros = fs::read_to_string(project.path("paper/numbers.tex")).unwrap();
    assert!(macros.contains("\\trapcheck@set{trapped}{3 of 3}{3 of 3}"), "{macros}");
    let verified = project.trapcheck(&["numbers", "--verify"]).output().unwrap();
    assert_eq!(verified.status.code(), Some(0), "{}", stdout(&verified) + &stderr(&verified));
}

#[test]
fn a_status_edited_by_hand_is_named() {
    let project = small();
    numbers(&project);
    let path = project.path("paper/numbers.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("\"status\":\"differs\"", "\"status\":\"reproduced\"", 1))
        .unwrap();
    let output = project.trapcheck(&["numbers", "--verify"]).output().unwrap();
    let said = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("number horizon: computed 8700 (differs), recorded 8700 (reproduced)"),
        "{said}"
    );
}

#[test]
fn bindings_that_lead_nowhere_are_named_and_exit_with_1() {
    for (change, says) in [
        (("{model: A001}", "{model: Z999}"), "mean-turns: no model value Z999"),
        (("vllm-cpu_runs", "no_such"), "trapped: no table no_such"),
        (("is: {state", "is: {stat"), "trapped: vllm-cpu_runs: no column stat"),
        (
            ("paired.horizon_s", "paired.horizon"),
            "horizon: configs/protocols/paper.yaml: nothing at paired.horizon",
        ),
        (
            ("protocols/paper", "protocols/none"),
            "horizon: configs/protocols/none.yaml: no such file of settings",
        ),
        (
            ("{model: A001}", "{number: mean-turns}"),
            "mean-turns: a cycle: mean-turns -> mean-turns",
        ),
        (("{model: A001}", "{number: other}"), "mean-turns: no number other"),
    ] {
        let (code, said) = said_of(&BINDINGS.replace(change.0, change.1));
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains(&format!("problem: {says}")), "no {says:?} in {said}");
    }
}

#[test]
fn a_binding_too_many_too_few_twice_or_without_sense_is_named_and_exits_with_1() {
    let twice = format!("{BINDINGS}trapped: {{none: x}}\n");
    let more = format!("{BINDINGS}other: {{none: x}}\n");
    for (bindings, says) in [
        (
            BINDINGS.lines().skip(1).collect::<Vec<_>>().join("\n"),
            "mean-turns is published and not bound",
        ),
        (more, "other is bound and not published"),
        (twice, "duplicate"),
        (BINDINGS.replace("take: of", "take: all"), "trapped: take: all is not known"),
        (
            BINDINGS.replace("{model: A001}", "{constant: 3}"),
            "mean-turns: constant: no such quantity",
        ),
    ] {
        let (code, said) = said_of(&bindings);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains(says), "no {says:?} in {said}");
    }
}

#[test]
fn two_published_numbers_of_one_id_are_named() {
    let project = small();
    let path = project.path("paper/published/numbers.yaml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("id: logs", "id: horizon")).unwrap();
    let (code, said) = numbers(&project);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("numbers.yaml: id horizon is there twice"), "{said}");
}

#[test]
fn a_published_value_that_does_not_fit_its_form_is_named() {
    for (change, says) in [
        (("value: [3, 3], form: of", "value: [4, 3], form: of"), "trapped: k of n is two numbers"),
        (("value: 73, form: scalar", "value: 73, form: range"), "logs: a range is two numbers"),
        (("value: 73,", "value: many,"), "logs: value: expected numbers"),
        (("decimals: 3", "decimals: 99"), "mean-turns: decimals: expected at most 12"),
    ] {
        let project = small();
        let path = project.path("paper/published/numbers.yaml");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace(change.0, change.1)).unwrap();
        let (code, said) = numbers(&project);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains(says), "no {says:?} in {said}");
    }
}

#[test]
fn a_field_or_row_that_the_published_table_does_not_have_is_named() {
    for (bindings, says) in [
        (
            "table_7: [{keys: [cell], fields: {hits: {model: A001}}}]",
            "table_7: hits: no row of the table has this field",
        ),
        (
            "table_7: [{keys: [cell], rows: {arm: BURTS}, none: {hit: x}}]",
            "table_7: rows: no row of the table fits",
        ),
        ("table_77: []", "table_77: no such published table"),
    ] {
        let project = small();
        fs::write(project.path("analysis/numbers/tables.yaml"), bindings).unwrap();
        let (code, said) = numbers(&project);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains(says), "no {says:?} in {said}");
    }
}

#[test]
fn another_format_a_value_too_many_and_a_stale_table_do_not_verify() {
    let project = small();
    numbers(&project);
    let verify = |says: &str, expected: i32| {
        let output = project.trapcheck(&["numbers", "--verify"]).output().unwrap();
        let said = stdout(&output) + &stderr(&output);
        assert_eq!(output.status.code(), Some(expected), "{said}");
        assert!(said.contains(says), "no {says:?} in {said}");
    };
    let path = project.path("paper/numbers.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("],\"sources\":", ",\"more\"],\"sources\":", 1)).unwrap();
    verify("numbers.json", 1);
    fs::write(&path, text.replacen("\"format\":2", "\"format\":9", 1)).unwrap();
    verify("expected format 2, found 9", 2);
    fs::write(&path, text).unwrap();
    fs::write(project.path("paper/derived/old_table.csv"), "x\n").unwrap();
    verify("paper/derived/old_table.csv: not made by anything here", 1);
}

#[test]
fn show_tells_the_chain_from_the_source_to_the_value() {
    let output = trapcheck(&["numbers", "show", "stuck-runs-total"]).output().unwrap();
    let said = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    for part in [
        "published",
        "57 runs",
        "ours",
        "simulator",
        "paper/derived/paper_",
        "again with",
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

#[test]
fn a_published_table_stands_in_our_words_with_ranges_in_two_columns_and_what_differs_named() {
    let project = small();
    let bindings = "words: {T: TRAPPED, I: INDETERMINATE}
table_7:
  - keys: [cell, rate, arm]
    rows: {arm: BURST}
    fields:
      states: {table: vllm-cpu_runs, where: {arm: burst}, column: state}
      hit: {table: vllm-cpu_runs, where: {arm: burst}, column: hit_fraction, take: range}
table_6:
  - keys: [field]
    rows: {field: reference_rate_tokens_s}
    fields:
      sglang-300k: {table: vllm-cpu_runs, where: {arm: e0a}, column: seed}
";
    fs::write(project.path("analysis/numbers/tables.yaml"), bindings).unwrap();
    let output = project.trapcheck(&["derive"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let read = |name: &str| fs::read_to_string(project.path("paper/derived").join(name)).unwrap();
    let table = read("table_7.csv");
    for line in [
        "cell,rate,arm,whose,states,hit_least,hit_most,fields_compared,fields_that_agree,fields_that_differ",
        "sglang-300k,1.35,BURST,published,\"TRAPPED, INDETERMINATE, TRAPPED\",0.0,0.0,,,",
        "sglang-300k,1.35,BURST,engine,\"TRAPPED, TRAPPED, TRAPPED\",0.0,0.0,2,1,states",
        "sglang-300k,1.65,BURST,engine,\"TRAPPED, TRAPPED, TRAPPED\",0.0,0.0,2,2,",
    ] {
        assert!(table.lines().any(|found| found == line), "no {line} in {table}");
    }
    assert!(
        read("table_7.md").contains("| 0.0 to 0.0 | 2 | 1 | states |"),
        "{}",
        read("table_7.md")
    );
    // Rows that share no field would leave most of the table empty.
    let sparse = read("table_6.csv");
    assert!(sparse.starts_with("field,part,published,ours,whose,status\n"), "{sparse}");
    assert!(!sparse.contains(",,,"), "{sparse}");
}
