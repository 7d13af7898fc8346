//! Work per second over time.

use super::nodes::{MEANS, points};
use super::{Named, identity};
use crate::Figure;
use crate::curves::{means, minute};
use crate::figure::{Axis, Curve, Marks, Shape};
use crate::numbers::large;

pub(super) fn figure(runs: &[Named<'_>]) -> Figure {
    let curves = runs.iter().enumerate().map(|(place, run)| {
        let (name, colour) = identity(runs, place, "Throughput");
        Curve {
            name,
            colour,
            shape: Shape::Mean,
            points: points(run.result, |step| step.rate),
            labels: Vec::new(),
        }
    });
    let curves: Vec<Curve> = curves.collect();
    Figure {
        id: "throughput".to_owned(),
        title: "Throughput".to_owned(),
        text: text(runs),
        x: Axis::time(),
        y: Axis::linear("work per second"),
        numbers: means("Work per second, means over time", "from", &curves, minute),
        marks: Marks::Curves(curves),
    }
}

fn text(runs: &[Named<'_>]) -> String {
    let of = |run: &Named<'_>| {
        let s = &run.result.summary;
        large(s.total_work / s.span_seconds.max(f64::MIN_POSITIVE))
    };
    let unit = format!(
        "Work is in the units of the tasks' scaling curves, such as images or samples, summed over \
         all tasks. {MEANS}"
    );
    match runs {
        [run] => format!(
            "All tasks together: on average {} per second, after costs. {unit}",
            of(run)
        ),
        runs => {
            let each = runs.iter().map(|run| format!("{}: {}", run.name, of(run)));
            let each = each.collect::<Vec<_>>().join("; ");
            format!("All tasks together. Average per second, after costs: {each}. {unit}")
        }
    }
}
