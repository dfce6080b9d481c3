//! What a client has recorded: so far, and at its end.

use super::Client;
use super::records::{ClientRun, GateEvent, SessionRecord, Turn, TurnStatus};
use super::session::State;

impl Client<'_> {
    /// Turns that have ended so far, in order of completion.
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// All turns that were sent: those that have ended, in order of completion, then those in
    /// flight, in order of the plan.
    pub fn turns_so_far(&self) -> Vec<Turn> {
        self.turns.iter().cloned().chain(self.in_flight()).collect()
    }

    fn in_flight(&self) -> impl Iterator<Item = Turn> + '_ {
        (0..self.sessions.len())
            .filter(|who| self.sessions[*who].state == State::InFlight)
            .map(|who| self.turn_record(who, TurnStatus::UnfinishedAtHorizon))
    }

    /// The gate's events so far, in order of time, without the first `from`.
    pub fn gate_events(&self, from: usize) -> Vec<GateEvent> {
        self.gate.events().get(from..).unwrap_or_default().to_vec()
    }

    /// The sessions that have arrived, as they stand at `now_s`, in order of the plan.
    pub fn sessions_at(&self, now_s: f64) -> Vec<SessionRecord> {
        (0..self.sessions.len())
            .filter(|who| self.sessions[*who].state != State::Planned)
            .map(|who| self.sessions[who].record(&self.plan.sessions[who], now_s))
            .collect()
    }

    /// Ends the run at its horizon and hands over what was recorded: turns in
    /// order of completion (then those in flight), sessions in order of the plan.
    pub fn finish(mut self, horizon_s: f64) -> ClientRun {
        let in_flight: Vec<_> = self.in_flight().collect();
        self.turns.extend(in_flight);
        let (sessions, gate) = (self.sessions_at(horizon_s), self.gate_events(0));
        ClientRun { turns: self.turns, sessions, gate }
    }
}
