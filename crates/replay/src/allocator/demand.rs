//! The demand for nodes: the active tasks with their progress, and the problem that a decider solves.

use std::sync::Arc;

use gleaner_classes::{self as classes, Held};
use gleaner_domain::error::{Error, Result};
use gleaner_domain::objective::{Constants, OutOfRange, TaskState};
use gleaner_domain::{Objective, TrainingTask, Utc};
use gleaner_solvers::{Problem, Task};

use super::batch::{Progress, Resize};
use super::class_demand::{ClassDemand, Standing};
use super::registry::Registry;
use super::settings::Settings;
use super::state::ActiveTask;

/// The active tasks and the problem of the next decision.
#[derive(Debug)]
pub(super) struct Demand {
    objective: Objective,
    /// Whether the objective's values change with time or progress.
    varies: bool,
    /// See [`Settings::shown_offset`].
    shown_offset: i32,
    active: Vec<Active>,
    wanted: Wanted,
}

/// The problem of the next decision. Its tasks correspond to the active tasks.
#[derive(Debug)]
enum Wanted {
    /// The problem if all nodes are interchangeable. It is updated in place, so that solvers recognise tasks that are
    /// unchanged since the last decision.
    Alike(Problem),
    /// The problem if the nodes are of several classes.
    InClasses(ClassDemand),
}

/// The allocation problem to solve at a decision.
pub(super) enum Question<'d> {
    Alike(&'d Problem),
    InClasses(&'d classes::Problem),
}

/// The nodes at a decision.
pub(super) struct Nodes<'a, H> {
    /// Number of idle nodes of each class, including nodes that tasks hold.
    pub idle: &'a [u32],
    /// Class and number of the nodes that each active task holds, in the order of admission.
    pub held: H,
}

/// An active task, with the data on which its objective depends.
#[derive(Debug)]
struct Active {
    /// Index of the task.
    task: u32,
    /// Work done, as last reported.
    done: f64,
    /// Submission time of the task, from which its waiting time is counted.
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
        let wanted = match &settings.classes {
            Some(classes) => Wanted::InClasses(ClassDemand::new(classes, settings.t_fwd)),
            None => Wanted::Alike(settings.empty_problem()),
        };
        Demand {
            wanted,
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

    /// Whether the objective's values change with time or progress.
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
        let place = self.active.len() - 1;
        match &mut self.wanted {
            Wanted::Alike(problem) => {
                problem.tasks.push(Task {
                    name: task.name.clone(),
                    rescale_up: task.rescale_up,
                    rescale_down: task.rescale_down,
                    ..task.as_solved()
                });
                self.value(place, &registry.tasks, now)
            }
            Wanted::InClasses(demand) => {
                let state = self.active[place].state(task, now);
                demand
                    .admit(task, &self.objective, &state)
                    .map_err(|fault| at(now, self.shown_offset, &fault))
            }
        }
    }

    /// The states of the active tasks, in the order of admission.
    pub fn state(&self) -> impl Iterator<Item = ActiveTask> {
        let active = self.active.iter().enumerate();
        active.map(|(place, active)| {
            let restarts = match &self.wanted {
                Wanted::Alike(_) => None,
                Wanted::InClasses(demand) => demand.restarts(place),
            };
            ActiveTask::new(active.task, active.done, active.running_seconds, restarts)
        })
    }

    /// Adds a task that was active in another allocator.
    ///
    /// # Errors
    /// A value of its objective is out of range.
    pub fn restore(&mut self, state: &ActiveTask, registry: &Registry, now: Utc) -> Result<()> {
        self.admit(state.task, registry, now)?;
        if let Some(active) = self.active.last_mut() {
            (active.done, active.running_seconds) = (state.done, state.running_seconds);
        }
        if let Wanted::InClasses(demand) = &mut self.wanted {
            demand.restore(state.restarts);
        }
        Ok(())
    }

