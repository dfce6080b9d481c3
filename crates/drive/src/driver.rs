//! The run itself: timers, requests and answers, on one thread.
//!
//! Nothing here waits for anything but time: requests are tasks of their own, and a stuck
//! engine, a slow disk or a busy endpoint of metrics delays no arrival. How late a request
//! was begun all the same is measured, request by request.

mod driven;
mod tasks;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use tokio::select;
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use crate::client::records::TurnStatus;
use crate::client::timers::Timers;
use crate::client::{Action, Answer, Behaviour, Client, ClientError, Outcome, Request};
use crate::engine::{Engine, Reply};
use crate::fault::Fault;
use crate::lag::Lags;
use crate::machine::{Looks, Machine};
use crate::plan::Plan;
use crate::progress::{Now, Progress, Recent};
use crate::prompts::Prompts;
use crate::record::Recorder;
use crate::run::Meta;
use crate::setup::Workload;
pub use driven::{Driven, Ended};
use tasks::{Event, Teller};

/// Time between two writings of the sessions, s.
const CHECKPOINT_S: f64 = 5.0;

/// Time between two looks at the machine, s.
const MACHINE_S: f64 = 60.0;

/// Time between two reports, s.
const REPORT_S: f64 = 1.0;

/// One run to drive.
#[derive(Debug, Clone)]
pub struct Load<'a> {
    /// Who arrives when.
    pub plan: &'a Plan,
    /// What sessions are like.
    pub workload: &'a Workload,
    /// What the client does beside following the plan.
    pub behaviour: Behaviour,
    /// How long, s.
    pub horizon_s: f64,
    /// Time between two samples of the engine's gauges, s.
    pub sample_s: f64,
    /// What is known of the run; its name makes its prompts no other's.
    pub meta: &'a Meta,
}

/// Drives a load to its horizon, or until `stop` is notified or `watch` says so. `watch` is
/// told how the run stands every second; the words that it breaks with are the reason.
///
/// # Errors
/// The client cannot follow the plan.
pub async fn drive(
    load: &Load<'_>,
    engine: Engine,
    recorder: &Recorder,
    stop: &Notify,
    mut watch: impl FnMut(&Now<'_>) -> ControlFlow<String>,
) -> Result<Driven, ClientError> {
    let (events, mut heard) = unbounded_channel();
    let mut driver = Driver::new(load, engine, recorder, events)?;
    let sampling = tokio::spawn(driver.teller().samples(load.sample_s));
    let ended = driver.follow(&mut heard, stop, &mut watch).await;
    sampling.abort();
    let ended = match ended {
        _ if recorder.has_failed() => Ended::NotWritten,
        Err(ClientError::PlanExhausted { .. } | ClientError::PlayedTwice { .. }) => Ended::UsedUp,
        ended => ended?,
    };
    Ok(driver.finish(ended))
}

struct Driver<'a> {
    load: &'a Load<'a>,
    client: Client<'a>,
    engine: Arc<Engine>,
    recorder: &'a Recorder,
    prompts: Prompts,
    timers: Timers,
    actions: Vec<Action>,
    events: UnboundedSender<Event>,
    /// Whatever is in flight when the driver goes is taken back: the engine is to have nothing of
    /// this run when the next one starts.
    requests: JoinSet<()>,
    start: Instant,
    /// The latest time that the client was told.
    told_s: f64,
    /// Per session, how late its present request was begun.
    late_s: Vec<Option<f64>>,
    lags: Lags,
    turns_seen: usize,
    gate_written: usize,
    in_flight: u64,
    errors: u64,
    waiting: Option<u64>,
    recent: Recent,
    machine: Vec<Machine>,
    looks: Looks,
}

