//! A continuous-batching engine between two iterations: queues, admission,
//! chunked prefill, decoding (paper: App. E.2, E.12).
//!
//! A pass fills one iteration's chunk budget: with what admitted requests still
//! have to prefill, then by admitting the head of the queue while it fits. The
//! head blocks everything behind it. What of a prefix is resident is decided at
//! admission; waiting protects nothing, but may renew its place ([`Refresh`]).

use std::collections::VecDeque;

use crate::client::Request;
use crate::setup::{ArmSpec, Batching, Cell, Scheduling};

use super::SimError;
use super::Stepping;
use super::costs::ScaledCosts;
use super::kv::{Eviction, Hit, Pool};
use super::options::{Hits, HostTier, Options, Refresh};

/// An engine's settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EngineSpec {
    /// What an iteration costs.
    pub costs: ScaledCosts,
    /// M.
    pub pool_tokens: u64,
    /// A hit is rounded down to whole blocks of this many tokens.
    pub block_tokens: u64,
    /// B_c, prompt tokens per iteration.
    pub chunk_tokens: u64,
    /// Requests that may run at once.
    pub max_running: usize,
    /// Prefill beside decodes, or instead of them.
    pub batching: Batching,
    /// Order of admission.
    pub scheduling: Scheduling,
    /// LPM orders its queue while at most this many wait.
    pub lpm_fallback: usize,
    /// Off: nothing is ever resident.
    pub prefix_caching: bool,
    /// A finished session's KV stays idle instead of being freed.
    pub keep_finished: bool,
    /// How idle KV is evicted, and what of it hits.
    pub eviction: Eviction,
    /// Whether waiting requests renew their prefixes' places.
    pub refresh: Option<Refresh>,
    /// Host memory behind the pool.
    pub host: Option<HostTier>,
    /// No KV is kept before, seconds: how a run starts in the trap.
    pub cold_until_s: f64,
}

impl EngineSpec {
    /// The engine of `cell` as `options` model it.
    ///
    /// # Errors
    /// Costs the simulator cannot use.
    pub fn new(cell: &Cell, arm: &ArmSpec, options: &Options) -> Result<Self, SimError> {
        let block_tokens = cell.block_tokens.max(1);
        Ok(Self {
            costs: ScaledCosts::of(cell, options.token_cost_factor)?,
            pool_tokens: cell.pool_tokens,
            block_tokens,
            chunk_tokens: cell.chunk_tokens,
            max_running: cell.max_running as usize,
            batching: options.batching,
            scheduling: options.scheduling.unwrap_or(cell.scheduling),
            lpm_fallback: options.lpm_fallback.unwrap_or(usize::MAX),
            prefix_caching: arm.prefix_caching(),
            keep_finished: options.keep_finished,
            eviction: match options.hits {
                Hits::Whole => Eviction::Whole,
                Hits::Prefix => Eviction::Tail { block_tokens },
            },
            refresh: options.refresh,
            host: options.host,
            cold_until_s: options.cold_until_s,
        })
    }
}

/// A request in the engine. A session has at most one.
#[derive(Debug, Clone, Copy)]
pub(super) struct InEngine {
    pub(super) request: Request,
    /// No turn follows this one.
    pub(super) last: bool,
    /// Prompt tokens served from cache.
    pub(super) cached: u64,
}

