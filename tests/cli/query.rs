//! Questions in SQL, over the built program.

use std::collections::BTreeSet;

use crate::project::Project;

/// A real run with a burst: thousands of turns in a dozen columns.
const RUN: &str =
    "results/vllm-cpu/cpu_1_pulled_20261129-125700/agentload_burst/20261129-121107_x1.5_s0";

/// What a question is answered with at some number of the engine's threads.
fn csv(threads: &str, sql: &str) -> String {
    let project = Project::copy();
    let mut command = project.trapcheck(&["query", sql, RUN, "--format", "csv"]);
    let output = command.env("POLARS_MAX_THREADS", threads).assert().success();
    String::from_utf8(output.get_output().stdout.clone()).unwrap()
}

#[test]
fn sums_have_the_same_digits_at_any_number_of_threads() {
    let sums = "select kind, sum(t_submit * prompt_tokens / 7) as a, avg(t_end) as b, \
                stddev(t_submit) as c from turns where turn > 1 group by kind";
    let all = "select sum(t_submit * 1e-7 + prompt_tokens) as a, avg(t_end / 3) as b from turns \
               where prompt_tokens > 100 and t_submit > 10";
    for sql in [sums, all] {
        let answers: BTreeSet<String> = ["1", "2", "8"].map(|n| csv(n, sql)).into();
        assert_eq!(answers.len(), 1, "{answers:?}");
    }
}

#[test]
fn a_runs_turns_are_those_of_its_file() {
    let counts =
        csv("2", "select count(*) as turns, count(distinct session) as sessions from turns");
    let output = Project::copy().trapcheck(&["inspect", RUN, "--format", "csv"]).assert().success();
    let inspected = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    let turns = counts.lines().nth(1).unwrap().split(',').next().unwrap().to_owned();
    assert!(inspected.contains(&format!(",{turns},engine,")), "{counts}{inspected}");
}

#[test]
fn json_names_the_files_that_the_rows_used_come_from() {
    let project = Project::copy();
    let sql = "select value from settings where file = 'protocols/paper' and path = 'paired.burst.sessions'";
    let output = project.trapcheck(&["query", sql, "--format", "json"]).assert().success();
    let answer: serde_json::Value = serde_json::from_slice(&output.get_output().stdout).unwrap();
    assert_eq!(answer["format"], "trapcheck-query/1");
    assert_eq!(answer["answer"][0]["value"], 200.0);
    assert_eq!(answer["read"][0]["rows"], 1);
    assert_eq!(answer["files"][0]["path"], "configs/protocols/paper.yaml");
}

#[test]
fn every_column_of_every_table_says_what_it_is() {
    let project = Project::copy();
    let list = |args: &[&str]| {
        let output = project.trapcheck(args).assert().success();
        String::from_utf8(output.get_output().stdout.clone()).unwrap()
    };
    let tables = list(&["query", "--tables", "--format", "csv"]);
    assert!(tables.lines().count() > 10, "{tables}");
    for table in ["vllm-cpu_runs", "settings", "published"] {
        let columns = list(&["query", "--tables", table, "--format", "csv"]);
        assert!(columns.lines().skip(1).count() > 3, "{columns}");
        assert!(!columns.lines().any(|line| line.ends_with(',')), "{table}: {columns}");
    }
}
