//! A registration's verdict over runs: who may vote, what each run is labelled, and how
//! the test comes out.
//!
//! A run counts only where it belongs: its cell, arm, rate and seed are the
//! registration's, and it is bound to it by hash. A run bound to another registration
//! is set aside by name, unless the test is one that looks at other tests' runs. A run
//! bound to none votes only where no bound run does. Neither ever decides, and only runs of
//! an engine do.

pub mod json;
#[cfg(test)]
mod made_up;
#[cfg(test)]
mod tests;
mod voter;

use std::collections::BTreeSet;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;

use crate::configs::Configs;
use crate::measure::rescue::ControlAfter;
use crate::rule::paired::PairedTest;
use crate::rule::registered::{Case, Evidence, Judged, RegisteredTest, Role};
use crate::rule::registration::RegistrationFile;
use crate::rule::registration::{Status, Test};
use crate::rule::test::TestMeasures;
use crate::rule::{Clause, Labelled, Outcome, PairedVerdict, RateVerdict};
use crate::run::{Problem, Source};
use crate::setup::ConfigError;

use super::Measured;
use super::binding::RunBinding;
use super::statistics::RunStatistics;
use voter::Voter;

/// One run under a registration; its statistics are at hand by dereferencing.
#[derive(Debug, Clone)]
pub struct VerdictRun {
    /// What was measured on it.
    pub statistics: Arc<RunStatistics>,
    /// What the test measured on it beyond its window.
    pub for_test: Option<TestMeasures>,
    /// What it is to the test: `subject`, `control`, or nothing.
    pub role: &'static str,
    /// Its label; `None` where it was not judged.
    pub labelled: Option<Labelled>,
    /// Its BURST and its NOBURST control over the interval after its release.
    pub controls_after: [Option<ControlAfter>; 2],
    /// For a goodput test, the share it lost after the burst and in the window.
    pub goodput_lost: [Option<f64>; 2],
    /// Checks that are reported and do not decide.
    pub secondary: Vec<Clause>,
    /// How it stands to the registration.
    pub binding: RunBinding,
    /// Why it does not count, if it does not.
    pub set_aside: Option<String>,
}

impl Deref for VerdictRun {
    type Target = RunStatistics;

    fn deref(&self) -> &RunStatistics {
        &self.statistics
    }
}

/// A registration's verdict.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// The registration.
    pub registration: RegistrationFile,
    /// How the test came out.
    pub outcome: Outcome,
    /// For the paired test, how each rate came out; empty for others.
    pub rates: Vec<PairedVerdict>,
    /// Every run that could be read, in order of path.
    pub runs: Vec<VerdictRun>,
    /// Every run that could not.
    pub unreadable: Vec<(PathBuf, Vec<Problem>)>,
    /// Whether the outcome decides: the registration is FILLED and every run that
    /// counts is an engine's and bound to it, or, as a control, to a registration it names.
    pub decisive: bool,
    /// Why it does not, if it does not.
    pub not_decisive_because: Option<String>,
    /// Where the counted runs come from: `engine`, `simulator`, or both.
    pub sources: String,
}

impl Verdict {
    /// The test.
    pub fn test(&self) -> &Test {
        &self.registration.registration.test
    }

    /// The counted runs that the test is about.
    pub fn subjects(&self) -> impl Iterator<Item = &VerdictRun> {
        self.runs.iter().filter(|run| run.role == "subject" && run.set_aside.is_none())
    }

    /// Whether it is about any run.
    pub(crate) fn has_subjects(&self) -> bool {
        self.subjects().next().is_some()
    }

    /// Whether any of them was made for it.
    pub fn has_bound_subjects(&self) -> bool {
        self.subjects().any(|run| run.binding.is_bound())
    }
}

/// What a registration is judged with.
struct Context<'a> {
    file: &'a RegistrationFile,
    configs: &'a Configs,
    case: Case<'a>,
    /// Whether the runs were not made for this rule, and are asked how they would come out.
    is_what_if: bool,
}

