//! A verdict in words: the line that says it, and the numbers that prove it.

use super::decided::Decided;
use super::facts::Facts;
use super::requests::Client;
use super::share::percent;
use super::times::{length, shown};
use super::{Answer, Cause, Evidence, Identity, Verdict, capacity, cause};
use crate::digits::fixed;
use crate::form::Clock;
use crate::sessions::By;

/// The answer that a decision is.
pub fn in_words(name: &str, facts: &Facts<'_>, decided: Decided) -> Answer {
    let timeline = &facts.timeline;
    let (from, to) = timeline.span_s(decided.stretch);
    let (_, end) = timeline.span_s(timeline.all());
    let lasts = decided.stretch.to + 1 >= timeline.bins.len();
    let judged = !matches!(decided.verdict, Verdict::Good | Verdict::Unmeasurable);
    let when = match (judged && !timeline.bins.is_empty(), timeline.clock) {
        (false, _) => String::new(),
        (true, Clock::Order) => " (no times)".into(),
        (true, clock) => {
            let till =
                if lasts { "to the end of the file" } else { &*format!("to {}", shown(to, clock)) };
            format!(" since {} ({}, {till})", shown(from, clock), length(to.min(end) - from))
        }
    };
    let headline = format!("{}{when}: {}", decided.verdict.word().to_uppercase(), decided.why);
    Answer {
        engine: name.to_owned(),
        identity: Identity {
            software: facts.engine.and_then(|e| e.software),
            version: facts.engine.and_then(|e| e.version.clone()),
            model: facts.engine.and_then(|e| e.model.clone()),
            pool_tokens: facts.pool,
            simulated: facts.observed.simulated,
        },
        verdict: decided.verdict,
        cause: decided.cause,
        since_s: judged.then_some(from),
        until_s: (judged && !lasts).then_some(to),
        headline,
        evidence: told_first(evidence(facts, &decided), decided.cause),
        capacity: capacity::capacity(facts, decided.stretch).filter(|_| decided.verdict.is_bad()),
        contradictions: cause::contradictions(
            facts,
            decided.stretch,
            decided.grew,
            decided.verdict,
        ),
        action: cause::action(facts, decided.verdict, decided.cause),
        switch_on: (decided.verdict == Verdict::Unmeasurable).then(|| cause::switch_on(facts)),
        timeline: facts.timeline.clone(),
    }
}

/// What proves the cause next to the hits, so that it is among the lines that are printed.
fn told_first(mut evidence: Vec<Evidence>, cause: Cause) -> Vec<Evidence> {
    let proofs: &[&str] = match cause {
        Cause::Capacity => &["footprints over pool"],
        Cause::NotThisPool => &["binding pool", "footprints over pool"],
        Cause::ColdPrompt | Cause::ColdFirst => &["slow first tokens"],
        _ => &[],
    };
    let place = |proof: &&str| evidence.iter().position(|e| e.quantity == *proof);
    if let Some(from) = proofs.iter().find_map(place) {
        let to = evidence.iter().take_while(|e| e.quantity == "hit fraction").count().min(from);
        evidence[to..=from].rotate_right(1);
    }
    evidence
}

fn evidence(facts: &Facts<'_>, decided: &Decided) -> Vec<Evidence> {
    let timeline = &facts.timeline;
    let (from_s, to_s) = timeline.span_s(decided.stretch);
    let say =
        |quantity, value, unit, words| Evidence { quantity, value, unit, from_s, to_s, words };
    let mut evidence = Vec::new();
    if let Some(hits) = timeline.hits(decided.stretch) {
        let of = if facts.of_reusable { "reusable tokens" } else { "prompt tokens" };
        let over = match timeline.clock {
            Clock::Order => String::new(),
            _ => format!(" over {}", length(to_s - from_s)),
        };
        let words = format!(
            "found {} of the {of}{over} in the cache, by {}",
            percent(hits),
            facts.hits_from
        );
        evidence.push(say("hit fraction", hits, "", words));
    }
    if let Some((ceiling, how)) = facts.ceiling {
        let words = if facts.of_reusable {
            let share = facts.client.and_then(Client::reuse_share).unwrap_or(ceiling);
            format!("reuse was there: {} of the prompt tokens had been sent before", percent(share))
        } else {
            let there = if ceiling < facts.rule.reusable_share { "little reuse" } else { "reuse" };
            format!("{there} was there: {} could be found, {how}", percent(ceiling))
        };
        evidence.push(say("reuse ceiling", ceiling, "", words));
    }
    if let Some(rise) = timeline
        .rise(decided.stretch)
        .filter(|_| timeline.bins.iter().any(|b| b.outstanding.is_some()))
    {
        let verb = match decided.grew {
            Some(true) => "grew",
            _ => "went",
        };
        let per_hour = if timeline.clock == Clock::Order {
            String::new()
        } else {
            format!(" ({:+} per hour)", (rise.per_s * 3600.0).round() + 0.0)
        };
        let (from, to) = (fixed(rise.from, 0), fixed(rise.to, 0));
        let words = if from == to {
            format!("requests in the engine stayed at {to}")
        } else {
            format!("requests in the engine {verb} from {from} to {to}{per_hour}")
        };
        evidence.push(say("backlog rise", rise.to - rise.from, "requests", words));
    } else if let Some(n) = timeline.mean(decided.stretch, |b| b.outstanding) {
        evidence.push(say(
            "outstanding",
            n,
            "requests",
            format!("{} requests in the engine on average", fixed(n, 1)),
        ));
    }
    if let Some(waiting) = timeline.mean(decided.stretch, |b| b.waiting) {
        let running = timeline.mean(decided.stretch, |b| b.running).unwrap_or(0.0);
        let words =
            format!("{} running, {} waiting on average", fixed(running, 1), fixed(waiting, 1));
        evidence.push(say("waiting", waiting, "requests", words));
    }
    if let Some(occupancy) = &facts.occupancy {
        let words = occupancy.words();
        evidence.push(say("footprints over pool", occupancy.over_pool, "", words));
    }
    // Of one scrape the gauges are all there is.
    if timeline.bins.is_empty()
        && let Some(sample) = facts.engine.and_then(|e| e.series.samples().last())
        && let Some(n) = sample.outstanding()
    {
        evidence.push(say(
            "outstanding",
            n,
            "requests",
            format!("{} requests in the engine", fixed(n, 0)),
        ));
    }
    if let Some((found, missed)) =
        facts.client.and_then(|c| c.binding_tokens).filter(|_| decided.cause == Cause::NotThisPool)
    {
        let of = facts.pool.map_or(String::new(), |pool| {
            format!(", {} of the pool's {pool}", percent(missed as f64 / pool as f64))
        });
        let words = format!(
            "all or nothing: sessions are found while {found} tokens lie between their turns, and missed from {missed} on{of}"
        );
        evidence.push(say("binding pool", missed as f64, "tokens", words));
    }
    if let Some(waits) = facts.client.and_then(|c| c.waits) {
        let words = format!(
            "{} of {} requests wait {} s for their first token (median of all {} s), {} of all such waiting",
            waits.slow,
            waits.all,
            fixed(waits.slow_s, 1),
            fixed(waits.median_s, 2),
            percent(waits.share)
        );
        evidence.push(say("slow first tokens", waits.slow as f64, "requests", words));
    }
    if let Some(client) =
        facts.client.filter(|c| c.by == By::Nothing && c.known == 0 && c.unknown > 0)
    {
        let words = format!("{} requests, none says what was cached", client.unknown);
        evidence.push(say("requests of unknown hits", client.unknown as f64, "requests", words));
    }
    evidence
}
