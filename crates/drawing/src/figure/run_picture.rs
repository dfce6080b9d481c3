//! One run on one time axis: what its verdict was computed from, with the thresholds it used.
//!
//! Hit fractions, backlog, token rate over the all-miss rate, gap against turnover time, and the
//! gate. A part that the run does not have is left out and named as missing. The verdict itself is
//! made by the rule and only printed here.

use super::axis::Axis;
use super::label::Label;
use super::legend::Entry;
use super::mark::Mark;
use super::page::{Page, Row};
use super::panel::Panel;
use super::style::{
    BLUE, DASHED, DOTTED, GREEN, GREY, INK, MAIN_PT, PAGE_WIDTH_PT, PURPLE, SEED_PT, SOLID, Stroke,
    arm_stroke,
};
use super::timeline::{Timeline, counts_axis};
use super::{Figure, Origin};
use crate::setup::Arm;
use crate::table::{Cell, Col, Heading};

/// One run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunPicture {
    /// The run's name: cell, arm, rate and seed, as plain text.
    pub run: String,
    /// Its arm.
    pub arm: Arm,
    /// Its verdict, with the clause that decided it, as plain text.
    pub verdict: String,
    /// Burst, cap on, cap off and the evaluation window.
    pub timeline: Timeline,
    /// Middle of each bin (s) and the hit fraction of all turns.
    pub hits: Vec<(f64, Option<f64>)>,
    /// Middle of each bin (s) and the hit fraction of follow-up turns.
    pub follow_up_hits: Vec<(f64, Option<f64>)>,
    /// Sessions in the system, from each time (s) to the next.
    pub backlog: Vec<(f64, f64)>,
    /// Middle of each bin (s) and the uncached token rate over the all-miss rate.
    pub token_rate_ratio: Vec<(f64, Option<f64>)>,
    /// Middle of each bin (s) and the median gap between a session's turns, s.
    pub gap_s: Vec<(f64, Option<f64>)>,
    /// Middle of each bin (s) and the pool's turnover time, s.
    pub turnover_s: Vec<(f64, Option<f64>)>,
    /// Time (s) and the sessions admitted, waiting at the gate and paused, to the next time.
    pub gate: Vec<(f64, [f64; 3])>,
    /// Levels that the verdict compared with.
    pub thresholds: Vec<Threshold>,
    /// Lines of a given slope that the verdict compared the backlog with.
    pub slopes: Vec<SlopeLine>,
    /// Which run it is, and what made it.
    pub origin: Origin,
}

/// A level in one of the panels.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    /// The panel.
    pub panel: RunPanel,
    /// The level, in the panel's unit.
    pub value: f64,
    /// What it is called, in the markup of [`Label::parse`]; keep it short.
    pub name: String,
}

/// A straight line in the backlog's panel, for example a fitted or a limiting slope.
#[derive(Debug, Clone, PartialEq)]
pub struct SlopeLine {
    /// Time (s) and sessions at its start.
    pub from: (f64, f64),
    /// Time (s) and sessions at its end.
    pub to: (f64, f64),
    /// What it is called, in the markup of [`Label::parse`].
    pub name: String,
    /// Whether it was measured; a limit is drawn dashed.
    pub measured: bool,
}

/// The panels, from the top.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunPanel {
    /// Hit fractions.
    Hits,
    /// Sessions in the system.
    Backlog,
    /// Token rate over the all-miss rate.
    TokenRate,
    /// Gap and turnover time.
    Gap,
    /// The gate's populations.
    Gate,
}

const PANELS: [RunPanel; 5] =
    [RunPanel::Hits, RunPanel::Backlog, RunPanel::TokenRate, RunPanel::Gap, RunPanel::Gate];
