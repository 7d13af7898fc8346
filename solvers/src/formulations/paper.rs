//! The paper's formulation over task-node pairs (arXiv:2106.12091).
//!
//! Task j holds c of the N nodes now, and will hold n_j = Σ_n x_j_n nodes next. The formulation has the following
//! columns. Each is listed with its meaning and its rows:
//!
//! - `x_j_n`: task j holds node n. Σ_j x_j_n ≤ 1 for every node.
//! - `idle_j`: n_j is 0, so it need not reach the minimum. n_j ≥ min − M·idle, n_j ≤ M·(1 − idle).
//! - `off_j`: n_j is 0, so the maximum does not matter. n_j − M·off ≤ max, n_j ≤ M·(1 − off).
//! - `shrink_j`: the task gives up nodes and gains none. n_j − c ≥ X − M·shrink, n_j − c ≤ −X +
//!   M·(1 − shrink), with X = Σ_n (x_j_n xor c_j_n).
//! - `up_j`: n_j > c. n_j ≤ c + (M − c)·up, n_j ≥ (c + 1)·up.
//! - `down_j`: n_j < c. n_j ≤ M·(1 − down) + (c − 1)·down, n_j ≥ c·(1 − down).
//! - `w_j_i`: weight of curve point i. Σ_i w = 1, n_j = Σ_i nodes_i·w.
//! - `s_j_i`: n_j is between points i and i + 1. Σ_i s = 1, w_i ≤ s_(i−1) + s_i.
//!
//! The nodes that a task holds now are known, so x xor c is either x or 1 − x, and needs no column. The rows on `s`
//! ensure that at most two weights are positive, and that these are neighbours. The original declares an SOS2 set for
//! this purpose, but the libraries used here do not accept SOS2 sets of continuous columns.
//!
//! The no-migration rows require 2·d ≤ M for a change of d nodes, and the min rows require min ≤ M for
//! a task that gets no nodes. The original's M = N + 1 ([`BigM::Paper`]) can be too small for both. [`BigM::Corrected`]
//! uses 2·N and max(N + 1, min) in these rows, and thus has the same optimum as the counts formulation.

use crate::model::{Column, Model};
use crate::solver::refuse_groups;
use crate::{BigM, Goal, Problem, SolveError, Task};

/// The indices of the columns of one task.
struct Block {
    /// Index of the first of the N columns x_j_n.
    x: usize,
    idle: usize,
    off: usize,
    shrink: usize,
    up: usize,
    down: usize,
    /// Index of the column of the first weight. There is one weight for each curve point.
    w: usize,
    /// Index of the column of the first segment. There is one segment between each pair of neighbouring curve points.
    s: usize,
    /// The index after the last column.
    end: usize,
    /// First node that the task holds now. The task's other nodes follow it.
    held: usize,
}

/// Number of a task's columns in addition to the x_j_n: five binaries, the weights and the
/// segments.
fn extra_columns(task: &Task) -> usize {
    let points = task.curve_nodes.len();
    5 + points + points.saturating_sub(1)
}

/// The column indices of every task. The nodes that tasks hold now are numbered in task order, starting at 0.
fn blocks(problem: &Problem) -> Vec<Block> {
    let (mut at, mut held) = (0, 0);
    let mut out = Vec::with_capacity(problem.tasks.len());
    for task in &problem.tasks {
        let own = at + problem.nodes as usize;
        let end = own + extra_columns(task);
        out.push(Block {
            x: at,
            idle: own,
            off: own + 1,
            shrink: own + 2,
            up: own + 3,
            down: own + 4,
            w: own + 5,
            s: own + 5 + task.curve_nodes.len(),
            end,
            held,
        });
        at = end;
        held += task.current as usize;
    }
    out
}

/// Number of columns of the model that [`build`] returns.
pub fn columns(problem: &Problem) -> u64 {
    let nodes = u64::from(problem.nodes);
    let of = |task| nodes + extra_columns(task) as u64;
    problem.tasks.iter().map(of).sum()
}

