//! The rules for tasks and curves. Each rule is a small function.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use gleaner_classes::Counts;
use gleaner_solvers::Rates;
use gleaner_solvers::range::{self, short};

use super::by_class::{ByClass, COUNTS};
use super::curves::{Curves, TaskCurve};
use super::fields::{Fields, Format, Report, whole};
use super::node::Node;
use crate::rows::Number;
use gleaner_domain::{ClassTerms, ScalingCurve, Stamp, TrainingTask};

/// The range of valid priorities, and of the nonzero rates of curves. Within these bounds, the product of a priority
/// and a rate, and the quotient of two rates per node, are within [`range::RATE`]. Solvers therefore get valid input
/// under any objective.
pub(super) const RATE: RangeInclusive<f64> = 1e-30..=1e30;

const COST: Number = Number {
    what: "a number of seconds",
    range: range::RESCALE,
};

const PRIORITY: Number = Number {
    what: "a number",
    range: RATE,
};

const FACTOR: Number = Number {
    what: "a factor",
    range: RATE,
};

const NODES: &str = "a whole number of nodes, at least 1";

/// A task as described in its file, without its curve. A field is `None` if it has a fault, which
/// is already in the report.
#[derive(Debug)]
pub(super) struct Draft {
    pub name: Option<String>,
    pub submit: Option<Option<Stamp>>,
    pub deadline: Option<Option<Stamp>>,
    min_nodes: Option<ByClass<u32>>,
    max_nodes: Option<ByClass<u32>>,
    rescale_up: Option<f64>,
    rescale_down: Option<f64>,
    work: Option<f64>,
    priority: Option<f64>,
    move_cost: Option<Option<f64>>,
    counts: Option<Counts>,
    speed: Option<Option<BTreeMap<String, f64>>>,
}

/// A curve as described in its file.
#[derive(Debug, Clone, Default)]
pub(super) struct CurveDraft {
    pub nodes: Arc<[f64]>,
    pub progress: Arc<[f64]>,
    /// The objective at each point; `None` if it equals the progress.
    pub objective: Option<Arc<[f64]>>,
}

