//! A page: where the data come from, a legend, a grid of panels, notes and what is missing, one
//! below the other.
//!
//! All room is computed from the measured texts, so that nothing overlaps or is cut off and
//! frames of one column and of one row are aligned.

use super::drawing::{Anchor, Drawing, Frame};
use super::label::Label;
use super::legend::{self, Entry};
use super::names;
use super::panel::Panel;
use super::style::{GREY, INK, LABEL_PT, LINE_HEIGHT, NOTE_PT};
use super::{Figure, origin::Origin};
use crate::table::{Cell, Col, Heading, Table};

/// A page as asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// Its width, pt.
    pub width_pt: f64,
    /// What the figure is called (not printed on it).
    pub title: String,
    /// What it shows, for readers who cannot see it (not printed on it).
    pub description: String,
    /// What the lines and markers stand for.
    pub legend: Vec<Entry>,
    /// The panels, from the top to the bottom.
    pub rows: Vec<Row>,
    /// How the data are to be read; may be empty.
    pub note: Label,
    /// What a reader expects to see and does not, in the markup of [`Label::parse`].
    pub missing: Vec<String>,
}

/// Panels beside each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Height of their frames, pt.
    pub height_pt: f64,
    /// The panels.
    pub panels: Vec<Panel>,
}

const MARGIN_PT: f64 = 2.0;
const BETWEEN_PT: f64 = 8.0;
const AFTER_LEGEND_PT: f64 = 3.0;

/// Where a plotted value comes from.
const ORIGIN: &[Col<Origin>] = &[
    Heading("run", "", "The runs behind the value").key(|from| Cell::text(from.run_names())),
    Heading("source", "", "What made it: an engine, the simulator or a model")
        .key(|from| Cell::text(from.source_words())),
];

impl Page {
    /// The figure of these values, each with where it comes from: that is said in the first
    /// columns of the data, above the panels, in the title and in the description.
    pub fn figure<T>(&self, columns: &[Col<T>], plotted: Vec<(Origin, T)>) -> Figure {
        // Values of one run follow each other: one of them stands for all.
        let changes = plotted.chunk_by(|a, b| a.0 == b.0);
        let origin = Origin::of(changes.filter_map(<[_]>::first).map(|(from, _)| from));
        let (origins, values): (Vec<Origin>, Vec<T>) = plotted.into_iter().unzip();
        let nameless = |_: &Origin| Default::default();
        let mut data =
            Table::of("", &self.title, ORIGIN, origins, nameless).beside(columns, values);
        for cell in data.rows.iter_mut().flat_map(|row| &mut row.cells) {
            // A gap in the drawing is one in the data.
            if matches!(cell, Cell::Number(x, _) if !x.is_finite()) {
                *cell = Cell::Empty;
            }
        }
        Figure { drawing: self.draw(&origin), data, origin }
    }

    fn draw(&self, origin: &Origin) -> Drawing {
        let heading = origin.heading();
        let made = origin.runs_words().unwrap_or_else(|| heading.clone());
        let title = format!("{} ({made})", self.title);
        let description = format!("{} Data: {heading}.", self.description);
        let mut drawing = Drawing::new(self.width_pt, &title, &description);
        let mut top = self.draw_heading(&mut drawing, &heading) + AFTER_LEGEND_PT;
        if !self.legend.is_empty() {
            top = legend::draw(&mut drawing, &self.legend, top) + AFTER_LEGEND_PT;
        }
        let columns = self.columns();
        for (i, row) in self.rows.iter().enumerate() {
            let between = if i > 0 { BETWEEN_PT } else { 0.0 };
            top = draw_row(&mut drawing, row, &columns, top + between);
        }
        drawing.height_pt = self.draw_footer(&mut drawing, top) + MARGIN_PT;
        drawing
    }

    /// Writes where the data come from, centred; returns where it ends.
    fn draw_heading(&self, on: &mut Drawing, heading: &str) -> f64 {
        let lines = Label::plain(heading).wrapped(LABEL_PT, self.width_pt - 2.0 * MARGIN_PT);
        for (i, line) in lines.iter().enumerate() {
            let baseline = MARGIN_PT + LABEL_PT * (0.8 + LINE_HEIGHT * i as f64);
            on.text(line, (0.5 * self.width_pt, baseline), Anchor::Middle, (LABEL_PT, INK));
        }
        MARGIN_PT + LABEL_PT * LINE_HEIGHT * lines.len() as f64
    }

