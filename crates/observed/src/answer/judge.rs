//! The verdict on one engine, from its timeline and what else is known.

use super::cause;
use super::decided::Decided;
use super::facts::Facts;
use super::requests::Client;
use super::share::percent;
use super::timeline::Stretch;
use super::times::shown;
use super::words::in_words;
use super::{Answer, Ask, Bin, Cause, Thresholds, Verdict};
use crate::digits::fixed;
use crate::form::{Engine, Observed, Quantity};
use crate::format::Format;

/// Judges.
pub fn judge(
    name: &str,
    engine: Option<&Engine>,
    client: Option<&Client>,
    observed: &Observed,
    ask: &Ask,
    rule: &Thresholds,
) -> Answer {
    let facts = Facts::of(engine, client, observed, ask, rule);
    let decided = decide(&facts);
    in_words(name, &facts, decided)
}

fn decide(facts: &Facts<'_>) -> Decided {
    let timeline = &facts.timeline;
    let all = timeline.all();
    let open = |why: String| Decided {
        verdict: Verdict::Unmeasurable,
        cause: Cause::Unknown,
        stretch: all,
        grew: None,
        why,
    };
    if let Some(client) = facts.client.filter(|c| c.served == 0) {
        return open(format!(
            "all {} requests failed or were given up",
            client.failed + client.cancelled
        ));
    }
    if facts.engine.is_some_and(|e| e.prefix_caching == Some(false)) {
        let grew = facts.grew(timeline.rise(all));
        let queues = grew == Some(true) || facts.waits(all) == Some(true);
        let verdict = if queues { Verdict::Pressure } else { Verdict::MissOnly };
        return Decided {
            verdict,
            cause: Cause::CachingOff,
            stretch: all,
            grew,
            why: "the prefix cache is off: every prompt is computed".into(),
        };
    }
    let stale = |bin: &Bin| bin.admitted == Some(false) && bin.outstanding.is_none_or(|n| n >= 1.0);
    if let Some(stretch) =
        timeline.longest(|bin| Some(stale(bin) && bin.waiting.is_some_and(|w| w >= 1.0)))
        && facts.sustained(stretch)
    {
        let why = "requests wait and none is admitted: the printed hit rate stands still and says nothing".into();
        let grew = facts.grew(timeline.rise(stretch));
        return Decided {
            verdict: Verdict::QueueOnly,
            cause: Cause::HeadOfLine,
            stretch,
            grew,
            why,
        };
    }
    if timeline.hits(all).is_none() {
        return without_hits(facts);
    }
    if let Some(share) =
        facts.client.and_then(Client::reuse_share).filter(|s| *s < facts.rule.reusable_share)
    {
        let missed = timeline.hits(all).is_none_or(|h| h < facts.rule.reuse_shown);
        if missed {
            let why = format!(
                "only {} of the prompt tokens had been sent before: there is nothing to reuse",
                percent(share)
            );
            return Decided {
                verdict: Verdict::Cold,
                cause: Cause::Unknown,
                stretch: all,
                grew: facts.grew(timeline.rise(all)),
                why,
            };
        }
    }
    if let Some(stretch) = timeline.longest(|bin| facts.misses(bin)).filter(|s| facts.sustained(*s))
    {
        return all_missed(facts, stretch);
    }
    if let Some(cached) = facts.client.and_then(|c| c.constant_cached)
        && timeline.hits(all).is_some_and(|h| h < facts.rule.found_above)
    {
        return by_client(facts, all, cached);
    }
    if facts.client.is_some_and(|c| c.falls_off_at.is_some())
        && timeline.hits(all).is_some_and(|h| h < facts.rule.found_above)
    {
        return all_missed(facts, all);
    }
    // A good part missed: to be told only where it is known how much could be found.
    if facts.ceiling.is_some_and(|(c, _)| c >= facts.rule.reusable_share)
        && let Some(stretch) =
            timeline.longest(|bin| facts.is_pressed(bin)).filter(|s| facts.sustained(*s))
        && recent(facts, stretch)
    {
        let waits = facts.waits(stretch);
        let grew = facts.grew(timeline.rise(stretch));
        let cause = cause::of(facts);
        let (verdict, why) = if waits == Some(false) && grew != Some(true) {
            (
                Verdict::MissOnly,
                "a good part of what could be reused is missed, and nothing waits".into(),
            )
        } else {
            (Verdict::Pressure, "a good part of what could be reused is missed".into())
        };
        return Decided { verdict, cause, stretch, grew, why };
    }
    found(facts)
}

