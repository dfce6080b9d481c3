//! How large a parquet file becomes in memory, told before anything is allocated: a run
//! of equal values takes a few bytes in the file, however long it is.

use std::io::Cursor;

use polars_io::parquet::read::ParquetReader;

use crate::limits;

/// The stack of the thread that reads: the reader calls itself once for each level of
/// nested columns, and a footer of [`limits::PARQUET_FOOTER_BYTES`] has room for many.
pub(crate) const STACK_BYTES: usize = 256 << 20;

/// Bytes of the footer's length and the magic after it.
const TAIL: usize = 8;

/// Refuses a footer that is too large to be read without thought. One that is longer than
/// its file is left to the reader, which says so.
pub(crate) fn check_footer(raw: &[u8]) -> Result<(), String> {
    let Some((length, _)) = raw.last_chunk::<TAIL>().and_then(|tail| tail.split_first_chunk())
    else {
        return Ok(());
    };
    let length = u32::from_le_bytes(*length);
    let most = limits::PARQUET_FOOTER_BYTES;
    if u64::from(length) <= most || length as usize > raw.len() {
        return Ok(());
    }
    Err(format!("its footer has {length} bytes; expected at most {} KiB", most >> 10))
}

/// Refuses more rows or values than a table may have.
pub(crate) fn check_values(reader: &mut ParquetReader<Cursor<&[u8]>>) -> Result<(), String> {
    let metadata = reader.get_metadata().map_err(|e| format!("not readable as parquet: {e}"))?;
    let groups = &metadata.row_groups;
    let rows = groups.iter().fold(0, |sum: usize, group| sum.saturating_add(group.num_rows()));
    let rows = rows.max(metadata.num_rows);
    if rows > limits::ROWS {
        return Err(format!("expected at most {} rows, found {rows}", limits::ROWS));
    }
    let columns = groups.iter().flat_map(|group| group.parquet_columns());
    let (mut values, mut bytes) = (0_u64, 0_u64);
    for column in columns {
        values = values.saturating_add(u64::try_from(column.num_values()).unwrap_or(u64::MAX));
        bytes = bytes.saturating_add(column.uncompressed_size().unsigned_abs());
    }
    if values > limits::VALUES {
        return Err(format!("expected at most {} values, found {values}", limits::VALUES));
    }
    if bytes > limits::FILE_BYTES {
        let most = limits::FILE_BYTES >> 20;
        return Err(format!("too large: expected at most {most} MiB, it unpacks to more"));
    }
    Ok(())
}
