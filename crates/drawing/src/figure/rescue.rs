//! Trap, rescue, release and persistence (paper Fig. 3, page Fig. 10).
//!
//! For each cell one rescue run beside its own controls: the follow-up hit fraction above, what
//! is outstanding below. The registered verdicts are left to the rule.

use super::axis::Axis;
use super::label::Label;
use super::legend::Entry;
use super::mark::Mark;
use super::page::{Page, Row};
use super::panel::Panel;
use super::style::{
    CAP_SHADE, COLUMN_WIDTH_PT, HELD, PAGE_WIDTH_PT, WINDOW_SHADE, arm_name, arm_stroke,
};
use super::timeline::{SAMPLE, Sample, Timeline, counts_axis, known, lettered, push_series};
use super::{Figure, Origin, arms};
use crate::setup::Arm;

/// What the figure shows: one column per cell and rate.
#[derive(Debug, Clone, PartialEq)]
pub struct Rescue {
    /// What the figure is called.
    pub title: String,
    /// The columns, from the left.
    pub columns: Vec<RescueColumn>,
    /// What is to be known of the seed, as plain text.
    pub note: String,
}

/// One cell at one rate.
#[derive(Debug, Clone, PartialEq)]
pub struct RescueColumn {
    /// The cell, the rate and the cap, in the markup of [`Label::parse`].
    pub title: String,
    /// Burst, cap on, cap off and the interval judged after the release.
    pub timeline: Timeline,
    /// The rescue run and its controls.
    pub runs: Vec<RescueRun>,
}

/// One run.
#[derive(Debug, Clone, PartialEq)]
pub struct RescueRun {
    /// Its arm.
    pub arm: Arm,
    /// Its seed.
    pub seed: u64,
    /// Which run it is, and what made it.
    pub origin: Origin,
    /// Middle of each bin (s) and the hit fraction of its follow-up turns.
    pub follow_up_hits: Vec<(f64, Option<f64>)>,
    /// Middle of each bin (s) and the mean of requests in the engine and sessions held at the
    /// client; a good run's single requests come and go too fast to be drawn one by one.
    pub outstanding: Vec<(f64, f64)>,
    /// Middle of each bin (s) and the mean of sessions held at the client; empty without a gate.
    pub held: Vec<(f64, f64)>,
}

/// The control without a burst is drawn on top.
const FROM_THE_BACK: [Arm; 3] = [Arm::Burst, Arm::Rescue, Arm::NoBurst];
const HIT_HEIGHT_PT: f64 = 76.0;
const OUTSTANDING_HEIGHT_PT: f64 = 84.0;

/// Draws trap, rescue and release.
pub fn rescue(input: &Rescue) -> Figure {
    let columns = &input.columns;
    let page = Page {
        width_pt: if columns.len() > 1 { PAGE_WIDTH_PT } else { COLUMN_WIDTH_PT },
        title: input.title.clone(),
        description: "Follow-up hit fraction (above) and outstanding work on a logarithmic scale \
                      (below) of a rescue run beside its controls with and without a burst."
            .to_owned(),
        legend: legend(columns),
        rows: vec![
            Row { height_pt: HIT_HEIGHT_PT, panels: hit_panels(columns) },
            Row { height_pt: OUTSTANDING_HEIGHT_PT, panels: outstanding_panels(columns) },
        ],
        note: note(input),
        missing: missing(columns),
    };
    page.figure(SAMPLE, data(columns))
}

fn hit_panels(columns: &[RescueColumn]) -> Vec<Panel> {
    let panel = |(i, column): (usize, &RescueColumn)| {
        let y = Axis::fraction("follow-up hit fraction").labelled(i == 0);
        let mut panel = Panel::new(timeline(column).axis().labelled(false), y);
        panel.title = lettered(i, columns.len(), &column.title);
        timeline(column).mark(&mut panel, true);
        for run in from_the_back(column) {
            panel.add(Mark::line(run.follow_up_hits.clone(), arm_stroke(&run.arm)));
        }
        panel
    };
    columns.iter().enumerate().map(panel).collect()
}

