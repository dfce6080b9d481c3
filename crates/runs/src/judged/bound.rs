//! The state that a run which is under way is bound to have by the rule that will judge it.

use std::borrow::Cow;

use crate::configs::Configs;
use crate::measure::{measure, still_open};
use crate::rule::paired::PairedTest;
use crate::rule::registration::RegistrationFile;
use crate::rule::state::{Load, State, judge, reach};
use crate::run::{Meta, Run};
use crate::setup::{Protocol, Span, Workload};

use super::binding::{judge_of, load_of};

/// The rule that will judge a run, and what bounds it.
#[derive(Debug, Clone)]
pub struct BoundBy<'a> {
    file: Cow<'a, RegistrationFile>,
    load: Load,
    protocol: &'a Protocol,
    workload: &'a Workload,
}

impl<'a> BoundBy<'a> {
    /// Of a run, by what is known before it.
    ///
    /// # Errors
    /// No state decides it: a sentence.
    pub fn of(meta: &Meta, configs: &'a Configs) -> Result<Self, String> {
        let file = judge_of(meta, configs, None).map_err(|binding| binding.words())?;
        let registration = &file.registration;
        let load = load_of(meta, &file).filter(|_| meta.arm.is_open());
        let load = load.ok_or("only a run of an open arm has a state")?;
        if PairedTest::of(&registration.test).is_none() {
            let words = registration.test.words();
            return Err(format!("{}, a {words}, looks at the whole run", registration.name));
        }
        // Tests of other tests' runs, and those with controls among them, take bound runs alone.
        let reads = |other: &&RegistrationFile| {
            let other = &other.registration;
            meta.registration.is_some()
                && (other.controls_of.contains(&registration.name)
                    || other.test.of_other_tests() && other.is_about(&meta.cell))
        };
        if let Some(other) = configs.registrations.values().find(reads) {
            let name = &other.registration.name;
            return Err(format!("{name} looks at the whole of the runs of {}", registration.name));
        }
        let cell = configs.cell_called(&meta.cell).ok_or("its cell is not configured")?;
        let workload = configs.workloads.get(&cell.workload);
        let workload = workload.ok_or("nothing bounds the prompts of recorded sessions")?;
        let protocol = configs.protocols.get(&cell.protocol).ok_or("it has no protocol")?;
        Ok(Self { file, load, protocol, workload })
    }

    /// The window that its state is asked over.
    pub fn window(&self) -> Span {
        self.protocol.paired.window_s
    }

    /// The state that the run will have whatever comes, if there is but one.
    pub fn state(&self, run: &Run) -> Option<State> {
        let rule = &self.file.registration.rule;
        let state = if run.meta.duration_s < self.window().end_s {
            let reach = still_open(run, self.protocol, self.workload)?;
            reach::decided(&reach, self.load, rule)?.state
        } else {
            judge(&measure(run, self.protocol), self.load, rule).state
        };
        (state != State::Unmeasurable).then_some(state)
    }
}
