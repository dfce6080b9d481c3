//! Writing a run directory: beside its place, then renamed into it, so that
//! nobody ever sees half a run.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use polars::prelude::{Column, DataFrame};
use polars_io::parquet::write::{ParquetCompression, ParquetWriter};
use zstd::stream::write::Encoder;
use zstd::zstd_safe::{CCtx, CParameter, ResetDirective};

use crate::files::{FileError, Temporary, folder_of};
use crate::run::tables::{MICROSECONDS, TICKS, Table, Value, rounded, tables};
use crate::run::{ENDINGS, Run, STARTED};
pub use crate::setup::campaign::TableFormat;

/// Writes `run` to the directory `dir`, which must not exist.
///
/// # Errors
/// The directory exists, or a file cannot be written; nothing is left behind.
pub fn write(run: &Run, dir: &Path, format: TableFormat) -> Result<(), FileError> {
    write_with(run, dir, format, &[])
}

/// As [`write`], with further text files (name, content) in the directory.
///
/// # Errors
/// As [`write`].
pub fn write_with(
    run: &Run,
    dir: &Path,
    format: TableFormat,
    beside_tables: &[(&str, &str)],
) -> Result<(), FileError> {
    let is_there = || FileError::new(dir, "already there; a run is never overwritten");
    if dir.exists() {
        return Err(is_there());
    }
    let written = Temporary::folder(folder_of(dir)).and_then(|beside| {
        write_all(run, beside.path(), format, beside_tables)?;
        beside.rename_to(dir)
    });
    // Another process may have been faster.
    written.map_err(|e| match dir.exists() {
        true => is_there(),
        false => FileError::new(dir, format_args!("cannot write: {e}")),
    })
}

fn write_all(
    run: &Run,
    dir: &Path,
    format: TableFormat,
    beside_tables: &[(&str, &str)],
) -> io::Result<()> {
    for table in tables(run) {
        let path = dir.join(format!("{}.{}", table.name, format.ending()));
        write_table(&table, &path, format)?;
    }
    for (name, text) in beside_tables {
        fs::write(dir.join(name), text)?;
    }
    // Last: a directory without it is no run.
    let meta = serde_json::to_string_pretty(&run.meta)?;
    fs::write(dir.join("meta.json"), meta + "\n")
}

/// Whether a written run may hold a file of this name.
pub(crate) fn is_written(name: &str) -> bool {
    let of_table = |table: &str| {
        let ending = name.strip_prefix(table).and_then(|rest| rest.strip_prefix('.'));
        ending.is_some_and(|ending| ENDINGS.contains(&ending))
    };
    ["config.yaml", "meta.json", STARTED].contains(&name)
        || ["turns", "sessions", "plan", "engine", "gate"].into_iter().any(of_table)
}

/// The runs of a campaign are pinned by the bytes that this level gives.
const LEVEL: i32 = 9;

thread_local! {
    /// What zstd works in, some 20 MB: a new one for each table would be cleared each time.
    static ZSTD: RefCell<CCtx<'static>> = RefCell::new(CCtx::create());
}

fn write_zstd<W: Write>(table: &Table<'_>, out: W) -> io::Result<W> {
    let refused = |code| io::Error::other(zstd::zstd_safe::get_error_name(code));
    ZSTD.with_borrow_mut(|context| {
        // A table before this one may not have been written to its end.
        context.reset(ResetDirective::SessionOnly).map_err(refused)?;
        context.set_parameter(CParameter::CompressionLevel(LEVEL)).map_err(refused)?;
        context.set_parameter(CParameter::ChecksumFlag(true)).map_err(refused)?;
        write_csv(table, Encoder::with_context(out, context))?.finish()
    })
}

fn write_table(table: &Table<'_>, path: &Path, format: TableFormat) -> io::Result<()> {
    let file = BufWriter::new(File::create(path)?);
    match format {
        TableFormat::Csv => write_csv(table, file)?.flush(),
        TableFormat::CsvGz => {
            // mtime 0 and no name: the same run gives the same bytes.
            let packer = flate2::GzBuilder::new().write(file, flate2::Compression::default());
            write_csv(table, packer)?.finish()?.flush()
        }
        TableFormat::CsvZst => write_zstd(table, file)?.flush(),
        TableFormat::Parquet => write_parquet(table, file),
    }
}

/// A block of rows that is packed and written at once.
const BLOCK: usize = 1 << 16;

fn write_csv<W: Write>(table: &Table<'_>, mut out: W) -> io::Result<W> {
    let mut block = Vec::new();
    table.push_header(&mut block);
    for row in 0..table.rows() {
        table.push_row(row, &mut block);
        if block.len() > BLOCK {
            out.write_all(&block)?;
            block.clear();
        }
    }
    out.write_all(&block)?;
    Ok(out)
}

fn write_parquet<W: Write>(table: &Table<'_>, mut out: W) -> io::Result<()> {
    let columns: Vec<Column> =
        table.columns.iter().map(|(name, values)| parquet_column(name, values)).collect();
    let mut frame = DataFrame::new_infer_height(columns).map_err(io::Error::other)?;
    ParquetWriter::new(&mut out)
        .with_compression(ParquetCompression::Zstd(None))
        .finish(&mut frame)
        .map_err(io::Error::other)?;
    out.flush()
}

fn parquet_column(name: &str, values: &[Value<'_>]) -> Column {
    let name = name.into();
    match values.first() {
        Some(Value::Count(_)) => {
            let counts: Vec<Option<u64>> =
                values.iter().map(|v| if let Value::Count(c) = v { *c } else { None }).collect();
            Column::new(name, counts)
        }
        Some(Value::Seconds(_) | Value::Planned(_)) => {
            // The same rounding as in the text form.
            let time = |value: &Value<'_>| match value {
                Value::Seconds(t) => t.and_then(|t| rounded(t, TICKS)),
                Value::Planned(t) => t.and_then(|t| rounded(t, MICROSECONDS)),
                _ => None,
            };
            Column::new(name, values.iter().map(time).collect::<Vec<Option<f64>>>())
        }
        _ => {
            let texts: Vec<&str> = values
                .iter()
                .map(|v| match v {
                    Value::Text(text) => text,
                    Value::Owned(text) => text.as_str(),
                    _ => "",
                })
                .collect();
            Column::new(name, texts)
        }
    }
}

#[cfg(test)]
mod tests;
