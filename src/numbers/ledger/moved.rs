//! Whether one thing that is otherwise in the simulator moves ours towards what is published:
//! draw by draw, each against the draw of the same plans without it.

use crate::digits::fixed;

use super::Status;
use super::beside::Beside;
use super::compare::{Asked, Own, compare};
use super::comparison::ComparisonRules;
use super::predictive::{Moved, more_than_half, moved};

/// What it makes of ours, in words.
///
/// # Errors
/// It does not move ours nearer, and what it does instead; or it cannot be asked.
pub fn told(
    asked: &Asked<'_>,
    which: Beside,
    own: &Own,
    with: &Own,
    how: &ComparisonRules,
) -> Result<String, String> {
    let after = compare(asked, with, how);
    if let Some(why) = after.broken {
        return Err(why);
    }
    let words = format!("with {}", which.words());
    let Some(found) = asked.moved(own, with) else {
        let [was, is] = asked.is_so_in([own, with], how);
        let holds = |draws: &[bool]| draws.iter().filter(|holds| **holds).count();
        let told = format!("{words} so in {} draws, without in {}", holds(&is), holds(&was));
        let changed = was.iter().zip(&is).filter(|(was, is)| was != is);
        let (of, gained) =
            changed.fold((0, 0), |(of, gained), (_, is)| (of + 1, gained + usize::from(*is)));
        return if more_than_half(gained, of) { Ok(told) } else { Err(told) };
    };
    let Moved { what, part, from, to, nearer, of } = found;
    let digits = asked.digits_moved(&what, part);
    let told = format!(
        "{words} the middle draw's {what} is {} in place of {}, nearer in {nearer} of {of} draws",
        fixed(to, digits),
        fixed(from, digits)
    );
    if !more_than_half(nearer, of) {
        return Err(told);
    }
    let is_tested = !after.intervals.is_empty() || after.holds_in.is_some();
    let is_left = is_tested && after.status.is_compared() && after.status != Status::Differs;
    Ok(told + if is_left { ", and it does not differ" } else { "" })
}

impl Asked<'_> {
    /// Digits of a value that moves: one more than is printed. A share is printed as k of n,
    /// without digits of its own.
    pub(super) fn digits_moved(&self, what: &str, part: usize) -> usize {
        if what == "share" { 4 } else { self.digits(part) + 1 }
    }

    /// The value that lies farthest outside, with and without; nothing where what is published is
    /// no number with an interval.
    pub(super) fn moved(&self, own: &Own, with: &Own) -> Option<Moved> {
        if self.binding.bound.is_some() {
            return None;
        }
        let (values, rounding) = self.numbers();
        moved(&self.stated(&values, &rounding, 1.0), &own.numbers(), &with.numbers())
    }
}

#[cfg(test)]
#[path = "moved/tests.rs"]
mod tests;
