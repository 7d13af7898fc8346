//! Recomputes an answer's feasibility and objective from the problem alone.
//!
//! It shares no code with any solver: the curve is interpolated and the costs
//! are added up here once more, in the plainest way.

use crate::solver::BigM;
use crate::{Allocation, Goal, Problem, Status, Task};

/// Relative tolerance on objectives.
const TOLERANCE: f64 = 1e-6;

/// One way in which an answer is wrong.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the fields are the values the messages print")]
pub enum Violation {
    /// The plan has not one count per task.
    #[error("{found} counts for {expected} tasks")]
    WrongLength { found: usize, expected: usize },
    /// More nodes used than idle.
    #[error("{used} nodes used, {nodes} idle")]
    OverCapacity { used: u64, nodes: u32 },
    /// A count outside a task's bounds.
    #[error("task {task} is given {count} nodes, allowed are 0 or {min} to {max}")]
    OutOfBounds {
        task: String,
        count: u32,
        min: u32,
        max: u32,
    },
    /// A change larger than the paper's big-M allows.
    #[error("task {task} changes by {change} nodes, the paper's big-M allows {cap}")]
    OverChangeCap { task: String, change: u32, cap: u32 },
    /// A group's total outside its limits.
    #[error("group {group} is given {total} nodes, allowed are {min} to {max}")]
    GroupLimit {
        group: String,
        total: u64,
        min: u64,
        max: u64,
    },
    /// The stated objective is not the plan's.
    #[error("objective stated as {stated}, recomputed as {recomputed}")]
    WrongObjective { stated: f64, recomputed: f64 },
    /// The bound lies below the plan's own objective.
    #[error("bound {bound} lies below the objective {objective}")]
    BoundBelowObjective { bound: f64, objective: f64 },
    /// The stated fairness is not the plan's.
    #[error("{running} tasks run with a least share of {share:?}, stated as {stated}")]
    WrongFairness {
        running: u32,
        share: Option<f64>,
        stated: String,
    },
    /// The plan is called optimal under a max-min goal, and more tasks could run.
    #[error("{running} tasks run, {possible} could")]
    TooFewRun { running: usize, possible: usize },
    /// The status promises a plan, or none, and the answer says otherwise.
    #[error("status {status} {}", if *.has_plan { "with a plan" } else { "without a plan" })]
    PlanMismatch {
        status: &'static str,
        has_plan: bool,
    },
}

