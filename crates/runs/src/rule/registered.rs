//! What every registered test is asked: which runs it is about, what it measures on them beyond
//! their window, how it judges them, and which tables show it.

use std::any::Any;

use crate::measure::RunMeasures;
use crate::measure::plan_identity::PlanIdentity;
use crate::measure::rescue::ControlAfter;
use crate::measure::treatment::Treatment;
use crate::run::{Meta, Run};
use crate::setup::{Arm, Cell, Protocol, Workload};

use super::clause::Clause;
use super::outcome::{Labelled, Outcome, PairedVerdict};
use super::state::{Load, RunState};
use super::thresholds::PairedThresholds;
use super::vote::one_per_place;

/// A kind of registered test with its parameters. Each is one file of [`super`], named after
/// its kind; [`super::test`] lists them.
pub trait RegisteredTest {
    /// The kind, as it is printed.
    fn words(&self) -> &'static str;

    /// What it asks of its runs, in sentences that carry its parameters, and of the registration's
    /// thresholds those that it uses.
    fn in_words(&self, thresholds: &PairedThresholds) -> String;

    /// Whether it looks at runs that were made for other tests: those may be bound to
    /// another registration, and are then judged without deciding anything.
    fn of_other_tests(&self) -> bool {
        false
    }

    /// Whether it needs a cap: only then must a FILLED registration state one.
    fn needs_cap(&self) -> bool {
        false
    }

    /// Whether it needs the measured all-miss rate, likewise.
    fn needs_all_miss_rate(&self) -> bool {
        false
    }

    /// Its parameters that are steps of time, by name, s: none may be too short.
    fn steps(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    /// What a run of one of the registration's cells is to it.
    fn role(&self, run: &Candidate<'_>) -> Role;

    /// Whether a run, of whatever cell, is one that it compares with.
    fn compares_with(&self, _run: &Candidate<'_>) -> bool {
        false
    }

    /// The label of each run, and the outcome. Asked by the kind, so that who asks one kind alone
    /// needs the code of no other.
    fn judge(&self, case: &Case<'_>, evidence: &[Evidence<'_>]) -> Judged
    where
        Self: Sized;

    /// The derived tables that are made from its verdicts, beside those of every test.
    fn tables(&self) -> &'static [&'static str] {
        &[]
    }
}

/// A test that measures something of its own.
pub(crate) trait MeasuringTest: RegisteredTest {
    /// What it measures on a run.
    type Measures: 'static;

    /// Measures a run that has a role.
    fn measure(&self, run: &Measurable<'_>) -> Option<Self::Measures>;

    /// What it measured on a run that it is to judge.
    fn found<'a>(run: &Evidence<'a>) -> Option<&'a Self::Measures> {
        run.for_test?.downcast_ref()
    }
}

/// What a run is to a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The test is about it.
    Subject,
    /// The test compares with it.
    Control,
    /// Neither.
    None,
}

impl Role {
    /// A subject, or nothing.
    pub const fn subject(is: bool) -> Self {
        if is { Self::Subject } else { Self::None }
    }

    /// The words of the output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Subject => "subject",
            Self::Control => "control",
            Self::None => "",
        }
    }
}

/// A run that a test may be about.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    /// Who it is.
    pub meta: &'a Meta,
    /// What was done to it.
    pub treatment: &'a Treatment,
    /// Its cell's protocol.
    pub protocol: &'a Protocol,
}

impl Candidate<'_> {
    /// Its arm.
    pub fn arm(&self) -> &Arm {
        &self.meta.arm
    }

    pub(crate) fn is_from_empty(&self) -> bool {
        *self.arm() == Arm::E0b
    }

    /// Whether it is of an arm with arrivals of its own, that meets a running engine.
    pub fn is_open(&self) -> bool {
        self.meta.rate.multiple.is_some() && self.arm().is_open()
    }

    /// Whether its burst is the protocol's whole one.
    pub(crate) fn has_full_burst(&self) -> bool {
        self.treatment.burst_sessions == self.protocol.paired.burst.sessions
    }

    /// What it is to a test of BURST against NOBURST.
    pub(crate) fn burst_or_control(&self) -> Role {
        match self.arm() {
            Arm::Burst if self.has_full_burst() => Role::Subject,
            Arm::NoBurst => Role::Control,
            _ => Role::None,
        }
    }
}

/// A run that has a role, to be measured.
#[derive(Debug, Clone, Copy)]
pub struct Measurable<'a> {
    /// Its rows.
    pub run: &'a Run,
    /// What was measured over its windows.
    pub measures: &'a RunMeasures,
    /// What was done to it.
    pub treatment: &'a Treatment,
    /// Its cell's protocol.
    pub protocol: &'a Protocol,
    /// The registration it is measured for.
    pub registration: Terms<'a>,
    /// What it is to the test.
    pub role: Role,
}

impl Measurable<'_> {
    /// Whether it lasted until then, s.
    pub fn reached(&self, end_s: f64) -> bool {
        self.run.meta.duration_s >= end_s - 1e-6
    }
}

