//! What the answers of a solver are worth that is not ours. None is believed.

use gleaner_core::results::programs::Identity;
use gleaner_core::words::printable;
use gleaner_solvers::backends::Exact;
use gleaner_solvers::range::NOTHING;
use gleaner_solvers::{Allocation, BigM, Goal, Limits, Problem, Solver, Status, check};

use crate::tally::TallyHandle;

/// Relative difference at which two objectives are the same.
const SAME: f64 = 1e-6;

/// Checks plans, compares those called optimal with the exact solver's, and counts what is wrong.
pub(crate) struct Judge {
    /// Name of the solver in tables.
    pub name: String,
    pub tally: TallyHandle,
    big_m: BigM,
    exact: Exact,
}

impl Judge {
    pub fn new(name: String, identity: Identity, big_m: BigM) -> Self {
        let tally = TallyHandle::default();
        tally.with(|tally| tally.identity = identity);
        Judge {
            name,
            tally,
            big_m,
            exact: Exact::new(big_m),
        }
    }

    /// Counts a wrong answer.
    pub fn wrong(&self, problem: &Problem, what: &str) {
        self.tally.fault(
            |tally| &mut tally.wrong,
            || format!("{}: {what}", told(problem)),
        );
    }

    /// The answer with this plan, if the plan is valid; else the fault is counted.
    pub fn plan(&self, problem: &Problem, counts: Vec<u32>) -> Option<Allocation> {
        if counts.len() != problem.tasks.len() {
            let (found, tasks) = (counts.len(), problem.tasks.len());
            self.wrong(problem, &format!("{found} counts for {tasks} tasks"));
            return None;
        }
        let answer = Allocation::with_plan(problem, Status::Feasible, counts, None);
        if let Err(violations) = check(problem, &answer, self.big_m) {
            let first = violations.first().map(ToString::to_string);
            let others = match violations.len() {
                0 | 1 => String::new(),
                count => format!(", and {} more", count - 1),
            };
            self.wrong(problem, &(first.unwrap_or_default() + &others));
            return None;
        }
        Some(answer)
    }

    /// What a valid plan is worth that may be called optimal; without one, the fallback or nothing.
    pub fn worth(
        &mut self,
        problem: &Problem,
        limits: &Limits,
        plan: Option<Allocation>,
        claims: bool,
        fallback: Option<Allocation>,
    ) -> Allocation {
        match plan {
            Some(plan) if claims => self.confirm(problem, limits, plan),
            plan => plan
                .or(fallback)
                .unwrap_or_else(|| Allocation::without_plan(Status::Unknown)),
        }
    }

    /// Compares a plan that was called optimal with the exact solver's.
    fn confirm(&mut self, problem: &Problem, limits: &Limits, plan: Allocation) -> Allocation {
        let best = self.exact.solve(problem, limits).ok();
        let best = best.filter(|best| best.status == Status::Optimal);
        let (Some(best), Some(found)) = (best, plan.objective) else {
            self.tally.with(|tally| tally.claimed += 1);
            return plan;
        };
        let objective = best.objective.unwrap_or(f64::NEG_INFINITY);
        let is_near = objective - found <= limits.gap.max(SAME) * objective.abs().max(NOTHING);
        let is_best = match (problem.goal, &best.counts, &plan.counts) {
            (Goal::MaxMin, Some(best), Some(found)) => problem.merit(found) >= problem.merit(best),
            _ => is_near,
        };
        if is_best {
            self.tally.with(|tally| tally.confirmed += 1);
            return Allocation {
                status: Status::Optimal,
                bound: Some(objective.max(found)),
                ..plan
            };
        }
        let what = format!("{found} is called optimal, but {objective} is possible");
        self.wrong(problem, &what);
        plan
    }
}

/// A problem in a message. Those of a replay have no id.
pub(crate) fn told(problem: &Problem) -> String {
    match problem.id.is_empty() {
        true => format!("{} tasks on {} nodes", problem.tasks.len(), problem.nodes),
        false => format!("problem {}", printable(&problem.id)),
    }
}
