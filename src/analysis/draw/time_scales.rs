//! Good against trapped time scales: gap and turnover time, medians over runs.

use std::collections::BTreeMap;

use crate::figure::style::arm_name;
use crate::figure::time_scales::{TimeScale, TimeScales, time_scales};
use crate::figure::{Figure, Origin};
use crate::judged::score::ScoredRun;
use crate::measure::stats;
use crate::rule::State;
use crate::run::Source;

use super::origin;
use super::spec::FigureSpec;

/// A pair of bars per cell, arm, source and state, of the runs that a registration judges.
pub fn draw<'a>(runs: &'a [ScoredRun], spec: &FigureSpec) -> (Figure, Vec<&'a ScoredRun>) {
    let mut groups: BTreeMap<(bool, String, Source), Vec<&ScoredRun>> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.binding.is_of_a_registration()) {
        let trapped = match run.state.as_ref().map(|s| s.state) {
            Some(State::Trapped) => true,
            Some(State::Recovered) => false,
            _ => continue,
        };
        let name = format!("{} {}", run.meta.cell, arm_name(&run.meta.arm));
        groups.entry((trapped, name, run.meta.source)).or_default().push(run);
    }
    let used = groups.values().flatten().copied().collect();
    let measured = groups
        .into_iter()
        .map(|((trapped, name, _), runs)| {
            let of = |f: &dyn Fn(&ScoredRun) -> Option<f64>| {
                stats::median(&runs.iter().filter_map(|run| f(run)).collect::<Vec<_>>())
            };
            TimeScale {
                name: format!("{name} ({} runs)", runs.len()),
                origin: Origin::of(&runs.iter().map(|run| origin(run)).collect::<Vec<_>>()),
                trapped,
                gap_s: of(&|run| run.measures.window.as_ref()?.gap_median_s),
                turnover_s: of(&|run| run.measures.window.as_ref()?.turnover_s),
            }
        })
        .collect();
    let input = TimeScales { title: spec.title.clone(), measured };
    (time_scales(&input), used)
}
