//! Tasks that a program creates, with the same checks as tasks in files.

use std::path::Path;
use std::sync::Arc;

use super::entry::Entry;
use super::fields::{Labels, Report};
use super::validate::{CurveDraft, Draft};
use gleaner_core::domain::{Clock, Stamp, Time, TrainingTask};
use gleaner_core::error::{Error, Result};

pub(super) static LABELS: Labels = Labels {
    nodes: "curve",
    progress: "curve",
    objective: "objective",
    ..Labels::OURS
};

/// A task as a program specifies it.
#[derive(Debug, Clone)]
pub struct GivenTask {
    /// Its name.
    pub name: String,
    /// Earliest start time; `None` for the start of the log.
    pub submit: Option<Time>,
    /// Time by which the task should be finished.
    pub deadline: Option<Time>,
    /// Fewest nodes.
    pub min_nodes: f64,
    /// Most nodes.
    pub max_nodes: f64,
    /// Seconds of progress lost when the task grows.
    pub rescale_up: f64,
    /// Seconds of progress lost when the task shrinks.
    pub rescale_down: f64,
    /// Total work; infinite for an endless task.
    pub work: f64,
    /// Its weight.
    pub priority: f64,
    /// Node counts of the curve's points, from 0.
    pub nodes: Arc<[f64]>,
    /// Work per second at each point.
    pub progress: Arc<[f64]>,
    /// Objective per second at each point; `None` to use the progress.
    pub objective: Option<Arc<[f64]>>,
}

impl GivenTask {
    /// Returns the task if it keeps every rule for tasks in files.
    ///
    /// # Errors
    /// All faults of the task.
    pub fn check(self) -> Result<TrainingTask> {
        let mut report = Report::new(Path::new("Task"), format!("{:?}", self.name), &LABELS);
        if self.work.is_nan() || self.work <= 0.0 {
            let expected = "a number above 0, or no value for an endless task";
            report.add(LABELS.work, self.work.to_string(), expected);
        }
        let curve = CurveDraft {
            nodes: self.nodes,
            progress: self.progress,
            objective: self.objective,
        };
        let curve = curve.check(&mut report);
        let draft = Draft {
            name: Some(self.name),
            submit: Some(self.submit.map(Stamp::Local)),
            deadline: Some(self.deadline.map(Stamp::Local)),
            min_nodes: Some(self.min_nodes),
            max_nodes: Some(self.max_nodes),
            rescale_up: Some(self.rescale_up),
            rescale_down: Some(self.rescale_down),
            work: Some(self.work),
            priority: Some(self.priority),
            curve,
        };
        let mut entry = Entry {
            name: None,
            submit: draft.submit.flatten(),
            deadline: draft.deadline.flatten(),
            task: draft.check(&mut report),
            report,
        };
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
