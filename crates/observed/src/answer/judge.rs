//! The verdict on one engine, from its timeline and what else is known.

use super::cause::{self, Occupancy};
use super::requests::Client;
use super::series::{self, Over};
use super::timeline::{Rise, Stretch, Timeline};
use super::times::{length, shown};
use super::{Answer, Ask, Bin, Cause, Evidence, Thresholds, Verdict};
use crate::digits::fixed;
use crate::form::{Clock, Engine, Observed, Quantity};
use crate::sessions::By;

/// What is known before anything is judged.
pub struct Facts<'a> {
    pub engine: Option<&'a Engine>,
    pub client: Option<&'a Client>,
    pub observed: &'a Observed,
    pub rule: &'a Thresholds,
    pub timeline: Timeline,
    /// Whether the timeline's hits are over what could be reused, not over all prompt tokens.
    pub of_reusable: bool,
    /// Where the hits are from, in words.
    pub hits_from: &'static str,
    /// The share of prompt tokens that could be found, and how that is known.
    pub ceiling: Option<(f64, &'static str)>,
    pub over: Option<Over>,
    pub occupancy: Option<Occupancy>,
    pub closed: Option<bool>,
}

impl<'a> Facts<'a> {
    fn of(
        engine: Option<&'a Engine>,
        client: Option<&'a Client>,
        observed: &'a Observed,
        ask: &Ask,
        rule: &'a Thresholds,
    ) -> Self {
        let over = engine.and_then(|e| series::timeline(e, observed.clock));
        let counted = |t: &Timeline| t.bins.iter().any(|b| b.looked_up > 0.0);
        let series = over.as_ref().map(|over| &over.timeline).filter(|t| !t.bins.is_empty());
        let requests = client.map(|c| &c.timeline).filter(|t| counted(t));
        let by_series = series.filter(|t| counted(t));
        let from_client = by_series.is_none() && requests.is_some();
        let timeline = by_series.or(requests).or(series).or(client.map(|c| &c.timeline));
        let timeline = timeline.cloned().unwrap_or_default();
        let of_reusable =
            from_client && client.is_some_and(|c| c.known > 0 && c.reusable_tokens > 0);
        let engine_says = engine.and_then(|e| e.hits_from).unwrap_or("the source's hit rates");
        let hits_from = match (from_client, of_reusable) {
            (true, true) => {
                "follow-up requests' cached tokens, over what their sessions had sent before"
            }
            (true, false) => "requests' cached tokens",
            _ => engine_says,
        };
        let best = timeline.bins.iter().filter_map(Bin::hits).max_by(f64::total_cmp);
        let ceiling = ask.reuse_ceiling.map(|c| (c, "as given"));
        let ceiling =
            if of_reusable { Some((1.0, "what the sessions had sent before")) } else { ceiling };
        let by_sessions =
            client.and_then(Client::reuse_share).map(|c| (c, "by the sessions' own prompts"));
        let seen =
            best.filter(|b| *b >= rule.reuse_shown).map(|b| (b, "the best stretch of this file"));
        let ceiling = ceiling.or(by_sessions).or(seen);
        let pool = ask.pool_tokens.or_else(|| engine.and_then(|e| e.pool_tokens));
        let occupancy = Occupancy::of(client, engine, pool);
        let closed = ask.closed.or_else(|| client.and_then(|c| c.closed));
        Self {
            engine,
            client,
            observed,
            rule,
            timeline,
            of_reusable,
            hits_from,
            ceiling,
            over,
            occupancy,
            closed,
        }
    }

    /// Whether almost all that could be found is missed in a bin.
    fn misses(&self, bin: &Bin) -> Option<bool> {
        let ceiling = self.ceiling.map_or(1.0, |(c, _)| c);
        bin.hits().map(|hits| hits < self.rule.hits.stuck_follow_up_hit_below * ceiling)
    }

    /// Whether a good part is missed.
    fn is_pressed(&self, bin: &Bin) -> Option<bool> {
        let ceiling = self.ceiling.map_or(1.0, |(c, _)| c);
        bin.hits().map(|hits| hits < self.rule.hits.recovered_hit_above * ceiling)
    }

