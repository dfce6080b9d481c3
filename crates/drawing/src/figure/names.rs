//! Names of moments and spans, set in rows above a panel so that none covers data or another.

use super::axis::FittedAxis;
use super::drawing::{Anchor, Drawing, Frame};
use super::label::Label;
use super::mark::Mark;
use super::style::{GREY, INK, SMALL_PT, Stroke};

/// A name and where it was put.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedName {
    label: Label,
    /// From the frame's left edge to the name's left edge, pt.
    left_pt: f64,
    /// 0 is the row next to the frame.
    row: usize,
    /// For a moment: its place, pt from the frame's left edge, and its stroke.
    leader: Option<(f64, Stroke)>,
}

const ROW_PT: f64 = SMALL_PT + 1.5;
const APART_PT: f64 = 2.5;
const MARGIN_PT: f64 = 2.0;

/// Puts every name of these marks into a row: next to the frame where there is room, else above.
pub fn place(marks: &[Mark], x: &FittedAxis, width_pt: f64) -> Vec<PlacedName> {
    let mut placed: Vec<PlacedName> = Vec::new();
    for (label, at, leader) in wanted(marks, x, width_pt) {
        let name_pt = label.width_pt(SMALL_PT);
        let free = |lefts: &[f64], row: usize| {
            let fits = |left: &f64| is_free(&placed, *left, name_pt, row, leader.map(|l| l.0));
            lefts.iter().copied().find(fits).map(|left| (left, row))
        };
        let lefts = candidates(at, name_pt, width_pt, leader.is_some());
        let (left_pt, row) = (0..=placed.len())
            .find_map(|row| free(&lefts, row))
            .unwrap_or((lefts[0], placed.len()));
        placed.push(PlacedName { label, left_pt, row, leader });
    }
    placed
}

/// Height of the rows in use, pt.
pub fn height_pt(names: &[PlacedName]) -> f64 {
    names.iter().map(|n| n.row + 1).max().map_or(0.0, |rows| rows as f64 * ROW_PT + MARGIN_PT)
}

/// Writes the names above the frame, the rows counted upwards from `base`; a moment's line is led up to its name.
pub fn draw(on: &mut Drawing, names: &[PlacedName], frame: &Frame, base: f64) {
    for name in names {
        let baseline = base - MARGIN_PT - name.row as f64 * ROW_PT;
        let colour = if name.leader.is_some() { INK } else { GREY };
        let at = (frame.left + name.left_pt, baseline - 0.5);
        on.text(&name.label, at, Anchor::Start, (SMALL_PT, colour));
        if let Some((x, stroke)) = name.leader {
            on.segment((frame.left + x, frame.top), (frame.left + x, baseline + 1.0), stroke);
        }
    }
}

type Wanted = (Label, f64, Option<(f64, Stroke)>);

/// The names to place, moments first since they have to stay next to their line.
fn wanted(marks: &[Mark], x: &FittedAxis, width_pt: f64) -> Vec<Wanted> {
    let within = |at: &f64| (0.0..=width_pt).contains(at);
    let moments = marks.iter().filter_map(|mark| match mark {
        Mark::Moment(rule) if !rule.name.is_empty() => {
            let at = x.place_pt(rule.at).filter(within)?;
            Some((rule.name.clone(), at, Some((at, rule.stroke))))
        }
        _ => None,
    });
    let spans = marks.iter().filter_map(|mark| match mark {
        Mark::Span(span) if !span.name.is_empty() => {
            let (from, to) = (x.place_pt(span.from)?.max(0.0), x.place_pt(span.to)?.min(width_pt));
            (from < to).then(|| (span.name.clone(), 0.5 * (from + to), None))
        }
        _ => None,
    });
    moments.chain(spans).collect()
}

/// Left edges to try, the best first: around the place, then before it, then after it.
fn candidates(at: f64, name_pt: f64, width_pt: f64, has_leader: bool) -> Vec<f64> {
    let room = (width_pt - name_pt).max(0.0);
    let shifts: &[f64] = if has_leader { &[0.5, 1.0, 0.0] } else { &[0.5] };
    shifts.iter().map(|share| (at - share * name_pt).clamp(0.0, room)).collect()
}

/// Whether a name would keep apart from the others of its row, and from the leaders that pass it.
fn is_free(
    placed: &[PlacedName],
    left: f64,
    name_pt: f64,
    row: usize,
    leader: Option<f64>,
) -> bool {
    let hits = |x: f64, l: f64, w: f64| (l - APART_PT..=l + w + APART_PT).contains(&x);
    placed.iter().all(|other| {
        let other_pt = other.label.width_pt(SMALL_PT);
        let apart = left + name_pt + APART_PT <= other.left_pt
            || other.left_pt + other_pt + APART_PT <= left;
        let passes = other.leader.is_none_or(|(x, _)| other.row <= row || !hits(x, left, name_pt));
        let passed = leader.is_none_or(|x| row <= other.row || !hits(x, other.left_pt, other_pt));
        (apart || other.row != row) && passes && passed
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::axis::{Across, Axis};
    use crate::figure::style::{MOMENT, WINDOW_SHADE};

    fn axis() -> FittedAxis {
        Axis::linear("t").over(0.0, 100.0).fit(std::iter::empty(), 100.0, Across::Along)
    }

    #[test]
    fn names_that_fit_beside_each_other_share_the_row_next_to_the_frame() {
        let marks = [
            Mark::moment(10.0, MOMENT, "burst"),
            Mark::span((60.0, 100.0), WINDOW_SHADE, "window"),
        ];
        let names = place(&marks, &axis(), 100.0);
        assert!(names.iter().all(|n| n.row == 0));
    }

    #[test]
    fn names_that_would_collide_are_stacked() {
        let marks = [
            Mark::moment(50.0, MOMENT, "first long name"),
            Mark::moment(52.0, MOMENT, "second long name"),
            Mark::span((40.0, 60.0), WINDOW_SHADE, "a named window"),
        ];
        let names = place(&marks, &axis(), 100.0);
        let rows: std::collections::BTreeSet<_> = names.iter().map(|n| n.row).collect();
        assert_eq!(rows.len(), 3);
    }

    #[test]
    fn a_name_at_the_edge_is_pulled_inside() {
        let names = place(&[Mark::moment(0.0, MOMENT, "burst")], &axis(), 100.0);
        assert_eq!(names[0].left_pt, 0.0);
    }

    #[test]
    fn a_moment_outside_of_the_axis_has_no_name() {
        assert!(place(&[Mark::moment(200.0, MOMENT, "burst")], &axis(), 100.0).is_empty());
    }
}
