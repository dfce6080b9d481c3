//! The paired test: a row per rate and seed, with the rate's verdict (Tables 1, 7).

use crate::judged::verdict::{Verdict, VerdictRun};
use crate::rule::{PairedVerdict, SeedOutcome, State};
use crate::run::SourceFile;
use crate::setup::Registration;

use super::{Cell, Col, Table};

/// A seed of a rate.
struct Seed<'a> {
    verdict: &'a Verdict,
    rate: &'a PairedVerdict,
    seed: &'a SeedOutcome,
}

/// The table of the paired test's verdicts.
pub fn table(verdicts: &[Verdict]) -> Table {
    let columns: &[Col<Seed<'_>>] = &[
        Col::key("cell", "", |of| Cell::text(&of.registration().cell)),
        Col::key("registration", "", |of| Cell::text(&of.registration().name)),
        Col::key("status", "", |of| Cell::text(of.registration().status.word())),
        Col::key("source", "", |of| Cell::text(&of.verdict.sources)),
        Col::key("rate_multiple", "lambda_ref", |of| Cell::Number(of.rate.multiple, 2)),
        Col::key("seed", "", |of| Cell::Count(of.seed.seed)),
        Col::new("burst", "", |of| state(of.seed.states[0])),
        Col::new("noburst", "", |of| state(of.seed.states[1])),
        Col::new("capped", "", |of| state(of.seed.states[2])),
        Col::new("all_three_met", "", |of| Cell::yes_no(of.seed.met)),
        Col::new("rate_verdict", "", |of| Cell::text(of.rate.verdict.words())),
        Col::count("seeds_met", "seeds", |of| of.rate.met),
        Col::count("seeds_judged", "seeds", |of| of.rate.judged),
        Col::new("decisive", "", |of| Cell::yes_no(Some(of.verdict.decisive))),
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
