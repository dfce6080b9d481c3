//! Clauses and states as JSON, the same wherever an answer shows them.

use serde_json::{Value, json};

use super::clause::Clause;
use super::state::RunState;

/// A clause in JSON: what it needs as a word and two numbers, one `null` where the condition
/// has one side.
pub fn clause(clause: &Clause) -> Value {
    let (word, least, most) = clause.needs.sides();
    json!({
        "quantity": clause.quantity,
        "unit": clause.unit,
        "measured": clause.measured,
        "needs": word,
        "needs_least": least,
        "needs_most": most,
        "holds": clause.holds,
        "margin": clause.margin(),
        "words": clause.in_words(clause.quantity),
    })
}

/// A state in JSON, with every clause behind it.
pub fn state(state: &RunState) -> Value {
    let clauses = |of: &[Clause]| of.iter().map(clause).collect::<Vec<_>>();
    json!({
        "state": state.state.word(),
        "stuck": state.stuck,
        "because": state.because,
        "trapped": clauses(&state.trapped),
        "recovered": clauses(&state.recovered),
        "draining": clauses(&state.draining),
    })
}
