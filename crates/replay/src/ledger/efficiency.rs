//! Work that the same tasks would have done on dedicated nodes, without interruption.
//!
//! The dedicated machine has as many nodes as were idle on average while tasks were active, and its
//! work is counted over the same time. Time without active tasks therefore changes neither the
//! nodes nor the work of the dedicated machine. If the same tasks are always active and their
//! curves are concave, the efficiency is at most 1. A fixed number of nodes then does at least as
//! much work as a varying number with the same mean (Jensen's inequality). If curves are not
//! concave, the efficiency can be above 1. A minimum of more than one node is enough. For example,
//! a task that needs six nodes can run if six nodes are idle half of the time, but not if three
//! nodes are always idle. It can also be above 1 if more tasks are active while more nodes are
//! idle.

use std::collections::BTreeMap;

use gleaner_solvers::backends::Exact;
use gleaner_solvers::{BigM, Goal, Problem, Task};

use gleaner_domain::TrainingTask;

/// Best work per second of a set of tasks on dedicated nodes, by node count.
#[derive(Debug)]
struct StaticSplit {
    exact: Exact,
    problem: Problem,
    rates: BTreeMap<u32, f64>,
}

impl StaticSplit {
    fn new() -> Self {
        StaticSplit {
            exact: Exact::new(BigM::Corrected),
            problem: Problem {
                id: String::new(),
                nodes: 0,
                t_fwd: 1.0,
                tasks: Vec::new(),
                groups: Vec::new(),
                goal: Goal::Total,
            },
            rates: BTreeMap::new(),
        }
    }

    fn set_tasks(&mut self, tasks: impl Iterator<Item = Task>) {
        self.problem.tasks.clear();
        self.problem.tasks.extend(tasks);
        self.rates.clear();
    }

    fn rate(&mut self, nodes: u32) -> f64 {
        let (exact, problem) = (&mut self.exact, &mut self.problem);
        *self.rates.entry(nodes).or_insert_with(|| {
            problem.nodes = nodes;
            exact
                .optimal_counts(problem)
                .map_or(0.0, |counts| problem.objective(counts))
        })
    }

    /// The rate on a fractional number of nodes, interpolated linearly between whole numbers.
    fn rate_between(&mut self, nodes: f64) -> f64 {
        let whole = nodes.floor();
        let share = nodes - whole;
        let least = self.rate(whole as u32);
        if share == 0.0 {
            return least;
        }
        least + share * (self.rate(whole as u32 + 1) - least)
    }
}

/// Records the data from which the efficiency of a run is computed: its idle nodes and active
/// tasks.
#[derive(Debug)]
pub(super) struct EfficiencyMeter {
    split: StaticSplit,
    /// Each set of active tasks, and the seconds during which exactly these tasks were active.
    spans: Vec<(Vec<u32>, f64)>,
    fluid_work: f64,
    /// Idle node-seconds while tasks were active.
    active_idle_node_seconds: f64,
    /// Seconds during which tasks were active.
    active_seconds: f64,
    /// Idle node-seconds, whether tasks were active or not.
    idle_node_seconds: f64,
}

/// The reference values that a run is compared with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measured {
    pub idle_node_seconds: f64,
    pub active_seconds: f64,
    pub equivalent_nodes: f64,
    pub dedicated_work: f64,
    pub fluid_work: f64,
}

impl EfficiencyMeter {
    pub fn new() -> Self {
        EfficiencyMeter {
            split: StaticSplit::new(),
            spans: Vec::new(),
            fluid_work: 0.0,
            active_idle_node_seconds: 0.0,
            active_seconds: 0.0,
            idle_node_seconds: 0.0,
        }
    }

    /// Records that from now on `active` (indices into `tasks`) are the active tasks.
    pub fn set_active(&mut self, tasks: &[TrainingTask], active: impl Iterator<Item = u32>) {
        let active: Vec<u32> = active.collect();
        if self.spans.last().is_some_and(|(last, _)| *last == active) {
            return;
        }
        self.split
            .set_tasks(active.iter().map(|&t| tasks[t as usize].as_solved()));
        self.spans.push((active, 0.0));
    }

    /// Records that `idle` nodes were idle for `seconds`.
    pub fn accrue(&mut self, idle: u32, seconds: f64) {
        let node_seconds = f64::from(idle) * seconds;
        self.idle_node_seconds += node_seconds;
        let Some((active, span)) = self.spans.last_mut() else {
            return;
        };
        if active.is_empty() {
            return;
        }
        *span += seconds;
        self.active_seconds += seconds;
        self.active_idle_node_seconds += node_seconds;
        self.fluid_work += self.split.rate(idle) * seconds;
    }

    pub fn finish(mut self, tasks: &[TrainingTask]) -> Measured {
        let equivalent_nodes = if self.active_seconds > 0.0 {
            self.active_idle_node_seconds / self.active_seconds
        } else {
            0.0
        };
        let mut dedicated_work = 0.0;
        for (active, seconds) in &self.spans {
            self.split
                .set_tasks(active.iter().map(|&t| tasks[t as usize].as_solved()));
            dedicated_work += self.split.rate_between(equivalent_nodes) * seconds;
        }
        Measured {
            idle_node_seconds: self.idle_node_seconds,
            active_seconds: self.active_seconds,
            equivalent_nodes,
            dedicated_work,
            fluid_work: self.fluid_work,
        }
    }
}
