//! The fluid with a think time: a turn that completes waits a fixed time before its session
//! rejoins the queue (F4 relaxed, App. A). Only for queues that never empty, as in the trap.

use std::collections::VecDeque;

use crate::model::fifo::ModelF;
use crate::model::numeric::dot;
use crate::model::{ModelError, positive};

use super::trajectory::{Knot, Trajectory};
use super::{Arrivals, Start};

/// What is served together: sessions by the turn they wait for, over one piece of time.
struct Batch {
    mass: Vec<f64>,
    work_s: f64,
    done_s: f64,
}

/// Sessions that rejoin at a constant rate over one piece of time, by the turn they wait for.
struct Return {
    from_s: f64,
    to_s: f64,
    per_s: Vec<f64>,
}

struct March<'a> {
    model: &'a ModelF,
    arrivals: &'a Arrivals,
    think_s: f64,
    now_s: f64,
    queue: VecDeque<Vec<f64>>,
    /// What has joined since the joining rates last changed.
    joining: Vec<f64>,
    returning: VecDeque<Return>,
    backlog: f64,
    arrived: f64,
    completed: Vec<f64>,
    knots: Vec<Knot>,
}

/// The fluid from `start` to `end_s` with `think_s` between a turn and its session's next.
/// Sessions that think are present: the backlog counts them, the gap does not.
///
/// # Errors
/// A time that is not positive, more pending turns than the model has, or a queue that empties.
pub fn run(
    model: &ModelF,
    start: &Start,
    arrivals: &Arrivals,
    think_s: f64,
    end_s: f64,
) -> Result<Trajectory, ModelError> {
    positive("duration of the fluid (s)", end_s - start.time_s)?;
    positive("think time (s)", think_s)?;
    let turns = model.survival().len();
    if start.pending.len() > turns {
        let message = format!("{} turns are pending, a session has {turns}", start.pending.len());
        return Err(ModelError::TurnLaw { message });
    }
    let mut pending = start.pending.clone();
    pending.resize(turns, 0.0);
    let mut march = March {
        model,
        arrivals,
        think_s,
        now_s: start.time_s,
        queue: VecDeque::from([pending.clone()]),
        joining: vec![0.0; turns],
        returning: VecDeque::new(),
        backlog: pending.iter().sum(),
        arrived: 0.0,
        completed: vec![0.0; turns],
        knots: Vec::new(),
    };
    march.note(0.0);
    while march.now_s < end_s {
        let batch = march.next_batch()?;
        march.serve(&batch);
    }
    Ok(Trajectory::new(model, pending, march.knots))
}

