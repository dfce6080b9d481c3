//! Closed runs of a real engine on recorded sessions: simulated in the order that they played, and
//! set beside what was measured; or predicted, where there are none yet.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use rayon::prelude::*;

use trapcheck::directory::{LoadOptions, find_runs_by, load_by};
use trapcheck::knee::{ClosedMeasures, Levels, in_order};
use trapcheck::run::{Kind, Run, Source};
use trapcheck::setup::protocol::WarmUp;
use trapcheck::setup::{Arm, ArmSpec, Cell, Configs, Protocol, Speed, Trace, Workload};
use trapcheck::sim::directory::{Label, to_run};
use trapcheck::sim::{Options, RunSpec, simulate};
use trapcheck::table::Table;
use trapcheck::table::answers::closed::{Beside, beside};

use super::{Args, progress};
use trapcheck_answers::engine::Chosen;

/// A gap of a plan is this close to the workload's, s: plans have whole microseconds.
const SAME_S: f64 = 2e-6;
/// So many of a plan's gaps may be others, a share: of those that a record lacks every client
/// makes its own.
const OTHER_GAPS: f64 = 0.01;

/// Which runs, and over what a prediction is spread.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Against an engine's runs")]
pub struct AgainstArgs {
    /// Closed runs of an engine that played these sessions, or folders to search for them: each is
    /// simulated in its own order and set beside what was measured
    #[arg(long, value_name = "RUN", num_args = 1.., conflicts_with = "order_of")]
    against: Vec<PathBuf>,
    /// Predict runs of the given populations that play sessions in the order of this run's plan
    #[arg(long, value_name = "RUN", requires = "population")]
    order_of: Option<PathBuf>,
    /// Lanes start one after the other over this long, s
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0)]
    ramp: f64,
    /// Also simulated at speeds that are up to this share slower and faster
    #[arg(long, value_name = "SHARE", default_value_t = 0.05)]
    speed_spread: f64,
    /// At so many speeds
    #[arg(long, value_name = "N", default_value_t = 21)]
    speeds: u32,
    /// Also simulated in so many other orders, of this program's seeds
    #[arg(long, value_name = "N", default_value_t = 20)]
    orders: u64,
    /// Over which time it is measured, s [default: the window of the cell's protocol]
    #[arg(long, value_name = "FROM,TO", value_delimiter = ',')]
    measured: Vec<f64>,
}

/// A closed run to simulate.
struct Asked {
    arm: ArmSpec,
    order: Vec<Arc<Trace>>,
    measured: Option<ClosedMeasures>,
}

/// Which of its simulations: the order, by the seed that draws it if it is not the run's own, and
/// the speed.
#[derive(Clone, Copy)]
struct Draw {
    seed: Option<u64>,
    speed: f64,
}

impl AgainstArgs {
    /// Whether it is about an engine's runs.
    pub fn is_asked(&self) -> bool {
        !self.against.is_empty() || self.order_of.is_some()
    }

