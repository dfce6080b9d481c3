//! What must hold between two iterations, recounted from scratch.
//!
//! The engine keeps running sums (tokens reserved, tokens idle, decode context);
//! here they are counted again, request by request. Checked at every pass in
//! unit tests, and anywhere on demand.

use super::engine::Engine;

/// An invariant that did not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// Reserved and idle tokens exceed the pool.
    #[error("{reserved} reserved + {idle} idle tokens exceed the pool of {capacity}")]
    Overcommitted {
        /// Held by running requests.
        reserved: u64,
        /// Cached.
        idle: u64,
        /// M.
        capacity: u64,
    },
    /// A running sum differs from its recount.
    #[error("{what}: kept as {kept}, counted as {counted}")]
    Miscounted {
        /// Which sum.
        what: &'static str,
        /// The running value.
        kept: u64,
        /// The recount.
        counted: u64,
    },
    /// A session with two requests at once.
    #[error("session {who} is in the engine twice")]
    Twice {
        /// Position in the plan.
        who: usize,
    },
    /// More requests run than may.
    #[error("{running} requests run, at most {limit} may")]
    TooManyRunning {
        /// Running.
        running: usize,
        /// The engine's limit.
        limit: usize,
    },
    /// FCFS admitted a request before one that had waited longer.
    #[error("session {who} was admitted out of turn")]
    OutOfOrder {
        /// Position in the plan.
        who: usize,
    },
    /// Requests wait while nothing runs.
    #[error("{waiting} requests wait and nothing runs")]
    NotWorkConserving {
        /// Waiting.
        waiting: usize,
    },
}

/// Checks an engine pass by pass.
#[derive(Debug, Default)]
pub(crate) struct Checker {
    /// The queue as it was at the last check, and admissions up to then.
    queue: Vec<usize>,
    admitted: u64,
    /// The check at which each session was last seen in the engine.
    seen: Vec<u64>,
    checks: u64,
}

impl Checker {
    /// Checks the engine just after an iteration was filled.
    pub(crate) fn check(&mut self, engine: &Engine) -> Result<(), Violation> {
        fits(engine)?;
        recount(engine)?;
        self.once(engine)?;
        let running = engine.running();
        if running > engine.max_running() {
            return Err(Violation::TooManyRunning { running, limit: engine.max_running() });
        }
        if running == 0 && engine.waiting() > 0 {
            return Err(Violation::NotWorkConserving { waiting: engine.waiting() });
        }
        self.in_order(engine)
    }

    fn once(&mut self, engine: &Engine) -> Result<(), Violation> {
        self.checks += 1;
        let waiting = engine.waiting.iter().map(|job| job.request.who);
        let prefills = engine.prefills.iter().map(|p| p.job.request.who);
        let decodes = engine.decodes.iter().map(|d| d.job.request.who);
        for who in waiting.chain(prefills).chain(decodes) {
            if who >= self.seen.len() {
                self.seen.resize(who + 1, 0);
            }
            if std::mem::replace(&mut self.seen[who], self.checks) == self.checks {
                return Err(Violation::Twice { who });
            }
        }
        Ok(())
    }

    /// Under FCFS, what was admitted since the last check are the queue's first
    /// requests: what is left of the old queue still leads the new one.
    fn in_order(&mut self, engine: &Engine) -> Result<(), Violation> {
        let gone = (engine.admitted - self.admitted) as usize;
        let left = self.queue.get(gone..).unwrap_or_default();
        let now: Vec<usize> = engine.waiting.iter().map(|job| job.request.who).collect();
        if engine.is_fcfs() {
            if let Some((who, _)) = left.iter().zip(&now).find(|(old, new)| old != new) {
                return Err(Violation::OutOfOrder { who: *who });
            }
            if let Some(who) = left.get(now.len()) {
                return Err(Violation::OutOfOrder { who: *who });
            }
        }
        self.queue = now;
        self.admitted = engine.admitted;
        Ok(())
    }
}

fn fits(engine: &Engine) -> Result<(), Violation> {
    let pool = &engine.pool;
    let (reserved, idle, capacity) = (pool.reserved(), pool.idle(), pool.capacity());
    if reserved + idle > capacity {
        return Err(Violation::Overcommitted { reserved, idle, capacity });
    }
    Ok(())
}

