//! Columns of timestamps. The reader is compiled without them, so they are read as the whole
//! numbers that they are in the file, and written as dates.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;
use std::sync::Arc;

use polars::prelude::{ArrowDataType, ArrowTimeUnit};
use polars_io::SerReader;
use polars_io::parquet::read::{FileMetadata, ParallelStrategy, ParquetReader, infer_schema};
use polars_parquet::parquet::metadata::SchemaDescriptor;
use polars_parquet::parquet::schema::types::{ParquetType, PhysicalType};

use crate::date;

/// The columns of timestamps among those of a file.
#[derive(Default)]
pub(crate) struct Timestamps {
    /// By name: places of a second's fraction, and whether they are in UTC.
    of: BTreeMap<String, (u32, bool)>,
    /// The file's metadata with these columns as whole numbers, and without what a data frame
    /// adds to it: categories of words are words.
    metadata: Option<Arc<FileMetadata>>,
}

/// Finds those among the wanted columns. What a data frame says of them beside the file's own
/// schema (its unit, its zone) is not what lies in the file.
pub fn of(metadata: &FileMetadata, wanted: &BTreeSet<&str>) -> Timestamps {
    let mut plain = metadata.clone();
    plain.key_value_metadata = None;
    let Ok(types) = infer_schema(&plain) else { return Timestamps::default() };
    let mut of = BTreeMap::new();
    let as_number = |field: &ParquetType| {
        let mut field = field.clone();
        let name = field.name().to_owned();
        if let ParquetType::PrimitiveType(column) = &mut field
            && column.physical_type == PhysicalType::Int64
            && wanted.contains(&*name)
            && let Some(ArrowDataType::Timestamp(unit, zone)) = types.get(&name).map(|f| &f.dtype)
        {
            (column.logical_type, column.converted_type) = (None, None);
            of.insert(name, (places(*unit), zone.is_some()));
        }
        field
    };
    let fields: Vec<ParquetType> = plain.schema().fields().iter().map(as_number).collect();
    let name = plain.schema().name().into();
    plain.schema_descr = SchemaDescriptor::new(name, fields);
    Timestamps { of, metadata: Some(Arc::new(plain)) }
}

const fn places(unit: ArrowTimeUnit) -> u32 {
    match unit {
        ArrowTimeUnit::Second => 0,
        ArrowTimeUnit::Millisecond => 3,
        ArrowTimeUnit::Microsecond => 6,
        ArrowTimeUnit::Nanosecond => 9,
    }
}

impl Timestamps {
    /// Whether a column is one.
    pub fn has(&self, name: &str) -> bool {
        self.of.contains_key(name)
    }

    /// One of a column as a date; with a zone where the file says that it is UTC.
    pub fn text(&self, name: &str, ticks: i64) -> String {
        let (places, utc) = self.of.get(name).copied().unwrap_or_default();
        date::text(ticks, places, utc)
    }

    /// A reader that gives them so.
    pub(crate) fn as_numbers<'a>(
        &self,
        reader: ParquetReader<Cursor<&'a [u8]>>,
        raw: &'a [u8],
    ) -> ParquetReader<Cursor<&'a [u8]>> {
        let Some(metadata) = &self.metadata else { return reader };
        let mut reader = ParquetReader::new(Cursor::new(raw)).read_parallel(ParallelStrategy::None);
        reader.set_metadata(Arc::clone(metadata));
        reader
    }
}
