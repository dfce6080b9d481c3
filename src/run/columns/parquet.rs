//! A parquet file as columns: the only module that names polars when reading.

mod size;

use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::Path;

use polars::prelude::{
    Column as PolarsColumn, DataFrame, DataType, ParallelStrategy, ParquetReader, SerReader,
};

use super::super::problem::Problem;
use super::super::source::Bytes;
use super::mapped::Mapped;
use super::{
    CONVERTED, Columns, Data, Field, Labels, MOST_PROBLEMS, Mapping, Place, Presence,
    count_from_float, label, locate,
};
use crate::limits;

const NONE_FOUND: &str = "expected a value, found none";

/// The thread every parquet file is read on.
pub const THREAD: &str = "parquet";

/// Reads a parquet file.
///
/// On a thread of its own: a worker that waits for polars' pool would meanwhile start
/// on the next run, and on the next, until its stack is full. And a damaged file makes
/// the reader panic, which must not take the batch down with it.
///
/// # Errors
/// Everything found wrong with it, column by column.
pub fn read(
    bytes: &Bytes,
    schema: &[Field],
    mapping: Option<&Mapping<'_>>,
) -> Result<Columns, Vec<Problem>> {
    let one = |message: String| vec![Problem::new(&bytes.path, message)];
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name(THREAD.into()).stack_size(size::STACK_BYTES);
        let reader = thread
            .spawn_scoped(scope, || read_here(bytes, schema, mapping))
            .map_err(|e| one(format!("cannot read: {e}")))?;
        let failed = |_| Err(one("damaged: the parquet reader failed on it".into()));
        reader.join().unwrap_or_else(failed)
    })
}