/// Builds the model.
///
/// # Errors
/// [`SolveError::SideConstraint`] if the problem has a group, [`SolveError::Goal`] if its goal is
/// max-min, and [`SolveError::Unfit`] if the tasks hold more nodes than are idle, because a node cannot
/// belong to two tasks.
pub fn build(problem: &Problem, big_m: BigM) -> Result<Model, SolveError> {
    accepts(problem)?;
    let mut model = Model {
        name: "paper".to_owned(),
        ..Model::default()
    };
    let blocks = blocks(problem);
    for (j, task) in problem.tasks.iter().enumerate() {
        add_columns(&mut model, problem, j, task);
    }
    // A model without tasks gets no node rows: they would be empty, and there can be billions of nodes.
    let shared = if blocks.is_empty() { 0 } else { problem.nodes };
    for n in 0..shared as usize {
        let holders = blocks.iter().map(|b| (b.x + n, 1.0)).collect();
        model.add_row(format!("node_{n}"), holders, f64::NEG_INFINITY, 1.0);
    }
    for (j, (task, block)) in problem.tasks.iter().zip(&blocks).enumerate() {
        let mut rows = Rows {
            model: &mut model,
            j,
            nodes: problem.nodes as usize,
            task,
            block,
        };
        rows.bounds(big_m);
        rows.no_migration(big_m);
        rows.cost();
        rows.curve();
    }
    Ok(model)
}

/// Checks that the formulation can express the problem.
///
/// # Errors
/// Same as [`build`].
pub fn accepts(problem: &Problem) -> Result<(), SolveError> {
    const NAME: &str = "the paper formulation";
    refuse_groups(NAME, problem)?;
    if problem.goal == Goal::MaxMin {
        return Err(SolveError::Goal { solver: NAME });
    }
    let held: u64 = problem.tasks.iter().map(|t| u64::from(t.current)).sum();
    if held > u64::from(problem.nodes) {
        return Err(SolveError::Unfit(format!(
            "the tasks hold {held} nodes now but only {} are idle, which the paper formulation \
             cannot express: use the counts formulation",
            problem.nodes
        )));
    }
    Ok(())
}

fn add_columns(model: &mut Model, problem: &Problem, j: usize, task: &Task) {
    for n in 0..problem.nodes {
        model.add_binary(format!("x_{j}_{n}"), 0.0);
    }
    for name in ["idle", "off", "shrink"] {
        model.add_binary(format!("{name}_{j}"), 0.0);
    }
    let rate = task.current_rate();
    model.add_binary(format!("up_{j}"), -task.rescale_up * rate);
    model.add_binary(format!("down_{j}"), -task.rescale_down * rate);
    for i in 0..task.curve_objective.len() {
        model.add_column(Column {
            name: format!("w_{j}_{i}"),
            lower: 0.0,
            upper: 1.0,
            integer: false,
            objective: problem.t_fwd * task.rate_at_point(i),
        });
    }
    for i in 1..task.curve_nodes.len() {
        model.add_binary(format!("s_{j}_{}", i - 1), 0.0);
    }
}

/// Adds the rows of one task to the model.
struct Rows<'a> {
    model: &'a mut Model,
    j: usize,
    nodes: usize,
    task: &'a Task,
    block: &'a Block,
}

