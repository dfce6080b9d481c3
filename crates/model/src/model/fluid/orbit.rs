//! FIFO orbits and the identities they obey: Eq. (1), its inhomogeneity h_n, the exact
//! identity for n >= K - 1 and the virtual origin (Lemma 1, Theorem 1(b)).

use crate::model::fifo::ModelF;

use super::Trajectory;

/// u_0, u_1 = f(u_0), ... as long as the march reaches, at most `most` steps.
pub fn orbit(trajectory: &Trajectory, from_s: f64, most: usize) -> Vec<f64> {
    let step = |u: &f64| {
        let next = trajectory.completes_s(*u);
        (next <= trajectory.end_s() && next > *u).then_some(next)
    };
    std::iter::successors(Some(from_s), step).take(most + 1).collect()
}

/// Complete cycles between two times: how often an orbit from `from_s` fits (App. A).
pub fn generations(trajectory: &Trajectory, from_s: f64, to_s: f64) -> usize {
    orbit(trajectory, from_s, usize::MAX - 1).iter().skip(1).take_while(|u| **u <= to_s).count()
}

/// h_n for n = 0..K: the work that sessions pending at u_0, `pending[k - 1]` of them waiting
/// for turn k, bring in generation n. Sums to V_tot(u_0); zero from n = K on (Lemma 1).
pub fn brought_work_s(model: &ModelF, pending: &[f64]) -> Vec<f64> {
    let (c, g) = (model.costs_s(), model.survival());
    (0..g.len())
        .map(|n| (n..g.len()).map(|k| c[k] * g[k] * pending[k - n] / g[k - n]).sum())
        .collect()
}

/// Delta_n of Eq. (1) from h_n alone, for n = 0..`cycles`.
pub fn recursion(model: &ModelF, lambda_per_s: f64, brought_s: &[f64], cycles: usize) -> Vec<f64> {
    let mut delta: Vec<f64> = Vec::with_capacity(cycles);
    for n in 0..cycles {
        let renewed: f64 = model
            .costs_s()
            .iter()
            .zip(model.survival())
            .zip(delta.iter().rev())
            .map(|((c, g), d)| lambda_per_s * c * g * d)
            .sum();
        delta.push(renewed + brought_s.get(n).unwrap_or(&0.0));
    }
    delta
}

/// u* = V_tot / (rho - 1): the gap grows as if it had started from 0 this long before
/// (Theorem 1(b)). `None` at or below capacity.
pub fn virtual_origin_s(model: &ModelF, lambda_per_s: f64, work_left_s: f64) -> Option<f64> {
    let excess = model.rho(lambda_per_s) - 1.0;
    (excess > 0.0).then(|| work_left_s / excess)
}
