//! Problems, answers and solvers for one or several classes of nodes.

use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use gleaner_solvers::{
    Allocation, BigM, Fairness, Incumbent, Limits, Merit, SolveError, Solver, Status,
};

use crate::{Answer, Problem, check};

/// An allocation problem.
#[derive(Debug, Clone)]
pub enum AnyProblem {
    /// A problem whose nodes are all interchangeable.
    OneClass(Arc<gleaner_solvers::Problem>),
    /// A problem with nodes of several classes.
    Classes(Arc<Problem>),
}

/// A solver's answer to an [`AnyProblem`].
#[derive(Debug, Clone, PartialEq)]
pub enum AnyAnswer {
    /// The answer to a problem whose nodes are all interchangeable.
    OneClass(Allocation),
    /// The answer to a problem with nodes of several classes.
    Classes(Answer),
}

impl AnyProblem {
    /// Identifier of the problem.
    pub fn id(&self) -> &str {
        match self {
            AnyProblem::OneClass(problem) => &problem.id,
            AnyProblem::Classes(problem) => &problem.id,
        }
    }

    /// Number of tasks.
    pub fn tasks(&self) -> usize {
        match self {
            AnyProblem::OneClass(problem) => problem.tasks.len(),
            AnyProblem::Classes(problem) => problem.tasks.len(),
        }
    }

    /// Names of the node classes; empty if all nodes are interchangeable.
    pub fn class_names(&self) -> Vec<String> {
        match self {
            AnyProblem::OneClass(_) => Vec::new(),
            AnyProblem::Classes(problem) => {
                let names = problem.classes.iter().map(|class| class.name.clone());
                names.collect()
            }
        }
    }

    /// Total number of idle nodes of all classes, at most [`u32::MAX`].
    pub fn nodes(&self) -> u32 {
        match self {
            AnyProblem::OneClass(problem) => problem.nodes,
            AnyProblem::Classes(problem) => {
                let capacities = problem.classes.iter().map(|class| class.capacity);
                capacities.fold(0, u32::saturating_add)
            }
        }
    }

    /// Checks an answer with code that the solvers do not use. With a single class, [`BigM::Paper`] also limits how much a
    /// task's number of nodes may change. With several classes, `big_m` is ignored.
    ///
    /// # Errors
    /// The answer has faults. The error contains a sentence for each fault.
    pub fn check(&self, answer: &AnyAnswer, big_m: BigM) -> Result<(), Vec<String>> {
        match (self, answer) {
            (AnyProblem::OneClass(problem), AnyAnswer::OneClass(answer)) => {
                gleaner_solvers::check(problem, answer, big_m).map_err(texts)
            }
            (AnyProblem::Classes(problem), AnyAnswer::Classes(answer)) => {
                check(problem, answer).map_err(texts)
            }
            _ => Err(vec!["the answer is for a different problem".to_owned()]),
        }
    }
}

fn texts<V: Display>(violations: Vec<V>) -> Vec<String> {
    violations.iter().map(ToString::to_string).collect()
}

impl AnyAnswer {
    /// The outcome of the solve.
    pub fn status(&self) -> Status {
        match self {
            AnyAnswer::OneClass(answer) => answer.status,
            AnyAnswer::Classes(answer) => answer.status,
        }
    }

    /// Objective of the plan; `None` without a plan.
    pub fn objective(&self) -> Option<f64> {
        let objective = match self {
            AnyAnswer::OneClass(answer) => answer.objective,
            AnyAnswer::Classes(answer) => answer.objective,
        };
        // An empty sum is -0, which this addition turns into 0.
        objective.map(|objective| objective + 0.0)
    }

    /// Upper bound on the objective of any plan; `None` if the solver computes no bound.
    pub fn bound(&self) -> Option<f64> {
        match self {
            AnyAnswer::OneClass(answer) => answer.bound,
            // The bound can be -0, which this addition turns into 0.
            AnyAnswer::Classes(answer) => answer.bound.map(|bound| bound + 0.0),
        }
    }

