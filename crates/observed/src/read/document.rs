//! A reader of JSON, made of what takes its events.

use super::Parse;
use super::json::{Event, Events, is_lines};
use crate::form::Observed;

/// Makes an [`Observed`] of the events of a JSON source.
pub trait Take {
    /// The next event, and the line that it is on.
    fn take(&mut self, event: Event<'_>, line: u64);

    /// What was read.
    fn finish(self) -> Observed;
}

/// Reads JSON in any pieces.
pub struct Json<T> {
    events: Events,
    taker: T,
}

impl<T: Take> Json<T> {
    /// A reader of what begins like this.
    pub fn new(taker: T, head: &[u8]) -> Self {
        Self { events: Events::new(is_lines(head)), taker }
    }
}

impl<T: Take> Parse for Json<T> {
    fn push(&mut self, bytes: &[u8]) {
        let taker = &mut self.taker;
        self.events.push(bytes, &mut |event, line| taker.take(event, line));
    }

    fn finish(self: Box<Self>) -> Observed {
        let Self { mut events, mut taker } = *self;
        events.finish(&mut |event, line| taker.take(event, line));
        taker.finish()
    }
}