fn recount(engine: &Engine) -> Result<(), Violation> {
    let same = |what, kept, counted| {
        if kept == counted { Ok(()) } else { Err(Violation::Miscounted { what, kept, counted }) }
    };
    let prefills = engine.prefills.iter().map(|p| p.job.footprint());
    let decodes = engine.decodes.iter().map(|d| d.job.footprint());
    same("reserved tokens", engine.pool.reserved(), prefills.chain(decodes).sum())?;
    same("idle tokens", engine.pool.idle(), engine.pool.recount_idle())?;
    // The last decode iteration reads all of the footprint but one token, each
    // before it one token less.
    let context = engine.decodes.iter().map(|d| d.job.footprint() - (d.finish - engine.decoded));
    same("decode context", engine.context, context.sum())?;
    let in_engine = engine.running() as u64;
    same("requests admitted", engine.admitted, engine.completed + in_engine)?;
    let uncached = |job: &super::engine::InEngine| job.request.prompt_tokens - job.cached;
    let counters = engine.counters();
    let running = engine.prefills.iter().map(|p| uncached(&p.job) - p.left);
    let running = running.chain(engine.decodes.iter().map(|d| uncached(&d.job)));
    let booked = counters.prompt_tokens - counters.cached_tokens;
    same("tokens prefilled", engine.prefilled, booked + running.sum::<u64>())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::client::Request;
    use crate::setup::cell::Engine as EngineName;
    use crate::setup::{
        ArmSpec, Batching, Cell, Costs, Scheduling, Speed, ToolTime, TurnLaw, Workload,
    };
    use crate::sim::engine::EngineSpec;
    use crate::sim::{Options, Stepping};

    fn cell() -> Cell {
        Cell {
            name: "test".into(),
            workload: "test".into(),
            protocol: "test".into(),
            engine: EngineName { name: "sglang".into(), version: "0".into() },
            model: "m".into(),
            gpu: "g".into(),
            pool_tokens: 10_000,
            block_tokens: 1,
            scheduling: Scheduling::Fcfs,
            batching: Batching::Mixed,
            chunk_tokens: 8192,
            max_running: 2,
            lambda_ref_per_s: 1.0,
            all_miss_tokens_per_s: None,
            costs: Costs::Iteration {
                a_s: 0.01,
                f0_s: 0.001,
                b_s_per_token: 6e-5,
                c_p_s_per_pair: 2e-9,
                c_d_s: 3e-4,
            },
            iteration_costs: None,
            speed: Speed::Own,
            sources: BTreeMap::new(),
        }
    }

    fn workload() -> Workload {
        Workload {
            name: "test".into(),
            turns: TurnLaw::TruncatedGeometric { mean: 2.0, max: 4 },
            first_prompt_tokens: 2000,
            tool_output_tokens: 550,
            decoded_tokens: 100,
            tool_time: ToolTime::Exponential { mean_s: 5.0 },
            sources: BTreeMap::new(),
        }
    }

    /// An engine that decodes for sessions 0 and 1 while 2, 3 and 4 wait.
    fn busy() -> (Engine, Checker) {
        let arm = ArmSpec::NoBurst {};
        let spec = EngineSpec::new(&cell(), &workload(), &arm, &Options::default()).unwrap();
        let mut engine = Engine::new(spec, 8);
        for who in 0..5 {
            let request = Request { who, turn: 1, prompt_tokens: 2000, decode_tokens: 100 };
            engine.submit(request, false);
        }
        let mut checker = Checker::default();
        for _ in 0..3 {
            engine.begin(0.0, None, Stepping::Plain);
            checker.check(&engine).unwrap();
            engine.commit(&mut Vec::new());
        }
        engine.begin(0.0, None, Stepping::Plain);
        assert_eq!((engine.decodes.len(), engine.waiting.len()), (2, 3));
        (engine, checker)
    }

    fn broken(breakage: impl Fn(&mut Engine)) -> Violation {
        let (mut engine, mut checker) = busy();
        breakage(&mut engine);
        checker.check(&engine).unwrap_err()
    }

    #[test]
    fn an_engine_that_keeps_the_rules_passes() {
        let (engine, mut checker) = busy();
        assert_eq!(checker.check(&engine), Ok(()));
    }

    #[test]
    fn each_broken_rule_is_found_and_named() {
        let miscounted = |breakage: fn(&mut Engine), sum: &str| match broken(breakage) {
            Violation::Miscounted { what, .. } => assert_eq!(what, sum),
            other => panic!("{other}"),
        };
        miscounted(|e| e.context += 1, "decode context");
        miscounted(|e| e.prefilled -= 1, "tokens prefilled");
        miscounted(|e| e.completed += 1, "requests admitted");
        miscounted(|e| e.pool.release(1), "reserved tokens");

        let swapped = broken(|e| e.waiting.swap(0, 2));
        assert_eq!(swapped, Violation::OutOfOrder { who: 2 });
        let twice = broken(|e| {
            let job = e.waiting[0];
            e.waiting.push_back(job);
        });
        assert_eq!(twice, Violation::Twice { who: 2 });
        let lost = broken(|e| {
            e.waiting.pop_back();
        });
        assert_eq!(lost, Violation::OutOfOrder { who: 4 });
    }

    #[test]
    fn requests_must_not_wait_while_nothing_runs() {
        let arm = ArmSpec::NoBurst {};
        let spec = EngineSpec::new(&cell(), &workload(), &arm, &Options::default()).unwrap();
        let mut engine = Engine::new(spec, 1);
        engine.submit(Request { who: 0, turn: 1, prompt_tokens: 10, decode_tokens: 1 }, true);
        let found = Checker::default().check(&engine);
        assert_eq!(found, Err(Violation::NotWorkConserving { waiting: 1 }));
    }
}
