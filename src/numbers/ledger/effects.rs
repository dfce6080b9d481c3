//! What one thing that is otherwise in the simulator makes of every number that rests on simulated
//! runs: how it stands without and with it, and how the draws move.

use crate::table::{Cell, Col, Heading, Table};

use super::Status;
use super::beside::Beside;
use super::compare::{Asked, Own, compare};
use super::comparison::ComparisonRules;
use super::predictive::Moved;

/// A number or a field of a table's row, without and with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    id: String,
    section: String,
    published: String,
    without: Status,
    with: Status,
    moved: Option<Moved>,
    digits: usize,
    which: Beside,
}

impl Effect {
    /// Of a number, or of a field; nothing where it rests on no simulated runs, is answered by
    /// the paper's own plans alone, or is not drawn there.
    pub fn of(
        id: String,
        section: &str,
        published: String,
        asked: &Asked<'_>,
        (which, [own, with]): (Beside, [&Own; 2]),
        how: &ComparisonRules,
    ) -> Option<Self> {
        if own.draws.is_empty() || with.draws.is_empty() {
            return None;
        }
        let [without, stands] = [own, with].map(|own| compare(asked, own, how).status);
        let moved = asked.moved(own, with);
        let digits = moved.as_ref().map_or(0, |m| asked.digits_moved(&m.what, m.part));
        let section = section.to_owned();
        let is_compared = without.is_compared() && stands.is_compared();
        let effect = Self { id, section, published, without, with: stands, moved, digits, which };
        is_compared.then_some(effect)
    }
}

/// A row for each of them.
pub fn table(effects: Vec<Effect>, which: Beside) -> Table {
    fn of(effect: &Effect, value: fn(&Moved) -> f64) -> Cell {
        effect.moved.as_ref().map_or(Cell::Empty, |m| Cell::Number(value(m), effect.digits))
    }
    // Only draws of the same plans are pairs.
    fn count(effect: &Effect, value: fn(&Moved) -> usize) -> Cell {
        let moved = effect.moved.as_ref().filter(|_| !effect.which.has_other_plans());
        moved.map_or(Cell::Empty, |m| Cell::Count(value(m) as u64))
    }
    let columns: &[Col<Effect>] = &[
        Heading("id", "", "Number, or table, row and field").key(|e| Cell::text(&*e.id)),
        Heading("section", "", "Section of the paper").new(|e| Cell::text(&*e.section)),
        Heading("published", "", "As published").new(|e| Cell::text(&*e.published)),
        Heading("without", "", "How it stands without it").new(|e| Cell::text(e.without.words())),
        Heading("with", "", "How it stands with it").new(|e| Cell::text(e.with.words())),
        Heading("value", "", "Which value moves: the one farthest from the middle of the draws")
            .new(|e| e.moved.as_ref().map_or(Cell::Empty, |m| Cell::text(&*m.what))),
        Heading("median_without", "", "Its median over the draws without it")
            .new(|e| of(e, |moved| moved.from)),
        Heading("median_with", "", "The same with it").new(|e| of(e, |moved| moved.to)),
        Heading("nearer", "draws", "Draws in which it is nearer to what is published with it")
            .new(|e| count(e, |moved| moved.nearer)),
        Heading("changed", "draws", "Draws whose distance it changes")
            .new(|e| count(e, |moved| moved.of)),
    ];
    let name = format!("effects_of_{}", which.word());
    let title = format!("Published numbers without and with {}", which.words());
    Table::of(&name, &title, columns, effects, |effect| (effect.id.clone(), Vec::new()))
}

/// How many of them stand how, without and with it.
pub fn counts(effects: &[Effect]) -> Vec<(Status, usize, usize)> {
    let of = |status: Status| {
        let with = |pick: fn(&Effect) -> Status| {
            effects.iter().filter(|effect| pick(effect) == status).count()
        };
        (status, with(|effect| effect.without), with(|effect| effect.with))
    };
    [Status::Differs, Status::Consistent, Status::Uninformative].map(of).to_vec()
}
