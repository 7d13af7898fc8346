//! Recomputes an answer's feasibility and objective from the problem alone, and looks for plans that
//! refute the answer's claims.
//!
//! The checker shares no code with any solver. It interpolates the curves and adds up the costs with code that is as
//! simple as possible.
//!
//! The checker can refute a claim but cannot prove it. To refute a bound, it tries every plan that differs from the
//! answer's plan in one task. To refute a max-min fair plan, it looks for a plan that runs the same number of tasks,
//! all with a share above the answer's least share. Apart from the groups and logarithmic factors, the running time is
//! linear in the number of points of the curves, so a check usually takes no longer than a solve.

mod fair;
mod recount;
mod violation;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use recount::{bounds, corners, term};
pub use violation::Violation;

use crate::solver::BigM;
use crate::{Allocation, Goal, Problem, Status, Task};

/// Relative tolerance on objectives and on shares above 1 or below −1; absolute tolerance on all other shares.
const TOLERANCE: f64 = 1e-6;

/// Rounding error to allow if gains and losses cancel out, relative to the sum of their absolute
/// values.
const ROUNDING: f64 = 1e-9;

/// Checks `answer` against `problem`; `big_m` determines which changes are allowed.
///
/// # Errors
/// The answer is wrong. The error lists all violations found.
pub fn check(problem: &Problem, answer: &Allocation, big_m: BigM) -> Result<(), Vec<Violation>> {
    let promises_plan = matches!(answer.status, Status::Optimal | Status::Feasible);
    let (Some(counts), Some(objective)) = (&answer.counts, answer.objective) else {
        return if promises_plan {
            Err(vec![mismatch(answer, false)])
        } else {
            Ok(())
        };
    };
    let mut out = Vec::new();
    if !promises_plan {
        out.push(mismatch(answer, true));
    }
    let broken = problem.check(counts, big_m).err().unwrap_or_default();
    let is_feasible = out.is_empty() && broken.is_empty();
    out.extend(broken);
    if counts.len() != problem.tasks.len() {
        return Err(out);
    }
    let is_free = problem.groups.is_empty() && big_m == BigM::Corrected;
    let plan = Plan::of(problem, counts);
    check_objective(&plan, objective, answer.bound, &mut out);
    match problem.goal {
        Goal::MaxMin => fair::check(problem, counts, answer, is_free, &mut out),
        Goal::Total => {
            check_no_fairness(counts, answer, &mut out);
            if let (Some(bound), true) = (answer.bound, is_feasible && is_free) {
                check_bound(problem, &plan, counts, bound, &mut out);
            }
        }
    }
    if out.is_empty() { Ok(()) } else { Err(out) }
}

impl Problem {
    /// Checks that the plan `counts`, in task order, meets all constraints. `big_m` determines which
    /// changes are allowed. [`Problem::objective`] is meaningless for a plan that fails this check.
    ///
    /// # Errors
    /// The plan violates a constraint. The error lists all violations found.
    pub fn check(&self, counts: &[u32], big_m: BigM) -> Result<(), Vec<Violation>> {
        if counts.len() != self.tasks.len() {
            return Err(vec![Violation::WrongLength {
                found: counts.len(),
                expected: self.tasks.len(),
            }]);
        }
        let mut out = Vec::new();
        check_counts(self, counts, big_m, &mut out);
        check_groups(self, counts, &mut out);
        if out.is_empty() { Ok(()) } else { Err(out) }
    }
}

fn mismatch(answer: &Allocation, has_plan: bool) -> Violation {
    Violation::PlanMismatch {
        status: answer.status.as_str(),
        has_plan,
    }
}

fn check_counts(problem: &Problem, counts: &[u32], big_m: BigM, out: &mut Vec<Violation>) {
    let used: u64 = counts.iter().map(|&c| u64::from(c)).sum();
    if used > u64::from(problem.nodes) {
        out.push(Violation::OverCapacity {
            used,
            nodes: problem.nodes,
        });
    }
    let cap = big_m.change_cap(problem.nodes);
    for (task, &count) in problem.tasks.iter().zip(counts) {
        let (min, max) = bounds(task);
        if count != 0 && (count < min || count > max) {
            out.push(Violation::OutOfBounds {
                task: task.name.clone(),
                count,
                min,
                max,
            });
        }
        let change = count.abs_diff(task.current);
        if change > cap {
            out.push(Violation::OverChangeCap {
                task: task.name.clone(),
                change,
                cap,
            });
        }
    }
}

