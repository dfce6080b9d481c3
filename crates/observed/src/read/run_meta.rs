//! `meta.json` of a run directory: what no table of it says.

use super::document::Take;
use super::json::{Event, Scalar};
use crate::form::{Engine, Observed};

/// Reads it.
#[derive(Default)]
pub(crate) struct RunMeta {
    engine: Engine,
    observed: Observed,
}

impl Take for RunMeta {
    fn take(&mut self, event: Event<'_>, line: u64) {
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
            Event::Broken(why) => self.observed.dropped.add(why, line),
            _ => {}
        }
    }

    fn finish(mut self) -> Observed {
        self.observed.engines.insert(String::new(), self.engine);
        self.observed
    }
}
