//! Problems in which each task has a scaling curve for each class, instead of a list of options.

use std::collections::BTreeMap;

use gleaner_solvers::problem::interpolate;
use serde::{Deserialize, Serialize};

use crate::offer::{Counts, Offer, Rescaling};
use crate::problem::{Choice, Class, Group, Held, LARGEST_VALUE, PerClass, Problem, Task};

/// One allocation decision whose tasks have curves. Unknown JSON fields are ignored.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CurveProblem {
    /// Identifier of the problem, which is part of the answer.
    #[serde(default)]
    pub id: String,
    /// The classes of nodes.
    pub classes: Vec<Class>,
    /// Forward window in seconds (`-Tfwd`).
    pub t_fwd: f64,
    /// The tasks.
    pub tasks: Vec<CurveTask>,
    /// Groups of tasks whose total number of nodes is limited. The exact solver does not support groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Group>,
}

/// A task with a curve for each class that it can use.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CurveTask {
    /// Name, unique within the problem.
    pub name: String,
    /// Scaling curves by the name of the class. The task cannot use a class without a curve.
    pub curves: BTreeMap<String, Curve>,
    /// Minimum number of nodes on which the task runs, at least 1.
    pub min_nodes: PerClass,
    /// Maximum number of nodes that the task can use.
    pub max_nodes: PerClass,
    /// Seconds of progress lost when the task grows in its class.
    pub rescale_up: f64,
    /// Seconds of progress lost when the task shrinks in its class or stops.
    pub rescale_down: f64,
    /// Seconds of progress lost when the task moves to another class. Default: `rescale_up` + `rescale_down`.
    #[serde(rename = "move", default)]
    pub move_cost: Option<f64>,
    /// The numbers of nodes that the task may hold.
    #[serde(default)]
    pub counts: Counts,
    /// The nodes that the task holds now; `None` if it holds nothing.
    #[serde(default)]
    pub current: Option<CurrentNodes>,
}

/// Objective per second by the number of nodes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Curve {
    /// Node counts of the points: first 0, then strictly increasing.
    pub nodes: Vec<u32>,
    /// Objective per second at each point, interpolated linearly between points.
    pub objective: Vec<f64>,
}

/// The class and the number of the nodes that a task holds now.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CurrentNodes {
    /// Name of the class.
    pub class: String,
    /// Number of nodes.
    pub nodes: u32,
}

/// Maximum number of options of a problem. Each option takes 24 bytes.
const MOST_OPTIONS: usize = 20_000_000;

impl CurveProblem {
    /// Converts the problem to one in which each task has a list of options.
    ///
    /// The value of n nodes of class k is `t_fwd` times the objective per second, less the cost of the change. The cost
    /// is a number of seconds times the current objective per second. This number is `rescale_up` or `rescale_down` in
    /// the same class, `move` for another class, `rescale_down` if the task gives back all its nodes, and 0 if nothing
    /// changes.
    ///
    /// # Errors
    /// The problem is invalid. The error contains a sentence for each fault.
    pub fn to_options(&self) -> Result<Problem, Vec<String>> {
        let mut faults = Vec::new();
        if !(self.t_fwd > 0.0 && self.t_fwd <= 1e12) {
            faults.push(format!(
                "t_fwd is {:e}, expected more than 0 and at most 1e12",
                self.t_fwd
            ));
        }
        let mut left = MOST_OPTIONS;
        let mut tasks = Vec::with_capacity(self.tasks.len());
        for task in &self.tasks {
            let before = faults.len();
            self.check_task(task, &mut faults);
            if faults.len() == before {
                match self.task(task, &mut left) {
                    Some(task) => tasks.push(task),
                    None => {
                        faults.push(format!(
                            "task {}: the tasks up to this one have more than {MOST_OPTIONS} options. Set \"counts\": \"points\"",
                            task.name
                        ));
                        break;
                    }
                }
            }
        }
        let problem = Problem {
            id: self.id.clone(),
            classes: self.classes.clone(),
            tasks,
            groups: self.groups.clone(),
        };
        faults.extend(problem.validate());
        if faults.is_empty() {
            Ok(problem)
        } else {
            Err(faults)
        }
    }

    /// The index of the class with this name.
    fn class(&self, name: &str) -> Option<usize> {
        self.classes.iter().position(|class| class.name == name)
    }

