//! Trials that reached each rung, over time.

use super::Searched;
use super::clock;
use super::told::resource;
use crate::Figure;
use crate::curves::means;
use crate::figure::{Axis, Colour, Curve, Marks, SERIES, Shape};
use crate::numbers::count;
use crate::replay::id_of;
use gleaner_domain::results::search::{RungRow, TrialEvent};

/// Maximum number of points on a curve, apart from the first and the last.
const MAX_TIMES: usize = 30_000;

/// Charts the number of trials at each rung. `is_alone` is true if the page has no other search.
pub(super) fn figure(run: &Searched<'_>, is_alone: bool) -> Figure {
    let shown = shown(run.outcome.rungs.len());
    let curves = curves(run, &shown);
    Figure {
        id: id_of("rungs", &run.run),
        title: if is_alone {
            "Trials at each rung".to_owned()
        } else {
            format!("Trials at each rung: {}", run.run.name)
        },
        text: text(run, shown.len()),
        x: clock::axis(),
        y: Axis::linear("trials"),
        numbers: means("Trials, means over time", "from hour", &curves, |at| {
            format!("{at:.1}")
        }),
        marks: Marks::Curves(curves),
    }
}

/// The curves of the rungs `shown`. All curves have points at the same times, so that the page
/// shows their values together.
fn curves(run: &Searched<'_>, shown: &[usize]) -> Vec<Curve> {
    let curve = |(number, &rung): (usize, &usize)| Curve {
        name: format!("Resource {}", resource(run.outcome.rungs[rung].resource)),
        colour: Colour::Series(number),
        shape: Shape::Step,
        points: vec![(0.0, 0.0)],
        labels: Vec::new(),
    };
    let mut curves: Vec<Curve> = shown.iter().enumerate().map(curve).collect();
    let reached = reached(run);
    let times = || reached.chunk_by(|a, b| a.0 == b.0);
    let end = clock::at(run, run.to);
    let every = times().count().div_ceil(MAX_TIMES).max(1);
    let mut counts = vec![0_u64; run.outcome.rungs.len()];
    for (number, same) in times().enumerate() {
        same.iter().for_each(|(_, rung)| counts[*rung] += 1);
        if number % every == 0 && same[0].0 < end {
            add(&mut curves, same[0].0, shown, &counts);
        }
    }
    add(&mut curves, end, shown, &counts);
    curves
}

/// Adds a point at time `x` to each curve.
fn add(curves: &mut [Curve], x: f64, shown: &[usize], counts: &[u64]) {
    for (curve, &rung) in curves.iter_mut().zip(shown) {
        curve.points.push((x, counts[rung] as f64));
    }
}

/// The times at which trials reached a rung, in order: each is a position on the axis, paired with the index of the
/// rung.
fn reached(run: &Searched<'_>) -> Vec<(f64, usize)> {
    let rungs = &run.outcome.rungs;
    let events = run.outcome.events.iter();
    let reached = events.filter(|event| event.event == TrialEvent::Reached);
    let placed = reached.filter_map(|event| {
        let by_resource = |rung: &RungRow| rung.resource.total_cmp(&event.resource);
        let rung = rungs.binary_search_by(by_resource).ok()?;
        Some((clock::at(run, event.time), rung))
    });
    placed.collect()
}

/// The rungs that are drawn. If there are more rungs than colours, one rung is drawn for each colour, evenly spaced
/// from the first rung to the last.
fn shown(rungs: usize) -> Vec<usize> {
    match rungs {
        0..=SERIES => (0..rungs).collect(),
        _ => (0..SERIES)
            .map(|place| place * (rungs - 1) / (SERIES - 1))
            .collect(),
    }
}

fn text(run: &Searched<'_>, shown: usize) -> String {
    let rungs = &run.outcome.rungs;
    let reached = rungs.iter().map(|rung| {
        format!(
            "{} at resource {}",
            count(rung.trials),
            resource(rung.resource)
        )
    });
    let mut text =
        "Number of trials that have reached each rung. A rung is named by its resource.".to_owned();
    text += &if shown < rungs.len() {
        format!(" {shown} of the {} rungs are drawn.", rungs.len())
    } else {
        format!(" At the end: {}.", reached.collect::<Vec<_>>().join(", "))
    };
    let mut trials = run.outcome.trials.windows(2);
    if trials.any(|pair| pair[0].bracket != pair[1].bracket) {
        text += " Trials of some brackets begin above the lowest rung.";
    }
    text
}
