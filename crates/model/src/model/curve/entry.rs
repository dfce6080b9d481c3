//! One stationary state of the entry model at a time: the memory balance of Eq. (4) at an
//! eviction age, and the all-miss states of Prop. 3.

use crate::model::cost::{IterationCosts, Running, Server, speed};
use crate::model::session::{SessionMeans, TurnProfile};
use crate::model::{ModelError, pool, positive};
use crate::setup::{Cell, ToolTime, Workload};

/// The entry model of one cell and workload.
#[derive(Debug, Clone, PartialEq)]
pub struct EntryModel {
    server: Server,
    pool_tokens: f64,
    tool_time: ToolTime,
    mean_turns: f64,
    carried_tokens: f64,
    final_tokens: f64,
    onset: Onset,
}

/// The *onset* of the all-miss branch: where it begins (Prop. 3, Eq. (5)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Onset {
    /// nu_b, the turn rate at which running turns fill the pool, in turns/s.
    pub nu_b_per_s: f64,
    /// mu_b = nu_b / E\[T\], in sessions/s.
    pub mu_b_per_s: f64,
    /// nu_b zbar', sessions in tool calls at the all-miss rate.
    pub tool_part: f64,
    /// M / E_S, one pool's worth of running sessions.
    pub pool_part: f64,
    /// E_S, the service-weighted KV of a running turn, in tokens.
    pub service_footprint_tokens: f64,
}

/// A stationary state of the closed population.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StationaryState {
    /// n, sessions in the system.
    pub population: f64,
    /// mu, sessions completed per second.
    pub mu_per_s: f64,
    /// R, the age at which idle KV is evicted, in seconds; 0 when nothing idle survives.
    pub eviction_age_s: f64,
    /// h = F_Z(R), the hit probability of a follow-up.
    pub hit_probability: f64,
    /// nu S_bar, turns in service.
    pub in_service: f64,
    /// Q, turns that wait for admission.
    pub queued: f64,
    /// K_run, KV reserved by running turns, in tokens.
    pub reserved_tokens: f64,
}

impl EntryModel {
    /// Builds the model of a cell.
    ///
    /// # Errors
    /// A cell with costs per turn only, a speed that cannot be fitted, or a pool that a turn
    /// does not fit or that does not bind ([`pool`]).
    pub fn new(cell: &Cell, workload: &Workload) -> Result<Self, ModelError> {
        let means = SessionMeans::of(workload);
        pool::holds_every_turn(cell.pool_tokens, &means)?;
        let model = Self::serving(&TurnProfile::fresh(&means), cell, workload)?;
        pool::binds(cell, &model.server)?;
        Ok(model)
    }

    /// The model of a cell whose sessions have a given profile of turns.
    ///
    /// # Errors
    /// As [`EntryModel::new`].
    pub fn serving(
        turns: &TurnProfile,
        cell: &Cell,
        workload: &Workload,
    ) -> Result<Self, ModelError> {
        let costs = IterationCosts::of(cell, "the entry model")?;
        let speed = speed::of_iteration_costs(cell, workload)?;
        let server = Server::serving(turns, cell, workload, &costs.divided_by(speed));
        let pool_tokens = cell.pool_tokens as f64;
        let onset = Onset::of(&server, pool_tokens, &workload.tool_time, turns.mean_turns)?;
        Ok(Self {
            server,
            pool_tokens,
            tool_time: workload.tool_time.clone(),
            mean_turns: turns.mean_turns,
            carried_tokens: turns.carried_tokens(),
            final_tokens: turns.final_footprint_tokens(),
            onset,
        })
    }

    /// The same cell with other tools.
    ///
    /// # Errors
    /// As [`Onset`]'s equation.
    pub(crate) fn with_tool_time(&self, tool_time: ToolTime) -> Result<Self, ModelError> {
        let onset = Onset::of(&self.server, self.pool_tokens, &tool_time, self.mean_turns)?;
        Ok(Self { tool_time, onset, ..self.clone() })
    }

