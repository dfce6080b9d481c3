//! A parquet file as columns: the only module that names polars when reading.

mod size;
mod theirs;
mod timestamps;

use std::collections::BTreeSet;
use std::io::Cursor;
use std::path::Path;

use polars::prelude::{ArrowDataType, ArrowSchema, Column as PolarsColumn, DataType, PolarsError};
use polars_io::SerReader;
use polars_io::parquet::read::{ParallelStrategy, ParquetReader};

use super::source::Bytes;
use crate::limits;
use crate::run::Problem;
use crate::run::columns::{
    Columns, Data, Field, Labels, Mapping, Place, Presence, bound, count_from_float, locate,
};

/// What is said of a file that the reader panics on, or takes for columns of different lengths.
const FAILED: &str = "damaged: the parquet reader failed on it";

const NONE_FOUND: &str = "expected a value, found none";

/// The thread every parquet file is read on.
pub const THREAD: &str = "parquet";

/// The columns of a schema from a parquet file that is no run's.
///
/// # Errors
/// As [`read`].
pub fn columns(path: &Path, schema: &[Field]) -> Result<Columns, Vec<Problem>> {
    let bytes = Bytes::read(path).map_err(|problem| vec![problem])?;
    read(&bytes, schema, None)
}

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
        let failed = |_| Err(one(FAILED.into()));
        reader.join().unwrap_or_else(failed)
    })
}

fn read_here(
    bytes: &Bytes,
    schema: &[Field],
    mapping: Option<&Mapping<'_>>,
) -> Result<Columns, Vec<Problem>> {
    let one = |message: String| vec![Problem::new(&bytes.path, message)];
    let unreadable = |e: PolarsError| one(format!("not readable as parquet: {e}"));
    size::check_footer(&bytes.raw).map_err(one)?;
    let mut reader =
        ParquetReader::new(Cursor::new(bytes.raw.as_slice())).read_parallel(ParallelStrategy::None);
    size::check_values(&mut reader).map_err(one)?;
    // The file's own list of columns: in a frame, the last of two of one name stands for both.
    let columns = reader.get_metadata().map_err(unreadable)?.schema().fields().to_vec();
    let names: Vec<String> = columns.iter().map(|column| column.name().to_owned()).collect();
    if let Some(mapping) = mapping {
        return theirs::read(bytes, reader, &names, schema, mapping);
    }
    let (places, lacking) = locate(&bytes.path, &names, schema)?;
    // Other columns may hold what they like: they are not read.
    let at = |place: &Place| if let Place::At(at) = place { Some(*at) } else { None };
    let wanted: BTreeSet<&str> = places.iter().filter_map(at).map(|at| &*names[at]).collect();
    let types = reader.schema().map_err(unreadable)?;
    let foreign = foreign_columns(&bytes.path, &types, &wanted);
    if !foreign.is_empty() {
        return Err(foreign);
    }
    let frame = reader
        .with_columns(Some(wanted.into_iter().map(str::to_owned).collect()))
        .finish()
        .map_err(unreadable)?;
    let rows = frame.height();
    if frame.columns().iter().any(|column| column.len() != rows) {
        return Err(one(FAILED.into()));
    }
    let mut problems = Vec::new();
    let mut data = Vec::new();
    for (field, place) in schema.iter().zip(&places) {
        let column = match at(place).map(|at| frame.column(&names[at])).transpose() {
            Ok(column) => column,
            Err(e) => {
                let message = format!("not readable: {e}");
                problems.push(Problem::of_key(&bytes.path, field.name, message));
                continue;
            }
        };
        match parquet_column(&bytes.path, field, column, rows, &mut problems) {
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
        left_out: None,
        labels: Labels::new(),
        data,
    })
}

/// Columns of types that are not read here; the reader would fail on them without their name.
fn foreign_columns(file: &Path, types: &ArrowSchema, wanted: &BTreeSet<&str>) -> Vec<Problem> {
    let foreign = |name: &&str| {
        let what = foreign_type(&types.get(name)?.dtype)?;
        let message = format!("expected text or numbers, found a column of {what}");
        Some(Problem::of_key(file, name, message))
    };
    wanted.iter().filter_map(foreign).collect()
}

fn foreign_type(dtype: &ArrowDataType) -> Option<&'static str> {
    Some(match dtype {
        ArrowDataType::Float16 => "half-precision numbers: write them as 32 or 64 bits",
        ArrowDataType::Timestamp(..) => "timestamps: write seconds on the run's clock as numbers",
        ArrowDataType::Date32 | ArrowDataType::Date64 => "dates",
        ArrowDataType::Time32(_) | ArrowDataType::Time64(_) => "times of day",
        ArrowDataType::Duration(_) | ArrowDataType::Interval(_) => {
            "durations: write seconds as numbers"
        }
        ArrowDataType::Decimal(..)
        | ArrowDataType::Decimal32(..)
        | ArrowDataType::Decimal64(..)
        | ArrowDataType::Decimal256(..) => "decimals: write floating-point numbers",
        ArrowDataType::List(_)
        | ArrowDataType::LargeList(_)
        | ArrowDataType::FixedSizeList(..)
        | ArrowDataType::Struct(_)
        | ArrowDataType::Map(..)
        | ArrowDataType::Union(_) => "lists, maps or records",
        _ => return None,
    })
}

/// What a column holds, in words.
fn held(dtype: &DataType) -> String {
    match dtype {
        DataType::String => "text".into(),
        DataType::Boolean => "true and false".into(),
        dtype if dtype.is_float() => "floating-point numbers".into(),
        dtype if dtype.is_integer() => "whole numbers".into(),
        DataType::Binary => "bytes".into(),
        dtype => format!("another type ({dtype})"),
    }
}

fn parquet_column(
    file: &Path,
    field: &Field,
    column: Option<&PolarsColumn>,
    rows: usize,
    problems: &mut Vec<Problem>,
) -> Result<Data, Problem> {
    let mut data = Data::with_capacity(field.ty, rows);
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
        let message = format!("expected {what}, found a column of {}", held(column.dtype()));
        Problem::of_key(file, field.name, message)
    };
    let mut report = |row: usize, message: String| {
        problems.push(Problem::at(file, row as u64 + 1, field.name, message));
        bound(file, problems);
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

#[cfg(test)]
mod tests {
    use polars::prelude::ArrowField;

    use super::*;

    #[test]
    fn types_that_hold_no_text_and_no_number_are_named_in_words() {
        let second = polars::prelude::ArrowTimeUnit::Second;
        for (dtype, words) in [
            (ArrowDataType::Float16, "half-precision"),
            (ArrowDataType::Timestamp(second, Some("UTC".into())), "timestamps"),
            (ArrowDataType::Date32, "dates"),
            (ArrowDataType::Duration(second), "durations"),
            (ArrowDataType::Decimal(18, 4), "decimals"),
            (ArrowDataType::Struct(Vec::new()), "records"),
        ] {
            let field = ArrowField::new("t_end".into(), dtype, true);
            let types = ArrowSchema::from_iter([(field.name.clone(), field)]);
            let file = Path::new("turns.parquet");
            let problems = foreign_columns(file, &types, &BTreeSet::from(["t_end"]));
            let [problem] = problems.as_slice() else { panic!("{words}: {problems:?}") };
            assert!(problem.to_string().starts_with("turns.parquet: t_end: expected text or"));
            assert!(problem.message.contains(words), "{problem}");
            assert_eq!(foreign_columns(file, &types, &BTreeSet::from(["t_first"])), []);
        }
        assert_eq!(foreign_type(&ArrowDataType::Utf8View), None);
    }
}
