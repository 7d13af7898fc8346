//! Learning curves that were measured.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Fault;

/// A measured loss.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// The resource that the trial had consumed, at least 0, in the unit of the plan.
    pub resource: f64,
    /// The loss then.
    pub loss: f64,
}

/// The measured losses of trials 0, 1, 2, …
///
/// Between two points a loss is on the line between them. Before the first point it is the first one's, after
/// the last point the last one's.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    trials: Vec<Vec<Point>>,
}

impl Table {
    /// A table of the points of each trial, by its number.
    ///
    /// # Errors
    /// All faults: there are no trials, or not just the numbers from 0; a trial without points; a resource
    /// below 0, or not above the one before; a number that is not finite. They name points as
    /// `3[2].resource`, the third of trial 3, and trials as `3`.
    pub fn new(trials: BTreeMap<u32, Vec<Point>>) -> Result<Self, Vec<Fault>> {
        let mut faults: Vec<Fault> = numbering_fault(&trials).into_iter().collect();
        for (&trial, points) in &trials {
            faults.extend(point_faults(trial, points));
        }
        match faults.is_empty() {
            true => Ok(Table {
                trials: trials.into_values().collect(),
            }),
            false => Err(faults),
        }
    }

    /// How many trials there are.
    pub fn trials(&self) -> u32 {
        // Their numbers are whole numbers of 32 bits, from 0.
        u32::try_from(self.trials.len()).unwrap_or(u32::MAX)
    }

    /// The loss of a trial after this resource; NaN if there is no such trial.
    pub fn loss(&self, trial: u32, resource: f64) -> f64 {
        let points = self
            .trials
            .get(trial as usize)
            .map_or(&[][..], Vec::as_slice);
        let after = points.partition_point(|point| point.resource < resource);
        let before = after.checked_sub(1).and_then(|before| points.get(before));
        match (before, points.get(after)) {
            (Some(before), Some(after)) => on_line(before, after, resource),
            (Some(end), None) | (None, Some(end)) => end.loss,
            (None, None) => f64::NAN,
        }
    }
}

/// The loss between two points. It is a weighted mean, as the difference of two losses may overflow.
fn on_line(before: &Point, after: &Point, resource: f64) -> f64 {
    let part = (resource - before.resource) / (after.resource - before.resource);
    before.loss * (1.0 - part) + after.loss * part
}

/// What is wrong with the numbers of the trials.
fn numbering_fault(trials: &BTreeMap<u32, Vec<Point>>) -> Option<Fault> {
    if trials.is_empty() {
        return Some(Fault::new("trials", "nothing", "at least one trial"));
    }
    let skipping = (0..).zip(trials.keys()).find(|(due, trial)| due != *trial);
    skipping.map(|(due, trial)| {
        let expected = format!("trial {due}: trials are numbered 0, 1, 2, …");
        Fault::new("trials", format!("trial {trial}"), expected)
    })
}

fn point_faults(trial: u32, points: &[Point]) -> Vec<Fault> {
    if points.is_empty() {
        let expected = "at least one point";
        return vec![Fault::new(trial.to_string(), "nothing", expected)];
    }
    let mut faults = Vec::new();
    let mut last = None;
    for (index, point) in points.iter().enumerate() {
        let Point { resource, loss } = *point;
        let field = |name: &str| format!("{trial}[{index}].{name}");
        let right = resource.is_finite() && resource >= 0.0;
        let expected = match last {
            _ if !right => Some("a finite number of at least 0".to_owned()),
            Some(last) if resource <= last => Some(format!("above {last}, the one before")),
            _ => None,
        };
        faults.extend(expected.map(|what| Fault::new(field("resource"), resource, what)));
        last = if right { Some(resource) } else { last };
        if !loss.is_finite() {
            faults.push(Fault::new(field("loss"), loss, "a finite number"));
        }
    }
    faults
}
