//! One picture of one run: what its verdict was computed from, with the thresholds.

use crate::figure::Figure;
use crate::figure::run_picture::{RunPanel, RunPicture, SlopeLine, Threshold, run_picture};
use crate::figure::timeline::Timeline;
use crate::judged::RunBinding;
use crate::judged::score::ScoredRun;
use crate::rule::{Clause, Comparison};
use crate::table::fixed;

use super::{fractions, origin};

/// Draws a run.
pub fn draw(run: &ScoredRun) -> Figure {
    let meta = &run.meta;
    let series = &run.measures.series;
    let rate = meta.rate.multiple.map_or(String::new(), |m| format!(", {m} x lambda_ref"));
    let population = meta.population.map_or(String::new(), |n| format!(", population {n}"));
    let all_miss = run.load.map(|l| l.all_miss_tokens_per_s).filter(|rate| rate.is_finite());
    let ratio = |rate: &Option<f64>| rate.zip(all_miss).map(|(rate, reference)| rate / reference);
    run_picture(&RunPicture {
        run: format!("{} {}{rate}{population}, seed {}", meta.cell, meta.arm, meta.seed),
        arm: meta.arm.clone(),
        verdict: verdict(run),
        timeline: Timeline {
            end_s: meta.horizon_s,
            burst_at_s: run.measures.burst_start_s,
            cap_on_s: meta.gate.and_then(|g| g.engage_s),
            cap_off_s: meta.gate.and_then(|g| g.release_s),
            window: run.measures.window.as_ref().map(|w| {
                let (start, end) = w.span.into();
                (start, end, "evaluation window")
            }),
        },
        hits: fractions(&series.hits),
        follow_up_hits: fractions(&series.follow_up_hits),
        backlog: series.backlog.clone(),
        token_rate_ratio: all_miss.map_or_else(Vec::new, |_| {
            series.uncached_tokens_per_s.iter().map(|(t, rate)| (*t, ratio(rate))).collect()
        }),
        gap_s: series.gap_median_s.clone(),
        turnover_s: series.turnover_s.clone(),
        gate: series.gate.iter().map(|(t, counts)| (*t, counts.map(|n| n as f64))).collect(),
        thresholds: thresholds(run),
        slopes: slopes(run),
        origin: origin(run),
    })
}

fn verdict(run: &ScoredRun) -> String {
    let Some(state) = &run.state else { return "not judged by the paired test".into() };
    let clause = state.deciding().map_or(String::new(), |clause| {
        let measured = clause.measured.map_or("unknown".into(), |x| fixed(x, 4));
        format!(": {} {measured}, needs {}", clause.quantity, clause.needs.words(false))
    });
    let by = match run.binding {
        RunBinding::Published => ", by the paper's published rule",
        _ => "",
    };
    format!("{}{clause}{by}", state.state.word())
}

fn threshold_of(clauses: &[Clause], quantity: &str) -> Option<Comparison> {
    clauses.iter().find(|c| c.quantity.starts_with(quantity)).map(|c| c.needs)
}

fn thresholds(run: &ScoredRun) -> Vec<Threshold> {
    let Some(state) = &run.state else { return Vec::new() };
    let mut found = Vec::new();
    let mut add = |panel, value: f64, name: &str| {
        found.push(Threshold { panel, value, name: name.into() });
    };
    if let Some(Comparison::Above(hit)) = threshold_of(&state.recovered, "hit fraction") {
        add(RunPanel::Hits, hit, "RECOVERED");
    }
    if let Some(Comparison::Within(low, high)) = threshold_of(&state.trapped, "uncached token") {
        add(RunPanel::TokenRate, low, "TRAPPED from");
        add(RunPanel::TokenRate, high, "TRAPPED to");
    }
    if let Some(gate) = run.meta.gate {
        add(RunPanel::Gate, gate.n_cap as f64, "cap");
    }
    found
}

/// The fitted slope over the window, and the slope that TRAPPED asks for.
fn slopes(run: &ScoredRun) -> Vec<SlopeLine> {
    let (Some(state), Some(window)) = (&run.state, &run.measures.window) else {
        return Vec::new();
    };
    let span = window.span;
    let line = |slope: f64, name: &str, measured| {
        let half = 0.5 * slope * span.length_s();
        SlopeLine {
            from: (span.start_s, window.backlog_mean - half),
            to: (span.end_s, window.backlog_mean + half),
            name: name.into(),
            measured,
        }
    };
    let mut lines = Vec::new();
    lines.extend(window.backlog_slope_per_s.map(|slope| line(slope, "fitted slope", true)));
    if let Some(Comparison::Above(limit)) = threshold_of(&state.trapped, "backlog slope") {
        lines.push(line(limit, "TRAPPED above this slope", false));
    }
    // The panel's axis is logarithmic: a line that leaves it says nothing.
    lines.retain(|line| line.from.1 > 0.0 && line.to.1 > 0.0);
    lines
}
