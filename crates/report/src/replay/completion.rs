//! Finished tasks over time.

use super::{Named, identity};
use crate::Figure;
use crate::curves::{means, millis, minute};
use crate::figure::{Axis, Colour, Curve, Marks, Shape};
use crate::numbers::count;
use gleaner_domain::Utc;
use gleaner_domain::results::replay::TaskRow;

pub(super) fn figure(runs: &[Named<'_>]) -> Figure {
    let mut curves = Vec::new();
    if let [run] = runs {
        curves.push(Curve {
            name: "Submitted".to_owned(),
            colour: Colour::Muted,
            shape: Shape::Step,
            points: counted(run, |task| Some(task.submit)),
            labels: Vec::new(),
        });
    }
    for (place, run) in runs.iter().enumerate() {
        let (name, colour) = identity(runs, place, "Finished");
        curves.push(Curve {
            name,
            colour,
            shape: Shape::Step,
            points: counted(run, |task| task.end),
            labels: Vec::new(),
        });
    }
    Figure {
        id: "completion".to_owned(),
        title: "Finished tasks".to_owned(),
        text: text(runs),
        x: Axis::time(),
        y: Axis::linear("tasks"),
        numbers: means("Tasks, means over time", "from", &curves, minute),
        marks: Marks::Curves(curves),
    }
}

/// Counts over time the tasks that have passed the time that `of` returns, such as their end. The curve covers all
/// events and all of these times.
fn counted(run: &Named<'_>, of: fn(&TaskRow) -> Option<Utc>) -> Vec<(f64, f64)> {
    let mut times: Vec<Utc> = run.result.tasks.iter().filter_map(of).collect();
    times.sort_unstable();
    let steps = &run.result.steps;
    let mut points = Vec::new();
    if let Some(first) = steps.first().map(|step| step.time) {
        points.push((
            millis(first.min(times.first().copied().unwrap_or(first))),
            0.0,
        ));
    }
    for (before, same) in times.chunk_by(|a, b| a == b).scan(0, |before, same| {
        *before += same.len();
        Some((*before, same))
    }) {
        points.push((millis(same[0]), before as f64));
    }
    let last = steps.last().map(|step| millis(step.time));
    if let (Some(last), Some(&(x, y))) = (last, points.last())
        && last > x
    {
        points.push((last, y));
    }
    points
}

fn text(runs: &[Named<'_>]) -> String {
    let each = runs.iter().map(|run| {
        let s = &run.result.summary;
        let done = format!("{} of {}", count(s.tasks_finished), count(s.tasks));
        match runs {
            [_] => format!("{done} tasks finished"),
            _ => format!("{}: {done} finished", run.name),
        }
    });
    format!("{}.", each.collect::<Vec<_>>().join("; "))
}