    fn sustained(&self, stretch: Stretch) -> bool {
        let (from, to) = self.timeline.span_s(stretch);
        let all = stretch == self.timeline.all();
        match self.timeline.clock {
            Clock::Order => all || 2 * (stretch.to - stretch.from) >= self.timeline.bins.len(),
            _ => all || to - from >= self.rule.sustained_s,
        }
    }

    fn grew(&self, rise: Option<Rise>) -> Option<bool> {
        let rise = rise?;
        let by = rise.to - rise.from;
        Some(by >= self.rule.rise_requests && by >= self.rule.rise_over_scatter * rise.scatter)
    }

    fn waits(&self, stretch: Stretch) -> Option<bool> {
        let waiting = self.timeline.mean(stretch, |bin| bin.waiting)?;
        Some(waiting >= self.rule.waiting)
    }
}

/// What was decided, before it is put into words.
struct Decided {
    verdict: Verdict,
    cause: Cause,
    stretch: Stretch,
    grew: Option<bool>,
    why: String,
}

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
        let (verdict, grew) = (Verdict::MissOnly, facts.grew(timeline.rise(all)));
        let verdict = if grew == Some(true) { Verdict::Pressure } else { verdict };
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
        && timeline.hits(all).is_some_and(|h| h < facts.rule.hits.recovered_hit_above)
    {
        return by_client(facts, all, cached);
    }
    if facts.client.is_some_and(|c| c.falls_off_at.is_some())
        && timeline.hits(all).is_some_and(|h| h < facts.rule.hits.recovered_hit_above)
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
    let rise = timeline.rise(stretch);
    let grew = facts.grew(rise);
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
    let waiting = timeline.mean(all, |bin| bin.waiting);
    let running = timeline.mean(all, |bin| bin.running);
    let many = waiting.zip(running).is_some_and(|(w, r)| w >= facts.rule.waiting && w >= r);
    let end = Stretch { from: all.to - all.to.min(3), to: all.to };
    let still = timeline
        .mean(end, |bin| bin.waiting.or(bin.outstanding))
        .is_none_or(|n| n >= facts.rule.waiting);
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
    let why = match lifetime {
        Some(share) if facts.engine.is_some_and(|e| e.series.samples().len() == 1) => format!(
            "one scrape alone: {} of the tokens looked up since the engine started were found, which says nothing about now",
            percent(share)
        ),
        _ => "nothing here says how many prompt tokens were found in the cache".into(),
    };
    Decided { verdict: Verdict::Unmeasurable, cause: Cause::Unknown, stretch: all, grew, why }
}

fn in_words(name: &str, facts: &Facts<'_>, decided: Decided) -> Answer {
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
        verdict: decided.verdict,
        cause: decided.cause,
        since_s: judged.then_some(from),
        until_s: (judged && !lasts).then_some(to),
        headline,
        evidence: evidence(facts, &decided),
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

fn evidence(facts: &Facts<'_>, decided: &Decided) -> Vec<Evidence> {
    let timeline = &facts.timeline;
    let (from_s, to_s) = timeline.span_s(decided.stretch);
    let say =
        |quantity, value, unit, words| Evidence { quantity, value, unit, from_s, to_s, words };
    let mut evidence = Vec::new();
    if let Some(hits) = timeline.hits(decided.stretch) {
        let of = if facts.of_reusable { "reusable tokens" } else { "prompt tokens" };
        let words = format!("found {} of the {of} (from {})", percent(hits), facts.hits_from);
        evidence.push(say("hit fraction", hits, "", words));
    }
    if let Some((ceiling, how)) = facts.ceiling {
        let words = if facts.of_reusable {
            let share = facts.client.and_then(Client::reuse_share).unwrap_or(ceiling);
            format!("reuse was there: {} of the prompt tokens had been sent before", percent(share))
        } else {
            format!("reuse was there: {} could be found, {how}", percent(ceiling))
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
        let words = format!(
            "requests in the engine {verb} from {} to {}{per_hour}",
            fixed(rise.from, 0),
            fixed(rise.to, 0)
        );
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
    if let Some(client) =
        facts.client.filter(|c| c.by == By::Nothing && c.known == 0 && c.unknown > 0)
    {
        let words = format!("{} requests, none says what was cached", client.unknown);
        evidence.push(say("requests of unknown hits", client.unknown as f64, "requests", words));
    }
    evidence
}

/// A share for people.
pub fn percent(share: f64) -> String {
    format!("{} %", fixed(100.0 * share, 1))
}
