//! The backend that chooses for the user.

use super::Exact;
use crate::{Allocation, Formulation, Limits, Problem, SolveError, Solver, SolverKind, SolverSpec};

/// Exact whenever the problem has no side constraint, else HiGHS with the counts
/// formulation, or CBC in a build without HiGHS.
pub struct Auto {
    exact: Exact,
    milp: SolverSpec,
}

impl Auto {
    /// A solver with the big-M of `spec`.
    pub fn new(spec: SolverSpec) -> Self {
        let has_only_cbc = cfg!(all(feature = "cbc", not(feature = "highs")));
        let kind = match has_only_cbc {
            true => SolverKind::Cbc,
            false => SolverKind::Highs,
        };
        Auto {
            exact: Exact::new(spec.big_m),
            milp: SolverSpec {
                kind,
                formulation: Formulation::Counts,
                big_m: spec.big_m,
            },
        }
    }
}

impl Solver for Auto {
    fn name(&self) -> &str {
        "auto"
    }

    /// # Errors
    /// [`SolveError::NotBuilt`] if the problem has a group and this build no MILP library.
    fn solve(&mut self, problem: &Problem, limits: &Limits) -> Result<Allocation, SolveError> {
        if problem.groups.is_empty() {
            self.exact.solve(problem, limits)
        } else {
            self.milp.build()?.solve(problem, limits)
        }
    }
}
