//! An engine's gauges and counters over time, in bounded memory.

/// What a sample may tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(usize)]
pub enum Quantity {
    /// Requests running.
    Running,
    /// Requests waiting, the deferred ones included.
    Waiting,
    /// Of these, deferred for another reason than capacity.
    Deferred,
    /// KV of running requests over the pool, a fraction.
    Usage,
    /// The same of the fullest pool of a model with several, a fraction.
    SubPoolUsage,
    /// KV of running requests, tokens.
    UsedTokens,
    /// KV cached and idle, tokens.
    EvictableTokens,
    /// The pool, tokens.
    PoolTokens,
    /// Prompt tokens looked up in the cache, since some start.
    PromptTokens,
    /// Of these, found.
    CachedTokens,
    /// Of these, found in a tier outside the pool.
    TierTokens,
    /// Decoded tokens, since some start.
    GenerationTokens,
    /// Preemptions or retractions, since some start.
    Preemptions,
    /// Requests finished, since some start.
    Finished,
    /// Requests turned away, since some start.
    Rejected,
    /// A hit fraction that the engine itself prints.
    LoggedHits,
    /// Prompt tokens per second, as the engine prints it.
    PromptRate,
    /// Decoded tokens per second, as the engine prints it.
    GenerationRate,
}

impl Quantity {
    const COUNT: usize = Self::GenerationRate as usize + 1;

    /// Counters, which fall only where the engine was started again.
    pub const COUNTERS: [Self; 7] = [
        Self::PromptTokens,
        Self::CachedTokens,
        Self::TierTokens,
        Self::GenerationTokens,
        Self::Preemptions,
        Self::Finished,
        Self::Rejected,
    ];
}

/// One sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// When, s on the source's clock.
    pub t_s: f64,
    /// NaN where unknown.
    values: [f64; Quantity::COUNT],
}

impl Sample {
    /// A sample that tells nothing yet.
    pub const fn at(t_s: f64) -> Self {
        Self { t_s, values: [f64::NAN; Quantity::COUNT] }
    }

    /// A value, where known.
    #[inline]
    pub fn get(&self, quantity: Quantity) -> Option<f64> {
        Some(self.values[quantity as usize]).filter(|x| !x.is_nan())
    }

    /// Sets a value; what is not finite stays unknown.
    #[inline]
    pub fn set(&mut self, quantity: Quantity, value: f64) {
        if value.is_finite() {
            self.values[quantity as usize] = value;
        }
    }

    /// Makes a value unknown again.
    pub fn forget(&mut self, quantity: Quantity) {
        self.values[quantity as usize] = f64::NAN;
    }

    /// Requests in the engine, running or waiting.
    pub fn outstanding(&self) -> Option<f64> {
        Some(self.get(Quantity::Running)? + self.get(Quantity::Waiting)?)
    }

    /// What `later` tells, and what only this one does.
    fn followed_by(&self, later: &Self) -> Self {
        let mut both = *later;
        for (value, before) in both.values.iter_mut().zip(self.values) {
            if value.is_nan() {
                *value = before;
            }
        }
        both
    }
}

/// Samples that are kept of one engine; beyond, every two neighbours become one.
pub const MOST_SAMPLES: usize = 1 << 16;

/// Samples in order of time.
#[derive(Debug, Clone)]
pub struct Series {
    samples: Vec<Sample>,
    /// How many samples one of these stands for.
    each: u32,
    /// Of the next one, how many are there.
    started: u32,
}

impl Default for Series {
    fn default() -> Self {
        Self { samples: Vec::new(), each: 1, started: 0 }
    }
}

impl Series {
    /// Adds a sample. One of the same time as the last is joined to it.
    pub fn push(&mut self, sample: Sample) {
        match self.samples.last_mut() {
            Some(last) if last.t_s == sample.t_s => *last = last.followed_by(&sample),
            Some(last) if self.started > 0 => {
                *last = last.followed_by(&sample);
                self.started = (self.started + 1) % self.each;
            }
            _ => {
                self.samples.push(sample);
                self.started = 1 % self.each;
                if self.samples.len() == MOST_SAMPLES {
                    self.thin();
                }
            }
        }
    }

    /// Every two neighbours become one, at the later time. Counters lose nothing by it.
    fn thin(&mut self) {
        self.samples =
            self.samples.chunks(2).map(|pair| pair[0].followed_by(&pair[pair.len() - 1])).collect();
        self.each *= 2;
        self.started = 0;
    }

    /// The last sample.
    pub fn last_mut(&mut self) -> Option<&mut Sample> {
        self.samples.last_mut()
    }

    /// Puts the samples in order of time.
    pub fn finish(&mut self) {
        if !self.samples.is_sorted_by(|a, b| a.t_s <= b.t_s) {
            self.samples.sort_by(|a, b| a.t_s.total_cmp(&b.t_s));
        }
    }

    /// The samples.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// The samples, to be moved in time together.
    pub(crate) fn samples_mut(&mut self) -> &mut [Sample] {
        &mut self.samples
    }

    /// Leaves out the first `n`.
    pub(crate) fn drop_first(&mut self, n: usize) {
        self.samples.drain(..n.min(self.samples.len()));
    }

    /// The samples, taken out.
    pub(crate) fn into_samples(self) -> Vec<Sample> {
        self.samples
    }

    /// How many samples of the source one of these stands for, at most.
    pub const fn each(&self) -> u32 {
        self.each
    }

    /// The last known value of a quantity.
    pub fn last(&self, quantity: Quantity) -> Option<f64> {
        self.samples.iter().rev().find_map(|sample| sample.get(quantity))
    }

    /// The largest known value of a quantity.
    pub fn largest(&self, quantity: Quantity) -> Option<f64> {
        self.samples.iter().filter_map(|sample| sample.get(quantity)).max_by(f64::total_cmp)
    }

    /// Whether a quantity is known anywhere.
    pub fn tells(&self, quantity: Quantity) -> bool {
        self.samples.iter().any(|sample| sample.get(quantity).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_series_is_thinned_and_its_counters_lose_nothing() {
        let mut series = Series::default();
        for i in 0..1_000_000_u32 {
            let mut sample = Sample::at(f64::from(i));
            sample.set(Quantity::PromptTokens, f64::from(i) * 3.0);
            series.push(sample);
        }
        assert!(series.samples().len() <= MOST_SAMPLES, "{}", series.samples().len());
        assert!(series.samples().len() > MOST_SAMPLES / 4);
        for sample in series.samples() {
            assert_eq!(sample.get(Quantity::PromptTokens), Some(sample.t_s * 3.0));
        }
        assert_eq!(series.last(Quantity::PromptTokens), Some(2_999_997.0));
    }

    #[test]
    fn what_is_not_finite_stays_unknown() {
        let mut sample = Sample::at(0.0);
        sample.set(Quantity::Usage, f64::NAN);
        sample.set(Quantity::Running, f64::INFINITY);
        assert_eq!(sample.get(Quantity::Usage), None);
        assert_eq!(sample.get(Quantity::Running), None);
    }
}
