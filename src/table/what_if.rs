//! How runs would come out by another rule, beside how they are judged: a row per run, and
//! a row per rate of the paired test. Nothing in it decides.

use crate::judged::what_if::{Answer, RateWhatIf, RunWhatIf};
use crate::rule::PairedVerdict;

use super::about_run::{identity, state};
use super::{Cell, Col, Heading, Table};

/// A row per run that the other rule judges.
pub fn runs(answer: &Answer) -> Table {
    type Asked<'a> = (&'a RunWhatIf, &'a str);
    let columns = [
        &[Heading("what_if", "", "The question in words")
            .key(|(_, words): &Asked<'_>| Cell::text(*words))],
        &identity()[..],
        &[
            Heading("judged_by", "", "What judges")
                .new(|(asked, _)| asked.run.judged_by.as_ref().map_or(Cell::Empty, Cell::text)),
            Heading("state_before", "", "State by what judges").new(|(asked, _)| state(&asked.run)),
            Heading("state_what_if", "", "State by the rule asked for")
                .new(|(asked, _)| Cell::text(asked.after.state.word())),
            Heading("stuck_before", "", "Whether it is stuck by what judges").new(|(asked, _)| {
                asked.run.state.as_ref().map_or(Cell::Empty, |state| Cell::yes_no(state.stuck))
            }),
            Heading("stuck_what_if", "", "Whether it is stuck by the rule asked for")
                .new(|(asked, _)| Cell::yes_no(asked.after.stuck)),
            Heading("changes", "", "Whether the state changes")
                .new(|(asked, _)| Cell::yes_no(Some(asked.changes()))),
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
        Heading("what_if", "", "The question in words").key(|(_, words)| Cell::text(*words)),
        Heading("cell", "", "Engine, GPU, model and pool, as named in configs/cells")
            .key(|(rate, _)| Cell::text(&rate.cell)),
        Heading("rate_multiple", "lambda_ref", "The rate, over lambda_ref")
            .key(|(rate, _)| Cell::Number(rate.multiple, 2)),
        Heading("judged_by", "", "What judges").new(|(rate, _)| {
            rate.before.as_ref().map_or(Cell::Empty, |(name, _)| Cell::text(name))
        }),
        Heading("verdict_before", "", "The rate's outcome by what judges")
            .new(|(rate, _)| verdict(before(rate))),
        Heading("seeds_met_before", "seeds", "Seeds that met all conditions by what judges")
            .new(|(rate, _)| met(before(rate))),
        Heading("seeds_judged_before", "seeds", "Seeds judged by what judges")
            .new(|(rate, _)| judged(before(rate))),
        Heading("verdict_what_if", "", "The rate's outcome by the rule asked for")
            .new(|(rate, _)| verdict(after(rate))),
        Heading(
            "seeds_met_what_if",
            "seeds",
            "Seeds that met the conditions by the rule asked for",
        )
        .new(|(rate, _)| met(after(rate))),
        Heading("seeds_judged_what_if", "seeds", "Seeds judged by the rule asked for")
            .new(|(rate, _)| judged(after(rate))),
        Heading("decisive", "", "Whether the outcome counts for the registration")
            .new(|_| Cell::text("no")),
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
