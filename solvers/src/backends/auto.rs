//! The backend that chooses a solver for each problem.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::Exact;
use crate::{Allocation, Incumbent, Limits, Problem, SolveError, Solver, SolverKind, SolverSpec};

/// Uses the exact solver if it supports the problem's side constraints. Otherwise uses HiGHS with the
/// counts formulation, or CBC in a build without HiGHS. See [`SolverSpec::for_problem`].
pub struct Auto {
    spec: SolverSpec,
    exact: Exact,
    /// Name of the solver that was used last.
    asked: String,
    stop: Arc<AtomicBool>,
}

impl Auto {
    /// Creates a solver with the big-M of `spec`. The other fields of `spec` are ignored.
    pub fn new(spec: SolverSpec) -> Self {
        Auto {
            spec: SolverSpec {
                kind: SolverKind::Auto,
                ..spec
            },
            exact: Exact::new(spec.big_m),
            asked: "auto".to_owned(),
            stop: Arc::default(),
        }
    }

    /// Chooses a solver for `problem` and solves the problem with it.
    fn ask(
        &mut self,
        problem: &Problem,
        solve: impl FnOnce(&mut dyn Solver) -> Result<Allocation, SolveError>,
    ) -> Result<Allocation, SolveError> {
        let spec = self.spec.for_problem(problem);
        let mut built;
        let solver: &mut dyn Solver = match spec.kind {
            SolverKind::Exact => &mut self.exact,
            _ => {
                built = spec.build()?;
                built.stop_when(&self.stop);
                built.as_mut()
            }
        };
        solver.name().clone_into(&mut self.asked);
        solve(solver)
    }
}

impl Solver for Auto {
    /// The name of the solver that was used last; `auto` before the first problem.
    fn name(&self) -> &str {
        &self.asked
    }

    /// # Errors
    /// [`SolveError::NotBuilt`] if the exact solver does not support the problem's groups and this
    /// build has no MILP library.
    fn solve(&mut self, problem: &Problem, limits: &Limits) -> Result<Allocation, SolveError> {
        self.ask(problem, |solver| solver.solve(problem, limits))
    }

    fn solve_observed(
        &mut self,
        problem: &Problem,
        limits: &Limits,
        observer: &mut dyn FnMut(Incumbent),
    ) -> Result<Allocation, SolveError> {
        self.ask(problem, |solver| {
            solver.solve_observed(problem, limits, observer)
        })
    }

    fn stop_when(&mut self, stop: &Arc<AtomicBool>) {
        self.stop = Arc::clone(stop);
    }
}
