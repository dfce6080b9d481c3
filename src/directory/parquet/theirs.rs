//! A parquet file of another shape: its values as text, converted by a layout as those of a
//! csv are.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;
use std::path::Path;

use polars::prelude::{Column as PolarsColumn, DataType, PolarsError};
use polars_io::SerReader;
use polars_io::parquet::read::ParquetReader;

use super::super::source::Bytes;
use super::timestamps::{self, Timestamps};
use super::{NONE_FOUND, foreign_columns, held};
use crate::limits;
use crate::run::Problem;
use crate::run::columns::{
    Chosen, Columns, Data, Field, Mapped, Mapping, Moments, Place, Presence, bound, label, said,
};

/// The values of columns, by their places.
type Texts = BTreeMap<usize, Vec<String>>;

/// The rows that are a table's.
struct Table {
    /// Where each is in the file.
    lines: Vec<u64>,
    columns: Texts,
}

/// Reads it.
///
/// # Errors
/// Everything found wrong with it, column by column.
pub fn read(
    bytes: &Bytes,
    reader: ParquetReader<Cursor<&[u8]>>,
    names: &[String],
    schema: &[Field],
    mapping: &Mapping<'_>,
) -> Result<Columns, Vec<Problem>> {
    let file = &bytes.path;
    let mut chosen = Chosen::locate(file, names, mapping)?;
    let located = match chosen.long {
        // Which metrics there are shows once all rows are read.
        Some(_) => None,
        None => Some(mapping.locate(file, names, schema)?),
    };
    let of_fields = located.iter().flat_map(|(places, _)| places.iter().flat_map(places_of));
    let wanted: BTreeSet<usize> = of_fields.copied().chain(chosen.places()).collect();
    let table = all(bytes, reader, names, &wanted)?.chosen(&chosen);
    let (table, (places, lacking)) = match (chosen.long.take(), located) {
        (Some(moments), _) => {
            let (names, table) = table.put_together(file, moments)?;
            (table, mapping.locate(file, &names, schema)?)
        }
        (None, located) => (table, located.unwrap_or_default()),
    };
    let (mut problems, mut data) = (Vec::new(), Vec::new());
    let labels = mapping.labels(schema);
    for (field, place) in schema.iter().zip(&places) {
        let values = match place {
            Place::By(mapped) => {
                table.converted(file, field, (mapped, label(&labels, field.name)), &mut problems)
            }
            _ => table.unknown(field),
        };
        data.push((field.name, values));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let (file, lines, notes) = (file.clone(), table.lines, Vec::new());
    Ok(Columns { file, lines, lacking, notes, left_out: None, labels, data })
}

/// All rows, with the columns that are wanted.
fn all(
    bytes: &Bytes,
    mut reader: ParquetReader<Cursor<&[u8]>>,
    names: &[String],
    wanted: &BTreeSet<usize>,
) -> Result<Table, Vec<Problem>> {
    let file = &bytes.path;
    let unreadable =
        |e: PolarsError| vec![Problem::new(file, format!("not readable as parquet: {e}"))];
    let wanted_names: BTreeSet<&str> = wanted.iter().map(|at| &*names[*at]).collect();
    let types = reader.schema().map_err(unreadable)?;
    let dates = timestamps::of(reader.get_metadata().map_err(unreadable)?, &wanted_names);
    let plain = wanted_names.iter().filter(|name| !dates.has(name)).copied().collect();
    let foreign = foreign_columns(file, &types, &plain);
    if !foreign.is_empty() {
        return Err(foreign);
    }
    let wanted_names = wanted_names.into_iter().map(str::to_owned).collect();
    let reader = dates.as_numbers(reader, &bytes.raw).with_columns(Some(wanted_names));
    let frame = reader.finish().map_err(unreadable)?;
    let mut columns = Texts::new();
    for at in wanted {
        let name = &names[*at];
        let unread = |e| vec![Problem::of_key(file, name, format!("not readable: {e}"))];
        let column = frame.column(name).map_err(unread)?;
        columns.insert(*at, texts(file, column, &dates).map_err(|problem| vec![problem])?);
    }
    Ok(Table { lines: (1..=frame.height() as u64).collect(), columns })
}

impl Table {
    fn field(&self, at: usize, row: usize) -> &[u8] {
        self.columns.get(&at).map_or(&[], |texts| texts[row].as_bytes())
    }

    /// Without the rows that are not the table's.
    fn chosen(mut self, chosen: &Chosen) -> Self {
        let takes = |row: usize| chosen.takes(|at| self.field(at, row));
        let keep: Vec<bool> = (0..self.lines.len()).map(takes).collect();
        if keep.iter().all(|keep| *keep) {
            return self;
        }
        only(&mut self.lines, &keep);
        self.columns.values_mut().for_each(|texts| only(texts, &keep));
        self
    }

    /// The rows of one moment each, out of those of one metric each; and their columns' names.
    fn put_together(
        &self,
        file: &Path,
        mut moments: Moments,
    ) -> Result<(Vec<String>, Self), Vec<Problem>> {
        let mut problems = Vec::new();
        for (row, line) in self.lines.iter().enumerate() {
            problems.extend(moments.take(*line, |at| self.field(at, row)).err());
            bound(file, &mut problems);
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let (names, rows) = moments.wide();
        let lines = rows.iter().map(|(line, _)| *line).collect();
        let column = |at: usize| rows.iter().map(|(_, fields)| fields[at].clone()).collect();
        let columns = (0..names.len()).map(|at| (at, column(at))).collect();
        Ok((names, Self { lines, columns }))
    }

    /// A field that nothing answers.
    fn unknown(&self, field: &Field) -> Data {
        let mut data = Data::with_capacity(field.ty, self.lines.len());
        self.lines.iter().for_each(|_| drop(data.push(None)));
        data
    }

    /// A field that a layout answers: theirs as text, converted row by row.
    fn converted(
        &self,
        file: &Path,
        field: &Field,
        (mapped, label): (&Mapped, &str),
        problems: &mut Vec<Problem>,
    ) -> Data {
        let mut data = Data::with_capacity(field.ty, self.lines.len());
        for (row, line) in self.lines.iter().enumerate() {
            let problem = match mapped.value(|at| self.field(at, row)) {
                Err((column, message)) => Some((column, message)),
                Ok(None) if field.presence == Presence::Needed => Some((label, NONE_FOUND.into())),
                Ok(value) => {
                    let bytes = value.as_deref().map(str::as_bytes);
                    let is_converted = matches!(value, Some(Cow::Owned(_)));
                    let wrong = |why| said(why, bytes.unwrap_or_default(), is_converted);
                    data.push(bytes).err().map(|why| (label, wrong(why)))
                }
            };
            if let Some((column, message)) = problem {
                problems.push(Problem::at(file, *line, column, message));
                bound(file, problems);
            }
        }
        data
    }
}

/// Keeps the values whose place says so.
fn only<T>(values: &mut Vec<T>, keep: &[bool]) {
    let mut keep = keep.iter();
    values.retain(|_| keep.next().is_some_and(|keep| *keep));
}

fn places_of(place: &Place) -> &[usize] {
    match place {
        Place::Lacking => &[],
        Place::At(at) => std::slice::from_ref(at),
        Place::By(mapped) => mapped.places(),
    }
}

/// A column's values as text, empty where there is none.
fn texts(file: &Path, column: &PolarsColumn, dates: &Timestamps) -> Result<Vec<String>, Problem> {
    let wrong = || {
        let found = held(column.dtype());
        let message = format!("expected text or numbers, found a column of {found}");
        Problem::of_key(file, column.name(), message)
    };
    let dtype = column.dtype();
    if dates.has(column.name()) {
        let values = column.i64().map_err(|_| wrong())?;
        let text = |ticks: Option<i64>| ticks.map(|ticks| dates.text(column.name(), ticks));
        return Ok(values.iter().map(|ticks| text(ticks).unwrap_or_default()).collect());
    }
    if dtype.is_float() {
        let cast = column.cast(&DataType::Float64).map_err(|_| wrong())?;
        let values = cast.f64().map_err(|_| wrong())?;
        return Ok(values.iter().map(|x| x.map_or_else(String::new, |x| x.to_string())).collect());
    }
    let words = matches!(dtype, DataType::String | DataType::Boolean | DataType::Null);
    if !words && !dtype.is_integer() {
        return Err(wrong());
    }
    let cast = column.cast(&DataType::String).map_err(|_| wrong())?;
    let values = cast.str().map_err(|_| wrong())?;
    let bytes: usize = values.iter().flatten().map(str::len).sum();
    if bytes as u64 > limits::FILE_BYTES {
        let message = format!("expected at most {} MiB of text", limits::FILE_BYTES >> 20);
        return Err(Problem::of_key(file, column.name(), message));
    }
    Ok(values.iter().map(|text| text.unwrap_or_default().to_owned()).collect())
}
