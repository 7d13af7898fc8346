//! The settings of the allocator, and the validation of tasks against them.

use std::collections::BTreeSet;
use std::sync::Arc;

use gleaner_domain::{NodeClasses, Objective, ScalingCurve, TaskGroup, TrainingTask};
use gleaner_solvers::{Problem, Rates, Task};

/// Settings of the allocator.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Forward window of every decision, in seconds.
    pub t_fwd: f64,
    /// Maximum number of active tasks.
    pub max_tasks: usize,
    /// The objective that every decision maximises.
    pub objective: Objective,
    /// Groups of tasks with joint limits on their nodes. Batches can add more.
    pub groups: Arc<[TaskGroup]>,
    /// Offset from UTC, in seconds, of the times in problem ids and messages.
    pub shown_offset: i32,
    /// The classes of the nodes; `None` if all nodes are interchangeable.
    pub classes: Option<NodeClasses>,
}

impl Settings {
    /// All faults in the forward window and in `tasks`, which are submitted together, one sentence per
    /// fault. If the nodes are of several classes, tasks are also validated in each class that they use.
    pub fn faults(&self, tasks: &[TrainingTask]) -> Vec<String> {
        let mut faults = self.own_faults(tasks);
        let names = self.classes.as_ref().map_or(&[][..], NodeClasses::names);
        for class in 0..names.len() {
            let in_class = |task: &TrainingTask| match &*task.classes.by_index {
                [] => task.in_classes(names).in_class(class),
                _ => task.in_class(class),
            };
            let tasks: Vec<TrainingTask> = tasks.iter().filter_map(in_class).collect();
            faults.extend(self.own_faults(&tasks));
        }
        let mut seen = BTreeSet::new();
        faults.retain(|fault| seen.insert(fault.clone()));
        faults
    }

    /// The faults in the forward window and in the tasks, ignoring the tasks' values by class.
    fn own_faults(&self, tasks: &[TrainingTask]) -> Vec<String> {
        let problem = |of: fn(&ScalingCurve) -> &Rates| {
            let solved = |task: &TrainingTask| Task {
                name: task.name.clone(),
                rescale_up: task.rescale_up,
                rescale_down: task.rescale_down,
                curve_objective: of(&task.curve).clone(),
                ..task.as_solved()
            };
            Problem {
                tasks: tasks.iter().map(solved).collect(),
                ..self.empty_problem()
            }
        };
        let mut faults = problem(|curve| &curve.progress).validate();
        faults.extend(problem(|curve| &curve.objective).validate());
        let lacks_work = |task: &&TrainingTask| task.work.is_nan() || task.work <= 0.0;
        let without_work = tasks.iter().filter(lacks_work);
        faults.extend(without_work.map(|task| {
            let (name, work) = (&task.name, task.work);
            format!("task {name}: work is {work}, expected a number above 0")
        }));
        faults
    }

    /// A problem with neither tasks nor nodes.
    pub(crate) fn empty_problem(&self) -> Problem {
        Problem {
            id: String::new(),
            nodes: 0,
            t_fwd: self.t_fwd,
            tasks: Vec::new(),
            groups: Vec::new(),
            goal: self.objective.goal(),
        }
    }
}
