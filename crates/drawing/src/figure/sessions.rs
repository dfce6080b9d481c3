//! What recorded sessions are like, turn by turn: the share that reaches a turn, and the mean
//! prompt there.

use super::axis::Axis;
use super::label::Label;
use super::mark::Mark;
use super::page::{Page, Row};
use super::panel::Panel;
use super::style::{BLUE, INK, MAIN_PT, PAGE_WIDTH_PT, SOLID, Stroke};
use super::timeline::lettered;
use super::{Figure, Origin};
use crate::table::{Col, Heading};

/// What the figure shows.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionSet {
    /// What the figure is called.
    pub title: String,
    /// Where the sessions are from.
    pub source: String,
    /// Turn k, the share of sessions that reach it, the mean prompt there in tokens.
    pub by_turn: Vec<(u64, f64, f64)>,
}

const SURVIVAL: Stroke = Stroke::new(INK, MAIN_PT, SOLID);
const PROMPT: Stroke = Stroke::new(BLUE, MAIN_PT, SOLID);
const HEIGHT_PT: f64 = 110.0;

/// A turn as it is plotted.
struct Plotted {
    turn: u64,
    survival: f64,
    mean_prompt_tokens: f64,
}

const COLUMNS: &[Col<Plotted>] = &[
    Heading("turn", "", "k").count(|of| of.turn),
    Heading("survival", "", "Share of sessions with a k-th turn").number(6, |of| of.survival),
    Heading("mean_prompt_tokens", "tokens", "Mean prompt of the k-th turn")
        .number(1, |of| of.mean_prompt_tokens),
];

/// Draws both beside each other.
pub fn sessions(input: &SessionSet) -> Figure {
    let last = input.by_turn.last().map_or(2.0, |(turn, ..)| (*turn as f64).max(2.0));
    let turns = || Axis::log("turn *k*").over(0.9, 1.1 * last);
    let of = |value: fn(&(u64, f64, f64)) -> f64| {
        input.by_turn.iter().map(move |at| (at.0 as f64, value(at))).collect::<Vec<_>>()
    };
    let mut survival = Panel::new(turns(), Axis::fraction("share with turn *k*"));
    survival.title = lettered(0, 2, "how long");
    survival.add(Mark::curve(of(|at| at.1), SURVIVAL));
    let thousands = Axis::linear("mean prompt (1000 tokens)").starting(0.0);
    let mut prompt = Panel::new(turns(), thousands);
    prompt.title = lettered(1, 2, "how large");
    prompt.add(Mark::curve(of(|at| at.2 / 1000.0), PROMPT));
    let page = Page {
        width_pt: PAGE_WIDTH_PT,
        title: input.title.clone(),
        description: "The share of recorded sessions that reach a turn, and the mean prompt of \
                      that turn, over the turn."
            .to_owned(),
        legend: Vec::new(),
        rows: vec![Row { height_pt: HEIGHT_PT, panels: vec![survival, prompt] }],
        note: Label::plain(&input.source),
        missing: if input.by_turn.is_empty() { vec!["sessions".into()] } else { Vec::new() },
    };
    let origin = Origin::recorded(&input.source);
    let plotted = |(turn, survival, mean_prompt_tokens): &(u64, f64, f64)| Plotted {
        turn: *turn,
        survival: *survival,
        mean_prompt_tokens: *mean_prompt_tokens,
    };
    page.figure(COLUMNS, input.by_turn.iter().map(|at| (origin.clone(), plotted(at))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_are_a_row_per_turn_and_say_that_they_are_recorded() {
        let by_turn = vec![(1, 1.0, 1000.0), (2, 0.5, 2500.0)];
        let set = SessionSet { title: "T".into(), source: "a.csv".into(), by_turn };
        let figure = sessions(&set);
        assert_eq!(figure.data.rows.len(), 2);
        let csv = figure.data.to_csv();
        assert!(csv.contains("a.csv,recorded sessions,2,0.500000,2500.0\n"), "{csv}");
        assert_eq!(figure.drawing.faults(), Vec::<String>::new());
    }

    #[test]
    fn no_session_is_said_to_be_missing() {
        let set = SessionSet { title: "T".into(), source: "a".into(), by_turn: Vec::new() };
        assert!(sessions(&set).drawing.texts().any(|t| t.label.text().contains("sessions")));
    }
}
