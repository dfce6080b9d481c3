//! When a run is decided before its time.

use std::ops::ControlFlow;

use anyhow::anyhow;
use trapcheck_drive::progress::Now;

use trapcheck::judged::BoundBy;
use trapcheck::run::{Engine, Source};
use trapcheck::setup::Configs;
use trapcheck::sim::directory::meta::opening;

use super::chosen::Chosen;

/// How often a window is looked at, at most; a long one costs more to look at.
const LOOKS: f64 = 200.0;

/// Ends a run whose state nothing can change any more.
pub struct Decider<'a> {
    bound: BoundBy<'a>,
    next_s: f64,
}

impl<'a> Decider<'a> {
    /// Of a run that is to be made.
    ///
    /// # Errors
    /// No rule decides it by its state alone.
    pub fn of(run: &Chosen<'_>, configs: &'a Configs) -> anyhow::Result<Self> {
        let engine = &run.spec.cell.engine;
        let engine = Engine { name: engine.name.clone(), version: engine.version.clone() };
        let meta = opening(&run.spec, &run.label, Source::Engine, engine);
        let run_id = &run.label.run_id;
        let bound = BoundBy::of(&meta, configs)
            .map_err(|why| anyhow!("--stop-when-decided: {run_id}: {why}"))?;
        Ok(Self { next_s: bound.window().start_s, bound })
    }

    /// Looks at a run under way; the word that it breaks with is its state.
    pub fn look(&mut self, now: &Now<'_>) -> ControlFlow<String> {
        if now.t_s < self.next_s {
            return ControlFlow::Continue(());
        }
        self.next_s = now.t_s + self.bound.window().length_s() / LOOKS;
        match self.bound.state(&now.run()) {
            Some(state) => ControlFlow::Break(state.word().into()),
            None => ControlFlow::Continue(()),
        }
    }
}
