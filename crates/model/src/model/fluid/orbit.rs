//! FIFO orbits (Eq. (1), App. A).

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
