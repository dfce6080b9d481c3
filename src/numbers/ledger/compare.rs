//! A published value against ours: how they stand, and by how much they are apart.
//!
//! What rests on simulated runs is held against the interval of the ensemble's draws, whatever
//! ours is; anything else against ours itself. Nothing is allowed but the rounding of what is
//! printed.

use crate::digits::fixed;
use crate::table::{Cell, Table};

use super::answers::{Answered, Basis};
use super::bindings::{Binding, BoundForm};
use super::comparison::Comparison;
use super::predictive::{self, Against, Direction, FEWEST_DRAWS, Judged, Shape, Side, Standing};
use super::published::Form;
use super::{Interval, Status};

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
}

/// How ours compares.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Compared {
    /// Ours, to the digits of the published value.
    pub ours: String,
    /// Ours, value by value, to these digits.
    pub each: Vec<String>,
    /// How it stands.
    pub status: Status,
    /// Value by value against the draws.
    pub intervals: Vec<Interval>,
    /// How many draws there are, and for a bound or for words in how many it is so.
    pub holds_in: Option<(usize, usize)>,
    /// How likely it is to differ by chance.
    pub by_chance: f64,
    /// Which way it differs: `ours above`, `ours below`, or nothing.
    pub direction: String,
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
    pub fn of(answered: &Answered) -> Self {
        Self::by(answered, values)
    }

    /// What a part of an answer gives.
    pub fn by(answered: &Answered, pick: impl Fn(&Table) -> Values) -> Self {
        let ours = answered.ours.as_ref().map(&pick).map_err(Clone::clone);
        let draws = answered.draws.iter().map(|table| pick(table.as_ref()?)).collect();
        let is_simulated = answered.uses.basis.contains(&Basis::Simulated);
        Self { ours, draws, is_simulated }
    }
}

/// The values of an answer.
fn values(answer: &Table) -> Values {
    let cells: Vec<&Cell> = answer.rows.iter().flat_map(|row| &row.cells).collect();
    of_cells(&cells)
}

