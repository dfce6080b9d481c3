//! The statistics of one run: everything that any table, rule or figure asks of it, made
//! in one reading.
//!
//! They are measured, not judged: thresholds decide later, so that a changed threshold
//! costs no reading. They depend on the run's files and on `configs/`, on nothing else, and
//! can be made anywhere and kept.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::configs::Configs;
use crate::law::calibrate::{self, TurnCostFit};
use crate::law::iteration::{self, IterationFit};
use crate::law::trap_check::own_speed;
use crate::measure::at_burst::{self, Arrival};
use crate::measure::burst::{BurstMeasures, around_burst, burst_work_over_nominal};
use crate::measure::cohort::{Cohort, cohort};
use crate::measure::plan_identity::{PlanIdentity, plan_identity};
use crate::measure::queue::{self, QueueLengths, QueueMeasures};
use crate::measure::reuse::{Reuse, reuse};
use crate::measure::rolling;
use crate::measure::stretches::Stretches;
use crate::measure::treatment::{Treatment, treatment};
use crate::measure::{RunMeasures, measure, still_open};
use crate::nearest::unknown;
use crate::rule::persistence::{self, TrapLife};
use crate::rule::registered::{Candidate, Measurable, Role};
use crate::rule::registration::RegistrationFile;
use crate::rule::test::TestMeasures;
use crate::run::{META, Meta, PlannedSession, Problem, Run, STARTED, Source, SourceFile};
use crate::setup::{Arm, Protocol, Span};

/// A run that could not be read, and why.
#[derive(Debug, Clone)]
pub struct Unreadable {
    /// Its directory.
    pub dir: PathBuf,
    /// Everything that is wrong with it.
    pub problems: Vec<Problem>,
}

/// What was measured on one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunStatistics {
    /// Its directory.
    pub dir: PathBuf,
    /// Who, what and when.
    pub meta: Meta,
    /// The files it was read from.
    pub sources: Vec<SourceFile>,
    /// What is worth knowing about it.
    pub notes: Vec<Problem>,
    /// Over the windows its protocol names.
    pub measures: RunMeasures,
    /// The same around the protocol's burst; `None` for closed, cache-off and from-empty
    /// runs, and runs that end before it.
    pub burst: Option<BurstMeasures>,
    /// Its sessions from the burst's start on; empty without a burst.
    pub from_burst: Vec<Arrival>,
    /// The queue of a from-empty run (App. E.3); `None` for other arms, or unknown.
    pub queue: Option<QueueMeasures>,
    /// How long the engine's queue was.
    pub queue_lengths: Option<QueueLengths>,
    /// How much of its prompt a hit reused; `None` where it is unknown which turns hit, and of
    /// recorded sessions, whose new tokens follow no law.
    pub reuse: Option<Reuse>,
    /// When a closed run hit least: from its first bin with fewer than half hits to its
    /// last (App. E.3).
    pub degraded: Option<Span>,
    /// The sessions that arrived with the burst and after it, of an open arm.
    pub cohort: Option<Cohort>,
    /// Whether a from-empty run collapsed, and came back (App. D's rule, from its start).
    pub from_empty: Option<TrapLife>,
    /// The cost of a miss, for a cache-off run; or why there is none.
    pub turn_cost: Option<Result<TurnCostFit, String>>,
    /// The cost of an iteration, for a cache-off run; or why there is none.
    pub iteration_cost: Option<Result<IterationFit, String>>,
    /// How much faster than its cell's costs say it worked through its window, all missing.
    pub own_speed: Option<f64>,
    /// What was done to it.
    pub treatment: Treatment,
    /// Which plan it followed.
    pub plan: PlanIdentity,
    /// The prompt tokens of its burst over the workload's mean for as many sessions.
    pub burst_work_over_nominal: Option<f64>,
    /// An engine run's plan, for replaying it.
    pub planned: Vec<PlannedSession>,
    /// When the protocol's burst starts, s, whether the run has one or not.
    pub burst_start_s: f64,
    /// What registered tests measure on it beyond that, by the registration's hash.
    pub for_tests: BTreeMap<String, TestMeasures>,
}

