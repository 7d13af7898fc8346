//! Measured learning curves.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Fault;

/// A measured loss.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// The resource that the trial had consumed, at least 0, in the unit of the plan.
    pub resource: f64,
    /// The loss at this resource; not finite if training diverged.
    pub loss: f64,
}

/// The measured losses of trials 0, 1, 2, …
///
/// Between two points the loss is interpolated linearly. Before the first point, the loss equals the
/// loss at the first point. After the last point, it equals the loss at the last point. A loss that is not finite, such
/// as NaN, means that training diverged. The loss at this point then becomes infinite, and so do the losses between
/// this point and the adjacent points.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    trials: Vec<Vec<Point>>,
}

impl Table {
    /// Creates a table from the points of each trial, by trial number.
    ///
    /// # Errors
    /// There is no trial, the trials are not numbered from 0 without gaps, a trial has no points, or a resource is
    /// invalid. A resource is valid if it is finite, not negative, and above the previous resource of the trial.
    /// Returns all faults. A fault identifies a trial by its number (`3`) and a point by its index in the trial:
    /// `3[2].resource` is the resource of the third point of trial 3.
    pub fn new(trials: BTreeMap<u32, Vec<Point>>) -> Result<Self, Vec<Fault>> {
        let mut faults: Vec<Fault> = numbering_fault(&trials).into_iter().collect();
        for (&trial, points) in &trials {
            faults.extend(point_faults(trial, points));
        }
        if faults.is_empty() {
            Ok(Table {
                trials: trials.into_values().map(with_divergence).collect(),
            })
        } else {
            Err(faults)
        }
    }

    /// The number of trials.
    pub fn trials(&self) -> u32 {
        // Trial numbers are `u32`s from 0, so there can be 2^32 trials, one more than a `u32` can hold. In that case, the
        // count is one too low.
        u32::try_from(self.trials.len()).unwrap_or(u32::MAX)
    }

    /// The smallest resource at which a trial has a loss; `None` if the trial is not in the table.
    pub fn start(&self, trial: u32) -> Option<f64> {
        let points = self.trials.get(trial as usize)?;
        points.first().map(|point| point.resource)
    }

    /// The loss of a trial after this resource; NaN if the trial is not in the table.
    pub fn loss(&self, trial: u32, resource: f64) -> f64 {
        let points = self
            .trials
            .get(trial as usize)
            .map_or(&[][..], Vec::as_slice);
        let after = points.partition_point(|point| point.resource < resource);
        let before = after.checked_sub(1).and_then(|before| points.get(before));
        match (before, points.get(after)) {
            // Use the loss of the point itself. Interpolation from a preceding diverged point would
            // multiply 0 by infinity, which is NaN.
            (Some(_), Some(after)) if after.resource == resource => after.loss,
            (Some(before), Some(after)) => on_line(before, after, resource),
            (Some(end), None) | (None, Some(end)) => end.loss,
            (None, None) => f64::NAN,
        }
    }
}

/// The loss at `resource`, interpolated linearly between two points. It is computed as a weighted mean, because the
/// difference of two losses can overflow.
fn on_line(before: &Point, after: &Point, resource: f64) -> f64 {
    let part = (resource - before.resource) / (after.resource - before.resource);
    before.loss * (1.0 - part) + after.loss * part
}

/// Returns the points, with losses that are not finite replaced by infinity.
fn with_divergence(mut points: Vec<Point>) -> Vec<Point> {
    for point in &mut points {
        if !point.loss.is_finite() {
            point.loss = f64::INFINITY;
        }
    }
    points
}

/// The fault in the numbering of the trials, if any.
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
        let resource = point.resource;
        let field = |name: &str| format!("{trial}[{index}].{name}");
        let right = resource.is_finite() && resource >= 0.0;
        let expected = match last {
            _ if !right => Some("a finite number of at least 0".to_owned()),
            Some(last) if resource <= last => Some(format!("above {last}, the previous resource")),
            _ => None,
        };
        faults.extend(expected.map(|what| Fault::new(field("resource"), resource, what)));
        last = if right { Some(resource) } else { last };
    }
    faults
}
