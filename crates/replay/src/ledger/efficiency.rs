//! The efficiency of a run: its work, divided by the work that the same tasks would have done on dedicated nodes
//! without interruption.
//!
//! The number of dedicated nodes is the mean number of idle nodes while tasks were active, and their work is counted
//! over the same time. Time without active tasks therefore changes neither the number nor the work of the dedicated
//! nodes. If the same tasks are always active and their curves are concave, the efficiency is at most 1. In that
//! case, a fixed number of nodes does at least as much work as a varying number with the same mean (Jensen's
//! inequality). If curves are not concave, the efficiency can be above 1. A curve is not concave if the task needs more
//! than one node to run. For example, a task that needs six nodes can run if six nodes are idle half of the time, but
//! not if three nodes are always idle. The efficiency can also be above 1 if more tasks are active while more nodes are
//! idle.

use std::collections::BTreeMap;

use gleaner_solvers::backends::Exact;
use gleaner_solvers::{BigM, Goal, Problem};

use gleaner_domain::{NodeClasses, TrainingTask};

use super::class_split::ClassSplit;

/// Best work per second of a set of tasks on dedicated nodes, by the number of nodes of each class.
#[derive(Debug)]
struct StaticSplit {
    best: Best,
    rates: BTreeMap<Vec<u32>, f64>,
}

/// The problem whose optimum is the best work per second.
#[derive(Debug)]
enum Best {
    /// For interchangeable nodes: the solver and the problem.
    Alike(Box<Exact>, Problem),
    /// For nodes of several classes.
    InClasses(ClassSplit),
}

impl StaticSplit {
    fn new(classes: Option<&NodeClasses>) -> Self {
        let alike = || Problem {
            id: String::new(),
            nodes: 0,
            t_fwd: 1.0,
            tasks: Vec::new(),
            groups: Vec::new(),
            goal: Goal::Total,
        };
        StaticSplit {
            best: match classes {
                Some(classes) => Best::InClasses(ClassSplit::new(classes)),
                None => Best::Alike(Box::new(Exact::new(BigM::Corrected)), alike()),
            },
            rates: BTreeMap::new(),
        }
    }

    fn set_tasks<'a>(&mut self, tasks: impl Iterator<Item = &'a TrainingTask>) {
        self.rates.clear();
        match &mut self.best {
            Best::Alike(_, problem) => {
                problem.tasks.clear();
                problem.tasks.extend(tasks.map(TrainingTask::as_solved));
            }
            Best::InClasses(split) => split.set_tasks(tasks),
        }
    }

    fn rate(&mut self, nodes: &[u32]) -> f64 {
        if let Some(rate) = self.rates.get(nodes) {
            return *rate;
        }
        let rate = match &mut self.best {
            Best::Alike(exact, problem) => {
                problem.nodes = nodes.iter().sum();
                exact
                    .optimal_counts(problem)
                    .map_or(0.0, |counts| problem.objective(counts))
            }
            Best::InClasses(split) => split.rate(nodes),
        };
        self.rates.insert(nodes.to_vec(), rate);
        rate
    }

    /// The rate on fractional numbers of nodes, interpolated linearly between whole numbers (Kuhn's triangulation). All
    /// numbers are rounded down first. Then they are rounded up, one class after another, in descending order of
    /// their fractions. With one class, this is the line between the two neighbouring whole numbers.
    ///
    /// Example: the rate at (2.7, 1.2) is 0.3 times that at (2, 1), plus 0.5 times that at (3, 1), plus 0.2 times that
    /// at (3, 2).
    fn rate_between(&mut self, nodes: &[f64]) -> f64 {
        let mut whole: Vec<u32> = nodes.iter().map(|nodes| nodes.floor() as u32).collect();
        let share = |class: &usize| nodes[*class] - nodes[*class].floor();
        let mut order: Vec<usize> = (0..nodes.len())
            .filter(|class| share(class) > 0.0)
            .collect();
        order.sort_by(|a, b| share(b).total_cmp(&share(a)));
        let mut last = self.rate(&whole);
        let mut rate = last;
        for class in order {
            whole[class] += 1;
            let next = self.rate(&whole);
            rate += share(&class) * (next - last);
            last = next;
        }
        rate
    }
}

/// Records the idle nodes and the active tasks of a run, from which its efficiency is computed.
#[derive(Debug)]
pub(super) struct EfficiencyMeter {
    split: StaticSplit,
    /// The successive sets of active tasks, each with the seconds during which exactly these tasks were active.
    spans: Vec<(Vec<u32>, f64)>,
    fluid_work: f64,
    /// Idle node-seconds of each class while tasks were active.
    active_idle_node_seconds: Vec<f64>,
    /// Seconds during which tasks were active.
    active_seconds: f64,
    /// All idle node-seconds, including those while no task was active.
    idle_node_seconds: f64,
}

/// The results of an [`EfficiencyMeter`], including the reference values with which a run is compared.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measured {
    pub idle_node_seconds: f64,
    pub active_seconds: f64,
    pub equivalent_nodes: f64,
    pub dedicated_work: f64,
    pub fluid_work: f64,
}

impl EfficiencyMeter {
    /// Creates a meter for nodes of these classes. `classes` is `None` if all nodes are interchangeable.
    pub fn new(classes: Option<&NodeClasses>) -> Self {
        EfficiencyMeter {
            split: StaticSplit::new(classes),
            spans: Vec::new(),
            fluid_work: 0.0,
            active_idle_node_seconds: vec![0.0; classes.map_or(1, |classes| classes.names().len())],
            active_seconds: 0.0,
            idle_node_seconds: 0.0,
        }
    }

    /// Sets the active tasks, as indices into `tasks`, for the time until the next call.
    pub fn set_active(&mut self, tasks: &[TrainingTask], active: impl Iterator<Item = u32>) {
        let active: Vec<u32> = active.collect();
        if self.spans.last().is_some_and(|(last, _)| *last == active) {
            return;
        }
        self.split
            .set_tasks(active.iter().map(|&t| &tasks[t as usize]));
        self.spans.push((active, 0.0));
    }

    /// Records the numbers of nodes of each class that were idle for `seconds`.
    pub fn accrue(&mut self, idle: &[u32], seconds: f64) {
        let all: u32 = idle.iter().sum();
        self.idle_node_seconds += f64::from(all) * seconds;
        let Some((active, span)) = self.spans.last_mut() else {
            return;
        };
        if active.is_empty() {
            return;
        }
        *span += seconds;
        self.active_seconds += seconds;
        for (sum, idle) in self.active_idle_node_seconds.iter_mut().zip(idle) {
            *sum += f64::from(*idle) * seconds;
        }
        self.fluid_work += self.split.rate(idle) * seconds;
    }

    pub fn finish(mut self, tasks: &[TrainingTask]) -> Measured {
        let mean = |node_seconds: &f64| {
            if self.active_seconds > 0.0 {
                node_seconds / self.active_seconds
            } else {
                0.0
            }
        };
        let equivalent: Vec<f64> = self.active_idle_node_seconds.iter().map(mean).collect();
        let mut dedicated_work = 0.0;
        for (active, seconds) in &self.spans {
            self.split
                .set_tasks(active.iter().map(|&t| &tasks[t as usize]));
            dedicated_work += self.split.rate_between(&equivalent) * seconds;
        }
        Measured {
            idle_node_seconds: self.idle_node_seconds,
            active_seconds: self.active_seconds,
            equivalent_nodes: equivalent.iter().sum(),
            dedicated_work,
            fluid_work: self.fluid_work,
        }
    }
}
