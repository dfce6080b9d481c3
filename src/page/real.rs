//! What a page shows first: a real engine's runs of one cell, load and seed, side by side.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::analysis::draw::made_by;
use crate::analysis::spec::Draw;
use crate::judged::ScoredRun;
use crate::rule;
use crate::run::Source;
use crate::setup::Arm;

use super::commands;
use super::figures::Drawn;
use super::runs::Runs;
use super::series::series;

/// The arms that are shown, in their order.
const ARMS: [Arm; 4] = [Arm::Burst, Arm::NoBurst, Arm::Capped, Arm::Rescue];

/// The cell, load and seed that the most of an engine's runs of these arms have, so the same
/// sessions in each arm: those runs, in order of arm. None without such a run.
pub fn most<'a>(runs: impl Iterator<Item = &'a ScoredRun>) -> Vec<&'a ScoredRun> {
    let mut loads: BTreeMap<(&str, u64, u64), Vec<&ScoredRun>> = BTreeMap::new();
    let place = |run: &ScoredRun| ARMS.iter().position(|arm| *arm == run.meta.arm);
    for run in runs.filter(|run| run.meta.source == Source::Engine && place(run).is_some()) {
        let Some(multiple) = run.meta.rate.multiple else { continue };
        let load = (run.meta.cell.as_str(), (multiple * 1e6).round() as u64, run.meta.seed);
        loads.entry(load).or_default().push(run);
    }
    // The first of several that have as many.
    let most = loads.into_values().rev().max_by_key(Vec::len);
    let mut most = most.unwrap_or_default();
    most.sort_by_key(|run| place(run));
    most
}

/// The first screen's data; `None` where no real engine's run is here.
pub fn real(runs: &Runs<'_>, drawn: &[Drawn<'_>]) -> Option<Value> {
    let shown = most(runs.iter());
    let first = *shown.first()?;
    let burst = shown.iter().find(|run| run.meta.arm == Arm::Burst);
    let window = first.measures.window_span;
    let all_miss = first.load.map(|load| load.all_miss_tokens_per_s).filter(|x| x.is_finite());
    let picture = drawn.iter().find(|drawn| {
        let name = first.dir.display().to_string();
        matches!(drawn.spec.draw, Draw::Stampede { .. })
            && drawn.figure.origin.runs().any(|run| run == name)
    });
    let one = |run: &&ScoredRun| {
        let mut line = runs.line(run);
        line.insert("events".to_owned(), runs.events(run).into());
        line.insert("series".to_owned(), for_a_look(series(run)));
        let decided_by = run.state.as_ref().and_then(|state| state.deciding());
        line.insert("decided_by".to_owned(), decided_by.map(rule::json::clause).into());
        Value::from(line)
    };
    Some(json!({
        "cell": first.meta.cell,
        "made_by": made_by(&first.meta).words(),
        "source": first.meta.source.word(),
        "rate_multiple": first.meta.rate.multiple,
        "all_miss_tokens_per_s": all_miss,
        "burst": burst.map(|run| json!({
            "start_s": run.burst_start_s,
            "sessions": run.treatment.burst_sessions,
        })),
        "window_s": [window.start_s, window.end_s],
        "horizon_s": first.meta.horizon_s,
        "picture": picture.map(Drawn::svg_path),
        "commands": {
            "verdicts": commands::of_each("score", shown.iter().map(|run| &*run.statistics)),
            "picture": picture.and_then(Drawn::command),
        },
        "runs": shown.iter().map(one).collect::<Vec<_>>(),
    }))
}

/// What the first screen draws: the rest is in each run's own file.
fn for_a_look(mut series: Value) -> Value {
    if let Value::Object(all) = &mut series {
        all.retain(|name, _| matches!(name.as_str(), "hits" | "backlog" | "held"));
    }
    series
}
