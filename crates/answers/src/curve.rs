//! The entry model's curve of a cell (App. E.9).

use crate::digits::Rounded;
use crate::facts::{Fact, answers, facts};
use crate::model::curve::entry::StationaryState;
use crate::model::curve::layers::{demand_cv2, h1, h2};
use crate::model::curve::trace::Fold;
use crate::model::{ModelError, Theory, positive};
use crate::table::{Cell, Col, Heading, Table};

/// A state of the curve, its rate in lambda_ref and its share of turns that hit.
struct Shown {
    state: StationaryState,
    mu_over_ref: f64,
    hit_share: f64,
}

/// The curve's landmarks, with layers H1 and H2, and its states at the given populations. H2
/// looks for the edge within `from_empty_s`.
///
/// # Errors
/// A cell without iteration costs, or a population or time that is not positive.
pub fn curve(
    theory: &Theory,
    populations: &[f64],
    from_empty_s: f64,
) -> Result<Vec<Table>, ModelError> {
    let curve = theory.curve()?;
    positive("length of a from-empty run (s)", from_empty_s)?;
    for n in populations {
        positive("population (sessions)", *n)?;
    }
    let model = curve.model();
    let (onset, peak) = (model.onset(), curve.peak());
    let lambda_ref = theory.cell.lambda_ref_per_s;
    let found = curve.folds();
    let fold = |f: &Fold| -> Fact {
        let range = [f.from_population, f.to_population].map(|n| Rounded::new(n, 1));
        ("fold, in sessions", Cell::Range(range), "")
    };
    let folds: Vec<Fact> = found.iter().map(fold).collect();
    let half = curve.half_hit_crossing().map(|s| s.population);
    let cv2 = demand_cv2(&theory.means);
    let averaged = h1::averaged_peak(model, cv2)?;
    let edge = h2::Diffusion::of(curve, cv2).edge_per_s(from_empty_s);
    let landmarks = facts(
        "model_curve_landmarks",
        format!("The closed-population curve of {}", theory.cell.name),
        [
            vec![
                ("peak mu*", Cell::Number(peak.mu_per_s, 4), "sessions/s"),
                ("peak over lambda_ref", Cell::Number(peak.mu_per_s / lambda_ref, 3), ""),
                ("peak at", Cell::Number(peak.population, 1), "sessions"),
                ("averaged peak (H1)", Cell::Number(averaged.mu_per_s, 4), "sessions/s"),
                ("  over lambda_ref", Cell::Number(averaged.mu_per_s / lambda_ref, 3), ""),
                ("  at", Cell::Count(averaged.population as u64), "sessions"),
                ("from-empty edge (H2)", Cell::optional(edge, 4), "sessions/s"),
                ("  over lambda_ref", Cell::optional(edge.map(|e| e / lambda_ref), 3), ""),
                ("half-hit crossing n_1/2", Cell::optional(half, 1), "sessions"),
                ("all-miss onset n_b", Cell::Number(onset.population(), 2), "sessions"),
                ("  in tool calls", Cell::Number(onset.tool_part, 2), "sessions"),
                ("  one pool's worth M/E_S", Cell::Number(onset.pool_part, 2), "sessions"),
                ("all-miss rate mu_b", Cell::Number(onset.mu_b_per_s, 5), "sessions/s"),
                ("folds", Cell::Count(found.len() as u64), ""),
            ],
            folds,
        ]
        .concat(),
    );
    let columns: &[Col<Shown>] = &[
        Heading("population", "sessions", "Sessions of the closed population")
            .number(1, |of| of.state.population),
        Heading("mu", "sessions/s", "Its throughput").number(4, |of| of.state.mu_per_s),
        Heading("mu_over_ref", "lambda_ref", "Its throughput over lambda_ref")
            .number(3, |of| of.mu_over_ref),
        Heading("turns_that_hit", "%", "Share of all turns that hit")
            .number(1, |of| 100.0 * of.hit_share),
        Heading("in_service", "sessions", "Sessions in service")
            .number(1, |of| of.state.in_service),
        Heading("queued", "sessions", "Sessions that wait in the queue")
            .number(1, |of| of.state.queued),
    ];
    let states = populations.iter().flat_map(|n| curve.states_at(*n)).map(|state| Shown {
        state,
        mu_over_ref: state.mu_per_s / lambda_ref,
        hit_share: model.followup_share() * state.hit_probability,
    });
    let table = answers("model_curve", "States", columns, states);
    Ok(vec![landmarks, table])
}

/// Populations that show a curve on one screen: up to a quarter past its onset.
///
/// # Errors
/// A cell without iteration costs.
pub fn populations(theory: &Theory) -> Result<Vec<f64>, ModelError> {
    let onset = theory.curve()?.model().onset().population();
    let step = libm::ceil(onset / 12.0).max(1.0);
    Ok((1..=15).map(|i| f64::from(i) * step).collect())
}