    /// Where each column's frames are: all equally wide.
    fn columns(&self) -> Vec<Column> {
        let count = self.rows.iter().map(|row| row.panels.len()).max().unwrap_or(0);
        let lefts: Vec<_> = (0..count).map(|i| self.widest(i, left_pt)).collect();
        let mut frame_pt = self.width_pt / count.max(1) as f64;
        let mut rights = vec![0.0; count];
        // The last tick label's overhang depends on the frame's width: one more pass settles it.
        for _ in 0..3 {
            let gaps = BETWEEN_PT * count.saturating_sub(1) as f64 + 2.0 * MARGIN_PT;
            let taken = lefts.iter().chain(&rights).sum::<f64>() + gaps;
            frame_pt = ((self.width_pt - taken) / count.max(1) as f64).max(10.0);
            rights = (0..count).map(|i| self.right_pt(i, frame_pt)).collect();
        }
        let mut x = MARGIN_PT;
        let place = |(i, (left_pt, right_pt)): (usize, (&f64, &f64))| {
            let left = x + left_pt;
            x = left + frame_pt + right_pt + BETWEEN_PT;
            let beside_pt = self.widest(i, |panel, _| panel.level_names_pt());
            Column { left, right: left + frame_pt, beside_pt }
        };
        lefts.iter().zip(&rights).enumerate().map(place).collect()
    }

    /// Room right of a column's frames: names of levels and legends, or a tick label's overhang.
    fn right_pt(&self, column: usize, frame_pt: f64) -> f64 {
        let levels = self.widest(column, |panel, _| panel.level_names_pt());
        let beside = self.widest(column, |panel, _| panel.beside_pt());
        let overhang = self.widest(column, |panel, _| panel.fit_x(frame_pt).overhang_pt());
        overhang.max(levels + beside)
    }

    fn widest(&self, column: usize, room: impl Fn(&Panel, f64) -> f64) -> f64 {
        let of_row = |row: &Row| row.panels.get(column).map(|p| room(p, row.height_pt));
        self.rows.iter().filter_map(of_row).fold(0.0, f64::max)
    }

    fn draw_footer(&self, on: &mut Drawing, top: f64) -> f64 {
        let mut baseline = top + 2.0;
        let empty = self.rows.iter().all(|row| row.panels.is_empty());
        let nothing = empty.then(|| "every panel".to_owned());
        let missing: Vec<_> = self.missing.iter().cloned().chain(nothing).collect();
        let missing = match missing.is_empty() {
            true => Label::default(),
            false => Label::parse(&format!("Missing: {}.", missing.join("; "))),
        };
        for (note, colour) in [(&self.note, GREY), (&missing, INK)] {
            if note.is_empty() {
                continue;
            }
            for line in note.wrapped(NOTE_PT, self.width_pt - 2.0 * MARGIN_PT) {
                baseline += NOTE_PT * LINE_HEIGHT;
                on.text(&line, (MARGIN_PT, baseline), Anchor::Start, (NOTE_PT, colour));
            }
        }
        baseline + 0.25 * NOTE_PT
    }
}

/// The left and right edges of a column's frames, and how far from them legends stand, pt.
struct Column {
    left: f64,
    right: f64,
    beside_pt: f64,
}

fn draw_row(on: &mut Drawing, row: &Row, columns: &[Column], top: f64) -> f64 {
    let names_of = |(panel, column): (&Panel, &Column)| {
        let width = column.right - column.left;
        names::place(&panel.marks, &panel.fit_x(width), width)
    };
    let names: Vec<_> = row.panels.iter().zip(columns).map(names_of).collect();
    let names_pt = row.panels.iter().zip(&names).map(|(panel, names)| panel.names_pt(names));
    let names_pt = names_pt.fold(0.0, f64::max);
    let titles = row.panels.iter().zip(columns);
    let titles_pt = titles.map(|(panel, column)| panel.title_pt(column.right - column.left));
    let titles_pt = titles_pt.fold(0.0, f64::max);
    let below = row.panels.iter().map(Panel::below_pt).fold(0.0, f64::max);
    let frames_top = top + titles_pt + names_pt;
    let bottom = frames_top + row.height_pt;
    for ((panel, names), column) in row.panels.iter().zip(&names).zip(columns) {
        let frame = Frame { left: column.left, top: frames_top, right: column.right, bottom };
        panel.draw(on, frame, names, column.beside_pt);
        panel.draw_title(on, &frame, top);
    }
    bottom + below
}

