//! Two engines under the same traffic, one left alone and one rescued (page Fig. 11), over time.
//!
//! The page plays this as an animation; here both runs stand beside each other on one axis.

use super::axis::Axis;
use super::label::Label;
use super::legend::Entry;
use super::mark::Mark;
use super::page::{Page, Row};
use super::panel::Panel;
use super::style::{HELD, PAGE_WIDTH_PT, arm_stroke};
use super::timeline::{SAMPLE, Sample, Timeline, counts_axis, known, lettered, push_series};
use super::{Figure, Origin};
use crate::setup::Arm;

/// What the figure shows.
#[derive(Debug, Clone, PartialEq)]
pub struct TwoEngines {
    /// What the figure is called.
    pub title: String,
    /// The engine that is left alone.
    pub alone: EngineRun,
    /// The engine that gets the rescue cap.
    pub rescued: EngineRun,
    /// Burst, cap on, cap off and the last window; the cap is drawn for the rescued engine only.
    pub timeline: Timeline,
    /// The seed that both runs share.
    pub seed: u64,
    /// What the numbers say, as plain text, for example the mean prompts of the last window.
    pub note: String,
}

/// One engine's run.
#[derive(Debug, Clone, PartialEq)]
pub struct EngineRun {
    /// What is done to it, in the markup of [`Label::parse`].
    pub title: String,
    /// Which run it is, and what made it.
    pub origin: Origin,
    /// Middle of each bin (s) and the hit fraction of follow-up turns.
    pub follow_up_hits: Vec<(f64, Option<f64>)>,
    /// Sessions in the system, from each time (s) to the next.
    pub in_system: Vec<(f64, f64)>,
    /// Sessions held at the client, from each time (s) to the next; empty without a gate.
    pub held: Vec<(f64, f64)>,
}

const HIT_HEIGHT_PT: f64 = 76.0;
const COUNT_HEIGHT_PT: f64 = 84.0;

/// Draws both engines.
pub fn two_engines(input: &TwoEngines) -> Figure {
    let engines = engines(input);
    let counts = engines.iter().flat_map(|(_, run, _)| &run.in_system).map(|point| point.1);
    let y = counts_axis("sessions in the system", counts);
    let hits = engines.iter().enumerate().map(|(i, engine)| hit_panel(i, engine));
    let counts = engines.iter().enumerate().map(|(i, (arm, run, timeline))| {
        let mut panel = Panel::new(timeline.axis(), y.clone().labelled(i == 0));
        timeline.mark(&mut panel, false);
        panel.add(Mark::steps(run.in_system.iter().copied(), arm_stroke(arm)));
        if !run.held.is_empty() {
            panel.add(Mark::steps(run.held.iter().copied(), HELD));
        }
        panel
    });
    let absent = engines.iter().filter(|(_, run, _)| run.in_system.is_empty());
    let page = Page {
        width_pt: PAGE_WIDTH_PT,
        title: input.title.clone(),
        description: "Follow-up hit fraction (above) and sessions in the system (below) of two \
                      engines under the same traffic, one left alone and one rescued by a cap."
            .to_owned(),
        legend: vec![
            Entry::line(arm_stroke(&Arm::Burst), "left alone"),
            Entry::line(arm_stroke(&Arm::Rescue), "rescued"),
            Entry::line(HELD, "rescued: held at the client"),
        ],
        rows: vec![
            Row { height_pt: HIT_HEIGHT_PT, panels: hits.collect() },
            Row { height_pt: COUNT_HEIGHT_PT, panels: counts.collect() },
        ],
        note: Label::plain(&format!("Seed {}. {}", input.seed, input.note)),
        missing: absent.map(|(_, run, _)| run.title.clone()).collect(),
    };
    page.figure(SAMPLE, data(input))
}

type Engine<'a> = (Arm, &'a EngineRun, Timeline);

fn engines(input: &TwoEngines) -> [Engine<'_>; 2] {
    let uncapped = Timeline { cap_on_s: None, cap_off_s: None, ..input.timeline.clone() };
    [(Arm::Burst, &input.alone, uncapped), (Arm::Rescue, &input.rescued, input.timeline.clone())]
}

fn hit_panel(index: usize, (arm, run, timeline): &Engine<'_>) -> Panel {
    let y = Axis::fraction("follow-up hit fraction").labelled(index == 0);
    let mut panel = Panel::new(timeline.axis().labelled(false), y);
    panel.title = lettered(index, 2, &run.title);
    timeline.mark(&mut panel, true);
    panel.add(Mark::line(run.follow_up_hits.clone(), arm_stroke(arm)));
    panel
}

fn data(input: &TwoEngines) -> Vec<(Origin, Sample)> {
    let mut data = Vec::new();
    for (arm, run, _) in engines(input) {
        let mut push = |quantity, points: &mut dyn Iterator<Item = (f64, Option<f64>)>| {
            push_series(&mut data, &run.title, quantity, (&arm, input.seed, &run.origin), points);
        };
        push("follow_up_hit_fraction", &mut run.follow_up_hits.iter().copied());
        push("sessions_in_system", &mut known(&run.in_system));
        push("held_at_client", &mut known(&run.held));
    }
    data
}
