//! Who is in the system when the burst starts, and who arrives after: what model F
//! needs to be driven by a run's own plan (App. C).

use serde::{Deserialize, Serialize};

use crate::run::{Kind, Run};

/// A session from the burst's start on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Arrival {
    /// When it arrives, s; the burst's start for one that is there already.
    pub arrival_s: f64,
    /// The turn it waits for then, from 1.
    pub next_turn: usize,
    /// T, its last turn.
    pub turns: usize,
    /// Base stream or burst.
    pub kind: Kind,
}

/// Sessions present at `start_s` with the turns they have had, then those that arrive
/// later, in order of arrival.
pub fn arrivals_from(run: &Run, start_s: f64) -> Vec<Arrival> {
    let mut served = vec![0; run.sessions.len()];
    for turn in &run.turns {
        if turn.served_at_s().is_some_and(|t| t <= start_s) {
            served[turn.session.at()] += 1;
        }
    }
    let mut arrivals: Vec<Arrival> = run
        .sessions
        .iter()
        .zip(served)
        .filter(|(session, _)| session.was_in_system())
        .filter_map(|(session, served)| {
            let arrival_s = session.t_arrival_s()?;
            let gone = session.t_end_s.is_some_and(|end| end <= start_s);
            let turns = session.turns_planned as usize;
            (!gone && served < turns).then_some(Arrival {
                arrival_s: arrival_s.max(start_s),
                next_turn: served + 1,
                turns,
                kind: session.kind,
            })
        })
        .collect();
    arrivals.sort_by(|a, b| a.arrival_s.total_cmp(&b.arrival_s));
    arrivals
}