/// Checks `answer` against `problem`; `big_m` states which changes are allowed.
///
/// # Errors
/// All violations, gathered.
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
    if counts.len() != problem.tasks.len() {
        out.push(Violation::WrongLength {
            found: counts.len(),
            expected: problem.tasks.len(),
        });
        return Err(out);
    }
    check_counts(problem, counts, big_m, &mut out);
    check_groups(problem, counts, &mut out);
    check_objective(problem, counts, objective, answer.bound, &mut out);
    check_fairness(problem, counts, answer, big_m, &mut out);
    if out.is_empty() { Ok(()) } else { Err(out) }
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
        let last = task.curve_nodes.last().copied().unwrap_or(0);
        let max = if task.max_nodes < last {
            task.max_nodes
        } else {
            last
        };
        if count != 0 && (count < task.min_nodes || count > max) {
            out.push(Violation::OutOfBounds {
                task: task.name.clone(),
                count,
                min: task.min_nodes,
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
        let total: u64 = problem
            .tasks
            .iter()
            .zip(counts)
            .filter(|(task, _)| group.tasks.contains(&task.name))
            .map(|(_, &count)| u64::from(count))
            .sum();
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

fn check_objective(
    problem: &Problem,
    counts: &[u32],
    stated: f64,
    bound: Option<f64>,
    out: &mut Vec<Violation>,
) {
    let recomputed: f64 = problem
        .tasks
        .iter()
        .zip(counts)
        .map(|(task, &count)| term(task, problem.t_fwd, count))
        .sum();
    let slack = TOLERANCE * recomputed.abs().max(1e-9);
    if (stated - recomputed).abs() > slack || stated.is_nan() {
        out.push(Violation::WrongObjective { stated, recomputed });
    }
    if let Some(bound) = bound
        && (bound < recomputed - slack || bound.is_nan())
    {
        out.push(Violation::BoundBelowObjective {
            bound,
            objective: recomputed,
        });
    }
}

fn check_fairness(
    problem: &Problem,
    counts: &[u32],
    answer: &Allocation,
    big_m: BigM,
    out: &mut Vec<Violation>,
) {
    let mut shares = Vec::new();
    for (task, &count) in problem.tasks.iter().zip(counts) {
        if count > 0 {
            shares.push(share(task, problem.t_fwd, count));
        }
    }
    let least = shares.iter().copied().reduce(f64::min);
    let agrees = match (problem.goal, &answer.fairness) {
        (Goal::Total, stated) => stated.is_none(),
        (Goal::MaxMin, None) => false,
        (Goal::MaxMin, Some(stated)) => {
            let same_share = match (stated.least_share, least) {
                (Some(a), Some(b)) => (a - b).abs() <= TOLERANCE,
                (a, b) => a.is_none() && b.is_none(),
            };
            same_share && stated.running as usize == shares.len()
        }
    };
    if !agrees {
        out.push(Violation::WrongFairness {
            running: shares.len() as u32,
            share: least,
            stated: format!("{:?}", answer.fairness),
        });
    }
    let claims_most = problem.goal == Goal::MaxMin && answer.status == Status::Optimal;
    if claims_most && problem.groups.is_empty() && big_m == BigM::Corrected {
        let possible = most_that_run(problem);
        if shares.len() < possible {
            out.push(Violation::TooFewRun {
                running: shares.len(),
                possible,
            });
        }
    }
}

/// How many tasks can run: those with the smallest minima.
fn most_that_run(problem: &Problem) -> usize {
    let bounds = problem.tasks.iter().map(|task| {
        let last = task.curve_nodes.last().copied().unwrap_or(0);
        (task.min_nodes, task.max_nodes.min(last))
    });
    let able = bounds.filter(|(min, max)| min <= max);
    let mut minima: Vec<u64> = able.map(|(min, _)| u64::from(min)).collect();
    minima.sort_unstable();
    let sums = minima.iter().scan(0, |sum, min| {
        *sum += min;
        Some(*sum)
    });
    sums.take_while(|&sum| sum <= u64::from(problem.nodes))
        .count()
}

/// The task's term as a share of its best, looked for count by count.
fn share(task: &Task, t_fwd: f64, count: u32) -> f64 {
    let last = task.curve_nodes.last().copied().unwrap_or(0);
    let turns = task.curve_nodes.iter().copied();
    let best = turns
        .chain([task.min_nodes, task.max_nodes, last])
        .filter(|&n| n >= task.min_nodes && n <= task.max_nodes && n <= last)
        .map(|n| curve_at(task, n))
        .fold(0.0, f64::max);
    if best > 0.0 {
        term(task, t_fwd, count) / (t_fwd * best)
    } else {
        1.0
    }
}

/// T_fwd · O(n) less the cost of the change, written out from the definition.
fn term(task: &Task, t_fwd: f64, count: u32) -> f64 {
    let rate = if task.current < task.min_nodes {
        0.0
    } else {
        curve_at(task, task.current)
    };
    let seconds_lost = if count > task.current {
        task.rescale_up
    } else if count < task.current {
        task.rescale_down
    } else {
        0.0
    };
    t_fwd * curve_at(task, count) - seconds_lost * rate
}

fn curve_at(task: &Task, count: u32) -> f64 {
    let points: Vec<(f64, f64)> = task
        .curve_nodes
        .iter()
        .map(|&n| f64::from(n))
        .zip(task.curve_objective.iter().copied())
        .collect();
    let x = f64::from(count);
    for pair in points.windows(2) {
        let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
        if x0 <= x && x <= x1 {
            let share = (x - x0) / (x1 - x0);
            return y0 * (1.0 - share) + y1 * share;
        }
    }
    points.last().map_or(0.0, |p| p.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fairness, GroupLimit};

    fn problem() -> Problem {
        let task = |name: &str, current| Task {
            name: name.into(),
            min_nodes: 2,
            max_nodes: 6,
            rescale_up: 10.0,
            rescale_down: 5.0,
            curve_nodes: vec![0, 8],
            curve_objective: vec![0.0, 80.0],
            current,
        };
        Problem {
            id: "p".into(),
            nodes: 8,
            t_fwd: 100.0,
            tasks: vec![task("a", 2), task("b", 0)],
            groups: vec![],
            goal: Goal::Total,
        }
    }

    fn answer(counts: Vec<u32>, objective: f64) -> Allocation {
        Allocation {
            status: Status::Feasible,
            objective: Some(objective),
            bound: None,
            counts: Some(counts),
            fairness: None,
        }
    }

    fn faults(problem: &Problem, answer: &Allocation) -> Vec<Violation> {
        check(problem, answer, BigM::Corrected)
            .err()
            .unwrap_or_default()
    }

    #[test]
    fn a_sound_plan_passes() {
        assert_eq!(faults(&problem(), &answer(vec![2, 6], 8000.0)), vec![]);
        assert_eq!(faults(&problem(), &answer(vec![0, 6], 5900.0)), vec![]);
    }

    // Deliberately broken answers: each must be rejected for its own reason.
    #[test]
    fn broken_plans_are_rejected() {
        let p = problem();
        use Violation::*;
        assert!(matches!(
            faults(&p, &answer(vec![4, 6], 9800.0))[..],
            [OverCapacity { used: 10, .. }]
        ));
        assert!(matches!(
            faults(&p, &answer(vec![2, 1], 3000.0))[..],
            [OutOfBounds { count: 1, .. }]
        ));
        assert!(matches!(
            faults(&p, &answer(vec![0, 7], 6900.0))[..],
            [OutOfBounds { count: 7, .. }]
        ));
        assert!(matches!(
            faults(&p, &answer(vec![2], 2000.0))[..],
            [WrongLength { .. }]
        ));
        assert!(matches!(
            faults(&p, &answer(vec![2, 6], 8000.1))[..],
            [WrongObjective { .. }]
        ));
        let low = Allocation {
            bound: Some(7000.0),
            ..answer(vec![2, 6], 8000.0)
        };
        assert!(matches!(faults(&p, &low)[..], [BoundBelowObjective { .. }]));
        let none = Allocation::without_plan(Status::Optimal);
        assert!(matches!(faults(&p, &none)[..], [PlanMismatch { .. }]));
        let some = Allocation {
            status: Status::Infeasible,
            ..answer(vec![2, 6], 8000.0)
        };
        assert!(matches!(faults(&p, &some)[..], [PlanMismatch { .. }]));
    }

    // Derived by formula: the best rate is 60 on 6 nodes, and 2 nodes earn 20.
    #[test]
    fn fairness_is_checked() {
        let p = Problem {
            goal: Goal::MaxMin,
            ..problem()
        };
        let fair = |running, least_share| Allocation {
            status: Status::Optimal,
            fairness: Some(Fairness {
                running,
                least_share: Some(least_share),
            }),
            ..answer(vec![2, 6], 8000.0)
        };
        assert_eq!(faults(&p, &fair(2, 1.0 / 3.0)), vec![]);
        for wrong in [fair(2, 0.5), fair(1, 1.0 / 3.0), answer(vec![2, 6], 8000.0)] {
            let found = faults(&p, &wrong);
            assert!(matches!(found[..], [Violation::WrongFairness { .. }]));
        }
        let too_few = Allocation {
            counts: Some(vec![0, 6]),
            objective: Some(5900.0),
            ..fair(1, 1.0)
        };
        assert!(matches!(
            faults(&p, &too_few)[..],
            [Violation::TooFewRun {
                running: 1,
                possible: 2
            }]
        ));
        let needless = faults(&problem(), &fair(2, 1.0 / 3.0));
        assert!(matches!(needless[..], [Violation::WrongFairness { .. }]));
    }

    #[test]
    fn caps_and_groups_are_checked() {
        let mut p = problem();
        let plan = answer(vec![2, 6], 8000.0);
        let over = check(&p, &plan, BigM::Paper).err().unwrap_or_default();
        assert!(matches!(
            over[..],
            [Violation::OverChangeCap {
                change: 6,
                cap: 4,
                ..
            }]
        ));
        p.groups = vec![GroupLimit {
            name: "g".into(),
            tasks: vec!["b".into()],
            min_total: None,
            max_total: Some(5),
        }];
        assert!(matches!(
            faults(&p, &plan)[..],
            [Violation::GroupLimit { total: 6, .. }]
        ));
    }
}
