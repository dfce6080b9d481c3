//! MIRROR (paper Fig. 4, page Fig. 9): completions and backlog of the step-capped workload.
//!
//! The frozen predictions and the measured runs beside the standard workload's traps. Scores are
//! left to the law.

use super::axis::Axis;
use super::label::Label;
use super::legend::Entry;
use super::mark::Mark;
use super::page::{Page, Row};
use super::panel::Panel;
use super::style::{BLUE, DASHED, LEVEL, ORANGE, PAGE_WIDTH_PT, PALE, SEED_PT, SOLID, Stroke};
use super::timeline::lettered;
use super::{Figure, Origin};
use crate::table::{Cell, Col, Heading};

/// What the figure shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Mirror {
    /// What the figure is called.
    pub title: String,
    /// The runs and predictions.
    pub series: Vec<MirrorSeries>,
    /// All-miss capacities, in multiples of the reference rate.
    pub capacities: Vec<f64>,
    /// What the predictions are, for example "frozen"; may be empty.
    pub predicted_status: String,
    /// First time shown, s.
    pub from_s: f64,
    /// Length of the bins, s.
    pub bin_s: f64,
}

/// One run or one prediction.
#[derive(Debug, Clone, PartialEq)]
pub struct MirrorSeries {
    /// What it is.
    pub kind: MirrorKind,
    /// Its seed.
    pub seed: u64,
    /// Which run it is or was driven by, and what made it.
    pub origin: Origin,
    /// Middle of each bin (s) and the completions in it, in multiples of the reference rate.
    pub completions: Vec<(f64, f64)>,
    /// Middle of each bin (s) and the mean number of sessions in the system.
    pub backlog: Vec<(f64, f64)>,
}

/// What a series is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MirrorKind {
    /// A trapped run of the standard workload.
    Standard,
    /// Model F's frozen prediction for the step-capped workload.
    Predicted,
    /// A run of the step-capped workload.
    StepCapped,
}

const KINDS: [(MirrorKind, &str, &str, Stroke); 3] = [
    (MirrorKind::Standard, "standard", "standard", Stroke::new(PALE, SEED_PT, SOLID)),
    (
        MirrorKind::Predicted,
        "step_capped_model_f",
        "step-capped, model F",
        Stroke::new(BLUE, 0.9, DASHED),
    ),
    (MirrorKind::StepCapped, "step_capped", "step-capped", Stroke::new(ORANGE, 0.9, SOLID)),
];
const HEIGHT_PT: f64 = 105.0;

/// Draws the two panels.
pub fn mirror(input: &Mirror) -> Figure {
    let count = |k: MirrorKind| input.series.iter().filter(|s| s.kind == k).count();
    let mut legend: Vec<_> = KINDS
        .iter()
        .filter(|kind| count(kind.0) > 0)
        .map(|kind| {
            let status = match kind.0 {
                MirrorKind::Predicted => input.predicted_status.clone(),
                MirrorKind::Standard | MirrorKind::StepCapped => made_by(input, kind.0),
            };
            let comma = if status.is_empty() { "" } else { ", " };
            let label = format!("{}{comma}{status} ({})", kind.2, count(kind.0));
            Entry::line(kind.3, label)
        })
        .collect();
    if !input.capacities.is_empty() {
        let values: Vec<_> = input.capacities.iter().map(|c| format!("{c:.3}")).collect();
        let label = format!("all-miss capacity {} *λ*_{{ref}}", values.join(", "));
        legend.push(Entry::line(LEVEL, label));
    }
    let absent = KINDS.iter().filter(|kind| count(kind.0) == 0);
    let page = Page {
        width_pt: PAGE_WIDTH_PT,
        title: input.title.clone(),
        description: "Completions per bin and sessions in the system over time, of trapped runs \
                      with the standard and the step-capped workload, with model F's predictions."
            .to_owned(),
        legend,
        rows: vec![Row {
            height_pt: HEIGHT_PT,
            panels: vec![completions_panel(input), backlog_panel(input)],
        }],
        note: Label::plain(&format!(
            "Model F is driven by each run's plan from the sessions present at the burst. Means \
             over {:.0} s.",
            input.bin_s
        )),
        missing: absent.map(|kind| kind.2.to_owned()).collect(),
    };
    page.figure(COLUMNS, data(input))
}

/// What made the runs of a kind.
fn made_by(input: &Mirror, kind: MirrorKind) -> String {
    let of_kind = input.series.iter().filter(|series| series.kind == kind);
    Origin::of(of_kind.map(|series| &series.origin)).source_words()
}

fn completions_panel(input: &Mirror) -> Panel {
    let label = format!("completions / {:.0} s (× *λ*_{{ref}})", input.bin_s);
    let mut panel = Panel::new(time_axis(input), Axis::linear(label).starting(0.0));
    panel.title = lettered(0, 2, "completions after the burst");
    for capacity in &input.capacities {
        panel.add(Mark::level(*capacity, LEVEL, ""));
    }
    add_series(&mut panel, input, |series| &series.completions);
    panel
}

fn backlog_panel(input: &Mirror) -> Panel {
    let y = Axis::linear("sessions in the system").starting(0.0);
    let mut panel = Panel::new(time_axis(input), y);
    panel.title = lettered(1, 2, "backlog");
    add_series(&mut panel, input, |series| &series.backlog);
    panel
}

type Points = [(f64, f64)];

fn add_series(panel: &mut Panel, input: &Mirror, of: impl Fn(&MirrorSeries) -> &Points) {
    for (kind, _, _, stroke) in KINDS {
        for series in input.series.iter().filter(|s| s.kind == kind) {
            let shown = of(series).iter().copied().filter(|(t, _)| *t >= input.from_s);
            panel.add(Mark::curve(shown, stroke));
        }
    }
}

fn time_axis(input: &Mirror) -> Axis {
    let times = input.series.iter().flat_map(|s| s.completions.iter().chain(&s.backlog));
    let end = times.map(|p| p.0).filter(|t| t.is_finite()).fold(input.from_s + 1.0, f64::max);
    Axis::linear("time since start of run (s)").over(input.from_s, end)
}

/// A value of a series over time.
struct Plotted {
    quantity: &'static str,
    series: &'static str,
    seed: u64,
    t_s: f64,
    value: f64,
}

const COLUMNS: &[Col<Plotted>] = &[
    Heading("quantity", "", "What the value is of").new(|of| Cell::text(of.quantity)),
    Heading("series", "", "Runs, or a prediction").new(|of| Cell::text(of.series)),
    Heading("seed", "", "The run's seed").new(|of| Cell::Count(of.seed)),
    Heading("t [s]", "s", "Time since the start of the run").number(3, |of| of.t_s),
    Heading("value", "", "The value at that time").number(6, |of| of.value),
];

fn data(input: &Mirror) -> Vec<(Origin, Plotted)> {
    let mut data = Vec::new();
    for (kind, name, _, _) in KINDS {
        for series in input.series.iter().filter(|s| s.kind == kind) {
            let completions = series.completions.iter().map(|p| ("completions_over_lambda_ref", p));
            let backlog = series.backlog.iter().map(|p| ("sessions_in_system", p));
            data.extend(completions.chain(backlog).map(|(quantity, &(t_s, value))| {
                let plotted = Plotted { quantity, series: name, seed: series.seed, t_s, value };
                (series.origin.clone(), plotted)
            }));
        }
    }
    data
}
