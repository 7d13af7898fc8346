//! Tasks that a program creates, which must follow the same rules as tasks in files.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use gleaner_classes::Counts;

use super::by_class::{ByClass, COUNTS};
use super::curves::Curves;
use super::entry::Entry;
use super::fields::{Fields, Format, Report};
use super::node::Node;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::tasks::ENDLESS;
use gleaner_domain::{Clock, Local, Stamp, TrainingTask};

/// A task as specified by a program.
#[derive(Debug, Clone)]
pub struct GivenTask {
    /// The task's name.
    pub name: String,
    /// Earliest start time; `None` for the start of the log.
    pub submit: Option<Local>,
    /// Time by which the task should be finished; `None` if it has no deadline.
    pub deadline: Option<Local>,
    /// Minimum number of nodes while the task runs.
    pub min_nodes: ByClass<f64>,
    /// Maximum number of nodes.
    pub max_nodes: ByClass<f64>,
    /// Seconds of progress lost when the task grows.
    pub rescale_up: f64,
    /// Seconds of progress lost when the task shrinks.
    pub rescale_down: f64,
    /// Total work; infinite for an endless task.
    pub work: f64,
    /// The task's weight under the objective `priority-weighted`.
    pub priority: f64,
    /// The task's scaling curve, or its curve in each class of nodes.
    pub curve: ByClass<GivenCurve>,
    /// For each class, a factor by which the curve is multiplied. Empty if the curve applies to all classes, or if each
    /// class has a curve of its own.
    pub speed: BTreeMap<String, f64>,
    /// Seconds of progress lost when the task moves to another class; `None` for the sum of the costs of growing and
    /// shrinking.
    pub move_cost: Option<f64>,
    /// The numbers of nodes that the task may hold.
    pub counts: Counts,
}

/// A curve as specified by a program.
#[derive(Debug, Clone)]
pub struct GivenCurve {
    /// Node counts at the points of the curve, starting with 0.
    pub nodes: Arc<[f64]>,
    /// Work per second at each point.
    pub progress: Arc<[f64]>,
    /// Objective per second at each point; `None` to use the progress.
    pub objective: Option<Arc<[f64]>>,
}

impl GivenTask {
    /// Returns the task if it satisfies every rule for tasks in files.
    ///
    /// # Errors
    /// The task has faults. The error contains all of them.
    pub fn check(self) -> Result<TrainingTask> {
        let place = format!("{:?}", self.name);
        let mut report = Report::new(Path::new("Task"), place, Format::Program);
        if self.work.is_nan() || self.work <= 0.0 {
            let expected = "a number above 0, or no value for an endless task";
            report.add("work", self.work.to_string(), expected);
        }
        let is_finite = self.work.is_finite() && self.work > 0.0;
        let time =
            |time: Option<Local>| time.map_or(Node::Null, |time| Node::Time(Stamp::Local(time)));
        let counts = COUNTS.iter().find(|(_, counts)| *counts == self.counts);
        let values = [
            ("name", Node::Text(self.name)),
            ("submit", time(self.submit)),
            ("deadline", time(self.deadline)),
            ("min_nodes", node(self.min_nodes, Node::Number)),
            ("max_nodes", node(self.max_nodes, Node::Number)),
            ("rescale_up", Node::Number(self.rescale_up)),
            ("rescale_down", Node::Number(self.rescale_down)),
            (
                "work",
                if is_finite {
                    Node::Number(self.work)
                } else {
                    Node::Text(ENDLESS.to_owned())
                },
            ),
            ("priority", Node::Number(self.priority)),
            ("curve", node(self.curve, GivenCurve::into_node)),
            ("speed", factors(self.speed)),
            ("move", self.move_cost.map_or(Node::Null, Node::Number)),
            (
                "counts",
                counts.map_or(Node::Null, |(word, _)| Node::Text((*word).to_owned())),
            ),
        ];
        let mut entry = Entry::read(Fields::new(values, report), &mut Curves::default());
        entry.place(&Clock::UNKNOWN);
        match entry.task {
            Some(task) => entry.report.into_result(task),
            // A draft that is not converted to a task has faults, so the following error cannot occur.
            None => entry.report.into_result(()).and_then(|()| {
                let message = "a task without faults that cannot be converted";
                Err(Error::Run(message.to_owned()))
            }),
        }
    }
}

impl GivenCurve {
    fn into_node(self) -> Node {
        let lists = [
            ("nodes", Node::Numbers(self.nodes)),
            ("progress", Node::Numbers(self.progress)),
            (
                "objective",
                self.objective.map_or(Node::Null, Node::Numbers),
            ),
        ];
        Node::Table(lists.map(|(name, list)| (name.to_owned(), list)).into())
    }
}

/// Converts a value to a node. Values by class become one table, with an entry for each class.
fn node<T>(value: ByClass<T>, of: impl Fn(T) -> Node) -> Node {
    match value {
        ByClass::Same(value) => of(value),
        ByClass::Each(values) => {
            let values = values.into_iter();
            Node::Table(values.map(|(class, value)| (class, of(value))).collect())
        }
    }
}

/// A table of factors; `Null` if there are no factors.
fn factors(factors: BTreeMap<String, f64>) -> Node {
    if factors.is_empty() {
        Node::Null
    } else {
        node(ByClass::Each(factors), Node::Number)
    }
}