impl RunStatistics {
    /// Measures a run, for every registration of the configuration that it concerns and
    /// one more.
    ///
    /// # Errors
    /// Its cell is not configured.
    pub fn of(
        run: Run,
        configs: &Configs,
        also: Option<&RegistrationFile>,
    ) -> Result<Self, Unreadable> {
        let cell = configs.cell_called(&run.meta.cell);
        let with_protocol = cell.and_then(|c| Some((c, configs.protocols.get(&c.protocol)?)));
        let Some((cell, protocol)) = with_protocol else {
            return Err(no_cell(run, configs));
        };
        // Sessions of a record have no law that a turn or a burst could be held against.
        let workload = configs.workloads.get(&cell.workload);
        let reach = workload.and_then(|workload| still_open(&run, protocol, workload));
        let measures = RunMeasures { reach, ..measure(&run, protocol) };
        let open = run.meta.arm.is_open();
        let treatment = treatment(&run);
        let candidate = Candidate { meta: &run.meta, treatment: &treatment, protocol };
        let for_test = |file: &RegistrationFile| {
            let registration = &file.registration;
            let role = registration.role(&candidate);
            let (run, measures, treatment) = (&run, &measures, &treatment);
            let terms = registration.terms();
            let on = Measurable { run, measures, treatment, protocol, registration: terms, role };
            let found = (role != Role::None).then(|| registration.test.measure(&on)).flatten()?;
            Some((file.sha256.clone(), found))
        };
        let for_tests = configs.registrations.values().chain(also).filter_map(for_test).collect();
        let cache_off = !run.meta.prefix_caching;
        let rated = measures.window.as_ref().filter(|_| run.meta.rate.lambda.is_some());
        Ok(Self {
            burst: open.then(|| around_burst(&run, protocol)).flatten(),
            from_burst: measures
                .burst_start_s
                .map_or_else(Vec::new, |start_s| at_burst::arrivals_from(&run, start_s)),
            queue: (run.meta.arm == Arm::E0b).then(|| queue::queue(&run, protocol)).flatten(),
            queue_lengths: queue::lengths(
                &run,
                measures.window_span,
                protocol.paired.burst.start_s,
            ),
            // The last decoded token is not in the cache when its turn ends.
            reuse: workload.and_then(|workload| reuse(&run, workload.tool_output_tokens + 1)),
            degraded: (run.meta.arm == Arm::Closed).then(|| degraded(&run, protocol)).flatten(),
            cohort: open.then(|| cohort(&run, protocol.paired.burst.start_s)).flatten(),
            from_empty: (run.meta.arm == Arm::E0b).then(|| {
                let (_, rule) = configs.from_empty_rules(&run.meta.cell);
                let hits = rolling::follow_up_hits(&run, 0.0, rule.window_s, rule.step_s);
                persistence::life(&hits, &rule)
            }),
            turn_cost: cache_off
                .then(|| calibrate::fit(&[&run], protocol).map_err(|e| e.to_string())),
            iteration_cost: cache_off.then(|| iteration::fit(&run).map_err(|e| e.to_string())),
            own_speed: rated.zip(workload).and_then(|(w, law)| own_speed(&run, w.span, cell, law)),
            plan: plan_identity(&run),
            burst_start_s: protocol.paired.burst.start_s,
            burst_work_over_nominal: workload
                .and_then(|workload| burst_work_over_nominal(&run.plan, workload)),
            planned: match run.meta.source {
                Source::Engine => run.plan,
                Source::Simulator => Vec::new(),
            },
            dir: run.dir,
            meta: run.meta,
            sources: run.sources,
            notes: run.notes,
            measures,
            treatment,
            for_tests,
        })
    }
}

/// A closed run is degraded in bins of so many seconds, from so long after its start on,
/// with a hit fraction below the last (App. E.3: "degraded from about 450 to 2400 s"; the
/// bins and the limit are inferred).
const DEGRADED: (f64, f64, f64) = (150.0, 300.0, 0.5);

fn degraded(run: &Run, protocol: &Protocol) -> Option<Span> {
    let (width_s, from_s, below) = DEGRADED;
    let span = Span::new(from_s, protocol.closed.window().end_s);
    Stretches::binned(run, width_s, |_| true).within(span).span_below(below)
}

fn no_cell(run: Run, configs: &Configs) -> Unreadable {
    let known = configs.cells.keys().map(String::as_str);
    let message = format!(
        "{}; trapcheck calibrate makes one from a cache-off run",
        unknown("cell", &run.meta.cell, "configs/cells", known)
    );
    let problem = Problem::new(&metadata_of(&run, configs), message);
    let problems = vec![Problem { column: Some("cell".into()), ..problem }];
    Unreadable { dir: run.dir, problems }
}

/// The file of a run that says who, what and when: it is among those it was read from.
fn metadata_of(run: &Run, configs: &Configs) -> PathBuf {
    let of_layouts = configs.layouts.iter().map(|layout| layout.metadata.as_str());
    let names: Vec<PathBuf> =
        [META, STARTED].into_iter().chain(of_layouts).map(|name| run.dir.join(name)).collect();
    let read = run.sources.iter().map(|source| &source.path);
    read.clone().find(|path| names.contains(path)).map_or_else(|| run.dir.join(META), Clone::clone)
}
