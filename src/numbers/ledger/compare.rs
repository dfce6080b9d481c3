//! A published value against ours: how they stand, and by how much they are apart.
//!
//! What rests on simulated runs is held against the interval of the ensemble's draws, whatever
//! ours is; anything else against ours itself. Nothing is allowed but the rounding of what is
//! printed.

mod draws;
mod exact;

use crate::digits::{Rounded, fixed};
use crate::table::{Cell, Table};

use super::answers::{Answered, Basis, OfRuns, Uses};
use super::beside::Beside;
use super::bindings::{Binding, BoundForm};
use super::comparison::ComparisonRules;
use super::predictive::{self, Direction, Shape, Side};
use super::published::Form;
use super::{Interval, Status};
use draws::against_draws;
use exact::exactly;

/// What is published.
#[derive(Debug, Clone)]
pub struct Asked<'a> {
    /// Its values.
    pub values: Stated,
    /// How they belong together.
    pub form: Form,
    /// Printed with "about".
    pub approx: bool,
    /// What it is bound to.
    pub binding: &'a Binding,
}

/// Published values.
#[derive(Debug, Clone, PartialEq)]
pub enum Stated {
    /// Numbers, with their digits after the point.
    Numbers(Vec<(f64, usize)>),
    /// Words.
    Words(Vec<String>),
}

/// One value of ours.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// Words.
    Text(String),
}

/// Values of ours; `None` where one of them is not there.
pub type Values = Option<Vec<Value>>;

/// What ours gives for a published value.
#[derive(Debug)]
pub struct Own {
    /// Ours; or why there is none.
    pub ours: Result<Values, String>,
    /// By draw, where it rests on simulated runs.
    pub draws: Vec<Values>,
    /// Whether it rests on simulated runs.
    pub is_simulated: bool,
    /// Whose runs its rows are.
    pub runs: OfRuns,
}

/// How ours compares.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Compared {
    /// Ours, to the digits of the published value.
    pub ours: String,
    /// Ours, number by number, to these digits; none for words.
    pub each: Vec<Rounded>,
    /// How it stands.
    pub status: Status,
    /// Value by value against the draws.
    pub intervals: Vec<Interval>,
    /// How many draws there are, and for a bound or for words in how many it is so.
    pub holds_in: Option<(usize, usize)>,
    /// Whether rows of an engine's runs are among those that it is computed from.
    pub has_engine_rows: bool,
    /// How likely it is to differ by chance.
    pub by_chance: f64,
    /// Which way it differs, if that can be told.
    pub direction: Option<Direction>,
    /// How far outside the intervals of the draws, the farthest value in widths of its own
    /// interval; `None` where there is none.
    pub beyond: Option<f64>,
    /// By how much, in words.
    pub gap: String,
    /// The same as a share, to find the largest.
    pub apart: f64,
    /// Why there is none, or what else is to be known.
    pub because: String,
    /// That the binding leads nowhere.
    pub broken: Option<String>,
}

impl Own {
    /// What an answer gives, read row by row from left to right.
    pub fn of(answered: &Answered, which: Option<Beside>) -> Self {
        Self::by(answered, which, &answered.uses, values)
    }

    /// What a part of an answer gives, and what that part rests on.
    pub fn by(
        answered: &Answered,
        which: Option<Beside>,
        uses: &Uses,
        pick: impl Fn(&Table) -> Values,
    ) -> Self {
        let (draws, lacking) = match answered.draws_of(which) {
            Ok(draws) => (draws, None),
            Err(why) => (&[][..], Some(why)),
        };
        let ours = answered.ours.as_ref().map(&pick).map_err(Clone::clone);
        let ours = lacking.map_or(ours, Err);
        let draws = draws.iter().map(|table| pick(table.as_ref()?)).collect();
        let is_simulated = uses.basis.contains(&Basis::Simulated);
        Self { ours, draws, is_simulated, runs: uses.runs }
    }

    /// Its draws as numbers, where they are.
    pub(super) fn numbers(&self) -> Vec<Option<Vec<f64>>> {
        self.draws.iter().map(|draw| numbers(draw.as_deref()?)).collect()
    }
}