impl Rows<'_> {
    /// The terms of n_j, followed by `others`.
    fn total_and(&self, others: &[(usize, f64)]) -> Vec<(usize, f64)> {
        let x = (self.block.x..self.block.x + self.nodes).map(|x| (x, 1.0));
        x.chain(others.iter().copied()).collect()
    }

    fn at_most(&mut self, name: &str, terms: Vec<(usize, f64)>, most: f64) {
        let name = format!("{name}_{}", self.j);
        self.model.add_row(name, terms, f64::NEG_INFINITY, most);
    }

    fn at_least(&mut self, name: &str, terms: Vec<(usize, f64)>, least: f64) {
        let name = format!("{name}_{}", self.j);
        self.model.add_row(name, terms, least, f64::INFINITY);
    }

    /// Adds the rows that make n_j either 0 or a number between the task's minimum and maximum.
    fn bounds(&mut self, big_m: BigM) {
        let (idle, off) = (self.block.idle, self.block.off);
        let (min, max) = (
            f64::from(self.task.min_nodes),
            f64::from(self.task.max_nodes),
        );
        let m = original_m(self.nodes);
        let m_min = match big_m {
            BigM::Paper => m,
            BigM::Corrected => m.max(min),
        };
        self.at_least("min", self.total_and(&[(idle, m_min)]), min);
        self.at_most("min_or_zero", self.total_and(&[(idle, m)]), m);
        self.at_most("max", self.total_and(&[(off, -m)]), max);
        self.at_most("max_or_zero", self.total_and(&[(off, m)]), m);
    }

    /// Adds the rows that make a growing task keep all of its nodes, and keep a shrinking task from gaining any.
    ///
    /// With X = gained + lost and n_j − c = gained − lost, the first row is 2·lost ≤ M·shrink and the second 2·gained ≤
    /// M·(1 − shrink). Both are written with the terms 2·x and M·shrink on the left, and the constants on the right.
    fn no_migration(&mut self, big_m: BigM) {
        let m = match big_m {
            BigM::Paper => original_m(self.nodes),
            BigM::Corrected => 2.0 * self.nodes as f64,
        };
        let Block {
            x, held, shrink, ..
        } = *self.block;
        let now = held..held + self.task.current as usize;
        let c = f64::from(self.task.current);
        let kept = now.clone().map(|n| (x + n, 2.0));
        let lost_row = kept.chain([(shrink, m)]).collect();
        self.at_least("keep", lost_row, 2.0 * c);
        let gained = (0..self.nodes).filter(|n| !now.contains(n));
        let gained_row = gained.map(|n| (x + n, 2.0)).chain([(shrink, m)]).collect();
        self.at_most("gain", gained_row, m);
    }

    /// Adds the rows that make `up` 1 if n_j > c, and `down` 1 if n_j < c. The coefficients of `up` and `down` in the
    /// objective are the rescale costs.
    fn cost(&mut self) {
        let Block { up, down, .. } = *self.block;
        let m = original_m(self.nodes);
        let c = f64::from(self.task.current);
        self.at_most("up", self.total_and(&[(up, c - m)]), c);
        self.at_least("up_or_not", self.total_and(&[(up, -(c + 1.0))]), 0.0);
        self.at_most("down", self.total_and(&[(down, m - (c - 1.0))]), m);
        self.at_least("down_or_not", self.total_and(&[(down, c)]), c);
    }

    /// Adds the rows that make n_j a weighted mean of two neighbouring points of the curve.
    fn curve(&mut self) {
        let Block { w, s, end, .. } = *self.block;
        let j = self.j;
        let points = &self.task.curve_nodes;
        let all = (w..s).map(|w| (w, 1.0)).collect();
        let of_count: Vec<(usize, f64)> = points
            .iter()
            .enumerate()
            .map(|(i, &n)| (w + i, -f64::from(n)))
            .filter(|term| term.1 != 0.0)
            .collect();
        let count = self.total_and(&of_count);
        self.model.add_row(format!("weights_{j}"), all, 1.0, 1.0);
        self.model.add_row(format!("count_{j}"), count, 0.0, 0.0);
        if s == end {
            return;
        }
        let segments = (s..end).map(|s| (s, 1.0)).collect();
        self.model
            .add_row(format!("segment_{j}"), segments, 1.0, 1.0);
        for i in 0..points.len() {
            let left = i.checked_sub(1).map(|left| (s + left, -1.0));
            let right = (s + i < end).then_some((s + i, -1.0));
            let terms = [(w + i, 1.0)]
                .into_iter()
                .chain(left)
                .chain(right)
                .collect();
            self.at_most(&format!("near_{i}"), terms, 0.0);
        }
    }
}

/// N + 1, the value of M in all rows of the original.
fn original_m(nodes: usize) -> f64 {
    nodes as f64 + 1.0
}

/// Column values that represent the plan `counts`. A growing task takes the free nodes with the lowest numbers; a
/// shrinking task gives up its nodes with the highest numbers.
pub fn encode(problem: &Problem, counts: &[u32]) -> Vec<f64> {
    let blocks = blocks(problem);
    let mut values = vec![0.0; blocks.last().map_or(0, |b| b.end)];
    let mut free = vec![true; problem.nodes as usize];
    for ((task, block), &count) in problem.tasks.iter().zip(&blocks).zip(counts) {
        let kept = count.min(task.current) as usize;
        for n in (block.held..free.len()).take(kept) {
            values[block.x + n] = 1.0;
            free[n] = false;
        }
        encode_marks(task, block, count, &mut values);
    }
    let mut free = (0..free.len()).filter(|&n| free[n]);
    for ((task, block), &count) in problem.tasks.iter().zip(&blocks).zip(counts) {
        let gained = count.saturating_sub(task.current) as usize;
        for n in free.by_ref().take(gained) {
            values[block.x + n] = 1.0;
        }
    }
    values
}

/// Sets all columns except x for a task whose count changes to `count`.
fn encode_marks(task: &Task, block: &Block, count: u32, values: &mut [f64]) {
    let mark = |is: bool| f64::from(u8::from(is));
    values[block.idle] = mark(count == 0);
    values[block.shrink] = mark(count < task.current);
    values[block.up] = mark(count > task.current);
    values[block.down] = mark(count < task.current);
    let points = &task.curve_nodes;
    if points.len() < 2 {
        values[block.w..block.s].fill(1.0);
        return;
    }
    let above = points.partition_point(|&n| n < count);
    let i = above.clamp(1, points.len() - 1) - 1;
    let (n0, n1) = (f64::from(points[i]), f64::from(points[i + 1]));
    let share = (f64::from(count) - n0) / (n1 - n0);
    values[block.w + i] = 1.0 - share;
    values[block.w + i + 1] = share;
    values[block.s + i] = 1.0;
}

