//! A verdict as JSON, the same wherever an answer shows it.

use serde_json::{Value, json};

use super::{Verdict, VerdictRun};
use crate::rule::json::clause;
use crate::rule::outcome::Group;

/// How a test came out, and what that is worth.
pub fn outcome(verdict: &Verdict) -> Value {
    let group = |g: &Group| json!({"group": g.name, "verdict": g.verdict, "because": g.because});
    json!({
        "verdict": verdict.outcome.word,
        "because": verdict.outcome.because,
        "decisive": verdict.decisive,
        "not_decisive_because": verdict.not_decisive_because,
        "sources": verdict.sources,
        "groups": verdict.outcome.groups.iter().map(group).collect::<Vec<_>>(),
        "notes": verdict.outcome.notes,
        "not_used": verdict.outcome.set_aside,
    })
}

/// A run under the test.
pub fn run(run: &VerdictRun) -> Value {
    let labelled = run.labelled.as_ref();
    json!({
        "run": run.dir.display().to_string(),
        "source": run.meta.source.word(),
        "arm": run.meta.arm,
        "rate_multiple": run.meta.rate.multiple,
        "seed": run.meta.seed,
        "role": run.role,
        "label": labelled.map(|l| l.label),
        "because": labelled.and_then(|l| l.because.as_ref()),
        "decided_by": labelled.and_then(|l| l.deciding()).map(clause),
        "clauses": labelled.map(|l| l.clauses.iter().map(clause).collect::<Vec<_>>()),
        "secondary": run.secondary.iter().map(clause).collect::<Vec<_>>(),
        "binding": run.binding.words(),
        "set_aside": run.set_aside,
    })
}
