//! Decides whether rounding and tolerances can hide a better plan.
//!
//! The values of a problem may span more orders of magnitude than a float has digits. The error of
//! a method is proportional to the largest value in its computations. If the plan found is not worth far more than this
//! error, the method may have missed a better plan.
//!
//! Example: the largest value is 1e12 and the tolerance is 1e-7, so the error may be 1e5. A plan that
//! is worth 10 is then not proven optimal.

use crate::{Problem, Task};

/// Relative error that a proven optimum may have.
const PROOF: f64 = 1e-6;

/// Whether an error of up to `error` in the objective matters. The error does not matter if it is
/// small relative to one of three numbers: the plan's objective, the sum of all gains and losses of
/// the plan `counts`, or the least that a task can earn.
pub(super) fn matters(problem: &Problem, counts: &[u32], objective: f64, error: f64) -> bool {
    let is_little = |size: f64| error <= PROOF * size;
    !is_little(objective.abs())
        && !is_little(turnover(problem, counts))
        && !is_little(least_gain(problem))
}

/// The sum of a plan's gains and rescale losses.
fn turnover(problem: &Problem, counts: &[u32]) -> f64 {
    let tasks = problem.tasks.iter().zip(counts);
    let of =
        |(task, &n): (&Task, &u32)| problem.t_fwd * task.objective_rate(n) + task.rescale_cost(n);
    tasks.map(of).sum()
}

/// A lower bound on the nonzero earnings of any task within the window; infinite if no task can earn anything.
fn least_gain(problem: &Problem) -> f64 {
    let of = |task: &Task| {
        let most = task.cap().min(problem.nodes);
        let gain = if task.min_nodes <= most || task.curve_objective.first() > Some(&0.0) {
            least_rate(task)
        } else {
            f64::INFINITY
        };
        problem.t_fwd * gain
    };
    problem.tasks.iter().map(of).fold(f64::INFINITY, f64::min)
}

/// A lower bound on the nonzero rates of the task.
fn least_rate(task: &Task) -> f64 {
    let (least, most) = task.curve_objective.extremes();
    // Between a point with rate 0 and the next point, a single node earns only its share of the
    // next point's rate. The share is at least 1 / `widest`.
    let widest = task
        .curve_nodes
        .last()
        .map_or(1.0, |&n| f64::from(n.max(1)));
    if most > 0.0 {
        task.weight * least / widest
    } else {
        f64::INFINITY
    }
}