impl InEngine {
    /// E_k: prompt and output, reserved from admission on.
    pub(super) fn footprint(&self) -> u64 {
        self.request.prompt_tokens + self.request.decode_tokens
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Prefill {
    pub(super) job: InEngine,
    /// Prompt tokens still to prefill.
    pub(super) left: u64,
    /// Prompt tokens whose KV exists.
    pub(super) done: u64,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Decode {
    pub(super) job: InEngine,
    pub(super) t_first_s: f64,
    /// The decode iteration that yields its last token.
    pub(super) finish: u64,
}

/// A request that completed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Completion {
    /// What was asked.
    pub request: Request,
    /// When the first token came, seconds.
    pub t_first_s: f64,
    /// Prompt tokens served from cache.
    pub cached_tokens: u64,
}

/// Counters since the start, booked when a request completes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Prompt tokens.
    pub prompt_tokens: u64,
    /// Of those, from cache.
    pub cached_tokens: u64,
    /// Tokens decoded.
    pub generation_tokens: u64,
}

/// The iteration or stretch of iterations under way.
#[derive(Debug, Clone, Copy)]
struct Pass {
    t_end_s: f64,
    /// Decode iterations it holds; 0 when prefill keeps decodes waiting.
    decodes: u64,
}

/// The engine.
#[derive(Debug, Clone)]
pub struct Engine {
    spec: EngineSpec,
    pub(super) pool: Pool,
    pub(super) waiting: VecDeque<InEngine>,
    pub(super) prefills: VecDeque<Prefill>,
    /// In the order they finish; those that finish together in the order they joined.
    pub(super) decodes: VecDeque<Decode>,
    /// Decode iterations so far.
    pub(super) decoded: u64,
    /// Sum over `decodes` of the context of the next decode iteration.
    pub(super) context: u64,
    counters: Counters,
    /// Requests admitted, completed, and prompt tokens prefilled, so far.
    pub(super) admitted: u64,
    pub(super) completed: u64,
    pub(super) prefilled: u64,
    /// Iterations so far: what a refresh is due by.
    passes: u64,
    /// Tokens that this iteration loads from the host tier.
    loading: u64,
    pass: Option<Pass>,
}

impl Engine {
    /// An empty engine for `sessions` sessions.
    pub fn new(spec: EngineSpec, sessions: usize) -> Self {
        Self {
            spec,
            pool: Pool::new(
                spec.pool_tokens,
                spec.host.map_or(0, |host| host.tokens),
                spec.eviction,
                sessions,
            ),
            waiting: VecDeque::new(),
            prefills: VecDeque::new(),
            decodes: VecDeque::new(),
            decoded: 0,
            context: 0,
            counters: Counters::default(),
            admitted: 0,
            completed: 0,
            prefilled: 0,
            passes: 0,
            loading: 0,
            pass: None,
        }
    }

    /// A request arrives. `last`: no turn of its session follows.
    pub fn submit(&mut self, request: Request, last: bool) {
        self.waiting.push_back(InEngine { request, last, cached: 0 });
    }

    /// Starts the next iteration at `now_s` and answers when it ends; `None` if
    /// there is nothing to do. `next_arrival_s` is when a request may next arrive.
    pub(crate) fn begin(
        &mut self,
        now_s: f64,
        next_arrival_s: Option<f64>,
        stepping: Stepping,
    ) -> Option<f64> {
        self.refresh_waiting();
        let (tokens, double_pairs) = self.fill_budget();
        let running = self.decodes.len() as u64;
        let costs = self.spec.costs;
        let (dt, decodes) = match (tokens, self.spec.batching) {
            (0, _) if running == 0 => return None,
            (0, _) => {
                let n = match stepping {
                    Stepping::Plain => 1,
                    Stepping::Skip => self.decodes_to_skip(now_s, next_arrival_s),
                };
                (costs.decodes_s(n, running, self.context), n)
            }
            (_, Batching::Mixed) => {
                // Decodes ride along only where there are any.
                let decodes = u64::from(running > 0);
                (costs.iteration_s(tokens + running, double_pairs, self.context), decodes)
            }
            (_, Batching::Separate) => (costs.iteration_s(tokens, double_pairs, 0), 0),
        };
        // The KV of an iteration's requests is loaded layer by layer, beside its work.
        let load_s = self.spec.host.map_or(0.0, |host| host.s_per_token * self.loading as f64);
        let t_end_s = now_s + dt.max(load_s);
        self.passes += decodes.max(1);
        self.pass = Some(Pass { t_end_s, decodes });
        Some(t_end_s)
    }

    /// Ends the iteration that [`Engine::begin`] started: what completed, in
    /// FIFO order, is added to `completions`.
    pub fn commit(&mut self, completions: &mut Vec<Completion>) {
        let Some(Pass { t_end_s, decodes }) = self.pass.take() else { return };
        self.decoded += decodes;
        self.context += decodes * self.decodes.len() as u64;
        while let Some(decode) = pop_if(&mut self.decodes, |d| d.finish <= self.decoded) {
            self.context -= decode.job.footprint();
            completions.push(self.complete(decode, t_end_s));
        }
        while let Some(prefill) = pop_if(&mut self.prefills, |p| p.left == 0) {
            let job = prefill.job;
            // The prefill yields the first token; the others take one iteration each.
            let finish = self.decoded + job.request.decode_tokens - 1;
            let decode = Decode { job, t_first_s: t_end_s, finish };
            if finish == self.decoded {
                completions.push(self.complete(decode, t_end_s));
            } else {
                self.context += job.request.prompt_tokens + 1;
                let place = self.decodes.partition_point(|d| d.finish <= finish);
                self.decodes.insert(place, decode);
            }
        }
    }

    /// Admitted requests.
    pub fn running(&self) -> usize {
        self.prefills.len() + self.decodes.len()
    }

    /// Requests that wait.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The KV pool.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Counters since the start.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    pub(super) fn is_fcfs(&self) -> bool {
        self.spec.scheduling == Scheduling::Fcfs
    }

