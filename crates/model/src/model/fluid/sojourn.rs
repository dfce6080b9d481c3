//! When sessions that join over an interval complete: f^m of their joining time, m their
//! number of turns (Theorem 1(b)). With it, the wave of a burst cohort (App. C).

use crate::model::fifo::ModelF;

use super::Trajectory;

/// Joining times looked at per interval.
const JOINS: usize = 240;

/// The time by which `share` of the sessions that join evenly over `[from_s, to_s)` have
/// completed, in seconds; `None` when the march ends before.
pub fn completed_by_s(
    trajectory: &Trajectory,
    model: &ModelF,
    (from_s, to_s): (f64, f64),
    share: f64,
) -> Option<f64> {
    let mut completions: Vec<(f64, f64)> = Vec::new();
    for i in 0..JOINS {
        let mut at_s = from_s + (to_s - from_s) * (i as f64 + 0.5) / JOINS as f64;
        for (k, g) in model.survival().iter().enumerate() {
            at_s = trajectory.completes_s(at_s);
            if at_s > trajectory.end_s() {
                break;
            }
            let ends = g - model.survival().get(k + 1).unwrap_or(&0.0);
            completions.push((at_s, ends / JOINS as f64));
        }
    }
    completions.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut done = 0.0;
    completions.into_iter().find_map(|(at_s, weight)| {
        done += weight;
        (done >= share).then_some(at_s)
    })
}
