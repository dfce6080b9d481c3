//! Where a closed population falls off: the bracket, the cap, and every population looked at.

use crate::facts::{Fact, answers, facts};
use crate::ladder::{Bracket, Found, HitState, Outcome, Start};
use crate::table::{Cell, Col, Heading, Table};

/// What was found of an engine, with or without its host tier, from both starts.
#[derive(Debug, Clone, PartialEq)]
pub struct Knee {
    /// From an empty engine.
    pub empty: Found,
    /// From a trap.
    pub trap: Found,
}

/// What the theory says beside it, in sessions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Predicted {
    /// n_b, the onset of the all-miss branch.
    pub onset: f64,
    /// Where half of the turns hit.
    pub half_hit: Option<f64>,
}

impl Knee {
    /// What was found from a start.
    pub fn from(&self, start: Start) -> &Found {
        match start {
            Start::Empty => &self.empty,
            Start::Trap => &self.trap,
        }
    }

    /// The cap to set: the largest population up to which every seed is good from both starts.
    /// Behind it a trap heals by itself.
    pub fn cap(&self) -> Option<u32> {
        Some(self.empty.bracket().good_up_to?.min(self.trap.bracket().good_up_to?))
    }

    /// How far above the cap the first population is at which a seed is not good from empty, as a
    /// share of the cap.
    fn margin(&self) -> Option<f64> {
        let (cap, first) = (self.cap()?, self.empty.first_not_good()?);
        Some(f64::from(first) / f64::from(cap) - 1.0)
    }

    /// Populations that stay as they start: good from empty and not good from a trap.
    fn both(&self) -> Option<[u64; 2]> {
        let (good, heals) = (self.empty.bracket().good_up_to?, self.trap.bracket().good_up_to);
        let from = heals.map_or(1, |n| n + 1);
        (from <= good).then(|| [from, good].map(u64::from))
    }
}

/// The answer in one line.
pub fn first_line(knee: &Knee) -> String {
    let Bracket { good_up_to, trapped_from } = knee.empty.bracket();
    let good = match good_up_to {
        Some(n) => format!("every seed is good up to {n} sessions"),
        None => "no population looked at is good in every seed".into(),
    };
    let trapped = match trapped_from {
        Some(n) => format!("and trapped from {n} on"),
        None => "and none is trapped in every seed".into(),
    };
    match knee.cap() {
        Some(cap) => format!("From empty {good} {trapped}; cap at {cap} (simulated)"),
        None => format!("From empty {good} {trapped} (simulated)"),
    }
}

/// The answer in facts. `sizes` says what was simulated; `with_host` what a host tier makes of it.
pub(crate) fn landmarks(
    knee: &Knee,
    with_host: Option<&Knee>,
    predicted: Option<Predicted>,
    sizes: Vec<Fact>,
) -> Table {
    let rows = [
        sizes,
        found(knee, ""),
        vec![
            ("cap to set", count(knee.cap()), "sessions"),
            ("  margin to the first not good", percent(knee.margin()), "%"),
            ("theory: all-miss onset n_b", Cell::known(predicted.map(|p| p.onset), 1), "sessions"),
            (
                "theory: half-hit crossing",
                Cell::known(predicted.and_then(|p| p.half_hit), 1),
                "sessions",
            ),
        ],
        with_host.map_or(Vec::new(), |knee| {
            let cap = ("host tier: cap to set", count(knee.cap()), "sessions");
            [found(knee, "host tier: "), vec![cap]].concat()
        }),
    ];
    facts("knee", first_line(knee), rows.concat())
}

fn found(knee: &Knee, host: &'static str) -> Vec<Fact> {
    let [good, trapped, crossing, heals, stays, both] = if host.is_empty() {
        [
            "from empty: good up to",
            "from empty: trapped from",
            "from empty: half-hit crossing",
            "from a trap: good up to",
            "from a trap: trapped from",
            "both states persist",
        ]
    } else {
        [
            "host tier, from empty: good up to",
            "host tier, from empty: trapped from",
            "host tier, from empty: half-hit crossing",
            "host tier, from a trap: good up to",
            "host tier, from a trap: trapped from",
            "host tier: both states persist",
        ]
    };
    let (empty, trap) = (knee.empty.bracket(), knee.trap.bracket());
    vec![
        (good, count(empty.good_up_to), "sessions"),
        (trapped, count(empty.trapped_from), "sessions"),
        (crossing, Cell::optional(knee.empty.half_hit_crossing(), 1), "sessions"),
        (heals, count(trap.good_up_to), "sessions"),
        (stays, count(trap.trapped_from), "sessions"),
        (both, knee.both().map_or(Cell::text("none seen"), Cell::whole_numbers), "sessions"),
    ]
}

