//! The interface of all solvers for problems with node classes, and the choice of a solver by name.
//!
//! ```
//! use gleaner_classes::{Problem, solver};
//! use gleaner_solvers::{Limits, SolverKind, SolverSpec, Status};
//!
//! let problem: Problem = serde_json::from_str(
//!     r#"{"classes": [{"name": "v100", "capacity": 4}], "tasks": [{"name": "a", "options": [[0, 2, 10]]}]}"#,
//! )?;
//! let mut solver = solver::build(SolverSpec::new(SolverKind::Auto))?;
//! let answer = solver.solve(&problem, &Limits::default())?;
//! assert_eq!((solver.name(), answer.status), ("exact", Status::Optimal));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use gleaner_solvers::{BigM, Formulation, Limits, SolveError, SolverKind, SolverSpec};

use crate::answer::Answer;
use crate::equal_share::EqualShare;
use crate::exact::Exact;
use crate::milp::Milp;
use crate::problem::Problem;

/// A solver for problems with node classes.
///
/// A solver may keep data between calls, but its answer depends only on the problem and the limits.
pub trait ClassSolver {
    /// Name for tables and messages, such as `highs-counts`.
    fn name(&self) -> &str;

    /// Solves `problem`. The answer states whether a limit was reached, whether the problem is infeasible, and whether
    /// optimality was proven. A limit, an infeasible problem and a missing proof are not errors.
    ///
    /// # Errors
    /// [`SolveError`] if the problem is invalid, the solver does not support it, or a library fails.
    fn solve(&mut self, problem: &Problem, limits: &Limits) -> Result<Answer, SolveError>;

    /// Like [`ClassSolver::solve`], but also passes the plans that it finds to `observer`, each with the time since the
    /// start of the solve. The last of these plans is the plan of the answer.
    ///
    /// By default, a solver passes only the plan of its answer.
    ///
    /// # Errors
    /// [`SolveError`] as for [`ClassSolver::solve`].
    fn solve_observed(
        &mut self,
        problem: &Problem,
        limits: &Limits,
        observer: &mut dyn FnMut(Duration, &Answer),
    ) -> Result<Answer, SolveError> {
        let clock = Instant::now();
        let answer = self.solve(problem, limits)?;
        if answer.plan.is_some() {
            observer(clock.elapsed(), &answer);
        }
        Ok(answer)
    }

    /// Makes every later solve stop soon after `stop` is set, and return the best plan found so far. A solver that does
    /// not override this function ignores the flag.
    fn stop_when(&mut self, _stop: &Arc<AtomicBool>) {}
}

/// Replaces [`SolverKind::Auto`] with the solver that it represents: the exact solver, or a MILP solver if groups of
/// tasks have limits.
pub fn chosen(spec: SolverSpec, has_groups: bool) -> SolverSpec {
    let kind = match spec.kind {
        SolverKind::Auto if !has_groups => SolverKind::Exact,
        SolverKind::Auto if SolverSpec::new(SolverKind::Highs).build().is_ok() => SolverKind::Highs,
        SolverKind::Auto => SolverKind::Cbc,
        kind => kind,
    };
    SolverSpec { kind, ..spec }
}

/// Builds a solver for problems with node classes. With [`SolverKind::Auto`], the solver is chosen for each problem
/// ([`chosen`]).
///
/// # Errors
/// [`SolveError::Unfit`] if the solver, formulation or big-M does not support node classes, and
/// [`SolveError::NotBuilt`] if the solver was left out of this build.
pub fn build(spec: SolverSpec) -> Result<Box<dyn ClassSolver + Send>, SolveError> {
    match spec.kind {
        SolverKind::Highs | SolverKind::Cbc => check_formulation(spec.formulation, spec.big_m)?,
        _ => check_formulation(Formulation::Counts, spec.big_m)?,
    }
    match spec.kind {
        SolverKind::Auto => Ok(Box::new(Auto::new(spec))),
        SolverKind::Exact => Ok(Box::new(Exact::default())),
        SolverKind::Highs | SolverKind::Cbc => {
            // Building the solver for problems with a single class shows whether this build includes the library.
            SolverSpec::new(spec.kind).build()?;
            Ok(Box::new(Milp::new(spec.kind)))
        }
        SolverKind::EqualShare => Ok(Box::new(EqualShare)),
    }
}

