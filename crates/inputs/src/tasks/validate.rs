//! The rules for tasks and curves, with one small function for each.

use std::ops::RangeInclusive;
use std::sync::Arc;

use gleaner_solvers::Rates;
use gleaner_solvers::range::{self, short};

use super::fields::{Labels, Report};
use gleaner_core::domain::{ScalingCurve, Stamp, TrainingTask};

/// A task as its file states it. A field is `None` if it has a fault, which was already added.
#[derive(Debug, Clone, Default)]
pub(super) struct Draft {
    pub name: Option<String>,
    pub submit: Option<Option<Stamp>>,
    pub deadline: Option<Option<Stamp>>,
    pub min_nodes: Option<f64>,
    pub max_nodes: Option<f64>,
    pub rescale_up: Option<f64>,
    pub rescale_down: Option<f64>,
    pub work: Option<f64>,
    pub priority: Option<f64>,
    pub curve: Option<ScalingCurve>,
}

/// A curve as its file states it.
#[derive(Debug, Clone, Default)]
pub(super) struct CurveDraft {
    pub nodes: Arc<[f64]>,
    pub progress: Arc<[f64]>,
    /// If `None`, the progress is used.
    pub objective: Option<Arc<[f64]>>,
}

/// Allowed priorities, and allowed rates of curves besides 0. With these limits, products of the
/// two and quotients of two rates per node are within [`range::RATE`]. So the input of solvers is
/// valid for any objective.
const RATE: RangeInclusive<f64> = 1e-30..=1e30;

