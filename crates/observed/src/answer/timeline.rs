//! What happened over time, in bins: hits, requests in the engine, and the gauges.

use crate::form::Clock;
use crate::measure::stats::least_squares;

/// A bin.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Bin {
    /// From when, s.
    pub from_s: f64,
    /// To when, s.
    pub to_s: f64,
    /// Tokens that were looked up in the cache (or could be reused).
    pub looked_up: f64,
    /// Of these, found.
    pub found: f64,
    /// The engine's own hit rate, where it has no counters and admitted something.
    pub logged_hits: Option<f64>,
    /// Mean requests running.
    pub running: Option<f64>,
    /// Mean requests waiting.
    pub waiting: Option<f64>,
    /// Mean requests in the engine.
    pub outstanding: Option<f64>,
    /// Mean usage of the pool by running requests.
    pub usage: Option<f64>,
    /// Whether a prompt was admitted; unknown where nothing says so.
    pub admitted: Option<bool>,
}

/// A stretch of time cut into bins of one length.
#[derive(Debug, Clone, Copy)]
pub struct Cut {
    from_s: f64,
    width_s: f64,
    number: usize,
}

impl Cut {
    /// From when to when, s, into so many.
    pub fn new((from_s, to_s): (f64, f64), number: usize) -> Self {
        Self { from_s, width_s: (to_s - from_s) / number as f64, number }
    }

    /// The bins, of which only the times are known yet.
    pub fn bins(&self) -> Vec<Bin> {
        let at = |i: usize| self.from_s + self.width_s * i as f64;
        (0..self.number).map(|i| Bin { from_s: at(i), to_s: at(i + 1), ..Bin::default() }).collect()
    }

    /// The bin that a time is in: one on an edge belongs to what ended there.
    pub fn place(&self, t_s: f64) -> usize {
        (((t_s - self.from_s) / self.width_s).ceil() as usize).clamp(1, self.number) - 1
    }
}

impl Bin {
    /// The share of the tokens looked up that was found; unknown where none were.
    pub fn hits(&self) -> Option<f64> {
        if self.looked_up > 0.0 { Some(self.found / self.looked_up) } else { self.logged_hits }
    }

    fn length_s(&self) -> f64 {
        self.to_s - self.from_s
    }
}

/// Bins in order of time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Timeline {
    /// What their times mean.
    pub clock: Clock,
    /// The bins, from the first to the last that had load.
    pub bins: Vec<Bin>,
}

/// Bins at most.
pub const BINS: usize = 120;

/// A stretch of bins, from the first to before the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    pub from: usize,
    pub to: usize,
}

impl Timeline {
    /// Without the bins at both ends that had no load.
    pub fn loaded(mut self) -> Self {
        let idle = |bin: &Bin| bin.looked_up == 0.0 && bin.outstanding.is_none_or(|n| n < 0.5);
        while self.bins.last().is_some_and(idle) {
            self.bins.pop();
        }
        let lead = self.bins.iter().take_while(|bin| idle(bin)).count();
        self.bins.drain(..lead);
        self
    }

    /// All of it.
    pub fn all(&self) -> Stretch {
        Stretch { from: 0, to: self.bins.len() }
    }

    /// The bins of a stretch.
    pub fn of(&self, stretch: Stretch) -> &[Bin] {
        &self.bins[stretch.from..stretch.to]
    }

    /// From and to when a stretch lasts, s.
    pub fn span_s(&self, stretch: Stretch) -> (f64, f64) {
        let bins = self.of(stretch);
        let from = bins.first().map_or(0.0, |bin| bin.from_s);
        (from, bins.last().map_or(from, |bin| bin.to_s))
    }

    /// The share found over a stretch: of all its tokens, or the mean of the logged rates.
    pub fn hits(&self, stretch: Stretch) -> Option<f64> {
        let bins = self.of(stretch);
        let looked_up: f64 = bins.iter().map(|bin| bin.looked_up).sum();
        if looked_up > 0.0 {
            return Some(bins.iter().map(|bin| bin.found).sum::<f64>() / looked_up);
        }
        mean(bins.iter().map(|bin| bin.logged_hits))
    }

    /// The mean of a gauge over a stretch.
    pub fn mean(&self, stretch: Stretch, of: impl Fn(&Bin) -> Option<f64>) -> Option<f64> {
        mean(self.of(stretch).iter().map(of))
    }

    /// The longest stretch whose bins all are so; bins of which it is unknown neither begin nor
    /// end one.
    pub fn longest(&self, is: impl Fn(&Bin) -> Option<bool>) -> Option<Stretch> {
        let mut longest: Option<Stretch> = None;
        let mut begun: Option<Stretch> = None;
        for (i, bin) in self.bins.iter().enumerate() {
            match is(bin) {
                Some(true) => {
                    let from = begun.map_or(i, |stretch| stretch.from);
                    let stretch = Stretch { from, to: i + 1 };
                    begun = Some(stretch);
                    let length = |s: Stretch| self.of(s).iter().map(Bin::length_s).sum::<f64>();
                    if longest.is_none_or(|l| length(stretch) > length(l)) {
                        longest = Some(stretch);
                    }
                }
                Some(false) => begun = None,
                None => {}
            }
        }
        longest
    }

    /// How much the requests in the engine rose over a stretch, by a line through its bins, and
    /// their scatter about it. `None` with fewer than two bins that tell.
    pub fn rise(&self, stretch: Stretch) -> Option<Rise> {
        let points: Vec<(f64, f64)> = self
            .of(stretch)
            .iter()
            .filter_map(|bin| Some((0.5 * (bin.from_s + bin.to_s), bin.outstanding?)))
            .collect();
        let line = least_squares(&points)?;
        let (first, last) = (points.first()?.0, points.last()?.0);
        let at = |t: f64| line.intercept + line.slope * t;
        let off = points.iter().map(|(t, n)| (n - at(*t)) * (n - at(*t))).sum::<f64>();
        Some(Rise {
            from: at(first).max(0.0),
            to: at(last).max(0.0),
            per_s: line.slope,
            scatter: (off / points.len() as f64).sqrt(),
        })
    }
}

/// A rise of the backlog.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rise {
    pub from: f64,
    pub to: f64,
    pub per_s: f64,
    pub scatter: f64,
}

fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let known: Vec<f64> = values.flatten().collect();
    crate::measure::stats::mean(&known)
}
