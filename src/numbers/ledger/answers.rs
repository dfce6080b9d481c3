//! What statements answer: with the tables made here, and where these rest on simulated runs,
//! with those of each draw of the ensemble.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::analysis::ensemble::stored::Draws;
use crate::hash::SourceFile;
use crate::nearest::unknown;
use crate::query::{Answer, Database, Frames, QueryError, RowsRead, Statement};
use crate::table::{Cell, Table};

use super::beside::Beside;

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

/// Between what two things rest on, in words.
const AND: &str = " and ";

/// All that something rests on, in words.
pub fn in_words(bases: &BTreeSet<Basis>) -> String {
    bases.iter().map(|basis| basis.words()).collect::<Vec<_>>().join(AND)
}

/// The same, read back.
///
/// # Errors
/// Words that are none of these.
pub fn of_words(text: &str) -> Result<BTreeSet<Basis>, String> {
    let basis = |words: &str| {
        let found = Basis::ALL.into_iter().find(|basis| basis.words() == words);
        found.ok_or_else(|| unknown("basis", words, "", Basis::ALL.map(Basis::words)))
    };
    text.split(AND).filter(|words| !words.is_empty()).map(basis).collect()
}

/// What an answer rests on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Uses {
    /// Rows of tables.
    pub read: Vec<RowsRead>,
    /// Whose runs, or what else.
    pub basis: BTreeSet<Basis>,
    /// The files that the rows come from.
    pub sources: BTreeSet<SourceFile>,
    /// Where the tables are written, and the settings.
    pub files: BTreeSet<PathBuf>,
    /// How many of the rows are of runs, and whose.
    pub runs: OfRuns,
}

/// Rows that rest on runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OfRuns {
    /// Of an engine's runs alone.
    pub engine: usize,
    /// Of simulated runs alone.
    pub simulated: usize,
    /// Of both at once.
    pub both: usize,
}

/// A statement's answers.
#[derive(Debug)]
pub struct Answered {
    /// With the tables made here; or why there is none.
    pub ours: Result<Table, String>,
    /// What that rests on.
    pub uses: Uses,
    /// What each of its rows rests on, where it has several.
    pub of_rows: Vec<Uses>,
    /// By draw, where it rests on simulated runs; nothing where a draw has no answer.
    pub draws: Vec<Option<Table>>,
    /// The same of ensembles beside the campaign's; or why there is none.
    pub beside: BTreeMap<Beside, Result<Vec<Option<Table>>, String>>,
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
                    answers.insert(sql.clone(), Answered::none(error.to_string()));
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
            let is_drawn = |read: &RowsRead| of_draws.contains(read.table.as_str());
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

    /// Answers some of the statements over each draw of an ensemble beside `draws`.
    ///
    /// # Errors
    /// A view that cannot be made.
    pub(crate) fn ask_beside(
        &mut self,
        (which, beside): (Beside, &Draws),
        queries: &BTreeSet<String>,
        database: &Database,
        draws: &Draws,
        drawn: impl Fn(Vec<Table>) -> Vec<Table> + Sync,
    ) -> Result<(), QueryError> {
        if beside.count() == 0 {
            return Ok(());
        }
        let [own, others]: [BTreeSet<&str>; 2] = [draws, beside].map(|d| d.names().collect());
        let mut statements = Vec::new();
        for sql in queries {
            let Some(answered) = self.0.get_mut(sql).filter(|answered| !answered.draws.is_empty())
            else {
                continue;
            };
            // A table that is not drawn there would be ours, of one draw.
            let is_lacking = |name: &&str| own.contains(name) && !others.contains(name);
            let mut names = answered.uses.read.iter().map(|read| read.table.as_str());
            if let Some(name) = names.find(is_lacking) {
                let why = format!("{} has no table {name}", which.folder().display());
                answered.beside.insert(which, Err(why));
            } else if let Ok(statement) = Statement::parse(sql) {
                answered.beside.insert(which, Ok(Vec::new()));
                statements.push((sql, statement));
            }
        }
        let frames = database.frames(statements.iter().map(|(_, statement)| statement))?;
        for answered in of_each_draw(&frames, &statements, beside, drawn)? {
            for ((sql, _), table) in statements.iter().zip(answered) {
                let of = self.0.get_mut(*sql).and_then(|of| of.beside.get_mut(&which));
                if let Some(Ok(of)) = of {
                    of.push(table);
                }
            }
        }
        Ok(())
    }

    /// The answers to a statement that was among those asked.
    pub fn get(&self, sql: &str) -> Option<&Answered> {
        self.0.get(sql)
    }
}

impl Answered {
    fn of(answer: Answer, database: &Database) -> Self {
        let rows = &answer.table.rows;
        let several = if rows.len() > 1 { &rows[..] } else { &[] };
        let of_rows = several.iter().map(|row| Uses::of(answer.read_by(row), database)).collect();
        let uses = Uses::of(answer.read, database);
        let (draws, beside) = (Vec::new(), BTreeMap::new());
        Self { ours: Ok(answer.table), uses, of_rows, draws, beside }
    }

    fn none(why: String) -> Self {
        let (uses, of_rows, draws) = (Uses::default(), Vec::new(), Vec::new());
        Self { ours: Err(why), uses, of_rows, draws, beside: BTreeMap::new() }
    }

    /// Its answers by draw: of the campaign's ensemble, or of one beside it.
    ///
    /// # Errors
    /// Why that has none.
    pub(crate) fn draws_of(&self, which: Option<Beside>) -> Result<&[Option<Table>], String> {
        match which {
            Some(which) if !self.draws.is_empty() => match self.beside.get(&which) {
                Some(Ok(draws)) if !draws.is_empty() => Ok(draws),
                Some(Err(why)) => Err(why.clone()),
                _ => Err(format!("{} has no draws: make ensemble", which.folder().display())),
            },
            _ => Ok(&self.draws),
        }
    }

    /// What a row of the answer rests on; of an answer of one row, or for no row, the whole.
    pub(crate) fn uses_of(&self, row: Option<usize>) -> &Uses {
        row.and_then(|row| self.of_rows.get(row)).unwrap_or(&self.uses)
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
                    Ok(answer) => Answered::of(answer, database),
                    Err(error) => Answered::none(error.to_string()),
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
    fn of(read: Vec<RowsRead>, database: &Database) -> Self {
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
        for row in rows {
            let bases = bases(&row.cells[place]);
            match (bases.contains(&Basis::Engine), bases.contains(&Basis::Simulated)) {
                (true, true) => self.runs.both += 1,
                (true, false) => self.runs.engine += 1,
                (false, true) => self.runs.simulated += 1,
                (false, false) => {}
            }
            self.basis.extend(bases);
        }
    }
}

/// What a `source` or `basis` of a row says.
pub(crate) fn bases(cell: &Cell) -> Vec<Basis> {
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
pub(crate) fn without_comparisons(mut table: Table) -> Table {
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
#[path = "answers/tests.rs"]
mod tests;
