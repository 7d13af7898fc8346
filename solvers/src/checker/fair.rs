//! Checks of the max-min goal: the number of running tasks, and the least share among them.

use super::TOLERANCE;
use super::recount::{best_rate, bounds, corners, term};
use super::violation::Violation;
use crate::{Allocation, Problem, Status, Task};

/// A task's term as a share of the most that it can earn; 1 if it can earn nothing.
pub(super) fn share(task: &Task, t_fwd: f64, best: f64, count: u32) -> f64 {
    if best > 0.0 {
        term(task, t_fwd, count).net() / (t_fwd * best)
    } else {
        1.0
    }
}

/// The tolerance for comparing two computations of the same share. It is relative for shares above 1 or below −1: a
/// task may lose the earnings of many windows, so a negative share can be large.
fn slack(share: f64) -> f64 {
    TOLERANCE * share.abs().max(1.0)
}

/// Checks the stated fairness. If `proves` is set and the answer is reported as optimal, also looks for
/// a fairer plan.
pub(super) fn check(
    problem: &Problem,
    counts: &[u32],
    answer: &Allocation,
    proves: bool,
    out: &mut Vec<Violation>,
) {
    let best: Vec<f64> = problem.tasks.iter().map(best_rate).collect();
    let mut running = 0;
    let mut least: Option<f64> = None;
    for ((task, &best), &count) in problem.tasks.iter().zip(&best).zip(counts) {
        if count > 0 {
            let share = share(task, problem.t_fwd, best, count);
            running += 1;
            least = Some(least.map_or(share, |least| least.min(share)));
        }
    }
    let agrees = answer.fairness.is_some_and(|stated| {
        let same_share = match (stated.least_share, least) {
            (Some(a), Some(b)) => (a - b).abs() <= slack(b),
            (a, b) => a.is_none() && b.is_none(),
        };
        same_share && stated.running as usize == running
    });
    if !agrees {
        out.push(Violation::WrongFairness {
            running: running as u32,
            share: least,
            stated: format!("{:?}", answer.fairness),
        });
    }
    if proves && answer.status == Status::Optimal {
        check_optimum(problem, &best, running, least, out);
    }
}

/// Checks that no more tasks could run, and that no plan with the same number of running tasks has a greater least
/// share.
fn check_optimum(
    problem: &Problem,
    best: &[f64],
    running: usize,
    least: Option<f64>,
    out: &mut Vec<Violation>,
) {
    let minima = problem.tasks.iter().filter_map(|task| {
        let (min, max) = bounds(task);
        (min <= max).then_some(min)
    });
    let possible = most_that_fit(minima.collect(), problem.nodes);
    if running < possible {
        out.push(Violation::TooFewRun { running, possible });
        return;
    }
    let Some(least) = least else { return };
    let level = least + slack(least);
    let tasks = problem.tasks.iter().zip(best);
    let fewest = tasks.filter_map(|(task, &best)| fewest_above(task, problem.t_fwd, best, level));
    if most_that_fit(fewest.collect(), problem.nodes) >= running {
        out.push(Violation::LeastShareTooLow {
            running,
            least,
            level,
        });
    }
}

/// The maximum number of `counts` that fit into `nodes` together. The smallest are taken first.
fn most_that_fit(mut counts: Vec<u32>, nodes: u32) -> usize {
    counts.sort_unstable();
    let sums = counts.iter().scan(0u64, |sum, &count| {
        *sum += u64::from(count);
        Some(*sum)
    });
    sums.take_while(|&sum| sum <= u64::from(nodes)).count()
}

/// The least count at which the task's share is above `level`; `None` if there is no such count.
pub(super) fn fewest_above(task: &Task, t_fwd: f64, best: f64, level: f64) -> Option<u32> {
    let (min, max) = bounds(task);
    if min > max {
        return None;
    }
    let above = |count| share(task, t_fwd, best, count) > level;
    let mut below = None;
    for corner in corners(task, min, max) {
        if above(corner) {
            // At the previous corner, the share is not above the level. From there to this corner,
            // the share is linear: bisect.
            let (mut low, mut high) = (below.unwrap_or(corner), corner);
            while high - low > 1 {
                let middle = low + (high - low) / 2;
                if above(middle) {
                    high = middle;
                } else {
                    low = middle;
                }
            }
            return Some(high);
        }
        below = Some(corner);
    }
    None
}
