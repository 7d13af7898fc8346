//! The durations for which tasks held nodes.

use super::{Named, id_of};
use crate::Figure;
use crate::figure::Axis;
use crate::lengths::marks;
use crate::numbers::{count, part};
use gleaner_runs::lengths::{Class, Lengths};

/// Bounds of the length classes, in seconds.
const BOUNDS: [f64; 8] = [
    60.0, 300.0, 600.0, 1_800.0, 3_600.0, 7_200.0, 21_600.0, 86_400.0,
];

pub(super) fn figure(run: &Named<'_>) -> Figure {
    let lengths = lengths(run);
    let (all, short) = (lengths.count(), lengths.under(600.0));
    Figure {
        id: id_of("holds", run),
        title: "How long tasks held a node".to_owned(),
        text: format!(
            "Each time is measured from when a task gets a node until the task returns or loses it. {} of the {} times \
             are shorter than 10 minutes and make up {} of the node-time.",
            part(short.0 as f64, all as f64),
            count(all),
            part(short.1, lengths.seconds()),
        ),
        x: Axis::names("", lengths.names()),
        y: Axis::linear("% of all"),
        numbers: lengths.grid("How long tasks held a node"),
        marks: marks(&lengths),
    }
}

fn lengths(run: &Named<'_>) -> Lengths {
    let class = |place: usize| Class {
        from: place.checked_sub(1).map_or(0.0, |before| BOUNDS[before]),
        to: BOUNDS.get(place).copied(),
        count: 0,
        seconds: 0.0,
    };
    let mut classes: Vec<Class> = (0..=BOUNDS.len()).map(class).collect();
    for hold in &run.result.allocations {
        let seconds = hold.to.seconds_since(hold.from);
        let class = &mut classes[BOUNDS.partition_point(|bound| *bound <= seconds)];
        class.count += 1;
        class.seconds += seconds;
    }
    Lengths {
        classes,
        counted: "Times",
        summed: "Node-time",
        unit: "node-hours",
    }
}