/// The rules for curves. The second argument of a rule is the curve's name in messages, such as `curve` or
/// `curve.v100`.
const CURVE_RULES: [fn(&CurveDraft, &str, &mut Report<'_>); 5] = [
    lists_match,
    starts_at_nothing,
    points_are_whole,
    points_increase,
    rates_are_in_range,
];

impl Draft {
    /// Reads the fields of a task.
    pub fn read(fields: &mut Fields<'_>) -> Self {
        let nodes = |fields: &mut Fields<'_>, name: &str| fields.whole(name, 1, NODES);
        let priority = fields.maybe("priority", |fields, name| fields.number(name, &PRIORITY));
        Draft {
            name: fields.text("name"),
            submit: fields.time("submit"),
            deadline: fields.time("deadline"),
            min_nodes: fields.by_class("min_nodes", nodes),
            max_nodes: fields.by_class("max_nodes", nodes),
            rescale_up: fields.number("rescale_up", &COST),
            rescale_down: fields.number("rescale_down", &COST),
            work: fields.work("work"),
            priority: priority.map(|priority| priority.unwrap_or(1.0)),
            move_cost: fields.maybe("move", |fields, name| fields.number(name, &COST)),
            counts: fields
                .maybe("counts", |fields, name| fields.word(name, &COUNTS))
                .map(Option::unwrap_or_default),
            speed: fields.maybe("speed", factors),
        }
    }

    /// Returns the task with this curve if it satisfies every rule and no fault was found earlier.
    pub fn check(
        self,
        curve: Option<TaskCurve>,
        curves: &mut Curves,
        report: &mut Report<'_>,
    ) -> Option<TrainingTask> {
        is_named(&self, report);
        min_is_not_above_max(&self, report);
        let curve = curve.and_then(|curve| self.with_factors(curve, curves, report));
        if let Some(curve) = &curve {
            bounds_have_the_classes(&self, curve, report);
            max_is_on_the_curve(&self, curve, report);
            some_count_is_allowed(&self, curve, report);
        }
        if !report.faults.is_empty() {
            return None;
        }
        let (min_nodes, max_nodes) = (self.min_nodes?, self.max_nodes?);
        let (curve, terms) = match curve? {
            TaskCurve::Plain(curve) => (curve, Arc::default()),
            TaskCurve::ByClass(by_class) => {
                let terms = curves.terms(&by_class, &min_nodes, &max_nodes, report)?;
                (by_class.values().next()?.clone(), terms)
            }
        };
        let mut classes = ClassTerms::default();
        (classes.move_cost, classes.counts) = (self.move_cost?, self.counts?);
        let task = TrainingTask {
            name: self.name?,
            submit: match self.submit? {
                Some(stamp) => stamp.as_written().from_offset(0),
                None => TrainingTask::FROM_START,
            },
            min_nodes: min_nodes.any()?,
            max_nodes: max_nodes.any()?,
            rescale_up: self.rescale_up?,
            rescale_down: self.rescale_down?,
            work: self.work?,
            priority: self.priority?,
            deadline: self
                .deadline?
                .map(|stamp| stamp.as_written().from_offset(0)),
            rung: 0,
            classes,
            curve,
        };
        // If the task has bounds and a curve for each class, the bounds and the curve of the slowest class become the
        // task's own.
        Some(task.with_terms(terms))
    }

    /// Applies the factors of `speed` to the curve. If they are invalid, adds a fault to the report and returns `None`.
    fn with_factors(
        &self,
        curve: TaskCurve,
        curves: &mut Curves,
        report: &mut Report<'_>,
    ) -> Option<TaskCurve> {
        let factors = self.speed.as_ref()?;
        match (curve, factors) {
            (curve, None) => Some(curve),
            (TaskCurve::Plain(curve), Some(factors)) => {
                let by_class = curves.scale(&curve, factors, report)?;
                Some(TaskCurve::ByClass(by_class))
            }
            (TaskCurve::ByClass(_), Some(_)) => {
                let expected = "no factors, because the task has a curve for each class";
                report.add("speed", "factors", expected);
                None
            }
        }
    }
}

/// Reads a factor for each class.
fn factors(fields: &mut Fields<'_>, name: &str) -> Option<BTreeMap<String, f64>> {
    match fields.take(name) {
        Some(Node::Table(values)) => {
            fields.classes(name, values, |fields, name| fields.number(name, &FACTOR))
        }
        other => {
            let expected = match fields.report.format {
                Format::Table => "a factor for each class, such as v100=1;a100=2.4",
                _ => "a table with a factor for each class",
            };
            let found = other.unwrap_or(Node::Null).to_string();
            fields.report.add(name, found, expected);
            None
        }
    }
}

impl CurveDraft {
    /// The lists of values at the curve's points, each with the name of its field in the curve.
    fn lists(&self) -> impl Iterator<Item = (&'static str, &[f64])> {
        let objective = self.objective.as_deref();
        let objective = objective.map(|values| ("objective", values));
        std::iter::once(("progress", self.progress.as_ref())).chain(objective)
    }

    /// Returns the curve if it satisfies every rule. `field` is the curve's name in messages.
    pub fn check(self, field: &str, report: &mut Report<'_>) -> Option<ScalingCurve> {
        let before = report.faults.len();
        for rule in CURVE_RULES {
            rule(&self, field, report);
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

/// The value of a bound in `class`, or its value in all classes if the bound is a single number.
fn bound_in(bound: &ByClass<u32>, class: Option<&str>) -> Option<u32> {
    match (bound, class) {
        (ByClass::Same(value), _) => Some(*value),
        (ByClass::Each(values), class) => values.get(class?).copied(),
    }
}

/// The name of a field in a class, such as `min_nodes.v100`. If the bound is a single number for all classes, the class
/// is not part of the name.
fn name_in(field: &str, bound: &ByClass<u32>, class: Option<&str>) -> String {
    match (bound, class) {
        (ByClass::Each(_), Some(class)) => format!("{field}.{class}"),
        _ => field.to_owned(),
    }
}

/// The curves of a task, each with the name of its class.
fn curves_of(curve: &TaskCurve) -> impl Iterator<Item = (Option<&str>, &ScalingCurve)> {
    let (plain, by_class) = match curve {
        TaskCurve::Plain(curve) => (Some(curve), None),
        TaskCurve::ByClass(curves) => (None, Some(curves.iter())),
    };
    let by_class = by_class.into_iter().flatten();
    let by_class = by_class.map(|(class, curve)| (Some(class.as_str()), curve));
    plain.map(|curve| (None, curve)).into_iter().chain(by_class)
}

// The following rules report only the first class with a fault. Many tasks can refer to the same curve with many
// classes, and a fault for each class of each task would take far more memory than the file.

fn min_is_not_above_max(task: &Draft, report: &mut Report<'_>) {
    let (Some(min), Some(max)) = (&task.min_nodes, &task.max_nodes) else {
        return;
    };
    let classes: Vec<Option<&str>> = match (min, max) {
        (ByClass::Same(_), ByClass::Same(_)) => vec![None],
        (ByClass::Each(values), _) | (_, ByClass::Each(values)) => {
            values.keys().map(|class| Some(class.as_str())).collect()
        }
    };
    for class in classes {
        if let (Some(least), Some(most)) = (bound_in(min, class), bound_in(max, class))
            && least > most
        {
            let name = name_in("max_nodes", max, class);
            let expected = format!("at most {most}, which is {}", report.label(&name));
            let name = name_in("min_nodes", min, class);
            return report.add(&name, least.to_string(), expected);
        }
    }
}

/// Checks that a bound with a value for each class has the same classes as the curve.
fn bounds_have_the_classes(task: &Draft, curve: &TaskCurve, report: &mut Report<'_>) {
    let bounds = [
        ("min_nodes", &task.min_nodes),
        ("max_nodes", &task.max_nodes),
    ];
    for (field, bound) in bounds {
        let Some(ByClass::Each(values)) = bound else {
            continue;
        };
        let TaskCurve::ByClass(curves) = curve else {
            let expected = "one number, because the curve has no classes. Set `speed` to use \
                            the curve in several classes";
            report.add(field, "a table of classes", expected);
            continue;
        };
        if let Some(class) = values.keys().find(|class| !curves.contains_key(*class)) {
            let name = format!("{field}.{class}");
            report.add(
                &name,
                "a class without a curve",
                "a class of the task's curve",
            );
        }
        if let Some(class) = curves.keys().find(|class| !values.contains_key(*class)) {
            report.add(&format!("{field}.{class}"), "nothing", NODES);
        }
    }
}

fn max_is_on_the_curve(task: &Draft, curve: &TaskCurve, report: &mut Report<'_>) {
    let Some(bound) = &task.max_nodes else {
        return;
    };
    for (class, curve) in curves_of(curve) {
        if let (Some(max), Some(last)) = (bound_in(bound, class), curve.nodes.last())
            && max > *last
        {
            let expected = match class {
                None => format!("at most {last}, the curve's last point"),
                Some(class) => {
                    format!("at most {last}, the last point of the curve of class {class:?}")
                }
            };
            return report.add(
                &name_in("max_nodes", bound, class),
                max.to_string(),
                expected,
            );
        }
    }
}

/// Checks that the curve of a task with `counts = "points"` has a point within the task's bounds.
fn some_count_is_allowed(task: &Draft, curve: &TaskCurve, report: &mut Report<'_>) {
    let (Some(Counts::Points), Some(min), Some(max)) =
        (task.counts, &task.min_nodes, &task.max_nodes)
    else {
        return;
    };
    for (class, curve) in curves_of(curve) {
        if let (Some(min), Some(max)) = (bound_in(min, class), bound_in(max, class))
            && min <= max
            && !has_point(&curve.nodes, min, max)
        {
            let class = class.map_or_else(String::new, |class| format!(" in class {class:?}"));
            let found =
                format!("\"points\", but the curve has no point from {min} to {max} nodes{class}");
            let expected = "a point of the curve between min_nodes and max_nodes";
            return report.add("counts", found, expected);
        }
    }
}

/// Whether one of the increasing numbers `points` is between `min` and `max`.
fn has_point(points: &[u32], min: u32, max: u32) -> bool {
    let first = points.partition_point(|point| *point < min);
    points.get(first).is_some_and(|point| *point <= max)
}

fn lists_match(curve: &CurveDraft, at: &str, report: &mut Report<'_>) {
    let points = curve.nodes.len();
    let nodes = format!("{at}.nodes");
    for (field, values) in curve.lists() {
        if values.len() != points {
            let expected = format!("{points}, as many as in {}", report.label(&nodes));
            report.add(
                &format!("{at}.{field}"),
                format!("{} values", values.len()),
                expected,
            );
        }
    }
}

fn starts_at_nothing(curve: &CurveDraft, at: &str, report: &mut Report<'_>) {
    match curve.nodes.first() {
        Some(0.0) => {}
        Some(first) => {
            let found = format!("{} as the first point", short(*first));
            return report.add(&format!("{at}.nodes"), found, "0 nodes");
        }
        None => {
            return report.add(
                &format!("{at}.nodes"),
                "no points",
                "points, starting at 0 nodes",
            );
        }
    }
    for (field, values) in curve.lists() {
        if let Some(value) = values.first().filter(|value| **value > 0.0) {
            let found = format!("{} at 0 nodes", short(*value));
            report.add(&format!("{at}.{field}"), found, "0 at 0 nodes");
        }
    }
}

fn points_are_whole(curve: &CurveDraft, at: &str, report: &mut Report<'_>) {
    if let Some(value) = curve.nodes.iter().find(|value| whole(**value).is_none()) {
        report.add(
            &format!("{at}.nodes"),
            short(*value),
            "whole numbers of nodes",
        );
    }
}

fn points_increase(curve: &CurveDraft, at: &str, report: &mut Report<'_>) {
    if let Some(pair) = curve.nodes.windows(2).find(|pair| pair[1] <= pair[0]) {
        let found = format!("{} after {}", short(pair[1]), short(pair[0]));
        report.add(&format!("{at}.nodes"), found, "increasing numbers of nodes");
    }
}

fn rates_are_in_range(curve: &CurveDraft, at: &str, report: &mut Report<'_>) {
    let in_range = |rate: &f64| *rate == 0.0 || RATE.contains(rate);
    for (field, values) in curve.lists() {
        if let Some(value) = values.iter().find(|value| !in_range(value)) {
            report.add(
                &format!("{at}.{field}"),
                short(*value),
                range::or_zero(&RATE),
            );
        }
    }
}