fn check_groups(problem: &Problem, counts: &[u32], out: &mut Vec<Violation>) {
    for group in &problem.groups {
        let members: BTreeSet<&str> = group.tasks.iter().map(String::as_str).collect();
        let tasks = problem.tasks.iter().zip(counts);
        let inside = tasks.filter(|(task, _)| members.contains(task.name.as_str()));
        let total: u64 = inside.map(|(_, &count)| u64::from(count)).sum();
        let min = u64::from(group.min_total.unwrap_or(0));
        let max = group.max_total.map_or(u64::MAX, u64::from);
        if total < min || total > max {
            out.push(Violation::GroupLimit {
                group: group.name.clone(),
                total,
                min,
                max,
            });
        }
    }
}

/// A plan's objective, recomputed.
struct Plan {
    objective: f64,
    /// The sum of all gains and all losses.
    turnover: f64,
}

impl Plan {
    fn of(problem: &Problem, counts: &[u32]) -> Self {
        let (mut gains, mut losses) = (0.0, 0.0);
        for (task, &count) in problem.tasks.iter().zip(counts) {
            let term = term(task, problem.t_fwd, count);
            gains += term.gain;
            losses += term.loss;
        }
        Plan {
            objective: gains - losses,
            turnover: gains + losses,
        }
    }

    /// The tolerance for comparing two computations of the same objective, both about `size`.
    fn slack(&self, size: f64) -> f64 {
        TOLERANCE * size.abs() + ROUNDING * self.turnover
    }
}

fn check_objective(plan: &Plan, stated: f64, bound: Option<f64>, out: &mut Vec<Violation>) {
    let recomputed = plan.objective;
    let slack = plan.slack(recomputed);
    if (stated - recomputed).abs() > slack || !stated.is_finite() {
        out.push(Violation::WrongObjective { stated, recomputed });
    }
    if let Some(bound) = bound
        && (bound < recomputed - slack || !bound.is_finite())
    {
        out.push(Violation::BoundBelowObjective {
            bound,
            objective: recomputed,
        });
    }
}

fn check_no_fairness(counts: &[u32], answer: &Allocation, out: &mut Vec<Violation>) {
    if answer.fairness.is_some() {
        out.push(Violation::WrongFairness {
            running: counts.iter().filter(|&&count| count > 0).count() as u32,
            share: None,
            stated: format!("{:?}", answer.fairness),
        });
    }
}

/// Looks for a plan whose objective is above the bound, among the plans that differ from the answer's
/// plan in the count of one task.
fn check_bound(
    problem: &Problem,
    plan: &Plan,
    counts: &[u32],
    bound: f64,
    out: &mut Vec<Violation>,
) {
    let used: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    let free = u64::from(problem.nodes).saturating_sub(used);
    for (task, &count) in problem.tasks.iter().zip(counts) {
        let within = u32::try_from(free + u64::from(count)).unwrap_or(u32::MAX);
        let (other, gain) = best_change(task, problem.t_fwd, count, within);
        let better = plan.objective + gain;
        if gain > 0.0 && better > bound + plan.slack(better) {
            out.push(Violation::BoundBelowPlan {
                bound,
                task: task.name.clone(),
                count: other,
                better,
            });
            return;
        }
    }
}

/// Returns the count of at most `within` at which the task earns most, and the difference from its earnings at `count`.
fn best_change(task: &Task, t_fwd: f64, count: u32, within: u32) -> (u32, f64) {
    let (min, max) = bounds(task);
    let now = term(task, t_fwd, count).net();
    let others = std::iter::once(0).chain(corners(task, min, max.min(within)));
    let mut best = (count, 0.0);
    for other in others {
        let gain = term(task, t_fwd, other).net() - now;
        if gain > best.1 {
            best = (other, gain);
        }
    }
    best
}
