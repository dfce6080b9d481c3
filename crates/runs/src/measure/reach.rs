//! What a run that ended before its window did could still have become.
//!
//! Its plan bounds what was to come: who is there and who would arrive, how many turns each has
//! left, how long their prompts and how long their tool calls are. Between those bounds the
//! engine may do anything: answer at once or never, hit or miss, fail a request, which ends its
//! session. So each quantity of the rule has a range, and none of it rests on how fast an
//! engine is. One thing is taken for granted: that the engine goes on saying what it cached.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use crate::run::{Kind, PlannedSession, Run, STARTED, Session, SessionStatus, Turn};
use crate::setup::{Protocol, Span, Workload};

use super::share::{self, Share};

/// Times are kept to 0.1 ms: what could come this much earlier is counted as well, s.
const SLACK_S: f64 = 1e-3;

/// The least and the most that a quantity can come to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Range {
    /// The least.
    pub least: f64,
    /// The most.
    pub most: f64,
}

/// The ranges of what the rule of a run's state asks of its window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Reach {
    /// When the run ended, s.
    pub at_s: f64,
    /// Uncached prompt tokens of the window per second; `None` where they are unknown already.
    pub uncached_tokens_per_s: Option<Range>,
    /// Slope of the backlog over the window, sessions/s; `None` with fewer than two bins.
    pub backlog_slope_per_s: Option<Range>,
    /// Hit fraction of the window's end; `None` while no turn is there.
    pub last_hits: Option<Range>,
    /// Outstanding at the window's end, sessions.
    pub outstanding_end: Range,
}

impl Reach {
    /// Of a run of an open arm over `window`, whose last part is `last`. `None` where the window
    /// has not begun or is over, where the plan does not name all sessions, where these are
    /// recorded, so that no law has their prompts, and of a run that nothing closed: its tables
    /// may lack what had happened.
    pub fn of(
        run: &Run,
        window: Span,
        last: Span,
        protocol: &Protocol,
        workload: &Workload,
    ) -> Option<Self> {
        let at_s = run.meta.duration_s;
        let is_unclosed = run.sources.iter().any(|source| source.path.ends_with(STARTED));
        if !window.holds(at_s) || is_unclosed || workload.recorded.is_some() {
            return None;
        }
        let coming = coming(run, window.end_s)?;
        let prompts = Prompts::of(run, workload);
        let turns: u64 = coming.iter().map(|s| s.turns.len() as u64).sum();
        let numbers = coming.iter().flat_map(|s| &s.turns);
        let tokens: u64 = numbers.map(|number| prompts.most(*number)).sum();
        let open = coming.iter().filter(|s| s.next_s <= window.end_s).count();
        Some(Self {
            at_s,
            uncached_tokens_per_s: uncached(run, window).map(|sofar| {
                let per_s = |tokens: u64| tokens as f64 / window.length_s();
                Range { least: per_s(sofar), most: per_s(sofar + tokens) }
            }),
            backlog_slope_per_s: slope(run, &coming, window, protocol.bins.backlog_s),
            last_hits: share_between(share::hits(run, last), turns),
            outstanding_end: Range { least: 0.0, most: open as f64 },
        })
    }
}

/// A session that has not ended: it is there, or will arrive before the window's end.
struct Coming {
    arrival_s: f64,
    is_here: bool,
    /// When its next request could end, s: it may then be gone, as a request may fail.
    next_s: f64,
    /// The turns that could end before the window does.
    turns: Vec<u64>,
}

/// `None` where the plan lacks a session that is there, or a time is lacking.
fn coming(run: &Run, end_s: f64) -> Option<Vec<Coming>> {
    type Name<'a> = (Kind, &'a str);
    let rows: HashMap<Name<'_>, usize> =
        run.sessions.iter().zip(0..).map(|(s, i)| ((s.kind, &*s.id), i)).collect();
    let known = run.plan.iter().filter(|p| rows.contains_key(&(p.kind, &*p.id))).count();
    let has_no_end = |s: &Session| s.was_in_system() && has_ended(s) && s.t_end_s.is_none();
    if known < run.sessions.len() || run.sessions.iter().any(has_no_end) {
        return None;
    }
    let mut latest: Vec<Option<&Turn>> = vec![None; run.sessions.len()];
    for turn in run.turns.iter().filter(|turn| turn.t_end_s.is_some()) {
        let latest = &mut latest[turn.session.at()];
        if latest.is_none_or(|before| before.number < turn.number) {
            *latest = Some(turn);
        }
    }
    let mut all = Vec::new();
    for planned in &run.plan {
        let row = rows.get(&(planned.kind, &*planned.id)).copied();
        let here = row.map(|row| (&run.sessions[row], latest[row]));
        if here.is_some_and(|(session, _)| has_ended(session)) {
            continue;
        }
        let arrival_s = match here {
            Some((session, _)) => session.t_arrival_s()?,
            None => planned.t_arrival_s?,
        };
        if arrival_s <= end_s {
            all.push(Coming::of(planned, here, arrival_s, run.meta.duration_s, end_s));
        }
    }
    Some(all)
}

fn has_ended(session: &Session) -> bool {
    use SessionStatus::{Completed, Failed, Gated, Paused, Refused, Running};
    match session.status {
        Completed | Failed | Refused => true,
        Running | Gated | Paused => false,
    }
}

