//! A ladder of closed runs, of which only totals are known: hits over the reuse ceiling against
//! population. Rungs are coarse, so the fall is a bracket, never a point.

use super::share::percent;
use super::{Answer, Ask, Cause, Evidence, Identity, Thresholds, Timeline, Verdict};
use crate::digits::fixed;
use crate::form::Observed;

/// Judges it.
pub fn answer(observed: &Observed, ask: &Ask, rule: &Thresholds) -> Option<Answer> {
    let rungs: Vec<(Option<u64>, f64, Option<f64>)> = observed
        .rungs
        .iter()
        .filter_map(|r| {
            Some((r.population, r.hit_fraction?, r.reuse_ceiling.or(ask.reuse_ceiling)))
        })
        .collect();
    let Some(best) = rungs.iter().map(|r| r.1).max_by(f64::total_cmp) else {
        return by_throughput(observed, rule);
    };
    let seen = (rungs.len() > 1 && best >= rule.reuse_shown).then_some(best);
    let ceiling = rungs.iter().find_map(|r| r.2).or(seen);
    let over = |hits: f64| ceiling.map(|c| hits / c);
    let worst = rungs.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let named =
        |population: Option<u64>| population.map_or("this run".into(), |n| format!("{n} sessions"));
    // The half-hit crossing, by its name.
    let half = |r: &&(Option<u64>, f64, Option<f64>)| over(r.1).is_some_and(|x| x < 0.5);
    let first_low = rungs.iter().position(|r| half(&r));
    let is_missed = |r: &(Option<u64>, f64, Option<f64>)| {
        over(r.1).is_some_and(|share| share < rule.missed_below)
    };
    let where_missed = match rungs.iter().position(is_missed) {
        Some(i) if i + 1 < rungs.len() && rungs[i..].iter().all(is_missed) => {
            format!("from {} on", named(rungs[i].0))
        }
        _ => format!("at {}", named(worst.0)),
    };
    let (verdict, why) = match over(worst.1) {
        None => (
            Verdict::Unmeasurable,
            format!(
                "{} of the prompt tokens were found, and nothing says how many could be",
                percent(worst.1)
            ),
        ),
        Some(x) if x < rule.missed_below => (
            Verdict::Trap,
            format!(
                "almost all reuse is missed {where_missed}; a closed population, so growth is not testable"
            ),
        ),
        Some(x) if x < rule.found_above => {
            (Verdict::Pressure, format!("a good part of the reuse is missed at {}", named(worst.0)))
        }
        Some(_) => (Verdict::Good, "what can be reused is found on every rung".into()),
    };
    let say = |quantity, value, unit, words| Evidence {
        quantity,
        value,
        unit,
        from_s: 0.0,
        to_s: 0.0,
        words,
    };
    let mut evidence: Vec<Evidence> = rungs
        .iter()
        .map(|r| {
            let of_ceiling =
                over(r.1).map_or(String::new(), |x| format!(", {} of the ceiling", percent(x)));
            say(
                "hit fraction",
                r.1,
                "",
                format!("at {}: found {}{of_ceiling}", named(r.0), percent(r.1)),
            )
        })
        .collect();
    if let Some(c) = ceiling {
        let from = if seen.is_some() && rungs.iter().all(|r| r.2.is_none()) {
            "the best rung"
        } else {
            "as told"
        };
        evidence.push(say(
            "reuse ceiling",
            c,
            "",
            format!("reuse ceiling {} ({from})", percent(c)),
        ));
    }
    let bracket = first_low.and_then(|i| Some((rungs[i.checked_sub(1)?].0?, rungs[i].0?)));
    let action = match bracket {
        Some((good, bad)) => {
            // The rungs about the fall before the others.
            evidence[..rungs.len()].rotate_left(first_low.map_or(0, |i| i - 1));
            evidence.insert(
                0,
                say(
                    "half-hit crossing",
                    good as f64,
                    "sessions",
                    format!(
                        "hits fall below half of the ceiling between {good} and {bad} sessions"
                    ),
                ),
            );
            format!(
                "stay at {good} sessions or below; a rung between {good} and {bad} would narrow it"
            )
        }
        None if verdict == Verdict::Unmeasurable => {
            "give a rung at a small population, or --reuse-ceiling".into()
        }
        None if verdict == Verdict::Good => "nothing to do".into(),
        None => "add a rung at a smaller population: none here still hits".into(),
    };
    let but = "totals of whole runs: warm-up and drain are in them";
    Some(of_ladder(observed, verdict, &why, action, evidence, but))
}

/// The answer of a ladder: no time, no engine's pool.
fn of_ladder(
    observed: &Observed,
    verdict: Verdict,
    why: &str,
    action: String,
    evidence: Vec<Evidence>,
    but: &str,
) -> Answer {
    Answer {
        engine: "ladder".into(),
        identity: Identity { simulated: observed.simulated, ..Identity::default() },
        capacity: None,
        verdict,
        cause: Cause::Unknown,
        since_s: None,
        until_s: None,
        headline: format!("{}: {why}", verdict.word().to_uppercase()),
        evidence,
        contradictions: vec![but.into()],
        switch_on: (verdict == Verdict::Unmeasurable).then(|| action.clone()),
        action,
        timeline: Timeline::default(),
    }
}

/// Where no rung tells its hits: a throughput that falls beyond a peak is the closed curve's
/// falling branch, on which the work is misses.
fn by_throughput(observed: &Observed, rule: &Thresholds) -> Option<Answer> {
    let rungs: Vec<(u64, f64)> =
        observed.rungs.iter().filter_map(|r| Some((r.population?, r.tokens_per_s?))).collect();
    let peak = (0..rungs.len()).max_by(|a, b| rungs[*a].1.total_cmp(&rungs[*b].1))?;
    let (at, best) = rungs[peak];
    let fall = rungs.get(peak + 1).filter(|next| next.1 < rule.found_above * best).copied();
    let say = |(population, rate): &(u64, f64)| Evidence {
        quantity: "throughput",
        value: *rate,
        unit: "tokens/s",
        from_s: 0.0,
        to_s: 0.0,
        words: format!("at {population} sessions: {} tokens/s", fixed(*rate, 1)),
    };
    let (verdict, why, action) = match fall {
        Some((next, rate)) => (
            Verdict::Pressure,
            format!(
                "throughput falls by {} from {at} to {next} sessions: the falling branch of a closed curve, where what is computed are misses",
                percent(1.0 - rate / best)
            ),
            format!(
                "stay at {at} sessions or below; a rung between {at} and {next} would narrow it, and the hits of each rung would prove it"
            ),
        ),
        None => (
            Verdict::Unmeasurable,
            "no rung tells its hits, and throughput does not fall".into(),
            "give each rung's cache counters (server_metrics.cache, or two scrapes)".into(),
        ),
    };
    let mut evidence: Vec<Evidence> = rungs.iter().map(say).collect();
    // The rungs about the fall before the others.
    evidence.rotate_left(fall.map_or(0, |_| peak));
    let but = "no rung tells its hits: this rests on throughput alone";
    Some(of_ladder(observed, verdict, &why, action, evidence, but))
}