/// The plan that the column `values` represent: for each task, the number of its x_j_n above one half.
pub fn decode(problem: &Problem, values: &[f64]) -> Vec<u32> {
    blocks(problem)
        .iter()
        .map(|block| {
            let x = &values[block.x..block.x + problem.nodes as usize];
            x.iter().filter(|&&x| x > 0.5).count() as u32
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic;

    fn sums(model: &Model, values: &[f64]) -> Vec<f64> {
        let sum = |terms: &[(usize, f64)]| terms.iter().map(|&(c, a)| a * values[c]).sum();
        model.rows.iter().map(|r| sum(&r.terms)).collect()
    }

    /// Names of the rows that `values` violate.
    fn broken<'a>(model: &'a Model, values: &[f64]) -> Vec<&'a str> {
        let sums = sums(model, values);
        let rows = model.rows.iter().zip(sums);
        rows.filter(|(r, sum)| *sum < r.lower - 1e-9 || *sum > r.upper + 1e-9)
            .map(|(r, _)| r.name.as_str())
            .collect()
    }

    #[test]
    fn billions_of_nodes_without_a_task_make_no_rows() {
        let problem = Problem {
            nodes: u32::MAX,
            tasks: Vec::new(),
            ..small()
        };
        let model = build(&problem, BigM::Corrected).unwrap();
        assert!(model.rows.is_empty() && model.columns.is_empty());
    }

    fn small() -> Problem {
        let mut problem = synthetic::problem(3, 12, 4);
        for (task, (min, current)) in problem.tasks.iter_mut().zip([(2, 3), (1, 4), (3, 1)]) {
            task.min_nodes = min;
            task.max_nodes = 12;
            task.current = current;
            task.curve_nodes = vec![0, 1, 3, 12].into();
            task.curve_objective = task.curve_objective[..4].into();
        }
        problem
    }

    // For each plan, the model's objective equals the problem's objective.
    #[test]
    fn a_plan_satisfies_the_rows_and_keeps_its_objective() {
        let problem = small();
        let model = build(&problem, BigM::Corrected).unwrap();
        assert_eq!(columns(&problem), model.columns.len() as u64);
        for plan in [
            [0, 0, 0],
            [3, 4, 0],
            [12, 0, 0],
            [2, 5, 5],
            [0, 1, 11],
            [4, 3, 3],
        ] {
            let values = encode(&problem, &plan);
            assert_eq!(broken(&model, &values), Vec::<&str>::new(), "{plan:?}");
            assert_eq!(decode(&problem, &values), plan);
            let terms = model.columns.iter().zip(&values);
            let objective: f64 = terms.map(|(c, x)| c.objective * x).sum();
            let expected = problem.objective(&plan);
            assert!((objective / expected - 1.0).abs() < 1e-12 || objective == expected);
        }
    }

    // With M = 13, the rows limit the change of a count to 6 nodes.
    #[test]
    fn the_papers_big_m_breaks_on_large_changes() {
        let problem = small();
        let model = build(&problem, BigM::Paper).unwrap();
        let broken = |plan: [u32; 3]| broken(&model, &encode(&problem, &plan));
        assert_eq!(broken([0, 0, 7]), Vec::<&str>::new());
        assert_eq!(broken([0, 0, 8]), ["gain_2"]);
    }

    #[test]
    fn plans_outside_the_bounds_break_rows() {
        let mut problem = small();
        problem.tasks[0].max_nodes = 4;
        let model = build(&problem, BigM::Corrected).unwrap();
        let broken = |plan: [u32; 3]| broken(&model, &encode(&problem, &plan));
        assert_eq!(broken([1, 0, 0]), ["min_0"]);
        assert_eq!(broken([5, 0, 0]), ["max_0"]);
    }

    // Small fixed example: task 0 swaps node 0 for node 8, which violates a row.
    #[test]
    fn migration_breaks_a_row() {
        let problem = small();
        let model = build(&problem, BigM::Corrected).unwrap();
        let mut values = encode(&problem, &[3, 4, 0]);
        (values[0], values[8]) = (0.0, 1.0);
        assert_eq!(broken(&model, &values), ["keep_0"]);
        let shrink = blocks(&problem)[0].shrink;
        values[shrink] = 1.0;
        assert_eq!(broken(&model, &values), ["gain_0"]);
    }
}
