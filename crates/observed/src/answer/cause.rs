//! Why reuse is missed, what speaks against a verdict, and what to do about it.

use super::facts::Facts;
use super::requests::Client;
use super::series::Over;
use super::share::percent;
use super::timeline::Stretch;
use super::{Cause, Verdict};
use crate::digits::fixed;
use crate::form::Quantity;
use crate::format::Format;
use crate::sessions::By;

/// Why reuse is missed: by the pool that the misses themselves show, by what the sessions hold,
/// by why requests wait.
pub fn of(facts: &Facts<'_>) -> Cause {
    let binding = facts.client.and_then(|c| c.binding_tokens);
    let share = binding.zip(facts.pool).map(|((_, missed), pool)| missed as f64 / pool as f64);
    if share.is_some_and(|share| share < facts.rule.binding_share) {
        return Cause::NotThisPool;
    }
    let deferred = facts.over.as_ref().and_then(|over| over.deferred);
    match &facts.occupancy {
        Some(occupancy) if occupancy.over_pool > 1.0 => Cause::Capacity,
        Some(_) => Cause::NotThisPool,
        None if deferred.is_some_and(|share| share >= facts.rule.deferred_share) => {
            Cause::NotThisPool
        }
        None => Cause::Unknown,
    }
}

/// What speaks against a verdict, or means less than it seems.
pub fn contradictions(
    facts: &Facts<'_>,
    stretch: Stretch,
    grew: Option<bool>,
    verdict: Verdict,
) -> Vec<String> {
    let mut said = Vec::new();
    let timeline = &facts.timeline;
    let missed = matches!(
        verdict,
        Verdict::Trap | Verdict::Pressure | Verdict::MissOnly | Verdict::Unmeasurable
    );
    if missed {
        said.extend(of_usage(facts));
    }
    if let Some(over) = &facts.over {
        if over.preempted > 0.0 {
            let logged =
                timeline.of(stretch).iter().any(|b| b.looked_up == 0.0 && b.logged_hits.is_some());
            let so = if logged {
                "; recomputed prompts count as hits in some versions, so the logged rate is an upper bound"
            } else {
                ""
            };
            said.push(format!("{} preemptions{so}", fixed(over.preempted, 0)));
        }
        if over.resets > 0 {
            said.push(format!("counters fell {} times: the engine was started again, and those intervals are unknown", over.resets));
        }
        said.extend(unaccounted(facts, over));
        if over.rejected.is_some_and(|n| n > 0.0) {
            said.push(format!(
                "{} requests were turned away: the queue is shorter than the load",
                fixed(over.rejected.unwrap_or(0.0), 0)
            ));
        } else if over.rejected.is_none()
            && facts.engine.is_some_and(|e| e.software == Some("sglang"))
            && timeline.rise(stretch).is_some_and(|r| r.to < r.from)
        {
            said.push("the backlog shrank; requests dropped from SGLang's queue are in no counter here, so that need not be a recovery".into());
        }
    }
    if verdict == Verdict::Trap && grew != Some(true) {
        let why = match facts.closed {
            Some(true) => "in a closed population",
            _ => "with so few turns",
        };
        said.push(format!(
            "growth is not testable {why}: that the backlog did not grow is nothing against it"
        ));
    }
    if let Some(share) = facts.over.as_ref().and_then(|o| o.deferred).filter(|share| *share > 0.0) {
        said.push(format!(
            "up to {} of the waiting requests wait for another reason than room (deferred)",
            percent(share)
        ));
    }
    if let Some(client) = facts.client {
        said.extend(of_client(client, facts));
    }
    let notes = facts.observed.notes.iter().map(|(what, count)| format!("{} {what}", count.count));
    said.extend(notes);
    said
}

/// Requests that a client sent and the engine neither finished nor holds.
fn unaccounted(facts: &Facts<'_>, over: &Over) -> Option<String> {
    // Of a choice of sessions their number is an estimate.
    let client = facts.client.filter(|_| facts.observed.kept.is_all())?;
    let sent = (client.served + client.failed + client.cancelled) as f64;
    let held = facts.timeline.bins.last().and_then(|bin| bin.outstanding).unwrap_or(0.0);
    let lost = sent - over.finished? - held;
    (lost >= 1.0 && lost > facts.rule.lost_share * sent).then(|| {
        format!(
            "the client sent {} requests, the engine finished {} and holds {}: {} are in no counter, so a queue that shrinks is no recovery",
            fixed(sent, 0),
            fixed(sent - held - lost, 0),
            fixed(held, 0),
            fixed(lost, 0)
        )
    })
}

/// What a low usage gauge means: it counts running requests only.
fn of_usage(facts: &Facts<'_>) -> Option<String> {
    let usage = facts.timeline.bins.iter().filter_map(|b| b.usage).max_by(f64::total_cmp)?;
    if usage >= facts.rule.full_usage {
        return None;
    }
    let filled = facts.over.as_ref().and_then(|over| over.filled);
    let so = match (filled, &facts.occupancy) {
        (_, Some(o)) if o.over_pool > 1.0 => {
            "but it counts running requests only, so this is no contradiction".into()
        }
        (Some(filled), _) => format!(
            "but it counts running requests only; with what is cached and idle {} of the pool was filled",
            percent(filled)
        ),
        (None, Some(_)) => "and the sessions fit: room is not what they lack".into(),
        (None, None) => "but it counts running requests only, so it tells neither a full pool nor an engine that lost its cache".into(),
    };
    Some(format!("KV usage peaks at {}, {so}", percent(usage)))
}

