//! A client's requests: sessions and what they hold, what could be reused and what was, and
//! requests in flight over time.

mod reuse;
mod waits;

pub use waits::Waits;

use super::Thresholds;
use super::timeline::{BINS, Cut, Timeline};
use crate::form::{Clock, Ended, Observed, Request};
use crate::measure::population::StepFunction;
use crate::measure::stats::median;
use crate::sessions::{By, Session, reusable_tokens, sessions};
use crate::setup::Span;

/// What the requests say together.
pub struct Client {
    pub timeline: Timeline,
    pub sessions: Vec<Session>,
    pub by: By,
    pub served: u64,
    pub failed: u64,
    pub cancelled: u64,
    /// Follow-ups of which it is known what was cached.
    pub known: u64,
    /// Served requests of which it is not.
    pub unknown: u64,
    /// What could be found, and of how much: of served requests of which it is known.
    pub reusable_tokens: u64,
    pub prompt_tokens: u64,
    /// What the sessions hold together, tokens: the largest of the sums over those present at a
    /// time, or of all where there are no times.
    pub footprints_tokens: Option<f64>,
    /// The same at each bin of the timeline is not kept: one number decides.
    pub sessions_present: Option<f64>,
    pub has_times: bool,
    pub closed: Option<bool>,
    /// Cached tokens that stay the same while prompts grow.
    pub constant_cached: Option<u64>,
    /// Longest prompt that was found and shortest that was not, of a session alone.
    pub falls_off_at: Option<(u64, u64)>,
    /// Tokens between which the pool that binds must lie, by what was found and what missed.
    pub binding_tokens: Option<(u64, u64)>,
    /// Who waits for the first token, where few do for long.
    pub waits: Option<Waits>,
    /// Prompt tokens, and two waits for a first token that hint at reuse, s.
    pub first_token_hint: Option<(u64, f64, f64)>,
    pub median_latency_s: Option<f64>,
    pub turns_per_session: Option<f64>,
    /// From the first request's sending to the last one's end, s.
    pub seconds: f64,
}

impl Client {
    pub fn of(observed: &Observed, rule: &Thresholds) -> Option<Self> {
        let requests = &observed.requests;
        if requests.is_empty() {
            return None;
        }
        let (sessions, by) = sessions(observed);
        let reusable = reusable_tokens(observed, &sessions);
        let each = observed.kept.stands_for();
        let all = |n: u64| (n as f64 * each) as u64;
        let with = |ended: fn(Ended) -> bool| {
            all(requests.iter().filter(|r| ended(r.ended)).count() as u64)
        };
        let served: Vec<&Request> = requests.iter().filter(|r| r.ended == Ended::Served).collect();
        let has_times = served.iter().all(|r| r.t_submit_s.is_some() && r.t_end_s.is_some());
        let latency = |r: &&Request| r.latency_s.or(Some(r.t_end_s? - r.t_submit_s?));
        let latencies: Vec<f64> = served.iter().filter_map(latency).collect();
        let present = present(observed, &sessions, has_times, rule);
        let follow_ups = reusable.iter().zip(requests).filter(|(reusable, request)| {
            reusable.is_some_and(|tokens| tokens > 0) && request.ended == Ended::Served
        });
        let known = follow_ups.filter(|(_, r)| r.cached_tokens.is_some()).count() as u64;
        // Of a follow-up whose turn before is not there, nothing is known.
        let told = requests.iter().zip(&reusable).filter(|(r, _)| r.ended == Ended::Served);
        let told = told.filter_map(|(r, tokens)| Some((r.prompt_tokens?, (*tokens)?)));
        let (prompt_tokens, reusable_tokens) = told
            .fold((0, 0), |(prompts, sums), (prompt, tokens)| (prompts + prompt, sums + tokens));
        let turns = |s: &Session| {
            s.requests.iter().filter(|i| requests[**i].ended == Ended::Served).count()
        };
        let turned: usize = sessions.iter().map(turns).sum();
        Some(Self {
            timeline: timeline(observed, &reusable, has_times),
            served: all(served.len() as u64),
            failed: with(|e| matches!(e, Ended::Failed(_))),
            cancelled: with(|e| e == Ended::Cancelled),
            known,
            unknown: served.iter().filter(|r| r.cached_tokens.is_none()).count() as u64,
            reusable_tokens,
            prompt_tokens,
            footprints_tokens: present.footprints.map(|tokens| tokens * each),
            sessions_present: present.sessions.map(|n| n * each),
            closed: present.closed,
            constant_cached: constant_cached(observed, &sessions, rule),
            falls_off_at: falls_off_at(observed, &sessions, rule),
            binding_tokens: reuse::binding_tokens(observed, &sessions, &reusable, rule),
            waits: waits::waits(observed, rule),
            first_token_hint: waits::first_token_hint(observed, rule),
            median_latency_s: median(&latencies),
            turns_per_session: (!sessions.is_empty())
                .then(|| turned as f64 / sessions.len() as f64),
            seconds: span(requests).map_or(0.0, |(from, to)| to - from),
            sessions,
            by,
            has_times,
        })
    }