    /// Relative gap between the objective and the bound; `None` if either is missing.
    pub fn gap(&self) -> Option<f64> {
        match self {
            AnyAnswer::OneClass(answer) => answer.gap(),
            AnyAnswer::Classes(answer) => answer.gap(),
        }
    }

    /// The fairness of the plan, if the problem's goal is max-min; `None` otherwise.
    pub fn fairness(&self) -> Option<Fairness> {
        match self {
            AnyAnswer::OneClass(answer) => answer.fairness,
            AnyAnswer::Classes(_) => None,
        }
    }

    /// The worth of the plan according to the goal of its problem; `None` without a plan.
    pub fn merit(&self) -> Option<Merit> {
        let objective = self.objective()?;
        Some(Merit::of(self.fairness(), objective))
    }
}

/// A function that receives the plans that a solver finds, each with the time since the start of the solve.
pub type PlanObserver<'o> = &'o mut dyn FnMut(Duration, AnyAnswer);

/// A solver for problems with one or several classes of nodes.
pub trait AnySolver {
    /// Solves `problem`, and passes each plan that is found to the observer, if there is one. The last plan passed is
    /// the plan of the answer. Without an observer, no time is spent on copies of plans.
    ///
    /// # Errors
    /// [`SolveError`] as for [`Solver::solve`], and [`SolveError::Unfit`] if the solver does not support node classes.
    fn solve_any(
        &mut self,
        problem: &AnyProblem,
        limits: &Limits,
        observer: Option<PlanObserver<'_>>,
    ) -> Result<AnyAnswer, SolveError>;

    /// Makes every later solve stop soon after `stop` is set, and return the best plan found so far.
    fn stop_when(&mut self, stop: &Arc<AtomicBool>);
}

/// Solves a problem whose nodes are all of one class.
///
/// # Errors
/// [`SolveError`] as for [`Solver::solve`].
pub fn solve_one_class(
    solver: &mut dyn Solver,
    problem: &gleaner_solvers::Problem,
    limits: &Limits,
    observer: Option<PlanObserver<'_>>,
) -> Result<AnyAnswer, SolveError> {
    let Some(observer) = observer else {
        return solver.solve(problem, limits).map(AnyAnswer::OneClass);
    };
    let mut found = |Incumbent { after, plan }| observer(after, AnyAnswer::OneClass(plan));
    let answer = solver.solve_observed(problem, limits, &mut found);
    answer.map(AnyAnswer::OneClass)
}

/// Solves a problem with node classes.
///
/// # Errors
/// [`SolveError`] as for [`ClassSolver::solve`](crate::ClassSolver::solve).
pub fn solve_classes(
    solver: &mut dyn crate::ClassSolver,
    problem: &Problem,
    limits: &Limits,
    observer: Option<PlanObserver<'_>>,
) -> Result<AnyAnswer, SolveError> {
    let Some(observer) = observer else {
        return solver.solve(problem, limits).map(AnyAnswer::Classes);
    };
    let mut found = |after, plan: &Answer| observer(after, AnyAnswer::Classes(plan.clone()));
    let answer = solver.solve_observed(problem, limits, &mut found);
    answer.map(AnyAnswer::Classes)
}

/// A solver that does not support node classes.
impl AnySolver for Box<dyn Solver + Send> {
    fn solve_any(
        &mut self,
        problem: &AnyProblem,
        limits: &Limits,
        observer: Option<PlanObserver<'_>>,
    ) -> Result<AnyAnswer, SolveError> {
        match problem {
            AnyProblem::OneClass(problem) => {
                solve_one_class(self.as_mut(), problem, limits, observer)
            }
            AnyProblem::Classes(_) => Err(SolveError::Unfit(format!(
                "{} does not support node classes",
                self.name()
            ))),
        }
    }

    fn stop_when(&mut self, stop: &Arc<AtomicBool>) {
        self.as_mut().stop_when(stop);
    }
}
