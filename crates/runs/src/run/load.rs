//! Reading one run directory into memory, from files that somebody hands over.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::columns::{Columns, Field, LeftOut, Mapping, listed};
use super::{
    Counts, EngineSample, GateEvent, Meta, PlannedSession, Problem, Problems, Run, Session,
    Severity, Shape, SourceFile, Text, Turn,
};
use super::{check, derived, engine, gate, plan, sessions, turns, unclosed};
use crate::{hash, limits};

/// What to do with what cannot be decided from the data alone.
#[derive(Debug, Clone, Copy, Default)]
pub struct LoadOptions {
    /// Leave out a last line that a crash cut off, instead of refusing the run.
    pub drop_cut_off: bool,
}

/// The files of a run directory, as its loader asks for them: where they lie is the caller's
/// to know.
pub trait Files {
    /// One of them.
    type File: File;

    /// The shape they have.
    ///
    /// # Errors
    /// Several layouts fit the directory.
    fn shape(&self) -> Result<Shape, Problem>;

    /// Those of a directory that may be a table.
    fn tables(&self, dir: &Path, shape: &Shape, table: &str) -> Vec<PathBuf>;

    /// Whether there is one at a path.
    fn holds(&self, path: &Path) -> bool;

    /// One of them, which is handed out once.
    ///
    /// # Errors
    /// It cannot be read.
    fn take(&mut self, path: &Path) -> Result<Self::File, Problem>;
}

/// A file in memory: how it is unpacked is the caller's to know.
pub trait File {
    /// Where it lies.
    fn path(&self) -> &Path;

    /// The same with its hash.
    fn source(&self) -> SourceFile;

    /// Whether it is an Apache Parquet file.
    fn is_parquet(&self) -> bool;

    /// Its unpacked text of at most `most` bytes.
    ///
    /// # Errors
    /// UTF-16, and a stream that breaks at its start.
    fn text(&self, most: u64) -> Result<Text<'_>, Problem>;

    /// The table of a parquet file.
    ///
    /// # Errors
    /// Everything found wrong with it.
    fn parquet(
        &self,
        schema: &[Field],
        mapping: Option<&Mapping<'_>>,
    ) -> Result<Columns, Vec<Problem>>;
}

/// Reads and checks a run from the files of its directory.
///
/// # Errors
/// Everything that is wrong with it: a table that is missing or there twice, a value that does
/// not fit the format, rows that contradict each other or `meta.json`; several layouts that fit
/// the directory, or files that are not what its layout says.
pub fn load_files<F: Files>(dir: &Path, files: F, options: &LoadOptions) -> Result<Run, Problems> {
    let shape = files.shape().map_err(|problem| Problems(vec![problem]))?;
    let sources: Vec<_> = shape.source().into_iter().collect();
    let notes: Vec<_> = shape.note().into_iter().collect();
    let (end_s, cut) = (f64::INFINITY, BTreeSet::new());
    let mut loader = Loader { dir, shape, files, options, end_s, cut, sources, notes };
    let run = loader.load().map_err(|problems| Problems(listed(problems)))?;
    let (notes, errors): (Vec<_>, Vec<_>) = check::cross_check(&run, &loader.shape, &loader.cut)
        .into_iter()
        .partition(|p| p.severity == Severity::Note);
    if !errors.is_empty() {
        return Err(Problems(listed(errors)));
    }
    Ok(Run { notes: [run.notes, notes].concat(), ..run })
}

/// The tables whose rows refer to each other.
type RowTables = (Vec<Session>, Vec<Turn>, Vec<GateEvent>);

struct Loader<'a, F> {
    dir: &'a Path,
    shape: Shape,
    files: F,
    options: &'a LoadOptions,
    /// When the run ended, by `meta.json`.
    end_s: f64,
    /// The files whose last line was left out.
    cut: BTreeSet<PathBuf>,
    sources: Vec<SourceFile>,
    notes: Vec<Problem>,
}