impl<'a> Driver<'a> {
    fn new(
        load: &'a Load<'a>,
        engine: Engine,
        recorder: &'a Recorder,
        events: UnboundedSender<Event>,
    ) -> Result<Self, ClientError> {
        let mut client = Client::new(load.plan, load.workload, load.behaviour.clone())?;
        let mut actions = Vec::new();
        client.start(&mut actions);
        let mut driver = Self {
            load,
            client,
            prompts: Prompts::new(&load.meta.run_id, engine.tokens),
            engine: Arc::new(engine),
            recorder,
            timers: Timers::default(),
            actions,
            events,
            requests: JoinSet::new(),
            start: Instant::now(),
            told_s: 0.0,
            late_s: vec![None; load.plan.sessions.len()],
            lags: Lags::default(),
            turns_seen: 0,
            gate_written: 0,
            in_flight: 0,
            errors: 0,
            waiting: None,
            recent: Recent::default(),
            machine: Vec::new(),
            looks: Looks::default(),
        };
        driver.look_around(0.0);
        driver.act(0.0);
        Ok(driver)
    }

    fn now_s(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// Time as the client is told it: never backwards.
    fn tell_s(&mut self, t_s: f64) -> f64 {
        self.told_s = self.told_s.max(t_s).min(self.load.horizon_s);
        self.told_s
    }

    async fn follow(
        &mut self,
        heard: &mut UnboundedReceiver<Event>,
        stop: &Notify,
        watch: &mut impl FnMut(&Now<'_>) -> ControlFlow<String>,
    ) -> Result<Ended, ClientError> {
        let (mut report_s, mut checkpoint_s, mut machine_s) = (REPORT_S, CHECKPOINT_S, MACHINE_S);
        loop {
            let now_s = self.now_s();
            self.fire(now_s.min(self.load.horizon_s))?;
            if now_s >= self.load.horizon_s {
                // What came before the end and was not looked at yet.
                tokio::task::yield_now().await;
                while let Ok(event) = heard.try_recv() {
                    self.hear(event)?;
                }
                return Ok(Ended::Horizon);
            }
            if now_s >= report_s {
                report_s = now_s + REPORT_S;
                if self.recorder.has_failed() {
                    return Ok(Ended::NotWritten);
                }
                if let ControlFlow::Break(why) = watch(&self.now(now_s)) {
                    return Ok(Ended::Decided(why));
                }
            }
            if now_s >= checkpoint_s {
                checkpoint_s = now_s + CHECKPOINT_S;
                self.checkpoint(now_s);
            }
            if now_s >= machine_s {
                machine_s += MACHINE_S;
                self.look_around(now_s);
            }
            let due_s = self.timers.next_s().unwrap_or(f64::INFINITY);
            let next_s = due_s.min(self.load.horizon_s).min(report_s).min(checkpoint_s);
            let wake = self.start + Duration::from_secs_f64(next_s.max(0.0));
            select! {
                () = stop.notified() => return Ok(Ended::Stopped),
                event = heard.recv() => if let Some(event) = event { self.hear(event)?; },
                () = sleep_until(wake) => {}
            }
        }
    }

    /// Hands the client every timer that is due.
    fn fire(&mut self, now_s: f64) -> Result<(), ClientError> {
        while let Some((due_s, timer)) = self.timers.pop_due(now_s) {
            let told_s = self.tell_s(now_s);
            self.client.due(told_s, timer, &mut self.actions)?;
            self.act(due_s);
        }
        Ok(())
    }

    /// Does what the client asked for; a request was due at `due_s`.
    fn act(&mut self, due_s: f64) {
        let actions = std::mem::take(&mut self.actions);
        for action in &actions {
            match *action {
                Action::At { t_s, timer } => self.timers.insert(t_s, timer),
                Action::Send(request) => self.send(request, due_s),
            }
        }
        self.actions = actions;
        self.actions.clear();
    }

    fn send(&mut self, request: Request, due_s: f64) {
        let body = {
            let prompt = self.prompts.of(request);
            self.engine.body(prompt, request.decode_tokens)
        };
        self.late_s[request.who] = None;
        self.in_flight += 1;
        while self.requests.try_join_next().is_some() {}
        let asking = self.teller().request(request, due_s, body);
        self.requests.spawn(asking);
    }

    fn hear(&mut self, event: Event) -> Result<(), ClientError> {
        match event {
            Event::Begun { who, late_s } => {
                self.late_s[who] = Some(late_s);
                self.lags.push(late_s);
                Ok(())
            }
            Event::Sample(sample) => {
                self.waiting = sample.waiting;
                self.recorder.sample(sample);
                Ok(())
            }
            Event::Ended { who, t_s, reply } => self.ended(who, t_s, reply),
        }
    }

    fn ended(
        &mut self,
        who: usize,
        t_s: f64,
        reply: Result<Reply, Fault>,
    ) -> Result<(), ClientError> {
        // What ends after the horizon is not seen.
        if t_s > self.load.horizon_s {
            return Ok(());
        }
        self.in_flight -= 1;
        let outcome = match reply {
            Ok(reply) => {
                self.prompts.answered(who, &reply.output);
                let first = reply.first.map(|first| first.duration_since(self.start).as_secs_f64());
                Outcome::Answered(Answer {
                    t_first_s: first,
                    cached_tokens: reply.cached_tokens,
                    completion_tokens: reply.output.len() as u64,
                })
            }
            Err(fault) => {
                self.errors += 1;
                Outcome::Failed(fault.to_string())
            }
        };
        let told_s = self.tell_s(t_s);
        self.client.ended(told_s, who, outcome, &mut self.actions)?;
        self.record_turn(who);
        self.act(told_s);
        Ok(())
    }

    /// The turn that has just ended, with what the next one needs.
    fn record_turn(&mut self, who: usize) {
        let Some(turn) = self.client.turns().get(self.turns_seen).cloned() else { return };
        self.turns_seen += 1;
        let is_last = turn.tool_s.is_none() || turn.status != TurnStatus::Ok;
        if is_last {
            self.prompts.forget(who);
        }
        if let (true, Some(cached), Some(t_s)) = (turn.number > 1, turn.cached_tokens, turn.t_end_s)
        {
            self.recent.push(t_s, 2 * cached > turn.prompt_tokens);
        }
        self.recorder.turn(turn, self.late_s[who].take());
    }

    fn checkpoint(&mut self, now_s: f64) {
        let gate = self.client.gate_events(self.gate_written);
        self.gate_written += gate.len();
        let told_s = self.tell_s(now_s);
        self.recorder.checkpoint(self.client.sessions_at(told_s), gate);
    }

    fn look_around(&mut self, now_s: f64) {
        self.machine.push(self.looks.look(now_s));
    }

    /// How it stands; nothing that happens later is told an earlier time.
    fn now(&mut self, now_s: f64) -> Now<'_> {
        let t_s = self.tell_s(now_s);
        let progress = self.progress(t_s);
        let Load { plan, meta, .. } = *self.load;
        Now { progress, client: &self.client, plan, meta }
    }

    fn progress(&mut self, now_s: f64) -> Progress {
        let gate = self.client.gate();
        Progress {
            t_s: now_s,
            horizon_s: self.load.horizon_s,
            admitted: gate.admitted(),
            gated: gate.gated(),
            paused: gate.paused(),
            in_flight: self.in_flight,
            waiting: self.waiting,
            hit_fraction: self.recent.hit_fraction(now_s),
            turns: self.turns_seen as u64,
            errors: self.errors,
            max_lag_s: self.lags.max_s(),
        }
    }

    /// Who asks the engine and tells this driver.
    fn teller(&self) -> Teller {
        let (engine, events) = (Arc::clone(&self.engine), self.events.clone());
        Teller { engine, events, start: self.start }
    }

    fn finish(mut self, ended: Ended) -> Driven {
        let duration_s = match ended {
            Ended::Horizon => self.load.horizon_s,
            // When that was found: what is read back is what it was found on.
            Ended::Decided(_) => self.told_s,
            _ => self.now_s().min(self.load.horizon_s),
        };
        let duration_s = self.tell_s(duration_s);
        self.look_around(duration_s);
        let run = self.client.finish(duration_s);
        let unfinished = run.turns.get(self.turns_seen..).unwrap_or_default();
        let late_s = unfinished.iter().map(|turn| self.late_s[turn.session.at()]).collect();
        Driven {
            late_s,
            run,
            ended,
            duration_s,
            lags: self.lags,
            gate_written: self.gate_written,
            machine: self.machine,
        }
    }
}