/// Judges measured runs under a registration. They must have been measured for it: it is
/// one of the configuration, or the store's own.
///
/// # Errors
/// The registration's cell is not configured.
pub fn verdict(
    file: &RegistrationFile,
    measured: &[Measured],
    configs: &Configs,
) -> Result<Verdict, ConfigError> {
    judge(file, &by_kind(file), measured, configs, false)
}

/// The same of a paired test alone: where nothing else is asked, as in a page that simulates, no
/// other test has to be there.
///
/// # Errors
/// As [`verdict`].
pub(crate) fn verdict_of_paired(
    file: &RegistrationFile,
    test: &PairedTest,
    measured: &[Measured],
    configs: &Configs,
) -> Result<Verdict, ConfigError> {
    judge(file, &|case, evidence| test.judge(case, evidence), measured, configs, false)
}

/// How runs would come out by a rule, whatever they are bound to: it decides nothing.
///
/// # Errors
/// As [`verdict`].
pub fn verdict_what_if(
    file: &RegistrationFile,
    measured: &[Measured],
    configs: &Configs,
) -> Result<Verdict, ConfigError> {
    judge(file, &by_kind(file), measured, configs, true)
}

/// Of several verdicts, those that are about any run. One that no run was made for is left
/// out where another of its test and cell has runs of its own.
pub fn most_fitting(verdicts: Vec<Verdict>) -> Vec<Verdict> {
    let about = |v: &Verdict| {
        let registration = &v.registration.registration;
        (registration.test.words(), registration.cell.clone())
    };
    let owned: BTreeSet<_> =
        verdicts.iter().filter(|v| v.has_bound_subjects()).map(about).collect();
    let outdone = |v: &Verdict| !v.has_bound_subjects() && owned.contains(&about(v));
    verdicts.into_iter().filter(|v| v.has_subjects() && !outdone(v)).collect()
}

/// How a test judges what there is of a case.
type ByRule<'a> = &'a dyn Fn(&Case<'_>, &[Evidence<'_>]) -> Judged;

/// By whatever test a registration states.
fn by_kind(file: &RegistrationFile) -> impl Fn(&Case<'_>, &[Evidence<'_>]) -> Judged {
    |case, evidence| file.registration.test.judge(case, evidence)
}

fn judge(
    file: &RegistrationFile,
    by_rule: ByRule<'_>,
    measured: &[Measured],
    configs: &Configs,
    is_what_if: bool,
) -> Result<Verdict, ConfigError> {
    let name = &file.registration.cell;
    let Some((cell, workload, protocol)) = configs.of_cell(name) else {
        let message = format!("no cell {name} with its workload and protocol in the configuration");
        return Err(ConfigError::new(&file.path, message));
    };
    let case = Case { registration: file.registration.terms(), cell, workload, protocol };
    let context = Context { file, configs, case, is_what_if };
    let mut voters = Vec::new();
    let mut unreadable = Vec::new();
    for outcome in measured {
        match outcome {
            Ok(run) => voters.push(Voter::of(Arc::clone(run), &context)),
            Err(run) => unreadable.push((run.dir.clone(), run.problems.clone())),
        }
    }
    Ok(combine(by_rule, &context, voters, unreadable))
}