/// Whether a stretch reaches the end of the load, but for a bin.
fn recent(facts: &Facts<'_>, stretch: Stretch) -> bool {
    stretch.to + 1 >= facts.timeline.bins.len()
        || facts
            .timeline
            .of(Stretch { from: stretch.to, to: facts.timeline.bins.len() })
            .iter()
            .all(|bin| facts.is_pressed(bin) != Some(false))
}

fn by_client(facts: &Facts<'_>, stretch: Stretch, cached: u64) -> Decided {
    let why = format!(
        "every turn finds the same {cached} tokens, whatever its prompt: the client changes its prompt there"
    );
    let grew = facts.grew(facts.timeline.rise(stretch));
    Decided { verdict: Verdict::MissOnly, cause: Cause::ClientPrefix, stretch, grew, why }
}

fn all_missed(facts: &Facts<'_>, stretch: Stretch) -> Decided {
    let timeline = &facts.timeline;
    // What rises while a closed population enters is no growth.
    let grew = facts.grew(timeline.rise(stretch)).filter(|_| facts.closed != Some(true));
    let waits = facts.waits(stretch);
    if let Some(cached) = facts.client.and_then(|c| c.constant_cached) {
        return by_client(facts, stretch, cached);
    }
    if let Some((found, missed)) = facts.client.and_then(|c| c.falls_off_at) {
        let why = format!(
            "a session alone finds prompts of up to {found} tokens and none from {missed} on"
        );
        return Decided {
            verdict: Verdict::MissOnly,
            cause: Cause::PromptLength,
            stretch,
            grew,
            why,
        };
    }
    // It may be over while the load goes on: then it is told, and the end decides.
    let after = Stretch { from: stretch.to, to: timeline.bins.len() };
    if timeline.of(after).len() >= 2
        && timeline.of(after).iter().filter(|b| facts.is_pressed(b) == Some(false)).count() >= 2
    {
        let mut decided = found(facts);
        let (from, to) = timeline.span_s(stretch);
        decided.why += &format!(
            "; almost everything was missed from {} to {}, and it is over",
            shown(from, timeline.clock),
            shown(to, timeline.clock)
        );
        return decided;
    }
    let Some((ceiling, _)) = facts.ceiling else {
        let why = "almost every prompt token is missed, and the file cannot say whether there was anything to reuse".into();
        return Decided {
            verdict: Verdict::Unmeasurable,
            cause: Cause::Unknown,
            stretch,
            grew,
            why,
        };
    };
    if ceiling < facts.rule.reusable_share {
        let why = format!(
            "only {} of the prompt tokens could be found: there is little to reuse",
            percent(ceiling)
        );
        return Decided { verdict: Verdict::Cold, cause: Cause::Unknown, stretch, grew, why };
    }
    let cause = cause::of(facts);
    let fits = cause == Cause::NotThisPool;
    let queues = waits.unwrap_or(grew == Some(true)) || grew == Some(true);
    let (verdict, why) = match (grew, facts.closed) {
        _ if fits && !queues => (
            Verdict::MissOnly,
            "almost all that could be reused is missed although the sessions fit the pool",
        ),
        _ if fits => (
            Verdict::Pressure,
            "almost all that could be reused is missed and requests wait, although the sessions fit the pool",
        ),
        (Some(true), _) => {
            (Verdict::Trap, "almost all that could be reused is missed, and the backlog grew")
        }
        (_, Some(true)) if waits != Some(false) || cause == Cause::Capacity => (
            Verdict::Trap,
            "almost all that could be reused is missed; the client keeps its number of sessions, so growth is not testable",
        ),
        _ if cause == Cause::Capacity && !facts.long_enough => (
            Verdict::Trap,
            "almost all that could be reused is missed because the sessions exceed the pool; too few turns to test growth",
        ),
        _ if queues => (
            Verdict::Pressure,
            "almost all that could be reused is missed; requests wait, and the backlog did not grow",
        ),
        _ => (Verdict::MissOnly, "almost all that could be reused is missed, and nothing waits"),
    };
    Decided { verdict, cause, stretch, grew, why: why.into() }
}

