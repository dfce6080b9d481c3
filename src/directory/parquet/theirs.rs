//! A parquet file of another shape: its values as text, converted by a layout as those of a
//! csv are.

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
    Chosen, Columns, Data, Field, Mapped, Mapping, Place, Presence, bound, label, said,
};

/// The values of columns, by their places.
type Texts = BTreeMap<usize, Vec<String>>;

/// Reads it.
///
/// # Errors
/// Everything found wrong with it, column by column.
pub fn read(
    bytes: &Bytes,
    mut reader: ParquetReader<Cursor<&[u8]>>,
    names: &[String],
    schema: &[Field],
    mapping: &Mapping<'_>,
) -> Result<Columns, Vec<Problem>> {
    let file = &bytes.path;
    let unreadable =
        |e: PolarsError| vec![Problem::new(file, format!("not readable as parquet: {e}"))];
    let mut chosen = Chosen::locate(file, names, mapping)?;
    let mut places = match chosen.long {
        Some(_) => None,
        None => Some(mapping.locate(file, names, schema)?),
    };
    let of_fields = places.iter().flat_map(|(places, _)| places.iter().flat_map(places_of));
    let wanted: BTreeSet<usize> = of_fields.copied().chain(chosen.places()).collect();
    let wanted_names: BTreeSet<&str> = wanted.iter().map(|at| &*names[*at]).collect();
    let types = reader.schema().map_err(unreadable)?;
    let dates = timestamps::of(reader.get_metadata().map_err(unreadable)?, &wanted_names);
    let plain = wanted_names.iter().filter(|name| !dates.has(name)).copied().collect();
    let foreign = foreign_columns(file, &types, &plain);
    if !foreign.is_empty() {
        return Err(foreign);
    }
    let mut reader = dates.as_numbers(reader, &bytes.raw);
    reader = reader.with_columns(Some(wanted_names.iter().map(|name| (*name).to_owned()).collect()));
    let frame = reader.finish().map_err(unreadable)?;
    let mut lines: Vec<u64> = (1..=frame.height() as u64).collect();
    let mut columns = Texts::new();
    for at in &wanted {
        let name = &names[*at];
        let unread = |e| vec![Problem::of_key(file, name, format!("not readable: {e}"))];
        let column = frame.column(name).map_err(unread)?;
        columns.insert(*at, texts(file, column, &dates).map_err(|problem| vec![problem])?);
    }
    let field = |columns: &Texts, at: usize, row: usize| columns[&at][row].clone();
    let keep: Vec<usize> = (0..lines.len())
        .filter(|row| chosen.takes(|at| columns.get(&at).map_or(&[], |c| c[*row].as_bytes())))
        .collect();
    let mut problems = Vec::new();
    if let Some(mut moments) = chosen.long.take() {
        for row in keep {
            let taken =
                moments.take(lines[row], |at| columns.get(&at).map_or(&[], |c| c[row].as_bytes()));
            problems.extend(taken.err());
            bound(file, &mut problems);
        }
        let (names, rows) = moments.wide();
        places = Some(mapping.locate(file, &names, schema)?);
        lines = rows.iter().map(|(line, _)| *line).collect();
        let column = |at: usize| rows.iter().map(|(_, fields)| fields[at].clone()).collect();
        columns = (0..names.len()).map(|at| (at, column(at))).collect();
    } else if keep.len() < lines.len() {
        lines = keep.iter().map(|row| lines[*row]).collect();
        let kept = |at: &usize| (*at, keep.iter().map(|row| field(&columns, *at, *row)).collect());
        columns = columns.keys().map(kept).collect();
    }
    let (places, lacking) = places.unwrap_or_default();
    let labels = mapping.labels(schema);
    let mut data = Vec::new();
    for (of, place) in schema.iter().zip(&places) {
        let values = match place {
            Place::By(mapped) => {
                let label = label(&labels, of.name);
                converted((file, &lines), of, (mapped, label), &columns, &mut problems)
            }
            _ => unknown(of, lines.len()),
        };
        data.push((of.name, values));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let (file, notes) = (file.clone(), Vec::new());
    Ok(Columns { file, lines, lacking, notes, left_out: None, labels, data })
}

fn places_of(place: &Place) -> &[usize] {
    match place {
        Place::Lacking => &[],
        Place::At(at) => std::slice::from_ref(at),
        Place::By(mapped) => mapped.places(),
    }
}

/// A field that nothing answers.
fn unknown(field: &Field, rows: usize) -> Data {
    let mut data = Data::with_capacity(field.ty, rows);
    (0..rows).for_each(|_| drop(data.push(None)));
    data
}

/// A field that a layout answers: theirs as text, converted row by row.
fn converted(
    (file, lines): (&Path, &[u64]),
    field: &Field,
    (mapped, label): (&Mapped, &str),
    columns: &Texts,
    problems: &mut Vec<Problem>,
) -> Data {
    let mut data = Data::with_capacity(field.ty, lines.len());
    for (row, line) in lines.iter().enumerate() {
        let value = mapped.value(|at| columns.get(&at).map_or(&[], |texts| texts[row].as_bytes()));
        let problem = match value {
            Err((column, message)) => Some((column, message)),
            Ok(None) if field.presence == Presence::Needed => Some((label, NONE_FOUND.into())),
            Ok(value) => {
                let bytes = value.as_deref().map(str::as_bytes);
                let was = matches!(value, Some(std::borrow::Cow::Owned(_)));
                let pushed = data.push(bytes);
                pushed.err().map(|why| (label, said(why, bytes.unwrap_or_default(), was)))
            }
        };
        if let Some((column, message)) = problem {
            problems.push(Problem::at(file, *line, column, message));
            bound(file, problems);
        }
    }
    data
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
