//! A checker that verifies an answer from the problem alone. It shares no code with the solvers.

use std::fmt;

use gleaner_solvers::Status;

use crate::answer::Answer;
use crate::problem::Problem;

/// A fault in an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Violation {
    /// The status and the presence of a plan contradict each other.
    Plan(Status),
    /// The plan has this number of entries instead of one for each task.
    Length(usize),
    /// The task with this name holds nodes that match none of its options.
    Option(String),
    /// The task with this name is fixed, but the plan changes its nodes.
    Moved(String),
    /// The tasks hold more nodes of the class with this name than the class has.
    Capacity(String, u64, u32),
    /// The tasks of a group hold more nodes than the group's maximum.
    Group(u64, u32),
    /// The tasks of a group hold fewer nodes than the group's minimum.
    GroupShort(u64, u32),
    /// The stated objective differs from that of the plan.
    Objective(f64, f64),
    /// The stated bound is below the objective of the plan.
    Bound(f64, f64),
    /// The status is optimal, but the bound is too far above the objective.
    Gap(f64),
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Violation::Plan(status) => {
                write!(f, "the status {} contradicts the plan", status.as_str())
            }
            Violation::Length(found) => {
                write!(
                    f,
                    "the plan has {found} entries, expected one for each task"
                )
            }
            Violation::Option(task) => write!(
                f,
                "task {task}: the plan assigns nodes that match none of its options"
            ),
            Violation::Moved(task) => {
                write!(f, "task {task} is fixed, but the plan changes its nodes")
            }
            Violation::Capacity(class, used, has) => {
                write!(f, "class {class} has {has} nodes, but {used} are used")
            }
            Violation::Group(used, most) => {
                write!(f, "a group may hold at most {most} nodes, but holds {used}")
            }
            Violation::GroupShort(used, least) => {
                write!(
                    f,
                    "a group must hold at least {least} nodes, but holds {used}"
                )
            }
            Violation::Objective(stated, found) => {
                write!(
                    f,
                    "the stated objective is {stated}, but the plan's objective is {found}"
                )
            }
            Violation::Bound(stated, found) => write!(
                f,
                "the stated bound {stated} is below the plan's objective {found}"
            ),
            Violation::Gap(gap) => write!(
                f,
                "the status is optimal, but the relative gap is {gap:e}, expected at most 1e-6"
            ),
        }
    }
}

/// Relative difference up to which two objectives count as equal.
const EQUAL: f64 = 1e-9;
/// Relative gap up to which a plan counts as optimal. The tolerances of MILP solvers can leave a gap of this size.
const OPTIMAL: f64 = 1e-6;

/// Checks an answer against its problem.
///
/// # Errors
/// The answer is wrong. The error contains all violations.
pub fn check(problem: &Problem, answer: &Answer) -> Result<(), Vec<Violation>> {
    let mut out = Vec::new();
    let has_plan = matches!(answer.status, Status::Optimal | Status::Feasible);
    let Some(plan) = answer.plan.as_ref().filter(|_| has_plan) else {
        if has_plan || answer.plan.is_some() {
            out.push(Violation::Plan(answer.status));
        }
        return if out.is_empty() { Ok(()) } else { Err(out) };
    };
    if plan.len() != problem.tasks.len() {
        return Err(vec![Violation::Length(plan.len())]);
    }
    let mut used = vec![0u64; problem.classes.len()];
    let mut objective = 0.0;
    for (task, held) in problem.tasks.iter().zip(plan) {
        if task.fixed && task.current != *held {
            out.push(Violation::Moved(task.name.clone()));
        }
        let Some(held) = held else {
            objective += task.none;
            continue;
        };
        match task
            .options
            .iter()
            .find(|o| o.class == held.class && o.count == held.count)
        {
            Some(option) => {
                objective += option.value;
                used[held.class] += u64::from(held.count);
            }
            None => out.push(Violation::Option(task.name.clone())),
        }
    }
    for (class, used) in problem.classes.iter().zip(used) {
        if used > u64::from(class.capacity) {
            out.push(Violation::Capacity(
                class.name.clone(),
                used,
                class.capacity,
            ));
        }
    }
    for limit in problem.limits() {
        let used = limit.used(plan);
        if let Some(most) = limit.most.filter(|most| used > u64::from(*most)) {
            out.push(Violation::Group(used, most));
        }
        if used < u64::from(limit.least) {
            out.push(Violation::GroupShort(used, limit.least));
        }
    }
    let size = objective.abs().max(1e-9);
    let stated = answer.objective.unwrap_or(f64::NAN);
    // The comparison is false for NaN, so NaN is reported as wrong.
    let is_right = (stated - objective).abs() <= EQUAL * size;
    if !is_right {
        out.push(Violation::Objective(stated, objective));
    }
    if let Some(bound) = answer.bound {
        // The comparison is false for NaN, so NaN is reported as wrong.
        let is_bound = bound >= objective - EQUAL * size;
        if !is_bound {
            out.push(Violation::Bound(bound, objective));
        }
        let gap = (bound - objective) / size;
        let is_near = gap <= OPTIMAL;
        if answer.status == Status::Optimal && !is_near {
            out.push(Violation::Gap(gap));
        }
    }
    if out.is_empty() { Ok(()) } else { Err(out) }
}
