//! The heuristic layers that extend the models where the propositions do not reach
//! (App. E.9): H1 averages the curve over demand, H2 gives the from-empty edge, H3 the
//! chance that a burst leaves a run stuck, H4 the release time of a rescue, RR the trap as
//! a round robin. The paper sketches them; each file says how firm its definition is.

pub mod h1;
pub mod h2;
pub mod h3;
pub mod h4;
pub mod rr;

use crate::model::session::SessionMeans;

/// Squared coefficient of variation of a session's footprint during tool calls: the spread
/// of demand behind H1 and H2 (0.5654 for the paper's workload). Inferred definition.
pub fn demand_cv2(means: &SessionMeans) -> f64 {
    let weight: f64 = means.survival.iter().skip(1).sum();
    let moment = |of: &[f64]| -> f64 {
        let carried = means.survival.iter().skip(1).zip(of);
        carried.map(|(g, e)| g * e).sum::<f64>() / weight
    };
    let (mean, square) = (moment(&means.footprint_tokens), moment(&means.footprint_squares));
    square / (mean * mean) - 1.0
}
