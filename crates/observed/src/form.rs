//! The one form in which everything that was read ends.

mod kept;
mod losses;
mod request;
mod series;

use std::collections::BTreeMap;

pub use kept::{Kept, MOST_REQUESTS, mixed, spread};
pub use losses::{Count, Losses};
pub use request::{Ended, Names, Request, tokens};
pub use series::{MOST_SAMPLES, Quantity, Sample, Series};

use crate::format::Format;

/// What the times of a source mean.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Clock {
    /// No times at all: samples are numbered.
    #[default]
    Order,
    /// Seconds since some start that the source does not tell.
    Monotonic,
    /// Date and time of day without a year; seconds since 1 January of an assumed leap year.
    WithoutYear,
    /// Unix seconds, or date and time of day read as if they were UTC.
    Wall,
}

/// One engine, as far as a source tells.
#[derive(Debug, Clone, Default)]
pub struct Engine {
    /// `vllm` or `sglang`, where the source says it.
    pub software: Option<&'static str>,
    /// Its version.
    pub version: Option<String>,
    /// The model it serves.
    pub model: Option<String>,
    /// M, the KV pool in tokens.
    pub pool_tokens: Option<u64>,
    /// Whether its prefix cache is on.
    pub prefix_caching: Option<bool>,
    /// From which numbers its hits are taken, in words.
    pub hits_from: Option<&'static str>,
    /// The largest hit fraction that was seen of it before the series begins.
    pub best_hits_before: Option<f64>,
    /// What the times of its series mean.
    pub clock: Clock,
    /// Its gauges and counters over time.
    pub series: Series,
}

/// One level of load of a ladder, of which only totals are known.
#[derive(Debug, Clone, PartialEq)]
pub struct Rung {
    /// Sessions kept in the system, or clients.
    pub population: Option<u64>,
    /// Share of prompt tokens found in the cache.
    pub hit_fraction: Option<f64>,
    /// The largest share that could have been found.
    pub reuse_ceiling: Option<f64>,
    /// Tokens per second, of whichever kind the source gives.
    pub tokens_per_s: Option<f64>,
}

/// What was read of one source, or of several together.
#[derive(Debug, Clone, Default)]
pub struct Observed {
    /// The formats it came in, each once, in order.
    pub formats: Vec<Format>,
    /// What the times of its requests mean; of one source, those of its engines too.
    pub clock: Clock,
    /// Engines by their names in the source; the empty name where it has one engine only.
    pub engines: BTreeMap<String, Engine>,
    /// Requests, in order of submission, then of the file's rows.
    pub requests: Vec<Request>,
    /// Which of the requests these are.
    pub kept: Kept,
    /// Whether sessions were told by the hash ids of their prompts: the source has no ids.
    pub sessions_by_hashes: bool,
    /// Sessions' ids and errors' words, which requests point into.
    pub names: Names,
    /// Levels of load of which only totals are known, in order of population.
    pub rungs: Vec<Rung>,
    /// The largest share of prompt tokens that the workload allows to be found, where told.
    pub reuse_ceiling: Option<f64>,
    /// Whether a simulator made it.
    pub simulated: bool,
    /// Whether the client kept a fixed number of sessions, where the source says it.
    pub closed: Option<bool>,
    /// What was left out, and why.
    pub dropped: Losses,
    /// What is odd, or means less than it seems.
    pub notes: Losses,
}

impl Observed {
    /// Another source of the same service, added to this one.
    ///
    /// Series of one name are joined only if `same_engine`; otherwise the other's engines get
    /// its `label` before their name.
    pub fn add(&mut self, other: Self, label: &str, same_engine: bool) {
        for format in other.formats {
            if !self.formats.contains(&format) {
                self.formats.push(format);
            }
        }
        if !other.requests.is_empty() {
            let none = self.requests.is_empty();
            self.clock = if none { other.clock } else { self.clock.min(other.clock) };
        }
        // A table of one engine's gauges need not name it.
        let only = |engines: &BTreeMap<String, Engine>| {
            (engines.len() == 1).then(|| engines.keys().next().cloned()).flatten()
        };
        let (here, there) = (only(&self.engines), only(&other.engines));
        let unnamed = there.as_deref() == Some("");
        if same_engine
            && here.as_deref() == Some("")
            && let Some(name) = &there
            && let Some(engine) = self.engines.remove("")
        {
            self.engines.insert(name.clone(), engine);
        }
        for (name, engine) in other.engines {
            let name = here.clone().filter(|_| same_engine && unnamed).unwrap_or(name);
            // Two versions of a server are two engines, whoever says that they are one.
            let differs = self.engines.get(&name).is_some_and(|there| there.is_another(&engine));
            if same_engine && differs {
                self.notes
                    .add("sources of one engine that name different versions: judged apart", 0);
            }
            let name = match (same_engine && !differs, name.as_str()) {
                (true, _) => name,
                (false, "") => label.to_owned(),
                (false, name) => format!("{label} {name}"),
            };
            match self.engines.get_mut(&name) {
                Some(there) => there.join(engine, &mut self.notes),
                None => drop(self.engines.insert(name, engine)),
            }
        }
        self.keep_all(other.requests, &other.names, other.kept);
        self.sessions_by_hashes |= other.sessions_by_hashes;
        request::in_order(&mut self.requests);
        self.rungs.extend(other.rungs);
        self.rungs.sort_by_key(|rung| rung.population);
        self.reuse_ceiling = self.reuse_ceiling.or(other.reuse_ceiling);
        self.simulated |= other.simulated;
        self.closed = self.closed.or(other.closed);
        self.dropped.add_all(other.dropped);
        self.notes.add_all(other.notes);
    }