impl<F: Files> Loader<'_, F> {
    fn load(&mut self) -> Result<Run, Vec<Problem>> {
        let meta_bytes = self.open(&self.shape.metadata()).map_err(|p| vec![p])?;
        let text = whole_text(&meta_bytes).map_err(|p| vec![p])?;
        let mut meta = self.shape.meta(&text)?;
        // Nobody has said when a run ended that nothing closed.
        self.end_s = if self.shape.is_unclosed() { f64::INFINITY } else { meta.duration_s };
        let mut problems = Vec::new();
        let plan = self.plan(&meta).unwrap_or_else(|p| {
            problems.extend(p);
            Vec::new()
        });
        let engine = self.engine().unwrap_or_else(|p| {
            problems.extend(p);
            Vec::new()
        });
        let tables = if self.shape.name("sessions").is_some() {
            self.sessions_turns_gate()
        } else {
            self.turns_alone(&meta, &plan)
        };
        let (sessions, turns, gate) = match tables {
            Ok(tables) => tables,
            Err(p) => return Err([problems, p].concat()),
        };
        if !problems.is_empty() {
            return Err(problems);
        }
        self.complete(&mut meta.counts, check::rows_counted(&sessions, &turns));
        if self.shape.is_unclosed() {
            meta.duration_s = unclosed::last_s(&sessions, &turns, &gate, &engine)
                .filter(|t_s| *t_s > 0.0)
                .ok_or_else(|| {
                    let message = "the run was killed before anything of it was written";
                    vec![Problem::new(self.dir, message)]
                })?;
        }
        let config = self.dir.join("config.yaml");
        if self.files.holds(&config) {
            self.open(&config).map_err(|p| vec![p])?;
        }
        let mut sources = std::mem::take(&mut self.sources);
        sources.sort();
        let notes = std::mem::take(&mut self.notes);
        let dir = self.dir.to_owned();
        Ok(Run { dir, meta, sessions, turns, engine, gate, plan, sources, notes })
    }

    fn open(&mut self, path: &Path) -> Result<F::File, Problem> {
        let bytes = self.files.take(path)?;
        self.sources.push(bytes.source());
        Ok(bytes)
    }

    /// The file that holds a table, under whichever ending; `None` if there is none.
    fn find(&self, table: &str) -> Result<Option<PathBuf>, Vec<Problem>> {
        let there = self.files.tables(self.dir, &self.shape, table);
        match there.as_slice() {
            [] => Ok(None),
            [only] => Ok(Some(only.clone())),
            [first, second, ..] => {
                let second = second.file_name().unwrap_or_default().to_string_lossy();
                let message = format!("{second} is there too: which one is the {table} table?");
                Err(vec![Problem::new(first, message)])
            }
        }
    }

    /// A table from its file, and from the file's unpacked text unless it is parquet.
    fn read(
        &mut self,
        table: &str,
        bytes: &F::File,
        text: Option<&Text<'_>>,
        schema: &[Field],
    ) -> Result<Columns, Vec<Problem>> {
        let mapping = self.shape.mapping(table);
        let mapping = mapping.as_ref();
        let columns = match text {
            None => bytes.parquet(schema, mapping)?,
            Some(text) => {
                // What was being appended when a run was killed is no row.
                let drop_cut_off = self.options.drop_cut_off || self.shape.is_unclosed();
                Columns::read(bytes.path(), text, schema, mapping, drop_cut_off)?
            }
        };
        if !columns.lacking.is_empty() {
            let lacking = columns.lacking.join(", ");
            let message = format!("does not report {lacking}: unknown in every row");
            self.notes.push(Problem::new(bytes.path(), message).as_note());
        }
        self.notes.extend(columns.notes.iter().cloned());
        match columns.left_out {
            None => {}
            Some(LeftOut::Tail) if !self.counts_rows_of(table) => {
                let message = "the packed stream is cut off, and nothing counts how many rows are \
                               lost: --drop-cut-off leaves out one line, never an unknown number";
                return Err(vec![Problem::new(bytes.path(), message)]);
            }
            Some(_) => drop(self.cut.insert(bytes.path().to_owned())),
        }
        let outside = check::outside_the_run(&columns, schema, self.end_s);
        if outside.is_empty() { Ok(columns) } else { Err(outside) }
    }

    /// Whether the metadata say how many rows a table has.
    fn counts_rows_of(&self, table: &str) -> bool {
        match table {
            "turns" => self.shape.counts("turns"),
            "sessions" => self.shape.counts("sessions_arrived"),
            _ => false,
        }
    }

    /// Takes from the rows what a layout's metadata do not count.
    fn complete(&mut self, counts: &mut Counts, rows: Counts) {
        let all = [
            ("sessions_arrived", &mut counts.sessions_arrived, rows.sessions_arrived),
            ("sessions_completed", &mut counts.sessions_completed, rows.sessions_completed),
            ("sessions_failed", &mut counts.sessions_failed, rows.sessions_failed),
            ("turns", &mut counts.turns, rows.turns),
            ("request_errors", &mut counts.request_errors, rows.request_errors),
        ];
        let uncounted = all.into_iter().filter(|(name, ..)| !self.shape.counts(name));
        let names: Vec<_> = uncounted
            .map(|(name, count, rows)| {
                *count = rows;
                name
            })
            .collect();
        if !names.is_empty() {
            let names = names.join(", ");
            let message =
                format!("does not count {names}: a table that lost rows would not show it");
            self.notes.push(Problem::new(&self.shape.metadata(), message).as_note());
        }
    }

    fn needed(&mut self, table: &str, schema: &[Field]) -> Result<Columns, Vec<Problem>> {
        let Some(path) = self.find(table)? else {
            let looked_for = self.shape.looked_for(table);
            let message = format!("has no {table} table (looked for {looked_for})");
            return Err(vec![Problem::new(self.dir, message)]);
        };
        let bytes = self.open(&path).map_err(|p| vec![p])?;
        let text = unpacked(&bytes)?;
        self.read(table, &bytes, text.as_ref(), schema)
    }

    fn optional(&mut self, table: &str, schema: &[Field]) -> Result<Option<Columns>, Vec<Problem>> {
        match self.find(table)? {
            None => Ok(None),
            Some(_) => self.needed(table, schema).map(Some),
        }
    }

    fn sessions_turns_gate(&mut self) -> Result<RowTables, Vec<Problem>> {
        // A broken turns table is reported even when the sessions table is broken too.
        let sessions = self.needed("sessions", sessions::SCHEMA);
        let turns = self.needed("turns", turns::SCHEMA);
        let gate = self.optional("gate", gate::SCHEMA);
        let (sessions, turns, gate) = match (sessions, turns, gate) {
            (Ok(s), Ok(t), Ok(g)) => (s, t, g),
            (s, t, g) => {
                let all = [s.err(), t.err(), g.err()];
                return Err(all.into_iter().flatten().flatten().collect());
            }
        };
        let (mut turns, mut gate) = (turns, gate);
        if self.shape.is_unclosed() {
            let newer = unclosed::leave_out_newer(&sessions, &mut turns, gate.as_mut());
            let message = format!(
                "not closed by a meta.json: the run is under way or was killed; read as truncated, \
                 {newer} rows newer than its sessions table left out"
            );
            self.notes.push(Problem::new(self.dir, message).as_note());
        }
        let (sessions, registry) = sessions::parse(&sessions)?;
        let gate = gate.map(|g| gate::parse(&g, &registry));
        match (turns::parse(&turns, &registry), gate.transpose()) {
            (Ok(turns), Ok(gate)) => Ok((sessions, turns, gate.unwrap_or_default())),
            (turns, gate) => {
                Err([turns.err(), gate.err()].into_iter().flatten().flatten().collect())
            }
        }
    }

    /// Turns whose sessions nobody wrote down.
    fn turns_alone(
        &mut self,
        meta: &Meta,
        plan: &[PlannedSession],
    ) -> Result<RowTables, Vec<Problem>> {
        if meta.gate.is_some() || self.shape.name("gate").is_some() {
            let message = "has a gate but no sessions table: who waited there and sent nothing is \
                           in no other";
            return Err(vec![Problem::new(self.dir, message)]);
        }
        let table = self.needed("turns", turns::SCHEMA)?;
        let (mut sessions, registry) = derived::arrivals(&table)?;
        let turns = turns::parse(&table, &registry)?;
        derived::complete(&mut sessions, &turns, plan, meta.duration_s);
        let ended = if plan.is_empty() {
            "; one that is idle longer than ever before counts as completed"
        } else {
            ""
        };
        let message = format!(
            "has no sessions table: {} sessions made of their turns{ended}",
            sessions.len()
        );
        self.notes.push(Problem::new(self.dir, message).as_note());
        Ok((sessions, turns, Vec::new()))
    }

    fn engine(&mut self) -> Result<Vec<EngineSample>, Vec<Problem>> {
        let Some(table) = self.optional("engine", engine::SCHEMA)? else {
            let message = "has no engine table: the engine's own counters are unknown";
            self.notes.push(Problem::new(self.dir, message).as_note());
            return Ok(Vec::new());
        };
        let (samples, notes) = engine::parse(&table)?;
        self.notes.extend(notes);
        Ok(samples)
    }

    fn plan(&mut self, meta: &Meta) -> Result<Vec<PlannedSession>, Vec<Problem>> {
        let Some(path) = self.find("plan")? else {
            let message = "has no plan table: its arrivals cannot be checked";
            self.notes.push(Problem::new(self.dir, message).as_note());
            return Ok(Vec::new());
        };
        let bytes = self.open(&path).map_err(|p| vec![p])?;
        let metadata = self.shape.metadata();
        let metadata = metadata.file_name().unwrap_or_default().to_string_lossy();
        let text = unpacked(&bytes)?;
        match (&meta.plan_sha256, &text) {
            (Some(_), None) => {
                let message =
                    format!("{metadata} has the hash of plan.csv: not to be checked on this form");
                self.notes.push(Problem::new(&path, message).as_note());
            }
            (Some(expected), Some(text)) => {
                check_plan_hash(bytes.path(), text, expected, &metadata)?;
            }
            (None, _) => {}
        }
        let table = self.read("plan", &bytes, text.as_ref(), plan::SCHEMA)?;
        plan::parse(&table)
    }
}

/// A table's text, unpacked once; `None` of a parquet file.
fn unpacked<F: File>(bytes: &F) -> Result<Option<Text<'_>>, Vec<Problem>> {
    let text = || bytes.text(limits::FILE_BYTES).map_err(|problem| vec![problem]);
    (!bytes.is_parquet()).then(text).transpose()
}

/// The whole unpacked text of a file of settings or metadata.
fn whole_text<F: File>(bytes: &F) -> Result<Vec<u8>, Problem> {
    let text = bytes.text(limits::TEXT_BYTES)?;
    text.whole(bytes.path()).map(<[u8]>::to_vec)
}

/// `meta.json` holds the hash of the uncompressed plan.
fn check_plan_hash(
    path: &Path,
    text: &Text<'_>,
    expected: &str,
    metadata: &str,
) -> Result<(), Vec<Problem>> {
    let found = hash::sha256_hex(text.whole(path).map_err(|p| vec![p])?);
    if found == *expected {
        return Ok(());
    }
    let message = format!(
        "its uncompressed SHA-256 is {found}, {metadata} says {expected}: not the plan of this run"
    );
    Err(vec![Problem::new(path, message)])
}
