//! What the fluid did: backlog, gap, completions and composition over time. Everything is
//! linear between the knots of the march, so reading it off adds no error.

use crate::model::fifo::ModelF;
use crate::model::numeric::dot;

/// The state at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct Knot {
    /// Time, in seconds.
    pub time_s: f64,
    /// N, sessions present.
    pub backlog: f64,
    /// V, the pending work, which is also the gap of a turn that joins now, in seconds.
    pub gap_s: f64,
    /// Sessions that arrived since the start.
    pub arrived: f64,
    /// C_k, turns completed since the start, by turn (index k - 1).
    pub completed: Vec<f64>,
}

/// The fluid from its start to the end of the march.
#[derive(Debug, Clone, PartialEq)]
pub struct Trajectory {
    knots: Vec<Knot>,
    pending: Vec<f64>,
    survival: Vec<f64>,
    work_left_s: Vec<f64>,
}

impl Trajectory {
    pub(super) fn new(model: &ModelF, pending: Vec<f64>, knots: Vec<Knot>) -> Self {
        let survival = model.survival().to_vec();
        let work_left_s = (1..=survival.len()).map(|k| model.work_left_s(k)).collect();
        Self { knots, pending, survival, work_left_s }
    }

    /// The last time the march reached, in seconds; at least the end that was asked for.
    pub fn end_s(&self) -> f64 {
        self.knots[self.knots.len() - 1].time_s
    }

    /// The state at a time, held at the first and last knot outside the march.
    pub fn at(&self, time_s: f64) -> Knot {
        let after = self.knots.partition_point(|k| k.time_s <= time_s);
        if after == 0 {
            return self.knots[0].clone();
        }
        let low = &self.knots[after - 1];
        let Some(high) = self.knots.get(after) else { return low.clone() };
        let share = (time_s - low.time_s) / (high.time_s - low.time_s);
        let mix = |a: f64, b: f64| a + share * (b - a);
        Knot {
            time_s,
            backlog: mix(low.backlog, high.backlog),
            gap_s: mix(low.gap_s, high.gap_s),
            arrived: mix(low.arrived, high.arrived),
            completed: low
                .completed
                .iter()
                .zip(&high.completed)
                .map(|(a, b)| mix(*a, *b))
                .collect(),
        }
    }

    /// N at a time, in sessions.
    pub fn backlog(&self, time_s: f64) -> f64 {
        self.interpolate(time_s, |k| k.backlog)
    }

    /// V at a time, in seconds: how long a turn that joins then takes to complete.
    pub fn gap_s(&self, time_s: f64) -> f64 {
        self.interpolate(time_s, |k| k.gap_s)
    }

    /// f(u) = u + V(u): when a turn that joins at `join_s` completes.
    pub fn completes_s(&self, join_s: f64) -> f64 {
        join_s + self.gap_s(join_s)
    }

    /// pi_k at a time: sessions present by the turn they wait for (index k - 1).
    pub fn pending(&self, time_s: f64) -> Vec<f64> {
        let knot = self.at(time_s);
        let mut joined = knot.arrived;
        let mut pending = Vec::with_capacity(self.pending.len());
        for (k, (first, done)) in self.pending.iter().zip(&knot.completed).enumerate() {
            pending.push(first + joined - done);
            if let Some(next) = self.survival.get(k + 1) {
                joined = done * (next / self.survival[k]);
            }
        }
        pending
    }

    /// V_tot at a time: all-miss work of the sessions present, future turns included, in seconds.
    pub fn work_left_s(&self, time_s: f64) -> f64 {
        dot(&self.pending(time_s), &self.work_left_s)
    }

    /// Turns completed in `[from_s, to_s)`, by turn (index k - 1).
    pub fn turns_completed(&self, from_s: f64, to_s: f64) -> Vec<f64> {
        let (from, to) = (self.at(from_s), self.at(to_s));
        to.completed.iter().zip(&from.completed).map(|(b, a)| b - a).collect()
    }