impl March<'_> {
    /// What is served next: what joined first, and the last to join only when nothing else waits.
    fn next_batch(&mut self) -> Result<Batch, ModelError> {
        if self.queue.is_empty() {
            self.close();
        }
        let mass = self.queue.pop_front().ok_or_else(|| ModelError::NoSolution {
            what: "the fluid with a think time",
            why: "its queue empties".into(),
        })?;
        let work_s = dot(self.model.costs_s(), &mass);
        Ok(Batch { mass, work_s, done_s: self.now_s + work_s })
    }

    fn serve(&mut self, batch: &Batch) {
        let survival = self.model.survival();
        // Served at a constant rate, so the sessions come back at one, a think time later.
        let mut per_s = vec![0.0; batch.mass.len()];
        for k in 1..per_s.len() {
            per_s[k] = batch.mass[k - 1] * survival[k] / survival[k - 1] / batch.work_s;
        }
        let (from_s, to_s) = (self.now_s + self.think_s, batch.done_s + self.think_s);
        self.returning.push_back(Return { from_s, to_s, per_s });
        while self.now_s < batch.done_s {
            self.step(batch);
        }
    }

    /// To the next change of any rate.
    fn step(&mut self, batch: &Batch) {
        let until_s = self.next_change_s().min(batch.done_s);
        let step_s = until_s - self.now_s;
        let arriving = self.arrivals.rate_per_s(self.now_s) * step_s;
        self.joining[0] += arriving;
        if let Some(back) = self.returning.front().filter(|back| back.from_s <= self.now_s) {
            for (mass, per_s) in self.joining.iter_mut().zip(&back.per_s) {
                *mass += per_s * step_s;
            }
        }
        let survival = self.model.survival();
        let mut leaving = 0.0;
        for (k, mass) in batch.mass.iter().enumerate() {
            let served = mass * step_s / batch.work_s;
            self.completed[k] += served;
            let goes_on = survival.get(k + 1).map_or(0.0, |next| next / survival[k]);
            leaving += served * (1.0 - goes_on);
        }
        self.arrived += arriving;
        self.backlog += arriving - leaving;
        let joining_changes = self.next_change_s() <= until_s;
        self.now_s = until_s;
        // One batch for each piece of constant joining rates: pieces do not multiply.
        if joining_changes {
            self.close();
            while self.returning.front().is_some_and(|back| back.to_s <= self.now_s) {
                self.returning.pop_front();
            }
        }
        self.note(batch.done_s - until_s);
    }

    /// When the rates at which sessions join change next, s.
    fn next_change_s(&self) -> f64 {
        let rate = self.arrivals.next_change_s(self.now_s).unwrap_or(f64::INFINITY);
        self.returning.front().map_or(rate, |back| {
            let edge = if back.from_s > self.now_s { back.from_s } else { back.to_s };
            edge.min(rate)
        })
    }

    /// Ends the batch that is joining.
    fn close(&mut self) {
        let turns = self.joining.len();
        let mass = std::mem::replace(&mut self.joining, vec![0.0; turns]);
        // Less than the clock resolves would be served in no time.
        if dot(self.model.costs_s(), &mass) > 4.0 * f64::EPSILON * self.now_s.abs() {
            self.queue.push_back(mass);
        }
    }

    fn note(&mut self, in_service_s: f64) {
        let costs_s = self.model.costs_s();
        let waiting_s: f64 = self.queue.iter().map(|mass| dot(costs_s, mass)).sum();
        self.knots.push(Knot {
            time_s: self.now_s,
            backlog: self.backlog,
            gap_s: in_service_s + waiting_s + dot(costs_s, &self.joining),
            arrived: self.arrived,
            completed: self.completed.clone(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model() -> ModelF {
        ModelF::new(&[1.0, 1.5, 2.0, 3.0], &[1.0, 0.6, 0.4, 0.3]).unwrap()
    }

    fn start(model: &ModelF) -> Start {
        Start::stationary(0.0, 40.0, model)
    }

    #[test]
    fn a_think_time_that_vanishes_gives_the_fluid_without_one() {
        let model = model();
        let lambda = 1.4 * model.lambda_miss_per_s();
        let rates = Arrivals::constant(lambda).unwrap().with_burst(0.0, 10.0, 30.0).unwrap();
        let with = run(&model, &start(&model), &rates, 1e-6, 2000.0).unwrap();
        let without = super::super::run(&model, &start(&model), &rates, 2000.0).unwrap();
        for at in [5.0, 100.0, 700.0, 1990.0] {
            assert!((with.backlog(at) / without.backlog(at) - 1.0).abs() < 1e-5, "{at}");
            assert!((with.gap_s(at) / without.gap_s(at) - 1.0).abs() < 1e-5, "{at}");
        }
    }

    #[test]
    fn sessions_are_conserved_and_the_server_does_a_second_of_work_a_second() {
        let model = model();
        let lambda = 1.3 * model.lambda_miss_per_s();
        let rates = Arrivals::constant(lambda).unwrap();
        let fluid = run(&model, &start(&model), &rates, 7.0, 1000.0).unwrap();
        let turns = fluid.turns_completed(200.0, 900.0);
        assert!((dot(&turns, model.costs_s()) - 700.0).abs() < 1e-6);
        let last = fluid.at(900.0);
        let survival = model.survival();
        let ended: f64 = (0..4)
            .map(|k| last.completed[k] * (1.0 - survival.get(k + 1).unwrap_or(&0.0) / survival[k]))
            .sum();
        assert!((40.0 + lambda * 900.0 - ended - last.backlog).abs() < 1e-6);
    }

    #[test]
    fn a_cycle_is_shorter_by_the_think_time_and_its_slope_is_the_same() {
        let model = model();
        let lambda = 1.5 * model.lambda_miss_per_s();
        let rates = Arrivals::constant(lambda).unwrap();
        let gap = |think_s: f64, at: f64| {
            run(&model, &start(&model), &rates, think_s, 4000.0).unwrap().gap_s(at)
        };
        let slope = |think_s: f64| (gap(think_s, 3900.0) - gap(think_s, 1900.0)) / 2000.0;
        let (short, long) = (slope(1e-6), slope(3.0));
        assert!((short / long - 1.0).abs() < 0.02, "{short} {long}");
        assert!(gap(3.0, 3000.0) < gap(1e-6, 3000.0));
    }

    #[test]
    fn a_queue_that_empties_is_refused() {
        let model = model();
        let rates = Arrivals::constant(0.1 * model.lambda_miss_per_s()).unwrap();
        assert!(run(&model, &start(&model), &rates, 5.0, 5000.0).is_err());
        assert!(run(&model, &start(&model), &rates, 0.0, 10.0).is_err());
    }
}