fn of_client(client: &Client, facts: &Facts<'_>) -> Vec<String> {
    let mut said = Vec::new();
    let each = facts.observed.kept.stands_for();
    if each > 1.0 {
        said.push(format!(
            "too many requests to keep: one session in {} was, and stands for the others; numbers of requests and sessions and what they hold are estimates",
            fixed(each, 0)
        ));
    }
    let all = client.served + client.failed + client.cancelled;
    match (client.failed, client.cancelled) {
        (0, 0) => {}
        (failed, 0) => said.push(format!(
            "{failed} of {all} requests failed: a queue that shrinks with their sessions is no recovery"
        )),
        // As at the end of every file.
        (0, open) => {
            said.push(format!("{open} of {all} requests were given up or in flight at the end"));
        }
        (failed, open) => said.push(format!(
            "{failed} of {all} requests failed and {open} were given up or in flight at the end: a queue that shrinks with their sessions is no recovery"
        )),
    }
    if let Some(turns) = client
        .turns_per_session
        .filter(|t| *t < facts.rule.turns_per_session && client.sessions.len() > 1)
    {
        said.push(format!(
            "{} turns per session were served: too few to judge growth",
            fixed(turns, 1)
        ));
    }
    if let (Some(latency), true) = (client.median_latency_s, client.has_times)
        && client.seconds < facts.rule.turns_per_session * latency
    {
        said.push(format!(
            "the window of {} s holds only {} median latencies of {} s: too short to judge",
            fixed(client.seconds, 0),
            fixed(client.seconds / latency, 1),
            fixed(latency, 0)
        ));
    }
    if let Some((prompt, first, later)) = client.first_token_hint.filter(|_| client.known == 0) {
        said.push(format!(
            "a hint, no more: the first token of prompts of {prompt} tokens came after {} s, later after {} s, as with reuse",
            fixed(first, 2),
            fixed(later, 2)
        ));
    }
    if client.by == By::GrowingPrompt {
        said.push(
            "no session ids: taken as one session, because each prompt grows out of the one before"
                .into(),
        );
    }
    said
}

const TWICE: &str = "send one long prompt twice to the idle engine (hold new sessions back until it is): if the second finds nothing, restart it, and look for a fix by its version";

/// One line that says what to do.
pub fn action(facts: &Facts<'_>, verdict: Verdict, cause: Cause) -> String {
    let bad = verdict.is_bad();
    match (verdict, cause) {
        (_, Cause::CachingOff) => "switch the prefix cache on".into(),
        (_, Cause::NotThisPool) => format!("a session cap will not help: {TWICE}; else look for a smaller sub-pool (hybrid and sliding-window models have several) and its retention setting"),
        (_, Cause::ClientPrefix) => "have the client keep the beginning of its prompt unchanged (dates, checksums and ids belong at its end); a session cap will not help".into(),
        (_, Cause::PromptLength) => "look at the engine's limits for reuse by prompt length; load has no part in it, so no cap helps".into(),
        (_, Cause::ColdFirst) => "a session cap will not help: let cold requests age in the scheduler, or limit how long their prompts may be".into(),
        (_, Cause::ColdPrompt) => "a session cap will not help: set a threshold for long prefills, so that they share each step".into(),
        (Verdict::QueueOnly, Cause::HeadOfLine) => "look for the one long request that holds the engine, and limit its output; a session cap will not help".into(),
        (_, Cause::Capacity) if bad => {
            let cap = facts.occupancy.as_ref().map_or_else(|| "what the pool holds".into(), |o| fixed(o.fit, 0));
            format!(
                "cap the sessions in the system at about {cap}, counting those in tool calls and every stream of sub-agents, and release them as others end; watch waiting time and sessions held beside the hits"
            )
        }
        _ if bad => format!("{TWICE}; if it finds the first, cap the sessions in the system, those in tool calls counted, below what the pool holds (--pool and the client's requests give the number)"),
        (Verdict::QueueOnly, _) => "reuse works, so a session cap will not help: less load, more engines, or a limit on long cold prompts".into(),
        (Verdict::Cold, _) => "there is nothing to reuse: only less load or more engines shorten the queue".into(),
        (Verdict::MissOnly, _) => format!("nothing waits yet; {TWICE}; if it finds the first, find out what fills the pool before the load rises"),
        (Verdict::Good, _) => "nothing to do".into(),
        _ => switch_on(facts),
    }
}

/// The cheapest thing that would make it measurable.
pub fn switch_on(facts: &Facts<'_>) -> String {
    let has = |format: Format| facts.observed.formats.contains(&format);
    let scrapes = facts.engine.map_or(0, |e| e.series.samples().len());
    if has(Format::Prometheus)
        && scrapes < 2
        && facts.engine.is_some_and(|e| e.series.tells(Quantity::CachedTokens))
    {
        return "take a second scrape a minute later and give both files".into();
    }
    if has(Format::Prometheus) && !facts.timeline.bins.iter().any(|b| b.looked_up > 0.0) {
        return "scrape the token counters: vllm:prefix_cache_queries and _hits, or sglang:realtime_tokens_total (or prompt_tokens_total and cached_tokens_total); hit-rate gauges will not do".into();
    }
    if facts.client.is_some_and(|c| c.unknown > 0 && c.known == 0) {
        return "let the engine report cached tokens per request: vLLM --enable-prompt-tokens-details, SGLang --enable-cache-report; streams also need stream_options.include_usage; or give two scrapes of /metrics".into();
    }
    if facts.timeline.hits(facts.timeline.all()).is_some() {
        return "give the client's requests with session ids (or --reuse-ceiling, if you know how much of each prompt was sent before)".into();
    }
    if has(Format::VllmLog) || has(Format::SglangLog) {
        return "give some minutes of the log, or two scrapes of the engine's /metrics a minute apart".into();
    }
    "give two scrapes of the engine's /metrics a minute apart".into()
}
