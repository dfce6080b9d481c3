//! The inputs of a fill from run directories: closed, cache-off and from-empty runs of
//! one cell.

use std::collections::BTreeMap;

use crate::measure::queue::queue;
use crate::measure::{measure, span, stats};
use crate::rule::edge::{FromEmptyRun, nominal_edge};
use crate::rule::stability::{Stability, is_stable};
use crate::run::Run;
use crate::setup::registration::inputs::{CacheOff, CurvePoint, EdgeBracket, FillInputs};
use crate::setup::{Arm, Protocol, Span, Workload};

/// Inputs gathered from runs, and what could not be used.
#[derive(Debug, Clone, PartialEq)]
pub struct Gathered {
    /// The inputs.
    pub inputs: FillInputs,
    /// Runs that could not be used, and why.
    pub set_aside: Vec<String>,
}

/// Gathers the inputs of `cell`. Cache-off runs give lambda_ref and the all-miss rate, by
/// the smallest population there is; repeated closed populations give their mean.
pub fn gather(
    cell: &str,
    runs: &[Run],
    protocol: &Protocol,
    workload: &Workload,
    stability: &Stability,
) -> Gathered {
    let mut set_aside = Vec::new();
    let mut closed: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    let mut cache_off: BTreeMap<u64, Vec<CacheOff>> = BTreeMap::new();
    let mut from_empty = Vec::new();
    let mut sources = BTreeMap::new();
    let mean_turns: f64 = workload.survival().iter().sum();
    for run in runs {
        let name = run.dir.display().to_string();
        if run.meta.cell != cell {
            set_aside.push(format!("{name}: cell {}, not {cell}", run.meta.cell));
            continue;
        }
        let key = match run.meta.arm {
            Arm::Closed => "curve",
            Arm::E0a => "cache_off",
            Arm::E0b => "edge",
            _ => continue,
        };
        let window = measure(run, protocol).window;
        let used = match (key, run.meta.population, &window) {
            ("edge", ..) => from_empty_run(run, protocol, stability)
                .zip(run.meta.rate.lambda_ref)
                .map(|pair| from_empty.push(pair)),
            (_, Some(n), Some(w)) if key == "curve" => {
                closed.entry(n).or_default().push(w.completions_per_s);
                Some(())
            }
            (_, Some(n), Some(w)) => w.uncached_tokens_per_s.map(|tokens_per_s| {
                let turns_based_per_s = w.turns_per_s / mean_turns;
                cache_off.entry(n).or_default().push(CacheOff { turns_based_per_s, tokens_per_s });
            }),
            _ => None,
        };
        match used {
            Some(()) => {
                let list: &mut String = sources.entry(key.to_owned()).or_default();
                if !list.is_empty() {
                    list.push_str(", ");
                }
                list.push_str(&name);
            }
            None => {
                set_aside.push(format!("{name}: it ended before its window did, or cannot say"))
            }
        }
    }
    let cache_off = cache_off.into_values().next().unwrap_or_default();
    let reference = stats::mean(&cache_off.iter().map(|c| c.turns_based_per_s).collect::<Vec<_>>());
    let edge = nominal_edge(&in_reference(from_empty, reference));
    let gpu = runs.iter().find(|r| r.meta.cell == cell).and_then(|r| r.meta.gpu.as_ref());
    let inputs = FillInputs {
        cell: cell.into(),
        hardware: gpu.map(|g| g.name.clone()),
        lambda_ref_per_s: None,
        all_miss_tokens_per_s: None,
        cache_off,
        curve: closed
            .into_iter()
            .map(|(n, mu)| CurvePoint { n, mu_per_s: stats::mean(&mu) })
            .collect(),
        peak_ratio: None,
        edge: EdgeBracket {
            largest_stable: edge.largest_stable,
            first_unstable: edge.first_unstable,
            monotone: edge.monotone,
        },
        seeds: vec![0, 1, 2],
        restates_sha256: Vec::new(),
        sources,
    };
    Gathered { inputs, set_aside }
}

/// Rates in multiples of the fill's own lambda_ref: runs may have been made with another.
fn in_reference(runs: Vec<(FromEmptyRun, f64)>, reference: Option<f64>) -> Vec<FromEmptyRun> {
    runs.into_iter()
        .map(|(run, own)| {
            let factor = reference.map_or(1.0, |r| own / r);
            FromEmptyRun { nominal: run.nominal * factor, realized: run.realized * factor, ..run }
        })
        .collect()
}

/// A from-empty run in the multiples that it was run at.
fn from_empty_run(run: &Run, protocol: &Protocol, rule: &Stability) -> Option<FromEmptyRun> {
    let queue = queue(run, protocol)?;
    let stable = is_stable(Some(&queue), rule)?;
    let whole = Span::new(0.0, run.meta.duration_s);
    let lambda_ref = run.meta.rate.lambda_ref?;
    Some(FromEmptyRun {
        nominal: run.meta.rate.multiple?,
        realized: span::base_arrivals_per_s(run, whole) / lambda_ref,
        stable,
    })
}
