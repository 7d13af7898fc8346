//! The ranges of numbers that every solver accepts in a problem.
//!
//! The solvers compute sums of window × rate and of rescale cost × rate. The libraries behind `highs` and `cbc` have
//! limits of their own. CBC aborts the process on a coefficient of 1e25 or more, and HiGHS rejects matrix entries above
//! 1e15. Both have absolute tolerances of about 1e-7. The following list gives the coefficients of each formulation,
//! and explains why they are within these limits:
//!
//! - **Objective of counts and paper**: t_fwd × rate, and rescale × current rate. They are scaled by a power of two to
//!   at most 1e6. Scaling is exact, because [`WINDOW`], [`RATE`] and [`RESCALE`] keep the coefficients and their sum
//!   far from the limits of a float.
//! - **Rows of counts and paper**: node counts, and a big-M of 2 N or of a task's minimum. They are
//!   below 2^33, because counts have 32 bits.
//! - **Rows and bounds of the fair level**: shares × 1024. A share is at most 1 and at least
//!   −[`LOSS`].
//! - **Objective of the fair level**: 1, because the number of running tasks is maximised in an earlier
//!   step. The level is accurate to about 1e-7 of the widest range of shares; a proof has the same tolerance.
//!
//! Within these ranges, every intermediate value is finite in every solver, including the exact solver and the
//! heuristic: 1e12 × 1e100 × 1e6 summed over 2^32 tasks is below 1e128. The smallest gain over a window is 1e-106.

use std::ops::RangeInclusive;

use crate::{Problem, SolveError, Task};

/// Accepted lengths of a forward window, in seconds.
pub const WINDOW: RangeInclusive<f64> = 1e-6..=1e12;

/// Accepted objective per second at a point of a curve. 0 is also accepted.
pub const RATE: RangeInclusive<f64> = 1e-100..=1e100;

/// Accepted costs of growing or shrinking, in seconds of progress.
pub const RESCALE: RangeInclusive<f64> = 0.0..=1e12;

/// Maximum cost of one change of a task's count, as a multiple of the most that the task can earn in
/// the window.
pub const LOSS: f64 = 1e6;

/// A number smaller than every gain within these ranges. It is used as a divisor in place of 0.
pub const NOTHING: f64 = 1e-120;

/// Describes every number in `problem` that is out of range, in one sentence each. The curves must be well formed.
pub fn faults(problem: &Problem) -> Vec<String> {
    let mut out = Vec::new();
    push_window(problem.t_fwd, &mut out);
    for task in &problem.tasks {
        push_task(task, problem.t_fwd, true, &mut out);
    }
    out
}

/// Adds a fault if the window is out of range.
pub(crate) fn push_window(window: f64, out: &mut Vec<String>) {
    if !WINDOW.contains(&window) {
        let (found, expected) = (short(window), seconds(&WINDOW));
        out.push(format!("t_fwd is {found}, expected {expected}"));
    }
}

/// Adds the faults of a task's numbers that are out of range: at most one for its weight and rates, and one for each
/// cost. The loss from a rescale is checked only if the task's curve and bounds are well formed, and if the window and
/// each of the task's numbers are in range.
pub(crate) fn push_task(task: &Task, window: f64, is_well_formed: bool, out: &mut Vec<String>) {
    let before = out.len();
    push_rates(task, out);
    push_costs(task, out);
    if is_well_formed && out.len() == before && WINDOW.contains(&window) {
        push_losses(task, window, out);
    }
}

/// Checks that all numbers of a problem are in range.
///
/// # Errors
/// [`SolveError::Invalid`] with all [`faults`] if a number is out of range.
pub fn check(problem: &Problem) -> Result<(), SolveError> {
    let faults = faults(problem);
    if faults.is_empty() {
        Ok(())
    } else {
        Err(SolveError::Invalid(faults))
    }
}

/// Whether `rate` is accepted at a point of a curve.
pub fn is_rate(rate: f64) -> bool {
    rate == 0.0 || RATE.contains(&rate)
}

/// Describes a range that also accepts 0, for messages, such as "0, or 1e-100 to 1e100".
pub fn or_zero(range: &RangeInclusive<f64>) -> String {
    let (low, high) = (short(*range.start()), short(*range.end()));
    format!("0, or {low} to {high}")
}

/// Describes a range of seconds for messages, such as "a number of seconds from 1e-6 to 1e12".
pub fn seconds(range: &RangeInclusive<f64>) -> String {
    let (low, high) = (short(*range.start()), short(*range.end()));
    format!("a number of seconds from {low} to {high}")
}

fn push_rates(task: &Task, out: &mut Vec<String>) {
    let weight = task.weight;
    if !(weight.is_finite() && weight >= 0.0) {
        let (name, found) = (&task.name, short(weight));
        out.push(format!(
            "task {name}: weight is {found}, expected a number of at least 0"
        ));
        return;
    }
    let (least, most) = task.curve_objective.extremes();
    if is_rate(weight * least) && is_rate(weight * most) {
        return;
    }
    let mut rates = task.curve_objective.iter().map(|value| weight * value);
    let Some(rate) = rates.find(|&rate| !is_rate(rate)) else {
        return;
    };
    let weighted = if weight == 1.0 { "" } else { " times weight" };
    out.push(format!(
        "task {}: curve_objective{weighted} contains {}, expected {}",
        task.name,
        short(rate),
        or_zero(&RATE)
    ));
}

fn push_costs(task: &Task, out: &mut Vec<String>) {
    for (field, cost) in task.costs() {
        if !RESCALE.contains(&cost) {
            out.push(format!(
                "task {}: {field} is {}, expected {}",
                task.name,
                short(cost),
                seconds(&RESCALE)
            ));
        }
    }
}

fn push_losses(task: &Task, window: f64, out: &mut Vec<String>) {
    let largest = task.rescale_up.max(task.rescale_down);
    // The current count is allowed, so the current rate is at most the best rate and no cost can
    // exceed the limit.
    if largest <= LOSS * window && task.allows(task.current) {
        return;
    }
    let (rate, best) = (task.current_rate(), task.best_rate());
    for (field, cost) in task.costs() {
        if best > 0.0 && cost * rate > LOSS * window * best {
            out.push(format!(
                "task {}: {field} of {} s costs {} at its current rate, expected at most {} times \
                 the {} that it can earn in t_fwd",
                task.name,
                short(cost),
                short(cost * rate),
                short(LOSS),
                short(window * best)
            ));
        }
    }
}

/// Formats a number for messages: `1e12`, not `1000000000000`.
pub fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() || (1e-3..1e6).contains(&value.abs()) {
        format!("{value}")
    } else {
        format!("{value:e}")
    }
}
