//! What one run brings to a test: who it is, whether it may vote, what was measured.

use std::ops::Deref;
use std::sync::Arc;

use crate::judged::binding::{Binding, bind};
use crate::judged::score::load_of;
use crate::judged::statistics::RunStatistics;
use crate::judged::statistics::extra::Extra;
use crate::rule::state::{Load, RunState, judge};
use crate::run::{Meta, RunStatus};

use super::Context;
use super::decide::role;

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
    /// The words of the output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Subject => "subject",
            Self::Control => "control",
            Self::None => "",
        }
    }
}

/// One run, as a test sees it; its statistics are at hand by dereferencing.
#[derive(Debug, Clone)]
pub struct Evidence {
    pub statistics: Arc<RunStatistics>,
    pub binding: Binding,
    pub role: Role,
    /// Why it does not count, if it does not.
    pub set_aside: Option<String>,
    pub load: Option<Load>,
    /// Its state under the paired test's rule.
    pub state: Option<RunState>,
    /// What the test asks for beyond the window.
    pub extra: Extra,
}

impl Deref for Evidence {
    type Target = RunStatistics;

    fn deref(&self) -> &RunStatistics {
        &self.statistics
    }
}

impl Evidence {
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

    pub fn multiple(&self) -> f64 {
        self.meta.rate.multiple.unwrap_or(f64::NAN)
    }

    /// The place it claims: arm, rate and seed.
    pub fn place(&self) -> String {
        format!("{} rate {:.2} seed {}", self.meta.arm, self.multiple(), self.meta.seed)
    }
}

/// What a measured run is to the registration's test.
pub fn gather(statistics: Arc<RunStatistics>, context: &Context<'_>) -> Evidence {
    let registration = &context.file.registration;
    let run = &*statistics;
    // A control may be of another cell than the test's, with a protocol of its own.
    let protocol =
        context.configs.of_cell(&run.meta.cell).map_or(context.protocol, |(_, _, own)| own);
    let load = load_of(&run.meta, context.file);
    let binding = bind(&run.meta, context.file, context.configs);
    let role = role(&registration.test, &run.meta, &run.treatment, registration, protocol);
    Evidence {
        state: load.map(|load| judge(&run.measures, load, &registration.rule)),
        set_aside: unusable(&run.meta, role, &binding, context),
        extra: run.extras.get(&context.file.sha256).cloned().unwrap_or(Extra::None),
        binding,
        role,
        load,
        statistics,
    }
}

/// Why a run that has a role does not count.
fn unusable(meta: &Meta, role: Role, binding: &Binding, context: &Context<'_>) -> Option<String> {
    if role == Role::None {
        return None;
    }
    let registration = &context.file.registration;
    let controls_elsewhere = matches!(binding, Binding::Bound(name) if *name != registration.name)
        && role == Role::Subject;
    let belongs = !matches!(binding, Binding::Elsewhere(_)) && !controls_elsewhere;
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
