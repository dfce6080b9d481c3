//! What the paper states is read value by value, and what does not fit is named.

use std::fs;

use super::{numbers, small};
use crate::project::{stderr, stdout};

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
        (("decimals: 3", "decimals: 99"), "mean-turns: decimals: expected at most 60"),
        (("decimals: 3", "decimals: [3, 2]"), "mean-turns: decimals: expected one for all"),
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
            "table_7: [{keys: [cell], fields: {hits: select 1}}]",
            "table_7: hits: no row of the table has this field",
        ),
        (
            "table_7: [{keys: [cell], rows: {arm: BURTS}, fields: {hit: {not_computed: x}}}]",
            "table_7: rows: no row of the table fits",
        ),
        ("table_77: []", "table_77: no published number or table table_77"),
        (
            "table_7: [{keys: [cell], query: 'select cell, 1 as hits from \"vllm-cpu_runs\"'}]",
            "table_7: hits: no field of the table",
        ),
        (
            "table_7: [{keys: [cell], fields: {hit: 'select {tokens}'}}]",
            "hit: {tokens}: no key of the row",
        ),
        ("table_7: [{keys: [cell], fields: {hit: {form: range}}}]", "hit: no query answers it"),
    ] {
        let project = small();
        fs::write(project.path("analysis/numbers/tables-1.yaml"), bindings).unwrap();
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
    fs::write(&path, text.replacen("\"format\":4", "\"format\":9", 1)).unwrap();
    verify("expected format 4, found 9", 2);
    fs::write(&path, text).unwrap();
    fs::write(project.path("paper/derived/old_table.csv"), "x\n").unwrap();
    verify("paper/derived/old_table.csv: not made by anything here", 1);
}

#[test]
fn a_published_table_stands_in_our_words_with_ranges_in_two_columns_and_what_differs_named() {
    let project = small();
    let bindings = "table_7:
  - keys: [cell, rate, arm]
    rows: {arm: BURST}
    query: |
      select min(hit_fraction) as hit_least, max(hit_fraction) as hit_most from \"vllm-cpu_runs\" where arm = 'burst'
    fields:
      states: select state from \"vllm-cpu_runs\" where arm = 'burst'
table_6:
  - keys: [field]
    rows: {field: reference_rate_tokens_s}
    fields:
      sglang-300k: select min(seed) from \"vllm-cpu_runs\" where arm = 'e0a'
";
    fs::write(project.path("analysis/numbers/tables-1.yaml"), bindings).unwrap();
    let output = project.trapcheck(&["derive"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let read = |name: &str| fs::read_to_string(project.path("paper/derived").join(name)).unwrap();
    let table = read("table_7.csv");
    for line in [
        "cell,rate,arm,whose,states,hit_least,hit_most,fields_compared,fields_that_agree,fields_that_differ",
        "sglang-300k,1.35,BURST,published,\"TRAPPED, INDETERMINATE, TRAPPED\",0.0,0.0,,,",
        "sglang-300k,1.35,BURST,engine runs,\"TRAPPED, TRAPPED, TRAPPED\",0.0,0.0,2,1,states",
        "sglang-300k,1.65,BURST,engine runs,\"TRAPPED, TRAPPED, TRAPPED\",0.0,0.0,2,2,",
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
