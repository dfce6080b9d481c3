//! Figures of the theory alone: the tilted mix, the predicted curve, cuts and stops.

use crate::figure::Figure;
use crate::figure::cuts::{CutCurve, Cuts, cuts};
use crate::figure::predicted_curve::{PredictedCell, PredictedCurves, RunPoint, predicted_curves};
use crate::figure::tilted_mix::{LoadCurve, TiltedMix, tilted_mix};
use crate::model::curve::layers::{demand_cv2, h1};
use crate::model::{ModelError, Theory};
use trapcheck_answers::lines::{self, STEPS};

/// The turn mix of a trap beside the stationary one, and the premium over the load.
///
/// # Errors
/// A rate that is not positive.
pub fn mix(theory: &Theory, lambda_per_s: f64, title: &str) -> Result<Figure, ModelError> {
    let trap = theory.trap(lambda_per_s)?;
    let capacity = theory.model_f.lambda_miss_per_s();
    let mut curves = [
        ("*D* / *λ*_{miss}", Vec::new()),
        ("*H*", Vec::new()),
        ("*Γ*", Vec::new()),
        ("served prompt / stationary", Vec::new()),
    ];
    for (rho, state) in lines::traps(theory, trap.as_ref())? {
        let served = state.served_mean(&theory.means.prompt_tokens);
        let values = [
            state.completions_per_s / capacity,
            state.turn_factor,
            state.cost_factor,
            served / theory.means.mean_prompt_tokens(),
        ];
        for ((_, points), value) in curves.iter_mut().zip(values) {
            points.push((rho, value));
        }
    }
    let multiple = lambda_per_s / theory.cell.lambda_ref_per_s;
    Ok(tilted_mix(&TiltedMix {
        title: title.into(),
        mix_title: format!("{}, {multiple:.2} × *λ*_{{ref}}", theory.cell.name),
        stationary: theory.means.mix.clone(),
        trapped: trap.as_ref().map_or_else(Vec::new, |t| t.tilted_mix.clone()),
        curves: curves
            .into_iter()
            .map(|(label, points)| LoadCurve { label: label.into(), points })
            .collect(),
        rho: trap.map(|t| t.rho),
        note: format!("Model F of cell {}.", theory.cell.name),
    }))
}

/// The predicted closed-population curve of each cell, with the points of runs where
/// there are any.
///
/// # Errors
/// A cell without iteration costs.
pub fn curves(
    cells: &[(&Theory, Vec<RunPoint>)],
    title: &str,
    note: &str,
) -> Result<Figure, ModelError> {
    let cells = cells
        .iter()
        .map(|(theory, runs)| predicted_cell(theory, runs))
        .collect::<Result<_, _>>()?;
    Ok(predicted_curves(&PredictedCurves { title: title.into(), cells, note: note.into() }))
}

fn predicted_cell(theory: &Theory, runs: &[RunPoint]) -> Result<PredictedCell, ModelError> {
    let curve = theory.curve()?;
    let onset = curve.model().onset().population();
    let most = runs.iter().map(|p| f64::from(p.n)).fold(0.0, f64::max);
    let populations = lines::populations(theory, most)?;
    let (start, end) = (populations[0], populations[populations.len() - 1]);
    let cv2 = demand_cv2(&theory.means);
    let fluid = populations.iter().map(|n| (*n, curve.mu_per_s(*n))).collect();
    let (first, last) = (start.ceil() as u32, end.ceil() as u32);
    let step = ((last - first) as usize).div_ceil(2 * STEPS).max(1);
    let whole = (first..=last).step_by(step).map(f64::from);
    let h1 = whole
        .map(|n| h1::averaged_mu_per_s(curve.model(), cv2, n).map(|mu| (n, mu)))
        .collect::<Result<_, _>>()?;
    Ok(PredictedCell {
        title: theory.cell.name.clone(),
        fluid,
        h1,
        runs: runs.to_vec(),
        onset_n: Some(onset),
        lambda_ref_per_s: Some(theory.cell.lambda_ref_per_s),
        seen_up_to_n: None,
        blind_n: Vec::new(),
    })
}

/// The backlog after arrivals change at `at_s` to each of `rates` (sessions/s).
///
/// # Errors
/// A rate that is negative, or a base rate that is not positive.
pub fn after_change(
    theory: &Theory,
    lambda_per_s: f64,
    (at_s, until_s): (f64, f64),
    rates: &[f64],
) -> Result<Figure, ModelError> {
    let capacity = theory.model_f.lambda_miss_per_s();
    let paths = lines::after_change(theory, lambda_per_s, (at_s, until_s), rates)?;
    let curves = rates.iter().zip(paths).map(|(rate, path)| {
        let label = if *rate == 0.0 {
            "none".to_owned()
        } else {
            format!("{:.2} *λ*_{{miss}}", rate / capacity)
        };
        CutCurve { label, backlog: path.t_s.into_iter().zip(path.backlog).collect() }
    });
    let multiple = lambda_per_s / theory.cell.lambda_ref_per_s;
    Ok(cuts(&Cuts {
        title: format!("Arrivals of a trapped {} changed at {at_s:.0} s", theory.cell.name),
        cut_at_s: at_s,
        change: "arrivals change".into(),
        curves: curves.collect(),
        note: format!(
            "Model F of cell {} at {multiple:.2} lambda_ref until the change.",
            theory.cell.name
        ),
    }))
}
