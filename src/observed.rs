//! Files that engines and load generators left, read as streams; and the answer they give
//! together.

pub mod picture;
pub mod watch;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::form::{Clock, Observed};
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

/// Files that are views of one service, with what they say together.
pub struct Service {
    /// The folder they lie in, below the one that was named; empty for files that were named.
    pub label: String,
    /// The names of the files.
    pub files: Vec<String>,
    /// What they say.
    pub observed: Observed,
}

/// Reads files. Those that are named are views of one service, and so are those of each
/// folder. A file of a folder that no format knows is left out; one that was named has to be
/// known.
///
/// # Errors
/// The first file that cannot be used, and where nothing can be.
pub fn read_all(paths: &[PathBuf], format: Option<Format>) -> Result<Vec<Service>, Unusable> {
    let mut services = Vec::new();
    let named: Vec<PathBuf> = paths.iter().filter(|path| !path.is_dir()).cloned().collect();
    let mut read_files = Vec::new();
    for path in named {
        let one = read(&path, format)?;
        read_files.push((path, one));
    }
    services.extend(together(String::new(), read_files, 0));
    for folder in paths.iter().filter(|path| path.is_dir()) {
        for (label, files) in by_folder(folder) {
            let (mut known, mut unknown) = (Vec::new(), 0);
            for path in files {
                match read(&path, format) {
                    Ok(one) if !one.is_empty() || one.engines.values().next().is_some() => {
                        known.push((path, one));
                    }
                    _ => unknown += 1,
                }
            }
            services.extend(together(label, known, unknown));
        }
    }
    if services.iter().all(|service| service.observed.is_empty()) {
        // Of several folders each reason once.
        let why: BTreeSet<_> = services.iter().map(|s| why_nothing(&s.observed)).collect();
        let message = format!("nothing in it could be used{}", String::from_iter(why));
        let path = paths.first().cloned().unwrap_or_default();
        return Err(Unusable { path, message });
    }
    services.retain(|service| !service.observed.is_empty());
    Ok(services)
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

/// Several sources as views of one service.
fn together(
    label: String,
    read_files: Vec<(PathBuf, Observed)>,
    unknown: usize,
) -> Option<Service> {
    if read_files.is_empty() {
        return None;
    }
    let mut observed = Observed::default();
    for _ in 0..unknown {
        observed.notes.add("files of a folder that no format knows", 0);
    }
    // One after the other where scrapes tell no time.
    let scrapes = |o: &Observed| o.formats == [Format::Prometheus];
    let samples = |o: &Observed| o.engines.values().any(|e| !e.series.samples().is_empty());
    let logs = read_files.iter().filter(|(_, o)| samples(o) && !scrapes(o)).count();
    let mut order = 0;
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let files = read_files.iter().map(|(path, _)| name(path)).collect();
    for (path, mut one) in read_files {
        if scrapes(&one) && one.clock == Clock::Order {
            order += one.number_from(order);
        }
        let label = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let same = scrapes(&one) || !samples(&one) || logs < 2;
        observed.add(one, &label, same);
    }
    observed.finish();
    Some(Service { label, files, observed })
}

fn why_nothing(observed: &Observed) -> String {
    let why: Vec<String> =
        observed.dropped.iter().map(|(why, count)| format!("{} {why}", count.count)).collect();
    if why.is_empty() { ": no record is in it".into() } else { format!(": {}", why.join(", ")) }
}
