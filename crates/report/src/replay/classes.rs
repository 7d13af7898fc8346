//! The section about node classes in a replay.

use gleaner_domain::results::classes::{ClassOutcome, ClassRow};
use gleaner_runs::classes;

use super::nodes::MEANS;
use super::{Named, id_of};
use crate::curves::{means, millis, minute};
use crate::figure::{Axis, Colour, Curve, Marks, Shape};
use crate::{Block, Figure};

/// Tables and figures by class; empty if the log has only one class.
pub(super) fn blocks(run: &Named<'_>) -> Vec<Block> {
    let Some(outcome) = &run.result.classes else {
        return Vec::new();
    };
    let mut blocks = vec![
        Block::Grid(classes::totals(outcome)),
        Block::figure(nodes(run, outcome)),
        Block::figure(prices(run, outcome)),
        Block::Grid(classes::moves(outcome)),
    ];
    if let Some(class_of_node) = &run.result.class_of_node {
        let held = run.result.allocations.iter().map(|row| {
            let task = &run.result.tasks[row.task as usize].name;
            let class = &class_of_node[row.node as usize];
            (
                task.as_str(),
                class.as_str(),
                row.to.seconds_since(row.from),
            )
        });
        blocks.push(Block::Grid(classes::tasks(outcome, held)));
    }
    blocks
}

fn rows(outcome: &ClassOutcome) -> impl Iterator<Item = &[ClassRow]> {
    outcome.rows.chunks(outcome.totals.len().max(1))
}

/// Stacked areas of the used nodes of each class, drawn over the idle nodes of all classes.
fn nodes(run: &Named<'_>, outcome: &ClassOutcome) -> Figure {
    let curve = |name: String, colour, of: &dyn Fn(&[ClassRow]) -> u32| Curve {
        name,
        colour,
        shape: Shape::MeanArea,
        points: rows(outcome)
            .map(|rows| (millis(rows[0].time), f64::from(of(rows))))
            .collect(),
        labels: Vec::new(),
    };
    let idle = curve("Idle".to_owned(), Colour::Muted, &|rows| {
        rows.iter().map(|row| row.nodes_idle).sum()
    });
    // Each area reaches down to the axis, because the areas in front of it hide its lower part.
    let used = outcome
        .totals
        .iter()
        .enumerate()
        .rev()
        .map(|(class, total)| {
            curve(
                format!("Used in {}", total.class),
                Colour::Series(class),
                &|rows| rows[..=class].iter().map(|row| row.nodes_used).sum(),
            )
        });
    let curves: Vec<Curve> = std::iter::once(idle).chain(used).collect();
    Figure {
        id: id_of("classes", run),
        title: "Used nodes by class".to_owned(),
        text: format!("The areas of used nodes are stacked by class. {MEANS}"),
        x: Axis::time(),
        y: Axis::linear("nodes"),
        numbers: means(
            "Cumulative nodes by class, means over time",
            "from",
            &curves,
            minute,
        ),
        marks: Marks::Curves(curves),
    }
}

/// The price of a node in each class, over time.
fn prices(run: &Named<'_>, outcome: &ClassOutcome) -> Figure {
    let curves = outcome
        .totals
        .iter()
        .enumerate()
        .map(|(class, total)| Curve {
            name: total.class.to_string(),
            colour: Colour::Series(class),
            shape: Shape::Mean,
            points: rows(outcome)
                .filter_map(|rows| {
                    let row = rows.get(class)?;
                    Some((millis(row.time), row.price?))
                })
                .collect(),
            labels: Vec::new(),
        });
    let curves: Vec<Curve> = curves.collect();
    Figure {
        id: id_of("prices", run),
        title: "Value of one more idle node".to_owned(),
        text: format!(
            "The exact solver's price of each class: roughly how much one more idle node would add to the objective per \
             second. A class without idle nodes has no price. {MEANS}"
        ),
        x: Axis::time(),
        y: Axis::linear("objective per second"),
        numbers: means("Prices, means over time", "from", &curves, minute),
        marks: Marks::Curves(curves),
    }
}
