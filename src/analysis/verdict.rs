//! A registration's verdict over runs: who may vote, what each run is labelled, and how
//! the test comes out.
//!
//! A run counts only where it belongs: its cell, arm, rate and seed are the
//! registration's, and it is bound to it by hash. A run bound to another registration
//! is set aside by name, unless the test is one that looks at other tests' runs. A run
//! bound to none votes only where no bound run does. Neither ever decides.

mod after;
mod decide;
mod evidence;
#[cfg(test)]
mod made_up;
#[cfg(test)]
mod tests;
mod trap;

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::measure::rescue::{ControlAfter, RescueMeasures};
use crate::rule::{Clause, Labelled, Outcome, RateVerdict};
use crate::run::{LoadOptions, Meta, Problem, Run, SourceFile};
use crate::setup::registration::Status;
use crate::setup::{Cell, Configs, Protocol, RegistrationFile, Workload};

use super::score::Binding;
use evidence::{Evidence, Role};

/// Why a registration cannot be asked.
#[derive(Debug, thiserror::Error)]
pub enum VerdictError {
    /// Its cell has no file, or that names a workload or protocol that is not there.
    #[error("{}: no cell {cell} with its workload and protocol in the configuration", path.display())]
    NoCell {
        /// The registration.
        path: PathBuf,
        /// The cell it names.
        cell: String,
    },
}

/// One run under a registration.
#[derive(Debug, Clone)]
pub struct VerdictRun {
    /// Its directory.
    pub dir: PathBuf,
    /// Who, what and when.
    pub meta: Meta,
    /// The files it was read from.
    pub sources: Vec<SourceFile>,
    /// What it is to the test: `subject`, `control`, or nothing.
    pub role: &'static str,
    /// Its label; `None` where it was not judged.
    pub labelled: Option<Labelled>,
    /// What was measured for a rescue test, if this is one.
    pub rescue: Option<Box<RescueMeasures>>,
    /// Its BURST and its NOBURST control over the interval after its release.
    pub controls_after: [Option<ControlAfter>; 2],
    /// Checks that are reported and do not decide.
    pub secondary: Vec<Clause>,
    /// How it stands to the registration.
    pub binding: Binding,
    /// Why it does not count, if it does not.
    pub set_aside: Option<String>,
}

/// A registration's verdict.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// The registration.
    pub registration: RegistrationFile,
    /// How the test came out.
    pub outcome: Outcome,
    /// Every run that could be read, in order of path.
    pub runs: Vec<VerdictRun>,
    /// Every run that could not.
    pub unreadable: Vec<(PathBuf, Vec<Problem>)>,
    /// Whether the outcome decides: the registration is FILLED and every run that
    /// counts is bound to it, or, as a control, to a registration it names.
    pub decisive: bool,
    /// Why it does not, if it does not.
    pub not_decisive_because: Option<String>,
    /// Where the counted runs come from: `engine`, `simulator`, or both.
    pub sources: String,
}

/// What a registration is judged with.
struct Context<'a> {
    file: &'a RegistrationFile,
    configs: &'a Configs,
    cell: &'a Cell,
    workload: &'a Workload,
    protocol: &'a Protocol,
}

/// Judges the runs in `dirs` under a registration; `done` is called once per run.
///
/// # Errors
/// The registration's cell is not configured.
pub fn verdict(
    file: &RegistrationFile,
    dirs: &[PathBuf],
    configs: &Configs,
    options: &LoadOptions,
    done: impl Fn() + Sync,
) -> Result<Verdict, VerdictError> {
    let name = &file.registration.cell;
    let Some((cell, workload, protocol)) = configs.of_cell(name) else {
        return Err(VerdictError::NoCell { path: file.path.clone(), cell: name.clone() });
    };
    let context = Context { file, configs, cell, workload, protocol };
    let read: Vec<(&Path, Result<Evidence, Vec<Problem>>)> = dirs
        .par_iter()
        .map(|dir| {
            let evidence = Run::load_by(dir, &configs.layouts, options)
                .map_err(|problems| problems.0)
                .map(|run| evidence::gather(run, &context));
            done();
            (dir.as_path(), evidence)
        })
        .collect();
    let mut evidence = Vec::new();
    let mut unreadable = Vec::new();
    for (dir, outcome) in read {
        match outcome {
            Ok(run) => evidence.push(run),
            Err(problems) => unreadable.push((dir.to_owned(), problems)),
        }
    }
    Ok(combine(&context, evidence, unreadable))
}

