//! The client's gate: who may be in the engine (paper: App. E.2, E.7, Prop. 2).
//!
//! A capped gate binds from the start. A rescue gate binds from t_on: sessions
//! leave it only when a tool call ends while too many are admitted (attrition),
//! and then wait in the resume queue, which is served before new arrivals. It
//! comes off at the first tick at which both queues have been empty long enough;
//! nothing forces it off.

use crate::run::SessionIndex;

use super::records::{GateEvent, GateEventKind};
use super::{Action, Queue, Timer};

/// Who is let in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GateRule {
    /// Everybody.
    Open,
    /// At most `cap` sessions, from the start to the end of the run.
    Capped {
        /// n_cap.
        cap: u32,
    },
    /// At most `cap` sessions, from `engage_s` until the gate has emptied.
    Rescue {
        /// c.
        cap: u32,
        /// t_on, seconds.
        engage_s: f64,
        /// Not released before `engage_s + min_capped_s`.
        min_capped_s: f64,
        /// Both queues must have been empty for this long.
        hold_s: f64,
        /// Seconds between two chances of release.
        tick_s: f64,
    },
}

impl GateRule {
    /// The cap, where there is one.
    pub fn cap(self) -> Option<u32> {
        match self {
            Self::Open => None,
            Self::Capped { cap } | Self::Rescue { cap, .. } => Some(cap),
        }
    }
}

/// A gate and its queues.
#[derive(Debug, Clone)]
pub struct Gate {
    rule: GateRule,
    engaged: bool,
    /// Sessions past the gate and not ended, those in tool calls included.
    admitted: u32,
    arrivals: Queue,
    resumes: Queue,
    /// The last time either queue held somebody; t_on if neither ever did.
    last_nonempty_s: f64,
    events: Vec<GateEvent>,
}

impl Gate {
    pub(super) fn new(rule: GateRule) -> Self {
        Self {
            rule,
            engaged: false,
            admitted: 0,
            arrivals: Queue::new(),
            resumes: Queue::new(),
            last_nonempty_s: 0.0,
            events: Vec::new(),
        }
    }

    /// Sessions past the gate and not ended.
    pub fn admitted(&self) -> u32 {
        self.admitted
    }

    /// Arrivals that wait for a slot.
    pub fn gated(&self) -> u32 {
        self.arrivals.len() as u32
    }

    /// Sessions that gave up their slot and wait for another.
    pub fn paused(&self) -> u32 {
        self.resumes.len() as u32
    }

    pub(super) fn start(&mut self) -> Option<Action> {
        match self.rule {
            GateRule::Open => None,
            GateRule::Capped { .. } => {
                self.engaged = true;
                self.record(0.0, GateEventKind::Engage, None);
                None
            }
            GateRule::Rescue { engage_s, .. } => {
                Some(Action::At { t_s: engage_s, timer: Timer::Engage })
            }
        }
    }

    /// The rescue gate starts to bind; answers with its first tick.
    pub(super) fn engage(&mut self, now_s: f64) -> Action {
        self.engaged = true;
        self.last_nonempty_s = now_s;
        self.record(now_s, GateEventKind::Engage, None);
        self.tick_timer(0)
    }

    /// Releases the gate if both queues have been empty long enough; otherwise
    /// answers with the next tick.
    pub(super) fn tick(&mut self, now_s: f64, number: u32) -> Option<Action> {
        let GateRule::Rescue { hold_s, .. } = self.rule else { return None };
        let empty = self.arrivals.is_empty() && self.resumes.is_empty();
        if empty && now_s - self.last_nonempty_s >= hold_s {
            self.engaged = false;
            self.record(now_s, GateEventKind::Release, None);
            return None;
        }
        Some(self.tick_timer(number + 1))
    }

    /// Ticks lie on t_on + min_capped + j tick, without accumulating rounding.
    fn tick_timer(&self, number: u32) -> Action {
        let t_s = match self.rule {
            GateRule::Rescue { engage_s, min_capped_s, tick_s, .. } => {
                engage_s + min_capped_s + tick_s * f64::from(number)
            }
            GateRule::Open | GateRule::Capped { .. } => 0.0,
        };
        Action::At { t_s, timer: Timer::Tick { number } }
    }

    /// A session arrives: true if it may enter, false if it was queued. A new
    /// arrival never passes one that waits.
    pub(super) fn arrive(&mut self, now_s: f64, who: usize) -> bool {
        if self.has_slot() && self.arrivals.is_empty() && self.resumes.is_empty() {
            self.admitted += 1;
            self.record_while_engaged(now_s, GateEventKind::Admit, who);
            return true;
        }
        self.arrivals.push_back(who);
        self.last_nonempty_s = now_s;
        self.record_while_engaged(now_s, GateEventKind::Queue, who);
        false
    }

    /// A tool call ended: true if the session gives up its slot.
    pub(super) fn pause(&mut self, now_s: f64, who: usize) -> bool {
        // A capped gate never admits more than its cap, so only a rescue pauses.
        let over = self.rule.cap().is_some_and(|cap| self.admitted > cap);
        if !(self.engaged && over) {
            return false;
        }
        self.admitted -= 1;
        self.resumes.push_back(who);
        self.last_nonempty_s = now_s;
        self.record_while_engaged(now_s, GateEventKind::Pause, who);
        true
    }

    /// A session's last turn ended.
    pub(super) fn leave(&mut self) {
        self.admitted -= 1;
    }

    /// The next session to take a free slot, if there is one and somebody waits.
    pub(super) fn next(&mut self, now_s: f64) -> Option<usize> {
        if !self.has_slot() {
            return None;
        }
        let (who, kind) = match self.resumes.pop_front() {
            Some(who) => (who, GateEventKind::Resume),
            None => (self.arrivals.pop_front()?, GateEventKind::Admit),
        };
        self.admitted += 1;
        self.last_nonempty_s = now_s;
        self.record_while_engaged(now_s, kind, who);
        Some(who)
    }

    fn has_slot(&self) -> bool {
        !self.engaged || self.rule.cap().is_none_or(|cap| self.admitted < cap)
    }

    fn record_while_engaged(&mut self, t_s: f64, kind: GateEventKind, who: usize) {
        if self.engaged {
            self.record(t_s, kind, Some(who));
        }
    }

    fn record(&mut self, t_s: f64, event: GateEventKind, who: Option<usize>) {
        self.events.push(GateEvent {
            t_s,
            event,
            session: who.map(|who| SessionIndex(who as u32)),
            admitted: self.admitted.into(),
            gated: self.gated().into(),
            paused: self.paused().into(),
        });
    }

    pub(super) fn events(&self) -> &[GateEvent] {
        &self.events
    }
}
