//! Lowers the minimums of groups if they cannot be met.
//!
//! A group's minimum is out of reach if too few nodes are idle, or if its tasks cannot hold that
//! many nodes. The replay then continues with a lower minimum: the most nodes that the group can
//! hold. Earlier groups take precedence. The first group gets as close to its minimum as any plan
//! allows. The second group then gets as close as the first group allows, and so on.
//!
//! Example: 5 nodes are idle, and two groups have a minimum of 4 each, with tasks that run on any
//! number of nodes. The first group keeps its minimum, and the minimum of the second becomes 1.

use gleaner_solvers::{Goal, GroupLimit, Limits, Problem, SolveError, Solver, Task};

/// The problem with the minimum of every group lowered to a number of nodes that it can get.
///
/// # Errors
/// The solver fails.
pub(super) fn lowered(
    problem: &Problem,
    solver: &mut dyn Solver,
    limits: &Limits,
) -> Result<Problem, SolveError> {
    let minimums: Vec<Option<u32>> = problem.groups.iter().map(|g| g.min_total).collect();
    let mut lowered = problem.clone();
    for group in &mut lowered.groups {
        group.min_total = None;
    }
    for (index, minimum) in minimums.into_iter().enumerate() {
        let Some(minimum) = minimum.filter(|minimum| *minimum > 0) else {
            continue;
        };
        let most = most_nodes(&lowered, index, solver, limits)?;
        lowered.groups[index].min_total = Some(minimum.min(most));
    }
    Ok(lowered)
}

/// The most nodes that a group can hold within the limits of all groups; 0 if the solver finds no
/// plan.
fn most_nodes(
    problem: &Problem,
    group: usize,
    solver: &mut dyn Solver,
    limits: &Limits,
) -> Result<u32, SolveError> {
    let counting = counting(problem, &problem.groups[group]);
    let answer = solver.solve(&counting, limits)?;
    let counts = answer.counts.unwrap_or_default();
    let members = counting.tasks.iter().zip(counts);
    let members = members.filter(|(task, _)| task.weight > 0.0);
    Ok(members.map(|(_, count)| count).sum())
}

/// A problem whose objective is a group's number of nodes.
fn counting(problem: &Problem, group: &GroupLimit) -> Problem {
    let members: std::collections::BTreeSet<&str> =
        group.tasks.iter().map(String::as_str).collect();
    let task = |task: &Task| {
        let cap = task.cap();
        Task {
            rescale_up: 0.0,
            rescale_down: 0.0,
            curve_nodes: [0, cap.max(1)].into(),
            curve_objective: [0.0, f64::from(cap.max(1))].into(),
            max_nodes: cap.max(task.min_nodes),
            weight: f64::from(u8::from(members.contains(task.name.as_str()))),
            ..task.clone()
        }
    };
    Problem {
        id: problem.id.clone(),
        nodes: problem.nodes,
        t_fwd: 1.0,
        tasks: problem.tasks.iter().map(task).collect(),
        groups: problem.groups.clone(),
        goal: Goal::Total,
    }
}
