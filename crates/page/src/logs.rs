//! Dropped files that are no run directory, judged as `trapcheck diagnose` does.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use trapcheck_answers::built_in;
use trapcheck_answers::observed::{Known, as_text, format_named, found, parts};
use trapcheck_answers::services::{ReadFile, Service, is_known, read_stream, together, usable};
use trapcheck_observed::answer::Thresholds;
use trapcheck_observed::form::Observed;
use trapcheck_observed::format::Format;
use trapcheck_runs::configs::Configs;
use trapcheck_setup::packing::Packing;

use crate::Refused;
use crate::dropped::{Dropped, NO_ZSTD, outermost};
use crate::question::Question;
use crate::reply::Reply;

/// What is answered about files that are no run directory.
///
/// # Errors
/// Files that cannot be used, in the command line's words.
pub fn observed(
    question: &Question,
    dropped: Vec<Dropped>,
    configs: &Configs,
) -> Result<Reply, Refused> {
    no_orphans(&dropped)?;
    let known: Known = question.part()?;
    let ask = known.ask()?;
    let rule = Thresholds::parse(
        &Path::new(built_in::FOLDER).join("diagnose.yaml"),
        built_in::bytes(&Path::new(built_in::FOLDER).join("diagnose.yaml")).unwrap_or_default(),
    )?;
    let from: Option<String> = question.field("from")?;
    let format = from.as_deref().map(format_named).transpose()?;
    let theory = known.theory(configs)?;
    let services = services(dropped, format)?;
    let found = found(services, &ask, &rule, theory.as_ref(), known.sessions_per_s);
    Ok(Reply::of("diagnose", parts(&found)).with("text", as_text(&found)))
}

/// A turns table without a `meta.json` is half a run, not a log.
fn no_orphans(dropped: &[Dropped]) -> Result<(), Refused> {
    let is_turns = |file: &&Dropped| {
        file.path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("turns."))
    };
    let orphan =
        dropped.iter().filter(|file| file.path.parent() != Some(Path::new("."))).find(is_turns);
    match orphan.and_then(|file| file.path.parent()) {
        Some(dir) => Err(Refused(format!("{}: has a turns table but no meta.json", dir.display()))),
        None => Ok(()),
    }
}

/// Files alone are views of one service, those of each folder too.
fn services(dropped: Vec<Dropped>, format: Option<Format>) -> Result<Vec<Service>, Refused> {
    let first = dropped.first().map(|file| outermost(&file.path).to_owned()).unwrap_or_default();
    let (alone, of_folders): (Vec<_>, Vec<_>) =
        dropped.into_iter().partition(|file| file.path.parent() == Some(Path::new(".")));
    let mut services = Vec::new();
    let mut named = Vec::new();
    for file in alone {
        let observed = read(&file, format)
            .map_err(|why| Refused(format!("{}: {why}", name_of(&file.path))))?;
        named.push(ReadFile { name: name_of(&file.path), observed });
    }
    services.extend(together(String::new(), named, 0));
    let mut folders: BTreeMap<PathBuf, Vec<Dropped>> = BTreeMap::new();
    for file in of_folders {
        let folder = file.path.parent().unwrap_or(Path::new("")).to_owned();
        folders.entry(folder).or_default().push(file);
    }
    for (folder, files) in folders {
        let (mut known, mut unknown) = (Vec::new(), 0);
        for file in files {
            match read(&file, format) {
                Ok(observed) if is_known(&observed) => {
                    known.push(ReadFile { name: name_of(&file.path), observed });
                }
                _ => unknown += 1,
            }
        }
        let label = folder.strip_prefix(outermost(&folder)).unwrap_or(&folder);
        services.extend(together(label.display().to_string(), known, unknown));
    }
    usable(services).map_err(|why| Refused(format!("{}: {why}", first.display())))
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn read(file: &Dropped, format: Option<Format>) -> Result<Observed, String> {
    if let Some(why) = file.too_large() {
        return Err(format!("cannot read: {why} in a page; trapcheck diagnose reads it"));
    }
    let (raw, name) = (file.bytes.as_slice(), name_of(&file.path));
    match Packing::of(raw) {
        Packing::Gzip => read_stream(flate2::read::MultiGzDecoder::new(raw), &name, format),
        Packing::Zstd => Err(NO_ZSTD.into()),
        Packing::Parquet => Err("parquet is not read here: give text".into()),
        Packing::Plain => read_stream(raw, &name, format),
    }
}
