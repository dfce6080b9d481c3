//! Every published number has a status, and a binding that makes no sense is named.

mod beside;
mod published;
mod shown;

use std::fs;

use crate::project::{Project, stderr, stdout};

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
    write("analysis/numbers/sec-2.yaml", BINDINGS);
    write("analysis/numbers/comparison.yaml", COMPARISON);
    project
}

const COMPARISON: &str = "uninformative: {wider_than: 0.8, because: x}
chance: {within_widths: 0.25, because: x}
words: {T: TRAPPED, I: INDETERMINATE}
";

const BINDINGS: &str = "mean-turns:
  statement: turns of a session, on average
  query: select ours from model_values where id = 'A001'
trapped:
  query: |
    select sum(case when state = 'TRAPPED' then 1 else 0 end), count(*)
    from \"vllm-cpu_runs\" where arm = 'burst'
horizon:
  query: select value from settings where file = 'protocols/paper' and path = 'paired.horizon_s'
logs:
  needs_nova: results/nova/
  because: logs are not simulated
";

fn numbers(project: &Project) -> (Option<i32>, String) {
    let output = project.trapcheck(&["numbers"]).output().unwrap();
    (output.status.code(), stdout(&output) + &stderr(&output))
}

/// What the program says of the small project with other bindings.
fn said_of(bindings: &str) -> (Option<i32>, String) {
    let project = small();
    fs::write(project.path("analysis/numbers/sec-2.yaml"), bindings).unwrap();
    numbers(&project)
}

#[test]
fn each_number_has_the_status_that_its_comparison_gives() {
    let project = small();
    let (code, said) = numbers(&project);
    assert_eq!(code, Some(0), "{said}");
    let page = fs::read_to_string(project.path("paper/numbers/sec-2.md")).unwrap();
    for line in [
        "| `horizon` | run length (sec 2) | 9999 s | 8700 |  |  | settings | ours below: -13.0 %; not known |",
        "| `mean-turns` | turns of a session, on average (sec 2) | 14.761 turns | 14.761 |",
        "| `trapped` | bursts trapped (sec 3) | 3 of 3 runs | 3 of 3 |  |  | engine runs |  |",
        "| `logs` | logs read (App. E) | 73 logs | results/nova/: logs are not simulated |",
    ] {
        assert!(page.contains(line), "no {line} in {page}");
    }
    assert!(page.find("## Differs (1)") < page.find("## Reproduced (2)"), "{page}");
    let front = fs::read_to_string(project.path("paper/NUMBERS.md")).unwrap();
    assert!(
        front.contains("| [sec 2](numbers/sec-2.md) | 13 | 1 | 0 | 0 | 0 | 2 | 1 | 9 |"),
        "{front}"
    );
    assert!(front.lines().count() < 80, "one page: {front}");
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
    fs::write(&path, text.replacen("\"status\":\"differs\"", "\"status\":\"consistent\"", 1))
        .unwrap();
    let output = project.trapcheck(&["numbers", "--verify"]).output().unwrap();
    let said = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("number horizon: computed 8700 (differs), recorded 8700 (consistent)"),
        "{said}"
    );
}

#[test]
fn bindings_that_lead_nowhere_are_named_and_exit_with_1() {
    for (change, says) in [
        (("vllm-cpu_runs", "vllm-cpu_run"), "trapped: no table vllm-cpu_run"),
        (("when state", "when stat"), "trapped: no column stat in vllm-cpu_runs"),
        (("select ours", "select published"), "mean-turns: no column published in model_values"),
        (("from model_values", "from published"), "mean-turns: no table published"),
        (("select ours from", "select"), "mean-turns: "),
        (
            ("select value from", "select file, value from"),
            "horizon: ours is protocols/paper, no number",
        ),
        (("select ours", "select id, ours"), "mean-turns: ours is A001, no number"),
        (
            ("select ours", "select ours, ours as again"),
            "mean-turns: published are 1 values, ours are 2",
        ),
    ] {
        let (code, said) = said_of(&BINDINGS.replace(change.0, change.1));
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains(&format!("problem: {says}")), "no {says:?} in {said}");
    }
}

