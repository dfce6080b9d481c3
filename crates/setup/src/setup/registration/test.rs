//! What a registration tests: the kind of test and the thresholds that kind has
//! (App. C, D, E.3, E.5 to E.8).
//!
//! Every default is the published value; a file states only what differs, and
//! what the paper does not print has no default.

use serde::{Deserialize, Serialize};

use super::super::arm::Arm;
use super::super::protocol::Span;
pub use super::after::{GoodputTest, PersistenceTest, TriggerTest};
pub use super::rescue::RescueTest;
pub use super::trap::{
    CutArm, CutPrediction, CutTest, MirrorPrediction, MirrorTest, Sign, TrapLawTest,
};

/// The kind of a test, with its thresholds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Test {
    /// BURST, NOBURST and CAPPED at the registration's rates (Table 6).
    #[default]
    Paired,
    /// The largest rate that stays stable from empty (E0b, App. E.3).
    Edge(EdgeTest),
    /// Runs of the same plan from empty: do they come out as their original did (sec 7)?
    Replicate(ReplicateTest),
    /// Doses of one treatment, each with the state it is expected to leave
    /// (BASIN-1, BASIN-2, TOOLSLOW, SHED; App. E.6).
    Endpoints(EndpointTest),
    /// One treatment, called TRAPS, NO-TRAP or MIXED (TOOLSLOW-W, TOOLSLOW-D15; App. C).
    ThreeWay(ThreeWayTest),
    /// A cap engaged inside the trap and released (R1, R4; App. E.7).
    Rescue(RescueTest),
    /// Arrivals cut inside the trap (CUT-A, CUT-B; App. C).
    Cut(CutTest),
    /// The blackout, the wave and the lull of a step-capped workload (MIRROR; App. C).
    Mirror(MirrorTest),
    /// Scores of the trap law on trapped runs (S1 to S5; App. C).
    TrapLaw(TrapLawTest),
    /// Longest-prefix-first without its queue limit (LPM-INF; App. E.8).
    QueueLimit(QueueLimitTest),
    /// The mechanism checks (a) to (d) (App. E.5).
    Mechanism(MechanismTest),
    /// Whether a trap ever ended by itself (D5; App. D).
    Persistence(PersistenceTest),
    /// Whether a trap outlived what caused it (D1; App. D).
    Trigger(TriggerTest),
    /// Sessions served in time (D2; App. D).
    Goodput(GoodputTest),
}

impl Test {
    /// The kind, as it is printed.
    pub const fn words(&self) -> &'static str {
        match self {
            Self::Paired => "paired test",
            Self::Edge(_) => "from-empty edge",
            Self::Replicate(_) => "edge replicates",
            Self::Endpoints(_) => "endpoints",
            Self::ThreeWay(_) => "three-way endpoints",
            Self::Rescue(_) => "rescue",
            Self::Cut(_) => "arrival cut",
            Self::Mirror(_) => "mirror",
            Self::TrapLaw(_) => "trap law",
            Self::QueueLimit(_) => "queue limit",
            Self::Mechanism(_) => "mechanism checks",
            Self::Persistence(_) => "persistence",
            Self::Trigger(_) => "trigger",
            Self::Goodput(_) => "goodput",
        }
    }

    /// Whether it looks at runs that were made for other tests: those may be bound to
    /// another registration, and are then judged without deciding anything.
    pub const fn of_other_tests(&self) -> bool {
        matches!(
            self,
            Self::TrapLaw(_)
                | Self::Mechanism(_)
                | Self::Persistence(_)
                | Self::Trigger(_)
                | Self::Goodput(_)
        )
    }

    /// Whether it needs a cap: only then must a FILLED registration state one.
    pub const fn needs_cap(&self) -> bool {
        matches!(self, Self::Paired | Self::Rescue(_))
    }
}

/// How many seeds have to agree, of how many that could be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quorum {
    /// At least so many ...
    pub needed: u64,
    /// ... of so many; fewer judged seeds decide nothing.
    pub of: u64,
}

