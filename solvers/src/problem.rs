//! One allocation decision: the idle nodes, the forward window and the tasks.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::nest::Nest;
use crate::{Allocation, Goal, Limits, Rates, SolveError, SolverKind, SolverSpec, range};

/// An elastic training task as the allocator sees it at one event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Name, unique within the problem.
    pub name: String,
    /// Minimum number of nodes on which the task runs (at least 1).
    pub min_nodes: u32,
    /// Maximum number of nodes that the task can use.
    pub max_nodes: u32,
    /// Seconds of progress lost when the task grows.
    pub rescale_up: f64,
    /// Seconds of progress lost when the task shrinks.
    pub rescale_down: f64,
    /// Node counts of the scaling curve's points: first 0, then strictly increasing. Tasks can share this
    /// list and `curve_objective` in memory.
    #[serde(with = "shared")]
    pub curve_nodes: Arc<[u32]>,
    /// Objective per second at each point of the curve, before it is multiplied by `weight`. Between the points, it is
    /// linear.
    pub curve_objective: Rates,
    /// Factor by which the objective at every point is multiplied. It is usually 1, the default in JSON.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub weight: f64,
    /// Number of nodes that the task holds now. With fewer than `min_nodes` nodes (after a preemption), the task
    /// earns nothing.
    pub current: u32,
}

/// A side constraint: bounds on the total number of nodes of a named group of tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupLimit {
    /// Name of the group, for messages.
    pub name: String,
    /// Names of the tasks in the group.
    pub tasks: Vec<String>,
    /// Minimum number of nodes that the group's tasks must hold together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_total: Option<u32>,
    /// Maximum number of nodes that the group's tasks may hold together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_total: Option<u32>,
}

/// One allocation decision. Unknown JSON fields are ignored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Problem {
    /// Identifier of the problem, which is repeated in its answer.
    #[serde(default)]
    pub id: String,
    /// Number of idle nodes.
    pub nodes: u32,
    /// Forward window in seconds (`-Tfwd`).
    pub t_fwd: f64,
    /// The active tasks, in file order.
    pub tasks: Vec<Task>,
    /// Side constraints. The counts formulation supports any groups; the exact solver supports nested
    /// groups ([`Problem::crossing_groups`]) under the goal [`Goal::Total`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupLimit>,
    /// The criterion for the best plan.
    #[serde(default, skip_serializing_if = "Goal::is_total")]
    pub goal: Goal,
}

impl GroupLimit {
    /// Whether the group imposes a limit: a maximum, or a minimum above 0.
    pub fn limits_something(&self) -> bool {
        self.max_total.is_some() || self.min_total > Some(0)
    }
}

impl Task {
    /// Objective per second at point `i` of the curve.
    pub fn rate_at_point(&self, i: usize) -> f64 {
        self.weight * self.curve_objective[i]
    }

    /// Objective per second on `count` nodes, linear between curve points.
    ///
    /// Counts beyond the last point earn as much as the last point.
    pub fn objective_rate(&self, count: u32) -> f64 {
        interpolate(&self.curve_nodes, |i| self.rate_at_point(i), count)
    }

    /// Objective per second on the current number of nodes: 0 if this number is below the minimum.
    pub fn current_rate(&self) -> f64 {
        if self.current >= self.min_nodes {
            self.objective_rate(self.current)
        } else {
            0.0
        }
    }

    /// Maximum number of nodes that the task can get: its maximum, or the last point of its curve if that is lower.
    pub fn cap(&self) -> u32 {
        let last = self.curve_nodes.last().copied().unwrap_or(0);
        self.max_nodes.min(last)
    }

    /// Whether the task may hold `count` nodes. Allowed are 0 and every count from its minimum to [`Task::cap`].
    pub fn allows(&self, count: u32) -> bool {
        count == 0 || (self.min_nodes <= count && count <= self.cap())
    }

    /// Objective lost by the change from the current count to `count`.
    pub fn rescale_cost(&self, count: u32) -> f64 {
        match count.cmp(&self.current) {
            std::cmp::Ordering::Greater => self.rescale_up * self.current_rate(),
            std::cmp::Ordering::Less => self.rescale_down * self.current_rate(),
            std::cmp::Ordering::Equal => 0.0,
        }
    }

