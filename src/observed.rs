//! Files that engines and load generators left, read as streams; and the answer they give
//! together.

use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::form::Observed;
use crate::format::Format;
use crate::read::{ReadError, Reader, stamp_of_name};
use crate::reading;

/// A file that could not be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {message}", crate::escape::shown(path))]
pub struct Unusable {
    /// Which.
    pub path: PathBuf,
    /// Why.
    pub message: String,
}

/// Bytes read at a time.
const PIECE: usize = 1 << 18;

/// Reads a file of any size; gzip and zstd are told by their first bytes.
///
/// # Errors
/// A file that cannot be read, or that no format knows.
pub fn read(path: &Path, format: Option<Format>) -> Result<Observed, Unusable> {
    let fail = |message: String| Unusable { path: path.into(), message };
    let cannot = |e: &dyn std::fmt::Display| fail(format!("cannot read: {e}"));
    let file = reading::open(path).map_err(|e| cannot(&e))?;
    let mut file = BufReader::with_capacity(PIECE, file);
    let magic = peeked(&mut file).map_err(|e| cannot(&e))?;
    let mut stream: Box<dyn Read> = match magic.as_slice() {
        [0x1f, 0x8b, ..] => Box::new(flate2::read::MultiGzDecoder::new(file)),
        [0x28, 0xb5, 0x2f, 0xfd] => {
            Box::new(zstd::stream::read::Decoder::with_buffer(file).map_err(|e| cannot(&e))?)
        }
        [b'P', b'A', b'R', b'1'] => return Err(fail("parquet is not read here: give text".into())),
        _ => Box::new(file),
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut reader = Reader::new(format, stamp_of_name(&name));
    let unread = |e: ReadError| fail(e.to_string());
    let mut piece = vec![0; PIECE];
    let mut some = false;
    loop {
        match stream.read(&mut piece) {
            Ok(0) => break,
            Ok(n) => {
                reader.push(&piece[..n]).map_err(unread)?;
                some = true;
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            // What was unpacked before the stream broke is used, and the break is told.
            Err(_) if some => {
                reader.broke_off();
                break;
            }
            Err(e) => return Err(cannot(&e)),
        }
    }
    reader.finish().map_err(unread)
}

/// The first bytes, left in their place.
fn peeked(file: &mut BufReader<std::fs::File>) -> io::Result<Vec<u8>> {
    use std::io::BufRead;
    Ok(file.fill_buf()?.iter().take(4).copied().collect())
}

/// Reads several files as views of one service. Files of a folder that no format knows are
/// left out; a file that was named has to be known.
///
/// # Errors
/// The first file that cannot be used.
pub fn read_all(paths: &[PathBuf], format: Option<Format>) -> Result<Observed, Unusable> {
    let mut observed = Observed::default();
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            let entries = reading::walk(path).filter_map(Result::ok);
            files.extend(
                entries.filter(|e| e.file_type().is_file()).map(|e| (e.into_path(), false)),
            );
        } else {
            files.push((path.clone(), true));
        }
    }
    let mut read_files = Vec::new();
    for (path, named) in files {
        match read(&path, format) {
            Ok(one) => read_files.push((path, one)),
            Err(e) if named => return Err(e),
            Err(_) => observed.notes.add("files of a folder that no format knows", 0),
        }
    }
    // One after the other where scrapes tell no time.
    let scrapes = |o: &Observed| o.formats == [Format::Prometheus];
    let logs = read_files.iter().filter(|(_, o)| !o.engines.is_empty() && !scrapes(o)).count();
    let mut order = 0;
    for (path, mut one) in read_files {
        if scrapes(&one) && one.clock == crate::form::Clock::Order {
            order += one.number_from(order);
        }
        let label = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let same = scrapes(&one) || logs < 2;
        observed.add(one, &label, same);
    }
    observed.finish();
    if observed.is_empty() {
        let message = format!("nothing in it could be used{}", why_nothing(&observed));
        let path = paths.first().cloned().unwrap_or_default();
        return Err(Unusable { path, message });
    }
    Ok(observed)
}

fn why_nothing(observed: &Observed) -> String {
    let why: Vec<String> =
        observed.dropped.iter().map(|(why, count)| format!("{} {why}", count.count)).collect();
    if why.is_empty() { String::new() } else { format!(": {}", why.join(", ")) }
}
