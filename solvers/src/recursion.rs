//! A slow and simple recursion over pairs (task, nodes used). Tests compare the exact solver with it.

use crate::solver::BigM;
use crate::{Allocation, Problem, Status, Task};

/// Solves `problem` by dynamic programming in O(tasks × nodes × choices). Maximises the total, whatever the goal, and
/// ignores groups.
pub fn solve(problem: &Problem, big_m: BigM) -> Allocation {
    let nodes = problem.nodes as usize;
    let mut best = vec![0.0; nodes + 1];
    let mut taken: Vec<Vec<u32>> = Vec::with_capacity(problem.tasks.len());
    for task in &problem.tasks {
        let choices = choices(problem, task, big_m);
        let mut next = vec![f64::NEG_INFINITY; nodes + 1];
        let mut choice = vec![0; nodes + 1];
        for used in 0..=nodes {
            for &(count, value) in &choices {
                if let Some(before) = used.checked_sub(count as usize)
                    && best[before] + value > next[used]
                {
                    next[used] = best[before] + value;
                    choice[used] = count;
                }
            }
        }
        best = next;
        taken.push(choice);
    }
    if best[nodes] == f64::NEG_INFINITY {
        return Allocation::without_plan(Status::Infeasible);
    }
    let mut used = nodes;
    let mut counts: Vec<u32> = taken
        .iter()
        .rev()
        .map(|choice| {
            let count = choice[used];
            used -= count as usize;
            count
        })
        .collect();
    counts.reverse();
    Allocation {
        status: Status::Optimal,
        objective: Some(problem.objective(&counts)),
        bound: Some(best[nodes]),
        counts: Some(counts),
        fairness: None,
        failure: None,
    }
}

/// Every allowed count with its value. The list is empty if the paper's big-M makes the task infeasible.
fn choices(problem: &Problem, task: &Task, big_m: BigM) -> Vec<(u32, f64)> {
    if big_m.shuts_out(problem.nodes, task.min_nodes) {
        return Vec::new();
    }
    let cap = big_m.change_cap(problem.nodes);
    (0..=task.cap().min(problem.nodes))
        .filter(|&n| task.allows(n) && n.abs_diff(task.current) <= cap)
        .map(|n| (n, task.value(problem.t_fwd, n)))
        .collect()
}