fn left_pt(panel: &Panel, height_pt: f64) -> f64 {
    panel.left_pt(&panel.fit_y(height_pt))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::axis::Axis;
    use crate::figure::mark::Mark;
    use crate::figure::origin::Source;
    use crate::figure::style::{COLUMN_WIDTH_PT, MOMENT, PAGE_WIDTH_PT};

    fn page(width_pt: f64, panels: Vec<Panel>) -> Page {
        Page {
            width_pt,
            title: "Title".to_owned(),
            description: "What is seen.".to_owned(),
            legend: Vec::new(),
            rows: vec![Row { height_pt: 60.0, panels }],
            note: Label::default(),
            missing: Vec::new(),
        }
    }

    fn panel(title: &str) -> Panel {
        let empty = Panel::new(Axis::linear("x").over(0.0, 1.0), Axis::linear("y"));
        Panel { title: title.into(), ..empty }
    }

    #[test]
    fn titles_of_a_row_start_at_one_height_whatever_stands_below_them() {
        let mut crowded = panel("crowded");
        for name in ["a long name of a moment", "another long name", "one more long name"] {
            crowded.add(Mark::moment(0.5, MOMENT, name));
        }
        let long = panel("a title so long that it needs more than one line of its panel");
        let panels = vec![panel("plain"), crowded, long];
        let figure = page(PAGE_WIDTH_PT, panels).figure::<f64>(&[], Vec::new());
        let height = |start: &str| {
            let title = |text: &&crate::figure::drawing::Text| text.label.text().starts_with(start);
            figure.drawing.texts().find(title).map(|text| text.start.y).unwrap()
        };
        assert_eq!(height("plain"), height("crowded"));
        assert_eq!(height("plain"), height("a title"));
        assert_eq!(figure.drawing.faults(), Vec::<String>::new());
    }

    #[test]
    fn where_the_data_come_from_is_above_the_panels_in_the_title_and_in_the_description() {
        let run = Origin::run("r", "tiny", Source::Engine("vLLM 0.32.0, CPU".to_owned()));
        let page = page(COLUMN_WIDTH_PT, vec![panel("first")]);
        let drawing = page.figure(&[], vec![(run, 1.0)]).drawing;
        let texts: Vec<_> = drawing.texts().map(|text| (text.label.text(), text.start.y)).collect();
        let at = |what: &str| texts.iter().find(|(text, _)| text == what).unwrap().1;
        assert!(at("vLLM 0.32.0, CPU: tiny") < at("first"));
        assert_eq!(drawing.title, "Title (vLLM 0.32.0, CPU)");
        assert_eq!(drawing.description, "What is seen. Data: vLLM 0.32.0, CPU: tiny.");
    }
    #[test]
    fn each_value_says_where_it_comes_from_and_unknown_ones_are_empty() {
        let columns: &[Col<(&str, f64, Option<f64>)>] = &[
            Heading("arm", "", "The arm").new(|of| Cell::text(of.0)),
            Heading("t [s]", "s", "When").number(1, |of| of.1),
            Heading("hit_fraction", "", "What hits").optional(3, |of| of.2),
        ];
        let run = Origin::run("r1", "x", Source::Simulated);
        let plotted = vec![
            (run.clone(), ("BURST, late", 10.0, None)),
            (Origin::model(), ("F", 20.25, Some(0.5))),
            (Origin::model(), ("F", 30.0, Some(f64::NAN))),
        ];
        let figure = page(COLUMN_WIDTH_PT, Vec::new()).figure(columns, plotted);
        let expected = "run,source,arm,t [s],hit_fraction\n\
                        r1,simulated,\"BURST, late\",10.0,\n,model,F,20.2,0.500\n,model,F,30.0,\n";
        assert_eq!(figure.data.to_csv(), expected);
        assert_eq!(figure.origin, Origin::of(&[run, Origin::model()]));
    }
}