fn values(answer: &Table) -> Values {
    let cells: Vec<&Cell> = answer.rows.iter().flat_map(|row| &row.cells).collect();
    of_cells(&cells)
}

/// The values of some cells, all of which have to be there.
pub(crate) fn of_cells(cells: &[&Cell]) -> Values {
    let value = |cell: &&Cell| match cell {
        Cell::Number(x, _) => Some(Value::Number(*x)),
        Cell::Count(n) => Some(Value::Number(*n as f64)),
        Cell::Text(text) => Some(Value::Text(text.clone())),
        Cell::Range(_) | Cell::Unknown | Cell::Empty => None,
    };
    let values: Option<Vec<Value>> = cells.iter().map(value).collect();
    values.filter(|values| !values.is_empty())
}

impl Compared {
    /// Nothing of ours, and why.
    fn lacking(status: Status, because: impl Into<String>) -> Self {
        Self { status, because: because.into(), ..Self::default() }
    }

    /// A binding that leads nowhere.
    pub fn broken(why: impl Into<String>) -> Self {
        let why = why.into();
        let because = format!("the binding is broken: {why}");
        Self { broken: Some(why), ..Self::lacking(Status::NotComputed, because) }
    }

    /// What a binding without a query says.
    pub(crate) fn unanswered(binding: &Binding) -> Self {
        match (&binding.needs_nova, &binding.not_computed) {
            (Some(path), _) => {
                let why = binding.because.as_deref().unwrap_or_default();
                Self::lacking(Status::NeedsNova, format!("{path}: {why}"))
            }
            (None, Some(why)) => Self::lacking(Status::NotComputed, why.clone()),
            (None, None) => Self::lacking(Status::NotComputed, "not bound to anything of ours"),
        }
    }
}

/// Compares.
pub fn compare(asked: &Asked<'_>, own: &Own, how: &ComparisonRules) -> Compared {
    let ours = match &own.ours {
        Ok(ours) => ours,
        Err(why) => return Compared::broken(why.clone()),
    };
    let words = |value: &Value| matches!(value, Value::Text(_));
    if matches!(asked.values, Stated::Numbers(_))
        && let Some(text) = ours.iter().flatten().find(|value| words(value))
    {
        return Compared::broken(format!("ours is {}, no number", text.print(0)));
    }
    let mut compared = match own.is_simulated {
        true if own.runs.both > 0 => pooled(own.runs),
        true => against_draws(asked, own, how),
        false => exactly(asked, ours.as_deref(), how),
    };
    compared.has_engine_rows = own.runs.engine + own.runs.both > 0;
    if own.is_simulated && own.runs.engine > 0 && own.runs.both == 0 {
        compared.because = [&of_both(own.runs), "; ", &compared.because].concat();
        compared.because.truncate(compared.because.trim_end_matches("; ").len());
    }
    let each = ours.iter().flatten().enumerate();
    let number = |(i, value): (usize, &Value)| Some(Rounded::new(value.number()?, asked.digits(i)));
    compared.each = each.clone().map(number).collect::<Option<_>>().unwrap_or_default();
    compared.ours = match (ours, &compared.broken) {
        (Some(values), _) => {
            let words = each.map(|(i, value)| value.print(asked.digits(i)));
            words.collect::<Vec<_>>().join(asked.joint(values.len()))
        }
        (None, None) => "none".into(),
        (None, Some(_)) => String::new(),
    };
    let agrees =
        matches!(compared.status, Status::Reproduced | Status::Consistent | Status::Uninformative);
    if let (true, Some(why)) = (agrees, &asked.binding.by_construction) {
        compared.status = Status::ByConstruction;
        compared.because.clone_from(why);
    }
    if let (true, Some(which)) = (own.is_simulated, asked.binding.given) {
        let given = format!("held against {}", which.words());
        let because = std::mem::take(&mut compared.because);
        compared.because = if because.is_empty() { given } else { format!("{because}; {given}") };
    }
    if let (true, Some(why)) = (own.is_simulated, &asked.binding.paper_plan) {
        compared.status = Status::NeedsNova;
        compared.by_chance = 0.0;
        compared.because = format!("results/nova/: the plan that the paper's runs received: {why}");
    }
    compared
}

