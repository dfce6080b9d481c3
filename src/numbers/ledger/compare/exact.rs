//! What rests on no simulated run: ours is what is published, to its digits, or it is not.

use crate::digits::fixed;

use super::super::Status;
use super::super::comparison::ComparisonRules;
use super::super::predictive::Direction;
use super::{Asked, Compared, Stated, Value, bound_in_words, numbers, relative};

/// Compares with ours itself.
pub(super) fn exactly(
    asked: &Asked<'_>,
    ours: Option<&[Value]>,
    how: &ComparisonRules,
) -> Compared {
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
        direction: Some(if own > value { Direction::OursAbove } else { Direction::OursBelow }),
        gap: in_percent(own, value, asked.digits(0)),
        apart: far,
        because: bound.map_or_else(String::new, bound_in_words),
        ..Compared::default()
    }
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
