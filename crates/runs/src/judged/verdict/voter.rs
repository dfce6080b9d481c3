//! What one run is to a registration: how it stands to it, its role, whether it may vote.

use std::ops::Deref;
use std::sync::Arc;

use crate::judged::binding::load_of;
use crate::judged::binding::{RunBinding, bind};
use crate::judged::statistics::RunStatistics;
use crate::rule::registered::{self, Candidate, Evidence, Role};
use crate::rule::state::{Load, RunState, judge};
use crate::rule::test::TestMeasures;
use crate::run::{Meta, RunStatus};

use super::Context;

/// One run under a registration; its statistics are at hand by dereferencing.
#[derive(Debug, Clone)]
pub(crate) struct Voter {
    pub statistics: Arc<RunStatistics>,
    pub binding: RunBinding,
    pub role: Role,
    /// Why it does not count, if it does not.
    pub set_aside: Option<String>,
    load: Option<Load>,
    /// Its state under the paired test's rule.
    state: Option<RunState>,
}

impl Deref for Voter {
    type Target = RunStatistics;

    fn deref(&self) -> &RunStatistics {
        &self.statistics
    }
}

impl Voter {
    /// What a measured run is to the registration's test.
    pub fn of(statistics: Arc<RunStatistics>, context: &Context<'_>) -> Self {
        let registration = &context.file.registration;
        let run = &*statistics;
        // A control may be of another cell than the test's, with a protocol of its own.
        let own = context.configs.of_cell(&run.meta.cell).map(|(_, _, own)| own);
        let protocol = own.unwrap_or(context.case.protocol);
        let load = load_of(&run.meta, context.file);
        let binding = bind(&run.meta, context.file, context.configs);
        let (meta, treatment) = (&run.meta, &run.treatment);
        let role = registration.role(&Candidate { meta, treatment, protocol });
        Self {
            state: load.map(|load| judge(&run.measures, load, &registration.rule)),
            set_aside: unusable(&run.meta, role, &binding, context),
            binding,
            role,
            load,
            statistics,
        }
    }

    /// What it brings to the test of the registration with this hash.
    pub fn evidence(&self, sha256: &str) -> Evidence<'_> {
        Evidence {
            name: self.name(),
            meta: &self.meta,
            measures: &self.measures,
            treatment: &self.treatment,
            plan: &self.plan,
            burst_start_s: self.burst_start_s,
            role: self.role,
            counts: self.counts(),
            load: self.load,
            state: self.state.as_ref(),
            for_test: self.for_tests.get(sha256).map(TestMeasures::found),
        }
    }

    /// Whether a verdict over it decides.
    pub fn decides(&self) -> bool {
        self.binding.decides(&self.meta)
    }

    /// Whether it has a vote or is compared with.
    pub fn counts(&self) -> bool {
        self.role != Role::None && self.set_aside.is_none()
    }

    pub fn name(&self) -> String {
        self.dir.display().to_string()
    }

    /// The place it claims.
    pub fn place(&self) -> String {
        registered::place(&self.meta)
    }
}

/// Why a run that has a role does not count.
fn unusable(
    meta: &Meta,
    role: Role,
    binding: &RunBinding,
    context: &Context<'_>,
) -> Option<String> {
    if role == Role::None {
        return None;
    }
    let registration = &context.file.registration;
    let controls_elsewhere = matches!(binding, RunBinding::Bound(name) if *name != registration.name)
        && role == Role::Subject;
    let belongs = !matches!(binding, RunBinding::Elsewhere(_)) && !controls_elsewhere;
    if !belongs && !registration.test.of_other_tests() && !context.is_what_if {
        return Some(binding.words());
    }
    if meta.status == RunStatus::Failed {
        return Some("the run failed".into());
    }
    let rated = |m: f64| registration.rates.iter().any(|r| (r - m).abs() < 1e-6);
    if !registration.rates.is_empty() && !meta.rate.multiple.is_some_and(rated) {
        return Some("its rate is not registered".into());
    }
    if !registration.seeds.is_empty() && !registration.seeds.contains(&meta.seed) {
        return Some(format!("seed {} is not registered", meta.seed));
    }
    None
}