/// Rows that engine runs and simulated ones make together: no draw is made of the former, and
/// they cannot be told apart.
fn pooled(runs: OfRuns) -> Compared {
    let because = format!(
        "{} rows pool engine runs and simulated ones, of which there are no draws",
        runs.both
    );
    Compared::lacking(Status::Uninformative, because)
}

/// What is drawn of a number that rests on engine runs and on simulated ones.
fn of_both(OfRuns { engine, simulated, .. }: OfRuns) -> String {
    format!("{engine} rows of engine runs as they are, {simulated} of simulated runs drawn")
}

impl Value {
    const fn number(&self) -> Option<f64> {
        match self {
            Self::Number(x) => Some(*x),
            Self::Text(_) => None,
        }
    }

    fn print(&self, digits: usize) -> String {
        match self {
            Self::Number(x) => fixed(*x, digits),
            Self::Text(text) => text.clone(),
        }
    }
}

impl Asked<'_> {
    /// Digits of its i-th value; of the last one for those after it.
    pub(super) fn digits(&self, i: usize) -> usize {
        match &self.values {
            Stated::Numbers(values) => values.get(i).or(values.last()).map_or(0, |(_, d)| *d),
            Stated::Words(_) => 0,
        }
    }

    /// What stands between values of ours.
    fn joint(&self, values: usize) -> &'static str {
        match self.shape() {
            Shape::Share if values == 2 => Form::Of.joint(),
            Shape::Ends if values == 2 => Form::Range.joint(),
            _ => Form::List.joint(),
        }
    }

    /// Its numbers as they are held against draws.
    pub(super) fn stated<'v>(
        &self,
        values: &'v [f64],
        rounding: &'v [f64],
        wide: f64,
    ) -> predictive::StatedNumbers<'v> {
        let (shape, bound) = (self.shape(), self.binding.bound);
        predictive::StatedNumbers { values, rounding, shape, bound, wide }
    }

    /// How its values are held against draws.
    fn shape(&self) -> Shape {
        match (self.binding.form, self.form) {
            (Some(BoundForm::Range), _) | (None, Form::Range) => Shape::Ends,
            (Some(BoundForm::KOfN), _) | (None, Form::Of) => Shape::Share,
            (Some(BoundForm::Seeds), _) => Shape::Seeds,
            (Some(BoundForm::List), _) | (None, Form::List) => Shape::Each,
            (None, Form::Scalar) => Shape::One,
        }
    }

    /// Its numbers and half a unit of the last digit of each.
    pub(super) fn numbers(&self) -> (Vec<f64>, Vec<f64>) {
        match &self.values {
            Stated::Numbers(values) => {
                let half = |(x, digits): &(f64, usize)| half_digit(*x, *digits, self.approx);
                (values.iter().map(|(x, _)| *x).collect(), values.iter().map(half).collect())
            }
            Stated::Words(_) => (Vec::new(), Vec::new()),
        }
    }
}

/// Half a unit of the last printed digit; of the last one that is not 0 where the number is
/// printed with "about".
pub fn half_digit(published: f64, digits: usize, approx: bool) -> f64 {
    let mut unit = libm::pow(10.0, -(digits as f64));
    if approx && published != 0.0 {
        while (published / (10.0 * unit)).round() * 10.0 * unit == published {
            unit *= 10.0;
        }
    }
    0.5 * unit
}

/// Numbers, if all are.
fn numbers(values: &[Value]) -> Option<Vec<f64>> {
    values.iter().map(Value::number).collect()
}

fn bound_in_words(side: Side) -> String {
    format!("stated as {}", side.words())
}

/// How far two numbers are apart, as a share of the larger one.
fn relative(a: f64, b: f64) -> f64 {
    let larger = a.abs().max(b.abs());
    if larger == 0.0 { 0.0 } else { (a - b).abs() / larger }
}

#[cfg(test)]
#[path = "compare/tests.rs"]
mod tests;
