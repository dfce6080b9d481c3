//! RR: the trap as a fluid round robin in which every session present completes one turn
//! per cycle: dn_k/dt = r_{k-1} n_{k-1}/V - n_k/V + arrivals, V = sum n_k c_k (App. E.9).
//!
//! Not reproduced: from an empty queue at the burst it comes within 1 % of Table 10 and within
//! 1 to 6 % of the published trapped backlogs; no variant tried fits all cells. In this form its
//! growth is model F's. Sessions that advance steadily within a turn, as App. A's remark has
//! it, would grow as processor sharing and lie 0.6 to 3 % above Table 10.

use crate::model::ModelError;
use crate::model::fifo::ModelF;
use crate::model::fluid::Arrivals;
use crate::model::numeric::dot;

/// Largest step, as a share of the current cycle.
const STEP_PER_CYCLE: f64 = 0.05;
/// Largest step, in seconds.
const LONGEST_STEP_S: f64 = 2.0;

/// Means of the round robin over a window.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowMeans {
    /// Sessions present, mean over the window.
    pub backlog: f64,
    /// Sessions present at the window's end.
    pub final_backlog: f64,
    /// Prompt plus decoded tokens of one turn of every session present (Prop. 5), mean.
    pub cycle_tokens: f64,
    /// Sessions by the turn they wait for, mean (index k - 1).
    pub by_turn: Vec<f64>,
}

/// Runs the round robin from an empty queue at `start_s` and averages over `[from_s, to_s)`.
/// `footprints[k - 1]` is E_k.
///
/// # Errors
/// No arrivals at the start, or a window that ends before the start.
pub fn window_means(
    model: &ModelF,
    arrivals: &Arrivals,
    start_s: f64,
    footprints: &[f64],
    (from_s, to_s): (f64, f64),
) -> Result<WindowMeans, ModelError> {
    crate::model::positive("arrival rate at the start (sessions/s)", arrivals.rate_per_s(start_s))?;
    crate::model::positive("time from the start to the window's end (s)", to_s - start_s)?;
    crate::model::positive("length of the window (s)", to_s - from_s)?;
    let first_s = 1e-4;
    let mut now_s = start_s + first_s;
    let mut n = vec![0.0; model.survival().len()];
    n[0] = arrivals.rate_per_s(start_s) * first_s;
    let mut area = vec![0.0; n.len()];
    while now_s < to_s {
        let cycle_s = dot(&n, model.costs_s());
        let mut until_s = now_s + (STEP_PER_CYCLE * cycle_s).clamp(1e-6, LONGEST_STEP_S);
        for stop_s in arrivals.next_change_s(now_s).into_iter().chain([from_s, to_s]) {
            if stop_s > now_s {
                until_s = until_s.min(stop_s);
            }
        }
        let next = step(model, &n, arrivals.rate_per_s(now_s), until_s - now_s);
        if now_s >= from_s {
            for (a, (x, y)) in area.iter_mut().zip(n.iter().zip(&next)) {
                *a += 0.5 * (x + y) * (until_s - now_s);
            }
        }
        (n, now_s) = (next, until_s);
    }
    let by_turn: Vec<f64> = area.iter().map(|a| a / (to_s - from_s)).collect();
    Ok(WindowMeans {
        backlog: by_turn.iter().sum(),
        final_backlog: n.iter().sum(),
        cycle_tokens: dot(&by_turn, footprints),
        by_turn,
    })
}

/// One Runge-Kutta step of fourth order.
fn step(model: &ModelF, n: &[f64], lambda: f64, step_s: f64) -> Vec<f64> {
    let shifted = |k: &[f64], by: f64| -> Vec<f64> {
        n.iter().zip(k).map(|(x, d)| (x + by * d).max(0.0)).collect()
    };
    let k1 = flow(model, n, lambda);
    let k2 = flow(model, &shifted(&k1, 0.5 * step_s), lambda);
    let k3 = flow(model, &shifted(&k2, 0.5 * step_s), lambda);
    let k4 = flow(model, &shifted(&k3, step_s), lambda);
    (0..n.len())
        .map(|i| (n[i] + step_s / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i])).max(0.0))
        .collect()
}

fn flow(model: &ModelF, n: &[f64], lambda: f64) -> Vec<f64> {
    let cycle_s = dot(n, model.costs_s());
    let survival = model.survival();
    let mut joining = lambda;
    n.iter()
        .enumerate()
        .map(|(k, mass)| {
            let leaving = mass / cycle_s;
            let change = joining - leaving;
            joining = survival.get(k + 1).map_or(0.0, |next| leaving * next / survival[k]);
            change
        })
        .collect()
}
