//! The best work per second of a set of tasks on dedicated nodes of several classes.

use gleaner_classes::{Choice, Class, Exact, Offer, Problem, Task};
use gleaner_domain::{NodeClasses, TrainingTask};
use gleaner_solvers::Limits;

/// The problem of finding the best split: no task holds nodes, and changes cost nothing.
#[derive(Debug)]
pub(super) struct ClassSplit {
    exact: Exact,
    problem: Problem,
    sizes: Vec<u32>,
}

impl ClassSplit {
    pub fn new(classes: &NodeClasses) -> Self {
        let sizes = classes.sizes();
        let class = |(name, capacity): (&String, &u32)| Class {
            name: name.clone(),
            capacity: *capacity,
        };
        ClassSplit {
            exact: Exact::default(),
            problem: Problem {
                id: String::new(),
                classes: classes.names().iter().zip(&sizes).map(class).collect(),
                tasks: Vec::new(),
                groups: Vec::new(),
            },
            sizes,
        }
    }

    /// Sets the tasks. The value of an option is the task's work per second.
    pub fn set_tasks<'a>(&mut self, tasks: impl Iterator<Item = &'a TrainingTask>) {
        self.problem.tasks = tasks.map(|task| self.task(task)).collect();
    }

    fn task(&self, task: &TrainingTask) -> Task {
        let mut options = Vec::new();
        for (class, size) in self.sizes.iter().enumerate() {
            let Some(own) = task.terms_in(class) else {
                continue;
            };
            let offer = Offer {
                class,
                min_nodes: own.min_nodes,
                max_nodes: own.max_nodes,
                nodes: &own.curve.nodes,
                objective: own.curve.progress.list(),
            };
            let counts = offer.counts(task.classes.counts, *size);
            options.extend(counts.map(|count| Choice {
                class,
                count,
                value: offer.rate(count),
            }));
        }
        Task {
            name: task.name.clone(),
            options,
            none: 0.0,
            current: None,
            fixed: false,
        }
    }

    /// The greatest work per second on these nodes, or an upper bound on this rate if the solver does not prove
    /// optimality in time.
    pub fn rate(&mut self, nodes: &[u32]) -> f64 {
        for (class, nodes) in self.problem.classes.iter_mut().zip(nodes) {
            class.capacity = *nodes;
        }
        let answer = self.exact.solve(&self.problem, &Limits::default());
        answer.ok().and_then(|answer| answer.bound).unwrap_or(0.0)
    }
}
