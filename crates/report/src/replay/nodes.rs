//! Idle nodes and used nodes over time.

use super::{Named, identity};
use crate::Figure;
use crate::curves::{means, millis, minute};
use crate::figure::{Axis, Colour, Curve, Marks, Shape};
use crate::numbers::{number, part};
use gleaner_domain::results::replay::StepRow;
use gleaner_runs::read::ReplayRun;

pub(super) fn figure(runs: &[Named<'_>]) -> Figure {
    let curves: Vec<Curve> = match runs {
        [run] => of_one(run.result).to_vec(),
        runs => idle(runs).into_iter().chain(used(runs)).collect(),
    };
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

/// Draws the idle nodes as an area, and the nodes used by training as an area over it. The unused nodes are also drawn
/// as a line, because the difference between the areas can be too small to see.
fn of_one(run: &ReplayRun) -> [Curve; 3] {
    let curve = |name: &str, colour: Colour, shape: Shape, of: fn(&StepRow) -> f64| Curve {
        name: name.to_owned(),
        colour,
        shape,
        points: points(run, of),
        labels: Vec::new(),
    };
    [
        curve("Idle", Colour::Muted, Shape::MeanArea, |step| {
            step.nodes_idle.into()
        }),
        curve(
            "Used by training",
            Colour::Series(0),
            Shape::MeanArea,
            |step| step.nodes_used.into(),
        ),
        curve("Unused", Colour::Series(1), Shape::Mean, |step| {
            f64::from(step.nodes_idle) - f64::from(step.nodes_used)
        }),
    ]
}

/// The idle nodes of the run that ends last.
fn idle(runs: &[Named<'_>]) -> Option<Curve> {
    let end = |run: &&Named<'_>| run.result.steps.last().map(|step| step.time);
    let longest = runs.iter().rev().max_by_key(end)?;
    Some(Curve {
        name: format!("Idle ({})", longest.name),
        colour: Colour::Muted,
        shape: Shape::MeanArea,
        points: points(longest.result, |step| step.nodes_idle.into()),
        labels: Vec::new(),
    })
}

fn used<'a>(runs: &'a [Named<'a>]) -> impl Iterator<Item = Curve> + 'a {
    runs.iter().enumerate().map(|(place, run)| {
        let (name, colour) = identity(runs, place, "Used by training");
        Curve {
            name,
            colour,
            shape: Shape::Mean,
            points: points(run.result, |step| step.nodes_used.into()),
            labels: Vec::new(),
        }
    })
}

/// The points of a curve: the time of each step of a replay, and the quantity that `of` returns for the step.
pub(super) fn points(run: &ReplayRun, of: fn(&StepRow) -> f64) -> Vec<(f64, f64)> {
    let steps = run.steps.iter();
    steps.map(|step| (millis(step.time), of(step))).collect()
}

/// Explanation of curves of means, for the texts of figures.
pub(super) const MEANS: &str = "Each point is the mean over an interval of the visible range: zoom in to see individual events.";

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
                "On average, {idle} nodes were idle, and training used {used} of them ({share}). {MEANS}"
            )
        }
        runs => {
            let each = runs.iter().map(|run| {
                let (idle, used, share) = of(run);
                format!("{} used {used} of {idle} ({share})", run.name)
            });
            let each = each.collect::<Vec<_>>().join("; ");
            format!("Nodes on average: {each}. {MEANS}")
        }
    }
}
