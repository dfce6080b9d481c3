//! `meta.json` of a run directory: what no table of it says.

use super::Parse;
use super::json::{Event, Events, Scalar, is_lines};
use crate::form::{Engine, Observed};

/// Reads it.
pub struct RunMeta {
    events: Events,
    engine: Engine,
    observed: Observed,
}

impl RunMeta {
    pub fn new(head: &[u8]) -> Self {
        let (engine, observed) = Default::default();
        Self { events: Events::new(is_lines(head)), engine, observed }
    }

    fn take(&mut self, event: Event<'_>) {
        let engine = &mut self.engine;
        match event {
            Event::Scalar("pool_tokens", Scalar::Number(x)) if x >= 1.0 => {
                engine.pool_tokens = Some(x as u64);
            }
            Event::Scalar("prefix_caching", Scalar::Flag(on)) => engine.prefix_caching = Some(on),
            Event::Scalar("engine.version", Scalar::Text(text)) => {
                engine.version = Some(text.into())
            }
            Event::Scalar("model", Scalar::Text(text)) => engine.model = Some(text.into()),
            Event::Scalar("engine.name", Scalar::Text(text)) => {
                let known = ["vllm", "sglang"];
                engine.software = known.into_iter().find(|k| text.eq_ignore_ascii_case(k));
            }
            Event::Scalar("source", Scalar::Text("simulator")) => self.observed.simulated = true,
            Event::Scalar("population", Scalar::Number(_)) => self.observed.closed = Some(true),
            Event::Broken(why, line) => self.observed.dropped.add(why, line),
            _ => {}
        }
    }
}

impl Parse for RunMeta {
    fn push(&mut self, bytes: &[u8]) {
        let mut events = std::mem::replace(&mut self.events, Events::new(false));
        events.push(bytes, &mut |event| self.take(event));
        self.events = events;
    }

    fn finish(mut self: Box<Self>) -> Observed {
        let mut events = std::mem::replace(&mut self.events, Events::new(false));
        events.finish(&mut |event| self.take(event));
        self.observed.engines.insert(String::new(), self.engine);
        self.observed
    }
}