    fn check_task(&self, task: &CurveTask, faults: &mut Vec<String>) {
        let name = &task.name;
        let current = task.current.iter().map(|current| &current.class);
        for class in task
            .curves
            .keys()
            .chain(current)
            .chain(task.min_nodes.classes())
            .chain(task.max_nodes.classes())
        {
            if self.class(class).is_none() {
                faults.push(format!("task {name}: there is no class {class}"));
            }
        }
        for (class, curve) in &task.curves {
            curve.check(&format!("task {name}: class {class}"), self.t_fwd, faults);
            match (task.min_nodes.of(class), task.max_nodes.of(class)) {
                (Some(min), Some(max)) if (1..=max).contains(&min) => {}
                (Some(min), Some(max)) => faults.push(format!(
                    "task {name}: class {class}: found min_nodes {min} and max_nodes {max}, expected 1 <= min_nodes <= max_nodes"
                )),
                _ => faults.push(format!("task {name}: class {class}: min_nodes or max_nodes is missing")),
            }
        }
        let costs = [
            ("rescale_up", Some(task.rescale_up)),
            ("rescale_down", Some(task.rescale_down)),
            ("move", task.move_cost),
        ];
        for (field, cost) in costs {
            if let Some(cost) = cost.filter(|cost| !(0.0..=1e12).contains(cost)) {
                faults.push(format!(
                    "task {name}: {field} is {cost:e}, expected 0 to 1e12"
                ));
            }
        }
    }

    /// Returns a valid task with its list of options, and subtracts the number of options from `left`. Returns `None`
    /// if there are more than `left` options.
    fn task(&self, task: &CurveTask, left: &mut usize) -> Option<Task> {
        let rescaling = self.rescaling(task);
        let mut options = Vec::new();
        for (class, Class { name, capacity }) in self.classes.iter().enumerate() {
            let Some(curve) = task.curves.get(name) else {
                continue;
            };
            let offer = Offer {
                class,
                min_nodes: task.min_nodes.of(name).unwrap_or(1),
                max_nodes: task.max_nodes.of(name).unwrap_or(u32::MAX),
                nodes: &curve.nodes,
                objective: &curve.objective,
            };
            for count in offer.counts(task.counts, *capacity) {
                *left = left.checked_sub(1)?;
                let next = Held { class, count };
                options.push(Choice {
                    class,
                    count,
                    value: self.t_fwd * offer.rate(count) - rescaling.cost(Some(next)),
                });
            }
        }
        Some(Task {
            name: task.name.clone(),
            options,
            none: -rescaling.cost(None),
            current: rescaling.current,
            fixed: false,
        })
    }

    /// Returns the values that determine the cost of changing the task's nodes: its current nodes, its rate, and the
    /// seconds lost.
    fn rescaling(&self, task: &CurveTask) -> Rescaling {
        let held = task.current.as_ref().filter(|current| current.nodes > 0);
        let current = held.and_then(|current| {
            let class = self.class(&current.class)?;
            let count = current.nodes;
            Some(Held { class, count })
        });
        Rescaling {
            current,
            rate: task.current_rate(),
            up: task.rescale_up,
            down: task.rescale_down,
            moving: task
                .move_cost
                .unwrap_or(task.rescale_up + task.rescale_down),
        }
    }
}

impl CurveTask {
    /// Objective per second on the nodes that the task holds now; 0 below its minimum number of nodes.
    fn current_rate(&self) -> f64 {
        let Some(current) = &self.current else {
            return 0.0;
        };
        let least = self.min_nodes.of(&current.class);
        let curve = self.curves.get(&current.class);
        match curve.filter(|_| least.is_some_and(|least| current.nodes >= least)) {
            Some(curve) => curve.rate(current.nodes),
            None => 0.0,
        }
    }
}

impl Curve {
    /// Objective per second on `count` nodes.
    fn rate(&self, count: u32) -> f64 {
        interpolate(&self.nodes, |point| self.objective[point], count)
    }

    fn check(&self, place: &str, t_fwd: f64, faults: &mut Vec<String>) {
        let (nodes, objective) = (&self.nodes, &self.objective);
        if nodes.len() != objective.len() {
            faults.push(format!(
                "{place}: found {} node counts and {} objective values, expected the same number",
                nodes.len(),
                objective.len()
            ));
        }
        if nodes.first() != Some(&0) {
            faults.push(format!("{place}: the nodes must start at 0"));
        }
        if let Some(pair) = nodes.windows(2).find(|pair| pair[0] >= pair[1]) {
            faults.push(format!(
                "{place}: the nodes must be strictly increasing, found {} after {}",
                pair[1], pair[0]
            ));
        }
        let most = LARGEST_VALUE / t_fwd.max(1.0);
        if let Some(rate) = objective.iter().find(|rate| !(0.0..=most).contains(*rate)) {
            faults.push(format!(
                "{place}: found an objective of {rate:e}, expected 0 to {most:e}"
            ));
        }
    }
}
