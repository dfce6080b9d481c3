//! The march along FIFO orbits. What joined over one piece of time in constant proportions
//! is served later over one piece of time in constant proportions; serving it makes the
//! piece that joins now. Arrival-rate changes cut a piece in two, and nothing else does.

use std::collections::VecDeque;

use crate::model::ModelError;
use crate::model::fifo::{ModelF, Regime};
use crate::model::numeric::dot;

use super::arrivals::Arrivals;
use super::trajectory::{Knot, Trajectory};

/// A queue shorter than this share of a first turn's cost counts as about to empty: the
/// fluid of the remaining time is summed instead of followed through ever shorter cycles.
const LAST_CYCLES: f64 = 1e-3;

/// The most numbers that the knots of a march may hold (a count per turn and knot), 160 MB. A
/// registered run takes a thousandth of it; a queue that settles at rho = 1 never ends.
const MOST_NUMBERS: usize = 20_000_000;

/// What joined together: sessions by the turn they wait for, and their work.
struct Batch {
    mass: Vec<f64>,
    work_s: f64,
}

struct March<'a> {
    model: &'a ModelF,
    arrivals: &'a Arrivals,
    queue: VecDeque<Batch>,
    now_s: f64,
    backlog: f64,
    arrived: f64,
    completed: Vec<f64>,
    knots: Vec<Knot>,
}

pub(super) fn march(
    model: &ModelF,
    start_s: f64,
    pending: Vec<f64>,
    arrivals: &Arrivals,
    end_s: f64,
) -> Result<Trajectory, ModelError> {
    let mut march = March {
        model,
        arrivals,
        queue: VecDeque::new(),
        now_s: start_s,
        backlog: pending.iter().sum(),
        arrived: 0.0,
        completed: vec![0.0; pending.len()],
        knots: Vec::new(),
    };
    march.join(pending.clone());
    march.note(0.0);
    while march.now_s < end_s {
        if march.knots.len() * march.completed.len() > MOST_NUMBERS {
            return Err(ModelError::TooManyCycles {
                cycles: march.knots.len(),
                reached_s: march.now_s,
                end_s,
                gap_s: march.gap_s(),
            });
        }
        match march.queue.pop_front() {
            None => march.stay_or_start(end_s)?,
            Some(batch) => {
                if march.about_to_empty(&batch) {
                    march.queue.push_front(batch);
                    march.empty_out();
                } else {
                    march.serve(batch);
                }
            }
        }
    }
    Ok(Trajectory::new(model, pending, march.knots))
}

impl March<'_> {
    /// Serves one batch: its completions rejoin, together with what arrives meanwhile.
    fn serve(&mut self, batch: Batch) {
        let survival = self.model.survival();
        let done_s = self.now_s + batch.work_s;
        let mut joining = vec![0.0; batch.mass.len()];
        while self.now_s < done_s {
            let until_s = self.arrivals.next_change_s(self.now_s).map_or(done_s, |t| t.min(done_s));
            let step_s = until_s - self.now_s;
            let share = step_s / batch.work_s;
            let arriving = self.arrivals.rate_per_s(self.now_s) * step_s;
            let mut leaving = arriving;
            joining[0] = arriving;
            for (k, mass) in batch.mass.iter().enumerate() {
                let served = mass * share;
                self.completed[k] += served;
                match survival.get(k + 1) {
                    Some(next) => {
                        joining[k + 1] = served * (next / survival[k]);
                        leaving -= served - joining[k + 1];
                    }
                    None => leaving -= served,
                }
            }
            self.arrived += arriving;
            self.backlog += leaving;
            self.now_s = until_s;
            self.join(joining.clone());
            self.note(done_s - until_s);
        }
    }

    /// Time passes with an empty queue: below capacity nothing waits, above it the
    /// self-similar solution of Theorem 1(a) holds exactly until the rate changes.
    fn stay_or_start(&mut self, end_s: f64) -> Result<(), ModelError> {
        let until_s = self.arrivals.next_change_s(self.now_s).unwrap_or(f64::INFINITY).min(end_s);
        let lambda = self.arrivals.rate_per_s(self.now_s);
        let step_s = until_s - self.now_s;
        self.arrived += lambda * step_s;
        self.backlog = 0.0;
        let regime = if lambda > 0.0 { self.model.at(lambda)? } else { Regime::Critical };
        let mut joined_share = 1.0;
        let mut waiting = Vec::with_capacity(self.completed.len());
        let slope = match &regime {
            Regime::Trapped(trap) => trap.slope,
            Regime::Critical | Regime::Drains { .. } => 0.0,
        };
        for (done, g) in self.completed.iter_mut().zip(self.model.survival()) {
            // J_k = lambda G_k z^-(k-1) t, and C_k is J_k one cycle ago: t/z.
            let joined = lambda * g * joined_share * step_s;
            *done += joined * (1.0 - slope);
            waiting.push(joined * slope);
            joined_share *= 1.0 - slope;
        }
        self.now_s = until_s;
        if slope > 0.0 {
            self.backlog = waiting.iter().sum();
            self.join(waiting);
        }
        self.note(0.0);
        Ok(())
    }

    fn about_to_empty(&self, next: &Batch) -> bool {
        let waiting_s = next.work_s + self.gap_s();
        waiting_s < LAST_CYCLES * self.model.costs_s()[0]
            && self.model.rho(self.arrivals.rate_per_s(self.now_s)) < 1.0
    }

    /// Sums what is left of a draining queue: it empties after V_tot / (1 - rho) (Prop. 1(a)).
    fn empty_out(&mut self) {
        let lambda = self.arrivals.rate_per_s(self.now_s);
        let survival = self.model.survival();
        let work_left_s: f64 = self.queue.iter().map(|b| work_left_s(self.model, &b.mass)).sum();
        let step_s = work_left_s / (1.0 - self.model.rho(lambda));
        // Sessions that will still complete turn k, given the turn they wait for.
        let mut passing = lambda * step_s;
        for (k, g) in survival.iter().enumerate() {
            if k > 0 {
                passing *= g / survival[k - 1];
            }
            passing += self.queue.iter().map(|b| b.mass[k]).sum::<f64>();
            self.completed[k] += passing;
        }
        self.arrived += lambda * step_s;
        self.now_s += step_s;
        self.queue.clear();
        self.backlog = 0.0;
        self.note(0.0);
    }

    fn join(&mut self, mass: Vec<f64>) {
        let work_s = dot(self.model.costs_s(), &mass);
        // Less than the clock resolves would be served in no time.
        if work_s > 4.0 * f64::EPSILON * self.now_s.abs() {
            self.queue.push_back(Batch { mass, work_s });
        }
    }

    fn gap_s(&self) -> f64 {
        self.queue.iter().map(|b| b.work_s).sum()
    }

    /// Notes the state, with `in_service_s` left of the batch being served.
    fn note(&mut self, in_service_s: f64) {
        let gap_s = in_service_s + self.gap_s();
        self.knots.push(Knot {
            time_s: self.now_s,
            backlog: self.backlog,
            gap_s,
            arrived: self.arrived,
            completed: self.completed.clone(),
        });
    }
}

/// V_tot of pending sessions: sum of mass times R_k (App. A).
fn work_left_s(model: &ModelF, mass: &[f64]) -> f64 {
    mass.iter().zip(1..).map(|(m, k)| m * model.work_left_s(k)).sum()
}