impl Quorum {
    /// Two of three, the paper's usual share.
    pub const TWO_OF_THREE: Self = Self { needed: 2, of: 3 };
}

impl Default for Quorum {
    fn default() -> Self {
        Self::TWO_OF_THREE
    }
}

/// When a from-empty run is stable (App. E.3). The rise is fitted over the protocol's
/// from-empty window (its last 1500 s); the queue at the end is the mean over the last
/// bin of that window as wide as a hit bin (100 s; inferred: the printed final queues
/// are not whole numbers, so they are means).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Stability {
    /// The queue at the end stays below this, requests.
    pub final_queue_below: f64,
    /// The fitted rise of the queue over the window is at most this, requests.
    pub rise_at_most: f64,
}

impl Default for Stability {
    fn default() -> Self {
        Self { final_queue_below: 50.0, rise_at_most: 10.0 }
    }
}

/// The from-empty edge (App. E.3).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EdgeTest {
    /// When a run is stable.
    pub stability: Stability,
    /// A bracket that the runs are to replicate, if any (the fresh seeds of App. E.3).
    pub replicates: Option<Bracket>,
}

/// A from-empty bracket to be replicated with fresh seeds (App. E.3).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bracket {
    /// The multiple at which so many seeds must be stable ...
    pub stable_multiple: f64,
    /// ... and how many.
    pub stable: Quorum,
    /// The multiple at which so many seeds must be unstable ...
    pub unstable_multiple: f64,
    /// ... and how many.
    pub unstable: Quorum,
}

/// Replicates of from-empty runs (REPLICATE-EDGE, sec 7, Table 12).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplicateTest {
    /// When a run is stable.
    #[serde(default)]
    pub stability: Stability,
    /// The plans and how their originals came out.
    pub originals: Vec<Original>,
    /// How many of a plan's replicates must come out as the original.
    pub replicates: Quorum,
}

/// How an original from-empty run came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Original {
    /// Seed of its plan.
    pub seed: u64,
    /// Whether it was stable.
    pub stable: bool,
}

/// The endpoints STUCK and GOOD of a run over the evaluation window (App. E.6).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Endpoints {
    /// STUCK: the hit fraction over the window is below this.
    pub stuck_hit_below: f64,
    /// GOOD, where the run is not RECOVERED: the hit fraction is above this ...
    pub good_hit_above: f64,
    /// ... and the backlog slope at most this times (lambda - lambda_ref).
    pub good_slope_factor: f64,
}

impl Default for Endpoints {
    fn default() -> Self {
        Self { stuck_hit_below: 0.2, good_hit_above: 0.8, good_slope_factor: 0.5 }
    }
}

/// A state a run can end in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Expected {
    /// Stuck.
    Stuck,
    /// Good.
    Good,
}

/// What varies between the runs of a test. It is read from a run's own tables,
/// not from its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dose {
    /// Sessions in the burst.
    BurstSessions,
    /// What each slowed tool call took longer, s.
    ToolDelayS,
    /// For how long arrivals were refused, s.
    StopS,
}

impl Dose {
    /// Name and unit for readers.
    pub const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::BurstSessions => ("burst", "sessions"),
            Self::ToolDelayS => ("tool calls longer by", "s"),
            Self::StopS => ("arrivals stopped for", "s"),
        }
    }
}

/// Doses and the state each must leave (App. E.6).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndpointTest {
    /// The arm of its runs, as in `meta.json`.
    pub arm: Arm,
    /// What varies.
    pub dose: Dose,
    /// When a slowdown lasts; runs slowed at other times are other tests'.
    #[serde(default)]
    pub during_s: Option<Span>,
    /// The doses.
    pub doses: Vec<ExpectedDose>,
    /// The arm whose same-seed run must be STUCK for a seed to count (SHED), if any.
    #[serde(default)]
    pub stuck_control: Option<Arm>,
    /// When a run is STUCK or GOOD.
    #[serde(default)]
    pub endpoints: Endpoints,
    /// Seeds that must be in the expected state at each dose.
    #[serde(default)]
    pub seeds: Quorum,
    /// The word for a test whose rule holds (BASIN-2: BRACKETED).
    #[serde(default = "pass")]
    pub held: String,
}