    /// Updates the problem, including the objective of the task with index `index`, after the curve or the costs of
    /// this task have changed. Does nothing if the task is not active.
    ///
    /// # Errors
    /// A value of its objective is out of range.
    pub fn refresh(&mut self, index: u32, registry: &Registry, now: Utc) -> Result<()> {
        let mut tasks = self.active.iter();
        let Some(place) = tasks.position(|active| active.task == index) else {
            return Ok(());
        };
        let task = &registry.tasks[index as usize];
        match &mut self.wanted {
            Wanted::Alike(problem) => {
                self.active[place].constants = self.objective.constants(task);
                let solved = &mut problem.tasks[place];
                (solved.rescale_up, solved.rescale_down) = (task.rescale_up, task.rescale_down);
                solved.curve_nodes = Arc::clone(&task.curve.nodes);
                self.value(place, &registry.tasks, now)
            }
            Wanted::InClasses(demand) => {
                let state = self.active[place].state(task, now);
                demand
                    .measure(place, task, &self.objective, &state)
                    .map_err(|fault| at(now, self.shown_offset, &fault))
            }
        }
    }

    /// Removes the active task at position `place`.
    pub fn retire(&mut self, place: usize) {
        self.active.remove(place);
        match &mut self.wanted {
            Wanted::Alike(problem) => {
                problem.tasks.remove(place);
            }
            Wanted::InClasses(demand) => demand.retire(place),
        }
    }

    /// Sets the groups of the problem to the groups of the active tasks.
    pub fn regroup(&mut self, registry: &Registry) {
        let active = self.active.iter();
        let memberships = active.map(|active| registry.membership(active.task));
        match &mut self.wanted {
            Wanted::Alike(problem) => registry.groups().apply(problem, memberships),
            Wanted::InClasses(demand) => {
                registry
                    .groups()
                    .apply_in_classes(demand.solved(), memberships);
            }
        }
    }

    /// Records the tasks that the decision resized. `resized` is in the order of admission.
    pub fn resized(&mut self, resized: &[Resize]) {
        let Wanted::InClasses(demand) = &mut self.wanted else {
            return;
        };
        let mut resized = resized.iter().peekable();
        for (place, active) in self.active.iter().enumerate() {
            if resized
                .next_if(|resize| resize.task == active.task)
                .is_some()
            {
                demand.resized(place);
            }
        }
    }

    /// Updates the problem to the current state and returns it.
    ///
    /// # Errors
    /// A value of the objective is out of range.
    pub fn problem(
        &mut self,
        (event, now): (usize, Utc),
        nodes: Nodes<'_, impl Iterator<Item = Option<Held>>>,
        tasks: &[TrainingTask],
    ) -> Result<Question<'_>> {
        if self.varies {
            (0..self.active.len()).try_for_each(|place| self.value(place, tasks, now))?;
        }
        let id = format!("event {event}, {}", now.at_offset(self.shown_offset));
        Ok(match &mut self.wanted {
            Wanted::Alike(problem) => {
                problem.id = id;
                problem.nodes = nodes.idle.iter().sum();
                for (task, held) in problem.tasks.iter_mut().zip(nodes.held) {
                    task.current = held.map_or(0, |held| held.count);
                }
                Question::Alike(problem)
            }
            Wanted::InClasses(demand) => {
                let active = self.active.iter().zip(nodes.held);
                let standings = active.map(|(active, held)| Standing {
                    task: &tasks[active.task as usize],
                    held,
                    age: now.seconds_since(active.submitted),
                });
                let sia = self.objective.sia();
                Question::InClasses(demand.problem(&id, nodes.idle, sia, standings))
            }
        })
    }

    /// Recomputes the objective of the active task at position `place` from the task's current state.
    fn value(&mut self, place: usize, tasks: &[TrainingTask], now: Utc) -> Result<()> {
        let active = &self.active[place];
        let task = &tasks[active.task as usize];
        let state = active.state(task, now);
        let valued = match &mut self.wanted {
            Wanted::InClasses(demand) => demand.value(place, &self.objective, &state),
            Wanted::Alike(problem) => {
                let values = self.objective.values(task, &active.constants, &state);
                values.map(|values| {
                    let solved = &mut problem.tasks[place];
                    // Solvers recognise an unchanged list by its address, so an equal list is not replaced.
                    if solved.curve_objective != values.rates {
                        solved.curve_objective = values.rates;
                    }
                    solved.weight = values.weight;
                })
            }
        };
        valued.map_err(|fault| at(now, self.shown_offset, &fault))
    }
}

/// The error for a value of the objective that is out of range.
fn at(now: Utc, shown_offset: i32, fault: &OutOfRange) -> Error {
    Error::Run(format!("at {}, {fault}", now.at_offset(shown_offset)))
}