    /// A per-turn quantity averaged over the turns completed in `[from_s, to_s)`: with
    /// prompts, the mean served prompt.
    pub fn served_mean(&self, from_s: f64, to_s: f64, per_turn: &[f64]) -> f64 {
        let turns = self.turns_completed(from_s, to_s);
        dot(&turns, per_turn) / turns.iter().sum::<f64>()
    }

    /// Sessions completed in `[from_s, to_s)`: arrivals less the backlog's rise.
    pub fn sessions_completed(&self, from_s: f64, to_s: f64) -> f64 {
        let arrived = |t| self.interpolate(t, |k: &Knot| k.arrived);
        (arrived(to_s) - arrived(from_s)) - (self.backlog(to_s) - self.backlog(from_s))
    }

    /// Least-squares slope of bin means of the backlog over `[from_s, to_s)`, in sessions/s
    /// (App. E.5: 10 s bins).
    pub fn backlog_slope_per_s(&self, from_s: f64, to_s: f64, bin_s: f64) -> f64 {
        let bins = libm::floor((to_s - from_s) / bin_s) as usize;
        let centre = 0.5 * (bins as f64 - 1.0);
        let (mut above, mut below) = (0.0, 0.0);
        for i in 0..bins {
            let x = i as f64 - centre;
            let start = from_s + i as f64 * bin_s;
            above += x * self.mean_backlog(start, start + bin_s);
            below += x * x;
        }
        above / (below * bin_s)
    }

    /// Mean backlog over `[from_s, to_s)`, in sessions.
    pub fn mean_backlog(&self, from_s: f64, to_s: f64) -> f64 {
        let first = self.knots.partition_point(|k| k.time_s <= from_s);
        let mut area = 0.0;
        let (mut t, mut n) = (from_s, self.backlog(from_s));
        for knot in self.knots[first..].iter().take_while(|k| k.time_s < to_s) {
            area += 0.5 * (n + knot.backlog) * (knot.time_s - t);
            (t, n) = (knot.time_s, knot.backlog);
        }
        (area + 0.5 * (n + self.backlog(to_s)) * (to_s - t)) / (to_s - from_s)
    }

    /// The smallest backlog in `[from_s, to_s]` and when it is reached.
    pub fn lowest_backlog(&self, from_s: f64, to_s: f64) -> (f64, f64) {
        let inside = self.knots.iter().filter(|k| k.time_s > from_s && k.time_s < to_s);
        let ends = [(from_s, self.backlog(from_s)), (to_s, self.backlog(to_s))];
        let candidates = inside.map(|k| (k.time_s, k.backlog)).chain(ends);
        let (time_s, backlog) = candidates
            .fold((from_s, f64::INFINITY), |best, (t, n)| if n < best.1 { (t, n) } else { best });
        (backlog, time_s)
    }

    /// When the backlog first falls to `level` after `from_s`, if it does within the march.
    pub fn falls_to_s(&self, from_s: f64, level: f64) -> Option<f64> {
        let (mut t, mut n) = (from_s, self.backlog(from_s));
        if n <= level {
            return Some(from_s);
        }
        for knot in self.knots.iter().filter(|k| k.time_s > from_s) {
            if knot.backlog <= level {
                return Some(t + (n - level) / (n - knot.backlog) * (knot.time_s - t));
            }
            (t, n) = (knot.time_s, knot.backlog);
        }
        None
    }

    fn interpolate(&self, time_s: f64, value: impl Fn(&Knot) -> f64) -> f64 {
        let after = self.knots.partition_point(|k| k.time_s <= time_s);
        if after == 0 {
            return value(&self.knots[0]);
        }
        let low = &self.knots[after - 1];
        let Some(high) = self.knots.get(after) else { return value(low) };
        let share = (time_s - low.time_s) / (high.time_s - low.time_s);
        value(low) + share * (value(high) - value(low))
    }
}
