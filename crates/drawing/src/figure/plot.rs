//! Marks put into a panel's frame: data to places, cut at the edges of the axes.

use super::axis::{FittedAxis, stretch};
use super::clip;
use super::drawing::{Anchor, Drawing, Frame, Point};
use super::mark::{Bars, Mark, Points, Series};
use super::style::{SMALL_PT, SOLID, Stroke};

/// Two fitted axes around a frame on the page.
#[derive(Debug, Clone, Copy)]
pub struct Plot<'a> {
    /// The horizontal axis.
    pub x: &'a FittedAxis,
    /// The vertical axis.
    pub y: &'a FittedAxis,
    /// Where they are.
    pub frame: Frame,
}

impl Plot<'_> {
    /// Draws a mark.
    pub fn draw(&self, on: &mut Drawing, mark: &Mark) {
        let frame = &self.frame;
        match mark {
            Mark::Line(series) => self.draw_line(on, series, false),
            Mark::Steps(series) => self.draw_line(on, series, true),
            Mark::Points(points) => self.draw_points(on, points),
            Mark::Bars(bars) => self.draw_bars(on, bars),
            Mark::Band(band) => {
                let (lower, upper) = (band.points.iter(), band.points.iter().rev());
                let corners = lower.map(|p| (p.0, p.1)).chain(upper.map(|p| (p.0, p.2)));
                let corners: Vec<_> = corners.filter_map(|(x, y)| self.place(x, y)).collect();
                on.area(corners.into_iter().map(|p| self.pulled_inside(p)).collect(), band.fill);
            }
            Mark::Span(span) => {
                if let Some(part) = stretch(frame, self.x, span.from, span.to) {
                    on.area(part.corners(), span.fill);
                }
            }
            Mark::Moment(rule) => {
                if let Some(x) = self.x.place_pt(rule.at).map(|at| frame.left + at)
                    && (frame.left..=frame.right).contains(&x)
                {
                    on.segment((x, frame.bottom), (x, frame.top), rule.stroke);
                }
            }
            Mark::Level(rule) => {
                if let Some(y) = self.y.place_pt(rule.at).map(|at| frame.bottom - at)
                    && (frame.top..=frame.bottom).contains(&y)
                {
                    on.segment((frame.left, y), (frame.right, y), rule.stroke);
                    let at = (frame.right + 2.0, y + 0.33 * SMALL_PT);
                    on.text(&rule.name, at, Anchor::Start, (SMALL_PT, rule.stroke.colour));
                }
            }
            Mark::Note(note) => {
                if let Some(at) = self.place(note.at.0, note.at.1) {
                    on.text(&note.text, (at.x, at.y), Anchor::Start, (SMALL_PT, note.colour));
                }
            }
        }
    }

    fn place(&self, x: f64, y: f64) -> Option<Point> {
        let (x, y) = (self.x.place_pt(x)?, self.y.place_pt(y)?);
        Some(Point { x: self.frame.left + x, y: self.frame.bottom - y })
    }

    fn pulled_inside(&self, p: Point) -> Point {
        let frame = &self.frame;
        Point { x: p.x.clamp(frame.left, frame.right), y: p.y.clamp(frame.top, frame.bottom) }
    }

    /// A known point between two gaps has no line through it: it is drawn as a dot.
    fn draw_line(&self, on: &mut Drawing, series: &Series, in_steps: bool) {
        let known = |(x, y): &(f64, Option<f64>)| y.and_then(|y| self.place(*x, y));
        let placed: Vec<_> = series.points.iter().map(known).collect();
        for part in placed.split(Option::is_none) {
            let part: Vec<Point> = part.iter().flatten().copied().collect();
            if let [alone] = part[..]
                && clip::holds(&self.frame, &alone)
            {
                on.disc(alone, 1.2 * series.stroke.width_pt, series.stroke.colour);
            }
            let line = if in_steps { steps(&part) } else { part };
            for piece in clip::clipped(&line, &self.frame) {
                on.line(piece, series.stroke);
            }
        }
    }

    fn draw_points(&self, on: &mut Drawing, points: &Points) {
        let bar = Stroke::new(points.colour, 0.6, SOLID);
        for (x, y, error) in &points.points {
            if let Some(error) = error
                && let (Some(low), Some(high)) =
                    (self.place(*x, y - error), self.place(*x, y + error))
            {
                let (low, high) = (self.pulled_inside(low), self.pulled_inside(high));
                on.line(vec![low, high], bar);
            }
        }
        let places = points.points.iter().filter_map(|(x, y, _)| self.place(*x, *y));
        for at in places.filter(|p| clip::holds(&self.frame, p)) {
            points.marker.draw(on, at, points.colour);
        }
    }

    fn draw_bars(&self, on: &mut Drawing, bars: &Bars) {
        for (x, height) in &bars.bars {
            let (low, high) = (x - 0.5 * bars.width, x + 0.5 * bars.width);
            let base = self.y.lo.max(0.0_f64.min(self.y.hi));
            if let (Some(a), Some(b)) = (self.place(low, base), self.place(high, *height)) {
                let (a, b) = (self.pulled_inside(a), self.pulled_inside(b));
                let bar = Frame { left: a.x, top: b.y, right: b.x, bottom: a.y };
                on.area(bar.corners(), bars.fill);
            }
        }
    }
}

