//! Lowers the minimums of groups if they cannot be met.
//!
//! A group's minimum is out of reach if too few nodes are idle, or if its tasks cannot hold as many nodes as the
//! minimum. The replay then lowers the minimum to the largest number of nodes that the group can hold. Earlier groups
//! take precedence. The first group gets as close to its minimum as any plan allows. The second group then gets as
//! close to its own minimum as the first group allows, and so on.
//!
//! Example: 5 nodes are idle, and two groups have a minimum of 4 each, with tasks that run on any
//! number of nodes. The first group keeps its minimum, and the minimum of the second becomes 1.

use std::borrow::Cow;
use std::collections::BTreeSet;

use gleaner_classes::{self as classes, ClassSolver, Held};
use gleaner_solvers::{Allocation, Goal, Limits, Problem, SolveError, Solver, Status, Task};

/// A problem with groups of tasks.
pub(super) trait Grouped: Clone {
    /// The trait of the solvers for these problems.
    type Solver: ?Sized;
    /// The answer of a solver.
    type Answer;

    /// Solves this problem with `solver`.
    ///
    /// # Errors
    /// The solver fails.
    fn solve(&self, solver: &mut Self::Solver, limits: &Limits)
    -> Result<Self::Answer, SolveError>;

    /// The status of an answer.
    fn status(answer: &Self::Answer) -> Status;

    /// The minimum of each group; `None` if the group has no minimum.
    fn minimums(&mut self) -> impl Iterator<Item = &mut Option<u32>>;

    /// The maximum number of nodes that the group with index `group` can hold within the limits of all groups; 0 if the
    /// solver finds no plan.
    ///
    /// # Errors
    /// The solver fails.
    fn most_nodes(
        &self,
        group: usize,
        solver: &mut Self::Solver,
        limits: &Limits,
    ) -> Result<u32, SolveError>;
}

/// A solver's answer, and the problem that it answers.
pub(super) struct Solved<'p, P: Grouped> {
    /// The problem that was solved: the given problem, or the problem with lower minimums.
    pub problem: Cow<'p, P>,
    pub answer: P::Answer,
    /// Whether minimums were lowered.
    pub is_short: bool,
}

/// Solves a problem. If no plan meets the groups' minimums, lowers them until a plan does.
///
/// # Errors
/// The solver fails.
pub(super) fn solve<'p, P: Grouped>(
    problem: &'p P,
    solver: &mut P::Solver,
    limits: &Limits,
) -> Result<Solved<'p, P>, SolveError> {
    let answer = problem.solve(solver, limits)?;
    if P::status(&answer) == Status::Infeasible
        && let Some(lowered) = lowered(problem, solver, limits)?
    {
        return Ok(Solved {
            answer: lowered.solve(solver, limits)?,
            problem: Cow::Owned(lowered),
            is_short: true,
        });
    }
    Ok(Solved {
        problem: Cow::Borrowed(problem),
        answer,
        is_short: false,
    })
}

/// The problem with the minimum of every group lowered to a number of nodes that the group can get; `None` if no group
/// has a minimum.
fn lowered<P: Grouped>(
    problem: &P,
    solver: &mut P::Solver,
    limits: &Limits,
) -> Result<Option<P>, SolveError> {
    let mut lowered = problem.clone();
    let minimums: Vec<Option<u32>> = lowered.minimums().map(Option::take).collect();
    if minimums.iter().all(Option::is_none) {
        return Ok(None);
    }
    for (index, minimum) in minimums.into_iter().enumerate() {
        let Some(minimum) = minimum.filter(|minimum| *minimum > 0) else {
            continue;
        };
        let most = lowered.most_nodes(index, solver, limits)?;
        if let Some(lower) = lowered.minimums().nth(index) {
            *lower = Some(minimum.min(most));
        }
    }
    Ok(Some(lowered))
}

impl Grouped for Problem {
    type Solver = dyn Solver + Send;
    type Answer = Allocation;

    fn solve(&self, solver: &mut Self::Solver, limits: &Limits) -> Result<Allocation, SolveError> {
        solver.solve(self, limits)
    }

    fn status(answer: &Allocation) -> Status {
        answer.status
    }

    fn minimums(&mut self) -> impl Iterator<Item = &mut Option<u32>> {
        self.groups.iter_mut().map(|group| &mut group.min_total)
    }

    fn most_nodes(
        &self,
        group: usize,
        solver: &mut Self::Solver,
        limits: &Limits,
    ) -> Result<u32, SolveError> {
        let counting = counting(self, &self.groups[group].tasks);
        let answer = solver.solve(&counting, limits)?;
        let counts = answer.counts.unwrap_or_default();
        let members = counting.tasks.iter().zip(counts);
        let members = members.filter(|(task, _)| task.weight > 0.0);
        Ok(members.map(|(_, count)| count).sum())
    }
}

impl Grouped for classes::Problem {
    type Solver = dyn ClassSolver + Send;
    type Answer = classes::Answer;

    fn solve(
        &self,
        solver: &mut Self::Solver,
        limits: &Limits,
    ) -> Result<classes::Answer, SolveError> {
        solver.solve(self, limits)
    }

    fn status(answer: &classes::Answer) -> Status {
        answer.status
    }

    fn minimums(&mut self) -> impl Iterator<Item = &mut Option<u32>> {
        self.groups.iter_mut().map(|group| &mut group.min_total)
    }

    fn most_nodes(
        &self,
        group: usize,
        solver: &mut Self::Solver,
        limits: &Limits,
    ) -> Result<u32, SolveError> {
        let members: BTreeSet<&String> = self.groups[group].tasks.iter().collect();
        let mut counting = self.clone();
        for task in &mut counting.tasks {
            let is_member = members.contains(&task.name);
            task.none = 0.0;
            for option in &mut task.options {
                let count = if is_member { option.count } else { 0 };
                option.value = f64::from(count);
            }
        }
        let plan = solver.solve(&counting, limits)?.plan.unwrap_or_default();
        let held = counting.tasks.iter().zip(plan);
        let held = held.filter(|(task, _)| members.contains(&task.name));
        let count = |held: Option<Held>| held.map_or(0, |held| held.count);
        Ok(held.map(|(_, held)| count(held)).sum())
    }
}

/// A problem whose objective is the number of nodes that a group's tasks hold.
fn counting(problem: &Problem, group: &[String]) -> Problem {
    let members: BTreeSet<&str> = group.iter().map(String::as_str).collect();
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
