//! The ensemble as it lies in a folder: a packed text per table.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::packed::Unpacked;
use crate::limits;
use crate::reading::{self, Bounded};
use crate::setup::ConfigError;
use crate::table::Table;

/// What a table's file name ends with.
const ENDING: &str = ".tsv.zst";
/// The hardest that the packer tries: it is packed once and read often.
const LEVEL: i32 = 19;

/// The draws of an ensemble, table by table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Draws {
    tables: BTreeMap<String, Unpacked>,
}

impl Draws {
    /// Reads the ensemble of a folder; one without draws where there is no such folder.
    ///
    /// # Errors
    /// A file that cannot be read or is not what [`pack`] gives; tables of different numbers
    /// of draws.
    pub fn open(folder: &Path) -> Result<Self, ConfigError> {
        let mut tables: BTreeMap<String, Unpacked> = BTreeMap::new();
        if !folder.is_dir() {
            return Ok(Self::default());
        }
        for entry in reading::walk(folder) {
            let entry = entry.map_err(|e| ConfigError::new(folder, format!("cannot list: {e}")))?;
            let name = entry.file_name().to_str().and_then(|name| name.strip_suffix(ENDING));
            let Some(name) = name.filter(|_| entry.file_type().is_file()) else { continue };
            let wrong = |why: String| ConfigError::new(entry.path(), why);
            let text = unpacked(entry.path()).map_err(|e| wrong(format!("cannot read: {e}")))?;
            let table = Unpacked::parse(text).map_err(wrong)?;
            if let Some(other) = tables.values().next().filter(|t| t.draws() != table.draws()) {
                let (own, others) = (table.draws(), other.draws());
                return Err(wrong(format!("{own} draws, the other tables have {others}")));
            }
            tables.insert(name.to_owned(), table);
        }
        Ok(Self { tables })
    }

    /// How many draws there are.
    pub fn count(&self) -> usize {
        self.tables.values().next().map_or(0, Unpacked::draws)
    }

    /// The names of its tables.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tables.keys().map(String::as_str)
    }

    /// A draw's tables, in order of name: cells to seven digits, columns with names only, no
    /// sources.
    pub fn tables(&self, draw: usize) -> Vec<Table> {
        self.tables.iter().map(|(name, unpacked)| unpacked.table(name, draw)).collect()
    }

    /// The rows of a draw of a table as they are written; `None` for a table that is not here.
    pub fn rows(&self, table: &str, draw: usize) -> Option<&str> {
        self.tables.get(table).map(|unpacked| unpacked.rows(draw))
    }
}

/// Where a table of the ensemble lies.
pub fn path_of(folder: &Path, table: &str) -> PathBuf {
    folder.join(format!("{table}{ENDING}"))
}

/// A text as its file holds it: the same bytes for the same text.
///
/// # Errors
/// It cannot be packed.
pub fn pack(text: &str) -> io::Result<Vec<u8>> {
    let mut packer = zstd::Encoder::new(Vec::new(), LEVEL)?;
    packer.include_checksum(true)?;
    packer.write_all(text.as_bytes())?;
    packer.finish()
}

fn unpacked(path: &Path) -> io::Result<String> {
    let unpacker = zstd::Decoder::new(reading::open(path)?)?;
    let mut text = String::new();
    Bounded::new(unpacker, limits::FILE_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_not_there_has_no_draws() {
        assert_eq!(Draws::open(Path::new("no/such/folder")).unwrap().count(), 0);
    }

    #[test]
    fn a_damaged_file_and_a_wrong_line_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = path_of(folder.path(), "t");
        let refused = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            Draws::open(folder.path()).unwrap_err().to_string()
        };
        let packed = pack("draw:1\ta\n0\tx\n").unwrap();
        assert!(refused(&packed[..packed.len() - 3]).contains("t.tsv.zst: cannot read"));
        let said = refused(&pack("draw:1\ta\n0\n").unwrap());
        assert!(said.contains("t.tsv.zst: line 2: expected 2 fields"), "{said}");
    }

    #[test]
    fn tables_of_different_numbers_of_draws_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("a", "draw:1\ta\n"), ("b", "draw:2\ta\n")] {
            std::fs::write(path_of(folder.path(), name), pack(text).unwrap()).unwrap();
        }
        let said = Draws::open(folder.path()).unwrap_err().to_string();
        assert!(said.contains("b.tsv.zst: 2 draws, the other tables have 1"), "{said}");
    }
}
