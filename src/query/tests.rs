use super::*;
use crate::digits::Rounded;
use crate::table::{Cell, Row};

fn row(cells: Vec<Cell>, file: &str) -> Row {
    let source = SourceFile { path: file.into(), sha256: "0".repeat(64) };
    Row { key: file.into(), cells, sources: vec![source] }
}

/// A table of four runs of two cells, one of which says nothing of its hits.
fn database() -> Database {
    let heading = |name, unit| Heading(name, unit, "").column();
    let key = |name, unit| Column { is_key: true, ..heading(name, unit) };
    let of = |cell: &str, rate: f64, hits: Cell, turns: u64, file: &str| {
        row(vec![Cell::text(cell), Cell::Number(rate, 2), hits, Cell::Count(turns)], file)
    };
    let runs = Table {
        name: "runs".into(),
        title: "Runs".into(),
        columns: vec![
            key("cell", ""),
            key("rate", "lambda_ref"),
            heading("hits", ""),
            heading("turns", "turns"),
        ],
        rows: vec![
            of("a", 1.35, Cell::Number(0.1, 3), 3, "a0"),
            of("a", 1.649_999_999_9, Cell::Number(0.2, 3), 4, "a1"),
            of("b", 1.35, Cell::Number(0.3, 3), 5, "b0"),
            of("b", 1.65, Cell::Unknown, 6, "b1"),
        ],
    };
    let ranges = Table {
        name: "ranges".into(),
        title: "Ranges".into(),
        columns: vec![key("cell", ""), heading("slope", "1/s")],
        rows: vec![row(
            vec![Cell::text("a"), Cell::Range([Rounded::new(0.5, 1), Rounded::new(2.0, 0)])],
            "r",
        )],
    };
    let view = |name: &str, query: &str| View {
        name: name.into(),
        says: "some of them".into(),
        query: query.into(),
    };
    let mut database = Database::new(vec![
        view("slow", "select * from runs where rate = 1.35"),
        view("slow_b", "select * from slow where cell = 'b'"),
    ]);
    database.add(runs);
    database.add(ranges);
    database
}

/// An answer as csv without its header.
fn answer(sql: &str) -> String {
    let csv = database().answer(sql).unwrap().table.to_csv();
    csv.split_once('\n').unwrap().1.to_owned()
}

fn refusal(sql: &str) -> String {
    database().answer(sql).unwrap_err().to_string()
}

/// Of each table the rows that an answer rests on.
fn rests_on(sql: &str) -> Vec<(String, Vec<usize>)> {
    let read = database().answer(sql).unwrap().read;
    read.into_iter().map(|read| (read.table, read.rows.into_iter().collect())).collect()
}

#[test]
fn numbers_keep_all_their_digits_and_what_is_unknown_is_null() {
    assert_eq!(answer("select hits from runs"), "0.1\n0.2\n0.3\n\n");
    assert_eq!(answer("select avg(hits) from runs where rate > 1.5"), "0.2\n");
    assert_eq!(answer("select count(*), count(hits) from runs"), "4,3\n");
    assert_eq!(answer("select slope_least, slope_most from ranges"), "0.5,2\n");
}

#[test]
fn a_key_is_found_as_it_is_printed() {
    assert_eq!(answer("select turns from runs where rate = 1.65"), "4\n6\n");
}

#[test]
fn a_quotient_of_whole_numbers_is_not_cut() {
    assert_eq!(answer("select 1/2"), "0.5\n");
    assert_eq!(answer("select count(hits)/count(*) from runs"), "0.75\n");
    assert_eq!(answer("select hits/0 from runs where turns = 3"), "unknown\n");
}

