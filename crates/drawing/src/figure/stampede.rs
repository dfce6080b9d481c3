//! The stampede (paper Fig. 1 and Fig. 7): hit fraction above, sessions in the system below.
//!
//! One thin line per seed and arm over the run's own clock, the burst marked and the evaluation
//! window shaded. What the runs mean for the registered test is left to the rule.

use std::collections::BTreeSet;

use super::axis::Axis;
use super::legend::Entry;
use super::mark::Mark;
use super::page::{Page, Row};
use super::panel::Panel;
use super::style::{COLUMN_WIDTH_PT, PAGE_WIDTH_PT, arm_name, arm_stroke};
use super::timeline::{SAMPLE, Sample, Timeline, counts_axis, known, lettered, push_series};
use super::{Figure, Origin, arms, label::Label};
use crate::setup::Arm;

/// What the figure shows: one to four columns, one per arrival rate.
#[derive(Debug, Clone, PartialEq)]
pub struct Stampede {
    /// What the figure is called.
    pub title: String,
    /// The columns, from the left.
    pub columns: Vec<StampedeColumn>,
}

/// The runs of one arrival rate.
#[derive(Debug, Clone, PartialEq)]
pub struct StampedeColumn {
    /// The rate, in the markup of [`Label::parse`].
    pub title: String,
    /// The runs of every arm and seed.
    pub runs: Vec<StampedeRun>,
    /// When the burst starts, s.
    pub burst_at_s: Option<f64>,
    /// The evaluation window, s.
    pub window_s: (f64, f64),
    /// The capped arm's session cap.
    pub cap: Option<u32>,
}

/// One run.
#[derive(Debug, Clone, PartialEq)]
pub struct StampedeRun {
    /// Its arm.
    pub arm: Arm,
    /// Its seed.
    pub seed: u64,
    /// Which run it is, and what made it.
    pub origin: Origin,
    /// Middle of each bin (s) and the hit fraction of its turns; unknown when no turn says.
    pub hit_bins: Vec<(f64, Option<f64>)>,
    /// Sessions in the system: each count holds from its time (s) to the next.
    pub backlog: Vec<(f64, f64)>,
}

/// The arms of the paired test.
const PAIRED: [Arm; 3] = [Arm::Burst, Arm::NoBurst, Arm::Capped];
/// The same from the back to the front: the dots of a capped run leave a run without burst
/// visible below them.
const FROM_THE_BACK: [Arm; 3] = [Arm::NoBurst, Arm::Capped, Arm::Burst];
const HIT_HEIGHT_PT: f64 = 72.0;
const BACKLOG_HEIGHT_PT: f64 = 84.0;
const MOST_COLUMNS: usize = 4;

/// Draws the stampede; columns past the fourth do not fit a page and are named as missing.
pub fn stampede(input: &Stampede) -> Figure {
    let columns = &input.columns[..input.columns.len().min(MOST_COLUMNS)];
    let page = Page {
        width_pt: if columns.len() > 1 { PAGE_WIDTH_PT } else { COLUMN_WIDTH_PT },
        title: input.title.clone(),
        description: description(columns),
        legend: legend(columns),
        rows: vec![
            Row { height_pt: HIT_HEIGHT_PT, panels: hit_panels(columns) },
            Row { height_pt: BACKLOG_HEIGHT_PT, panels: backlog_panels(columns) },
        ],
        note: note(input),
        missing: missing(input),
    };
    page.figure(SAMPLE, data(columns))
}

fn hit_panels(columns: &[StampedeColumn]) -> Vec<Panel> {
    let panel = |(i, column): (usize, &StampedeColumn)| {
        let (timeline, y) = (timeline(column), Axis::fraction("hit fraction").labelled(i == 0));
        let mut panel = Panel::new(timeline.axis().labelled(false), y);
        panel.title = lettered(i, columns.len(), &column.title);
        timeline.mark(&mut panel, true);
        for run in runs_from_the_back(column) {
            panel.add(Mark::line(run.hit_bins.clone(), arm_stroke(&run.arm)));
        }
        panel
    };
    columns.iter().enumerate().map(panel).collect()
}

fn backlog_panels(columns: &[StampedeColumn]) -> Vec<Panel> {
    let counts = columns.iter().flat_map(|c| &c.runs).flat_map(|r| &r.backlog).map(|b| b.1);
    let y = counts_axis("sessions in the system", counts);
    let panel = |(i, column): (usize, &StampedeColumn)| {
        let timeline = timeline(column);
        let mut panel = Panel::new(timeline.axis(), y.clone().labelled(i == 0));
        timeline.mark(&mut panel, false);
        for run in runs_from_the_back(column) {
            panel.add(Mark::steps(run.backlog.iter().copied(), arm_stroke(&run.arm)));
        }
        panel
    };
    columns.iter().enumerate().map(panel).collect()
}

