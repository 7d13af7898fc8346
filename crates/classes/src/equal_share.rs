//! A heuristic for comparison: all tasks in a class get equal shares of its nodes.

use gleaner_solvers::{Limits, SolveError, Status};

use crate::answer::Answer;
use crate::problem::{Choice, Held, Problem, Task};
use crate::solver::{self, ClassSolver};

/// Gives each task an equal share of one class.
///
/// In task order, each task chooses the class in which its share is worth most to it. The share is the number of nodes
/// of the class, divided by the number of tasks in the class, including the task itself, and rounded down. Finally,
/// each task gets the greatest number of nodes that it may hold within its share; the remaining nodes stay unused.
///
/// Example: one class has 5 nodes, another has 2, and each node is worth 1 to each of three tasks. The first task
/// chooses the larger class, where its share is 5. The second task's share is 2 in either class, so it chooses the
/// class that is listed first, the larger one. The third task chooses the smaller class, where its share is 2 instead
/// of 1. The final shares are 2, 2 and 2.
#[derive(Debug, Clone, Copy, Default)]
pub struct EqualShare;

impl ClassSolver for EqualShare {
    fn name(&self) -> &str {
        "equal-share"
    }

    fn solve(&mut self, problem: &Problem, _: &Limits) -> Result<Answer, SolveError> {
        let faults = problem.validate();
        if !faults.is_empty() {
            return Err(SolveError::Invalid(faults));
        }
        if !problem.groups.is_empty() {
            return Err(solver::without_groups("equal-share"));
        }
        let Some(mut left) = free_nodes(problem) else {
            return Ok(Answer::without_plan(problem, Status::Infeasible));
        };
        let tasks = problem.tasks.iter();
        let classes = choose(&left, tasks.clone().filter(|task| !task.fixed));
        let mut members = vec![0; left.len()];
        classes
            .iter()
            .flatten()
            .for_each(|class| members[*class] += 1);
        for (nodes, members) in left.iter_mut().zip(members) {
            *nodes /= members.max(1);
        }
        let mut classes = classes.into_iter();
        let plan = tasks.map(|task| {
            if task.fixed {
                return task.current;
            }
            let class = classes.next().flatten()?;
            within(task, class, left[class]).map(Choice::held)
        });
        let plan: Vec<Option<Held>> = plan.collect();
        Ok(Answer::of(problem, plan, None, 0.0))
    }
}

/// The number of nodes of each class that fixed tasks leave free; `None` if the fixed tasks hold more nodes of a class
/// than the class has.
fn free_nodes(problem: &Problem) -> Option<Vec<u32>> {
    let mut left: Vec<u32> = problem.classes.iter().map(|class| class.capacity).collect();
    for held in problem
        .tasks
        .iter()
        .filter(|task| task.fixed)
        .filter_map(|task| task.current)
    {
        left[held.class] = left[held.class].checked_sub(held.count)?;
    }
    Some(left)
}

/// The class that each task chooses; `None` if no share is worth more to the task than holding nothing.
fn choose<'t>(nodes: &[u32], tasks: impl Iterator<Item = &'t Task>) -> Vec<Option<usize>> {
    let mut members = vec![0; nodes.len()];
    let mut chosen = Vec::new();
    for task in tasks {
        let mut best: Option<(usize, f64)> = None;
        for class in 0..nodes.len() {
            let share = nodes[class] / (members[class] + 1);
            let value = within(task, class, share).map(|option| option.value);
            if let Some(value) =
                value.filter(|value| *value > best.map_or(task.none, |best| best.1))
            {
                best = Some((class, value));
            }
        }
        let class = best.map(|(class, _)| class);
        members[class.unwrap_or(0)] += u32::from(class.is_some());
        chosen.push(class);
    }
    chosen
}

/// The option with the most nodes of a class, up to `share` nodes.
fn within(task: &Task, class: usize, share: u32) -> Option<&Choice> {
    let fitting = task.options.iter();
    fitting
        .filter(|option| option.class == class && option.count <= share)
        .max_by_key(|option| option.count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Class;

    // Tests the example in the documentation of [`EqualShare`].
    #[test]
    fn tasks_go_where_their_share_is_worth_most() {
        let class = |name: &str, capacity| Class {
            name: name.to_owned(),
            capacity,
        };
        let options = [(0, 5), (1, 2)].into_iter().flat_map(|(class, most)| {
            (1..=most).map(move |count| Choice {
                class,
                count,
                value: f64::from(count),
            })
        });
        let task = |name: &str| Task {
            name: name.to_owned(),
            options: options.clone().collect(),
            none: 0.0,
            current: None,
            fixed: false,
        };
        let problem = Problem {
            id: String::new(),
            classes: vec![class("large", 5), class("small", 2)],
            tasks: ["a", "b", "c"].map(task).into(),
            groups: Vec::new(),
        };
        let answer = EqualShare.solve(&problem, &Limits::default()).unwrap();
        let held = |class, count| Some(Held { class, count });
        assert_eq!(answer.plan, Some(vec![held(0, 2), held(0, 2), held(1, 2)]));
        assert_eq!(
            (answer.status, answer.objective),
            (Status::Feasible, Some(6.0))
        );
        assert_eq!(crate::check(&problem, &answer), Ok(()));
    }
}