fn combine(
    context: &Context<'_>,
    mut evidence: Vec<Evidence>,
    unreadable: Vec<(PathBuf, Vec<Problem>)>,
) -> Verdict {
    prefer_bound(&mut evidence);
    let registration = &context.file.registration;
    let judged = if registration.status == Status::Incomplete {
        let because = registration.because.clone().unwrap_or_default();
        let outcome = Outcome::new(
            RateVerdict::NotDecidable.words(),
            format!("the registration is INCOMPLETE and judges nothing: {because}"),
            Vec::new(),
        );
        decide::Judged { outcome, ..decide::Judged::none(evidence.len()) }
    } else {
        decide::decide(context, &evidence)
    };
    let counted: Vec<&Evidence> = evidence.iter().filter(|e| e.counts()).collect();
    let not_decisive_because = not_decisive(registration.status, &counted);
    let mut sources: Vec<_> = counted.iter().map(|e| e.meta.source.word()).collect();
    sources.sort_unstable();
    sources.dedup();
    let mut outcome = judged.outcome;
    let not_used = evidence
        .iter()
        .filter_map(|e| e.set_aside.as_ref().map(|why| format!("{}: {why}", e.name())));
    outcome.set_aside.extend(not_used);
    outcome
        .set_aside
        .extend(unreadable.iter().map(|(dir, p)| format!("{}: {}", dir.display(), first(p))));
    let runs = evidence
        .into_iter()
        .zip(judged.labels.into_iter().zip(judged.secondary).zip(judged.controls_after))
        .map(|(e, ((labelled, secondary), controls_after))| VerdictRun {
            controls_after,
            role: e.role.word(),
            dir: e.dir,
            meta: e.meta,
            sources: e.sources,
            labelled,
            rescue: match e.extra {
                evidence::Extra::Rescue { rescue, .. } => rescue,
                _ => None,
            },
            secondary,
            binding: e.binding,
            set_aside: e.set_aside,
        })
        .collect();
    Verdict {
        registration: context.file.clone(),
        outcome,
        runs,
        unreadable,
        decisive: not_decisive_because.is_none(),
        not_decisive_because,
        sources: sources.join(" and "),
    }
}

fn first(problems: &[Problem]) -> String {
    let more = problems.len().saturating_sub(1);
    let first = problems.first().map_or("cannot be read".into(), ToString::to_string);
    if more == 0 { first } else { format!("{first} (and {more} more problems)") }
}

/// Only bound runs count where there are any: the others are set aside.
fn prefer_bound(evidence: &mut [Evidence]) {
    let bound = |e: &Evidence| e.counts() && e.role == Role::Subject && e.binding.is_decisive();
    if !evidence.iter().any(bound) {
        return;
    }
    for run in evidence.iter_mut().filter(|e| e.counts() && !e.binding.is_decisive()) {
        run.set_aside = Some(format!("{}, and bound runs are there", run.binding.words()));
    }
}

fn not_decisive(status: Status, counted: &[&Evidence]) -> Option<String> {
    if counted.is_empty() {
        return Some("no run counts".into());
    }
    if status != Status::Filled {
        return Some(format!("the registration is {}", status.word()));
    }
    let unbound: Vec<_> = counted.iter().filter(|e| !e.binding.is_decisive()).collect();
    (!unbound.is_empty())
        .then(|| format!("{} of {} runs are not bound to it", unbound.len(), counted.len()))
}
