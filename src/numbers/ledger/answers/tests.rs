//! What answers rest on, and that every draw is asked.

use super::*;

#[test]
fn a_source_or_a_basis_says_whose_runs_or_what_else() {
    let of = |text: &str| bases(&Cell::text(text));
    assert_eq!(of("simulator"), [Basis::Simulated]);
    assert_eq!(of("engine, simulator"), [Basis::Engine, Basis::Simulated]);
    assert_eq!(of("text"), [Basis::Model]);
    assert_eq!(of("text + inferred initial state"), [Basis::Inferred]);
    assert_eq!(of("fitted (speed factor)"), [Basis::Inferred]);
    assert_eq!(bases(&Cell::Empty), [Basis::Model]);
}

/// Two simulated runs and an engine's, and 40 draws in which one of the former comes out
/// otherwise each time.
fn answered(sql: &str) -> Answers {
    answered_beside(sql, &[])
}

/// The same, and beside them draws of these tables in which each row's x is 9.
fn answered_beside(sql: &str, beside: &[&str]) -> Answers {
    use crate::analysis::ensemble::stored::{pack, path_of};
    use crate::table::{Col, Heading};
    let columns: &[Col<(&str, &str, f64)>] = &[
        Heading("run", "", "").key(|of| Cell::text(of.0)),
        Heading("source", "", "").key(|of| Cell::text(of.1)),
        Heading("x", "", "").number(3, |of| of.2),
    ];
    let rows = [("a", "simulator", 1.0), ("b", "simulator", 2.0), ("c", "engine", 3.0)];
    let runs = Table::of("runs", "runs", columns, rows, |of| (of.0.into(), Vec::new()));
    let mut database = Database::new(Vec::new());
    database.add(runs);
    let mut text = String::from("draw:40\trun\tsource\tx:3\n");
    for draw in 0..40 {
        text += &format!("{draw}\ta\tsimulator\t{draw}.5\n{draw}\tb\tsimulator\t2.0\n");
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(path_of(folder.path(), "runs"), pack(&text).unwrap()).unwrap();
    let draws = Draws::open(folder.path()).unwrap();
    let asked = [sql.to_owned()].into();
    let mut answers = Answers::of(&asked, &database, &draws, |tables| tables).unwrap();
    let other = tempfile::tempdir().unwrap();
    let text: String = (0..40).map(|draw| format!("{draw}\ta\tsimulator\t9\n")).collect();
    for name in beside {
        let text = format!("draw:40\trun\tsource\tx:3\n{text}");
        std::fs::write(path_of(other.path(), name), pack(&text).unwrap()).unwrap();
    }
    let others = Draws::open(other.path()).unwrap();
    let beside = (Beside::Ways, &others);
    answers.ask_beside(beside, &asked, &database, &draws, |tables| tables).unwrap();
    answers
}

#[test]
fn an_ensemble_beside_the_campaigns_is_asked_too_and_named_where_it_has_no_such_table() {
    let sql = "select max(x) from runs where source = 'simulator'";
    let answers = answered_beside(sql, &["runs"]);
    let of = answers.get(sql).unwrap();
    let first = |which| {
        let draws = of.draws_of(which).unwrap();
        (draws.len(), draws[39].as_ref().unwrap().rows[0].cells[0].print())
    };
    assert_eq!(first(None), (40, "39.5".to_owned()));
    assert_eq!(first(Some(Beside::Ways)), (40, "9".to_owned()));
    let why = of.draws_of(Some(Beside::Arrivals)).unwrap_err();
    assert_eq!(why, "results/sim/ensemble-arrivals has no draws: make ensemble");
    let answers = answered_beside(sql, &["others"]);
    let why = answers.get(sql).unwrap().draws_of(Some(Beside::Ways)).unwrap_err();
    assert_eq!(why, "results/sim/ensemble-ways has no table runs");
}

#[test]
fn a_statement_over_simulated_runs_is_asked_of_every_draw_in_order() {
    let sql = "select max(x) from runs where source = 'simulator'";
    let answers = answered(sql);
    let of = answers.get(sql).unwrap();
    assert_eq!(of.ours.as_ref().unwrap().rows[0].cells, [Cell::Number(2.0, 0)]);
    assert_eq!(of.uses.basis, [Basis::Simulated].into());
    let drawn = |table: &Option<Table>| table.as_ref().unwrap().rows[0].cells[0].print();
    let drawn: Vec<String> = of.draws.iter().map(drawn).collect();
    assert_eq!(drawn.len(), 40);
    assert_eq!((&*drawn[0], &*drawn[1], &*drawn[39]), ("2", "2", "39.5"));
}

#[test]
fn a_statement_over_an_engines_runs_is_asked_of_no_draw() {
    let sql = "select x from runs where run = 'c'";
    let answers = answered(sql);
    let of = answers.get(sql).unwrap();
    assert_eq!((of.uses.basis.clone(), of.draws.len()), ([Basis::Engine].into(), 0));
}

#[test]
fn a_column_that_no_run_of_a_draw_fills_is_null_there_and_no_error() {
    let sql = "select run from runs where source = 'engine' or x > 30 and run <> 'c'";
    let answers = answered(sql);
    assert!(answers.get(sql).unwrap().draws.iter().all(Option::is_some));
}

#[test]
fn each_row_of_an_answer_says_whose_runs_are_its_own() {
    let sql = "select source, max(x) from runs group by source";
    let answers = answered(sql);
    let of = answers.get(sql).unwrap();
    assert_eq!(of.uses.basis, [Basis::Engine, Basis::Simulated].into());
    assert_eq!(of.uses_of(Some(0)).basis, [Basis::Engine].into());
    assert_eq!(of.uses_of(Some(1)).runs, OfRuns { simulated: 2, ..OfRuns::default() });
    assert_eq!(of.uses_of(None).runs, OfRuns { engine: 1, simulated: 2, both: 0 });
}

#[test]
fn what_is_no_select_or_names_no_table_says_so() {
    for (sql, says) in
        [("drop table runs", "expected a select"), ("select x from run", "did you mean runs?")]
    {
        let answers = answered(sql);
        let said = answers.get(sql).unwrap().ours.clone().unwrap_err();
        assert!(said.contains(says), "{said}");
    }
}

#[test]
fn what_compares_with_the_paper_answers_nothing() {
    use crate::table::{Col, Heading};
    let columns: &[Col<u64>] = &[
        Heading("id", "", "").key(|x| Cell::Count(*x)),
        Heading("published", "", "").count(|x| *x),
        Heading("ours", "", "").count(|x| x + 1),
    ];
    let table = Table::of("t", "t", columns, [1, 2], |x| (x.to_string(), Vec::new()));
    let table = without_comparisons(table);
    assert_eq!(table.to_csv(), "id,ours\n1,2\n2,3\n");
}
