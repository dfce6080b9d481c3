//! What makes a number differ: as its binding states it, held against what can be computed, or
//! chance where it lies just outside.

use crate::digits::{Rounded, fixed};

use super::bindings::{Binding, Cause};
use super::compare::Compared;
use super::comparison::ComparisonRules;
use super::predictive::Direction;
use super::{Entry, StatedCause, Status};

/// The cause of a difference; `None` where there is no difference, or none is known. `other` is
/// how the published value stands to the query by which it would agree, if there is one; `with`
/// what the ensemble makes of ours that is named, or that it does not move ours nearer.
///
/// # Errors
/// The cause that is stated is contradicted, and by what.
pub fn cause(
    compared: &Compared,
    binding: &Binding,
    other: Option<&Compared>,
    with: Option<Result<String, String>>,
    how: &ComparisonRules,
) -> Result<Option<StatedCause>, String> {
    if compared.status != Status::Differs {
        return Ok(None);
    }
    let because = binding.because.clone().unwrap_or_default();
    let is_drawn =
        compared.holds_in.is_some() || compared.beyond.is_some() || !compared.intervals.is_empty();
    match (binding.cause, just_outside(compared, how)) {
        (None, None) => Ok(None),
        // Of an engine's own runs neither is the cause, and among simulated ones not the only one.
        (Some(Cause::Simulator | Cause::Plan), _) if !is_drawn || compared.has_engine_rows => {
            Ok(None)
        }
        (None, Some(checked)) => {
            let because = "it lies just outside".into();
            Ok(Some(StatedCause { kind: Cause::Chance, because, checked }))
        }
        (Some(Cause::Chance), Some(checked)) => {
            Ok(Some(StatedCause { kind: Cause::Chance, because, checked }))
        }
        (Some(Cause::Chance), None) => Err(format!("cause chance: {}", far_outside(compared, how))),
        (Some(kind), _) => {
            let checked = checked(compared, binding, other, with);
            let checked = checked.map_err(|why| format!("cause {}: {why}", kind.word()))?;
            Ok(Some(StatedCause { kind, because, checked }))
        }
    }
}

/// How it lies just outside, if it does: near the interval of the draws, or as at least one of
/// them came out.
fn just_outside(compared: &Compared, how: &ComparisonRules) -> Option<String> {
    if let Some(beyond) = compared.beyond {
        let near = beyond <= how.chance.within_widths;
        return near.then(|| format!("{} widths of the interval outside", fixed(beyond, 2)));
    }
    let (holds, draws) = compared.holds_in.filter(|(holds, _)| *holds > 0)?;
    Some(format!("so in {holds} of {draws} draws"))
}

fn far_outside(compared: &Compared, how: &ComparisonRules) -> String {
    let within = how.chance.within_widths;
    match compared.beyond {
        Some(beyond) if beyond.is_finite() => {
            format!(
                "it lies {} widths of the interval outside, more than {within}",
                fixed(beyond, 2)
            )
        }
        Some(_) => "it lies outside, and no two draws differ".into(),
        None => "no draw came out like it".into(),
    }
}

/// What was computed that bears a cause out; nothing where nothing can be.
fn checked(
    compared: &Compared,
    binding: &Binding,
    other: Option<&Compared>,
    with: Option<Result<String, String>>,
) -> Result<String, String> {
    let mut checked = Vec::new();
    if let Some(side) = binding.ours {
        if compared.direction != Some(side) {
            let is = compared.direction.map_or("on no one side", Direction::words);
            return Err(format!("{side} is what it would make, and it is {is}"));
        }
        checked.push(format!("{side}, as it would make it"));
    }
    if let Some(other) = other {
        if let Some(why) = &other.broken {
            return Err(format!("agrees: {why}"));
        }
        let agrees = !matches!(other.status, Status::Differs) && other.status.is_compared();
        if !agrees || other.intervals.is_empty() && other.status == Status::Uninformative {
            return Err(format!("what would agree does not: it is {}", other.ours));
        }
        checked.push(format!("by it ours is {}", other.ours));
    }
    if let Some(with) = with {
        checked.push(with?);
    }
    Ok(checked.join("; "))
}

/// That more differences are put down to chance than chance makes, if so.
pub(crate) fn more_than_chance(entries: &[Entry]) -> Option<String> {
    let is_chance = |entry: &&Entry| entry.cause.as_ref().is_some_and(|c| c.kind == Cause::Chance);
    let called = entries.iter().filter(is_chance).count();
    let expected: f64 =
        entries.iter().filter_map(|entry| entry.by_chance).map(Rounded::value).sum();
    (called as f64 > expected.ceil()).then(|| {
        format!("{called} differences are put down to chance, which makes {}", fixed(expected, 0))
    })
}

#[cfg(test)]
#[path = "cause/tests.rs"]
mod tests;
