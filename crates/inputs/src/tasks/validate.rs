//! The rules for tasks and curves, each of which is a small function.

use std::ops::RangeInclusive;
use std::sync::Arc;

use gleaner_solvers::Rates;
use gleaner_solvers::range::{self, short};

use super::fields::{Fields, Report, whole};
use crate::rows::Number;
use gleaner_domain::{ClassTerms, ScalingCurve, Stamp, TrainingTask};

/// The range of valid priorities, and of the nonzero rates of curves. Within these bounds, the
/// product of a priority and a rate, and the quotient of two rates per node, are within
/// [`range::RATE`]. The input of solvers is therefore valid for any objective.
const RATE: RangeInclusive<f64> = 1e-30..=1e30;

const COST: Number = Number {
    what: "seconds",
    range: range::RESCALE,
};

const PRIORITY: Number = Number {
    what: "a number",
    range: RATE,
};

/// A task as described by its file, without its curve. A field is `None` if it has a fault, which
/// is already in the report.
#[derive(Debug)]
pub(super) struct Draft {
    pub name: Option<String>,
    pub submit: Option<Option<Stamp>>,
    pub deadline: Option<Option<Stamp>>,
    min_nodes: Option<u32>,
    max_nodes: Option<u32>,
    rescale_up: Option<f64>,
    rescale_down: Option<f64>,
    work: Option<f64>,
    priority: Option<f64>,
}

/// A curve as described by its file.
#[derive(Debug, Clone, Default)]
pub(super) struct CurveDraft {
    pub nodes: Arc<[f64]>,
    pub progress: Arc<[f64]>,
    /// If `None`, the objective equals the progress.
    pub objective: Option<Arc<[f64]>>,
}

const CURVE_RULES: [fn(&CurveDraft, &mut Report<'_>); 5] = [
    lists_match,
    starts_at_nothing,
    points_are_whole,
    points_increase,
    rates_are_in_range,
];

impl Draft {
    /// Reads the fields of a task.
    pub fn read(fields: &mut Fields<'_>) -> Self {
        let nodes = "a whole number of nodes, at least 1";
        let priority = fields.maybe("priority", |fields, name| fields.number(name, &PRIORITY));
        Draft {
            name: fields.text("name"),
            submit: fields.time("submit"),
            deadline: fields.time("deadline"),
            min_nodes: fields.whole("min_nodes", 1, nodes),
            max_nodes: fields.whole("max_nodes", 1, nodes),
            rescale_up: fields.number("rescale_up", &COST),
            rescale_down: fields.number("rescale_down", &COST),
            work: fields.work("work"),
            priority: priority.map(|priority| priority.unwrap_or(1.0)),
        }
    }

    /// Returns the task with this curve if it satisfies every rule and has no earlier faults.
    pub fn check(
        self,
        curve: Option<ScalingCurve>,
        report: &mut Report<'_>,
    ) -> Option<TrainingTask> {
        is_named(&self, report);
        min_is_not_above_max(&self, report);
        max_is_on_the_curve(&self, curve.as_ref(), report);
        if !report.faults.is_empty() {
            return None;
        }
        Some(TrainingTask {
            name: self.name?,
            submit: match self.submit? {
                Some(stamp) => stamp.as_written().from_offset(0),
                None => TrainingTask::FROM_START,
            },
            min_nodes: self.min_nodes?,
            max_nodes: self.max_nodes?,
            rescale_up: self.rescale_up?,
            rescale_down: self.rescale_down?,
            work: self.work?,
            priority: self.priority?,
            deadline: self
                .deadline?
                .map(|stamp| stamp.as_written().from_offset(0)),
            rung: 0,
            classes: ClassTerms::default(),
            curve: curve?,
        })
    }
}

impl CurveDraft {
    /// The lists of values at the curve's points, each with the name of its field.
    fn lists(&self) -> impl Iterator<Item = (&'static str, &[f64])> {
        let objective = self.objective.as_deref();
        let objective = objective.map(|values| ("curve.objective", values));
        std::iter::once(("curve.progress", self.progress.as_ref())).chain(objective)
    }

    /// Returns the curve if it satisfies every rule.
    pub fn check(self, report: &mut Report<'_>) -> Option<ScalingCurve> {
        let before = report.faults.len();
        for rule in CURVE_RULES {
            rule(&self, report);
        }
        if report.faults.len() > before {
            return None;
        }
        let nodes = self.nodes.iter().map(|&value| whole(value));
        let progress = Rates::from(self.progress);
        Some(ScalingCurve {
            nodes: nodes.collect::<Option<_>>()?,
            objective: self.objective.map_or_else(|| progress.clone(), Rates::from),
            progress,
        })
    }
}

fn is_named(task: &Draft, report: &mut Report<'_>) {
    if task.name.as_deref() == Some("") {
        report.add("name", "nothing", "a name");
    }
}

fn min_is_not_above_max(task: &Draft, report: &mut Report<'_>) {
    if let (Some(min), Some(max)) = (task.min_nodes, task.max_nodes)
        && min > max
    {
        let expected = format!("at most {max}, which is {}", report.label("max_nodes"));
        report.add("min_nodes", min.to_string(), expected);
    }
}

fn max_is_on_the_curve(task: &Draft, curve: Option<&ScalingCurve>, report: &mut Report<'_>) {
    let last = curve.and_then(|curve| curve.nodes.last());
    if let (Some(max), Some(last)) = (task.max_nodes, last)
        && max > *last
    {
        let expected = format!("at most {last}, the curve's last point");
        report.add("max_nodes", max.to_string(), expected);
    }
}

fn lists_match(curve: &CurveDraft, report: &mut Report<'_>) {
    let points = curve.nodes.len();
    for (field, values) in curve.lists() {
        if values.len() != points {
            let expected = format!("{points}, as many as in {}", report.label("curve.nodes"));
            report.add(field, format!("{} values", values.len()), expected);
        }
    }
}

fn starts_at_nothing(curve: &CurveDraft, report: &mut Report<'_>) {
    match curve.nodes.first() {
        Some(0.0) => {}
        Some(first) => {
            let found = format!("{} as the first point", short(*first));
            return report.add("curve.nodes", found, "0 nodes");
        }
        None => return report.add("curve.nodes", "no points", "points, starting at 0 nodes"),
    }
    for (field, values) in curve.lists() {
        if let Some(value) = values.first().filter(|value| **value > 0.0) {
            let found = format!("{} at 0 nodes", short(*value));
            report.add(field, found, "0 at 0 nodes");
        }
    }
}

fn points_are_whole(curve: &CurveDraft, report: &mut Report<'_>) {
    if let Some(value) = curve.nodes.iter().find(|value| whole(**value).is_none()) {
        report.add("curve.nodes", short(*value), "whole numbers of nodes");
    }
}

fn points_increase(curve: &CurveDraft, report: &mut Report<'_>) {
    if let Some(pair) = curve.nodes.windows(2).find(|pair| pair[1] <= pair[0]) {
        let found = format!("{} after {}", short(pair[1]), short(pair[0]));
        report.add("curve.nodes", found, "increasing numbers of nodes");
    }
}

fn rates_are_in_range(curve: &CurveDraft, report: &mut Report<'_>) {
    let in_range = |rate: &f64| *rate == 0.0 || RATE.contains(rate);
    for (field, values) in curve.lists() {
        if let Some(value) = values.iter().find(|value| !in_range(value)) {
            report.add(field, short(*value), range::or_zero(&RATE));
        }
    }
}
