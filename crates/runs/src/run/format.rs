//! The names of format 1 and what each holds: what a layout can map onto.

use super::columns::{Presence, Type};
use super::{GateEventKind, Kind, SessionStatus};
use super::{engine, gate, plan, sessions, turns};
use crate::setup::layout::TableName;

/// A column of a table, or a key of `meta.json` with its parts joined by dots.
#[derive(Debug, Clone)]
pub struct Name {
    pub name: &'static str,
    pub holds: Holds,
    /// Whether every run, or every row, has a value for it.
    pub needed: bool,
}

/// What a name holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holds {
    /// Any text.
    Text,
    /// One of these words.
    Words(Vec<&'static str>),
    /// true or false.
    Flag,
    /// A whole number, at least 0.
    Count,
    /// A number that is no time.
    Number,
    /// A point in time, s.
    Moment,
    /// A length of time, s.
    Seconds,
    /// Seconds since 1970.
    Unix,
    /// Lengths of time, s, separated by `;`.
    SecondsList,
}

/// The columns of a table.
pub fn columns(table: TableName) -> Vec<Name> {
    let schema = match table {
        TableName::Turns => turns::SCHEMA,
        TableName::Sessions => sessions::SCHEMA,
        TableName::Plan => plan::SCHEMA,
        TableName::Engine => engine::SCHEMA,
        TableName::Gate => gate::SCHEMA,
    };
    let holds = |name: &str, ty| match (table, name, ty) {
        (_, "kind", _) => Holds::Words(Kind::ALL.map(Kind::word).to_vec()),
        (TableName::Sessions, "status", _) => {
            Holds::Words(SessionStatus::ALL.map(SessionStatus::word).to_vec())
        }
        (TableName::Gate, "event", _) => {
            Holds::Words(GateEventKind::ALL.map(GateEventKind::word).to_vec())
        }
        (TableName::Plan, "tool_s", _) => Holds::SecondsList,
        (_, _, Type::Text | Type::Word(_)) => Holds::Text,
        (_, _, Type::Count) => Holds::Count,
        (_, name, Type::Number) if name.ends_with("_s") => Holds::Seconds,
        (_, _, Type::Number) => Holds::Moment,
    };
    // An empty wait reads as none: a layout has to say so (with a constant), not leave it out.
    let waits = |name| matches!(name, "gate_wait_s" | "pauses" | "pause_s");
    let name = |f: &super::columns::Field| Name {
        name: f.name,
        holds: holds(f.name, f.ty),
        needed: f.presence == Presence::Needed || waits(f.name),
    };
    schema.iter().map(name).collect()
}

/// The keys of `meta.json`, but for `format`. What a layout leaves out of `counts` is
/// counted.
pub(crate) fn meta_keys() -> Vec<Name> {
    let words = |words: &[&'static str]| Holds::Words(words.to_vec());
    let needed = |name, holds| Name { name, holds, needed: true };
    let optional = |name, holds| Name { name, holds, needed: false };
    vec![
        needed("run_id", Holds::Text),
        needed("source", words(&["engine", "simulator"])),
        needed("cell", Holds::Text),
        needed("engine.name", Holds::Text),
        needed("engine.version", Holds::Text),
        optional("model", Holds::Text),
        optional("gpu.name", Holds::Text),
        optional("gpu.memory_mib", Holds::Count),
        needed("pool_tokens", Holds::Count),
        needed("prefix_caching", Holds::Flag),
        needed("arm", Holds::Text),
        needed("seed", Holds::Count),
        optional("rate.multiple", Holds::Number),
        optional("rate.lambda_ref", Holds::Number),
        optional("rate.lambda", Holds::Number),
        optional("population", Holds::Count),
        needed("duration_s", Holds::Seconds),
        needed("horizon_s", Holds::Seconds),
        needed("status", words(&["completed", "failed", "truncated"])),
        optional("start_unix", Holds::Unix),
        optional("end_unix", Holds::Unix),
        optional("host", Holds::Text),
        optional("job_id", Holds::Text),
        optional("replica", Holds::Text),
        optional("shared_prefix_tokens", Holds::Count),
        optional("code.commit", Holds::Text),
        optional("code.dirty", Holds::Flag),
        optional("registration.file", Holds::Text),
        optional("registration.sha256", Holds::Text),
        optional("registration.status", Holds::Text),
        optional("gate.n_cap", Holds::Count),
        optional("gate.engage_s", Holds::Moment),
        optional("gate.release_s", Holds::Moment),
        optional("plan_sha256", Holds::Text),
        optional("canary.cached_before", Holds::Count),
        optional("canary.cached_after", Holds::Count),
        optional("counts.sessions_arrived", Holds::Count),
        optional("counts.sessions_completed", Holds::Count),
        optional("counts.sessions_failed", Holds::Count),
        optional("counts.turns", Holds::Count),
        optional("counts.request_errors", Holds::Count),
    ]
}

/// The key without which a group of keys says nothing: a gate is its cap.
pub fn anchor(group: &str) -> Option<&'static str> {
    match group {
        "gpu" => Some("name"),
        "gate" => Some("n_cap"),
        "registration" => Some("sha256"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Map, Value, json};

    use super::*;
    use crate::run::Meta;

    fn leaves(keys: &Map<String, Value>, above: &str, found: &mut BTreeSet<String>) {
        for (key, value) in keys {
            match value {
                Value::Object(inner) => leaves(inner, &format!("{above}{key}."), found),
                _ => drop(found.insert(format!("{above}{key}"))),
            }
        }
    }

    #[test]
    fn every_key_of_meta_json_can_be_mapped_onto() {
        let full = json!({
            "format": 1, "run_id": "r", "source": "engine", "cell": "c",
            "engine": {"name": "vllm", "version": "1"}, "gpu": {"name": "g"},
            "pool_tokens": 1, "prefix_caching": true, "arm": "burst", "seed": 0,
            "rate": {}, "duration_s": 1.0, "horizon_s": 1.0, "status": "completed",
            "replica": 0, "shared_prefix_tokens": 0, "code": {},
            "registration": {"file": "f", "sha256": "0", "status": "FILLED"},
            "gate": {"n_cap": 1}, "canary": {},
            "counts": {"sessions_arrived": 0, "sessions_completed": 0, "sessions_failed": 0,
                       "turns": 0, "request_errors": 0}
        });
        let meta: Meta = serde_json::from_value(full).unwrap();
        let written = serde_json::to_value(meta).unwrap();
        let mut found = BTreeSet::new();
        leaves(written.as_object().unwrap(), "", &mut found);
        found.remove("format");
        let known: BTreeSet<String> = meta_keys().iter().map(|key| key.name.to_owned()).collect();
        assert_eq!(known, found);
    }
}
