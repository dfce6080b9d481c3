//! Two engines under one load: one left alone after the burst, one rescued by a cap.

use crate::digits::fixed;
use crate::figure::Figure;
use crate::figure::timeline::Timeline;
use crate::figure::two_engines::{EngineRun, TwoEngines, two_engines};
use crate::judged::score::ScoredRun;

use super::spec::FigureSpec;
use super::{burst_words, fractions, origin};

/// The BURST run and the rescue run of one cell, rate and seed; `None` when either is
/// not there.
pub fn draw<'a>(
    alone: Option<&'a ScoredRun>,
    rescued: Option<&'a ScoredRun>,
    spec: &FigureSpec,
) -> (Figure, Vec<&'a ScoredRun>) {
    let gate = rescued.and_then(|run| run.meta.gate);
    let span = alone.or(rescued).map(|run| run.measures.window_span);
    let run = |title: &str, run: Option<&ScoredRun>| EngineRun {
        title: title.into(),
        origin: run.map(origin).unwrap_or_default(),
        follow_up_hits: run.map_or_else(Vec::new, |r| fractions(&r.measures.series.follow_up_hits)),
        in_system: run.map_or_else(Vec::new, |r| r.measures.series.backlog.clone()),
        held: run.map_or_else(Vec::new, |r| r.measures.series.held.clone()),
    };
    let prompt = |run: Option<&ScoredRun>| {
        let mean = run.and_then(|r| r.measures.window.as_ref()?.mean_prompt_tokens);
        mean.map_or_else(|| "unknown".to_owned(), |p| fixed(p, 0))
    };
    let cap = gate.map_or(String::new(), |g| format!(" by a cap of {}", g.n_cap));
    let input = TwoEngines {
        title: spec.title.clone(),
        alone: run("left alone", alone),
        rescued: run(&format!("rescued{cap}"), rescued),
        timeline: Timeline {
            end_s: alone.or(rescued).map_or(1.0, |run| run.meta.horizon_s),
            burst_at_s: alone.or(rescued).and_then(|run| run.measures.burst_start_s),
            cap_on_s: gate.and_then(|g| g.engage_s),
            cap_off_s: gate.and_then(|g| g.release_s),
            window: span.map(|s| (s.start_s, s.end_s, "evaluation window")),
        },
        seed: alone.or(rescued).map_or(0, |run| run.meta.seed),
        note: format!(
            "{} Mean prompt over the window: {} tokens alone, {} rescued.",
            burst_words(alone.into_iter().chain(rescued)),
            prompt(alone),
            prompt(rescued)
        ),
    };
    (two_engines(&input), alone.into_iter().chain(rescued).collect())
}
