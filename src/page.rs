//! A page of runs: the static part as it lies in `page/`, and `data/` with what the command line
//! knows of the runs (`docs/page.md` has its shapes).
//!
//! Everything is made in memory, from runs that were judged as for any other command, and then
//! written or served. The same runs give the same bytes; nothing in them says where on this
//! machine they lie.

mod claimed;
mod commands;
mod figures;
mod fixed;
mod law;
mod ledger;
mod parts;
pub mod places;
mod real;
mod registered;
mod runs;
mod series;
pub mod serve;
mod specs;
mod tables;
pub mod write;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::analysis::draw::DrawError;
use crate::analysis::spec::FigureSpec;
use crate::figure::FigureError;
use crate::files::FileError;
use crate::hash::sha256_hex;
use crate::judged::verdict::{Verdict, most_fitting, verdict};
use crate::judged::{Measured, Scoring};
use crate::numbers::Manifest;
use crate::run::Problem;
use crate::setup::{ConfigError, Configs};

use runs::Runs;
pub use specs::figures_of;

/// The name of the data's shapes; another number when a field changes its meaning or goes.
pub const FORMAT: &str = "trapcheck-page/1";

/// The page's files by their path in it.
pub type Files = BTreeMap<String, Vec<u8>>;

/// Why a page cannot be made, written or served.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// A figure has no input.
    #[error("figure {name}: {error}")]
    Draw {
        /// The figure.
        name: String,
        /// Why.
        error: DrawError,
    },
    /// A picture of a run cannot be drawn.
    #[error("{run}: {error}")]
    Picture {
        /// The run.
        run: String,
        /// Why.
        error: FigureError,
    },
    /// A file that cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A text that JSON cannot hold.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The static part cannot be read, or a folder is not one for a page.
    #[error(transparent)]
    File(#[from] FileError),
    /// A file of the page cannot be written, read or removed.
    #[error("cannot write {0}")]
    Write(FileError),
    /// The address to serve at cannot be had.
    #[error("127.0.0.1:{port}: {error}")]
    Address {
        /// The port that was asked for; 0 for any.
        port: u16,
        /// Why.
        error: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Runs that were judged together, and what is shown of them.
#[derive(Debug)]
pub struct Judged<'a> {
    /// The analysis that names them; empty for runs that none names.
    pub name: String,
    /// The configuration they were judged under.
    pub configs: &'a Configs,
    /// The runs as they were measured.
    pub measured: Vec<Measured>,
    /// The runs, judged.
    pub scoring: Scoring,
    /// The figures drawn of them.
    pub figures: Vec<FigureSpec>,
    /// Whether registered tests are held against them.
    pub is_tested: bool,
}

/// Whose page it is.
#[derive(Debug, Clone, Copy)]
pub enum Whose<'a> {
    /// A project's, with its ledger, if it has one, and what of that has changed since.
    Project(Option<(&'a LedgerFile, &'a [String])>),
    /// Of some runs, without a project around them.
    Runs,
}

/// The ledger with the hash of the file it was read from.
#[derive(Debug)]
pub struct LedgerFile {
    /// What it says.
    pub manifest: Manifest,
    /// Its SHA-256.
    pub sha256: String,
}