/// The values of some cells, all of which have to be there.
pub fn of_cells(cells: &[&Cell]) -> Values {
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
    pub fn unanswered(binding: &Binding) -> Self {
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
pub fn compare(asked: &Asked<'_>, own: &Own, how: &Comparison) -> Compared {
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
    let mut compared = if own.is_simulated {
        against_draws(asked, own, how)
    } else {
        exactly(asked, ours.as_deref(), how)
    };
    let each = ours.iter().flatten().enumerate();
    compared.each = each.map(|(i, value)| value.print(asked.digits(i))).collect();
    compared.ours = match (ours, &compared.broken) {
        (Some(_), _) => compared.each.join(asked.joint(compared.each.len())),
        (None, None) => "none".into(),
        (None, Some(_)) => String::new(),
    };
    let agrees =
        matches!(compared.status, Status::Reproduced | Status::Consistent | Status::Uninformative);
    if let (true, Some(why)) = (agrees, &asked.binding.by_construction) {
        compared.status = Status::ByConstruction;
        compared.because.clone_from(why);
    }
    if let (true, Some(why)) = (own.is_simulated, &asked.binding.paper_plan) {
        compared.status = Status::NeedsNova;
        compared.by_chance = 0.0;
        compared.because = format!("results/nova/: the plan that the paper's runs received: {why}");
    }
    compared
}

impl Value {
    fn print(&self, digits: usize) -> String {
        match self {
            Self::Number(x) => fixed(*x, digits),
            Self::Text(text) => text.clone(),
        }
    }
}

impl Asked<'_> {
    /// Digits of its i-th value; of the last one for those after it.
    fn digits(&self, i: usize) -> usize {
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
    fn numbers(&self) -> (Vec<f64>, Vec<f64>) {
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
    let number = |value: &Value| match value {
        Value::Number(x) => Some(*x),
        Value::Text(_) => None,
    };
    values.iter().map(number).collect()
}

/// What rests on no simulated run: ours is what is published, to its digits, or it is not.
fn exactly(asked: &Asked<'_>, ours: Option<&[Value]>, how: &Comparison) -> Compared {
    let stands = |same: bool| if same { Status::Reproduced } else { Status::Differs };
    let Some(ours) = ours else {
        let because = "ours has none".to_owned();
        return Compared { status: Status::Differs, because, apart: 1.0, ..Compared::default() };
    };
    let Stated::Words(words) = &asked.values else {
        let own = numbers(ours).unwrap_or_default();
        return equal_numbers(asked, &own);
    };
    let known = |words: &mut dyn Iterator<Item = String>| -> Vec<String> {
        words.map(|word| how.plain(&word)).collect()
    };
    let same = known(&mut words.iter().cloned()) == known(&mut ours.iter().map(|v| v.print(0)));
    Compared { status: stands(same), because: "the same words".into(), ..Compared::default() }
}

fn equal_numbers(asked: &Asked<'_>, own: &[f64]) -> Compared {
    let (values, halves) = asked.numbers();
    if own.len() != values.len() {
        let (stated, own) = (values.len(), own.len());
        return Compared::broken(format!("published are {stated} values, ours are {own}"));
    }
    let bound = asked.binding.bound;
    let holds = |((value, own), half): ((&f64, &f64), &f64)| match bound {
        Some(side) => side.holds(*own, *value, *half),
        None => (own - value).abs() <= half * (1.0 + 1e-9),
    };
    let mut pairs = values.iter().zip(own).zip(&halves);
    if pairs.all(holds) {
        let because = bound.map_or_else(String::new, bound_in_words);
        return Compared { status: Status::Reproduced, because, ..Compared::default() };
    }
    let apart = |(value, own): (&f64, &f64)| relative(*own, *value);
    let farthest = values.iter().zip(own).max_by(|a, b| apart(*a).total_cmp(&apart(*b)));
    let (value, own) = farthest.map_or((0.0, 0.0), |(value, own)| (*value, *own));
    let far = relative(own, value);
    Compared {
        status: Status::Differs,
        direction: if own > value { "ours above" } else { "ours below" }.into(),
        gap: in_percent(own, value, asked.digits(0)),
        apart: far,
        because: bound.map_or_else(String::new, bound_in_words),
        ..Compared::default()
    }
}

fn bound_in_words(side: Side) -> String {
    format!("stated as {}", side.words())
}

/// How far two numbers are apart, as a share of the larger one.
fn relative(a: f64, b: f64) -> f64 {
    let larger = a.abs().max(b.abs());
    if larger == 0.0 { 0.0 } else { (a - b).abs() / larger }
}

fn in_percent(own: f64, published: f64, digits: usize) -> String {
    let distance = own - published;
    let sign = if distance > 0.0 { "+" } else { "" };
    if published == 0.0 {
        format!("{sign}{}", fixed(distance, digits + 1))
    } else {
        format!("{sign}{} %", fixed(100.0 * distance / published.abs(), 1))
    }
}

/// What rests on simulated runs, against the draws.
fn against_draws(asked: &Asked<'_>, own: &Own, how: &Comparison) -> Compared {
    let wide = how.uninformative.wider_than;
    let shape = asked.shape();
    let (values, rounding) = asked.numbers();
    let is_of_length = |draw: &Values| draw.as_ref().is_none_or(|draw| draw.len() == values.len());
    let differs_in_length = shape == Shape::Each && !own.draws.iter().all(is_of_length);
    if matches!(asked.values, Stated::Words(_)) || differs_in_length {
        return outcomes(asked, own, how);
    }
    let draws: Vec<Option<Vec<f64>>> =
        own.draws.iter().map(|draw| numbers(draw.as_deref()?)).collect();
    let with = draws.iter().flatten().count();
    // Hardly a draw has what the paper has.
    if draws.len() >= FEWEST_DRAWS && with < draws.len() / 20 {
        return Compared {
            status: Status::Differs,
            holds_in: Some((with, draws.len())),
            apart: 1.0,
            because: format!("ours has none in {} of {} draws", draws.len() - with, draws.len()),
            ..Compared::default()
        };
    }
    let bound = asked.binding.bound;
    let stated = predictive::Stated { values: &values, rounding: &rounding, shape, bound, wide };
    of_judged(asked, &predictive::judge(&stated, &draws), draws.len())
}

/// Outcomes in words, or lists of no fixed length: in seeds' order where that means something.
fn outcomes(asked: &Asked<'_>, own: &Own, how: &Comparison) -> Compared {
    let known = |values: &[Value]| -> Vec<String> {
        let print = |(i, value): (usize, &Value)| how.plain(&value.print(asked.digits(i)));
        let mut words: Vec<String> = values.iter().enumerate().map(print).collect();
        if asked.form == Form::List || asked.shape() == Shape::Seeds {
            words.sort();
        }
        words
    };
    let stated: Vec<Value> = match &asked.values {
        Stated::Words(words) => words.iter().cloned().map(Value::Text).collect(),
        Stated::Numbers(numbers) => numbers.iter().map(|(x, _)| Value::Number(*x)).collect(),
    };
    let draws: Vec<Option<Vec<String>>> =
        own.draws.iter().map(|draw| draw.as_deref().map(known)).collect();
    let wide = how.uninformative.wider_than;
    let judged = predictive::outcome(&Some(known(&stated)), &draws, wide);
    of_judged(asked, &judged, draws.len())
}

fn of_judged(asked: &Asked<'_>, judged: &Judged, draws: usize) -> Compared {
    let digits = |i: usize| asked.digits(i);
    let intervals: Vec<Interval> = judged
        .against
        .iter()
        .enumerate()
        .map(|(i, against)| Interval::of(against, digits(i)))
        .collect();
    let off = judged.against.iter().filter(|one| one.outside.is_some());
    let farthest = off.max_by(|a, b| distance(a, asked).total_cmp(&distance(b, asked)));
    let mut because = String::new();
    if judged.draws < FEWEST_DRAWS {
        because = match draws {
            0 => "no draws to compare with".into(),
            draws => format!("{} of {draws} draws have it, too few", judged.draws),
        };
    } else if let Some(holds) = judged.holds_in {
        let what = asked.binding.bound.map_or("the same".into(), bound_in_words);
        because = format!("{what}: so in {holds} of {} draws", judged.draws);
    }
    let bound_off = judged.holds_in.map_or(0.0, |k| 1.0 - k as f64 / judged.draws.max(1) as f64);
    Compared {
        status: match judged.standing {
            Standing::Consistent => Status::Consistent,
            Standing::Uninformative => Status::Uninformative,
            Standing::Differs => Status::Differs,
        },
        direction: farthest.and_then(|one| one.outside).map_or("", Direction::words).into(),
        gap: farthest.map_or_else(String::new, |one| gap(one, asked)),
        apart: farthest.map_or(bound_off, |one| distance(one, asked)),
        holds_in: judged.holds_in.map(|holds| (holds, judged.draws)),
        by_chance: judged.by_chance,
        intervals,
        because,
        ..Compared::default()
    }
}

/// From the interval's nearer end to the published value, as a share of the larger one; of a
/// count, as a share of all.
fn distance(against: &Against, asked: &Asked<'_>) -> f64 {
    let (low, high) = against.interval;
    let end = if against.published < low { low } else { high };
    match (&*against.what, &asked.values) {
        ("count", Stated::Numbers(values)) if values.len() == 2 => {
            (end - against.published).abs() / values[1].0
        }
        ("share", _) => (end - against.published).abs(),
        _ => relative(end, against.published),
    }
}

/// `low end 459, ours 240 to 350`.
fn gap(against: &Against, asked: &Asked<'_>) -> String {
    let interval = Interval::of(against, asked.digits(0));
    format!("{} {}, ours {} to {}", against.what, interval.published, interval.low, interval.high)
}

#[cfg(test)]
#[path = "compare/tests.rs"]
mod tests;