fn combine(
    by_rule: ByRule<'_>,
    context: &Context<'_>,
    mut voters: Vec<Voter>,
    unreadable: Vec<(PathBuf, Vec<Problem>)>,
) -> Verdict {
    let registration = &context.file.registration;
    if !registration.test.of_other_tests() {
        prefer_bound(&mut voters);
    }
    let judged = if registration.status == Status::Incomplete {
        let because = registration.because.clone().unwrap_or_default();
        let outcome = Outcome::new(
            RateVerdict::NotDecidable.words(),
            format!("the registration is INCOMPLETE and judges nothing: {because}"),
            Vec::new(),
        );
        Judged::unlabelled(voters.len(), outcome)
    } else {
        let evidence: Vec<Evidence<'_>> =
            voters.iter().map(|voter| voter.evidence(&context.file.sha256)).collect();
        by_rule(&context.case, &evidence)
    };
    let counted: Vec<&Voter> = voters.iter().filter(|e| e.counts()).collect();
    let not_decisive_because = not_decisive(context, &counted);
    let mut sources: Vec<_> = counted.iter().map(|e| e.meta.source.word()).collect();
    sources.sort_unstable();
    sources.dedup();
    let mut outcome = judged.outcome;
    let not_used = voters
        .iter()
        .filter_map(|e| e.set_aside.as_ref().map(|why| format!("{}: {why}", e.name())));
    outcome.set_aside.extend(not_used);
    outcome
        .set_aside
        .extend(unreadable.iter().map(|(dir, p)| format!("{}: {}", dir.display(), first(p))));
    let runs = voters
        .into_iter()
        .zip(judged.labels.into_iter().zip(judged.secondary))
        .zip(judged.controls_after.into_iter().zip(judged.goodput_lost))
        .map(|((e, (labelled, secondary)), (controls_after, goodput_lost))| VerdictRun {
            controls_after,
            goodput_lost,
            role: e.role.word(),
            labelled,
            secondary,
            binding: e.binding,
            set_aside: e.set_aside,
            for_test: e.statistics.for_tests.get(&context.file.sha256).cloned(),
            statistics: e.statistics,
        })
        .collect();
    Verdict {
        registration: context.file.clone(),
        outcome,
        rates: judged.rates,
        runs,
        unreadable,
        decisive: not_decisive_because.is_none(),
        not_decisive_because,
        sources: sources.join(" and "),
    }
}

fn first(problems: &[Problem]) -> String {
    let more = Problem::count(problems.iter().skip(1));
    let first = problems.first().map_or("cannot be read".into(), ToString::to_string);
    if more == 0 { first } else { format!("{first} (and {more} more problems)") }
}

/// Runs that were made for the test count before those that only fit it: where a subject
/// is bound, only bound subjects count, and of several runs that claim one place as a
/// control only the bound ones. The others are set aside.
fn prefer_bound(voters: &mut [Voter]) {
    let counted = |e: &&Voter| e.counts() && e.binding.is_bound();
    let subjects = voters.iter().filter(counted).any(|e| e.role == Role::Subject);
    let places: BTreeSet<String> = voters
        .iter()
        .filter(counted)
        .filter(|e| e.role == Role::Control)
        .map(Voter::place)
        .collect();
    let outdone = |e: &Voter| match e.role {
        Role::Subject => subjects,
        Role::Control => places.contains(&e.place()),
        Role::None => false,
    };
    for run in voters.iter_mut().filter(|e| e.counts() && !e.binding.is_bound()) {
        if outdone(run) {
            run.set_aside = Some(format!("{}, and bound runs are there", run.binding.words()));
        }
    }
    if voters.iter().any(|e| e.counts() && e.role == Role::Subject && e.decides()) {
        for run in voters.iter_mut().filter(|e| e.counts() && !e.decides()) {
            run.set_aside = Some(match run.binding {
                RunBinding::Bound(_) => "simulated, and runs of an engine are there".into(),
                _ => format!("{}, and bound runs are there", run.binding.words()),
            });
        }
    }
}

/// Why a verdict over these runs does not decide, if it does not.
fn not_decisive(context: &Context<'_>, counted: &[&Voter]) -> Option<String> {
    let status = context.file.registration.status;
    if counted.is_empty() {
        return Some("no run counts".into());
    }
    if context.is_what_if {
        return Some("it is asked what if".into());
    }
    if status != Status::Filled {
        return Some(format!("the registration is {}", status.word()));
    }
    let of = |is: &dyn Fn(&Voter) -> bool| counted.iter().filter(|e| is(e)).count();
    let unbound = of(&|e| !matches!(e.binding, RunBinding::Bound(_)));
    let simulated = of(&|e| e.meta.source == Source::Simulator);
    let all = counted.len();
    match (unbound, simulated) {
        _ if counted.iter().all(|e| e.decides()) => None,
        (0, simulated) => {
            Some(format!("{simulated} of {all} runs are simulated, and only an engine's decide"))
        }
        (unbound, _) => Some(format!("{unbound} of {all} runs are not bound to it")),
    }
}
