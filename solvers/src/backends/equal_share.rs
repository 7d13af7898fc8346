//! The heuristic of the original replayer (`-mip 0`): every task gets an equal quota, and then the
//! leftover nodes are assigned first come, first served.

use crate::solver::{EQUAL_SHARE, Limits, SolveError, Solver, refuse_groups};
use crate::{Allocation, Problem, Status, range};

/// Gives every task ⌊nodes / tasks⌋ nodes, but at most its cap. A task gets no nodes if this quota
/// is not above its minimum. Then assigns the leftover nodes in task order. The plan is never
/// proven optimal.
#[derive(Debug, Clone, Copy, Default)]
pub struct EqualShare;

impl Solver for EqualShare {
    fn name(&self) -> &str {
        "equal-share"
    }

    fn solve(&mut self, problem: &Problem, _: &Limits) -> Result<Allocation, SolveError> {
        refuse_groups(EQUAL_SHARE, problem)?;
        range::check(problem)?;
        let counts = equal_share(problem);
        let status = Status::Feasible;
        Ok(Allocation::with_plan(problem, status, counts, None))
    }
}

/// The heuristic's counts. Their sum never exceeds the number of idle nodes, and each count is within the task's
/// bounds.
pub fn equal_share(problem: &Problem) -> Vec<u32> {
    let Some(quota) = problem.nodes.checked_div(problem.tasks.len() as u32) else {
        return Vec::new();
    };
    let mut counts: Vec<u32> = problem
        .tasks
        .iter()
        .map(|t| {
            let share = quota.min(t.cap());
            if quota > t.min_nodes && t.allows(share) {
                share
            } else {
                0
            }
        })
        .collect();
    let mut left = problem.nodes - counts.iter().sum::<u32>();
    for (task, count) in problem.tasks.iter().zip(&mut counts) {
        let grown = *count + task.cap().saturating_sub(*count).min(left);
        if grown > *count && task.allows(grown) {
            left -= grown - *count;
            *count = grown;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Task;

    fn problem(nodes: u32, bounds: &[(u32, u32)]) -> Problem {
        let tasks = bounds
            .iter()
            .enumerate()
            .map(|(i, &(min_nodes, max_nodes))| Task {
                name: format!("t{i}"),
                min_nodes,
                max_nodes,
                rescale_up: 1.0,
                rescale_down: 1.0,
                curve_nodes: vec![0, 64].into(),
                curve_objective: vec![0.0, 64.0].into(),
                weight: 1.0,
                current: 0,
            })
            .collect();
        Problem {
            id: String::new(),
            nodes,
            t_fwd: 10.0,
            tasks,
            groups: vec![],
            goal: crate::Goal::Total,
        }
    }

    // Small fixed examples, worked out by hand from the rule.
    #[test]
    fn quota_then_leftover_in_order() {
        assert_eq!(
            equal_share(&problem(10, &[(1, 64), (1, 2), (1, 64)])),
            [5, 2, 3]
        );
    }

    #[test]
    fn a_quota_at_the_minimum_is_zero_until_the_leftovers() {
        assert_eq!(equal_share(&problem(8, &[(4, 4), (4, 64)])), [4, 4]);
        assert_eq!(equal_share(&problem(6, &[(4, 64), (4, 64)])), [6, 0]);
        assert_eq!(equal_share(&problem(3, &[(4, 64), (2, 64)])), [0, 3]);
    }

    #[test]
    fn without_tasks_there_are_no_counts() {
        assert!(equal_share(&problem(3, &[])).is_empty());
    }
}