    pub(super) fn max_running(&self) -> usize {
        self.spec.max_running
    }

    /// Hands out this iteration's chunk budget, admitting while some is left.
    /// Answers with X and the sum of x (2y + x + 1) over the chunks.
    fn fill_budget(&mut self) -> (u64, u128) {
        let mut budget = self.spec.chunk_tokens;
        self.loading = 0;
        // Pairs of tokens: prompts of a billion tokens leave 64 bits.
        let mut double_pairs = 0_u128;
        let mut i = 0;
        while budget > 0 && (i < self.prefills.len() || self.admit_head()) {
            let prefill = &mut self.prefills[i];
            let x = prefill.left.min(budget);
            double_pairs += u128::from(x) * u128::from(2 * prefill.done + x + 1);
            prefill.left -= x;
            prefill.done += x;
            budget -= x;
            i += 1;
        }
        let tokens = self.spec.chunk_tokens - budget;
        self.prefilled += tokens;
        (tokens, double_pairs)
    }

    /// Admits the head of the queue if there is one and it fits.
    fn admit_head(&mut self) -> bool {
        let Some(head) = self.head() else { return false };
        let tokens = self.waiting[head].footprint();
        if self.running() >= self.spec.max_running || !self.pool.has_room(tokens) {
            return false;
        }
        let Some(mut job) = self.waiting.remove(head) else { return false };
        let prompt = job.request.prompt_tokens;
        // At least one token is computed, whatever is there.
        let reusable = job.request.reusable_tokens.min(prompt - 1);
        let whole_blocks = reusable - reusable % self.spec.block_tokens;
        let hit: Hit = self.pool.admit(job.request.who, tokens, whole_blocks);
        job.cached = hit.tokens();
        self.loading += hit.host_tokens;
        self.admitted += 1;
        self.prefills.push_back(Prefill { job, left: prompt - job.cached, done: job.cached });
        true
    }

    /// Position in the queue of the request to admit next.
    fn head(&self) -> Option<usize> {
        if self.is_fcfs() || self.waiting.len() > self.spec.lpm_fallback {
            return (!self.waiting.is_empty()).then_some(0);
        }
        // Longest resident prefix; among equals the one that waited longest.
        let resident = |i: &usize| self.pool.idle_of(self.waiting[*i].request.who);
        (0..self.waiting.len()).rev().max_by_key(resident)
    }

    /// Decode iterations until the batch can change: a request finishes, or one
    /// may arrive and be admitted. A blocked FCFS head makes arrivals wait anyway.
    fn decodes_to_skip(&self, now_s: f64, next_arrival_s: Option<f64>) -> u64 {
        let to_finish = self.decodes.front().map_or(1, |d| d.finish - self.decoded);
        let to_finish = match self.spec.refresh {
            Some(refresh) if !self.waiting.is_empty() => {
                to_finish.min(refresh.every_passes - self.passes % refresh.every_passes)
            }
            _ => to_finish,
        };
        let blocked = self.is_fcfs() && !self.waiting.is_empty();
        match next_arrival_s {
            Some(t_s) if !blocked => self.spec.costs.decodes_within(
                t_s - now_s,
                to_finish,
                self.decodes.len() as u64,
                self.context,
            ),
            _ => to_finish,
        }
    }

    /// The prefixes of the first waiting requests count as used now, every so many passes.
    fn refresh_waiting(&mut self) {
        let Some(refresh) = self.spec.refresh else { return };
        if self.passes.is_multiple_of(refresh.every_passes) {
            for job in self.waiting.iter().take(refresh.requests) {
                self.pool.touch(job.request.who);
            }
        }
    }

    fn complete(&mut self, decode: Decode, now_s: f64) -> Completion {
        let Decode { job, t_first_s, .. } = decode;
        let (who, tokens) = (job.request.who, job.footprint());
        let caches = self.spec.prefix_caching && now_s >= self.spec.cold_until_s;
        if caches && (!job.last || self.spec.keep_finished) {
            self.pool.keep(who, tokens);
        } else {
            self.pool.release(tokens);
        }
        self.completed += 1;
        self.counters.prompt_tokens += job.request.prompt_tokens;
        self.counters.cached_tokens += job.cached;
        self.counters.generation_tokens += job.request.decode_tokens;
        Completion { request: job.request, t_first_s, cached_tokens: job.cached }
    }
}

/// Takes the front of a queue if it satisfies `ready`.
fn pop_if<T>(queue: &mut VecDeque<T>, ready: impl Fn(&T) -> bool) -> Option<T> {
    if queue.front().is_some_and(ready) { queue.pop_front() } else { None }
}