fn count(n: Option<u32>) -> Cell {
    n.map_or(Cell::Empty, |n| Cell::Count(n.into()))
}

fn percent(share: Option<f64>) -> Cell {
    Cell::optional(share.map(|share| 100.0 * share), 0)
}

/// One population from one start.
struct Shown<'a> {
    start: String,
    population: u32,
    outcomes: &'a [Outcome],
}

impl Shown<'_> {
    fn in_state(&self, state: HitState) -> u64 {
        self.outcomes.iter().filter(|outcome| outcome.state == Some(state)).count() as u64
    }

    /// The mean over seeds; `None` where one of them cannot tell.
    fn mean(&self, of: impl Fn(&Outcome) -> Option<f64>) -> Option<f64> {
        let values: Option<Vec<f64>> = self.outcomes.iter().map(of).collect();
        values.and_then(|values| crate::measure::stats::mean(&values))
    }
}

/// Every population looked at, from each start. Means are over seeds.
pub fn populations(knee: &Knee, with_host: Option<&Knee>) -> Table {
    let of = |knee: &'_ Knee, tier: &str| -> Vec<(String, Found)> {
        [Start::Empty, Start::Trap]
            .map(|start| (format!("{}{tier}", start.word()), knee.from(start).clone()))
            .to_vec()
    };
    let starts = [of(knee, ""), with_host.map_or(Vec::new(), |knee| of(knee, ", host tier"))];
    let starts = starts.concat();
    let rows = starts.iter().flat_map(|(start, found)| {
        found.populations.iter().map(|(population, outcomes)| Shown {
            start: start.clone(),
            population: *population,
            outcomes,
        })
    });
    let columns: &[Col<Shown<'_>>] = &[
        Heading("start", "", "How the runs start").new(|of| Cell::text(&of.start)),
        Heading("population", "sessions", "Sessions of the closed population")
            .count(|of| of.population.into()),
        Heading("hits", "%", "Cached tokens over those that could be reused")
            .known(1, |of| of.mean(|o| Some(100.0 * o.hit_share?))),
        Heading("good", "", "Seeds that are good").count(|of| of.in_state(HitState::Good)),
        Heading("between", "", "Seeds that hit in part").count(|of| of.in_state(HitState::Between)),
        Heading("trapped", "", "Seeds that are trapped").count(|of| of.in_state(HitState::Trapped)),
        Heading("turns_per_s", "turns/s", "Turns answered")
            .known(3, |of| of.mean(|o| Some(o.turns_per_s))),
        Heading("first_token_s", "s", "Median time to the first token")
            .known(2, |of| of.mean(|o| o.first_token_s)),
        Heading("waiting", "requests", "Requests that wait")
            .known(1, |of| of.mean(|o| Some(o.waiting))),
        Heading("running", "requests", "Requests that run")
            .known(1, |of| of.mean(|o| Some(o.running))),
        Heading("sessions_per_s", "sessions/s", "Sessions completed")
            .known(4, |of| of.mean(|o| Some(o.sessions_per_s))),
        Heading("token_hits", "%", "Cached tokens over prompt tokens")
            .known(1, |of| of.mean(|o| Some(100.0 * o.hit_fraction?))),
        Heading("uncached_tokens_per_s", "tokens/s", "Prompt tokens computed")
            .known(0, |of| of.mean(|o| Some(o.uncached_tokens_per_s))),
        Heading("least_hits", "%", "The least of the seeds' hits").known(1, |of| {
            of.mean(|o| o.hit_share)?;
            of.outcomes.iter().filter_map(|o| o.hit_share).min_by(f64::total_cmp).map(|s| 100.0 * s)
        }),
        Heading("greatest_hits", "%", "The greatest of the seeds' hits").known(1, |of| {
            of.mean(|o| o.hit_share)?;
            of.outcomes.iter().filter_map(|o| o.hit_share).max_by(f64::total_cmp).map(|s| 100.0 * s)
        }),
    ];
    let title = "Populations, means over seeds (simulated)";
    answers("knee_populations", title, columns, rows)
}
