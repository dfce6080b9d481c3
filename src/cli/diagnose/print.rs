//! An answer for people, and for machines (`docs/diagnose.md` states the JSON).

use serde_json::{Value, json};

use crate::answer::{Answer, Outlook, time_shown};
use crate::cli::output;
use crate::form::{Losses, Observed};

/// What was found of one service.
pub struct Found {
    /// The folder its files lie in; empty for files that were named.
    pub label: String,
    /// What was read.
    pub observed: Observed,
    /// Its engines' answers, each with what model F adds where its costs are known.
    pub answers: Vec<(Answer, Option<Outlook>)>,
}

/// Lines of evidence that are printed.
const LINES: usize = 3;

/// All of it, for people: a line that says it, three that prove it, one that says what to do.
pub fn as_text(found: &[Found]) -> String {
    let mut lines = Vec::new();
    for one in found {
        let of = |engine: &str| match (one.label.as_str(), engine) {
            ("", "") => String::new(),
            ("", name) | (name, "") => format!("{name}: "),
            (folder, engine) => format!("{folder}, {engine}: "),
        };
        for (answer, outlook) in &one.answers {
            let made = if answer.identity.simulated { "simulated: " } else { "" };
            lines.push(format!("{}{made}{}", of(&answer.engine), answer.headline));
            lines.extend(answer.evidence.iter().take(LINES).map(|e| format!("  {}", e.words)));
            lines.push(format!("  do: {}", answer.action));
            let then = answer.capacity.iter().flat_map(|c| c.lines(outlook.is_some()));
            lines.extend(then.map(|words| format!("  then: {words}")));
            let by_model = outlook.iter().flat_map(Outlook::lines);
            lines.extend(by_model.map(|words| format!("  model F: {words}")));
            lines.extend(answer.contradictions.iter().map(|words| format!("  but: {words}")));
        }
        for (why, count) in one.observed.dropped.iter() {
            let first = count.first_line;
            let line = if first > 0 { format!(" (first in line {first})") } else { String::new() };
            lines.push(format!("{}left out: {} {why}{line}", of(""), count.count));
        }
    }
    output::lines(lines)
}

/// All of it, for machines.
///
/// # Errors
/// A text that JSON cannot hold.
pub fn as_json(found: &[Found]) -> serde_json::Result<String> {
    let services = found.iter().map(|one| {
        let formats = one.observed.formats.iter().map(|format| format.word());
        json!({
            "folder": one.label,
            "formats": formats.collect::<Vec<_>>(),
            "answers": one.answers.iter().map(|(answer, outlook)| of_answer(answer, outlook.as_ref())).collect::<Vec<_>>(),
            "left_out": counted(&one.observed.dropped),
            "notes": counted(&one.observed.notes),
        })
    });
    output::json("diagnose", [("services", services.collect())])
}

fn counted(losses: &Losses) -> Value {
    let each = losses.iter().map(
        |(what, count)| json!({"what": what, "count": count.count, "first_line": count.first_line}),
    );
    each.collect()
}

fn of_answer(answer: &Answer, outlook: Option<&Outlook>) -> Value {
    let clock = answer.timeline.clock;
    let evidence = answer.evidence.iter().map(|e| {
        json!({
            "quantity": e.quantity,
            "value": e.value,
            "unit": e.unit,
            "from_s": e.from_s,
            "to_s": e.to_s,
            "words": e.words,
        })
    });
    let bins = answer.timeline.bins.iter().map(|bin| {
        json!({
            "from_s": bin.from_s,
            "to_s": bin.to_s,
            "hit_fraction": bin.hits(),
            "running": bin.running,
            "waiting": bin.waiting,
            "outstanding": bin.outstanding,
            "kv_usage": bin.usage,
        })
    });
    json!({
        "engine": answer.engine,
        "software": answer.identity.software,
        "version": answer.identity.version,
        "model": answer.identity.model,
        "pool_tokens": answer.identity.pool_tokens,
        "simulated": answer.identity.simulated,
        "verdict": answer.verdict.word(),
        "cause": answer.cause.word(),
        "since_s": answer.since_s,
        "since": answer.since_s.map(|t| time_shown(t, clock)),
        "until_s": answer.until_s,
        "headline": answer.headline,
        "evidence": evidence.collect::<Vec<_>>(),
        "contradictions": answer.contradictions,
        "action": answer.action,
        "switch_on": answer.switch_on,
        "capacity": answer.capacity.map(|c| json!({
            "all_miss_tokens_per_s": c.tokens_per_s,
            "all_miss_sessions_per_s_at_most": c.sessions_per_s,
            "arriving_sessions_per_s": c.arriving_per_s,
            "backlog": c.backlog,
        })),
        "model_f": outlook.map(|o| json!({
            "all_miss_sessions_per_s": o.all_miss_sessions_per_s,
            "rho": o.rho,
            "growth_sessions_per_s": o.growth_sessions_per_s,
            "cap_least": o.caps.map(|(least, _)| least),
            "cap_most": o.caps.and_then(|(_, most)| most),
            "release_s": o.release_s,
            "gate_wait_s": o.gate_wait_s,
            "drain_at_nine_tenths_s": o.drain_at_nine_tenths_s,
        })),
        "timeline": bins.collect::<Vec<_>>(),
    })
}
