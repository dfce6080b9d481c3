//! What rests on simulated runs, against the interval of the ensemble's draws.

use super::super::comparison::ComparisonRules;
use super::super::predictive::{self, Against, AgainstDraws, FEWEST_DRAWS, Shape, Standing};
use super::super::published::Form;
use super::super::{Interval, Status};
use super::{Asked, Compared, Own, Stated, Value, Values, bound_in_words, numbers, relative};

pub(super) fn against_draws(asked: &Asked<'_>, own: &Own, how: &ComparisonRules) -> Compared {
    let wide = how.uninformative.wider_than;
    let shape = asked.shape();
    let (values, rounding) = asked.numbers();
    if asked.is_outcome(own) {
        return outcomes(asked, own, how);
    }
    if let Some(judged) = of_many_runs(&values, own, shape, wide) {
        let because = "against the share of many runs, not of draws".to_owned();
        return Compared { because, ..of_judged(asked, &judged, 0) };
    }
    let draws = own.numbers();
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
    let stated = asked.stated(&values, &rounding, wide);
    of_judged(asked, &predictive::judge(&stated, &draws), draws.len())
}

/// A share that is no statistic of draws, but of many runs at once.
fn of_many_runs(values: &[f64], own: &Own, shape: Shape, wide: f64) -> Option<AgainstDraws> {
    let ours = numbers(own.ours.as_ref().ok()?.as_deref()?)?;
    let whole = |x: f64| (x >= 0.0).then(|| x.round() as u64);
    let pair = |pair: &[f64]| match pair {
        [k, n] if *n > 0.0 && k <= n => whole(*k).zip(whole(*n)),
        _ => None,
    };
    let (stated, ours) = pair(values).zip(pair(&ours))?;
    let is_alone = own.draws.is_empty() && shape == Shape::Share;
    is_alone.then(|| predictive::two_shares(stated, ours, wide))
}

/// Outcomes in words, or lists of no fixed length: in seeds' order where that means something.
fn outcomes(asked: &Asked<'_>, own: &Own, how: &ComparisonRules) -> Compared {
    let known = |draw: &Values| draw.as_deref().map(|values| asked.known(values, how));
    let draws: Vec<Option<Vec<String>>> = own.draws.iter().map(known).collect();
    let wide = how.uninformative.wider_than;
    let judged = predictive::outcome(&Some(asked.outcome(how)), &draws, wide);
    of_judged(asked, &judged, draws.len())
}

impl Asked<'_> {
    /// Whether it is held against the draws as words or as a list of no fixed length.
    fn is_outcome(&self, own: &Own) -> bool {
        let Stated::Numbers(values) = &self.values else { return true };
        let is_other = |draw: &Values| draw.as_ref().is_some_and(|draw| draw.len() != values.len());
        self.shape() == Shape::Each && own.draws.iter().any(is_other)
    }

    /// Values as an outcome.
    fn known(&self, values: &[Value], how: &ComparisonRules) -> Vec<String> {
        let print = |(i, value): (usize, &Value)| how.plain(&value.print(self.digits(i)));
        let mut words: Vec<String> = values.iter().enumerate().map(print).collect();
        if self.form == Form::List || self.shape() == Shape::Seeds {
            words.sort();
        }
        words
    }

    /// The published outcome.
    fn outcome(&self, how: &ComparisonRules) -> Vec<String> {
        let stated: Vec<Value> = match &self.values {
            Stated::Words(words) => words.iter().cloned().map(Value::Text).collect(),
            Stated::Numbers(numbers) => numbers.iter().map(|(x, _)| Value::Number(*x)).collect(),
        };
        self.known(&stated, how)
    }

    /// In which draws it is so, without one thing and with it: a draw keeps to the bound or has
    /// the outcome; of numbers, which too few draws have for an interval, a draw has some.
    pub(in super::super) fn is_so_in(
        &self,
        both: [&Own; 2],
        how: &ComparisonRules,
    ) -> [Vec<bool>; 2] {
        let (values, rounding) = self.numbers();
        let stated = self.stated(&values, &rounding, how.uninformative.wider_than);
        let outcome = both.iter().any(|own| self.is_outcome(own)).then(|| self.outcome(how));
        let is_so = |draw: &Values| {
            let Some(draw) = draw.as_deref() else { return false };
            match (&outcome, self.binding.bound) {
                (Some(outcome), _) => self.known(draw, how) == *outcome,
                (None, Some(side)) => numbers(draw).is_some_and(|own| stated.keeps(side, &own)),
                (None, None) => true,
            }
        };
        both.map(|own| own.draws.iter().map(is_so).collect())
    }
}

fn of_judged(asked: &Asked<'_>, judged: &AgainstDraws, draws: usize) -> Compared {
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
        direction: farthest.and_then(|one| one.outside),
        gap: farthest.map_or_else(String::new, |one| gap(one, asked)),
        apart: farthest.map_or(bound_off, |one| distance(one, asked)),
        beyond: judged.against.iter().filter_map(Against::beyond).max_by(f64::total_cmp),
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
