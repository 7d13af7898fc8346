//! The goal of an allocation, and the comparison of plans.

use serde::{Deserialize, Serialize};

use crate::{Problem, Task};

/// The criterion for the best plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Goal {
    /// The best plan has the greatest sum of the tasks' values.
    #[default]
    Total,
    /// The best plan is max-min fair. It runs as many tasks as possible. Among the plans that do so, it
    /// has the highest least share. Remaining ties are broken by the greatest sum of values.
    ///
    /// This is the max-min fairness of Bertsekas and Gallager, Data Networks (1992), chapter 6, truncated after the
    /// first two levels: the total replaces all further levels.
    MaxMin,
}

impl Goal {
    /// Whether the goal is [`Goal::Total`].
    pub fn is_total(&self) -> bool {
        *self == Goal::Total
    }
}

/// The fairness of a plan: the number of running tasks, and their least share.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Fairness {
    /// Number of tasks that get nodes.
    pub running: u32,
    /// Least [`Task::share`] among the running tasks; `None` if no task runs.
    pub least_share: Option<f64>,
}

/// The worth of a plan under its problem's goal. A greater merit is better; the fields are compared in the order of
/// their declaration.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Merit {
    /// Number of tasks that run; 0 under [`Goal::Total`].
    pub running: u32,
    /// Least share among the running tasks; 0 under [`Goal::Total`] and if no task runs.
    pub least_share: f64,
    /// Sum of the tasks' values.
    pub total: f64,
}

impl Task {
    /// The greatest objective per second that the task can earn at any allowed count; 0 if no count is allowed.
    pub fn best_rate(&self) -> f64 {
        let (low, high) = (self.min_nodes, self.cap());
        if low > high {
            return 0.0;
        }
        let first = self.curve_nodes.partition_point(|&n| n < low);
        let after = self.curve_nodes.partition_point(|&n| n <= high);
        let ends = self.objective_rate(low).max(self.objective_rate(high));
        let left_out = self.curve_objective[..first].iter();
        let (_, most) = self.curve_objective.extremes();
        if after == self.curve_nodes.len() && left_out.clone().all(|&value| value < most) {
            return ends.max(self.weight * most);
        }
        let points = (first..after).map(|i| self.rate_at_point(i));
        points.fold(ends, f64::max)
    }

    /// The task's earnings on `count` nodes over the window, less rescale costs, as a share of its
    /// earnings at the best rate. The share is at most 1. It is 1 for a task that can earn
    /// nothing.
    pub fn share(&self, t_fwd: f64, count: u32) -> f64 {
        self.share_of(t_fwd, self.best_rate(), count)
    }

    /// Like [`Task::share`], for a caller that already knows the best rate.
    pub(crate) fn share_of(&self, t_fwd: f64, best_rate: f64, count: u32) -> f64 {
        if best_rate > 0.0 {
            self.value(t_fwd, count) / (t_fwd * best_rate)
        } else {
            1.0
        }
    }
}

impl Problem {
    /// The fairness of the plan; `None` unless the goal is [`Goal::MaxMin`].
    pub fn fairness(&self, counts: &[u32]) -> Option<Fairness> {
        let tasks = self.tasks.iter().zip(counts).filter(|&(_, &n)| n > 0);
        let shares = tasks.map(|(task, &count)| task.share(self.t_fwd, count));
        (self.goal == Goal::MaxMin).then(|| fairness(shares))
    }

    /// The worth of the plan under the problem's goal.
    pub fn merit(&self, counts: &[u32]) -> Merit {
        Merit::of(self.fairness(counts), self.objective(counts))
    }

    /// The worth of the plan that changes nothing. In this plan, a task below its minimum earns nothing.
    pub fn merit_of_keeping(&self) -> Merit {
        let total = self.tasks.iter().map(|t| self.t_fwd * t.current_rate());
        let runs = |task: &&Task| task.current > 0 && task.current >= task.min_nodes;
        let running = self.tasks.iter().filter(runs);
        let shares = running.map(|task| task.share(self.t_fwd, task.current));
        let fair = (self.goal == Goal::MaxMin).then(|| fairness(shares));
        Merit::of(fair, total.sum())
    }
}

fn fairness(shares: impl Iterator<Item = f64>) -> Fairness {
    let mut out = Fairness {
        running: 0,
        least_share: None,
    };
    for share in shares {
        out.running += 1;
        out.least_share = Some(out.least_share.map_or(share, |least| least.min(share)));
    }
    out
}

impl Merit {
    /// The worth of a plan with this fairness, whose tasks' values add up to `total`.
    pub fn of(fairness: Option<Fairness>, total: f64) -> Self {
        Merit {
            running: fairness.map_or(0, |f| f.running),
            least_share: fairness.and_then(|f| f.least_share).unwrap_or(0.0),
            total,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(current: u32) -> Task {
        Task {
            name: format!("t{current}"),
            min_nodes: 2,
            max_nodes: 6,
            rescale_up: 10.0,
            rescale_down: 5.0,
            curve_nodes: vec![0, 4, 8].into(),
            curve_objective: vec![0.0, 40.0, 60.0].into(),
            weight: 1.0,
            current,
        }
    }

    // Derived by formula: the best rate is 50, on 6 nodes.
    #[test]
    fn a_share_is_the_value_as_a_part_of_the_best_value() {
        let (idle, holding) = (task(0), task(4));
        assert_eq!(idle.best_rate(), 50.0);
        assert_eq!(idle.share(100.0, 6), 1.0);
        assert_eq!(idle.share(100.0, 2), 0.4);
        assert_eq!(holding.share(100.0, 6), (5000.0 - 400.0) / 5000.0);
        let barren = Task {
            curve_objective: [0.0; 3].into(),
            ..task(0)
        };
        assert_eq!(barren.share(100.0, 2), 1.0);
    }

    #[test]
    fn plans_are_ordered_by_running_tasks_least_share_and_total() {
        let problem = Problem {
            id: String::new(),
            nodes: 8,
            t_fwd: 100.0,
            tasks: vec![task(0), task(0)],
            groups: vec![],
            goal: Goal::MaxMin,
        };
        let merit = |a, b| problem.merit(&[a, b]);
        assert!(merit(2, 2) > merit(6, 0));
        assert!(merit(4, 4) > merit(6, 2));
        assert!(merit(3, 4) > merit(3, 3));
        assert_eq!(problem.merit_of_keeping(), merit(0, 0));
        let total = Problem {
            goal: Goal::Total,
            ..problem.clone()
        };
        assert!(total.merit(&[6, 0]) > total.merit(&[2, 2]));
        assert_eq!(total.fairness(&[2, 2]), None);
    }
}