const HEIGHT_PT: f64 = 62.0;
const LIMIT: Stroke = Stroke::new(GREY, 0.7, DASHED);
const FITTED: Stroke = Stroke::new(INK, MAIN_PT, SOLID);
const FOLLOW_UPS: Stroke = Stroke::new(BLUE, SEED_PT, DASHED);
const TURNOVER: Stroke = Stroke::new(BLUE, MAIN_PT, DASHED);
const GATE: [(&str, &str, Stroke); 3] = [
    ("admitted", "gate_admitted", Stroke::new(INK, SEED_PT, SOLID)),
    ("waiting at the gate", "gate_waiting", Stroke::new(GREEN, MAIN_PT, DASHED)),
    ("paused", "gate_paused", Stroke::new(PURPLE, MAIN_PT, DOTTED)),
];

/// Draws one run.
pub fn run_picture(input: &RunPicture) -> Figure {
    // The first panel carries the run's name and times, so it is there for any run.
    let is_shown = |panel: &RunPanel| *panel == RunPanel::Hits || has(input, *panel);
    let shown: Vec<_> = PANELS.into_iter().filter(is_shown).collect();
    let row = |(i, which): (usize, &RunPanel)| Row {
        height_pt: HEIGHT_PT,
        panels: vec![panel(input, *which, i == 0, i + 1 == shown.len())],
    };
    let absent = PANELS.iter().filter(|panel| !has(input, **panel) && **panel != RunPanel::Gate);
    let page = Page {
        width_pt: PAGE_WIDTH_PT,
        title: format!("Run {}", input.run),
        description: format!(
            "Hit fraction, backlog, token rate, gap and gate of the run {} over time. {}",
            input.run, input.verdict
        ),
        legend: Vec::new(),
        rows: shown.iter().enumerate().map(row).collect(),
        note: Label::plain(&input.verdict),
        missing: absent.map(|panel| axis_of(input, *panel).label.text()).collect(),
    };
    page.figure(COLUMNS, data(input))
}

fn stroke(input: &RunPicture) -> Stroke {
    Stroke::new(arm_stroke(&input.arm).colour, MAIN_PT, SOLID)
}

fn has(input: &RunPicture, panel: RunPanel) -> bool {
    let any = |points: &[(f64, Option<f64>)]| points.iter().any(|p| p.1.is_some());
    match panel {
        RunPanel::Hits => any(&input.hits) || any(&input.follow_up_hits),
        RunPanel::Backlog => !input.backlog.is_empty(),
        RunPanel::TokenRate => any(&input.token_rate_ratio),
        RunPanel::Gap => any(&input.gap_s) || any(&input.turnover_s),
        RunPanel::Gate => !input.gate.is_empty(),
    }
}

fn panel(input: &RunPicture, which: RunPanel, first: bool, last: bool) -> Panel {
    let timeline = timeline(input);
    let x = timeline.axis().labelled(last);
    let mut panel = Panel::new(x, axis_of(input, which));
    if first {
        panel.title = Label::plain(&input.run);
    }
    timeline.mark(&mut panel, first);
    for threshold in input.thresholds.iter().filter(|t| t.panel == which) {
        panel.add(Mark::level(threshold.value, LIMIT, threshold.name.as_str()));
    }
    let marks = match which {
        RunPanel::Hits => vec![
            Mark::line(input.follow_up_hits.clone(), FOLLOW_UPS),
            Mark::line(input.hits.clone(), stroke(input)),
        ],
        RunPanel::Backlog => {
            let slopes = input.slopes.iter().map(|s| Mark::curve([s.from, s.to], slope_stroke(s)));
            let steps = Mark::steps(input.backlog.iter().copied(), stroke(input));
            std::iter::once(steps).chain(slopes).collect()
        }
        RunPanel::TokenRate => vec![Mark::line(input.token_rate_ratio.clone(), stroke(input))],
        RunPanel::Gap => vec![
            Mark::line(input.turnover_s.clone(), TURNOVER),
            Mark::line(input.gap_s.clone(), stroke(input)),
        ],
        RunPanel::Gate => GATE
            .iter()
            .enumerate()
            .map(|(i, (_, _, look))| {
                Mark::steps(input.gate.iter().map(|(t, counts)| (*t, counts[i])), *look)
            })
            .collect(),
    };
    marks.into_iter().for_each(|mark| panel.add(mark));
    panel.beside = beside(input, which);
    panel
}

