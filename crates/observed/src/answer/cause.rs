//! Why reuse is missed, what speaks against a verdict, and what to do about it.

use super::facts::Facts;
use super::words::percent;
use super::requests::Client;
use super::timeline::Stretch;
use super::{Cause, Verdict};
use crate::digits::fixed;
use crate::form::{Engine, Quantity};
use crate::format::Format;
use crate::sessions::By;

/// What the sessions hold against the pool.
pub struct Occupancy {
    pub footprints_tokens: f64,
    pub sessions: f64,
    pub pool_tokens: u64,
    pub over_pool: f64,
    /// Without times all sessions are counted at once.
    pub all_at_once: bool,
}

impl Occupancy {
    pub fn of(client: Option<&Client>, engine: Option<&Engine>, pool: Option<u64>) -> Option<Self> {
        let pool_tokens = pool.filter(|p| *p > 0)?;
        if let Some(client) = client.filter(|c| c.by != By::Nothing) {
            let footprints_tokens = client.footprints_tokens?;
            let over_pool = footprints_tokens / pool_tokens as f64;
            let sessions = client.sessions_present?;
            return Some(Self {
                footprints_tokens,
                sessions,
                pool_tokens,
                over_pool,
                all_at_once: !client.has_times,
            });
        }
        // What runs and what is cached and idle: how full the pool is, not what would be needed.
        let _ = engine?;
        None
    }

    pub fn words(&self) -> String {
        let at_once = if self.all_at_once { " (no times: all counted at once)" } else { "" };
        format!(
            "{} sessions hold {} tokens together, {} times the pool of {}{at_once}",
            fixed(self.sessions, 0),
            fixed(self.footprints_tokens, 0),
            fixed(self.over_pool, 2),
            self.pool_tokens
        )
    }
}

/// Why reuse is missed, by what the sessions hold.
pub fn of(facts: &Facts<'_>) -> Cause {
    match &facts.occupancy {
        Some(occupancy) if occupancy.over_pool > 1.0 => Cause::Capacity,
        Some(_) => Cause::NotThisPool,
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
    if let Some(usage) = timeline.bins.iter().filter_map(|b| b.usage).max_by(f64::total_cmp)
        && missed
        && usage < 0.9
    {
        let so = match &facts.occupancy {
            Some(o) if o.over_pool > 1.0 => {
                "it counts running requests only, so this is no contradiction"
            }
            _ => {
                "it counts running requests only, so it tells neither a full pool nor an engine that lost its cache; send one long prompt twice to the idle engine: if the second misses, it is the engine"
            }
        };
        said.push(format!("KV usage peaks at {}: {so}", percent(usage)));
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
        said.push("the backlog did not grow, and cannot in a closed population: not testable, not contradicted".into());
    }
    if facts.engine.is_some_and(|e| e.series.largest(Quantity::Deferred).is_some_and(|n| n > 0.0)) {
        said.push("some requests wait for another reason than room (deferred)".into());
    }
    if let Some(client) = facts.client {
        said.extend(of_client(client, facts));
    }
    let notes = facts.observed.notes.iter().map(|(what, count)| format!("{} {what}", count.count));
    said.extend(notes);
    said
}

fn of_client(client: &Client, facts: &Facts<'_>) -> Vec<String> {
    let mut said = Vec::new();
    let all = client.served + client.failed + client.cancelled;
    if client.failed + client.cancelled > 0 {
        said.push(format!(
            "{} of {all} requests failed and {} were given up: their sessions ended early, and a queue that shrinks with them is no recovery",
            client.failed, client.cancelled
        ));
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
    if client.by == By::GrowingPrompt {
        said.push(
            "no session ids: taken as one session, because each prompt grows out of the one before"
                .into(),
        );
    }
    said
}

/// One line that says what to do.
pub fn action(facts: &Facts<'_>, verdict: Verdict, cause: Cause) -> String {
    let mean = facts.client.and_then(Client::mean_footprint).filter(|m| *m > 0.0);
    let cap =
        facts.occupancy.as_ref().zip(mean).map(|(o, mean)| (o.pool_tokens as f64 / mean).floor());
    match (verdict, cause) {
        (Verdict::Trap | Verdict::Pressure, Cause::Capacity) => {
            let cap = cap.map_or_else(|| "what the pool holds".into(), |n| fixed(n, 0));
            format!(
                "cap the sessions in the system at about {cap}, counting those in tool calls, and release them as others end; watch waiting time and sessions held beside the hits"
            )
        }
        (Verdict::Trap | Verdict::Pressure, Cause::CachingOff) | (_, Cause::CachingOff) => "switch the prefix cache on".into(),
        (_, Cause::NotThisPool) => "a session cap will not help: look for a smaller sub-pool (hybrid and sliding-window models have several) or an engine that lost its cache; send one long prompt twice to the idle engine, and restart it if the second misses".into(),
        (_, Cause::ClientPrefix) => "have the client keep the beginning of its prompt unchanged (dates, checksums and ids belong at its end); a session cap will not help".into(),
        (_, Cause::PromptLength) => "look at the engine's limits for reuse by prompt length; load has no part in it, so no cap helps".into(),
        (Verdict::Trap | Verdict::Pressure, _) => "cap the sessions in the system, counting those in tool calls, below what the pool holds; --pool and the client's requests give the number".into(),
        (Verdict::QueueOnly, Cause::HeadOfLine) => "look for the one long request that holds the engine; limit long prefills or its output".into(),
        (Verdict::QueueOnly, _) => "reuse works, so a session cap will not help: less load, more engines, or a limit on long cold prompts".into(),
        (Verdict::Cold, _) => "there is nothing to reuse: only less load or more engines shorten the queue".into(),
        (Verdict::MissOnly, _) => "nothing waits yet; find out what holds the pool before the load rises".into(),
        (Verdict::Good, _) => "nothing to do".into(),
        (Verdict::Unmeasurable, _) => switch_on(facts),
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
        return "scrape the token counters: vllm:prefix_cache_queries and _hits, or sglang:realtime_tokens_total (or prompt_tokens_total and cached_tokens_total); hit-rate gauges do not do".into();
    }
    if facts.client.is_some_and(|c| c.unknown > 0 && c.known == 0) {
        return "let the engine report cached tokens per request: vLLM --enable-prompt-tokens-details, SGLang --enable-cache-report; streams also need stream_options.include_usage; or give two scrapes of /metrics".into();
    }
    if facts.timeline.hits(facts.timeline.all()).is_some() {
        return "give the client's requests with session ids (or --reuse-ceiling, if you know how much of each prompt was sent before)".into();
    }
    "give two scrapes of the engine's /metrics a minute apart".into()
}
