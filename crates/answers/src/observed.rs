//! An answer for people, and for machines (`docs/diagnose.md` states the JSON).

use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::{Answer, Ask, Outlook, Thresholds, answers, outlook, time_shown};
use crate::form::{Losses, Observed};
use crate::format::Format;
use crate::model::Theory;
use crate::nearest::unknown;
use crate::print::lines as as_lines;
use crate::refused::Refused;
use crate::services::Service;
use crate::setup::Configs;

/// What was found of one service.
pub struct Found {
    /// The folder its files lie in; empty for files that were named.
    pub label: String,
    /// What was read.
    pub observed: Observed,
    /// Its engines' answers, each with what model F adds where its costs are known.
    pub answers: Vec<(Answer, Option<Outlook>)>,
}

/// What is known beside the files; each field is a flag of `trapcheck diagnose`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Known {
    /// The KV pool, tokens, in place of the files'.
    pub pool: Option<u64>,
    /// The largest share of prompt tokens that can be found, 0 to 1.
    pub reuse_ceiling: Option<f64>,
    /// The client keeps a fixed number of sessions.
    pub closed: bool,
    /// The engine's calibrated cell.
    pub cell: Option<String>,
    /// Sessions that arrive per second, where the files do not tell.
    pub sessions_per_s: Option<f64>,
}

impl Known {
    /// What an answer takes from it.
    ///
    /// # Errors
    /// A share or a rate that is none.
    pub fn ask(&self) -> Result<Ask, Refused> {
        if self.reuse_ceiling.is_some_and(|c| !(c > 0.0 && c <= 1.0)) {
            return Err(Refused::new("--reuse-ceiling: expected a share above 0 and up to 1"));
        }
        if self.sessions_per_s.is_some_and(|rate| !(rate > 0.0 && rate.is_finite())) {
            return Err(Refused::new("--sessions-per-s: expected a positive number"));
        }
        Ok(Ask {
            pool_tokens: self.pool,
            reuse_ceiling: self.reuse_ceiling,
            closed: self.closed.then_some(true),
        })
    }

    /// The theory of the cell that was named.
    ///
    /// # Errors
    /// There is no such cell, or it has no answer.
    pub fn theory(&self, configs: &Configs) -> Result<Option<Theory>, Refused> {
        let Some(name) = &self.cell else { return Ok(None) };
        let known = configs.cells.keys().map(String::as_str);
        let (cell, workload, _) = configs
            .of_cell(name)
            .ok_or_else(|| Refused(unknown("cell", name, "configs/cells", known)))?;
        let theory = Theory::of(cell, workload);
        Ok(Some(theory.map_err(|e| Refused::about(&format!("cell {name}"), &e))?))
    }
}

/// The format of a word.
///
/// # Errors
/// There is none of that name.
pub fn format_named(word: &str) -> Result<Format, Refused> {
    let known = Format::ALL.map(Format::word);
    let found = Format::ALL.into_iter().find(|format| format.word() == word);
    found.ok_or_else(|| Refused(unknown("format", word, "docs/diagnose.md", known)))
}

/// The answers of services, the worst first. Where the engine's costs are known (`theory`),
/// with what model F adds to one that is trapped or pressed; `sessions_per_s` arrive where the
/// files do not tell.
pub fn found(
    services: Vec<Service>,
    ask: &Ask,
    rule: &Thresholds,
    theory: Option<&Theory>,
    sessions_per_s: Option<f64>,
) -> Vec<Found> {
    let each = |answer: Answer| {
        let by_model = theory.and_then(|theory| by_model(theory, sessions_per_s, &answer));
        (answer, by_model)
    };
    let of = |service: Service| {
        let answers = answers(&service.observed, ask, rule).into_iter().map(each).collect();
        Found { label: service.label, observed: service.observed, answers }
    };
    let mut found: Vec<Found> = services.into_iter().map(of).collect();
    found.sort_by_key(|one| one.answers.first().map(|(answer, _)| answer.verdict));
    found
}

/// What model F adds to an answer, if a rate and a backlog are known.
pub fn by_model(theory: &Theory, sessions_per_s: Option<f64>, answer: &Answer) -> Option<Outlook> {
    let seen = answer.capacity?;
    let rate = sessions_per_s.or(seen.arriving_per_s)?;
    outlook(theory, rate, seen.backlog?).ok()
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
    as_lines(lines)
}

/// The parts of the answer, for machines.
pub fn parts(found: &[Found]) -> [(&'static str, Value); 1] {
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
    [("services", services.collect())]
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