fn axis_of(input: &RunPicture, which: RunPanel) -> Axis {
    match which {
        RunPanel::Hits => Axis::fraction("hit fraction"),
        RunPanel::Backlog => counts_axis("in the system", input.backlog.iter().map(|b| b.1)),
        RunPanel::TokenRate => {
            let top = input.token_rate_ratio.iter().filter_map(|p| p.1);
            let top = top.chain(thresholds(input, which)).fold(1.0, f64::max);
            Axis::linear("token rate / all-miss").over(0.0, 1.08 * top)
        }
        RunPanel::Gap => Axis::log("time (s)"),
        RunPanel::Gate => {
            let counts = input.gate.iter().flat_map(|(_, counts)| *counts);
            let top = counts.chain(thresholds(input, which)).fold(1.0, f64::max);
            Axis::linear("sessions").over(0.0, 1.08 * top)
        }
    }
}

fn thresholds(input: &RunPicture, which: RunPanel) -> impl Iterator<Item = f64> {
    input.thresholds.iter().filter(move |t| t.panel == which).map(|t| t.value)
}

fn slope_stroke(line: &SlopeLine) -> Stroke {
    if line.measured { FITTED } else { LIMIT }
}

fn timeline(input: &RunPicture) -> Timeline {
    let times = input.hits.iter().map(|h| h.0).chain(input.backlog.iter().map(|b| b.0));
    input.timeline.clone().holding(times)
}

/// What the lines of a panel stand for.
fn beside(input: &RunPicture, which: RunPanel) -> Vec<Entry> {
    let run = stroke(input);
    match which {
        RunPanel::Hits => {
            let entries = [
                (!input.hits.is_empty(), Entry::line(run, "all turns")),
                (!input.follow_up_hits.is_empty(), Entry::line(FOLLOW_UPS, "follow-up turns")),
            ];
            entries.into_iter().filter(|(shown, _)| *shown).map(|(_, entry)| entry).collect()
        }
        RunPanel::Backlog => {
            let slope = |s: &SlopeLine| Entry::line(slope_stroke(s), s.name.as_str());
            input.slopes.iter().map(slope).collect()
        }
        RunPanel::TokenRate => Vec::new(),
        RunPanel::Gap => vec![Entry::line(run, "gap, median"), Entry::line(TURNOVER, "turnover")],
        RunPanel::Gate => GATE.iter().map(|(name, _, look)| Entry::line(*look, *name)).collect(),
    }
}

/// A quantity at a time (s).
type Plotted = (&'static str, f64, Option<f64>);

const COLUMNS: &[Col<Plotted>] = &[
    Heading("quantity", "", "What the value is of").new(|of| Cell::text(of.0)),
    Heading("t [s]", "s", "Time since the start of the run").number(3, |of| of.1),
    Heading("value", "", "The value at that time").optional(6, |of| of.2),
];

fn data(input: &RunPicture) -> Vec<(Origin, Plotted)> {
    let mut data = Vec::new();
    let mut push = |quantity, t_s, value| {
        data.push((input.origin.clone(), (quantity, t_s, value)));
    };
    let series = [
        ("hit_fraction", &input.hits),
        ("follow_up_hit_fraction", &input.follow_up_hits),
        ("uncached_token_rate_over_all_miss", &input.token_rate_ratio),
        ("gap_s", &input.gap_s),
        ("turnover_time_s", &input.turnover_s),
    ];
    for (quantity, points) in series {
        points.iter().for_each(|(t, value)| push(quantity, *t, *value));
    }
    input.backlog.iter().for_each(|(t, n)| push("sessions_in_system", *t, Some(*n)));
    for (i, (_, quantity, _)) in GATE.iter().enumerate() {
        input.gate.iter().for_each(|(t, counts)| push(quantity, *t, Some(counts[i])));
    }
    data
}
