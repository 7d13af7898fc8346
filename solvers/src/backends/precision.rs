//! What rounding and tolerances leave open.
//!
//! Values of a problem may differ by more than the digits of a float. Where a method errs by
//! up to some amount, say a share of the largest value that it computes with, and the plan
//! found is worth far less, a better plan may have been missed.

use crate::{Problem, Task};

/// Relative error that a proven optimum may have.
const PROOF: f64 = 1e-6;

/// Whether an error of up to `error` in the objective matters: it is neither little beside
/// what the plan `counts` earns and loses, nor beside the least that a better one earns.
pub(super) fn matters(problem: &Problem, counts: &[u32], objective: f64, error: f64) -> bool {
    let is_little = |size: f64| error <= PROOF * size;
    !is_little(objective.abs())
        && !is_little(turnover(problem, counts))
        && !is_little(least_gain(problem))
}

/// All that a plan earns and loses.
fn turnover(problem: &Problem, counts: &[u32]) -> f64 {
    let tasks = problem.tasks.iter().zip(counts);
    let of =
        |(task, &n): (&Task, &u32)| problem.t_fwd * task.objective_rate(n) + task.rescale_cost(n);
    tasks.map(of).sum()
}

/// No task earns less than this in the window, unless it earns nothing; infinite where none
/// can earn anything.
fn least_gain(problem: &Problem) -> f64 {
    let of = |task: &Task| {
        let most = task.cap().min(problem.nodes);
        let gain = match task.min_nodes <= most || task.curve_objective.first() > Some(&0.0) {
            true => least_rate(task),
            false => f64::INFINITY,
        };
        problem.t_fwd * gain
    };
    problem.tasks.iter().map(of).fold(f64::INFINITY, f64::min)
}

/// The least rate besides 0 on any number of nodes.
fn least_rate(task: &Task) -> f64 {
    let (least, most) = task.curve_objective.extremes();
    // One node may be a small part of the way from a point of no rate to the next.
    let widest = task
        .curve_nodes
        .last()
        .map_or(1.0, |&n| f64::from(n.max(1)));
    match most > 0.0 {
        true => task.weight * least / widest,
        false => f64::INFINITY,
    }
}