impl Coming {
    fn of(
        planned: &PlannedSession,
        here: Option<(&Session, Option<&Turn>)>,
        arrival_s: f64,
        now_s: f64,
        end_s: f64,
    ) -> Self {
        let done = here.map_or(0, |(session, _)| session.turns_done);
        let tool_s = |after: u64| {
            let place = usize::try_from(after.checked_sub(1)?).ok()?;
            planned.tool_s.get(place).copied()
        };
        // The tool call under way, as it was slept: a slowed one is longer than planned.
        let ready_s = here.and_then(|(_, latest)| {
            let turn = latest.filter(|turn| turn.number == done)?;
            Some(turn.t_end_s? + turn.tool_s.or_else(|| tool_s(done))?)
        });
        let next_s = ready_s.unwrap_or(arrival_s).max(now_s) - SLACK_S;
        let mut turns = Vec::new();
        let (mut t_s, mut number) = (next_s, done + 1);
        while number <= planned.turns && t_s < end_s {
            turns.push(number);
            t_s += tool_s(number).unwrap_or(0.0);
            number += 1;
        }
        Self { arrival_s, is_here: here.is_some(), next_s, turns }
    }
}

/// How long a turn's prompt is, by its number: by the law, or longer where the run has one.
struct Prompts<'a> {
    workload: &'a Workload,
    seen: BTreeMap<u64, u64>,
}

impl<'a> Prompts<'a> {
    fn of(run: &Run, workload: &'a Workload) -> Self {
        let mut seen = BTreeMap::new();
        for turn in &run.turns {
            let most: &mut u64 = seen.entry(turn.number).or_default();
            *most = turn.prompt_tokens.max(*most);
        }
        Self { workload, seen }
    }

    fn most(&self, number: u64) -> u64 {
        let by_law = usize::try_from(number).map_or(u64::MAX, |k| self.workload.prompt_tokens(k));
        by_law.max(self.seen.get(&number).copied().unwrap_or(0))
    }
}

/// Uncached prompt tokens of the turns that ended in the window.
fn uncached(run: &Run, window: Span) -> Option<u64> {
    let served = run.turns.iter().filter(|t| t.served_at_s().is_some_and(|t| window.holds(t)));
    served.map(|turn| turn.cached_tokens.map(|cached| turn.prompt_tokens - cached)).sum()
}

/// The hit fractions that up to `more` further turns allow.
fn share_between(sofar: Share, more: u64) -> Option<Range> {
    let turns = (sofar.total() + more) as f64;
    (sofar.total() > 0).then(|| Range {
        least: sofar.hits as f64 / turns,
        most: (sofar.hits + sofar.unknown + more) as f64 / turns,
    })
}

/// The slopes that the sessions' ends allow. The slope is a sum over sessions of what each adds
/// while it is there: less than nothing before the middle of the window, more after it. So one
/// that may leave makes it least if it leaves at the middle, or as soon after it as it can, and
/// most if it leaves at once or stays.
fn slope(run: &Run, coming: &[Coming], window: Span, bin_s: f64) -> Option<Range> {
    let weights = Weights::of(window, bin_s)?;
    let mut range = Range { least: 0.0, most: 0.0 };
    let mut add = |least: f64, most: f64| {
        range.least += least;
        range.most += most;
    };
    for session in run.sessions.iter().filter(|s| s.was_in_system() && has_ended(s)) {
        if let (Some(from), Some(to)) = (session.t_arrival_s(), session.t_end_s) {
            let adds = weights.until(to) - weights.until(from);
            add(adds, adds);
        }
    }
    for session in coming {
        let from = weights.until(session.arrival_s);
        let leaves_s = if session.is_here { session.next_s } else { session.arrival_s };
        let least = weights.until(weights.middle_s.max(leaves_s));
        let most = weights.until(leaves_s).max(weights.until(window.end_s));
        add(least - from, most - from);
    }
    // Arrivals are kept to 0.1 ms, and sums round.
    let off = weights.steepest * SLACK_S * (1 + run.sessions.len() + coming.len()) as f64;
    Some(Range { least: range.least - off, most: range.most + off })
}

/// What one session adds to the slope of the backlog's bin means while it is there.
struct Weights {
    start_s: f64,
    bin_s: f64,
    middle_s: f64,
    /// By the start of each bin and the end of the last.
    sums: Vec<f64>,
    /// The largest, per second.
    steepest: f64,
}

impl Weights {
    fn of(window: Span, bin_s: f64) -> Option<Self> {
        let bins = window.bins(bin_s);
        let (first, last) = (bins.first()?, bins.last()?);
        let middle_s = 0.5 * (first.start_s + last.end_s);
        let off = |bin: &Span| bin.middle_s() - middle_s;
        let squares: f64 = bins.iter().map(|bin| off(bin) * off(bin)).sum();
        let mut sums = vec![0.0];
        let mut sum = 0.0;
        for bin in &bins {
            sum += off(bin) / squares;
            sums.push(sum);
        }
        let steepest = off(last) / squares / bin_s;
        let start_s = window.start_s;
        (bins.len() > 1).then_some(Self { start_s, bin_s, middle_s, sums, steepest })
    }

    /// What a session adds that was there from before the window until `t_s`.
    fn until(&self, t_s: f64) -> f64 {
        let last = self.sums.len() - 1;
        let place = ((t_s - self.start_s) / self.bin_s).clamp(0.0, last as f64);
        let bin = (place as usize).min(last - 1);
        let within = place - bin as f64;
        self.sums[bin] + within * (self.sums[bin + 1] - self.sums[bin])
    }
}

#[cfg(test)]
#[path = "reach/tests.rs"]
mod tests;
