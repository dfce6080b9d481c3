//! Dropped run directories, handed to the loader of run directories.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use trapcheck_runs::run::columns::{Columns, Field, Mapping};
use trapcheck_runs::run::load::{File, Files};
use trapcheck_runs::run::{ENDINGS, META, Problem, STARTED, Shape, SourceFile, Text};
use trapcheck_setup::hash::sha256_hex;
use trapcheck_setup::packing::{Packing, unpack};

use crate::dropped::{Dropped, NO_ZSTD};

/// The files of one run directory.
pub struct RunFiles<'a> {
    dir: &'a Path,
    files: BTreeMap<&'a Path, &'a Dropped>,
}

impl<'a> RunFiles<'a> {
    /// Those of a folder.
    pub fn of(dir: &'a Path, dropped: &'a [Dropped]) -> Self {
        let inside = dropped.iter().filter(|file| file.path.parent() == Some(dir));
        Self { dir, files: inside.map(|file| (file.path.as_path(), file)).collect() }
    }
}

/// The folders that hold a run: its `meta.json`, or what stands in its place while it is under
/// way.
pub(crate) fn run_folders(dropped: &[Dropped]) -> Vec<&Path> {
    let is = |file: &Dropped, name: &str| file.path.file_name().is_some_and(|n| n == name);
    let of_run = |file: &&Dropped| is(file, META) || is(file, STARTED);
    let mut folders: Vec<&Path> =
        dropped.iter().filter(of_run).filter_map(|file| file.path.parent()).collect();
    folders.sort();
    folders.dedup();
    folders
}

impl<'a> Files for RunFiles<'a> {
    type File = Bytes<'a>;

    fn shape(&self) -> Result<Shape, Problem> {
        let unclosed = self.holds(&self.dir.join(STARTED)) && !self.holds(&self.dir.join(META));
        Ok(if unclosed { Shape::unclosed(self.dir) } else { Shape::new(self.dir, None) })
    }

    fn tables(&self, dir: &Path, shape: &Shape, table: &str) -> Vec<PathBuf> {
        let Some(name) = shape.name(table) else { return Vec::new() };
        let ended = ENDINGS.iter().map(|ending| dir.join(format!("{name}.{ending}")));
        ended.filter(|path| self.holds(path)).collect()
    }

    fn holds(&self, path: &Path) -> bool {
        self.files.contains_key(path)
    }

    fn take(&mut self, path: &Path) -> Result<Bytes<'a>, Problem> {
        let file = self.files.get(path).copied();
        let file = file.ok_or_else(|| Problem::new(path, "cannot read: it was not dropped"))?;
        if let Some(why) = file.too_large() {
            return Err(Problem::new(path, format!("cannot read: {why}")));
        }
        Ok(Bytes(file))
    }
}

/// A dropped file in memory.
pub struct Bytes<'a>(&'a Dropped);

impl File for Bytes<'_> {
    fn path(&self) -> &Path {
        &self.0.path
    }

    fn source(&self) -> SourceFile {
        SourceFile { path: self.0.path.clone(), sha256: sha256_hex(&self.0.bytes) }
    }

    fn is_parquet(&self) -> bool {
        Packing::of(&self.0.bytes) == Packing::Parquet
    }

    fn text(&self, most: u64) -> Result<Text<'_>, Problem> {
        let raw = self.0.bytes.as_slice();
        let (bytes, broken) = match Packing::of(raw) {
            Packing::Gzip => unpacked(flate2::read::MultiGzDecoder::new(raw), raw.len(), most),
            Packing::Zstd => return Err(Problem::new(&self.0.path, NO_ZSTD)),
            _ if raw.len() as u64 > most => unpacked(raw, raw.len(), most),
            _ => (Cow::Borrowed(raw), None),
        };
        Text::new(&self.0.path, bytes, broken)
    }

    fn parquet(&self, _: &[Field], _: Option<&Mapping<'_>>) -> Result<Columns, Vec<Problem>> {
        let message = "parquet is not read in a page: give it to trapcheck score, which reads it";
        Err(vec![Problem::new(&self.0.path, message)])
    }
}

fn unpacked<'a>(stream: impl Read, packed: usize, most: u64) -> (Cow<'a, [u8]>, Option<io::Error>) {
    let mut bytes = Vec::new();
    let broken = unpack(stream, packed, most, &mut bytes);
    (bytes.into(), broken)
}
