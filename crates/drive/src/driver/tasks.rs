//! What goes on beside the driver and tells it: a task per request, and one that samples.

use std::sync::Arc;
use std::time::Duration;

use hyper::body::Bytes;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::{Instant, sleep_until};

use crate::client::Request;
use crate::engine::{Engine, Reply};
use crate::fault::Fault;
use crate::run::EngineSample;

/// What tasks tell the driver.
pub(super) enum Event {
    /// A request was begun so late, s.
    Begun {
        who: usize,
        late_s: f64,
    },
    Ended {
        who: usize,
        t_s: f64,
        reply: Result<Reply, Fault>,
    },
    Sample(EngineSample),
}

/// Asks the engine, and tells the driver on the run's clock. The driver may have gone at its
/// horizon: then nobody hears.
pub(super) struct Teller {
    pub(super) engine: Arc<Engine>,
    pub(super) events: UnboundedSender<Event>,
    /// Time 0.
    pub(super) start: Instant,
}

impl Teller {
    /// Makes a request that was due at `due_s`.
    pub(super) async fn request(self, request: Request, due_s: f64, body: Bytes) {
        let Self { engine, events, start } = self;
        let who = request.who;
        let late_s = start.elapsed().as_secs_f64() - due_s;
        let _ = events.send(Event::Begun { who, late_s });
        let reply = engine.ask_with(body, request.prompt_tokens, request.decode_tokens).await;
        let end = reply.as_ref().map_or_else(|_| Instant::now(), |reply| reply.end);
        let t_s = end.duration_since(start).as_secs_f64();
        let _ = events.send(Event::Ended { who, t_s, reply });
    }

    /// Samples the engine's gauges. A sample that takes longer than the time between two is
    /// left out.
    pub(super) async fn samples(self, every_s: f64) {
        let Self { engine, events, start } = self;
        for number in 0_u32.. {
            let at_s = every_s * f64::from(number);
            if start.elapsed().as_secs_f64() > at_s + every_s {
                continue;
            }
            sleep_until(start + Duration::from_secs_f64(at_s)).await;
            if let Ok(scrape) = engine.metrics(every_s).await {
                let t_s = start.elapsed().as_secs_f64();
                if events.send(Event::Sample(scrape.sample(t_s))).is_err() {
                    return;
                }
            }
        }
    }
}
