//! A run that nothing closed: it is under way, or was killed.
//!
//! Its turns, samples and gate events are appended as they come, its sessions are written
//! anew at intervals. So the other tables may be ahead of the sessions: what the sessions do
//! not know of yet is left out, and the run is what it was when they were last written.

use std::collections::BTreeMap;

use super::columns::Columns;
use super::{EngineSample, GateEvent, Session, Turn};

/// A session by its kind and identifier, as the tables have them.
type Name<'a> = (&'a str, &'a str);

/// Leaves out the turns and gate events that the sessions do not know of yet; says how many.
pub(crate) fn leave_out_newer(
    sessions: &Columns,
    turns: &mut Columns,
    gate: Option<&mut Columns>,
) -> usize {
    let known = turns_of(sessions);
    let of_turns = |row: usize| {
        let number = turns.count("turn").get(row).unwrap_or_default();
        known.get(&name(turns, row)).is_some_and(|most| number <= *most)
    };
    let keep: Vec<bool> = (0..turns.len()).map(of_turns).collect();
    let left_out = turns.retain(&keep);
    let Some(gate) = gate else { return left_out };
    let of_gate = |row: usize| {
        let name = name(gate, row);
        name.1.is_empty() || known.contains_key(&name)
    };
    let keep: Vec<bool> = (0..gate.len()).map(of_gate).collect();
    left_out + gate.retain(&keep)
}

/// Of each session, the last turn that ended: those served, and the one that failed it.
fn turns_of(sessions: &Columns) -> BTreeMap<Name<'_>, u64> {
    (0..sessions.len())
        .map(|row| {
            let done = sessions.count("turns_done").get(row).unwrap_or_default();
            let failed = sessions.text("status").get(row) == "failed";
            (name(sessions, row), done + u64::from(failed))
        })
        .collect()
}

fn name(table: &Columns, row: usize) -> Name<'_> {
    (table.text("kind").get(row), table.text("session").get(row))
}

/// The last time in a run's tables, s; `None` where they are empty.
pub fn last_s(
    sessions: &[Session],
    turns: &[Turn],
    gate: &[GateEvent],
    engine: &[EngineSample],
) -> Option<f64> {
    let of_sessions = sessions.iter().filter_map(|s| s.t_end_s.or(s.t_arrival_s()));
    let of_turns = turns.iter().filter_map(|t| t.t_end_s);
    let times = of_sessions.chain(of_turns).chain(gate.iter().map(|g| g.t_s));
    times.chain(engine.iter().map(|e| e.t_s)).max_by(f64::total_cmp)
}
