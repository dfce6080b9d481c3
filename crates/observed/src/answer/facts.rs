//! What is known of one engine before anything is judged.

use super::occupancy::Occupancy;
use super::requests::Client;
use super::series::{self, Over};
use super::timeline::{Rise, Stretch, Timeline};
use super::{Ask, Bin, Thresholds};
use crate::form::{Clock, Engine, Observed};

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
    /// M, tokens, as given or as the engine says.
    pub pool: Option<u64>,
    pub occupancy: Option<Occupancy>,
    pub closed: Option<bool>,
    /// Whether each session was seen for turns enough that a backlog could show its growth.
    pub long_enough: bool,
}

impl<'a> Facts<'a> {
    pub fn of(
        engine: Option<&'a Engine>,
        client: Option<&'a Client>,
        observed: &'a Observed,
        ask: &Ask,
        rule: &'a Thresholds,
    ) -> Self {
        let over = engine.and_then(|e| series::timeline(e, e.clock));
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
        let before = engine.and_then(|e| e.best_hits_before);
        let best = timeline.bins.iter().filter_map(Bin::hits).chain(before).max_by(f64::total_cmp);
        let ceiling = ask.reuse_ceiling.map(|c| (c, "as given"));
        let ceiling =
            if of_reusable { Some((1.0, "what the sessions had sent before")) } else { ceiling };
        let by_sessions =
            client.and_then(Client::reuse_share).map(|c| (c, "by the sessions' own prompts"));
        let seen = best
            .filter(|b| *b >= rule.reuse_shown)
            .map(|b| (b, "the best stretch of this file did"));
        // What was found could be found, whatever the sessions seem to share.
        let most = |a: &(f64, &str), b: &(f64, &str)| a.0.total_cmp(&b.0);
        let ceiling = ceiling.or_else(|| seen.into_iter().chain(by_sessions).max_by(most));
        let pool = ask.pool_tokens.or_else(|| engine.and_then(|e| e.pool_tokens));
        let occupancy = Occupancy::of(client, over.as_ref(), pool);
        let closed = ask.closed.or(observed.closed).or_else(|| client.and_then(|c| c.closed));
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
            pool,
            occupancy,
            closed,
            long_enough: client.and_then(|c| c.turns_per_session).is_none_or(|turns| {
                turns >= rule.turns_per_session || client.is_none_or(|c| c.sessions.len() < 2)
            }),
        }
    }

    /// Whether almost all that could be found is missed in a bin.
    pub fn misses(&self, bin: &Bin) -> Option<bool> {
        let ceiling = self.ceiling.map_or(1.0, |(c, _)| c);
        bin.hits().map(|hits| hits < self.rule.missed_below * ceiling)
    }

    /// Whether a good part is missed.
    pub(crate) fn is_pressed(&self, bin: &Bin) -> Option<bool> {
        let ceiling = self.ceiling.map_or(1.0, |(c, _)| c);
        bin.hits().map(|hits| hits < self.rule.found_above * ceiling)
    }

    pub(crate) fn sustained(&self, stretch: Stretch) -> bool {
        let (from, to) = self.timeline.span_s(stretch);
        let half = 2 * (stretch.to - stretch.from) >= self.timeline.bins.len();
        half || self.timeline.clock != Clock::Order && to - from >= self.rule.sustained_s
    }

    pub(crate) fn grew(&self, rise: Option<Rise>) -> Option<bool> {
        let rise = rise?;
        let by = rise.to - rise.from;
        Some(by >= self.rule.rise_requests && by >= self.rule.rise_over_scatter * rise.scatter)
    }

    pub fn waits(&self, stretch: Stretch) -> Option<bool> {
        let waiting = self.timeline.mean(stretch, |bin| bin.waiting)?;
        Some(waiting >= self.rule.waiting)
    }
}