    /// The share of prompt tokens that could have been found, where sessions are known.
    pub(crate) fn reuse_share(&self) -> Option<f64> {
        (self.by != By::Nothing && self.prompt_tokens > 0)
            .then(|| self.reusable_tokens as f64 / self.prompt_tokens as f64)
    }
}

fn span(requests: &[Request]) -> Option<(f64, f64)> {
    let from = requests.iter().filter_map(|r| r.t_submit_s).min_by(f64::total_cmp)?;
    let to = requests.iter().filter_map(|r| r.t_end_s.or(r.t_submit_s)).max_by(f64::total_cmp)?;
    Some((from, to))
}

/// Follow-ups by their ends: what could be reused, and what of it was. Without sessions, all
/// prompt tokens.
fn timeline(observed: &Observed, reusable: &[Option<u64>], has_times: bool) -> Timeline {
    let requests = &observed.requests;
    let clock = if has_times { observed.clock } else { Clock::Order };
    let by_sessions = reusable.iter().flatten().any(|tokens| *tokens > 0);
    let when = |i: usize| if has_times { requests[i].t_end_s } else { Some(i as f64 + 1.0) };
    let (from, to) =
        if has_times { span(requests).unwrap_or_default() } else { (0.0, requests.len() as f64) };
    if to <= from {
        return Timeline::default();
    }
    let wanted = (requests.len() / 8).clamp(1, BINS);
    let cut = Cut::new((from, to), wanted);
    let mut bins = cut.bins();
    for (i, request) in requests.iter().enumerate() {
        let Some(t) = when(i).filter(|_| request.ended == Ended::Served) else { continue };
        let bin = &mut bins[cut.place(t)];
        let could = if by_sessions { reusable[i] } else { request.prompt_tokens };
        if let (Some(could), Some(cached)) = (could, request.cached_tokens) {
            bin.looked_up += could as f64;
            bin.found += cached.min(could) as f64;
        }
        bin.admitted = Some(true);
    }
    if has_times {
        let starts_s = requests.iter().filter_map(|r| r.t_submit_s).collect();
        let ends_s = requests.iter().filter_map(|r| r.t_submit_s.and(r.t_end_s)).collect();
        let in_flight = StepFunction::counting(starts_s, ends_s);
        for bin in &mut bins {
            let mean = in_flight.mean_over(Span::new(bin.from_s, bin.to_s));
            bin.outstanding = Some(mean * observed.kept.stands_for());
        }
    }
    Timeline { clock, bins }
}

struct Present {
    footprints: Option<f64>,
    sessions: Option<f64>,
    closed: Option<bool>,
}

