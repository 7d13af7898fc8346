//! Checks an objective's values for all tasks before a replay starts.

use super::{Objective, OutOfRange, TaskState};
use crate::error::{Error, Result};
use crate::{TrainingTask, Utc};

/// Maximum number of values that an objective lists for all active tasks together. This many values take 400 MB.
const MAX_VALUES: usize = 50_000_000;

/// The share of its work that an almost finished task still has to do.
const NEARLY_DONE: f64 = 1e-9;

/// The time span and the task limit of the replay for which an objective is checked.
#[derive(Debug, Clone, Copy)]
pub struct Situation {
    /// First time of the log.
    pub start: Utc,
    /// Last time of the log.
    pub end: Utc,
    /// Maximum number of concurrently active tasks.
    pub max_tasks: usize,
}

impl Objective {
    /// Checks the objective's values for each task at the extremes of the task's possible states.
    /// The extremes are the task's submission and the end of the log, each with all or almost none of the task's work
    /// remaining. At the end of the log, the task has waited for the whole time or not at all. A value between these
    /// extremes may still be out of range.
    ///
    /// # Errors
    /// [`Error::Usage`] if solvers reject a value, or if there are too many values.
    pub fn check(&self, tasks: &[TrainingTask], situation: Situation) -> Result<()> {
        self.check_size(tasks, situation.max_tasks)?;
        tasks
            .iter()
            .try_for_each(|task| self.check_task(task, situation))
            .map_err(|fault: OutOfRange| Error::Usage(format!("--objective: {fault}")))
    }

    fn check_task(&self, task: &TrainingTask, situation: Situation) -> Result<(), OutOfRange> {
        let constants = self.constants(task);
        let submit = task.submit.max(situation.start);
        let late = situation.end.max(submit);
        let span = late.seconds_since(submit);
        // An endless task does at most this amount of work by the end of the log.
        let nearly = if task.is_endless() {
            (task.as_solved().best_rate() * span, f64::INFINITY)
        } else {
            (task.work * (1.0 - NEARLY_DONE), task.work * NEARLY_DONE)
        };
        let moments = [(submit, 0.0), (late, 0.0), (late, span)];
        let works = [(0.0, task.work), nearly];
        let corners = moments
            .into_iter()
            .flat_map(|moment| works.map(|work| (moment, work)));
        // If the objective does not depend on the state, one state is enough.
        let corners = corners.take(if self.varies() { usize::MAX } else { 1 });
        for ((now, waited), (done, left)) in corners {
            let state = TaskState {
                done,
                left,
                waited,
                deadline: task.seconds_to_deadline(now),
            };
            self.values(task, &constants, &state)?;
        }
        Ok(())
    }

    fn check_size(&self, tasks: &[TrainingTask], max_tasks: usize) -> Result<()> {
        let mut points: Vec<usize> = tasks.iter().map(|task| self.listed_points(task)).collect();
        points.sort_unstable_by(|a, b| b.cmp(a));
        let values: usize = points.iter().take(max_tasks).sum();
        if values <= MAX_VALUES {
            return Ok(());
        }
        Err(Error::Usage(format!(
            "--objective {:?} has {values} values for {max_tasks} concurrent tasks, expected at most \
             {MAX_VALUES}: use curves with fewer points, or fewer concurrent tasks (--max-tasks)",
            self.as_str()
        )))
    }
}
