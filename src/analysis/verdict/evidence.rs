//! What one run brings to a test: who it is, whether it may vote, what was measured.

use std::ops::Deref;
use std::sync::Arc;

use crate::analysis::score::Binding;
use crate::analysis::statistics::RunStatistics;
use crate::analysis::statistics::extra::Extra;
use crate::rule::state::{Load, RunState, judge};
use crate::run::{Meta, RunStatus};
use crate::setup::registration::Status;

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
    let load = run.meta.rate.lambda.map(|lambda_per_s| Load {
        lambda_per_s,
        lambda_ref_per_s: registration.lambda_ref_per_s,
        all_miss_tokens_per_s: registration.all_miss_tokens_per_s.unwrap_or(f64::NAN),
    });
    let binding = bind(&run.meta, context);
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

/// How a run stands to the registration. A control may be bound to one that the
/// registration names.
fn bind(meta: &Meta, context: &Context<'_>) -> Binding {
    let registration = &context.file.registration;
    let Some(bound) = &meta.registration else {
        return Binding::Unbound(registration.name.clone());
    };
    if bound.sha256 == context.file.sha256 {
        return match registration.status {
            Status::Filled => Binding::Bound(registration.name.clone()),
            status => Binding::NotDecisive(registration.name.clone(), status),
        };
    }
    if context.file.restates(&bound.sha256) {
        return Binding::Restated(registration.name.clone());
    }
    match context.configs.bound_by(&bound.sha256).map(|file| &file.registration) {
        Some(parent) if registration.controls_of.contains(&parent.name) => match parent.status {
            Status::Filled => Binding::Bound(parent.name.clone()),
            status => Binding::NotDecisive(parent.name.clone(), status),
        },
        _ => {
            let restated = context.configs.registrations.values().find(|file| {
                file.restates(&bound.sha256)
                    && registration.controls_of.contains(&file.registration.name)
            });
            restated.map_or_else(
                || Binding::Elsewhere(bound.sha256.clone()),
                |file| Binding::Restated(file.registration.name.clone()),
            )
        }
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
    if !belongs && !registration.test.of_other_tests() {
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
