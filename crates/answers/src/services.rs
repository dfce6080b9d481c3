//! Files that engines and load generators left, as views of the services they are of.

use std::collections::BTreeSet;
use std::io::{self, Read};

use trapcheck_observed::read::{Reader, stamp_of_name};

use crate::form::{Clock, Observed};
use crate::format::Format;

/// A file that was read.
pub struct ReadFile {
    /// Its name, without folders.
    pub name: String,
    /// What it says.
    pub observed: Observed,
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

/// Bytes read at a time.
const PIECE: usize = 1 << 18;

/// Reads one source from its unpacked stream; `name` is its file's, which may say when a scrape
/// was taken. What was unpacked before a stream broke is used, and the break is told.
///
/// # Errors
/// In words: a stream that breaks at its start, or that no format knows.
pub fn read_stream(
    mut stream: impl Read,
    name: &str,
    format: Option<Format>,
) -> Result<Observed, String> {
    let mut reader = Reader::new(format, stamp_of_name(name));
    let mut piece = vec![0; PIECE];
    let mut some = false;
    loop {
        match stream.read(&mut piece) {
            Ok(0) => break,
            Ok(n) => {
                reader.push(&piece[..n]).map_err(|e| e.to_string())?;
                some = true;
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(_) if some => {
                reader.broke_off();
                break;
            }
            Err(e) => return Err(format!("cannot read: {e}")),
        }
    }
    reader.finish().map_err(|e| e.to_string())
}

/// Several sources as views of one service; `unknown` files beside them are of no format.
pub fn together(label: String, files: Vec<ReadFile>, unknown: usize) -> Option<Service> {
    if files.is_empty() {
        return None;
    }
    let mut observed = Observed::default();
    for _ in 0..unknown {
        observed.notes.add("files of a folder that no format knows", 0);
    }
    // One after the other where scrapes tell no time.
    let scrapes = |o: &Observed| o.formats == [Format::Prometheus];
    let samples = |o: &Observed| o.engines.values().any(|e| !e.series.samples().is_empty());
    let of_logs = |file: &&ReadFile| samples(&file.observed) && !scrapes(&file.observed);
    let logs = files.iter().filter(of_logs).count();
    let mut order = 0;
    let names = files.iter().map(|file| file.name.clone()).collect();
    for ReadFile { name, observed: mut one } in files {
        if scrapes(&one) && one.clock == Clock::Order {
            order += one.number_from(order);
        }
        let same = scrapes(&one) || !samples(&one) || logs < 2;
        observed.add(one, stem(&name), same);
    }
    observed.finish();
    Some(Service { label, files: names, observed })
}

/// Whether a file of a folder is of any use.
pub fn is_known(observed: &Observed) -> bool {
    !observed.is_empty() || observed.engines.values().next().is_some()
}

/// The services of which anything could be used.
///
/// # Errors
/// There is none: why, in words.
pub fn usable(mut services: Vec<Service>) -> Result<Vec<Service>, String> {
    if services.iter().all(|service| service.observed.is_empty()) {
        // Of several folders each reason once.
        let why: BTreeSet<_> = services.iter().map(|s| why_nothing(&s.observed)).collect();
        return Err(format!("nothing in it could be used{}", String::from_iter(why)));
    }
    services.retain(|service| !service.observed.is_empty());
    Ok(services)
}

fn why_nothing(observed: &Observed) -> String {
    let why: Vec<String> =
        observed.dropped.iter().map(|(why, count)| format!("{} {why}", count.count)).collect();
    if why.is_empty() { ": no record is in it".into() } else { format!(": {}", why.join(", ")) }
}

/// A file's name up to its last dot.
fn stem(name: &str) -> &str {
    match name.rfind('.') {
        Some(0) | None => name,
        Some(dot) => &name[..dot],
    }
}
