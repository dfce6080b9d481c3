//! What statements answer: with the tables made here, and where these rest on simulated runs,
//! with those of each draw of the ensemble.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::analysis::ensemble::stored::Draws;
use crate::hash::SourceFile;
use crate::query::{Database, Frames, QueryError, Read, Statement};
use crate::table::{Cell, Table};

/// Columns that compare with what is published: they answer nothing.
const COMPARING: [&str; 3] = ["published", "match", "gap_percent"];

/// Whose runs ours rests on, or what else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Basis {
    /// Runs of an engine.
    Engine,
    /// Simulated runs.
    Simulated,
    /// A model that the text states.
    Model,
    /// A model or a quantity whose definition is inferred, or fitted.
    Inferred,
    /// What was fixed beforehand, restated.
    Settings,
}

impl Basis {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Engine, Self::Simulated, Self::Model, Self::Inferred, Self::Settings];

    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Engine => "engine runs",
            Self::Simulated => "simulated runs",
            Self::Model => "model from the text",
            Self::Inferred => "inferred definition",
            Self::Settings => "settings",
        }
    }
}

/// What an answer rests on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Uses {
    /// Rows of tables.
    pub read: Vec<Read>,
    /// Whose runs, or what else.
    pub basis: BTreeSet<Basis>,
    /// The files that the rows come from.
    pub sources: BTreeSet<SourceFile>,
    /// Where the tables are written, and the settings.
    pub files: BTreeSet<PathBuf>,
}

/// A statement's answers.
#[derive(Debug)]
pub struct Answered {
    /// With the tables made here; or why there is none.
    pub ours: Result<Table, String>,
    /// What that rests on.
    pub uses: Uses,
    /// By draw, where it rests on simulated runs; nothing where a draw has no answer.
    pub draws: Vec<Option<Table>>,
}

/// The answers to some statements.
#[derive(Debug, Default)]
pub struct Answers(BTreeMap<String, Answered>);

impl Answers {
    /// Answers statements over `database`, and over each draw with its tables in place of those
    /// of the same names.
    ///
    /// # Errors
    /// A view that cannot be made.
    pub fn of(
        queries: &BTreeSet<String>,
        database: &Database,
        draws: &Draws,
        drawn: impl Fn(Vec<Table>) -> Vec<Table> + Sync,
    ) -> Result<Self, QueryError> {
        let parsed = queries.iter().map(|sql| {
            let statement = Statement::parse(sql).and_then(|s| database.knows(&s).map(|()| s));
            (sql, statement)
        });
        let (mut statements, mut answers) = (Vec::new(), BTreeMap::new());
        for (sql, statement) in parsed {
            match statement {
                Ok(statement) => statements.push((sql, statement)),
                Err(error) => {
                    let ours = Err(error.to_string());
                    let none = Answered { ours, uses: Uses::default(), draws: Vec::new() };
                    answers.insert(sql.clone(), none);
                }
            }
        }
        let frames = database.frames(statements.iter().map(|(_, statement)| statement))?;
        for ((sql, _), answered) in statements.iter().zip(ours(&frames, &statements, database)?) {
            answers.insert((*sql).clone(), answered);
        }
        let of_draws: BTreeSet<&str> = draws.names().collect();
        statements.retain(|(sql, _)| {
            let uses = &answers[*sql].uses;
            let is_drawn = |read: &Read| of_draws.contains(read.table.as_str());
            uses.basis.contains(&Basis::Simulated) && uses.read.iter().any(is_drawn)
        });
        for answered in of_each_draw(&frames, &statements, draws, drawn)? {
            for ((sql, _), table) in statements.iter().zip(answered) {
                if let Some(of) = answers.get_mut(*sql) {
                    of.draws.push(table);
                }
            }
        }
        Ok(Self(answers))
    }

    /// The answers to a statement that was among those asked.
    pub fn get(&self, sql: &str) -> Option<&Answered> {
        self.0.get(sql)
    }
}

/// A statement with its text.
type Asked<'a> = (&'a String, Statement);

