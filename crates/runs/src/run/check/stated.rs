//! What `meta.json` states about a run, against what its tables show.

use std::path::Path;

use super::super::problem::Problem;
use super::super::{Kind, Rate, Run, TurnStatus};
use crate::setup::Arm;

/// Arms that have no burst by definition (App. E.3, E.4).
const WITHOUT_BURST: [Arm; 4] = [Arm::NoBurst, Arm::Closed, Arm::E0a, Arm::E0b];
/// Arms that are nothing without one.
const WITH_BURST: [Arm; 3] = [Arm::Burst, Arm::Capped, Arm::Rescue];

/// A run may outlast the last row of its tables this many times and this long, s, in which
/// nothing happened.
const LONGEST_SILENCE: (f64, f64) = (10.0, 600.0);

/// How far apart two statements about the wall clock may be: seconds, and a share.
const CLOCK_TOLERANCE: (f64, f64) = (1.0, 0.01);

/// Two sizes of one pool may differ by this share: an engine counts in blocks.
const POOL_TOLERANCE: f64 = 0.01;

/// An arrival rate this many times the stated one, either way, is no chance of a Poisson
/// stream of so many sessions (below 1 in 10,000), nor a cut of the rate half-way.
const RATE_FACTOR: f64 = 3.0;
const FEWEST_ARRIVALS: usize = 20;

/// Everything that cannot be, and as notes what is odd.
pub fn contradictions(run: &Run, metadata: &Path) -> Vec<Problem> {
    let errors = [silent(run), burst(run), hits(run), prompt(run)];
    let notes = [no_burst(run), pool(run), rate(run), wall_clock(run)];
    let problem = |(key, message): (&'static str, String)| Problem::of_key(metadata, key, message);
    let errors = errors.into_iter().flatten().map(problem);
    errors.chain(notes.into_iter().flatten().map(|said| problem(said).as_note())).collect()
}

/// The key that is contradicted, and how.
type Said = Option<(&'static str, String)>;

/// Measures cover the stated length: the tables must hold a run of that length.
fn silent(run: &Run) -> Said {
    let turns = run.turns.iter().flat_map(|t| [Some(t.t_submit_s), t.t_end_s]);
    let sessions = run.sessions.iter().flat_map(|s| [s.t_planned_s, s.t_admitted_s, s.t_end_s]);
    let plan = run.plan.iter().map(|p| p.t_arrival_s);
    let engine = run.engine.iter().map(|e| Some(e.t_s));
    let gate = run.gate.iter().map(|g| Some(g.t_s));
    let times = turns.chain(sessions).chain(plan).chain(engine).chain(gate);
    let last_s = times.flatten().fold(0.0, f64::max);
    let (factor, seconds) = LONGEST_SILENCE;
    (run.meta.duration_s > factor * last_s + seconds).then(|| {
        let message = format!(
            "{} s, but the last row of its tables is at {last_s} s: expected the seconds that the \
             run lasted",
            run.meta.duration_s
        );
        ("duration_s", message)
    })
}

fn burst_sessions(run: &Run) -> (usize, usize) {
    let planned = run.plan.iter().filter(|p| p.kind == Kind::Burst).count();
    (planned, run.sessions.iter().filter(|s| s.kind == Kind::Burst).count())
}

fn burst(run: &Run) -> Said {
    let (planned, arrived) = burst_sessions(run);
    let wrong = WITHOUT_BURST.contains(&run.meta.arm) && planned.max(arrived) > 0;
    wrong.then(|| {
        let message = format!(
            "{} has no burst, but {planned} burst sessions were planned and {arrived} arrived",
            run.meta.arm
        );
        ("arm", message)
    })
}

fn no_burst(run: &Run) -> Said {
    let (planned, arrived) = burst_sessions(run);
    let odd = WITH_BURST.contains(&run.meta.arm) && !run.plan.is_empty();
    (odd && planned + arrived == 0)
        .then(|| ("arm", format!("{} has a burst, but none was planned", run.meta.arm)))
}

/// Without the prefix cache nothing is found in it.
fn hits(run: &Run) -> Said {
    if run.meta.prefix_caching {
        return None;
    }
    let of_turns: u64 = run.turns.iter().filter_map(|t| t.cached_tokens).sum();
    let counter: Vec<u64> = run.engine.iter().filter_map(|e| e.cached_tokens_total).collect();
    let of_engine: u64 = counter.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).sum();
    (of_turns + of_engine > 0).then(|| {
        let message = format!(
            "false, but cached prompt tokens were found: {of_turns} by the turns, {of_engine} by \
             the engine's counter"
        );
        ("prefix_caching", message)
    })
}

/// A prompt that was served lay in the pool.
fn prompt(run: &Run) -> Said {
    let served = run.turns.iter().filter(|turn| turn.status == TurnStatus::Ok);
    let longest = served.map(|turn| turn.prompt_tokens).max()?;
    let pool = run.meta.pool_tokens;
    (longest > pool).then(|| {
        let message =
            format!("a pool of {pool} tokens, but a prompt of {longest} tokens was served");
        ("pool_tokens", message)
    })
}

fn pool(run: &Run) -> Said {
    let stated = run.meta.pool_tokens;
    let apart = |total: &u64| total.abs_diff(stated) as f64 > POOL_TOLERANCE * stated as f64;
    let total = run.engine.iter().filter_map(|e| e.kv_total_tokens).find(apart)?;
    Some(("pool_tokens", format!("{stated}, but the engine's own gauge says {total}")))
}

fn rate(run: &Run) -> Said {
    let Rate { multiple, lambda_ref, lambda } = run.meta.rate;
    let stated = lambda.or_else(|| Some(multiple? * lambda_ref?))?;
    let planned = run.plan.iter().filter(|p| p.kind == Kind::Base).filter_map(|p| p.t_arrival_s);
    let arrived = run.sessions.iter().filter(|s| s.kind == Kind::Base);
    let arrived = arrived.filter_map(|s| s.t_planned_s);
    // Both are in order of arrival.
    let (times, which): (Vec<f64>, _) = match run.plan.is_empty() {
        false => (planned.collect(), "planned"),
        true => (arrived.collect(), "arrived"),
    };
    let (Some(first), Some(last)) = (times.first(), times.last()) else { return None };
    let seen = (times.len() - 1) as f64 / (last - first).max(1e-3);
    let far = seen > RATE_FACTOR * stated || seen < stated / RATE_FACTOR;
    (far && times.len() >= FEWEST_ARRIVALS).then(|| {
        let message = format!(
            "{stated} sessions/s, but its {} base sessions {which} come at {seen:.4} sessions/s",
            times.len()
        );
        ("rate.lambda", message)
    })
}

fn wall_clock(run: &Run) -> Said {
    let wall_s = run.meta.end_unix? - run.meta.start_unix?;
    let duration_s = run.meta.duration_s;
    let (seconds, share) = CLOCK_TOLERANCE;
    ((wall_s - duration_s).abs() > seconds.max(share * duration_s)).then(|| {
        let message = format!(
            "{wall_s:.3} s after start_unix, but the run lasted {duration_s} s on its own clock"
        );
        ("end_unix", message)
    })
}
