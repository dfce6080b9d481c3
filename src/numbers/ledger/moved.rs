//! Whether one thing that is otherwise in the simulator moves ours towards what is published:
//! draw by draw, each against the draw of the same plans without it.

use crate::digits::fixed;

use super::Status;
use super::beside::Beside;
use super::compare::{Asked, Own, compare};
use super::comparison::Comparison;
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
    how: &Comparison,
) -> Result<String, String> {
    let [before, after] = [own, with].map(|own| compare(asked, own, how));
    if let Some(why) = after.broken {
        return Err(why);
    }
    let words = format!("with {}", which.words());
    let Some(found) = asked.moved(own, with) else {
        let of = |own: &Own, holds: Option<(usize, usize)>| {
            holds.map_or_else(|| own.draws.iter().flatten().count(), |(holds, _)| holds)
        };
        let (without, with) = (of(own, before.holds_in), of(with, after.holds_in));
        let told = format!("{words} so in {with} draws, without in {without}");
        let more = with.saturating_sub(without);
        return if more_than_half(more, more) { Ok(told) } else { Err(told) };
    };
    let Moved { what, part, from, to, nearer, of } = found;
    // A share is printed as k of n, without digits of its own.
    let digits = if what == "share" { 4 } else { asked.digits(part) + 1 };
    let told = format!(
        "{words} the middle draw's {what} is {} in place of {}, nearer in {nearer} of {of} draws",
        fixed(to, digits),
        fixed(from, digits)
    );
    if !more_than_half(nearer, of) {
        return Err(told);
    }
    let left = if after.status == Status::Differs { "" } else { ", and it does not differ" };
    Ok(told + left)
}

impl Asked<'_> {
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
