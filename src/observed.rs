//! Files that engines and load generators left, read as streams; and the answer they give
//! together.

pub mod picture;
pub mod watch;

use std::collections::BTreeMap;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::files::FileError;
use crate::form::Observed;
use crate::format::Format;
use crate::reading;
pub use trapcheck_answers::services::Service;
use trapcheck_answers::services::{ReadFile, is_known, read_stream, together, usable};

/// Bytes read at a time.
const PIECE: usize = 1 << 18;

/// Reads a file of any size; gzip and zstd are told by their first bytes.
///
/// # Errors
/// A file that cannot be read, or that no format knows.
pub fn read(path: &Path, format: Option<Format>) -> Result<Observed, FileError> {
    let fail = |why: String| FileError::new(path, why);
    let cannot = |e: &dyn std::fmt::Display| fail(format!("cannot read: {e}"));
    let file = reading::open(path).map_err(|e| cannot(&e))?;
    let mut file = BufReader::with_capacity(PIECE, file);
    let magic = peeked(&mut file).map_err(|e| cannot(&e))?;
    let mut stream: Box<dyn Read> = match magic.as_slice() {
        [0x1f, 0x8b, ..] => Box::new(flate2::read::MultiGzDecoder::new(file)),
        [0x28, 0xb5, 0x2f, 0xfd] => {
            Box::new(zstd::stream::read::Decoder::with_buffer(file).map_err(|e| cannot(&e))?)
        }
        [b'P', b'A', b'R', b'1'] => {
            let why = "parquet is not read here: give text (of recorded sessions: `trapcheck \
                       sessions describe FILE`)";
            return Err(fail(why.into()));
        }
        _ => Box::new(file),
    };
    read_stream(&mut stream, &name_of(path), format).map_err(fail)
}

/// The first bytes, left in their place.
fn peeked(file: &mut BufReader<std::fs::File>) -> io::Result<Vec<u8>> {
    use std::io::BufRead;
    Ok(file.fill_buf()?.iter().take(4).copied().collect())
}

/// Reads files. Those that are named are views of one service, and so are those of each
/// folder. A file of a folder that no format knows is left out; one that was named has to be
/// known.
///
/// # Errors
/// The first file that cannot be used, and where nothing can be.
pub fn read_all(paths: &[PathBuf], format: Option<Format>) -> Result<Vec<Service>, FileError> {
    let mut services = Vec::new();
    let named: Vec<PathBuf> = paths.iter().filter(|path| !path.is_dir()).cloned().collect();
    let mut read_files = Vec::new();
    for path in named {
        let observed = read(&path, format)?;
        read_files.push(ReadFile { name: name_of(&path), observed });
    }
    services.extend(together(String::new(), read_files, 0));
    for folder in paths.iter().filter(|path| path.is_dir()) {
        for (label, files) in by_folder(folder) {
            let (mut known, mut unknown) = (Vec::new(), 0);
            for path in files {
                match read(&path, format) {
                    Ok(observed) if is_known(&observed) => {
                        known.push(ReadFile { name: name_of(&path), observed });
                    }
                    _ => unknown += 1,
                }
            }
            services.extend(together(label, known, unknown));
        }
    }
    usable(services).map_err(|why| FileError::new(paths.first().cloned().unwrap_or_default(), why))
}

/// A file's name, without its folders.
fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The files of each folder under one, by its path from there.
fn by_folder(folder: &Path) -> BTreeMap<String, Vec<PathBuf>> {
    let mut groups: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    let entries = reading::walk(folder).filter_map(Result::ok);
    for entry in entries.filter(|e| e.file_type().is_file()) {
        let path = entry.into_path();
        let inside = path.parent().and_then(|dir| dir.strip_prefix(folder).ok());
        let label = inside.map_or(String::new(), |dir| dir.to_string_lossy().into_owned());
        groups.entry(label).or_default().push(path);
    }
    groups
}
