//! Trap, rescue and release, from a rescue run and its same-seed controls.

use crate::figure::Figure;
use crate::figure::rescue::{Rescue, RescueColumn, RescueRun, rescue};
use crate::figure::timeline::Timeline;
use crate::judged::score::ScoredRun;
use crate::setup::{Arm, Configs};

use super::spec::{FigureSpec, RescueSpec};
use super::{at_rate, burst_words, fractions, origin};

const ARMS: [Arm; 3] = [Arm::Rescue, Arm::Burst, Arm::NoBurst];

/// A column per cell, rate and seed.
pub fn draw<'a>(
    runs: &'a [ScoredRun],
    spec: &FigureSpec,
    columns: &[RescueSpec],
    configs: &Configs,
) -> (Figure, Vec<&'a ScoredRun>) {
    let mut used = Vec::new();
    let columns = columns
        .iter()
        .map(|column| {
            let shown: Vec<&ScoredRun> =
                ARMS.iter().filter_map(|arm| find(runs, column, arm)).collect();
            used.extend(&shown);
            rescue_column(column, &shown, configs)
        })
        .collect();
    let note = burst_words(used.iter().copied());
    let input = Rescue { title: spec.title.clone(), columns, note };
    (rescue(&input), used)
}

/// The run of an arm that a column asks for.
pub fn find<'a>(runs: &'a [ScoredRun], column: &RescueSpec, arm: &Arm) -> Option<&'a ScoredRun> {
    runs.iter().find(|run| {
        run.meta.cell == column.cell
            && run.meta.arm == *arm
            && run.meta.seed == column.seed
            && at_rate(run, column.rate)
    })
}

fn rescue_column(column: &RescueSpec, shown: &[&ScoredRun], configs: &Configs) -> RescueColumn {
    let rescued = shown.iter().find(|run| run.meta.arm == Arm::Rescue);
    let gate = rescued.and_then(|run| run.meta.gate);
    let cap = gate.map_or(String::new(), |g| format!(", cap {}", g.n_cap));
    let protocol = configs.of_cell(&column.cell).map(|(_, _, protocol)| protocol);
    let release_s = gate.and_then(|g| g.release_s);
    // What a rescue is judged over starts one gap bin after the release (App. E.7: 300 s).
    let after = protocol
        .zip(release_s)
        .map(|(p, t)| (t + p.bins.gap_s, p.paired.horizon_s, "judged after release"));
    RescueColumn {
        title: format!("{}, {} × *λ*_{{ref}}{cap}", column.cell, column.rate),
        timeline: Timeline {
            end_s: shown.iter().map(|run| run.meta.horizon_s).fold(0.0, f64::max),
            burst_at_s: rescued.and_then(|run| run.measures.burst_start_s),
            cap_on_s: gate.and_then(|g| g.engage_s),
            cap_off_s: release_s,
            window: after,
        },
        runs: shown
            .iter()
            .map(|run| RescueRun {
                arm: run.meta.arm.clone(),
                seed: run.meta.seed,
                origin: origin(run),
                follow_up_hits: fractions(&run.measures.series.follow_up_hits),
                outstanding: run.measures.series.outstanding.clone(),
                held: run.measures.series.held.clone(),
            })
            .collect(),
    }
}
