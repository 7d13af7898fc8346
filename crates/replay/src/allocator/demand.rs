//! The demand for nodes: the active tasks with their progress, and the problem that a decider solves.

use std::fmt::Write;

use gleaner_domain::error::{Error, Result};
use gleaner_domain::objective::{Constants, TaskState};
use gleaner_domain::{Objective, TrainingTask, Utc};
use gleaner_solvers::{Problem, Task};

use super::batch::Progress;
use super::registry::Registry;
use super::settings::Settings;

/// The active tasks and the problem of the next decision.
#[derive(Debug)]
pub(super) struct Demand {
    objective: Objective,
    /// Whether the objective's values change with time and progress.
    varies: bool,
    /// See [`Settings::shown_offset`].
    shown_offset: i32,
    active: Vec<Active>,
    /// The problem of the next decision. Its tasks correspond to `active`. It is updated in place, so that solvers
    /// recognise tasks that are unchanged since the last decision.
    problem: Problem,
}

/// An active task.
#[derive(Debug)]
struct Active {
    /// Index of the task.
    task: u32,
    /// Work done, as last reported.
    done: f64,
    /// Submission time of the task. Its waiting time is counted from this time.
    submitted: Utc,
    /// Total time during which the task held nodes, in seconds.
    running_seconds: f64,
    /// Values that the objective derives from the whole curve, computed once.
    constants: Constants,
}

impl Active {
    fn state(&self, task: &TrainingTask, now: Utc) -> TaskState {
        let since = now.seconds_since(self.submitted);
        TaskState {
            done: self.done,
            left: task.work - self.done,
            waited: (since - self.running_seconds).max(0.0),
            deadline: task.seconds_to_deadline(now),
        }
    }
}

impl Demand {
    pub fn new(settings: &Settings) -> Self {
        Demand {
            problem: settings.empty_problem(),
            objective: settings.objective.clone(),
            varies: settings.objective.varies(),
            shown_offset: settings.shown_offset,
            active: Vec::new(),
        }
    }

    pub fn len(&self) -> usize {
        self.active.len()
    }

    /// Indices of the active tasks, in the order of admission.
    pub fn tasks(&self) -> impl DoubleEndedIterator<Item = u32> + ExactSizeIterator {
        self.active.iter().map(|active| active.task)
    }

    /// Adds `seconds`, the time since the last batch, to the running time of each task that held nodes.
    pub fn pass_time(&mut self, seconds: f64, counts: impl Iterator<Item = u32>) {
        for (active, count) in self.active.iter_mut().zip(counts) {
            if count > 0 {
                active.running_seconds += seconds;
            }
        }
    }

    /// Whether the objective's values change with time and progress.
    pub fn varies(&self) -> bool {
        self.varies
    }

    /// Records the reported progress of active tasks.
    pub fn report(&mut self, progress: &[Progress]) {
        let mut next = 0;
        for report in progress {
            // Reports are usually in the order of admission, so each search starts after the previous match.
            let (before, after) = self.active.split_at_mut(next);
            let mut places = (next..).zip(after).chain((0..).zip(before));
            let found = places.find(|(_, active)| active.task == report.task);
            if let Some((place, active)) = found {
                active.done = report.done;
                next = place + 1;
            }
        }
    }

    /// Adds a task that becomes active.
    ///
    /// # Errors
    /// A value of its objective is out of range.
    pub fn admit(&mut self, index: u32, registry: &Registry, now: Utc) -> Result<()> {
        let task = &registry.tasks[index as usize];
        self.active.push(Active {
            task: index,
            done: 0.0,
            submitted: registry.submitted(index),
            running_seconds: 0.0,
            constants: self.objective.constants(task),
        });
        self.problem.tasks.push(Task {
            name: task.name.clone(),
            rescale_up: task.rescale_up,
            rescale_down: task.rescale_down,
            ..task.as_solved()
        });
        self.value(self.active.len() - 1, &registry.tasks, now)
    }

    /// Removes the active task at position `place`.
    pub fn retire(&mut self, place: usize) {
        self.active.remove(place);
        self.problem.tasks.remove(place);
    }

    /// Sets the groups of the problem to the groups of the active tasks.
    pub fn regroup(&mut self, registry: &Registry) {
        let active = self.active.iter();
        let memberships = active.map(|active| registry.membership(active.task));
        registry.groups().apply(&mut self.problem, memberships);
    }

    /// The problem for the current state. `idle` is the number of all idle nodes, and `counts` are the numbers of
    /// nodes that the active tasks hold.
    ///
    /// # Errors
    /// A value of the objective is out of range.
    pub fn problem(
        &mut self,
        (event, now): (usize, Utc),
        idle: u32,
        counts: impl Iterator<Item = u32>,
        tasks: &[TrainingTask],
    ) -> Result<&Problem> {
        self.problem.id.clear();
        // Writing to a string cannot fail.
        let _ = write!(
            self.problem.id,
            "event {event}, {}",
            now.at_offset(self.shown_offset)
        );
        self.problem.nodes = idle;
        for (task, count) in self.problem.tasks.iter_mut().zip(counts) {
            task.current = count;
        }
        if self.varies {
            (0..self.active.len()).try_for_each(|place| self.value(place, tasks, now))?;
        }
        Ok(&self.problem)
    }

    /// Recomputes the objective of the active task at position `place` from the task's current state.
    fn value(&mut self, place: usize, tasks: &[TrainingTask], now: Utc) -> Result<()> {
        let active = &self.active[place];
        let task = &tasks[active.task as usize];
        let values = self
            .objective
            .values(task, &active.constants, &active.state(task, now))
            .map_err(|fault| {
                Error::Run(format!("at {}, {fault}", now.at_offset(self.shown_offset)))
            })?;
        let solved = &mut self.problem.tasks[place];
        // Solvers recognise an unchanged list by its address, so an equal list is not replaced.
        if solved.curve_objective != values.rates {
            solved.curve_objective = values.rates;
        }
        solved.weight = values.weight;
        Ok(())
    }
}