/// What could be found is found, or nothing says otherwise.
fn found(facts: &Facts<'_>) -> Decided {
    let timeline = &facts.timeline;
    let all = timeline.all();
    let grew = facts.grew(timeline.rise(all));
    let hits = timeline.hits(all).unwrap_or(0.0);
    let known = facts.ceiling.is_some() || hits >= facts.rule.reuse_shown;
    if !known {
        let why = format!(
            "{} of the tokens looked up were found, and the file cannot say how many could be",
            percent(hits)
        );
        return Decided {
            verdict: Verdict::Unmeasurable,
            cause: Cause::Unknown,
            stretch: all,
            grew,
            why,
        };
    }
    let quarter = (timeline.bins.len() / 4).max(1);
    let end = Stretch { from: all.to.saturating_sub(quarter), to: all.to };
    let missed = |share: Option<f64>| {
        let could = facts.ceiling.map_or(0.0, |(ceiling, _)| ceiling);
        share.is_some_and(|share| share < facts.rule.found_above * could)
    };
    if missed(Some(hits))
        && missed(timeline.hits(end))
        && facts.client.is_none_or(|c| c.waits.is_none())
    {
        let why = "a good part of what could be reused was missed, but misses come and go".into();
        let (verdict, cause) = (Verdict::Unmeasurable, Cause::Unknown);
        return Decided { verdict, cause, stretch: all, grew, why };
    }
    let waiting = timeline.mean(all, |bin| bin.waiting);
    let running = timeline.mean(all, |bin| bin.running);
    let many = waiting.zip(running).is_some_and(|(w, r)| w >= facts.rule.waiting && w >= r);
    let end = Stretch { from: all.to - all.to.min(3), to: all.to };
    let still = timeline
        .mean(end, |bin| bin.waiting.or(bin.outstanding))
        .is_none_or(|n| n >= facts.rule.waiting);
    if let Some(waits) =
        facts.client.and_then(|c| c.waits).filter(|w| w.share >= facts.rule.waiting_share)
    {
        let (cause, why) = if waits.behind_cold {
            let tokens = waits.cold_tokens;
            (
                Cause::ColdPrompt,
                format!(
                    "reuse works, but requests wait {} s while one cold prompt of {tokens} tokens is computed",
                    fixed(waits.slow_s, 0)
                ),
            )
        } else {
            (
                Cause::ColdFirst,
                format!(
                    "reuse works, but the {} requests that find nothing wait {} s for their first token, {} of all such waiting",
                    waits.slow,
                    fixed(waits.slow_s, 0),
                    percent(waits.share)
                ),
            )
        };
        return Decided { verdict: Verdict::QueueOnly, cause, stretch: all, grew, why };
    }
    let (verdict, why) = if still && (many || grew == Some(true) && facts.closed != Some(true)) {
        (Verdict::QueueOnly, "requests pile up although reuse works")
    } else {
        (Verdict::Good, "what can be reused is found")
    };
    Decided { verdict, cause: Cause::Unknown, stretch: all, grew, why: why.into() }
}

fn without_hits(facts: &Facts<'_>) -> Decided {
    let all = facts.timeline.all();
    let grew = facts.grew(facts.timeline.rise(all));
    let lifetime = facts.engine.and_then(|e| {
        let [looked_up, found] =
            [Quantity::PromptTokens, Quantity::CachedTokens].map(|q| e.series.last(q));
        Some(found? / looked_up.filter(|n| *n > 0.0)?)
    });
    let alone = facts.engine.is_some_and(|e| e.series.samples().len() == 1);
    let scraped = facts.observed.formats.contains(&Format::Prometheus);
    let why = match lifetime {
        Some(share) if alone && scraped => format!(
            "one scrape alone: {} of the tokens looked up since the engine started were found, which says nothing about now",
            percent(share)
        ),
        _ if alone && !scraped => "one record alone, which says nothing about any time".into(),
        _ => "nothing here says how many prompt tokens were found in the cache".into(),
    };
    Decided { verdict: Verdict::Unmeasurable, cause: Cause::Unknown, stretch: all, grew, why }
}
