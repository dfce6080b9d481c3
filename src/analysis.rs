//! From run directories to verdicts, tables and figures.
//!
//! [`score`] judges runs one by one, [`verdict`] a registered test over all of them;
//! [`binding`] says which registration judges a run and what that is worth, [`what_if`] how it
//! would come out by another rule; [`spec`] is what a file in `analysis/` says; [`outputs`] makes
//! its tables and figures; [`draw`] turns scored runs into a figure's input. Results are in
//! order of path, whatever the threads did.

pub mod batches;
pub mod binding;
pub mod campaign_names;
pub mod draw;
pub mod fill;
pub mod fresh;
pub mod outputs;
pub mod replay;
pub mod score;
pub mod simulated;
pub mod sources;
pub mod spec;
pub mod statistics;
pub mod store;
mod tables;
pub mod theory_tables;
pub mod verdict;
pub mod what_if;

pub use binding::Binding;
pub use outputs::Project;
pub use score::{ScoredRun, Scoring};
pub use spec::Analysis;

use crate::run::{Source, SourceFile};

/// Whose runs a figure or a table was made from: those whose files are among `sources`.
pub fn origin_words(runs: &[ScoredRun], sources: &[SourceFile]) -> &'static str {
    let shown = |run: &&ScoredRun| run.sources.iter().any(|source| sources.contains(source));
    let of = |source: Source| runs.iter().filter(shown).any(|run| run.meta.source == source);
    match (of(Source::Engine), of(Source::Simulator)) {
        (true, true) => "Engine and simulated runs",
        (true, false) => "Engine runs",
        (false, true) => "Simulated runs",
        (false, false) => "No run",
    }
}