fn outstanding_panels(columns: &[RescueColumn]) -> Vec<Panel> {
    let counts = columns.iter().flat_map(|c| &c.runs).flat_map(|r| &r.outstanding).map(|o| o.1);
    let y = counts_axis("outstanding", counts);
    let panel = |(i, column): (usize, &RescueColumn)| {
        let mut panel = Panel::new(timeline(column).axis(), y.clone().labelled(i == 0));
        timeline(column).mark(&mut panel, false);
        for run in from_the_back(column) {
            panel.add(Mark::curve(run.outstanding.iter().copied(), arm_stroke(&run.arm)));
            if !run.held.is_empty() {
                panel.add(Mark::curve(run.held.iter().copied(), HELD));
            }
        }
        panel
    };
    columns.iter().enumerate().map(panel).collect()
}

fn timeline(column: &RescueColumn) -> Timeline {
    let times = column.runs.iter().flat_map(|run| {
        run.follow_up_hits.iter().map(|h| h.0).chain(run.outstanding.iter().map(|o| o.0))
    });
    column.timeline.clone().holding(times)
}

fn from_the_back(column: &RescueColumn) -> impl Iterator<Item = &RescueRun> {
    FROM_THE_BACK.iter().flat_map(|arm| column.runs.iter().filter(move |run| run.arm == *arm))
}

fn legend(columns: &[RescueColumn]) -> Vec<Entry> {
    let runs = || columns.iter().flat_map(|c| &c.runs);
    let name = |arm: &Arm| match arm {
        Arm::Rescue => "rescue".to_owned(),
        Arm::Burst => "BURST (never capped)".to_owned(),
        _ => arm_name(arm),
    };
    let shown = [Arm::Rescue, Arm::Burst, Arm::NoBurst];
    let present = shown.iter().filter(|arm| runs().any(|run| run.arm == **arm));
    let mut entries: Vec<_> = present.map(|arm| Entry::line(arm_stroke(arm), name(arm))).collect();
    if runs().any(|run| !run.held.is_empty()) {
        entries.insert(1, Entry::line(HELD, "rescue: held at the client"));
    }
    if columns.iter().any(|c| c.timeline.cap_on_s.is_some()) {
        entries.push(Entry::shade(CAP_SHADE, "cap engaged"));
    }
    entries.extend(
        columns.iter().find_map(|c| c.timeline.window).map(|w| Entry::shade(WINDOW_SHADE, w.2)),
    );
    entries
}

const OUTSTANDING: &str = "Outstanding: requests in the engine and sessions held at the client.";

fn note(input: &Rescue) -> Label {
    let seeds: std::collections::BTreeSet<_> =
        input.columns.iter().flat_map(|c| &c.runs).map(|run| run.seed).collect();
    let seeds: Vec<_> = seeds.iter().map(u64::to_string).collect();
    let about = [input.note.as_str(), OUTSTANDING].join(" ");
    Label::plain(&format!("Seed {}. {}", seeds.join(", "), about.trim_start()))
}

fn missing(columns: &[RescueColumn]) -> Vec<String> {
    let of_column = |column: &RescueColumn| {
        let place = arms::place(&column.title, columns.len());
        let present: Vec<_> = column.runs.iter().map(|run| (&run.arm, run.seed)).collect();
        let mut missing = arms::missing_runs(&FROM_THE_BACK, &present, &place);
        let rescued = column.runs.iter().find(|run| run.arm == Arm::Rescue);
        if rescued.is_some_and(|run| run.held.is_empty()) {
            missing.push(format!("sessions held at the client{place}"));
        }
        if rescued.is_some() && column.timeline.cap_off_s.is_none() {
            missing.push(format!("the release of the cap{place}"));
        }
        missing
    };
    columns.iter().flat_map(of_column).collect()
}

fn data(columns: &[RescueColumn]) -> Vec<(Origin, Sample)> {
    let mut data = Vec::new();
    for column in columns {
        for run in from_the_back(column) {
            let mut push = |quantity, points: &mut dyn Iterator<Item = (f64, Option<f64>)>| {
                push_series(
                    &mut data,
                    &column.title,
                    quantity,
                    (&run.arm, run.seed, &run.origin),
                    points,
                );
            };
            push("follow_up_hit_fraction", &mut run.follow_up_hits.iter().copied());
            push("outstanding", &mut known(&run.outstanding));
            push("held_at_client", &mut known(&run.held));
        }
    }
    data
}
