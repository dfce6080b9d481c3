//! The law on sessions: what the simulator does with a workload of sessions beside the theory, as
//! in the paper's figures 2 and 5. Above, stuck runs against model F; below, closed populations
//! with the predicted half-hit crossing and onset. One column wide.

use super::axis::Axis;
use super::label::Label;
use super::legend::Entry;
use super::mark::{Mark, Marker};
use super::page::{Page, Row};
use super::panel::Panel;
use super::population::{Estimate, estimates, population_axis};
use super::style::{COLUMN_WIDTH_PT, DASHED, DOTTED, INK, MODEL_CELLS, SIMULATOR, Stroke};
use super::theorem::{self, QUANTITIES, Reading, TheoremCheck};
use super::timeline::lettered;
use super::{Figure, Origin};
use crate::figure::closed_curve::ClosedPoint;
use crate::table::{Cell, Col, Heading};

/// What the figure shows.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionLaw {
    /// Stuck runs of one cell and its model F; with the figure's title and note.
    pub check: TheoremCheck,
    /// Closed runs, at rising populations.
    pub closed: Vec<ClosedPoint>,
    /// What the entry model says of them.
    pub predicted: Vec<Predicted>,
    /// The predicted population at which half of the turns hit.
    pub crossing_n: Option<f64>,
    /// The predicted onset of the all-miss branch.
    pub onset_n: Option<f64>,
}

/// A state of the entry model's curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Predicted {
    /// The population.
    pub n: f64,
    /// Share of all turns that hit.
    pub hit_fraction: f64,
    /// Sessions completed per second.
    pub sessions_per_s: f64,
}

const HEIGHT_PT: f64 = 66.0;
/// The title of the first panel, which is half as wide as that of the four's own figure.
const PROMPT: &str = "prompt / stationary";
const PANELS: usize = QUANTITIES.len() + 2;
const PREDICTED: Stroke = MODEL_CELLS;
const CROSSING: Stroke = Stroke::new(INK, 0.7, DASHED);
const ONSET: Stroke = Stroke::new(INK, 0.7, DOTTED);

/// Draws two panels beside each other, three times.
pub fn session_law(input: &SessionLaw) -> Figure {
    let mut panels = theorem::panels(&input.check, PANELS);
    if let [prompt, completions, ..] = &mut panels[..] {
        prompt.title = lettered(0, PANELS, PROMPT);
        // Ratios that scatter about one, not about the ends of their axis.
        for panel in [prompt, completions] {
            panel.y = panel.y.clone().roomy();
        }
    }
    panels.push(hits(input));
    panels.push(completions(input));
    let mut panels = panels.into_iter();
    let rows = std::iter::from_fn(|| {
        let row: Vec<Panel> = panels.by_ref().take(2).collect();
        (!row.is_empty()).then_some(Row { height_pt: HEIGHT_PT, panels: row })
    });
    let page = Page {
        width_pt: COLUMN_WIDTH_PT,
        title: input.check.title.clone(),
        description: "Served prompt, completions, backlog growth and gap growth of stuck runs \
                      against the load, with model F; hits and completions over the closed \
                      population, with the entry model, its half-hit crossing and its onset."
            .to_owned(),
        legend: legend(input),
        rows: rows.collect(),
        note: Label::plain(&input.check.note),
        missing: missing(input),
    };
    page.figure(COLUMNS, data(input))
}

fn hits(input: &SessionLaw) -> Panel {
    let y = Axis::fraction("");
    let predicted = input.predicted.iter().map(|p| (p.n, p.hit_fraction));
    populations(input, QUANTITIES.len(), "turns that hit", y, predicted, |p| p.hit_fraction)
}

fn completions(input: &SessionLaw) -> Panel {
    let y = Axis::linear("").starting(0.0);
    let predicted = input.predicted.iter().map(|p| (p.n, p.sessions_per_s));
    let by_turns = |p: &ClosedPoint| p.turns_based_per_s.map(Estimate::exact);
    populations(input, QUANTITIES.len() + 1, "turns/s over *E*[*T*]", y, predicted, by_turns)
}