#[test]
fn a_select_may_stand_for_a_value() {
    let ratio = "select (select max(turns) from runs) / (select min(turns) from slow) as ratio";
    assert_eq!(answer(ratio), "2\n");
    assert_eq!(rests_on(ratio), [("runs".to_owned(), vec![0, 1, 2, 3])]);
    assert_eq!(
        answer("select turns from runs where turns > (select avg(turns) from runs)"),
        "5\n6\n"
    );
    let message = refusal("select (select turns from runs)");
    assert_eq!(message, "a select in place of a value gives one value, found 4 rows of 1");
    assert_eq!(answer("select (select hits from runs where turns = 6) as x"), "\n");
}

#[test]
fn what_a_statement_defines_may_hold_values_and_give_some() {
    let span = "with scaled as (select turns * (select max(turns) from runs) as x from slow), \
         above as (select x - (select min(x) from scaled) as y from scaled) \
         select (select max(y) from above) as y";
    assert_eq!(answer(span), "12\n");
    assert_eq!(rests_on(span), [("runs".to_owned(), vec![0, 1, 2, 3])]);
}

#[test]
fn a_number_printed_with_a_power_of_ten_is_one() {
    let table = |name: &str, cell: &str| Table {
        name: name.into(),
        title: String::new(),
        columns: vec![Heading("x", "", "").column()],
        rows: vec![row(vec![Cell::text(cell)], "t"), row(vec![Cell::Number(1.0, 0)], "u")],
    };
    let mut database = database();
    database.add(table("small", "3.58e-23"));
    database.add(table("word", "never"));
    let min = |of: &str| {
        let answer = database.answer(&format!("select min(x) as x from {of}"));
        answer.unwrap().table.rows[0].cells[0].clone()
    };
    assert!(matches!(min("small"), Cell::Number(x, _) if x == 3.58e-23));
    assert_eq!(min("word"), Cell::text("1"));
}

#[test]
fn small_numbers_may_be_written_with_a_power_of_ten() {
    assert_eq!(answer("select 1e-4 as x"), "0.0001\n");
    assert_eq!(answer("select (select 1.0e-9 from ranges) * 2 as x"), "0.000000002\n");
}

#[test]
fn rows_whose_order_is_left_open_are_sorted_and_others_are_as_asked() {
    let groups = "select cell, sum(turns) from runs group by cell";
    assert_eq!(answer(groups), "a,7\nb,11\n");
    assert_eq!(answer(&format!("{groups} order by cell desc")), "b,11\na,7\n");
    assert_eq!(answer("select distinct rate from runs"), "1.35\n1.65\n");
    assert_eq!(answer("select distinct * from slow"), "a,1.35,0.1,3\nb,1.35,0.3,5\n");
    assert_eq!(answer("select turns from runs order by turns desc limit 1"), "6\n");
}

#[test]
fn the_rows_an_answer_rests_on_are_those_its_parts_take() {
    let all = |rows: &[usize]| vec![("runs".to_owned(), rows.to_vec())];
    assert_eq!(rests_on("select max(hits) from runs where cell = 'a'"), all(&[0, 1]));
    assert_eq!(rests_on("select hits from slow_b"), all(&[2]));
    let with = "with m as (select cell, max(turns) as most from slow group by cell) \
                select avg(most) from m";
    assert_eq!(rests_on(with), all(&[0, 2]));
    let joined = "select r.turns from runs as r join ranges as g on r.cell = g.cell";
    assert_eq!(rests_on(joined), [("ranges".into(), vec![0]), ("runs".into(), vec![0, 1])]);
    let database = database();
    let read = database.answer("select hits from slow_b").unwrap().read;
    assert_eq!(read[0].of, 4);
    let files: Vec<_> = database.sources(&read).into_iter().map(|file| file.path).collect();
    assert_eq!(files, [Path::new("b0")]);
}

/// Of each row of an answer the rows of `runs` that it rests on.
fn each_rests_on(sql: &str) -> Vec<Vec<usize>> {
    let answer = database().answer(sql).unwrap();
    let of_runs = |row| {
        let read = answer.read_by(row).into_iter().find(|read| read.table == "runs");
        read.map_or_else(Vec::new, |read| read.rows.into_iter().collect())
    };
    answer.table.rows.iter().map(of_runs).collect()
}