fn pass() -> String {
    "PASS".into()
}

/// One dose.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedDose {
    /// How much.
    pub dose: f64,
    /// The state it must leave; `null` for a dose the rule does not use.
    pub expect: Option<Expected>,
    /// Whether a stuck run must also be TRAPPED by the slope rule (BASIN-1).
    #[serde(default)]
    pub trapped: bool,
}

/// TRAPS, NO-TRAP or MIXED (App. C).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThreeWayTest {
    /// The arm of its runs, as in `meta.json`.
    pub arm: Arm,
    /// What is done to them.
    pub dose: Dose,
    /// How much of it.
    pub amount: f64,
    /// When it lasts, for a slowdown; runs slowed at other times are other tests'.
    #[serde(default)]
    pub during_s: Option<Span>,
    /// When a run is STUCK or GOOD.
    #[serde(default)]
    pub endpoints: Endpoints,
    /// Seeds for TRAPS, and for NO-TRAP.
    #[serde(default)]
    pub seeds: Quorum,
}

/// LPM-INF (App. E.8).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueLimitTest {
    /// The cell with the stock order, whose same-seed BURST runs are the controls.
    pub stock_cell: String,
    /// Requests waiting beyond which the stock order falls back (128): a seed
    /// whose queue never exceeds it says nothing.
    pub queue_limit: u64,
    /// A run has collapsed if its token hit fraction over the window is below
    /// this. Not printed: a registration has to choose it.
    pub collapsed_token_hit_below: f64,
    /// Informative seeds that are needed for a reading.
    pub informative_seeds: u64,
}

/// The mechanism checks (App. E.5).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MechanismTest {
    /// (a), good arms: median gap over R_M below this ...
    pub good_gap_below: f64,
    /// ... and follow-up hit fraction above this.
    pub good_hit_above: f64,
    /// (a), BURST: median gap over R_M above this ...
    pub burst_gap_above: f64,
    /// ... and follow-up hit fraction below this.
    pub burst_hit_below: f64,
    /// (b), BURST: mean KV usage at least this ...
    pub kv_usage_at_least: f64,
    /// ... and the uncached token rate within this of the all-miss rate.
    pub token_rate_tolerance: f64,
    /// (c): a follow-up hit fraction below this ...
    pub detector_hit_below: f64,
    /// ... over so many seconds is an alarm.
    pub detector_over_s: f64,
    /// (d): a mean time to first token above this ...
    pub engine_ttft_above_s: f64,
    /// ... over so many seconds is an alarm.
    pub engine_over_s: f64,
    /// How often both are looked at, s. Inferred: the printed alarms are multiples of 10 s.
    pub every_s: f64,
    /// (c), (d), BURST: the alarm comes within this of the burst, s.
    pub alarm_within_s: f64,
    /// (c), (d), good arms: no alarm after this time of the run, s.
    pub quiet_after_s: f64,
    /// Good-arm runs that may fail (a) and (c) together.
    pub failing_good_runs: u64,
}

impl Default for MechanismTest {
    fn default() -> Self {
        Self {
            good_gap_below: 0.05,
            good_hit_above: 0.95,
            burst_gap_above: 2.0,
            burst_hit_below: 0.05,
            kv_usage_at_least: 0.90,
            token_rate_tolerance: 0.15,
            detector_hit_below: 0.2,
            detector_over_s: 60.0,
            engine_ttft_above_s: 30.0,
            engine_over_s: 100.0,
            every_s: 10.0,
            alarm_within_s: 300.0,
            quiet_after_s: 600.0,
            failing_good_runs: 1,
        }
    }
}