fn populations(
    input: &SessionLaw,
    index: usize,
    title: &str,
    y: Axis,
    predicted: impl Iterator<Item = (f64, f64)>,
    of: impl Fn(&ClosedPoint) -> Option<Estimate>,
) -> Panel {
    let runs = input.closed.iter().map(|p| f64::from(p.n));
    let lines = [input.crossing_n, input.onset_n].into_iter().flatten();
    let mut panel = Panel::new(population_axis(runs.chain(lines)), y);
    panel.title = lettered(index, PANELS, title);
    for (n, stroke) in [(input.crossing_n, CROSSING), (input.onset_n, ONSET)] {
        n.into_iter().for_each(|n| panel.add(Mark::moment(n, stroke, "")));
    }
    panel.add(Mark::curve(predicted, PREDICTED));
    let known = input.closed.iter().filter_map(|p| Some((f64::from(p.n), of(p)?)));
    panel.add(estimates(known, Marker::Ring, SIMULATOR.colour));
    panel
}

fn legend(input: &SessionLaw) -> Vec<Entry> {
    let made = Origin::of(input.closed.iter().map(|p| &p.origin)).source_words();
    let rest = [
        (
            !input.closed.is_empty(),
            Entry::marker(Marker::Ring, SIMULATOR.colour, format!("closed populations, {made}")),
        ),
        (!input.predicted.is_empty(), Entry::line(PREDICTED, "entry model")),
        (input.crossing_n.is_some(), Entry::line(CROSSING, "its half-hit crossing")),
        (input.onset_n.is_some(), Entry::line(ONSET, "its onset *n*_{b}")),
    ];
    let shown = rest.into_iter().filter(|(shown, _)| *shown).map(|(_, entry)| entry);
    theorem::legend(&input.check).into_iter().chain(shown).collect()
}

fn missing(input: &SessionLaw) -> Vec<String> {
    let lacking = [
        (input.check.runs.is_empty(), "stuck runs"),
        (input.closed.is_empty(), "closed runs"),
        (input.predicted.is_empty(), "the entry model"),
    ];
    let lacking = lacking.into_iter().filter(|(is, _)| *is).map(|(_, what)| what.to_owned());
    theorem::missing(&input.check).into_iter().chain(lacking).collect()
}

/// A value in its panel and series.
struct Plotted {
    quantity: &'static str,
    series: &'static str,
    rho: Option<f64>,
    n: Option<f64>,
    value: Option<f64>,
    standard_error: Option<f64>,
}

const COLUMNS: &[Col<Plotted>] = &[
    Heading("quantity", "", "What the value is of").new(|of| Cell::text(of.quantity)),
    Heading("series", "", "A model, or how the runs began").new(|of| Cell::text(of.series)),
    Heading("rho", "", "Arrivals over the all-miss session rate").optional(6, |of| of.rho),
    Heading("n", "sessions", "Sessions of the closed population").optional(4, |of| of.n),
    Heading("value", "", "The value there").optional(6, |of| of.value),
    Heading("standard_error", "", "Its standard error over seeds")
        .optional(6, |of| of.standard_error),
];

fn data(input: &SessionLaw) -> Vec<(Origin, Plotted)> {
    let check = &input.check;
    let mut data = Vec::new();
    for quantity in &QUANTITIES {
        let at = |series, reading: &Reading| Plotted {
            quantity: quantity.name,
            series,
            rho: Some(reading.rho),
            n: None,
            value: (quantity.of)(reading),
            standard_error: None,
        };
        let points = check.cells.iter().flat_map(|cell| &cell.points);
        data.extend(points.map(|point| (Origin::model(), at("model_f", point))));
        let run =
            |run: &theorem::StuckRun| (run.origin.clone(), at(run.protocol.word(), &run.reading));
        data.extend(check.runs.iter().map(run));
    }
    let at = |quantity, series, n, value, standard_error| Plotted {
        quantity,
        series,
        rho: None,
        n: Some(n),
        value,
        standard_error,
    };
    for p in &input.predicted {
        let mut push = |quantity, value| {
            let plotted = at(quantity, "entry_model", p.n, Some(value), None);
            data.push((Origin::model(), plotted));
        };
        push("hit_fraction", p.hit_fraction);
        push("turns_based_per_s", p.sessions_per_s);
    }
    for p in &input.closed {
        let mut push = |quantity, of: Option<Estimate>| {
            let (value, error) = (of.map(|e| e.value), of.and_then(|e| e.standard_error));
            let plotted = at(quantity, "closed", f64::from(p.n), value, error);
            data.push((p.origin.clone(), plotted));
        };
        push("hit_fraction", p.hit_fraction);
        push("turns_based_per_s", p.turns_based_per_s.map(Estimate::exact));
        push("completions_per_s", p.sessions_per_s);
    }
    data
}
