//! What a client does with its plan: sends turns, sleeps tool times, holds
//! sessions at a gate (paper: App. E.2, E.3, E.6, E.7, sec 5).
//!
//! A state machine without a clock and without input or output: it is told what
//! happened and when, and answers with what to do. The simulator and a load
//! generator run the same code; only they know whether time is real. Timers are
//! theirs too: the client asks for one with [`Action::At`] and is handed the
//! same [`Timer`] back when it is due.
//!
//! Left out: token contents, retries and abandonment (the paper's client has
//! neither).

pub mod arm;
mod behaviour;
mod error;
pub mod gate;
mod message;
mod order;
mod recorded;
pub mod records;
mod session;
mod subagents;
pub mod timers;

use std::collections::{BTreeSet, VecDeque};

use crate::plan::Plan;
use crate::setup::{TraceTurn, Workload};
pub use behaviour::{Behaviour, Slow};
pub use error::ClientError;
use gate::Gate;
pub use message::{Action, Answer, Outcome, Request, Timer};
use order::{arrival_order, closed_order, recorded_names};
use records::{Turn, TurnStatus};
use session::{Session, State};
use subagents::Subagents;

/// The client of one run.
#[derive(Debug, Clone)]
pub struct Client<'a> {
    plan: &'a Plan,
    workload: &'a Workload,
    behaviour: Behaviour,
    gate: Gate,
    /// Plan positions in order of arrival.
    order: Vec<usize>,
    /// How many of `order` have been scheduled.
    scheduled: usize,
    /// Names of the recorded sessions that are being played.
    playing: BTreeSet<&'a str>,
    subagents: Subagents,
    sessions: Vec<Session>,
    turns: Vec<Turn>,
}

impl<'a> Client<'a> {
    /// A client that has not started.
    ///
    /// # Errors
    /// [`ClientError`] when the behaviour does not fit the plan.
    pub fn new(
        plan: &'a Plan,
        workload: &'a Workload,
        behaviour: Behaviour,
    ) -> Result<Self, ClientError> {
        if behaviour.gate.cap() == Some(0) {
            return Err(ClientError::CapOfZero);
        }
        let order = match behaviour.population {
            Some(population) => closed_order(plan, population)?,
            None => arrival_order(plan)?,
        };
        Ok(Self {
            plan,
            workload,
            gate: Gate::new(behaviour.gate),
            behaviour,
            order,
            scheduled: 0,
            playing: BTreeSet::new(),
            subagents: Subagents::of(plan),
            sessions: vec![Session::NEW; plan.sessions.len()],
            turns: Vec::with_capacity(16 * plan.sessions.len().min(4096)),
        })
    }

    /// Starts the run at time 0.
    pub fn start(&mut self, actions: &mut Vec<Action>) {
        if let Some(timer) = self.gate.start() {
            actions.push(timer);
        }
        // Checked in `new`: a closed plan holds at least the population.
        let population = self.behaviour.population.unwrap_or(1);
        for lane in 0..population {
            let t_s = self.behaviour.ramp_s * f64::from(lane) / f64::from(population);
            self.schedule_next(t_s, actions);
        }
    }

    /// A timer is due. `now_s` is its time, or later if the driver woke up late.
    ///
    /// # Errors
    /// [`ClientError::Unexpected`]: the driver made up a timer;
    /// [`ClientError::PlayedTwice`]: an arrival would play what is being played.
    pub fn due(
        &mut self,
        now_s: f64,
        timer: Timer,
        actions: &mut Vec<Action>,
    ) -> Result<(), ClientError> {
        match timer {
            Timer::Arrival { who } => self.arrival(now_s, who, actions),
            Timer::Subagent { who } => self.subagent_starts(now_s, who, actions),
            Timer::ToolEnd { who } => self.tool_end(now_s, who, actions),
            Timer::Engage => {
                actions.push(self.gate.engage(now_s));
                Ok(())
            }
            Timer::Tick { number } => {
                actions.extend(self.gate.tick(now_s, number));
                Ok(())
            }
        }
    }

