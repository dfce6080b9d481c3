//! MIRROR: completions and backlog of the step-capped workload beside the standard
//! one's traps, with model F driven by each run's own plan from the burst on.

use crate::figure::mirror::{Mirror, MirrorKind, MirrorSeries, mirror};
use crate::figure::{Figure, Origin};
use crate::judged::score::ScoredRun;
use crate::model::fluid::plan::{ArrivingSession, serve};
use crate::model::{ModelError, Theory};
use crate::run::Kind;
use crate::setup::Span;
use crate::setup::{Arm, Protocol};

use super::spec::FigureSpec;
use super::{at_rate, origin};

/// What is compared with what.
pub(crate) struct MirrorCells<'a> {
    /// The step-capped cell, solved.
    pub mirror: &'a Theory,
    /// The standard cell, solved.
    pub standard: &'a Theory,
    /// The rate, a multiple of lambda_ref.
    pub rate: f64,
    /// The protocol of both.
    pub protocol: &'a Protocol,
}

/// Series of the runs of every seed, and model F's.
///
/// # Errors
/// A plan that model F cannot serve.
pub fn draw<'a>(
    runs: &'a [ScoredRun],
    spec: &FigureSpec,
    compared: &MirrorCells<'_>,
) -> Result<(Figure, Vec<&'a ScoredRun>), ModelError> {
    let of_cell = |theory: &Theory| -> Vec<&'a ScoredRun> {
        let name = &theory.cell.name;
        let burst = |run: &&ScoredRun| run.meta.cell == *name && run.meta.arm == Arm::Burst;
        runs.iter().filter(burst).filter(|run| at_rate(run, compared.rate)).collect()
    };
    let (standard, step_capped) = (of_cell(compared.standard), of_cell(compared.mirror));
    let lambda_ref = compared.standard.cell.lambda_ref_per_s;
    let bin_s = compared.protocol.bins.gap_s;
    let mut series: Vec<MirrorSeries> = Vec::new();
    series.extend(standard.iter().map(|r| of_run(r, MirrorKind::Standard, bin_s, lambda_ref)));
    for run in &step_capped {
        series.push(predicted(run, compared, lambda_ref)?);
    }
    series.extend(step_capped.iter().map(|r| of_run(r, MirrorKind::StepCapped, bin_s, lambda_ref)));
    let capacity = |theory: &Theory| theory.model_f.lambda_miss_per_s() / lambda_ref;
    let input = Mirror {
        title: spec.title.clone(),
        series,
        capacities: vec![capacity(compared.standard), capacity(compared.mirror)],
        predicted_status: "from the plan".into(),
        from_s: compared.protocol.paired.burst.start_s,
        bin_s,
    };
    Ok((mirror(&input), [standard, step_capped].concat()))
}

fn of_run(run: &ScoredRun, kind: MirrorKind, bin_s: f64, lambda_ref: f64) -> MirrorSeries {
    let series = &run.measures.series;
    let backlog = Span::new(0.0, run.meta.duration_s)
        .bins(bin_s)
        .into_iter()
        .filter_map(|bin| {
            let inside: Vec<f64> =
                series.backlog.iter().filter(|(t, _)| bin.holds(*t)).map(|(_, n)| *n).collect();
            crate::measure::stats::mean(&inside).map(|mean| (bin.middle_s(), mean))
        })
        .collect();
    MirrorSeries {
        kind,
        seed: run.meta.seed,
        origin: origin(run),
        completions: series
            .completions
            .iter()
            .map(|(t, count)| (*t, *count as f64 / bin_s / lambda_ref))
            .collect(),
        backlog,
    }
}

/// Model F on the run's own plan, from the sessions present when the burst starts.
fn predicted(
    run: &ScoredRun,
    compared: &MirrorCells<'_>,
    lambda_ref: f64,
) -> Result<MirrorSeries, ModelError> {
    let plan: Vec<ArrivingSession> = run
        .from_burst
        .iter()
        .map(|a| ArrivingSession { arrival_s: a.arrival_s, next_turn: a.next_turn, turns: a.turns })
        .collect();
    debug_assert!(run.from_burst.iter().any(|a| a.kind == Kind::Burst) || plan.is_empty());
    let end_s = run.meta.horizon_s;
    let served = serve(&compared.mirror.model_f, &plan, end_s)?;
    let bins =
        Span::new(compared.protocol.paired.burst.start_s, end_s).bins(compared.protocol.bins.gap_s);
    let per_bin = |bin: &Span| {
        let completed = served.sessions_completed(bin.start_s, bin.end_s) as f64;
        (bin.middle_s(), completed / bin.length_s() / lambda_ref)
    };
    Ok(MirrorSeries {
        kind: MirrorKind::Predicted,
        seed: run.meta.seed,
        origin: Origin::model_driven_by(&origin(run)),
        completions: bins.iter().map(per_bin).collect(),
        backlog: bins
            .iter()
            .map(|bin| (bin.middle_s(), served.mean_backlog(bin.start_s, bin.end_s)))
            .collect(),
    })
}
