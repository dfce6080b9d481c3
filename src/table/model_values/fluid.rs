//! The exact fluid: cuts, stops, Kendall's probabilities and the registered window
//! (App. A, sec 4, 5).

use super::answer::{Answer, Unanswered};
use super::question::{At, Formula, needed};
use super::trap;
use crate::model::fifo::kendall;
use crate::model::fifo::threshold::critical_backlog;
use crate::model::fluid::cut::{BurstProtocol, Fate, fate};
use crate::model::fluid::{Arrivals, Start, Trajectory, orbit, think};

/// Bins of the backlog's slope (App. E.5), s.
pub(crate) const SLOPE_BIN_S: f64 = 10.0;
/// How long a stop is followed (App. E.10), s.
const STOP_FOLLOWED_S: f64 = 7200.0;

pub(super) const QUANTITIES: &[(&str, Formula)] = &[
    ("lowest_backlog_after_cut", |at| Ok(lowest(at)?.0)),
    ("dip_after_cut_percent", |at| {
        let (lowest, before) = lowest(at)?;
        Ok(100.0 * (lowest / before - 1.0))
    }),
    ("backlog_at_cut", |at| Ok(lowest(at)?.1)),
    ("backlog_at_end", |at| Ok(after_cut(at)?.backlog(needed("until_s", at.with.until_s)?))),
    ("backlog_it_settles_at", |at| {
        let work_s = after_cut(at)?.work_left_s(needed("cut", at.with.cut)?.at_s);
        Ok(critical_backlog(&at.theory.model_f, work_s))
    }),
    ("empty_at_s", empty_at_s),
    ("stop_until_onset_s", |at| {
        let stop_s = needed("stop_s", at.with.stop_s)?;
        let onset = at.theory.curve()?.model().onset().population();
        let reached = at.fluid(&[(stop_s, 0.0)], stop_s + STOP_FOLLOWED_S)?;
        let reached_s = reached.falls_to_s(stop_s, onset);
        Ok(reached_s.ok_or_else(|| Unanswered::new("never reached"))? - stop_s)
    }),
    ("stop_until_empty_s", |at| {
        let stop_s = needed("stop_s", at.with.stop_s)?;
        Ok(at.fluid(&[(stop_s, 0.0)], stop_s + STOP_FOLLOWED_S)?.work_left_s(stop_s))
    }),
    ("emptying_probability", emptying_probability),
    ("window_slope_over_growth_less_one", |at| {
        let window_s = at.theory.paired.window_s;
        let fluid = to_the_window(at)?;
        let slope = fluid.backlog_slope_per_s(window_s.start_s, window_s.end_s, SLOPE_BIN_S);
        Ok(slope / trap::growth_per_s(at)? - 1.0)
    }),
    ("window_prompt_over_asymptote_less_one", |at| {
        let window_s = at.theory.paired.window_s;
        let prompts = &at.theory.means.prompt_tokens;
        let served = to_the_window(at)?.served_mean(window_s.start_s, window_s.end_s, prompts);
        Ok(served / trap::mean_served_prompt(at)? - 1.0)
    }),
    ("generations_to_the_window", generations_to_the_window),
];

/// The fluid from the burst to the end of the registered window.
fn to_the_window(at: &At) -> Result<Trajectory, Unanswered> {
    at.fluid(&[], at.theory.paired.window_s.end_s)
}

/// The fluid with its arrivals cut.
pub(crate) fn after_cut(at: &At) -> Result<Trajectory, Unanswered> {
    let cut = needed("cut", at.with.cut)?;
    at.fluid(&[(cut.at_s, cut.to.per_s(at.theory))], needed("until_s", at.with.until_s)?)
}

/// The lowest backlog after a cut, and the backlog before it.
fn lowest(at: &At) -> Result<(f64, f64), Unanswered> {
    let (fluid, cut) = (after_cut(at)?, needed("cut", at.with.cut)?);
    let (lowest, _) = fluid.lowest_backlog(cut.at_s, needed("until_s", at.with.until_s)?);
    Ok((lowest, fluid.backlog(cut.at_s)))
}

/// When the queue is empty after a cut, by Prop. 1(a).
fn empty_at_s(at: &At) -> Answer {
    let cut = needed("cut", at.with.cut)?;
    let work_s = at.fluid(&[], cut.at_s + 1.0)?.work_left_s(cut.at_s);
    match fate(&at.theory.model_f, work_s, cut.to.per_s(at.theory))? {
        Fate::Empties { after_s } => Ok(cut.at_s + after_s),
        Fate::Settles { .. } | Fate::Grows { .. } => Err(Unanswered::new("it does not empty")),
    }
}

/// A burst into an empty engine, its remaining work some time later taken as realized.
fn emptying_probability(at: &At) -> Answer {
    let (model, lambda) = (&at.theory.model_f, at.rate_per_s()?);
    let protocol = BurstProtocol::of(at.theory.paired.burst, 0.0);
    let at_s = protocol.burst_s + needed("after_s", at.with.after_s)?;
    let work_s = protocol.run(model, lambda, &[], at_s + 1.0)?.work_left_s(at_s);
    Ok(kendall::emptying_probability(model, lambda, work_s)?)
}

/// Generations from the burst's end to the registered window's start.
pub(crate) fn generations_to_the_window(at: &At) -> Answer {
    let (burst, window_s) = (at.theory.paired.burst, at.theory.paired.window_s);
    let ended_s = burst.start_s + burst.length_s;
    Ok(orbit::generations(&to_the_window(at)?, ended_s, window_s.start_s) as f64)
}

/// By how much a think time of the workload's mean tool time changes the window's backlog
/// slope, completions and mean served prompt, in percent (App. A).
pub(crate) fn changes_by_a_think_time(at: &At) -> Result<[f64; 3], Unanswered> {
    let (theory, lambda) = (at.theory, at.rate_per_s()?);
    let (protocol, model) = (theory.burst(lambda), &theory.model_f);
    let window_s = theory.paired.window_s;
    let arrivals = Arrivals::constant(lambda)?.with_burst(
        protocol.burst_s,
        protocol.length_s,
        protocol.sessions,
    )?;
    let start = Start::stationary(protocol.burst_s, protocol.good_sessions, model);
    let think_s = theory.workload.tool_time.mean_s();
    let with = think::run(model, &start, &arrivals, think_s, window_s.end_s)?;
    let without = to_the_window(at)?;
    let prompts = &theory.means.prompt_tokens;
    let statistics = |fluid: &Trajectory| {
        let (from_s, to_s) = window_s.into();
        [
            fluid.backlog_slope_per_s(from_s, to_s, SLOPE_BIN_S),
            fluid.sessions_completed(from_s, to_s),
            fluid.served_mean(from_s, to_s, prompts),
        ]
    };
    let (with, without) = (statistics(&with), statistics(&without));
    Ok([0, 1, 2].map(|i| 100.0 * (with[i] / without[i] - 1.0)))
}

/// From the burst's end until its first session of the most turns can have completed, in
/// minutes: until then what the burst brought has completed next to nothing (sec 4.1).
pub(crate) fn blackout_min(at: &At) -> Answer {
    let burst = at.theory.paired.burst;
    let fluid = at.fluid(&[], at.theory.paired.horizon_s)?;
    let turns = at.theory.model_f.survival().len();
    let first_s = (0..turns).fold(burst.start_s, |at_s, _| fluid.completes_s(at_s));
    Ok((first_s - burst.start_s - burst.length_s) / 60.0)
}