/// The corners of a level that holds from each point to the next.
fn steps(points: &[Point]) -> Vec<Point> {
    let corners =
        points.windows(2).flat_map(|pair| [pair[0], Point { x: pair[1].x, y: pair[0].y }]);
    corners.chain(points.last().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::axis::{Across, Axis};
    use crate::figure::drawing::Item;
    use crate::figure::style::AXIS;

    fn drawn(mark: &Mark) -> Vec<Item> {
        let axis = |across| Axis::linear("").over(0.0, 10.0).fit([].into_iter(), 100.0, across);
        let (x, y) = (axis(Across::Along), axis(Across::Stacked));
        let frame = Frame { left: 0.0, top: 0.0, right: 100.0, bottom: 100.0 };
        let mut drawing = Drawing::new(100.0, "", "");
        Plot { x: &x, y: &y, frame }.draw(&mut drawing, mark);
        drawing.items
    }

    #[test]
    fn an_unknown_value_is_a_gap_and_never_a_zero() {
        let points = vec![
            (0.0, Some(5.0)),
            (1.0, Some(5.0)),
            (2.0, None),
            (3.0, Some(5.0)),
            (4.0, Some(5.0)),
        ];
        let items = drawn(&Mark::line(points, AXIS));
        assert_eq!(items.len(), 2);
        let level = |p: &Point| (p.y - 50.0).abs() < 1e-9;
        assert!(
            items
                .iter()
                .all(|i| matches!(i, Item::Line { points, .. } if points.iter().all(level)))
        );
    }

    #[test]
    fn a_single_point_is_drawn_as_a_dot() {
        let items = drawn(&Mark::line(vec![(1.0, None), (2.0, Some(3.0)), (4.0, None)], AXIS));
        assert!(matches!(items[..], [Item::Disc { .. }]));
    }

    #[test]
    fn a_step_keeps_its_level_until_the_next_point() {
        let items = drawn(&Mark::steps([(0.0, 1.0), (5.0, 8.0)], AXIS));
        let Item::Line { points, .. } = &items[0] else { panic!("a line") };
        let places: Vec<_> = points.iter().map(|p| (p.x, p.y)).collect();
        assert_eq!(places, [(0.0, 90.0), (50.0, 90.0), (50.0, 20.0)]);
    }

    #[test]
    fn a_bar_stands_on_zero() {
        let bars = Mark::Bars(Bars { bars: vec![(5.0, 4.0)], width: 2.0, fill: AXIS.colour });
        let Item::Area { corners, .. } = &drawn(&bars)[0] else { panic!("an area") };
        assert_eq!((corners[0].y, corners[2].y), (60.0, 100.0));
        assert_eq!((corners[0].x, corners[2].x), (40.0, 60.0));
    }
}