    /// A request ended at `now_s`.
    ///
    /// # Errors
    /// [`ClientError::Unexpected`]: the session had no request in flight;
    /// [`ClientError::PlanExhausted`]: no session is left to replace one.
    pub fn ended(
        &mut self,
        now_s: f64,
        who: usize,
        outcome: Outcome,
        actions: &mut Vec<Action>,
    ) -> Result<(), ClientError> {
        self.expect(now_s, who, State::InFlight, "an answer")?;
        match outcome {
            Outcome::Failed(error) => {
                let record = self.turn_record(who, TurnStatus::Error(error.into()));
                self.turns.push(Turn { t_end_s: Some(now_s), ..record });
                self.leave(now_s, who, State::Failed, actions)
            }
            Outcome::Answered(answer) => self.answered(now_s, who, answer, actions),
        }
    }

    /// Sessions and requests the client knows of, now.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    fn arrival(
        &mut self,
        now_s: f64,
        who: usize,
        actions: &mut Vec<Action>,
    ) -> Result<(), ClientError> {
        self.expect(now_s, who, State::Planned, "an arrival")?;
        if self.behaviour.population.is_none() {
            self.schedule_next(now_s, actions);
        }
        let refused = self.behaviour.refuse_s.is_some_and(|(from, to)| (from..to).contains(&now_s));
        if self.behaviour.population.is_none() && !refused {
            self.play(now_s, who)?;
        }
        let session = &mut self.sessions[who];
        session.t_planned_s = self.plan.sessions[who].t_arrival_s.unwrap_or(now_s);
        session.t_ready_s = now_s;
        if refused {
            session.state = State::Refused;
        } else if self.gate.arrive(now_s, who) {
            self.admit(now_s, who, actions);
        } else {
            session.state = State::Gated;
        }
        Ok(())
    }

    /// An open run's session begins to play its recorded one, if it has one.
    fn play(&mut self, t_s: f64, who: usize) -> Result<(), ClientError> {
        let plan = self.plan;
        let drawn = &plan.sessions[who];
        match &drawn.trace {
            Some(trace) if !self.playing.insert(trace.id.as_str()) => {
                Err(ClientError::PlayedTwice {
                    kind: drawn.kind,
                    session: drawn.session,
                    recorded: trace.id.clone(),
                    traces: recorded_names(plan).len(),
                    t_s,
                })
            }
            _ => Ok(()),
        }
    }

    fn tool_end(
        &mut self,
        now_s: f64,
        who: usize,
        actions: &mut Vec<Action>,
    ) -> Result<(), ClientError> {
        self.expect(now_s, who, State::InTool, "a tool call's end")?;
        self.sessions[who].t_ready_s = now_s;
        let is_subagent = self.plan.sessions[who].started_by.is_some();
        if !is_subagent && self.gate.pause(now_s, who) {
            self.sessions[who].state = State::Paused;
            self.sessions[who].pauses += 1;
        } else {
            self.send(now_s, who, actions);
        }
        Ok(())
    }

    fn answered(
        &mut self,
        now_s: f64,
        who: usize,
        answer: Answer,
        actions: &mut Vec<Action>,
    ) -> Result<(), ClientError> {
        let turn = self.sessions[who].turn as usize;
        let tool_s = self.plan.sessions[who].tool_s.get(turn - 1).map(|tool| {
            tool + match self.behaviour.slow {
                Some(slow) if (slow.from_s..slow.to_s).contains(&now_s) => slow.delay_s,
                _ => 0.0,
            }
        });
        let record = self.turn_record(who, TurnStatus::Ok);
        self.turns.push(Turn {
            t_first_s: answer.t_first_s,
            t_end_s: Some(now_s),
            cached_tokens: answer.cached_tokens,
            completion_tokens: Some(answer.completion_tokens),
            tool_s,
            ..record
        });
        self.sessions[who].turn += 1;
        self.start_subagents(now_s, who, turn as u32, actions);
        match tool_s {
            Some(tool_s) => {
                self.sessions[who].state = State::InTool;
                self.sessions[who].tool_s = tool_s;
                if !self.subagents.are_awaited(who, turn as u32 + 1) {
                    actions.push(Action::At { t_s: now_s + tool_s, timer: Timer::ToolEnd { who } });
                }
                Ok(())
            }
            None => self.leave(now_s, who, State::Completed, actions),
        }
    }

    /// A session ends: its slot is freed, and a closed run replaces it at once. A subagent has no
    /// slot: the turn that waits for it may follow.
    fn leave(
        &mut self,
        now_s: f64,
        who: usize,
        state: State,
        actions: &mut Vec<Action>,
    ) -> Result<(), ClientError> {
        self.sessions[who].state = state;
        self.sessions[who].t_end_s = Some(now_s);
        if let Some(by) = self.plan.sessions[who].started_by {
            self.subagent_ended(now_s, by, actions);
            return Ok(());
        }
        if let Some(trace) = &self.plan.sessions[who].trace {
            self.playing.remove(trace.id.as_str());
        }
        self.gate.leave();
        self.fill_slots(now_s, actions);
        if self.behaviour.population.is_some() && !self.schedule_next(now_s, actions) {
            return Err(ClientError::PlanExhausted { sessions: self.order.len(), t_s: now_s });
        }
        Ok(())
    }

    /// Free slots go to the resume queue first, then to waiting arrivals.
    fn fill_slots(&mut self, now_s: f64, actions: &mut Vec<Action>) {
        while let Some(who) = self.gate.next(now_s) {
            let session = &mut self.sessions[who];
            if session.state == State::Paused {
                session.pause_s += now_s - session.t_ready_s;
                self.send(now_s, who, actions);
            } else {
                self.admit(now_s, who, actions);
            }
        }
    }

    fn admit(&mut self, now_s: f64, who: usize, actions: &mut Vec<Action>) {
        self.sessions[who].t_admitted_s = Some(now_s);
        self.send(now_s, who, actions);
    }

    fn send(&mut self, now_s: f64, who: usize, actions: &mut Vec<Action>) {
        let TraceTurn { prompt_tokens, output_tokens, reusable_tokens, .. } = self.turn(who);
        let session = &mut self.sessions[who];
        session.state = State::InFlight;
        session.t_submit_s = now_s;
        actions.push(Action::Send(Request {
            who,
            turn: session.turn,
            prompt_tokens,
            decode_tokens: output_tokens,
            reusable_tokens,
        }));
    }

    /// What the turn under way, or the next one, sends and asks for.
    fn turn(&self, who: usize) -> TraceTurn {
        self.plan.sessions[who].turn(self.sessions[who].turn, self.workload)
    }

    /// Asks for the next arrival's timer; false when no session is left.
    /// Arrivals are chained, so that a driver holds one arrival timer at a time.
    fn schedule_next(&mut self, now_s: f64, actions: &mut Vec<Action>) -> bool {
        let Some(who) = self.next_in_order() else { return false };
        self.scheduled += 1;
        let t_s = self.plan.sessions[who].t_arrival_s.unwrap_or(now_s);
        actions.push(Action::At { t_s, timer: Timer::Arrival { who } });
        true
    }

    /// The next session of the order. A closed run passes over those whose recorded session is
    /// being played already.
    fn next_in_order(&mut self) -> Option<usize> {
        let left = self.order.get_mut(self.scheduled..)?;
        let trace = |who: usize| self.plan.sessions[who].trace.as_ref().map(|t| t.id.as_str());
        let closed = self.behaviour.population.is_some();
        let free = |who: &usize| !closed || trace(*who).is_none_or(|id| !self.playing.contains(id));
        let next = left.iter().position(free)?;
        left[..=next].rotate_right(1);
        let who = left[0];
        if closed {
            self.playing.extend(trace(who));
        }
        Some(who)
    }

    fn expect(
        &self,
        t_s: f64,
        who: usize,
        state: State,
        what: &'static str,
    ) -> Result<(), ClientError> {
        match self.sessions.get(who) {
            Some(session) if session.state == state => Ok(()),
            _ => Err(ClientError::Unexpected { what, who, t_s }),
        }
    }

    fn turn_record(&self, who: usize, status: TurnStatus) -> Turn {
        let prompt_tokens = self.turn(who).prompt_tokens;
        self.sessions[who].turn_record(who, prompt_tokens, status)
    }
}

/// A FIFO queue of plan positions.
type Queue = VecDeque<usize>;

#[cfg(test)]
mod tests;
