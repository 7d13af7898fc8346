//! Idle nodes and used nodes over time.

use super::{Named, identity};
use crate::Figure;
use crate::curves::{means, millis, minute};
use crate::figure::{Axis, Colour, Curve, Marks, Shape};
use crate::numbers::{number, part};
use gleaner_core::results::replay::StepRow;
use gleaner_formats::ingest::runs::ReplayRun;

pub(super) fn figure(runs: &[Named<'_>]) -> Figure {
    let mut curves: Vec<Curve> = idle(runs).into_iter().collect();
    for (place, run) in runs.iter().enumerate() {
        let (name, colour) = identity(runs, place, "Used by training");
        let shape = if runs.len() == 1 {
            Shape::Area
        } else {
            Shape::Step
        };
        curves.push(Curve {
            name,
            colour,
            shape,
            points: points(run.result, |step| step.nodes_used.into()),
            labels: Vec::new(),
        });
    }
    Figure {
        id: "nodes".to_owned(),
        title: "Idle and used nodes".to_owned(),
        text: text(runs),
        x: Axis::time(),
        y: Axis::linear("nodes"),
        numbers: means("Nodes, means over time", "from", &curves, minute),
        marks: Marks::Curves(curves),
    }
}

/// The idle nodes of the run that ends last.
fn idle(runs: &[Named<'_>]) -> Option<Curve> {
    let end = |run: &&Named<'_>| run.result.steps.last().map(|step| step.time);
    let longest = runs.iter().rev().max_by_key(end)?;
    Some(Curve {
        name: match runs {
            [_] => "Idle".to_owned(),
            _ => format!("Idle ({})", longest.name),
        },
        colour: Colour::Muted,
        shape: Shape::Area,
        points: points(longest.result, |step| step.nodes_idle.into()),
        labels: Vec::new(),
    })
}

/// A curve of a quantity in a replay's steps.
pub(super) fn points(run: &ReplayRun, of: fn(&StepRow) -> f64) -> Vec<(f64, f64)> {
    let steps = run.steps.iter();
    steps.map(|step| (millis(step.time), of(step))).collect()
}

fn text(runs: &[Named<'_>]) -> String {
    let of = |run: &Named<'_>| {
        let s = &run.result.summary;
        let mean = s.used_node_seconds / s.span_seconds.max(f64::MIN_POSITIVE);
        (
            number(s.idle_nodes_mean()),
            number(mean),
            part(mean, s.idle_nodes_mean()),
        )
    };
    match runs {
        [run] => {
            let (idle, used, share) = of(run);
            format!(
                "On average {idle} nodes were idle, and training used {used} of them ({share})."
            )
        }
        runs => {
            let each = runs.iter().map(|run| {
                let (idle, used, share) = of(run);
                format!("{} used {used} of {idle} ({share})", run.name)
            });
            format!("Nodes on average: {}.", each.collect::<Vec<_>>().join("; "))
        }
    }
}
