//! The counts formulation: a multiple-choice knapsack.
//!
//! There is one binary `y_j_k` for each task j and allowed next count k. Its coefficient value_j(k) is the task's term
//! in the objective at k, including the rescale cost:
//!
//! maximise Σ value_j(k) · y_j_k  subject to  Σ_k y_j_k = 1 for every task,
//! Σ k · y_j_k ≤ nodes, and min_total ≤ Σ k · y_j_k ≤ max_total over the tasks
//! of every group.

use std::ops::RangeInclusive;

use crate::model::Model;
use crate::{BigM, GroupLimit, Problem, Task};

/// The allowed next counts of a task: 0 if `zero` is set, and the counts in `range`, which may be empty.
struct Choices {
    zero: bool,
    range: RangeInclusive<u32>,
}

impl Choices {
    fn of(problem: &Problem, task: &Task, big_m: BigM) -> Self {
        let change = big_m.change_cap(problem.nodes);
        let least = task.current.saturating_sub(change).max(task.min_nodes);
        let most = task.current.saturating_add(change);
        let shut_out = big_m.shuts_out(problem.nodes, task.min_nodes);
        Choices {
            zero: !shut_out && task.current <= change,
            range: least.max(1)..=most.min(task.cap()).min(problem.nodes),
        }
    }

    fn iter(&self) -> impl Iterator<Item = u32> {
        self.zero.then_some(0).into_iter().chain(self.range.clone())
    }

    fn len(&self) -> u64 {
        let (start, end) = (u64::from(*self.range.start()), u64::from(*self.range.end()));
        u64::from(self.zero) + (end + 1).saturating_sub(start)
    }
}

fn choices(problem: &Problem, big_m: BigM) -> impl Iterator<Item = (&Task, Choices)> {
    let of = move |task| (task, Choices::of(problem, task, big_m));
    problem.tasks.iter().map(of)
}

/// Number of columns of the model that [`build`] returns.
pub fn columns(problem: &Problem, big_m: BigM) -> u64 {
    choices(problem, big_m).map(|(_, c)| c.len()).sum()
}

/// The task index and the count of every column in the model that [`build`] returns, in order.
pub(super) fn picks(problem: &Problem, big_m: BigM) -> impl Iterator<Item = (usize, u32)> {
    choices(problem, big_m)
        .enumerate()
        .flat_map(|(j, (_, choices))| choices.iter().map(|k| (j, k)).collect::<Vec<_>>())
}

/// Builds the model. If a task has no allowed count, its row has no terms and cannot be satisfied.
pub fn build(problem: &Problem, big_m: BigM) -> Model {
    let mut model = Model {
        name: "counts".to_owned(),
        ..Model::default()
    };
    let mut nodes = Vec::new();
    let mut task_ends = Vec::with_capacity(problem.tasks.len());
    for (j, (task, choices)) in choices(problem, big_m).enumerate() {
        let mut pick = Vec::new();
        for k in choices.iter() {
            let y = model.add_binary(format!("y_{j}_{k}"), task.value(problem.t_fwd, k));
            pick.push((y, 1.0));
            if k > 0 {
                nodes.push((y, f64::from(k)));
            }
        }
        model.add_row(format!("choose_{j}"), pick, 1.0, 1.0);
        task_ends.push(nodes.len());
    }
    for (g, group) in problem.groups.iter().enumerate() {
        let terms = group_terms(problem, group, &nodes, &task_ends);
        let least = group.min_total.map_or(f64::NEG_INFINITY, f64::from);
        let most = group.max_total.map_or(f64::INFINITY, f64::from);
        model.add_row(format!("group_{g}"), terms, least, most);
    }
    let idle = f64::from(problem.nodes);
    model.add_row("nodes".to_owned(), nodes, f64::NEG_INFINITY, idle);
    model
}

/// Returns the terms of the row `nodes` for the tasks of the group.
fn group_terms(
    problem: &Problem,
    group: &GroupLimit,
    nodes: &[(usize, f64)],
    task_ends: &[usize],
) -> Vec<(usize, f64)> {
    let mut terms = Vec::new();
    let mut start = 0;
    for (task, &end) in problem.tasks.iter().zip(task_ends) {
        if group.tasks.contains(&task.name) {
            terms.extend_from_slice(&nodes[start..end]);
        }
        start = end;
    }
    terms
}

/// Column values that represent the plan `counts`. If a task's count is not allowed, all values of the task are 0.
pub fn encode(problem: &Problem, big_m: BigM, counts: &[u32]) -> Vec<f64> {
    choices(problem, big_m)
        .zip(counts)
        .flat_map(|((_, choices), &count)| {
            let is_chosen = |k| f64::from(u8::from(k == count));
            choices.iter().map(is_chosen).collect::<Vec<f64>>()
        })
        .collect()
}

/// The plan that the column `values` represent: for each task, Σ k · y_j_k, rounded.
pub fn decode(problem: &Problem, big_m: BigM, values: &[f64]) -> Vec<u32> {
    let mut values = values.iter();
    choices(problem, big_m)
        .map(|(_, choices)| {
            let total: f64 = choices
                .iter()
                .zip(values.by_ref())
                .map(|(k, y)| f64::from(k) * y)
                .sum();
            total.round() as u32
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic;

    fn small(big_m: BigM) -> (Problem, Model) {
        let mut problem = synthetic::problem(2, 9, 7);
        for (task, (min, current)) in problem.tasks.iter_mut().zip([(2, 3), (1, 0)]) {
            task.min_nodes = min;
            task.max_nodes = 8;
            task.current = current;
        }
        let model = build(&problem, big_m);
        (problem, model)
    }

    // Small fixed example: two tasks with 8 and 9 allowed counts.
    #[test]
    fn one_binary_per_allowed_count() {
        let (problem, model) = small(BigM::Corrected);
        let names: Vec<&str> = model.columns.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names[..3], ["y_0_0", "y_0_2", "y_0_3"]);
        assert_eq!(names.len(), 8 + 9);
        assert_eq!(columns(&problem, BigM::Corrected), 17);
        assert_eq!(model.rows.len(), 3);
        assert_eq!(
            model.columns[2].objective,
            problem.tasks[0].value(problem.t_fwd, 3)
        );
    }

    // Derived by formula: the paper's M caps a change at (9 + 1) / 2 nodes.
    #[test]
    fn the_papers_big_m_caps_the_change() {
        let (problem, model) = small(BigM::Paper);
        let names: Vec<&str> = model.columns.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names[6..9], ["y_0_7", "y_0_8", "y_1_0"]);
        assert_eq!(names.last(), Some(&"y_1_5"));
        assert_eq!(columns(&problem, BigM::Paper), model.columns.len() as u64);
    }

    #[test]
    fn plans_survive_the_round_trip() {
        let (problem, model) = small(BigM::Corrected);
        for plan in [[0, 0], [3, 5], [8, 1]] {
            let values = encode(&problem, BigM::Corrected, &plan);
            assert_eq!(values.len(), model.columns.len());
            assert_eq!(decode(&problem, BigM::Corrected, &values), plan);
        }
    }

    #[test]
    fn a_minimum_past_the_papers_big_m_leaves_no_choice() {
        let (mut problem, _) = small(BigM::Paper);
        problem.tasks[0].min_nodes = 11;
        problem.tasks[0].max_nodes = 64;
        let model = build(&problem, BigM::Paper);
        assert!(model.rows[0].terms.is_empty());
        problem.tasks[0].min_nodes = 10;
        assert_eq!(build(&problem, BigM::Paper).rows[0].terms, [(0, 1.0)]);
    }
}