    /// The queue-free state at an eviction age (Prop. 3(a): there is exactly one).
    pub(crate) fn state_at_age(&self, age_s: f64) -> StationaryState {
        let hit_probability = self.tool_time.ends_within(age_s);
        let idle = self.idle_tokens(age_s) / self.mean_turns;
        let nu =
            self.server.turn_rate_with(self.pool_tokens, hit_probability, idle).unwrap_or(f64::NAN);
        let running = self.server.at(nu, hit_probability);
        self.state(nu, running, age_s, hit_probability, 0.0)
    }

    /// The all-miss state at a population, which exists from n_b on (Prop. 3(b)).
    pub fn all_miss_state(&self, population: f64) -> Option<StationaryState> {
        let queued = population - self.onset.population();
        let nu = self.onset.nu_b_per_s;
        (queued >= 0.0).then(|| self.state(nu, self.server.at(nu, 0.0), 0.0, 0.0, queued))
    }

    /// Where the all-miss branch begins.
    pub fn onset(&self) -> &Onset {
        &self.onset
    }

    /// D(R) = A_1 E\[min(Z, R)\] + E\[E_T\] R: idle KV per unit of session throughput, in token seconds.
    pub(crate) fn idle_tokens(&self, age_s: f64) -> f64 {
        self.carried_tokens * self.tool_time.mean_within_s(age_s) + self.final_tokens * age_s
    }

    /// K_live: KV that running turns reserve and that sessions in tool calls would need to
    /// keep, evicted or not, in tokens (layer H3).
    pub(crate) fn live_tokens(&self, state: &StationaryState) -> f64 {
        state.reserved_tokens + state.mu_per_s * self.carried_tokens * self.tool_time.mean_s()
    }

    /// M, in tokens.
    pub fn pool_tokens(&self) -> f64 {
        self.pool_tokens
    }

    /// E\[T\], in turns.
    pub fn mean_turns(&self) -> f64 {
        self.mean_turns
    }

    /// zbar' = zbar (1 - 1/E\[T\]), tool time per turn, in seconds.
    pub(crate) fn tool_per_turn_s(&self) -> f64 {
        self.tool_time.mean_s() * self.followup_share()
    }

    /// 1 - 1/E\[T\]: share of turns that can hit.
    pub fn followup_share(&self) -> f64 {
        1.0 - 1.0 / self.mean_turns
    }

    /// The law of the tool time.
    pub fn tool_time(&self) -> &ToolTime {
        &self.tool_time
    }

    /// The server behind the curve.
    pub fn server(&self) -> &Server {
        &self.server
    }

    fn state(
        &self,
        nu: f64,
        running: Option<Running>,
        age_s: f64,
        hit_probability: f64,
        queued: f64,
    ) -> StationaryState {
        let (in_service, reserved_tokens) =
            running.map_or((f64::NAN, f64::NAN), |r| (nu * r.service_s, r.reserved_tokens));
        StationaryState {
            population: in_service + nu * self.tool_per_turn_s() + queued,
            mu_per_s: nu / self.mean_turns,
            eviction_age_s: age_s,
            hit_probability,
            in_service,
            queued,
            reserved_tokens,
        }
    }
}

impl Onset {
    fn of(
        server: &Server,
        pool_tokens: f64,
        tool_time: &ToolTime,
        mean_turns: f64,
    ) -> Result<Self, ModelError> {
        positive("pool_tokens", pool_tokens)?;
        let nu_b_per_s = server.turn_rate_filling(pool_tokens, 0.0)?;
        let running = server.at(nu_b_per_s, 0.0).ok_or_else(|| ModelError::NoSolution {
            what: "the all-miss onset",
            why: "the pool is too large for the arithmetic".into(),
        })?;
        let pool_part = nu_b_per_s * running.service_s;
        Ok(Self {
            nu_b_per_s,
            mu_b_per_s: nu_b_per_s / mean_turns,
            tool_part: nu_b_per_s * tool_time.mean_s() * (1.0 - 1.0 / mean_turns),
            pool_part,
            service_footprint_tokens: pool_tokens / pool_part,
        })
    }

    /// n_b = nu_b zbar' + M / E_S, in sessions.
    pub fn population(&self) -> f64 {
        self.tool_part + self.pool_part
    }
}