    /// Sorts what is to be sorted, once everything was read.
    pub fn finish(&mut self) {
        request::in_order(&mut self.requests);
        let same = |a: &Request, b: &Request| {
            let key = |r: &Request| Some((r.session?, r.turn?, r.t_submit_s?.to_bits()));
            key(a).is_some() && key(a) == key(b)
        };
        self.notes.forget(TWICE);
        for pair in self.requests.windows(2).filter(|pair| same(&pair[0], &pair[1])) {
            self.notes.add(TWICE, u64::from(pair[1].row));
        }
        for engine in self.engines.values_mut() {
            engine.series.finish();
            let told = engine.series.last(Quantity::PoolTokens).filter(|tokens| *tokens >= 1.0);
            engine.pool_tokens = engine.pool_tokens.or(told.map(|tokens| tokens as u64));
        }
        self.engines.retain(|_, engine| engine.says_anything());
    }

    /// Numbers samples without times from `first` on; gives how many numbers that took.
    pub fn number_from(&mut self, first: u32) -> u32 {
        let mut most = 0.0_f64;
        for engine in self.engines.values_mut() {
            for sample in engine.series.samples_mut() {
                most = most.max(sample.t_s + 1.0);
                sample.t_s += f64::from(first);
            }
        }
        most as u32
    }

    /// Whether nothing at all could be used.
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
            && self.rungs.is_empty()
            && self.engines.values().all(|engine| engine.series.samples().is_empty())
    }
}

/// Neither is the right one, so both stay.
const TWICE: &str = "requests that are there already (session, turn and time): counted again";

/// Blocks and tokens, or batches and finished requests, are not one count.
pub(crate) const OTHER_COUNTERS: &str =
    "changes to other hit counters, which are not added to each other: the fewer are left out";

impl Engine {
    /// Whether it cannot be the same one: another version. Names of models are no help, an alias
    /// in one source is a path in another.
    fn is_another(&self, other: &Self) -> bool {
        self.version.is_some() && other.version.is_some() && self.version != other.version
    }

    /// Its hits are from other counters from now on: those before cannot be added to them.
    pub(crate) fn forget_hits(&mut self) {
        for sample in self.series.samples_mut() {
            sample.forget(Quantity::PromptTokens);
            sample.forget(Quantity::CachedTokens);
        }
    }

    /// Leaves out the samples before a time, but keeps in mind how good hits were.
    pub fn forget_before(&mut self, t_s: f64) {
        let samples = self.series.samples();
        let gone = samples.partition_point(|sample| sample.t_s < t_s);
        // The last of them is where the counters of the first that stays begin.
        let gone = gone.saturating_sub(1);
        if gone == 0 {
            return;
        }
        let counts =
            |s: &Sample| Some((s.get(Quantity::PromptTokens)?, s.get(Quantity::CachedTokens)?));
        if let (Some(then), Some(now)) = (counts(&samples[0]), counts(&samples[gone]))
            && now.0 > then.0
            && now.1 >= then.1
        {
            let hits = Some((now.1 - then.1) / (now.0 - then.0));
            self.best_hits_before =
                [self.best_hits_before, hits].into_iter().flatten().max_by(f64::total_cmp);
        }
        self.series.drop_first(gone);
    }

    fn join(&mut self, mut other: Self, notes: &mut Losses) {
        self.keep_one_clock(&mut other, notes);
        let counts = |e: &Self| e.series.tells(Quantity::CachedTokens);
        if counts(self) && counts(&other) && self.hits_from != other.hits_from {
            notes.add(OTHER_COUNTERS, 0);
            other.forget_hits();
        }
        self.software = self.software.or(other.software);
        self.version = self.version.take().or(other.version);
        self.model = self.model.take().or(other.model);
        self.pool_tokens = self.pool_tokens.or(other.pool_tokens);
        self.prefix_caching = self.prefix_caching.or(other.prefix_caching);
        self.hits_from = self.hits_from.or(other.hits_from);
        for sample in other.series.into_samples() {
            self.series.push(sample);
        }
        self.series.finish();
    }

    /// Samples of two clocks cannot be put in one order: those with counters of hits, or with
    /// times at all, or the more are kept.
    fn keep_one_clock(&mut self, other: &mut Self, notes: &mut Losses) {
        let rank = |e: &Self| {
            let samples = e.series.samples().len();
            (samples > 0, e.clock != Clock::Order, e.series.tells(Quantity::CachedTokens), samples)
        };
        if self.clock == other.clock || !rank(self).0 || !rank(other).0 {
            self.clock = if rank(self).0 { self.clock } else { other.clock };
            return;
        }
        notes.add("series of another clock than the rest: of it only the pool, the version and the settings are used", 0);
        if rank(self) < rank(other) {
            std::mem::swap(&mut self.series, &mut other.series);
            (self.clock, self.hits_from) = (other.clock, other.hits_from);
        }
        other.series = Series::default();
    }

    fn says_anything(&self) -> bool {
        !self.series.samples().is_empty() || self.pool_tokens.is_some()
    }
}