    /// The task's term in the objective if it holds `count` nodes for the next `t_fwd` seconds: its earnings minus the
    /// cost of the change.
    pub fn value(&self, t_fwd: f64, count: u32) -> f64 {
        t_fwd * self.objective_rate(count) - self.rescale_cost(count)
    }

    /// The costs of growing and shrinking, in seconds, with the names of their fields.
    pub(crate) fn costs(&self) -> [(&'static str, f64); 2] {
        [
            ("rescale_up", self.rescale_up),
            ("rescale_down", self.rescale_down),
        ]
    }

    /// Adds the faults in the task's bounds and curve to `out`. The module [`range`] checks the ranges of the task's
    /// numbers.
    fn problems(&self, out: &mut Vec<String>) {
        let name = &self.name;
        if self.min_nodes < 1 {
            out.push(format!("task {name}: min_nodes is 0, expected at least 1"));
        }
        if self.max_nodes < self.min_nodes {
            out.push(format!(
                "task {name}: min_nodes {} is above max_nodes {}",
                self.min_nodes, self.max_nodes
            ));
        }
        curve_problems(name, &self.curve_nodes, &self.curve_objective, out);
    }
}

fn curve_problems(name: &str, nodes: &[u32], objective: &[f64], out: &mut Vec<String>) {
    if nodes.len() != objective.len() {
        out.push(format!(
            "task {name}: found {} curve_nodes and {} curve_objective values, expected the same number of each",
            nodes.len(),
            objective.len()
        ));
    }
    if nodes.first() != Some(&0) {
        out.push(format!("task {name}: curve_nodes must start at 0 nodes"));
    }
    if let Some(w) = nodes.windows(2).find(|w| w[0] >= w[1]) {
        out.push(format!(
            "task {name}: curve_nodes must increase, found {} after {}",
            w[1], w[0]
        ));
    }
}

impl Problem {
    /// Solves the problem with the exact solver and its default limits, and returns a provably optimal plan.
    ///
    /// ```
    /// use gleaner_solvers::{Status, synthetic};
    ///
    /// let plan = synthetic::problem(3, 8, 1).solve()?;
    /// assert_eq!(plan.status, Status::Optimal);
    /// # Ok::<(), gleaner_solvers::SolveError>(())
    /// ```
    ///
    /// # Errors
    /// The problem is invalid, or only a MILP solver can solve it, because its groups cross or it combines
    /// groups with the max-min goal.
    pub fn solve(&self) -> Result<Allocation, SolveError> {
        SolverSpec::new(SolverKind::Exact)
            .build()?
            .solve(self, &Limits::default())
    }

    /// Describes every fault of the problem, in one sentence each. The list is empty if the problem is valid.
    pub fn validate(&self) -> Vec<String> {
        let mut out = Vec::new();
        range::push_window(self.t_fwd, &mut out);
        let mut names = std::collections::BTreeSet::new();
        for task in &self.tasks {
            let before = out.len();
            task.problems(&mut out);
            let is_well_formed = out.len() == before;
            range::push_task(task, self.t_fwd, is_well_formed, &mut out);
            if !names.insert(task.name.as_str()) {
                out.push(format!("task {}: the name occurs twice", task.name));
            }
        }
        for group in &self.groups {
            for name in group.tasks.iter().filter(|n| !names.contains(n.as_str())) {
                out.push(format!("group {}: no task is called {name}", group.name));
            }
            if let (Some(min), Some(max)) = (group.min_total, group.max_total)
                && min > max
            {
                out.push(format!(
                    "group {}: min_total {min} is above max_total {max}",
                    group.name
                ));
            }
        }
        out
    }

    /// Two groups that *cross*: they share a task, and each has a task that the other lacks. `None` if the groups are
    /// *nested*: no two of them cross. Groups that impose no limit ([`GroupLimit::limits_something`]) are ignored.
    /// Takes O(n log n) time, where n is the total number of tasks, groups and names in groups.
    pub fn crossing_groups(&self) -> Option<(&GroupLimit, &GroupLimit)> {
        let (first, second) = Nest::of(self).err()?;
        Some((&self.groups[first], &self.groups[second]))
    }