/// The page's files: the static part and the data.
///
/// # Errors
/// A figure that cannot be drawn, a file that cannot be read.
pub fn page(
    groups: &[Judged<'_>],
    configs: &Configs,
    whose: Whose<'_>,
    problems: &[Problem],
) -> Result<Files, PageError> {
    let mut made = fixed::files()?;
    let runs = Runs::of(groups);
    let verdicts: Vec<(&str, Vec<Verdict>)> =
        groups.iter().filter(|group| group.is_tested).map(of_group).collect();
    let drawn = figures::draw_all(groups)?;
    let mut parts = Map::new();
    let mut part = |made: &mut Files, name: &str, value: Result<Value, &str>| {
        let said = match value {
            Err(why) => json!({"absent": why}),
            Ok(value) => {
                let (file, bytes) = (format!("{name}.json"), text(value));
                let said =
                    json!({"file": file, "bytes": bytes.len(), "sha256": sha256_hex(&bytes)});
                made.insert(format!("data/{file}"), bytes);
                said
            }
        };
        parts.insert(name.to_owned(), said);
    };
    part(&mut made, "real", real::real(&runs, &drawn).ok_or(NO_ENGINE));
    part(&mut made, "figures", figures::list(&drawn, &runs).ok_or(NO_FIGURES));
    part(&mut made, "law", law::law(groups, &runs, &drawn).ok_or(NO_LAW));
    part(&mut made, "runs", Ok(runs.list()));
    let tests = registered::tests(configs, &verdicts, &runs, matches!(whose, Whose::Project(_)))?;
    part(&mut made, "tests", Ok(tests));
    match whose {
        Whose::Project(Some((file, differences))) => {
            part(&mut made, "ledger", Ok(ledger::rows(file, differences)));
            part(&mut made, "sources", Ok(ledger::sources(&file.manifest)));
            let (list, tables) = tables::tables(&file.manifest, groups);
            part(&mut made, "tables", list.ok_or(NO_DERIVED));
            for (path, value) in ledger::sections(&file.manifest)?.into_iter().chain(tables) {
                made.insert(format!("data/{path}"), text(value));
            }
        }
        Whose::Project(None) => {
            part(&mut made, "ledger", Err(NO_LEDGER));
            part(&mut made, "sources", Err(NO_LEDGER));
            part(&mut made, "tables", Err(NO_LEDGER));
        }
        Whose::Runs => {
            part(&mut made, "ledger", Err(NOT_THE_PAPERS));
            part(&mut made, "sources", Err(NOT_THE_PAPERS));
            part(&mut made, "tables", Err(NO_TABLES));
        }
    }
    for one in &drawn {
        made.insert(format!("data/{}", one.svg_path()), one.svg.clone().into_bytes());
    }
    for (path, bytes) in runs.details(&verdicts)? {
        made.insert(format!("data/{path}"), bytes);
    }
    let of = if matches!(whose, Whose::Runs) { "runs" } else { "project" };
    let index = json!({
        "trapcheck": env!("CARGO_PKG_VERSION"),
        "of": of,
        "runs": runs.counts(),
        "made_by": runs.makers(),
        "not_used": not_used(groups, problems),
        "parts": parts,
    });
    made.insert(write::INDEX.to_owned(), text(index));
    Ok(made)
}

const NO_ENGINE: &str =
    "no run of a real engine with a burst, without one, capped or rescued is here";
const NO_FIGURES: &str = "there is nothing to draw a figure of";
const NO_LAW: &str = "no run here is stuck, so there is nothing to hold the law against";
const NO_LEDGER: &str = "paper/numbers.json is not here; trapcheck numbers writes it";
const NO_DERIVED: &str = "no derived table is here; trapcheck derive writes them";
const NO_TABLES: &str = "derived tables are those of a project; this page is of other runs, each \
                         of which has its own";
const NOT_THE_PAPERS: &str = "the paper's numbers are compared with the runs of its own project; \
                              this page is of other runs";

/// The verdict of every registration that is about a group's runs.
fn of_group<'a>(group: &'a Judged<'_>) -> (&'a str, Vec<Verdict>) {
    let files = group.configs.registrations.values();
    let all = files.filter_map(|file| verdict(file, &group.measured, group.configs).ok());
    (&group.name, most_fitting(all.collect()))
}

/// The runs and folders that could not be used, each with the first reason.
fn not_used(groups: &[Judged<'_>], problems: &[Problem]) -> Vec<String> {
    let unreadable = groups.iter().flat_map(|group| &group.scoring.unreadable);
    let first = |problems: &[Problem]| problems.first().map(ToString::to_string);
    let mut all: Vec<String> = unreadable
        .filter_map(|run| first(&run.problems))
        .chain(problems.iter().map(ToString::to_string))
        .collect();
    all.sort();
    all.dedup();
    all
}

/// A file of the data.
fn text(mut value: Value) -> Vec<u8> {
    value["format"] = FORMAT.into();
    (value.to_string() + "\n").into_bytes()
}
