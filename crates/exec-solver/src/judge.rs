//! Judges the answers of external solvers. No answer is trusted.

use gleaner_domain::results::programs::Identity;
use gleaner_domain::words::printable;
use gleaner_solvers::backends::Exact;
use gleaner_solvers::range::NOTHING;
use gleaner_solvers::{Allocation, BigM, Goal, Limits, Problem, Solver, Status, Task, check};

use crate::tally::TallyHandle;

/// Default of the largest relative gap to the exact optimum at which a plan is confirmed as optimal. A
/// manifest can override it. A solver that computes with tolerances or integers may be unable to
/// reach a smaller gap.
pub(crate) const CONFIRM_GAP: f64 = 1e-6;

/// Checks plans, compares plans that are reported as optimal with the exact solver's plans, and counts
/// faults.
pub(crate) struct Judge {
    /// Name of the solver in tables.
    pub name: String,
    pub tally: TallyHandle,
    big_m: BigM,
    exact: Exact,
    /// See [`CONFIRM_GAP`]. The larger of this and the gap of the limits applies.
    confirm_gap: f64,
}

impl Judge {
    pub fn new(name: String, identity: Identity, big_m: BigM, confirm_gap: f64) -> Self {
        let tally = TallyHandle::default();
        tally.with(|tally| tally.identity = identity);
        Judge {
            name,
            tally,
            big_m,
            exact: Exact::new(big_m),
            confirm_gap,
        }
    }

    /// Counts a wrong answer.
    pub fn wrong(&self, problem: &Problem, what: &str) {
        self.tally.fault(
            |tally| &mut tally.wrong,
            || format!("{}: {what}", told(problem)),
        );
    }

    /// Counts an answer that was missing at the time limit.
    pub fn late(&self, problem: &Problem, limits: &Limits) {
        let seconds = limits.time.as_secs_f64();
        self.tally.fault(
            |tally| &mut tally.late,
            || format!("{}: no answer in {seconds} s", told(problem)),
        );
    }

    /// Returns an answer with this plan if the plan is valid; otherwise counts a fault.
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

    /// Judges a valid plan, which the program may have reported as optimal. Without a plan, returns the fallback,
    /// or an answer without a plan if there is no fallback.
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

    /// Judges the claim that a problem has no plan. The claim is wrong if a plan exists: one that the
    /// program sent earlier, one that the exact solver finds, or the plan that changes nothing.
    pub fn infeasible(
        &mut self,
        problem: &Problem,
        limits: &Limits,
        fallback: Option<Allocation>,
    ) -> Allocation {
        let nothing = || Allocation::without_plan(Status::Unknown);
        let best = self
            .exact
            .solve(problem, limits)
            .unwrap_or_else(|_| nothing());
        if best.status == Status::Infeasible && fallback.is_none() {
            return best;
        }
        let (big_m, nodes) = (self.big_m, problem.nodes);
        let shut_out = |task: &Task| big_m.shuts_out(nodes, task.min_nodes);
        let stay = problem.stay_put().filter(|plan| {
            !problem.tasks.iter().any(shut_out) && problem.check(plan, big_m).is_ok()
        });
        if best.counts.is_some() || fallback.is_some() || stay.is_some() {
            self.wrong(problem, "reported as infeasible, but a plan exists");
        }
        fallback.unwrap_or_else(nothing)
    }

    /// Compares a plan that was reported as optimal with the exact solver's plan.
    fn confirm(&mut self, problem: &Problem, limits: &Limits, plan: Allocation) -> Allocation {
        let best = self.exact.solve(problem, limits).ok();
        let best = best.filter(|best| best.status == Status::Optimal);
        let (Some(best), Some(found)) = (best, plan.objective) else {
            self.tally.with(|tally| tally.claimed += 1);
            return plan;
        };
        let objective = best.objective.unwrap_or(f64::NEG_INFINITY);
        let is_near =
            objective - found <= limits.gap.max(self.confirm_gap) * objective.abs().max(NOTHING);
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
        let what = format!("{found} is reported as optimal, but {objective} is possible");
        self.wrong(problem, &what);
        plan
    }
}

/// Describes a problem for a message. Problems without an id are described by their size.
pub(crate) fn told(problem: &Problem) -> String {
    if problem.id.is_empty() {
        format!("{} tasks on {} nodes", problem.tasks.len(), problem.nodes)
    } else {
        format!("problem {}", printable(&problem.id))
    }
}

#[cfg(test)]
mod tests {
    use gleaner_solvers::synthetic;

    use super::*;

    // Derived by formula: the plan is worse than the optimum by the relative gap `gap`.
    #[test]
    fn how_near_a_confirmed_optimum_is_can_be_set() {
        let problem = synthetic::problem(3, 6, 1);
        let limits = Limits::default();
        let best = Exact::new(BigM::default())
            .solve(&problem, &limits)
            .unwrap();
        let (best, mut counts) = (best.objective.unwrap(), best.counts.unwrap());
        let last = counts.iter().rposition(|&count| count > 0).unwrap();
        counts[last] = 0;
        let gap = (best - problem.objective(&counts)) / best;
        assert!(gap > 1e-3);
        for (confirm_gap, confirmed) in [(1.01 * gap, 1), (0.99 * gap, 0), (CONFIRM_GAP, 0)] {
            let identity = Identity::default();
            let mut judge = Judge::new("it".into(), identity, BigM::default(), confirm_gap);
            let plan = judge.plan(&problem, counts.clone());
            judge.worth(&problem, &limits, plan, true, None);
            let tally = judge.tally.get();
            assert_eq!((tally.confirmed, tally.wrong), (confirmed, 1 - confirmed));
        }
    }
}
