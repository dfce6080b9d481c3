//! The paired test: a row per rate and seed, with the rate's verdict (Tables 1, 7).

use crate::judged::verdict::{Verdict, VerdictRun};
use crate::rule::{PairedVerdict, SeedOutcome, State};
use crate::run::SourceFile;
use crate::setup::Registration;

use crate::table::{Cell, Col, Heading, Table};

/// A seed of a rate.
struct Seed<'a> {
    verdict: &'a Verdict,
    rate: &'a PairedVerdict,
    seed: &'a SeedOutcome,
}

/// The table of the paired test's verdicts.
pub fn table(verdicts: &[Verdict]) -> Table {
    let columns: &[Col<Seed<'_>>] = &[
        Heading("cell", "", "Engine, GPU, model and pool, as named in configs/cells")
            .key(|of| Cell::text(&of.registration().cell)),
        Heading("registration", "", "The registration that judges, by its name or hash")
            .key(|of| Cell::text(&of.registration().name)),
        Heading("status", "", "Of the registration: FILLED, EXPLORATORY or INCOMPLETE")
            .key(|of| Cell::text(of.registration().status.word())),
        Heading("source", "", "What made the runs: engine or simulator")
            .key(|of| Cell::text(&of.verdict.sources)),
        Heading("rate_multiple", "lambda_ref", "The rate, over lambda_ref")
            .key(|of| Cell::Number(of.rate.multiple, 2)),
        Heading("seed", "", "Seed of the run's plan").key(|of| Cell::Count(of.seed.seed)),
        Heading("burst", "", "State of the seed's BURST run").new(|of| state(of.seed.states[0])),
        Heading("noburst", "", "State of the seed's NOBURST run")
            .new(|of| state(of.seed.states[1])),
        Heading("capped", "", "State of the seed's CAPPED run").new(|of| state(of.seed.states[2])),
        Heading("all_three_met", "", "Whether the seed met all three conditions")
            .new(|of| Cell::yes_no(of.seed.met)),
        Heading("rate_verdict", "", "The rate's outcome: PASS, FAIL or not decidable")
            .new(|of| Cell::text(of.rate.verdict.words())),
        Heading("seeds_met", "seeds", "Seeds that met all three conditions")
            .count(|of| of.rate.met),
        Heading("seeds_judged", "seeds", "Seeds that could be judged").count(|of| of.rate.judged),
        Heading("decisive", "", "Whether the outcome counts for the registration")
            .new(|of| Cell::yes_no(Some(of.verdict.decisive))),
    ];
    let rates = verdicts.iter().flat_map(|v| v.rates.iter().map(move |rate| (v, rate)));
    let seeds = rates.flat_map(|(verdict, rate)| {
        rate.seeds.iter().map(move |seed| Seed { verdict, rate, seed })
    });
    let title = "Paired test: states per seed and the verdict per rate";
    Table::of("paired", title, columns, seeds, |of| (of.key(), of.sources()))
}

fn state(state: Option<State>) -> Cell {
    Cell::text(state.map_or("missing", State::word))
}

impl Seed<'_> {
    fn registration(&self) -> &Registration {
        &self.verdict.registration.registration
    }

    fn key(&self) -> String {
        // The published rule may stand for several cells.
        let rule = match self.verdict.registration.is_published() {
            true => &self.registration().cell,
            false => &self.registration().name,
        };
        format!("{rule}/{:.2}/{}", self.rate.multiple, self.seed.seed)
    }

    /// The files of the runs that the verdict counts in it.
    fn sources(&self) -> Vec<SourceFile> {
        let at_rate = |run: &&VerdictRun| {
            run.meta.rate.multiple.is_some_and(|m| (m - self.rate.multiple).abs() < 1e-6)
        };
        self.verdict
            .subjects()
            .filter(|run| run.meta.seed == self.seed.seed)
            .filter(at_rate)
            .flat_map(|run| run.sources.clone())
            .collect()
    }
}