#[test]
fn a_row_of_an_answer_rests_on_the_rows_of_its_group() {
    let groups = "select cell, max(turns) as most from runs group by cell";
    assert_eq!(each_rests_on(groups), [vec![0, 1], vec![2, 3]]);
    assert_eq!(each_rests_on("select cell as c, turns from slow"), [vec![0], vec![2]]);
    let through = format!(
        "with m as ({groups}) select m.cell, g.slope_least from m join ranges as g on m.cell = g.cell"
    );
    assert_eq!(each_rests_on(&through), [vec![0, 1]]);
    let joined = format!(
        "with m as ({groups}) select r.turns from runs as r join m on r.cell = m.cell where r.rate > 1.5"
    );
    assert_eq!(each_rests_on(&joined), [vec![0, 1, 2, 3], vec![0, 1, 2, 3]]);
    let united =
        "select cell, turns from runs where rate = 1.35 union all select cell, 0 from slow_b";
    assert_eq!(each_rests_on(united), [vec![0], vec![2], vec![2]]);
}

#[test]
fn what_is_taken_for_the_whole_answer_is_taken_for_each_of_its_rows() {
    assert_eq!(each_rests_on("select sum(turns), count(*) from runs where cell = 'a'"), [[0, 1]]);
    let share = "select cell, sum(turns) / (select sum(turns) from slow) as x from runs where rate > 1.5 group by cell";
    assert_eq!(each_rests_on(share), [vec![0, 1, 2], vec![0, 2, 3]]);
    let twice = "with m as (select cell, turns from runs) \
                 select cell, turns / (select max(turns) from m) as x from m";
    assert_eq!(each_rests_on(twice), vec![vec![0, 1, 2, 3]; 4]);
    assert_eq!(each_rests_on("select *, turns as again from slow"), [[0, 2], [0, 2]]);
    let windowed = "select cell, max(turns) over (partition by cell) as most from runs";
    assert_eq!(each_rests_on(windowed), vec![vec![0, 1, 2, 3]; 4]);
}

#[test]
fn what_there_is_not_is_said_with_what_was_meant() {
    assert_eq!(
        refusal("select 1 from run"),
        "no table run in the tables and views; did you mean runs?"
    );
    assert_eq!(refusal("select hitz from runs"), "no column hitz in runs; did you mean hits?");
    assert_eq!(refusal("select turnz from slow"), "no column turnz in slow; did you mean turns?");
}

#[test]
fn only_one_select_of_tables_is_answered() {
    assert_eq!(refusal(""), "expected a select, found nothing");
    assert_eq!(refusal("drop table runs"), "expected a select: nothing here can be changed");
    assert_eq!(refusal("select 1; select 2"), "expected one select, found several statements");
    let function = refusal("select exp(hits) from runs");
    assert_eq!(function, "no function exp here: its last digits are not the same on every machine");
    let file = refusal("select * from read_csv('x.csv')");
    assert_eq!(file, "expected a table, found read_csv('x.csv')");
    assert!(refusal("select 1 +").contains("Expected"), "{}", refusal("select 1 +"));
}

#[test]
fn a_view_selects_from_what_is_above_it() {
    let view = View { name: "x".into(), says: String::new(), query: "select * from y".into() };
    let later = View { name: "y".into(), query: "select * from runs".into(), ..view.clone() };
    let mut database = Database::new(vec![view, later]);
    database::add_runs(&mut database);
    let message = database.answer("select * from x").unwrap_err().to_string();
    assert!(message.contains("x: a view selects from one table, or from one view above it"));
}

mod database {
    pub(crate) fn add_runs(to: &mut super::Database) {
        let from = super::database();
        to.add(from.tables["runs"].clone());
    }
}