/// Answers with the tables made here, several threads each taking a part of the statements.
fn ours(
    frames: &Frames<'_>,
    statements: &[Asked<'_>],
    database: &Database,
) -> Result<Vec<Answered>, QueryError> {
    let part = statements.len().div_ceil(threads()).max(1);
    let of = |asked: &[Asked<'_>]| {
        frames.ask(|session| {
            asked
                .iter()
                .map(|(_, statement)| match session.answer(statement) {
                    Ok(answer) => {
                        let uses = Uses::of(answer.read, database);
                        Answered { ours: Ok(answer.table), uses, draws: Vec::new() }
                    }
                    Err(error) => {
                        let ours = Err(error.to_string());
                        Answered { ours, uses: Uses::default(), draws: Vec::new() }
                    }
                })
                .collect::<Vec<_>>()
        })
    };
    let of = &of;
    let parts: Result<Vec<Vec<Answered>>, QueryError> = std::thread::scope(|scope| {
        let parts: Vec<_> = statements.chunks(part).map(|p| scope.spawn(move || of(p))).collect();
        parts
            .into_iter()
            .map(|part| part.join().unwrap_or_else(|_| Err(QueryError::failed())))
            .collect()
    });
    Ok(parts?.into_iter().flatten().collect())
}

/// The answers of each draw, in order of draw; threads take one draw after another.
fn of_each_draw(
    frames: &Frames<'_>,
    statements: &[Asked<'_>],
    draws: &Draws,
    drawn: impl Fn(Vec<Table>) -> Vec<Table> + Sync,
) -> Result<Vec<Vec<Option<Table>>>, QueryError> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let work = || {
        loop {
            let draw = next.fetch_add(1, Ordering::Relaxed);
            if draw >= draws.count() || statements.is_empty() {
                return;
            }
            let answered = frames.with(&drawn(draws.tables(draw))).and_then(|frames| {
                frames.ask(|session| {
                    let of = |(_, statement): &Asked<'_>| session.rows(statement).ok();
                    statements.iter().map(of).collect::<Vec<_>>()
                })
            });
            if let Ok(mut found) = found.lock() {
                found.insert(draw, answered);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads() {
            scope.spawn(work);
        }
    });
    let found = found.into_inner().map_err(|_| QueryError::failed())?;
    found.into_values().collect()
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

impl Uses {
    fn of(read: Vec<Read>, database: &Database) -> Self {
        let mut uses = Self { sources: database.sources(&read), ..Self::default() };
        for read in &read {
            let Some(table) = database.tables().find(|table| table.name == read.table) else {
                continue;
            };
            uses.rest_on(table, &read.rows);
        }
        Self { read, ..uses }
    }

    /// Takes in whose runs the rows of a table rest on. If none was taken, the answer rests on
    /// that none of all is so.
    fn rest_on(&mut self, table: &Table, rows: &BTreeSet<usize>) {
        let taken = |i: &usize| rows.is_empty() || rows.contains(i);
        let rows = (0..table.rows.len()).filter(taken).map(|i| &table.rows[i]);
        if table.name == "settings" {
            self.basis.insert(Basis::Settings);
            let files = rows.flat_map(|row| row.sources.iter().map(|file| file.path.clone()));
            self.files.extend(files);
            return;
        }
        self.files.insert(Path::new("paper/derived").join(format!("{}.csv", table.name)));
        let says = ["source", "basis"].iter().find_map(|name| table.place(name));
        let Some(place) = says else {
            self.basis.insert(Basis::Model);
            return;
        };
        self.basis.extend(rows.flat_map(|row| bases(&row.cells[place])));
    }
}

/// What a `source` or `basis` of a row says.
fn bases(cell: &Cell) -> Vec<Basis> {
    let text = cell.print();
    let words = [
        ("engine", Basis::Engine),
        ("simulator", Basis::Simulated),
        ("settings", Basis::Settings),
        ("inferred", Basis::Inferred),
        ("fitted", Basis::Inferred),
    ];
    let found: Vec<Basis> =
        words.iter().filter(|(word, _)| text.contains(word)).map(|(_, basis)| *basis).collect();
    if found.is_empty() { vec![Basis::Model] } else { found }
}

/// A table without what compares it with the paper.
pub fn without_comparisons(mut table: Table) -> Table {
    let keep: Vec<bool> =
        table.columns.iter().map(|column| !COMPARING.contains(&&*column.name)).collect();
    if keep.iter().all(|keep| *keep) {
        return table;
    }
    let mut columns = keep.iter();
    table.columns.retain(|_| columns.next().copied().unwrap_or(true));
    for row in &mut table.rows {
        let mut cells = keep.iter();
        row.cells.retain(|_| cells.next().copied().unwrap_or(true));
    }
    table
}

#[cfg(test)]
mod tests {
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
        Answers::of(&[sql.to_owned()].into(), &database, &draws, |tables| tables).unwrap()
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
}
