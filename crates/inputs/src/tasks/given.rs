//! Tasks that a program creates, with the same checks as tasks in files.

use std::path::Path;
use std::sync::Arc;

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
    /// Time by which the task should be finished.
    pub deadline: Option<Local>,
    /// Minimum number of nodes while the task runs.
    pub min_nodes: f64,
    /// Maximum number of nodes.
    pub max_nodes: f64,
    /// Seconds of progress lost when the task grows.
    pub rescale_up: f64,
    /// Seconds of progress lost when the task shrinks.
    pub rescale_down: f64,
    /// Total work; infinite for an endless task.
    pub work: f64,
    /// The task's weight.
    pub priority: f64,
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
    /// All faults of the task.
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
        let values = [
            ("name", Node::Text(self.name)),
            ("submit", time(self.submit)),
            ("deadline", time(self.deadline)),
            ("min_nodes", Node::Number(self.min_nodes)),
            ("max_nodes", Node::Number(self.max_nodes)),
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
            ("curve.nodes", Node::Numbers(self.nodes)),
            ("curve.progress", Node::Numbers(self.progress)),
            (
                "curve.objective",
                self.objective.map_or(Node::Null, Node::Numbers),
            ),
        ];
        let mut entry = Entry::read(Fields::new(values, report), &mut Curves::default());
        entry.place(&Clock::UNKNOWN);
        match entry.task {
            Some(task) => entry.report.into_result(task),
            // A draft that is not converted to a task has faults.
            None => entry.report.into_result(()).and_then(|()| {
                let message = "a task without faults that cannot be converted";
                Err(Error::Run(message.to_owned()))
            }),
        }
    }
}