fn read_here(
    bytes: &Bytes,
    schema: &[Field],
    mapping: Option<&Mapping<'_>>,
) -> Result<Columns, Vec<Problem>> {
    let one = |message: String| vec![Problem::new(&bytes.path, message)];
    size::check_footer(&bytes.raw).map_err(one)?;
    let mut reader = ParquetReader::new(Cursor::new(bytes.raw.as_slice()));
    size::check_values(&mut reader).map_err(one)?;
    let frame = reader
        .read_parallel(ParallelStrategy::None)
        .finish()
        .map_err(|e| vec![Problem::new(&bytes.path, format!("not readable as parquet: {e}"))])?;
    let names: Vec<String> = frame.get_column_names().iter().map(|n| n.to_string()).collect();
    let (places, lacking) = match mapping {
        None => locate(&bytes.path, &names, schema)?,
        Some(mapping) => mapping.locate(&bytes.path, &names, schema)?,
    };
    let labels = mapping.map_or_else(Labels::new, |mapping| mapping.labels(schema));
    let rows = frame.height();
    let mut problems = Vec::new();
    let mut data = Vec::new();
    for (field, place) in schema.iter().zip(&places) {
        let values = match place {
            Place::Lacking => parquet_column(&bytes.path, field, None, rows, &mut problems),
            Place::At(at) => {
                let column = Some(&frame.columns()[*at]);
                parquet_column(&bytes.path, field, column, rows, &mut problems)
            }
            Place::By(mapped) => {
                let label = label(&labels, field.name);
                mapped_column(&bytes.path, field, (mapped, label), &frame, &mut problems)
            }
        };
        match values {
            Ok(values) => data.push((field.name, values)),
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(Columns {
        file: bytes.path.clone(),
        lines: (1..=rows as u64).collect(),
        lacking,
        notes: Vec::new(),
        labels,
        data,
    })
}

fn parquet_column(
    file: &Path,
    field: &Field,
    column: Option<&PolarsColumn>,
    rows: usize,
    problems: &mut Vec<Problem>,
) -> Result<Data, Problem> {
    let mut data = Data::new(field.ty);
    // A column without values has no type worth a complaint: writers that see
    // only unknown values, or no rows, choose any.
    let Some(column) = column.filter(|c| c.null_count() < rows) else {
        if rows > 0 && field.presence == Presence::Needed {
            problems.push(Problem::at(file, 1, field.name, NONE_FOUND));
        }
        (0..rows).for_each(|_| drop(data.push(None)));
        return Ok(data);
    };
    let wrong = |what: &str| {
        let message = format!("expected {what}, found a column of {}", column.dtype());
        Problem { column: Some(field.name.to_owned()), ..Problem::new(file, message) }
    };
    let mut report = |row: usize, message: String| {
        if problems.len() < MOST_PROBLEMS {
            problems.push(Problem::at(file, row as u64 + 1, field.name, message));
        }
    };
    if field.presence == Presence::Needed && column.null_count() > 0 {
        let first = column.is_null().iter().position(|null| null == Some(true)).unwrap_or(0);
        report(first, NONE_FOUND.into());
    }
    let is_text = matches!(column.dtype(), DataType::String);
    match &mut data {
        Data::Text(texts) => {
            if !is_text && !column.dtype().is_integer() {
                return Err(wrong("text"));
            }
            let cast = column.cast(&DataType::String).map_err(|_| wrong("text"))?;
            let values = cast.str().map_err(|_| wrong("text"))?;
            for (row, value) in values.iter().enumerate() {
                if !texts.has_room() {
                    let most = limits::FILE_BYTES >> 20;
                    return Err(wrong(&format!("at most {most} MiB of text")));
                }
                texts.push(value.unwrap_or_default());
                if value == Some("") && field.presence == Presence::Needed {
                    report(row, NONE_FOUND.into());
                }
            }
        }
        Data::Count(counts) => {
            if is_text || !column.dtype().is_primitive_numeric() {
                return Err(wrong("whole numbers"));
            }
            let cast = column.cast(&DataType::Float64).map_err(|_| wrong("whole numbers"))?;
            for (row, value) in cast.f64().map_err(|_| wrong("whole numbers"))?.iter().enumerate() {
                counts.push(value.and_then(count_from_float));
                if let Some(x) = value.filter(|x| count_from_float(*x).is_none()) {
                    report(row, format!("expected a whole number, 0 or more, found {x}"));
                }
            }
        }
        Data::Number(numbers) => {
            if is_text || !column.dtype().is_primitive_numeric() {
                return Err(wrong("numbers"));
            }
            let cast = column.cast(&DataType::Float64).map_err(|_| wrong("numbers"))?;
            for (row, value) in cast.f64().map_err(|_| wrong("numbers"))?.iter().enumerate() {
                numbers.push(value);
                if let Some(x) = value.filter(|x| !x.is_finite()) {
                    report(row, format!("expected a finite number, found {x}"));
                }
            }
        }
    }
    Ok(data)
}

/// A field that a layout answers: theirs as text, converted row by row.
fn mapped_column(
    file: &Path,
    field: &Field,
    (mapped, label): (&Mapped, &str),
    frame: &DataFrame,
    problems: &mut Vec<Problem>,
) -> Result<Data, Problem> {
    let columns = mapped.places().iter().map(|at| Ok((*at, texts(file, &frame.columns()[*at])?)));
    let columns: BTreeMap<usize, Vec<String>> = columns.collect::<Result<_, Problem>>()?;
    let mut data = Data::new(field.ty);
    for row in 0..frame.height() {
        let value = mapped.value(|at| columns.get(&at).map_or(&[], |texts| texts[row].as_bytes()));
        let problem = match value {
            Err((column, message)) => Some((column, message)),
            Ok(None) if field.presence == Presence::Needed => Some((label, NONE_FOUND.into())),
            Ok(value) => {
                let pushed = data.push(value.as_deref().map(str::as_bytes));
                pushed.err().map(|message| (label, message + CONVERTED))
            }
        };
        if let Some((column, message)) = problem
            && problems.len() < MOST_PROBLEMS
        {
            problems.push(Problem::at(file, row as u64 + 1, column, message));
        }
    }
    Ok(data)
}

/// A column's values as text, empty where there is none.
fn texts(file: &Path, column: &PolarsColumn) -> Result<Vec<String>, Problem> {
    let wrong = || {
        let message = format!("expected text or numbers, found a column of {}", column.dtype());
        Problem { column: Some(column.name().to_string()), ..Problem::new(file, message) }
    };
    let dtype = column.dtype();
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
        return Err(Problem {
            column: Some(column.name().to_string()),
            ..Problem::new(file, message)
        });
    }
    Ok(values.iter().map(|text| text.unwrap_or_default().to_owned()).collect())
}
