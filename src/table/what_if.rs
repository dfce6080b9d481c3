//! How runs would come out by another rule, beside how they are judged: a row per run, and
//! a row per rate of the paired test. Nothing in it decides.

use crate::judged::statistics::RunStatistics;
use crate::judged::what_if::{Answer, RateWhatIf, RunWhatIf};
use crate::rule::PairedVerdict;

use super::about_run::{AboutRun, identity, state};
use super::{Cell, Col, Table};

impl AboutRun for RunWhatIf {
    fn run(&self) -> &RunStatistics {
        &self.run
    }
}

/// A row per run that the other rule judges.
pub fn runs(answer: &Answer) -> Table {
    type Asked<'a> = (&'a RunWhatIf, &'a str);
    let columns = [
        &[Col::key("what_if", "", |(_, words): &Asked<'_>| Cell::text(*words))],
        &identity()[..],
        &[
            Col::new("judged_by", "", |(asked, _)| {
                asked.run.judged_by.as_ref().map_or(Cell::Empty, Cell::text)
            }),
            Col::new("state_before", "", |(asked, _)| state(&asked.run)),
            Col::new("state_what_if", "", |(asked, _)| Cell::text(asked.after.state.word())),
            Col::new("stuck_before", "", |(asked, _)| {
                asked.run.state.as_ref().map_or(Cell::Empty, |state| Cell::yes_no(state.stuck))
            }),
            Col::new("stuck_what_if", "", |(asked, _)| Cell::yes_no(asked.after.stuck)),
            Col::new("changes", "", |(asked, _)| Cell::yes_no(Some(asked.changes()))),
        ],
    ]
    .concat();
    let words = answer.asked.words();
    let title = format!("What if {words}: the state of each run, before and after");
    let rows = answer.runs.iter().map(|run| (run, words.as_str()));
    super::about_run::table("what_if", title, &columns, rows)
}

/// A row per rate of the paired test.
pub fn rates(answer: &Answer) -> Table {
    type Asked<'a> = (&'a RateWhatIf, &'a str);
    let columns: &[Col<Asked<'_>>] = &[
        Col::key("what_if", "", |(_, words)| Cell::text(*words)),
        Col::key("cell", "", |(rate, _)| Cell::text(&rate.cell)),
        Col::key("rate_multiple", "lambda_ref", |(rate, _)| Cell::Number(rate.multiple, 2)),
        Col::new("judged_by", "", |(rate, _)| {
            rate.before.as_ref().map_or(Cell::Empty, |(name, _)| Cell::text(name))
        }),
        Col::new("verdict_before", "", |(rate, _)| verdict(before(rate))),
        Col::new("seeds_met_before", "seeds", |(rate, _)| met(before(rate))),
        Col::new("seeds_judged_before", "seeds", |(rate, _)| judged(before(rate))),
        Col::new("verdict_what_if", "", |(rate, _)| verdict(after(rate))),
        Col::new("seeds_met_what_if", "seeds", |(rate, _)| met(after(rate))),
        Col::new("seeds_judged_what_if", "seeds", |(rate, _)| judged(after(rate))),
        Col::new("decisive", "", |_| Cell::text("no")),
    ];
    let words = answer.asked.words();
    let title = format!("What if {words}: the paired test, before and after");
    let rows = answer.rates.iter().map(|rate| (rate, words.as_str()));
    Table::of("what_if_paired", title, columns, rows, |(rate, _)| {
        (format!("{}/{:.2}", rate.cell, rate.multiple), Vec::new())
    })
}

fn before(rate: &RateWhatIf) -> Option<&PairedVerdict> {
    rate.before.as_ref().map(|(_, rate)| rate)
}

fn after(rate: &RateWhatIf) -> Option<&PairedVerdict> {
    rate.after.as_ref().map(|(_, rate)| rate)
}

fn verdict(rate: Option<&PairedVerdict>) -> Cell {
    rate.map_or(Cell::Empty, |rate| Cell::text(rate.verdict.words()))
}

fn met(rate: Option<&PairedVerdict>) -> Cell {
    rate.map_or(Cell::Empty, |rate| Cell::Count(rate.met))
}

fn judged(rate: Option<&PairedVerdict>) -> Cell {
    rate.map_or(Cell::Empty, |rate| Cell::Count(rate.judged))
}
