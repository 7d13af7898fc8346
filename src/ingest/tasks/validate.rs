//! The rules that tasks and curves must keep: one small function each.

use super::fields::{Labels, Report};
use crate::domain::{ScalingCurve, Stamp, TrainingTask};

/// A task as its file states it; `None` where that is a fault already.
#[derive(Debug, Clone, Default)]
pub(super) struct Draft {
    pub name: Option<String>,
    pub submit: Option<Option<Stamp>>,
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
    pub nodes: Vec<f64>,
    pub progress: Vec<f64>,
    /// The progress where it is `None`.
    pub objective: Option<Vec<f64>>,
}

const TASK_RULES: [fn(&Draft, &mut Report<'_>); 8] = [
    is_named,
    counts_are_whole,
    counts_are_at_least_one,
    min_is_not_above_max,
    max_is_on_the_curve,
    costs_are_not_negative,
    work_is_positive,
    priority_is_positive,
];

const CURVE_RULES: [fn(&CurveDraft, &mut Report<'_>); 5] = [
    lists_match,
    starts_at_nothing,
    points_are_whole,
    points_increase,
    values_are_sound,
];

impl Draft {
    /// The task, where it keeps every rule and no fault was found before.
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
            curve: self.curve?,
        })
    }
}

impl CurveDraft {
    /// The values at the points, with what the format calls them.
    fn lists(&self, labels: &Labels) -> impl Iterator<Item = (&'static str, &[f64])> + use<'_> {
        let progress = (labels.progress, self.progress.as_slice());
        let objective = labels.objective;
        let given = self.objective.as_deref().map(|values| (objective, values));
        std::iter::once(progress).chain(given)
    }

    /// The curve, where it keeps every rule.
    pub fn check(self, report: &mut Report<'_>) -> Option<ScalingCurve> {
        let before = report.faults.len();
        for rule in CURVE_RULES {
            rule(&self, report);
        }
        if report.faults.len() > before {
            return None;
        }
        Some(ScalingCurve {
            nodes: self.nodes.into_iter().map(count).collect::<Option<_>>()?,
            objective: self.objective.unwrap_or_else(|| self.progress.clone()),
            progress: self.progress,
        })
    }
}

/// A whole number of nodes.
fn count(value: f64) -> Option<u32> {
    let whole = value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&value);
    whole.then_some(value as u32)
}

fn is_named(task: &Draft, report: &mut Report<'_>) {
    if task.name.as_deref() == Some("") {
        report.add(report.labels.name, "nothing", "a name");
    }
}

/// The task's least and most nodes, as far as they are given.
fn counts(task: &Draft, labels: &Labels) -> impl Iterator<Item = (&'static str, f64)> + use<> {
    let min = task.min_nodes.map(|value| (labels.min_nodes, value));
    let max = task.max_nodes.map(|value| (labels.max_nodes, value));
    min.into_iter().chain(max)
}

fn counts_are_whole(task: &Draft, report: &mut Report<'_>) {
    for (field, value) in counts(task, report.labels) {
        if count(value).is_none() {
            report.add(
                field,
                value.to_string(),
                "a whole number of nodes, at least 1",
            );
        }
    }
}

fn counts_are_at_least_one(task: &Draft, report: &mut Report<'_>) {
    for (field, value) in counts(task, report.labels) {
        // What is no count is the rule before's.
        if count(value) == Some(0) {
            report.add(field, value.to_string(), "at least 1 node");
        }
    }
}

fn min_is_not_above_max(task: &Draft, report: &mut Report<'_>) {
    if let (Some(min), Some(max)) = (task.min_nodes, task.max_nodes)
        && min > max
    {
        let expected = format!("at most {max}, which is {}", report.labels.max_nodes);
        report.add(report.labels.min_nodes, min.to_string(), expected);
    }
}

fn max_is_on_the_curve(task: &Draft, report: &mut Report<'_>) {
    let last = task.curve.as_ref().and_then(|curve| curve.nodes.last());
    if let (Some(max), Some(last)) = (task.max_nodes, last)
        && max > f64::from(*last)
    {
        let expected = format!("at most {last}, the curve's last point");
        report.add(report.labels.max_nodes, max.to_string(), expected);
    }
}

fn costs_are_not_negative(task: &Draft, report: &mut Report<'_>) {
    let labels = report.labels;
    let costs = [
        (labels.rescale_up, task.rescale_up),
        (labels.rescale_down, task.rescale_down),
    ];
    for (field, cost) in costs {
        if let Some(cost) = cost.filter(|cost| !is_sound(*cost)) {
            report.add(field, cost.to_string(), "seconds of at least 0");
        }
    }
}

fn work_is_positive(task: &Draft, report: &mut Report<'_>) {
    if let Some(work) = task.work.filter(|work| !(is_sound(*work) && *work > 0.0)) {
        report.add(report.labels.work, work.to_string(), "a number above 0");
    }
}

fn priority_is_positive(task: &Draft, report: &mut Report<'_>) {
    let sound = |priority: &f64| is_sound(*priority) && *priority > 0.0;
    if let Some(priority) = task.priority.filter(|priority| !sound(priority)) {
        let field = report.labels.priority;
        report.add(field, priority.to_string(), "a number above 0");
    }
}

/// Finite and not negative.
fn is_sound(value: f64) -> bool {
    value.is_finite() && value >= 0.0
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
                format!("{first} as the first point"),
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
            report.add(field, format!("{value} at 0 nodes"), "0 at 0 nodes");
        }
    }
}

fn points_are_whole(curve: &CurveDraft, report: &mut Report<'_>) {
    if let Some(value) = curve.nodes.iter().find(|value| count(**value).is_none()) {
        report.add(
            report.labels.nodes,
            value.to_string(),
            "whole numbers of nodes",
        );
    }
}

fn points_increase(curve: &CurveDraft, report: &mut Report<'_>) {
    if let Some(pair) = curve.nodes.windows(2).find(|pair| pair[1] <= pair[0]) {
        let found = format!("{} after {}", pair[1], pair[0]);
        report.add(report.labels.nodes, found, "increasing numbers of nodes");
    }
}

fn values_are_sound(curve: &CurveDraft, report: &mut Report<'_>) {
    for (field, values) in curve.lists(report.labels) {
        if let Some(value) = values.iter().find(|value| !is_sound(**value)) {
            report.add(field, value.to_string(), "numbers of at least 0");
        }
    }
}
