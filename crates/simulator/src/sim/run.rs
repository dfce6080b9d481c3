//! One run: the client's timers, the engine's iterations and the samples of its
//! gauges, in order of time.

use crate::client::records::ClientRun;
use crate::client::timers::Timers;
use crate::client::{Action, Answer, Behaviour, Client, Outcome};
use crate::plan::Plan;
use crate::run::EngineSample;
use crate::setup::Workload;

use super::check::Checker;
use super::engine::{Completion, Engine, EngineSpec};
use super::{SimError, Stepping};

/// Everything a run needs.
#[derive(Debug)]
pub(crate) struct RunInputs<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) workload: &'a Workload,
    pub(crate) behaviour: Behaviour,
    pub(crate) engine: EngineSpec,
    pub(crate) horizon_s: f64,
    /// Time between two engine samples.
    pub(crate) sample_s: f64,
    pub(crate) gauges_of_last_pass: bool,
    pub(crate) stepping: Stepping,
    pub(crate) check: bool,
}

/// Runs until the horizon. What completes in the iteration that crosses it is
/// not seen.
pub(crate) fn drive(inputs: &RunInputs<'_>) -> Result<(ClientRun, Vec<EngineSample>), SimError> {
    let mut run = Simulation::new(inputs)?;
    let mut completions = Vec::new();
    let mut now_s = 0.0;
    loop {
        run.advance(now_s)?;
        let next_s = run.timers.next_s();
        let Some(t_end_s) = run.engine.begin(now_s, next_s, inputs.stepping) else {
            match next_s {
                Some(t_s) if t_s <= inputs.horizon_s => now_s = t_s,
                _ => break,
            }
            continue;
        };
        run.check(now_s)?;
        let waiting = run.engine.waiting();
        if t_end_s > inputs.horizon_s {
            break;
        }
        // Client time runs on while the engine computes; requests sent meanwhile
        // wait for the iteration's end.
        run.advance(t_end_s)?;
        run.engine.commit(&mut completions);
        run.last_pass = (run.engine.running(), waiting);
        for completion in completions.drain(..) {
            run.completed(t_end_s, completion)?;
        }
        now_s = t_end_s;
    }
    run.advance(inputs.horizon_s)?;
    Ok((run.client.finish(inputs.horizon_s), run.samples))
}

struct Simulation<'a> {
    inputs: &'a RunInputs<'a>,
    client: Client<'a>,
    engine: Engine,
    timers: Timers,
    actions: Vec<Action>,
    samples: Vec<EngineSample>,
    /// Requests that ran and waited at the end of the last iteration.
    last_pass: (usize, usize),
    checker: Option<Checker>,
}

impl<'a> Simulation<'a> {
    fn new(inputs: &'a RunInputs<'a>) -> Result<Self, SimError> {
        let mut run = Self {
            inputs,
            client: Client::new(inputs.plan, inputs.workload, inputs.behaviour.clone())?,
            engine: Engine::new(inputs.engine, inputs.plan.sessions.len()),
            timers: Timers::default(),
            actions: Vec::new(),
            samples: Vec::with_capacity((inputs.horizon_s / inputs.sample_s) as usize + 1),
            last_pass: (0, 0),
            checker: inputs.check.then(Checker::default),
        };
        run.client.start(&mut run.actions);
        run.act();
        Ok(run)
    }

    /// Hands the client every timer up to `t_s` and takes the samples between.
    fn advance(&mut self, t_s: f64) -> Result<(), SimError> {
        loop {
            let sample_s = self.inputs.sample_s * self.samples.len() as f64;
            let until_s = if sample_s < t_s { sample_s } else { t_s };
            while let Some((due_s, timer)) = self.timers.pop_due(until_s) {
                self.client.due(due_s, timer, &mut self.actions)?;
                self.act();
            }
            if sample_s > t_s {
                return Ok(());
            }
            let (running, waiting) = match self.inputs.gauges_of_last_pass {
                true => self.last_pass,
                false => (self.engine.running(), self.engine.waiting()),
            };
            let (running, waiting) = (Some(running as u64), Some(waiting as u64));
            let now = sample(&self.engine, sample_s);
            self.samples.push(EngineSample { running, waiting, ..now });
        }
    }

    fn completed(&mut self, t_s: f64, completion: Completion) -> Result<(), SimError> {
        let answer = Answer {
            t_first_s: Some(completion.t_first_s),
            cached_tokens: Some(completion.cached_tokens),
            completion_tokens: completion.request.decode_tokens,
        };
        let who = completion.request.who;
        self.client.ended(t_s, who, Outcome::Answered(answer), &mut self.actions)?;
        self.act();
        Ok(())
    }

    fn act(&mut self) {
        for action in self.actions.drain(..) {
            match action {
                Action::At { t_s, timer } => self.timers.insert(t_s, timer),
                Action::Send(request) => {
                    let last = self.inputs.plan.sessions[request.who].turns() == request.turn;
                    self.engine.submit(request, last);
                }
            }
        }
    }

    fn check(&mut self, t_s: f64) -> Result<(), SimError> {
        match &mut self.checker {
            None => Ok(()),
            Some(checker) => checker
                .check(&self.engine)
                .map_err(|violation| SimError::Invariant { t_s, violation }),
        }
    }
}

fn sample(engine: &Engine, t_s: f64) -> EngineSample {
    let counters = engine.counters();
    EngineSample {
        t_s,
        running: Some(engine.running() as u64),
        waiting: Some(engine.waiting() as u64),
        kv_used_tokens: Some(engine.pool().reserved()),
        kv_evictable_tokens: Some(engine.pool().idle()),
        kv_total_tokens: Some(engine.pool().capacity()),
        prompt_tokens_total: Some(counters.prompt_tokens),
        cached_tokens_total: Some(counters.cached_tokens),
        generation_tokens_total: Some(counters.generation_tokens),
        // Output is reserved at admission, so nothing is preempted.
        preemptions_total: Some(0),
    }
}