    /// A row for each quantity of each run.
    ///
    /// # Errors
    /// Runs that cannot be read, that played other sessions or gaps, or that cannot be simulated.
    pub fn table(
        &self,
        args: &Args,
        configs: &Configs,
        engine: &Chosen,
        workload: &Workload,
    ) -> anyhow::Result<Table> {
        ensure!(
            (0.0..1.0).contains(&self.speed_spread),
            "--speed-spread: expected a share below 1"
        );
        ensure!(self.ramp >= 0.0 && self.ramp.is_finite(), "--ramp: expected seconds, 0 or more");
        let protocol = self.protocol(&engine.protocol)?;
        let asked = match &self.order_of {
            Some(run) => {
                let order = order(&one(run, configs)?, workload, false)?;
                let closed = |n: &u32| Asked {
                    arm: ArmSpec::Closed { population: *n },
                    order: order.clone(),
                    measured: None,
                };
                args.population.iter().map(closed).collect()
            }
            None => self.runs(configs, workload, &protocol)?,
        };
        let draws = self.draws();
        let jobs: Vec<(&Asked, Draw)> =
            asked.iter().flat_map(|one| draws.iter().map(move |draw| (one, *draw))).collect();
        let bar = progress::bar(jobs.len(), "simulating");
        let simulated = jobs.par_iter().map(|(one, draw)| {
            let measures = self.simulated(one, *draw, engine, workload, &protocol);
            bar.inc(1);
            measures
        });
        let simulated = simulated.collect::<Vec<_>>();
        bar.finish_and_clear();
        let mut simulated = simulated.into_iter();
        let mut rows = Vec::new();
        for Asked { arm, measured, .. } in &asked {
            let mut next =
                |n: usize| simulated.by_ref().take(n).collect::<anyhow::Result<Vec<_>>>();
            rows.push(Beside {
                arm: arm.arm(),
                population: arm.population().unwrap_or_default(),
                measured: *measured,
                predicted: next(1)?.pop().context("a run")?,
                speeds: next(self.speeds as usize)?,
                orders: next(self.orders as usize)?,
            });
        }
        rows.sort_by_key(|row| (row.arm != Arm::E0a, row.population));
        let levels = Levels { good: args.good, trapped: args.trapped };
        Ok(beside(&rows, levels, engine.cell.all_miss_tokens_per_s))
    }

    /// The cell's protocol, with the window that was asked for.
    fn protocol(&self, own: &Protocol) -> anyhow::Result<Protocol> {
        let closed = match *self.measured.as_slice() {
            [from_s, to_s] if 0.0 < from_s && from_s < to_s && to_s.is_finite() => {
                WarmUp { warm_up_s: from_s, window_s: to_s - from_s }
            }
            [] => own.closed,
            _ => bail!("--measured: expected two times in seconds, as 46,180"),
        };
        Ok(Protocol { closed, ..own.clone() })
    }

    /// The run as it was played, at other speeds, in other orders.
    fn draws(&self) -> Vec<Draw> {
        let at = |i: u32| 2.0 * f64::from(i) / f64::from(self.speeds.max(2) - 1) - 1.0;
        let speeds =
            (0..self.speeds).map(|i| Draw { seed: None, speed: 1.0 + self.speed_spread * at(i) });
        let orders = (1..=self.orders).map(|seed| Draw { seed: Some(seed), speed: 1.0 });
        std::iter::once(Draw { seed: None, speed: 1.0 }).chain(speeds).chain(orders).collect()
    }

    fn simulated(
        &self,
        asked: &Asked,
        draw: Draw,
        engine: &Chosen,
        workload: &Workload,
        protocol: &Protocol,
    ) -> anyhow::Result<ClosedMeasures> {
        let speed = match engine.cell.speed {
            Speed::Own => Speed::Factor { factor: draw.speed },
            Speed::Factor { factor } => Speed::Factor { factor: factor * draw.speed },
            fitted @ Speed::AllMissRate { .. } => fitted,
        };
        let cell = Cell { speed, ..engine.cell.clone() };
        let spec = RunSpec {
            cell: &cell,
            workload,
            protocol,
            arm: &asked.arm,
            multiple: None,
            seed: draw.seed.unwrap_or(0),
            options: Options {
                ramp_s: self.ramp,
                sample_s: 1.0,
                gauges_of_last_pass: true,
                ..engine.options
            },
        };
        let run = match draw.seed {
            None => in_order(&spec, &asked.order)?,
            Some(_) => {
                let label = Label { run_id: "closed".into(), registration: None };
                to_run(&simulate(&spec)?, &spec, &label)
            }
        };
        ClosedMeasures::of(&run, protocol).context("a simulated run reaches its window")
    }

    fn runs(
        &self,
        configs: &Configs,
        workload: &Workload,
        protocol: &Protocol,
    ) -> anyhow::Result<Vec<Asked>> {
        let found = find_runs_by(&self.against, &configs.layouts);
        if let Some(problem) = found.problems.first() {
            bail!("{problem}");
        }
        ensure!(!found.runs.is_empty(), "--against: no run directory under these paths");
        found.runs.iter().map(|dir| asked(&one(dir, configs)?, workload, protocol)).collect()
    }
}

