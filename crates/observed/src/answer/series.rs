//! An engine's samples as a timeline: counters by their differences, gauges by their means.

use super::timeline::{BINS, Bin, Cut, Timeline};
use crate::form::{Clock, Engine, Quantity, Sample};

/// A series as a timeline, with what else it tells.
pub struct Over {
    pub timeline: Timeline,
    /// How often a counter fell; the intervals there are unknown.
    pub resets: u64,
    pub preempted: f64,
    pub rejected: Option<f64>,
    /// Requests that the engine finished.
    pub finished: Option<f64>,
    /// The largest share of the pool that was filled, cached and idle KV included.
    pub filled: Option<f64>,
    /// The largest usage of the pool per running request.
    pub usage_per_running: Option<f64>,
    /// The largest share of the waiting requests that wait for another reason than room.
    pub deferred: Option<f64>,
}

/// The timeline of a series of at least two samples.
pub fn timeline(engine: &Engine, clock: Clock) -> Option<Over> {
    let samples = engine.series.samples();
    let (first, last) = (samples.first()?.t_s, samples.last()?.t_s);
    if samples.len() < 2 || last <= first {
        return None;
    }
    let active = active(samples);
    let samples = &samples[active];
    let (first, last) = (samples.first()?.t_s, samples.last()?.t_s);
    let wanted = ((samples.len() - 1) / 2).clamp(1, BINS);
    let cut = Cut::new((first, last), wanted);
    let mut bins = cut.bins();
    let mut gauges = vec![Means::default(); wanted];
    let (mut resets, mut preempted) = (0, 0.0);
    for sample in samples {
        gauges[cut.place(sample.t_s)].add(sample);
    }
    // Each counter from its own last value: samples may know one of them only.
    let mut before: [Option<f64>; Quantity::COUNTERS.len()] = [None; Quantity::COUNTERS.len()];
    let mut sums = [None; Quantity::COUNTERS.len()];
    for sample in samples {
        let bin = &mut bins[cut.place(sample.t_s)];
        let mut fell = false;
        let step = |i: usize, fell: &mut bool, before: &mut [Option<f64>]| {
            let now = sample.get(Quantity::COUNTERS[i])?;
            let then = before[i].replace(now)?;
            *fell |= now < then;
            (now >= then).then_some(now - then)
        };
        let steps: Vec<Option<f64>> =
            (0..Quantity::COUNTERS.len()).map(|i| step(i, &mut fell, &mut before)).collect();
        resets += u64::from(fell);
        if fell {
            continue;
        }
        for (sum, step) in sums.iter_mut().zip(&steps) {
            *sum = step.map(|s| sum.unwrap_or(0.0) + s).or(*sum);
        }
        if let (Some(prompt), Some(cached)) = (steps[0], steps[1])
            && cached <= prompt
        {
            bin.looked_up += prompt;
            bin.found += cached;
            bin.admitted = Some(bin.admitted.unwrap_or(false) || prompt > 0.0);
        }
        preempted += steps[4].unwrap_or(0.0);
    }
    for (bin, means) in bins.iter_mut().zip(gauges) {
        means.fill(bin);
    }
    let timeline = Timeline { clock, bins }.loaded();
    let most = |of: &dyn Fn(&Sample) -> Option<f64>| {
        samples.iter().filter_map(of).filter(|x| x.is_finite()).max_by(f64::total_cmp)
    };
    let ratio = |over: Option<f64>, under: Option<f64>| Some(over? / under.filter(|n| *n > 0.0)?);
    let pool = engine.pool_tokens.map(|tokens| tokens as f64);
    let filled = most(&|s| {
        let held = s.get(Quantity::UsedTokens)? + s.get(Quantity::EvictableTokens)?;
        ratio(Some(held), s.get(Quantity::PoolTokens).or(pool))
    });
    let per_running =
        |s: &Sample| ratio(s.get(Quantity::Usage), s.get(Quantity::Running).filter(|n| *n >= 2.0));
    Some(Over {
        resets,
        preempted,
        rejected: sums[6],
        finished: sums[5],
        filled,
        usage_per_running: most(&per_running),
        deferred: most(&|s| ratio(s.get(Quantity::Deferred), s.get(Quantity::Waiting))),
        timeline,
    })
}

/// The samples from the first to the last that had load, with one more on each side.
fn active(samples: &[Sample]) -> std::ops::Range<usize> {
    let loaded = |i: &usize| {
        let sample = &samples[*i];
        let gauges = [Quantity::Running, Quantity::Waiting, Quantity::PromptRate];
        let moved = i.checked_sub(1).is_some_and(|before| {
            let [now, then] = [sample, &samples[before]].map(|s| s.get(Quantity::PromptTokens));
            now.is_some() && now != then
        });
        moved || gauges.iter().any(|q| sample.get(*q).is_some_and(|x| x > 0.0))
    };
    let first = (0..samples.len()).find(loaded).unwrap_or(0).saturating_sub(1);
    let last = (0..samples.len()).rev().find(loaded).unwrap_or(samples.len() - 1);
    let end = (last + 1).min(samples.len());
    if end - first < 2 { 0..samples.len() } else { first..end }
}

#[derive(Clone, Default)]
struct Means {
    sums: [(f64, u32); 4],
    logged: Option<f64>,
    prompt_rate: Option<f64>,
}

impl Means {
    fn add(&mut self, sample: &Sample) {
        let usage =
            [Quantity::Usage, Quantity::SubPoolUsage].into_iter().filter_map(|q| sample.get(q));
        let values = [
            sample.get(Quantity::Running),
            sample.get(Quantity::Waiting),
            sample.outstanding(),
            usage.max_by(f64::total_cmp),
        ];
        for ((sum, n), value) in self.sums.iter_mut().zip(values) {
            if let Some(value) = value {
                *sum += value;
                *n += 1;
            }
        }
        let rate = sample.get(Quantity::PromptRate);
        // Where nothing is admitted, the logged rate stands still.
        if rate.is_none_or(|rate| rate > 0.0) {
            self.logged = sample.get(Quantity::LoggedHits).or(self.logged);
        }
        self.prompt_rate = [self.prompt_rate, rate].into_iter().flatten().max_by(f64::total_cmp);
    }

    fn fill(self, bin: &mut Bin) {
        let mean = |(sum, n): (f64, u32)| (n > 0).then(|| sum / f64::from(n));
        let [running, waiting, outstanding, usage] = self.sums;
        (bin.running, bin.waiting) = (mean(running), mean(waiting));
        (bin.outstanding, bin.usage) = (mean(outstanding), mean(usage));
        bin.logged_hits = self.logged;
        bin.admitted = bin.admitted.or(self.prompt_rate.map(|rate| rate > 0.0));
    }
}
