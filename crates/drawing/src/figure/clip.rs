//! Lines cut at the edges of a panel, so that nothing is drawn outside of its axes.

use super::drawing::{Frame, Point};

/// The parts of a line that lie within the frame, in order along it.
pub(crate) fn clipped(points: &[Point], frame: &Frame) -> Vec<Vec<Point>> {
    let mut parts: Vec<Vec<Point>> = Vec::new();
    let mut joined = false;
    for pair in points.windows(2) {
        let Some((from, to)) = segment_within(pair[0], pair[1], frame) else {
            joined = false;
            continue;
        };
        match parts.last_mut() {
            Some(part) if joined && part.last() == Some(&from) => part.push(to),
            _ => parts.push(vec![from, to]),
        }
        joined = to == pair[1];
    }
    parts
}

/// Whether a point lies within the frame or on its edge, give or take a hundredth of a pt.
pub fn holds(frame: &Frame, point: &Point) -> bool {
    const SLACK: f64 = 0.01;
    (frame.left - SLACK..=frame.right + SLACK).contains(&point.x)
        && (frame.top - SLACK..=frame.bottom + SLACK).contains(&point.y)
}

/// The part of a segment within the frame, by the shares of it at which it crosses each edge.
fn segment_within(a: Point, b: Point, frame: &Frame) -> Option<(Point, Point)> {
    let (dx, dy) = (b.x - a.x, b.y - a.y);
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    let edges = [
        (-dx, a.x - frame.left),
        (dx, frame.right - a.x),
        (-dy, a.y - frame.top),
        (dy, frame.bottom - a.y),
    ];
    for (towards, room) in edges {
        if towards == 0.0 {
            if room < 0.0 {
                return None;
            }
        } else if towards < 0.0 {
            enter = enter.max(room / towards);
        } else {
            leave = leave.min(room / towards);
        }
    }
    let at = |share: f64| Point { x: a.x + share * dx, y: a.y + share * dy };
    let from = if enter == 0.0 { a } else { at(enter) };
    let to = if leave == 1.0 { b } else { at(leave) };
    (enter <= leave).then_some((from, to))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FRAME: Frame = Frame { left: 0.0, top: 0.0, right: 10.0, bottom: 10.0 };

    fn line(points: &[(f64, f64)]) -> Vec<Point> {
        points.iter().map(|&(x, y)| Point { x, y }).collect()
    }

    #[test]
    fn a_line_inside_stays_whole() {
        let inside = line(&[(1.0, 1.0), (5.0, 9.0), (9.0, 1.0)]);
        assert_eq!(clipped(&inside, &FRAME), [inside]);
    }

    #[test]
    fn a_line_that_leaves_and_returns_is_two_parts() {
        let parts = clipped(&line(&[(1.0, 5.0), (5.0, -5.0), (9.0, 5.0)]), &FRAME);
        assert_eq!(parts, [line(&[(1.0, 5.0), (3.0, 0.0)]), line(&[(7.0, 0.0), (9.0, 5.0)])]);
    }

    #[test]
    fn a_line_outside_is_nothing() {
        assert!(clipped(&line(&[(-5.0, 0.0), (-1.0, 12.0), (4.0, 12.0)]), &FRAME).is_empty());
    }

    proptest! {
        #[test]
        fn no_part_leaves_the_frame(
            points in prop::collection::vec((-20.0..30.0f64, -20.0..30.0f64), 2..12),
        ) {
            let parts = clipped(&line(&points), &FRAME);
            prop_assert!(parts.iter().flatten().all(|p| holds(&FRAME, p)));
        }
    }
}