const TASK_RULES: [fn(&Draft, &mut Report<'_>); 7] = [
    is_named,
    counts_are_whole,
    counts_are_at_least_one,
    min_is_not_above_max,
    max_is_on_the_curve,
    costs_are_in_range,
    priority_is_in_range,
];

const CURVE_RULES: [fn(&CurveDraft, &mut Report<'_>); 5] = [
    lists_match,
    starts_at_nothing,
    points_are_whole,
    points_increase,
    rates_are_in_range,
];

impl Draft {
    /// Returns the task, if it keeps every rule and no fault was found before.
    pub fn check(self, report: &mut Report<'_>) -> Option<TrainingTask> {
        for rule in TASK_RULES {
            rule(&self, report);
        }
        if !report.faults.is_empty() {
            return None;
        }
        Some(TrainingTask {
            name: self.name?,
            submit: match self.submit? {
                Some(stamp) => stamp.as_written(),
                None => TrainingTask::FROM_START,
            },
            min_nodes: count(self.min_nodes?)?,
            max_nodes: count(self.max_nodes?)?,
            rescale_up: self.rescale_up?,
            rescale_down: self.rescale_down?,
            work: self.work?,
            priority: self.priority?,
            deadline: self.deadline?.map(Stamp::as_written),
            rung: 0,
            curve: self.curve?,
        })
    }
}

impl CurveDraft {
    /// The lists of values at the points, each with its name in the format.
    fn lists(&self, labels: &Labels) -> impl Iterator<Item = (&'static str, &[f64])> + use<'_> {
        let progress = (labels.progress, self.progress.as_ref());
        let objective = labels.objective;
        let given = self.objective.as_deref().map(|values| (objective, values));
        std::iter::once(progress).chain(given)
    }

    /// Returns the curve, if it keeps every rule.
    pub fn check(self, report: &mut Report<'_>) -> Option<ScalingCurve> {
        let before = report.faults.len();
        for rule in CURVE_RULES {
            rule(&self, report);
        }
        if report.faults.len() > before {
            return None;
        }
        let nodes = self.nodes.iter().map(|&value| count(value));
        let progress = Rates::from(self.progress);
        Some(ScalingCurve {
            nodes: nodes.collect::<Option<_>>()?,
            objective: self.objective.map_or_else(|| progress.clone(), Rates::from),
            progress,
        })
    }
}

/// Converts a number to a number of nodes; `None` if it is not a whole number in range.
fn count(value: f64) -> Option<u32> {
    let whole = value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&value);
    whole.then_some(value as u32)
}

fn is_named(task: &Draft, report: &mut Report<'_>) {
    if task.name.as_deref() == Some("") {
        report.add(report.labels.name, "nothing", "a name");
    }
}

/// The task's bounds that are given, each with its name in the format.
fn counts(task: &Draft, labels: &Labels) -> impl Iterator<Item = (&'static str, f64)> + use<> {
    let min = task.min_nodes.map(|value| (labels.min_nodes, value));
    let max = task.max_nodes.map(|value| (labels.max_nodes, value));
    min.into_iter().chain(max)
}

fn counts_are_whole(task: &Draft, report: &mut Report<'_>) {
    for (field, value) in counts(task, report.labels) {
        if count(value).is_none() {
            report.add(field, short(value), "a whole number of nodes, at least 1");
        }
    }
}

fn counts_are_at_least_one(task: &Draft, report: &mut Report<'_>) {
    for (field, value) in counts(task, report.labels) {
        // If the value is not a number of nodes at all, the previous rule reports it.
        if count(value) == Some(0) {
            report.add(field, short(value), "at least 1 node");
        }
    }
}

fn min_is_not_above_max(task: &Draft, report: &mut Report<'_>) {
    if let (Some(min), Some(max)) = (task.min_nodes, task.max_nodes)
        && min > max
    {
        let expected = format!(
            "at most {}, which is {}",
            short(max),
            report.labels.max_nodes
        );
        report.add(report.labels.min_nodes, short(min), expected);
    }
}

fn max_is_on_the_curve(task: &Draft, report: &mut Report<'_>) {
    let last = task.curve.as_ref().and_then(|curve| curve.nodes.last());
    if let (Some(max), Some(last)) = (task.max_nodes, last)
        && max > f64::from(*last)
    {
        let expected = format!("at most {last}, the curve's last point");
        report.add(report.labels.max_nodes, short(max), expected);
    }
}

fn costs_are_in_range(task: &Draft, report: &mut Report<'_>) {
    let labels = report.labels;
    let costs = [
        (labels.rescale_up, task.rescale_up),
        (labels.rescale_down, task.rescale_down),
    ];
    for (field, cost) in costs {
        if let Some(cost) = cost.filter(|cost| !range::RESCALE.contains(cost)) {
            report.add(field, short(cost), range::seconds(&range::RESCALE));
        }
    }
}

fn priority_is_in_range(task: &Draft, report: &mut Report<'_>) {
    if let Some(priority) = task.priority.filter(|priority| !RATE.contains(priority)) {
        let (low, high) = (short(*RATE.start()), short(*RATE.end()));
        let expected = format!("a number from {low} to {high}");
        report.add(report.labels.priority, short(priority), expected);
    }
}

fn lists_match(curve: &CurveDraft, report: &mut Report<'_>) {
    let (labels, points) = (report.labels, curve.nodes.len());
    for (field, values) in curve.lists(labels) {
        if values.len() != points {
            let expected = format!("{points}, as many as in {}", labels.nodes);
            report.add(field, format!("{} values", values.len()), expected);
        }
    }
}

fn starts_at_nothing(curve: &CurveDraft, report: &mut Report<'_>) {
    let labels = report.labels;
    match curve.nodes.first() {
        Some(0.0) => {}
        Some(first) => {
            report.add(
                labels.nodes,
                format!("{} as the first point", short(*first)),
                "0 nodes",
            );
            return;
        }
        None => {
            report.add(labels.nodes, "no points", "points from 0 nodes on");
            return;
        }
    }
    for (field, values) in curve.lists(labels) {
        if let Some(value) = values.first().filter(|value| **value > 0.0) {
            report.add(
                field,
                format!("{} at 0 nodes", short(*value)),
                "0 at 0 nodes",
            );
        }
    }
}

fn points_are_whole(curve: &CurveDraft, report: &mut Report<'_>) {
    if let Some(value) = curve.nodes.iter().find(|value| count(**value).is_none()) {
        report.add(report.labels.nodes, short(*value), "whole numbers of nodes");
    }
}

fn points_increase(curve: &CurveDraft, report: &mut Report<'_>) {
    if let Some(pair) = curve.nodes.windows(2).find(|pair| pair[1] <= pair[0]) {
        let found = format!("{} after {}", short(pair[1]), short(pair[0]));
        report.add(report.labels.nodes, found, "increasing numbers of nodes");
    }
}

fn rates_are_in_range(curve: &CurveDraft, report: &mut Report<'_>) {
    let in_range = |rate: &f64| *rate == 0.0 || RATE.contains(rate);
    for (field, values) in curve.lists(report.labels) {
        if let Some(value) = values.iter().find(|value| !in_range(value)) {
            report.add(field, short(*value), range::or_zero(&RATE));
        }
    }
}
