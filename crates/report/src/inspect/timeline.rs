//! Idle nodes over time.

use crate::Figure;
use crate::curves::{means, millis, minute};
use crate::figure::{Axis, Colour, Curve, Marks, Shape};
use crate::numbers::number;
use gleaner_domain::words::duration;
use gleaner_inspect::Inspection;

/// The figure; `None` if the log covers no time.
pub(super) fn figure(log: &Inspection) -> Option<Figure> {
    let (from, to) = log.span;
    let timeline = &log.timeline;
    let last = *timeline.idle_nodes.last()?;
    let width = 1e3 * timeline.step_seconds;
    let steps = timeline.idle_nodes.iter().enumerate();
    let mut points: Vec<(f64, f64)> = steps
        .map(|(step, idle)| (millis(from) + width * step as f64, *idle))
        .collect();
    points.push((millis(to), last));
    let curves = vec![Curve {
        name: "Idle".to_owned(),
        colour: Colour::Series(0),
        shape: Shape::Area,
        points,
        labels: Vec::new(),
    }];
    Some(Figure {
        id: "timeline".to_owned(),
        title: "Idle nodes over time".to_owned(),
        text: format!(
            "Each step shows a mean over {}. {} nodes are idle on average.",
            duration(timeline.step_seconds),
            number(log.idle_nodes_mean)
        ),
        x: Axis::time(),
        y: Axis::linear("nodes"),
        numbers: means("Idle nodes, means over time", "from", &curves, minute),
        marks: Marks::Curves(curves),
    })
}