fn one(dir: &Path, configs: &Configs) -> anyhow::Result<Run> {
    Ok(load_by(dir, &configs.layouts, &LoadOptions::default())?)
}

/// A run with what was measured on it.
fn asked(run: &Run, workload: &Workload, protocol: &Protocol) -> anyhow::Result<Asked> {
    let shown = run.dir.display();
    if run.meta.source == Source::Simulator {
        bail!("{shown} is simulated; expected a run of an engine");
    }
    let population = run.meta.population.and_then(|n| u32::try_from(n).ok());
    let arm = match (run.meta.arm.clone(), population) {
        (Arm::Closed, Some(population)) => ArmSpec::Closed { population },
        (Arm::E0a, Some(population)) => ArmSpec::E0a { population },
        (arm, _) => bail!("{shown}: expected a closed run, found {}", arm.word()),
    };
    let measured = ClosedMeasures::of(run, protocol);
    let measured = measured.with_context(|| format!("{shown}: it ended before its window did"))?;
    Ok(Asked { arm, order: order(run, workload, true)?, measured: Some(measured) })
}

/// The sessions of the workload in the order of a run's plan: as the workload has them or, where
/// they were `played`, with the plan's own gaps.
fn order(run: &Run, workload: &Workload, played: bool) -> anyhow::Result<Vec<Arc<Trace>>> {
    let shown = run.dir.display();
    let recorded = workload.recorded.as_ref().context("expected recorded sessions")?;
    let by_id: BTreeMap<&str, &Arc<Trace>> =
        recorded.traces.iter().map(|trace| (trace.id.as_str(), trace)).collect();
    let (mut gaps, mut others) = (0_usize, 0_usize);
    let mut order = Vec::with_capacity(run.plan.len());
    for planned in run.plan.iter().filter(|planned| planned.kind != Kind::Subagent) {
        let id = planned.recorded.as_deref().with_context(|| {
            format!("{shown}: plan: session {} names no recorded session", planned.id)
        })?;
        let trace = by_id.get(id).with_context(|| {
            format!("{shown}: plan: session {} plays {id}, which the workload does not", planned.id)
        })?;
        ensure!(
            trace.turns.len() as u64 == planned.turns,
            "{shown}: plan: session {} plays {id} with {} turns; the workload has {} of it",
            planned.id,
            planned.turns,
            trace.turns.len()
        );
        if !played {
            order.push(Arc::clone(trace));
            continue;
        }
        let mut own = Trace::clone(trace);
        let waits_s = trace.waits_s().into_iter().zip(&planned.tool_s);
        for (turn, (wait_s, planned_s)) in own.turns.iter_mut().skip(1).zip(waits_s) {
            (gaps, others) = (gaps + 1, others + usize::from((wait_s - planned_s).abs() > SAME_S));
            turn.gap_s = *planned_s;
        }
        // Of a turn that waits for subagents, the plan has what follows the last of them.
        for awaited in own.subagents.iter_mut().filter_map(|agent| agent.awaited.as_mut()) {
            let planned_s = planned.tool_s.get((awaited.turn as usize).saturating_sub(2));
            awaited.rest_s = planned_s.copied().unwrap_or(awaited.rest_s);
        }
        order.push(Arc::new(own));
    }
    let subagents = run.plan.iter().filter(|planned| planned.kind == Kind::Subagent).count();
    let of_workload: usize = order.iter().map(|trace| trace.streams().len() - 1).sum();
    ensure!(
        !played || subagents == of_workload,
        "{shown}: plan: {subagents} subagents; the workload has {of_workload} in these sessions \
         (--subagents)"
    );
    ensure!(
        others as f64 <= OTHER_GAPS * gaps as f64,
        "{shown}: plan: {others} of {gaps} gaps are not those of the workload {}; --gap-limit says how \
         long gaps were at most",
        workload.name
    );
    Ok(order)
}