/// What a registration says to a test of whatever kind.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'a> {
    /// lambda_ref, sessions/s.
    pub lambda_ref_per_s: f64,
    /// The cell's measured all-miss prefill rate, uncached tokens/s.
    pub all_miss_tokens_per_s: Option<f64>,
    /// The rates under test, multiples of lambda_ref.
    pub rates: &'a [f64],
    /// The GPU its runs must have used, where that is part of the rule.
    pub hardware: Option<&'a str>,
    /// The thresholds that every kind of test shares.
    pub rule: PairedThresholds,
}

/// What a registration is judged with.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// The registration.
    pub registration: Terms<'a>,
    /// Its cell.
    pub cell: &'a Cell,
    /// The cell's workload.
    pub workload: &'a Workload,
    /// The cell's protocol.
    pub protocol: &'a Protocol,
}

/// What one run brings to a test.
#[derive(Debug, Clone)]
pub struct Evidence<'a> {
    /// Its directory, for messages.
    pub name: String,
    /// Who it is.
    pub meta: &'a Meta,
    /// What was measured over its windows.
    pub measures: &'a RunMeasures,
    /// What was done to it.
    pub treatment: &'a Treatment,
    /// Which plan it followed.
    pub plan: &'a PlanIdentity,
    /// When its protocol's burst starts, s.
    pub burst_start_s: f64,
    /// What it is to the test.
    pub role: Role,
    /// Whether it has a vote or is compared with.
    pub counts: bool,
    /// What it is judged against; `None` without a rate of its own.
    pub load: Option<Load>,
    /// Its state under the paired test's rule.
    pub state: Option<&'a RunState>,
    /// What the test measured on it ([`MeasuringTest::found`]).
    pub for_test: Option<&'a dyn Any>,
}

impl Evidence<'_> {
    /// Its rate, a multiple of lambda_ref.
    pub fn multiple(&self) -> f64 {
        self.meta.rate.multiple.unwrap_or(f64::NAN)
    }

    /// The place it claims: arm, rate and seed.
    pub fn place(&self) -> String {
        place(self.meta)
    }

    /// Rate and seed, as a key.
    pub(crate) fn rate_and_seed(&self) -> (u64, u64) {
        ((self.multiple() * 1e6).round() as u64, self.meta.seed)
    }

    /// Whether it counts as a subject.
    pub fn is_subject(&self) -> bool {
        self.counts && self.role == Role::Subject
    }
}

/// The place that a run claims in a test: arm, rate and seed.
pub fn place(meta: &Meta) -> String {
    let multiple = meta.rate.multiple.unwrap_or(f64::NAN);
    format!("{} rate {multiple:.2} seed {}", meta.arm, meta.seed)
}

/// What a test says of its runs: a label and secondary checks for each, and its outcome.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The label of each run; `None` where it was not judged.
    pub labels: Vec<Option<Labelled>>,
    /// Checks of each run that are reported and do not decide.
    pub secondary: Vec<Vec<Clause>>,
    /// For a rescue run, its BURST and NOBURST controls after its release.
    pub controls_after: Vec<[Option<ControlAfter>; 2]>,
    /// For a goodput test, what each run lost after the burst and in the window.
    pub goodput_lost: Vec<[Option<f64>; 2]>,
    /// For the paired test, each rate.
    pub rates: Vec<PairedVerdict>,
    /// How the test came out.
    pub outcome: Outcome,
}

impl Judged {
    /// An outcome, and nothing said about so many runs.
    pub(crate) fn unlabelled(runs: usize, outcome: Outcome) -> Self {
        Self {
            labels: vec![None; runs],
            secondary: vec![Vec::new(); runs],
            controls_after: vec![[None; 2]; runs],
            goodput_lost: vec![[None; 2]; runs],
            rates: Vec::new(),
            outcome,
        }
    }

    /// The label of each run that counts, made by `of`; the outcome is to follow.
    pub fn labelled<'a, 'b>(
        evidence: &'a [Evidence<'b>],
        of: impl Fn(&'a Evidence<'b>) -> Option<Labelled>,
    ) -> Self {
        let labels = evidence.iter().map(|e| if e.counts { of(e) } else { None }).collect();
        Self { labels, ..Self::unlabelled(evidence.len(), Outcome::new("", "", Vec::new())) }
    }

    /// With its outcome, and what could not be used for it.
    #[must_use]
    pub fn with(mut self, outcome: Outcome, set_aside: Vec<String>) -> Self {
        self.outcome = outcome;
        self.outcome.set_aside.extend(set_aside);
        self
    }
}

/// The counted runs of a role that hold their place alone, and what was set aside.
pub fn placed<'a, 'b>(
    evidence: &'a [Evidence<'b>],
    role: Role,
    place: impl Fn(&Evidence<'b>) -> String,
) -> (Vec<(usize, &'a Evidence<'b>)>, Vec<String>) {
    let claims = evidence
        .iter()
        .enumerate()
        .filter(|(_, e)| e.counts && e.role == role)
        .map(|(i, e)| (place(e), e.name.clone(), i));
    let (placed, set_aside) = one_per_place(claims);
    let mut indices: Vec<usize> = placed.into_values().map(|(_, i)| i).collect();
    indices.sort_unstable();
    (indices.into_iter().map(|i| (i, &evidence[i])).collect(), set_aside)
}