/// Sessions between their first request and their last one's end, and what they hold: each its
/// largest prompt and output.
fn present(
    observed: &Observed,
    sessions: &[Session],
    has_times: bool,
    rule: &Thresholds,
) -> Present {
    let requests = &observed.requests;
    let nothing = Present { footprints: None, sessions: None, closed: None };
    let held = |s: &Session| {
        let tokens = s.requests.iter().filter_map(|i| requests[*i].footprint_tokens());
        tokens.max().map(|t| t as f64)
    };
    let footprints: Vec<(&Session, f64)> =
        sessions.iter().filter_map(|s| Some((s, held(s)?))).collect();
    if footprints.is_empty() {
        return nothing;
    }
    if !has_times {
        let all = footprints.iter().map(|(_, held)| held).sum();
        return Present {
            footprints: Some(all),
            sessions: Some(footprints.len() as f64),
            closed: None,
        };
    }
    let (mut counts, mut tokens) = (Vec::new(), Vec::new());
    for (session, held) in &footprints {
        let times = |f: fn(&Request) -> Option<f64>| {
            session.requests.iter().filter_map(move |i| f(&requests[*i]))
        };
        let from = times(|r| r.t_submit_s).min_by(f64::total_cmp);
        let to = times(|r| r.t_end_s.or(r.t_submit_s)).max_by(f64::total_cmp);
        if let (Some(from), Some(to)) = (from, to) {
            counts.extend([(from, 1.0), (to, -1.0)]);
            tokens.extend([(from, *held), (to, -*held)]);
        }
    }
    let Some((from, to)) = span(requests).filter(|(from, to)| to > from) else { return nothing };
    let count = StepFunction::from_changes(counts);
    let all = Span::new(from, to);
    let middle = Span::new(from + 0.2 * (to - from), to - 0.2 * (to - from));
    let most = count.max_over(all);
    // As many sessions all the time: the client replaces each that ends. A fifth at each end is
    // where they enter and leave.
    let closed = sessions.len() > 1 && count.min_over(middle) >= rule.closed_share * most;
    Present {
        footprints: Some(StepFunction::from_changes(tokens).max_over(all)),
        sessions: Some(most),
        closed: Some(closed),
    }
}

/// A number of cached tokens that most follow-ups share to within a block, while their prompts
/// grow by far more: the client changes something there.
fn constant_cached(observed: &Observed, sessions: &[Session], rule: &Thresholds) -> Option<u64> {
    /// The largest block in use but for a few engines.
    const BLOCK: u64 = 64;
    let mut cached = Vec::new();
    let mut prompts = (u64::MAX, 0);
    for session in sessions {
        for place in session.requests.iter().skip(1) {
            let request = &observed.requests[*place];
            let (Some(found), Some(prompt)) = (request.cached_tokens, request.prompt_tokens) else {
                continue;
            };
            cached.push(found);
            prompts = (prompts.0.min(prompt), prompts.1.max(prompt));
        }
    }
    if cached.len() as u64 <= rule.follow_ups {
        return None;
    }
    cached.sort_unstable();
    let middle = cached[cached.len() / 2];
    let same = cached.iter().filter(|c| c.abs_diff(middle) <= BLOCK).count() as f64;
    let grows = prompts.1.saturating_sub(prompts.0) > 8 * BLOCK;
    let most = same >= rule.same_share * cached.len() as f64;
    (middle > 0 && grows && most && middle < prompts.0).then_some(middle)
}

/// A session alone whose prompts are found up to one length and never beyond.
fn falls_off_at(
    observed: &Observed,
    sessions: &[Session],
    rule: &Thresholds,
) -> Option<(u64, u64)> {
    let [session] = sessions else { return None };
    let turns = session.requests.iter().skip(1).map(|i| &observed.requests[*i]);
    let known: Vec<(u64, u64)> =
        turns.filter_map(|r| Some((r.prompt_tokens?, r.cached_tokens?))).collect();
    let found = known.iter().filter(|(_, cached)| *cached > 0).map(|(prompt, _)| *prompt).max()?;
    let missed =
        known.iter().filter(|(_, cached)| *cached == 0).map(|(prompt, _)| *prompt).min()?;
    let misses = known.iter().filter(|(_, cached)| *cached == 0).count();
    (missed > found && misses as u64 >= rule.follow_ups).then_some((found, missed))
}