    /// The plan's objective: Σ over tasks of [`Task::value`]. `counts` is in task order.
    pub fn objective(&self, counts: &[u32]) -> f64 {
        self.tasks
            .iter()
            .zip(counts)
            .map(|(task, &count)| task.value(self.t_fwd, count))
            .sum()
    }

    /// Returns the plan that keeps every task's node count wherever the bounds allow. A task above its [`Task::cap`] is
    /// cut to the cap, a task whose count is then below its minimum is cut to 0, and every other task keeps its count.
    ///
    /// `None` if this plan needs more nodes than are idle.
    pub fn stay_put(&self) -> Option<Vec<u32>> {
        let counts: Vec<u32> = self
            .tasks
            .iter()
            .map(|t| {
                let kept = t.current.min(t.cap());
                if t.allows(kept) { kept } else { 0 }
            })
            .collect();
        let used: u64 = counts.iter().map(|&c| u64::from(c)).sum();
        (used <= u64::from(self.nodes)).then_some(counts)
    }
}

/// Interpolates linearly between integer `points`; beyond the last point, the value is constant. `value` returns the
/// value at a point, given the point's index.
pub fn interpolate(points: &[u32], value: impl Fn(usize) -> f64, at: u32) -> f64 {
    match points.binary_search(&at) {
        Ok(i) => value(i),
        Err(i) if i == points.len() => i.checked_sub(1).map_or(0.0, value),
        Err(0) => value(0),
        Err(i) => {
            let (x0, x1) = (f64::from(points[i - 1]), f64::from(points[i]));
            let (y0, y1) = (value(i - 1), value(i));
            y0 + (y1 - y0) * ((f64::from(at) - x0) / (x1 - x0))
        }
    }
}

fn one() -> f64 {
    1.0
}

fn is_one(weight: &f64) -> bool {
    *weight == 1.0
}

/// Serialises lists that tasks share in memory. In JSON, each task has its own plain list.
mod shared {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<T: Serialize, S: Serializer>(
        list: &Arc<[T]>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        list.as_ref().serialize(serializer)
    }

    pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Arc<[T]>, D::Error> {
        Vec::deserialize(deserializer).map(Arc::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task() -> Task {
        Task {
            name: "t".into(),
            min_nodes: 2,
            max_nodes: 8,
            rescale_up: 10.0,
            rescale_down: 5.0,
            curve_nodes: vec![0, 2, 4].into(),
            curve_objective: vec![0.0, 20.0, 30.0].into(),
            weight: 1.0,
            current: 2,
        }
    }

    // Derived by formula: the window times the rate, less the cost of the change.
    #[test]
    fn value_is_window_times_rate_less_the_rescale_cost() {
        let t = task();
        assert_eq!(t.objective_rate(3), 25.0);
        assert_eq!(t.value(100.0, 2), 2000.0);
        assert_eq!(t.value(100.0, 3), 2500.0 - 10.0 * 20.0);
        assert_eq!(t.value(100.0, 0), -5.0 * 20.0);
    }

    #[test]
    fn a_task_cut_below_its_minimum_pays_nothing() {
        let t = Task {
            current: 1,
            ..task()
        };
        assert_eq!(t.rescale_cost(0), 0.0);
        assert_eq!(t.rescale_cost(4), 0.0);
    }

    #[test]
    fn cap_is_the_end_of_the_curve_if_that_is_smaller() {
        assert_eq!(task().cap(), 4);
        assert!(!task().allows(1) && !task().allows(5) && task().allows(0));
    }

    #[test]
    fn validation_gathers_every_fault() {
        let bad = Task {
            min_nodes: 0,
            rescale_up: f64::NAN,
            curve_nodes: vec![1, 1].into(),
            curve_objective: vec![-1.0].into(),
            ..task()
        };
        let problem = Problem {
            id: String::new(),
            nodes: 4,
            t_fwd: 0.0,
            tasks: vec![bad.clone(), bad],
            groups: vec![GroupLimit {
                name: "g".into(),
                tasks: vec!["who".into()],
                min_total: Some(3),
                max_total: Some(2),
            }],
            goal: Goal::Total,
        };
        assert_eq!(problem.validate().len(), 1 + 2 * 6 + 1 + 2);
    }
}