fn timeline(column: &StampedeColumn) -> Timeline {
    let times = column
        .runs
        .iter()
        .flat_map(|run| run.hit_bins.iter().map(|b| b.0).chain(run.backlog.iter().map(|b| b.0)));
    let (from, to) = column.window_s;
    let timeline = Timeline {
        end_s: to,
        burst_at_s: column.burst_at_s,
        window: Some((from, to, "evaluation window")),
        ..Timeline::default()
    };
    timeline.holding(times)
}

/// The runs in drawing order, seeds in order within an arm.
fn runs_from_the_back(column: &StampedeColumn) -> impl Iterator<Item = &StampedeRun> {
    FROM_THE_BACK.iter().flat_map(|arm| {
        let mut runs: Vec<_> = column.runs.iter().filter(|run| run.arm == *arm).collect();
        runs.sort_by_key(|run| run.seed);
        runs
    })
}

fn legend(columns: &[StampedeColumn]) -> Vec<Entry> {
    let caps: BTreeSet<_> = columns.iter().filter_map(|c| c.cap).collect();
    let name = |arm: &Arm| match (arm, caps.iter().next()) {
        (Arm::Capped, Some(cap)) if caps.len() == 1 => {
            format!("{} (*n*_{{cap}} = {cap})", arm_name(arm))
        }
        _ => arm_name(arm),
    };
    let present = |arm: &&Arm| columns.iter().flat_map(|c| &c.runs).any(|run| run.arm == **arm);
    PAIRED.iter().filter(present).map(|arm| Entry::line(arm_stroke(arm), name(arm))).collect()
}

fn note(input: &Stampede) -> Label {
    let runs = || input.columns.iter().flat_map(|c| &c.runs);
    let seeds: BTreeSet<_> = runs().map(|run| run.seed).collect();
    let seeds: Vec<_> = seeds.iter().map(u64::to_string).collect();
    let seeds = match seeds.len() {
        0 => String::new(),
        1 => format!("One line per arm (seed {}).", seeds[0]),
        _ => format!("One line per arm and seed ({}).", seeds.join(", ")),
    };
    let empty = runs().flat_map(|run| &run.backlog).any(|(_, count)| *count <= 0.0);
    let gaps = if empty { " No line below where no session is in the system." } else { "" };
    Label::plain(&format!("{seeds}{gaps}"))
}

/// Arms and seeds that the other runs of a column let a reader expect, and what is unknown.
fn missing(input: &Stampede) -> Vec<String> {
    let mut missing = Vec::new();
    for column in &input.columns {
        let place = arms::place(&column.title, input.columns.len());
        let present: Vec<_> = column.runs.iter().map(|run| (&run.arm, run.seed)).collect();
        missing.extend(arms::missing_runs(&PAIRED, &present, &place));
        let unknown = |run: &&StampedeRun| run.hit_bins.iter().all(|(_, hit)| hit.is_none());
        missing.extend(
            column.runs.iter().filter(unknown).map(|run| {
                format!("hit fraction of {} seed {}{place}", arm_name(&run.arm), run.seed)
            }),
        );
    }
    let beyond = input.columns.iter().skip(MOST_COLUMNS);
    missing.extend(beyond.map(|c| format!("column {}", c.title)));
    missing
}

fn description(columns: &[StampedeColumn]) -> String {
    let titles: Vec<_> = columns.iter().map(|c| Label::parse(&c.title).text()).collect();
    format!(
        "Hit fraction (above) and sessions in the system on a logarithmic scale (below) over the \
         time since the start of the run, one line per arm and seed, for {}. The burst is marked \
         and the evaluation window shaded.",
        titles.join(" and ")
    )
}

fn data(columns: &[StampedeColumn]) -> Vec<(Origin, Sample)> {
    let mut data = Vec::new();
    for column in columns {
        for run in runs_from_the_back(column) {
            let mut push = |quantity, points: &mut dyn Iterator<Item = (f64, Option<f64>)>| {
                push_series(
                    &mut data,
                    &column.title,
                    quantity,
                    (&run.arm, run.seed, &run.origin),
                    points,
                );
            };
            push("hit_fraction", &mut run.hit_bins.iter().copied());
            push("sessions_in_system", &mut known(&run.backlog));
        }
    }
    data
}