#[test]
fn a_cause_that_what_is_computed_contradicts_is_named_and_exits_with_1() {
    let stated = |lines: &str| {
        BINDINGS.replace("paired.horizon_s'\n", &format!("paired.horizon_s'\n{lines}"))
    };
    let other = "  agrees: select 9999 as other\n";
    let cause = "  cause: definition\n  because: another clock\n";
    let (code, said) = said_of(&stated(&format!("{cause}  ours: below\n{other}")));
    assert_eq!(code, Some(0), "{said}");
    for (check, says) in [
        (
            "  ours: above\n",
            "horizon: cause definition: ours above is what it would make, and it is ours below",
        ),
        (
            "  agrees: select 9998 as other\n",
            "horizon: cause definition: what would agree does not: it is 9998",
        ),
        (
            "  agrees: select x from nowhere\n",
            "horizon: cause definition: agrees: no table nowhere",
        ),
    ] {
        let (code, said) = said_of(&stated(&format!("{cause}{check}")));
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains(says), "no {says:?} in {said}");
    }
    let (code, said) = said_of(&stated("  cause: chance\n  because: a draw\n"));
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("horizon: cause chance: no draw came out like it"), "{said}");
}

#[test]
fn a_value_that_ours_has_not_differs() {
    let bindings = BINDINGS.replace("= 'paired.horizon_s'", "= 'paired.horizon'");
    let project = small();
    fs::write(project.path("analysis/numbers/sec-2.yaml"), bindings).unwrap();
    let (code, said) = numbers(&project);
    assert_eq!(code, Some(0), "{said}");
    let page = fs::read_to_string(project.path("paper/numbers/sec-2.md")).unwrap();
    assert!(page.contains("| 9999 s | none |"), "{page}");
}

#[test]
fn a_binding_too_many_too_few_twice_or_without_sense_is_named_and_exits_with_1() {
    let twice = format!("{BINDINGS}trapped:\n  not_computed: x\n");
    let more = format!("{BINDINGS}mean-turn:\n  not_computed: x\n");
    for (bindings, says) in [
        (
            BINDINGS.lines().skip(3).collect::<Vec<_>>().join("\n"),
            "mean-turns is published and not bound",
        ),
        (more, "mean-turn: no published number or table mean-turn; did you mean mean-turns?"),
        (twice, "duplicate"),
        (BINDINGS.replace("because: logs", "cause: logs"), "logs: "),
        (BINDINGS.replace("  because: logs are not simulated\n", ""), "logs: because is missing"),
        (BINDINGS.replace("query: select ours", "sql: select ours"), "sql"),
    ] {
        let (code, said) = said_of(&bindings);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains(says), "no {says:?} in {said}");
    }
}

#[test]
fn a_number_that_two_sections_bind_is_named() {
    let project = small();
    let again = "logs:\n  not_computed: x\n";
    fs::write(project.path("analysis/numbers/sec-3.yaml"), again).unwrap();
    let (code, said) = numbers(&project);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("sec-3.yaml: logs: bound in another file as well"), "{said}");
}

#[test]
fn one_analysis_is_verified_whatever_the_others_and_the_ledger_say() {
    let project = small();
    numbers(&project);
    let verify = |name: &str| {
        let output = project.trapcheck(&["numbers", "--verify", name]).output().unwrap();
        (output.status.code(), stdout(&output) + &stderr(&output))
    };
    let path = project.path("analysis/numbers/sec-2.yaml");
    fs::write(path, BINDINGS.replace("paired.horizon_s", "paired.horizon")).unwrap();
    let (code, said) = verify("vllm-cpu");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.starts_with("verified: "), "{said}");
    let table = project.path("paper/derived/vllm-cpu_runs.csv");
    fs::write(table, "x\n").unwrap();
    let (code, said) = verify("vllm-cpu");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("output paper/derived/vllm-cpu_runs.csv: SHA-256 is"), "{said}");
    let (code, said) = verify("vllm-cpus");
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("did you mean vllm-cpu?"), "{said}");
}

#[test]
fn a_cell_and_a_registration_of_ones_own_change_no_table_no_figure_and_no_number() {
    let project = small();
    numbers(&project);
    let before = [project.bytes_of("paper"), project.bytes_of("figures")];
    let copy = |from: &str, to: &str, change: &dyn Fn(String) -> String| {
        let text = fs::read_to_string(project.path(from)).unwrap();
        fs::write(project.path(to), change(text)).unwrap();
    };
    copy("configs/cells/sglang-300k.yaml", "configs/cells/mine.yaml", &|text| {
        text.replace("name: sglang-300k", "name: mine")
    });
    // Another rule for a cell of the paper: two that fit would stop an analysis that reads both.
    copy("configs/registrations/vllm-cpu.yaml", "configs/registrations/mine.yaml", &|text| {
        text.replace("name: vllm-cpu\n", "name: mine\n")
            .replace("slope_factor: 0.5", "slope_factor: 0.4")
    });
    for command in [&["derive", "--no-cache"][..], &["figures"], &["numbers"]] {
        let output = project.trapcheck(command).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
    assert_eq!(project.bytes_of("paper"), before[0]);
    assert_eq!(project.bytes_of("figures"), before[1]);
}