/// Checks that the solver supports a problem, without solving it.
///
/// # Errors
/// The solver does not support the problem. The error is the one that [`build`] or [`ClassSolver::solve`] would return.
pub fn accepts(spec: SolverSpec, problem: &Problem) -> Result<(), SolveError> {
    let has_groups = !problem.groups.is_empty();
    let chosen = chosen(spec, has_groups);
    build(chosen)?;
    match chosen.kind {
        SolverKind::Exact if has_groups => Err(without_groups("exact")),
        SolverKind::EqualShare if has_groups => Err(without_groups("equal-share")),
        _ => Ok(()),
    }
}

/// The error returned by a solver that does not support groups.
pub(crate) fn without_groups(solver: &str) -> SolveError {
    SolveError::Unfit(format!(
        "{solver} does not support groups of tasks on nodes of several classes: use highs or cbc"
    ))
}

/// Checks that problems with node classes can be modelled with this formulation and big-M.
///
/// # Errors
/// [`SolveError::Unfit`] for the paper's formulation or big-M. Only the counts formulation, without a cap on changes,
/// supports node classes.
pub fn check_formulation(formulation: Formulation, big_m: BigM) -> Result<(), SolveError> {
    match (formulation, big_m) {
        (Formulation::Paper, _) => Err(unfit("the paper formulation", "the counts formulation")),
        (_, BigM::Paper) => Err(unfit("the paper's big-M", "--big-m corrected")),
        _ => Ok(()),
    }
}

fn unfit(what: &str, instead: &str) -> SolveError {
    SolveError::Unfit(format!(
        "{what} does not support node classes: use {instead}"
    ))
}

/// A solver that chooses one of the other solvers for each problem.
struct Auto {
    spec: SolverSpec,
    stop: Arc<AtomicBool>,
    /// For the last problem: whether it had groups, and the solver that was chosen.
    last: (bool, Box<dyn ClassSolver + Send>),
}

impl Auto {
    fn new(spec: SolverSpec) -> Self {
        Auto {
            spec,
            stop: Arc::default(),
            last: (false, Box::new(Exact::default())),
        }
    }
}

impl ClassSolver for Auto {
    fn name(&self) -> &str {
        self.last.1.name()
    }

    fn solve(&mut self, problem: &Problem, limits: &Limits) -> Result<Answer, SolveError> {
        let has_groups = !problem.groups.is_empty();
        if self.last.0 != has_groups {
            let mut solver = build(chosen(self.spec, has_groups))?;
            solver.stop_when(&self.stop);
            self.last = (has_groups, solver);
        }
        self.last.1.solve(problem, limits)
    }

    fn stop_when(&mut self, stop: &Arc<AtomicBool>) {
        self.stop = Arc::clone(stop);
        self.last.1.stop_when(stop);
    }
}

impl ClassSolver for Exact {
    fn name(&self) -> &str {
        "exact"
    }

    fn solve(&mut self, problem: &Problem, limits: &Limits) -> Result<Answer, SolveError> {
        Exact::solve(self, problem, limits)
    }

    fn stop_when(&mut self, stop: &Arc<AtomicBool>) {
        Exact::stop_when(self, stop);
    }
}

impl ClassSolver for Milp {
    fn name(&self) -> &str {
        Milp::name(self)
    }

    fn solve(&mut self, problem: &Problem, limits: &Limits) -> Result<Answer, SolveError> {
        Milp::solve(self, problem, limits)
    }

    fn stop_when(&mut self, stop: &Arc<AtomicBool>) {
        Milp::stop_when(self, stop);
    }
}
