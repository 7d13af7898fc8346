//! A solver that is a function. Programs that use this crate as a library define such functions.

use std::time::Instant;

use gleaner_domain::results::programs::Identity;
use gleaner_solvers::{Allocation, BigM, Limits, Problem, SolveError, Solver};

use crate::judge::{CONFIRM_GAP, Judge};
use crate::tally::TallyHandle;

/// A plan that a function returns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionPlan {
    /// The number of nodes that each task gets, in the order of the problem's tasks.
    pub counts: Vec<u32>,
    /// Whether the function claims that no plan is better.
    pub is_called_optimal: bool,
}

/// A solver that calls a function. It checks the function's plans in the same way as the plans of
/// programs. The function returns `None` when it has no plan. A function that takes too long cannot be
/// interrupted: its answer counts as late, but its plan is still used.
pub struct FunctionSolver<F> {
    judge: Judge,
    ask: F,
}

impl<F> FunctionSolver<F>
where
    F: FnMut(&Problem, &Limits) -> Option<FunctionPlan>,
{
    /// Creates a solver that calls `ask` and appears in tables as `name`. `version` distinguishes
    /// functions with the same name.
    pub fn new(name: String, version: String, big_m: BigM, ask: F) -> Self {
        let identity = Identity {
            command: name.clone(),
            name: name.clone(),
            version,
        };
        FunctionSolver {
            judge: Judge::new(name, identity, big_m, CONFIRM_GAP),
            ask,
        }
    }

    /// The tally of the function's answers. The handle stays valid after the solver is dropped.
    pub fn tally(&self) -> TallyHandle {
        self.judge.tally.clone()
    }
}

impl<F> Solver for FunctionSolver<F>
where
    F: FnMut(&Problem, &Limits) -> Option<FunctionPlan>,
{
    fn name(&self) -> &str {
        &self.judge.name
    }

    fn solve(&mut self, problem: &Problem, limits: &Limits) -> Result<Allocation, SolveError> {
        self.judge.tally.with(|tally| tally.problems += 1);
        let clock = Instant::now();
        let answer = (self.ask)(problem, limits);
        if clock.elapsed() > limits.time {
            self.judge.late(problem, limits);
        }
        let claims = answer.as_ref().is_some_and(|plan| plan.is_called_optimal);
        let plan = answer.and_then(|plan| self.judge.plan(problem, plan.counts));
        Ok(self.judge.worth(problem, limits, plan, claims, None))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use gleaner_solvers::{SolverKind, SolverSpec, Status, synthetic};

    use super::*;

    fn solve(plan: Option<FunctionPlan>) -> (Allocation, crate::Tally) {
        let problem = synthetic::problem(3, 6, 1);
        let ask = move |_: &Problem, _: &Limits| plan.clone();
        let mut solver =
            FunctionSolver::new("python:mine".into(), String::new(), BigM::default(), ask);
        let answer = solver.solve(&problem, &Limits::default()).unwrap();
        assert_eq!(solver.name(), "python:mine");
        (answer, solver.tally().get())
    }

    fn best() -> Vec<u32> {
        let mut exact = SolverSpec::new(SolverKind::Exact).build().unwrap();
        let problem = synthetic::problem(3, 6, 1);
        let answer = exact.solve(&problem, &Limits::default()).unwrap();
        answer.counts.unwrap()
    }

    // An optimal plan is confirmed if the function reports it as optimal, and counts as feasible otherwise.
    #[test]
    fn an_optimum_is_confirmed() {
        let plan = |is_called_optimal| FunctionPlan {
            counts: best(),
            is_called_optimal,
        };
        let (answer, tally) = solve(Some(plan(true)));
        assert_eq!((answer.status, tally.confirmed), (Status::Optimal, 1));
        let (answer, tally) = solve(Some(plan(false)));
        assert_eq!((answer.status, tally.confirmed), (Status::Feasible, 0));
        assert_eq!((tally.problems, tally.faults()), (1, 0));
    }

    #[test]
    fn an_answer_after_the_time_limit_is_late_and_used() {
        let problem = synthetic::problem(3, 6, 1);
        let limits = Limits {
            time: Duration::from_millis(5),
            ..Limits::default()
        };
        let ask = |_: &Problem, limits: &Limits| {
            std::thread::sleep(2 * limits.time);
            Some(FunctionPlan {
                counts: best(),
                is_called_optimal: true,
            })
        };
        let mut solver =
            FunctionSolver::new("python:slow".into(), String::new(), BigM::default(), ask);
        let answer = solver.solve(&problem, &limits).unwrap();
        let tally = solver.tally().get();
        assert_eq!((tally.late, tally.confirmed), (1, 1));
        assert_eq!(answer.counts, Some(best()));
    }

    #[test]
    fn wrong_plans_are_counted_and_not_used() {
        for counts in [vec![], vec![0; 4], vec![7, 7, 7]] {
            let (answer, tally) = solve(Some(FunctionPlan {
                counts,
                is_called_optimal: true,
            }));
            assert_eq!((answer.status, tally.wrong), (Status::Unknown, 1));
        }
        let (answer, tally) = solve(Some(FunctionPlan {
            counts: vec![0; 3],
            is_called_optimal: true,
        }));
        assert_eq!((answer.status, tally.wrong), (Status::Feasible, 1));
        assert_eq!(solve(None).0.status, Status::Unknown);
    }
}
