//! Sessions written as a table: csv, plain or packed, as they come; parquet at the end.

use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use flate2::write::GzEncoder;
use polars::prelude::{Column, DataFrame};
use polars_io::parquet::write::{ParquetCompression, ParquetWriter};
use trapcheck_sessions::session::Session;
use trapcheck_sessions::table::{Text, think_s};

use crate::files::{Temporary, folder_of};
use crate::limits;

/// How a table is written, by the ending of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// .csv
    Csv,
    /// .csv.gz
    CsvGz,
    /// .parquet
    Parquet,
}

impl Kind {
    /// The kind that a path's ending says.
    pub fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy();
        let kinds = [(".csv", Self::Csv), (".csv.gz", Self::CsvGz), (".parquet", Self::Parquet)];
        kinds.into_iter().find(|(ending, _)| name.ends_with(ending)).map(|(_, kind)| kind)
    }
}

/// A table that is being written: beside its place until it is whole.
pub struct Writer {
    place: PathBuf,
    rows: Rows,
}

enum Rows {
    Csv(Box<Text<BufWriter<Temporary>>>),
    CsvGz(Box<Text<GzEncoder<BufWriter<Temporary>>>>),
    Parquet(Box<ByColumn>),
}

impl Writer {
    /// Begins a table that will lie at `place`.
    ///
    /// # Errors
    /// Something other than a file lies there, or its folder cannot be written to.
    pub fn new(place: &Path, kind: Kind) -> io::Result<Self> {
        if place.exists() && !place.is_file() {
            let message = "expected a file to write, found something else";
            return Err(io::Error::new(ErrorKind::InvalidInput, message));
        }
        let beside = || Ok::<_, io::Error>(BufWriter::new(Temporary::file(folder_of(place))?));
        let rows = match kind {
            Kind::Csv => Rows::Csv(Box::new(Text::new(beside()?)?)),
            // No date and no name: the same sessions give the same bytes.
            Kind::CsvGz => {
                let packer = flate2::GzBuilder::new();
                Rows::CsvGz(Box::new(Text::new(
                    packer.write(beside()?, flate2::Compression::default()),
                )?))
            }
            Kind::Parquet => Rows::Parquet(Box::default()),
        };
        Ok(Self { place: place.to_owned(), rows })
    }

    /// The rows of a session.
    ///
    /// # Errors
    /// They cannot be written, or are more than a parquet file may hold here.
    pub fn push(&mut self, session: &Session) -> io::Result<()> {
        match &mut self.rows {
            Rows::Csv(text) => text.push(session),
            Rows::CsvGz(text) => text.push(session),
            Rows::Parquet(columns) => columns.push(session),
        }
    }

    /// Puts the table in its place.
    ///
    /// # Errors
    /// It cannot be written; what lay there stays.
    pub fn finish(self) -> io::Result<()> {
        let beside = match self.rows {
            Rows::Csv(text) => text.finish()?.into_inner()?,
            Rows::CsvGz(text) => text.finish()?.finish()?.into_inner()?,
            Rows::Parquet(columns) => {
                let mut beside = Temporary::file(folder_of(&self.place))?;
                columns.write(&mut beside)?;
                beside
            }
        };
        beside.rename_to(&self.place)
    }
}

#[derive(Default)]
struct ByColumn {
    session: Vec<String>,
    turn: Vec<u64>,
    t_s: Vec<Option<f64>>,
    prompt_tokens: Vec<u64>,
    output_tokens: Vec<u64>,
    reusable_tokens: Vec<Option<u64>>,
    think_s: Vec<Option<f64>>,
    api_s: Vec<Option<f64>>,
    parent: Vec<Option<String>>,
    parent_turn: Vec<Option<u64>>,
    shared_tokens: Vec<Option<u64>>,
    format: Vec<&'static str>,
}

impl ByColumn {
    fn push(&mut self, session: &Session) -> io::Result<()> {
        if self.turn.len() + session.turns.len() > limits::ROWS {
            let most = limits::ROWS;
            let message = format!("a parquet file holds at most {most} turns: write .csv.gz");
            return Err(io::Error::new(ErrorKind::FileTooLarge, message));
        }
        let parent = session.parent.as_ref();
        for (i, turn) in session.turns.iter().enumerate() {
            self.session.push(session.id.clone());
            self.turn.push(i as u64 + 1);
            self.t_s.push(turn.start_s);
            self.prompt_tokens.push(turn.prompt_tokens);
            self.output_tokens.push(turn.output_tokens);
            self.reusable_tokens.push(turn.reusable_tokens);
            self.think_s.push(think_s(turn));
            self.api_s.push(turn.service_s);
            self.parent.push(parent.map(|p| p.session.clone()));
            self.parent_turn.push(parent.map(|p| p.turn));
            self.shared_tokens.push(session.shared_tokens);
            self.format.push(session.format.word());
        }
        Ok(())
    }

    fn write(self, out: &mut Temporary) -> io::Result<()> {
        let columns = vec![
            Column::new("session".into(), self.session),
            Column::new("turn".into(), self.turn),
            Column::new("t_s".into(), self.t_s),
            Column::new("prompt_tokens".into(), self.prompt_tokens),
            Column::new("output_tokens".into(), self.output_tokens),
            Column::new("reusable_tokens".into(), self.reusable_tokens),
            Column::new("think_s".into(), self.think_s),
            Column::new("api_s".into(), self.api_s),
            Column::new("parent".into(), self.parent),
            Column::new("parent_turn".into(), self.parent_turn),
            Column::new("shared_tokens".into(), self.shared_tokens),
            Column::new("format".into(), self.format),
        ];
        let mut frame = DataFrame::new_infer_height(columns).map_err(io::Error::other)?;
        ParquetWriter::new(&mut *out)
            .with_compression(ParquetCompression::Zstd(None))
            .finish(&mut frame)
            .map_err(io::Error::other)?;
        out.flush()
    }
}
