//! The answer to a problem with node classes.

use gleaner_solvers::Status;
use serde::Serialize;

use crate::problem::{Held, Problem};

/// A solver's answer to a [`Problem`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// Identifier of the problem.
    pub id: String,
    /// The outcome of the solve.
    pub status: Status,
    /// Objective of `plan`, computed from the problem; `None` without a plan.
    pub objective: Option<f64>,
    /// Upper bound on the objective of any plan; `None` if the method gives no bound.
    pub bound: Option<f64>,
    /// What each task holds next, in task order; `None` without a plan.
    pub plan: Option<Vec<Option<Held>>>,
    /// For each class, the price of a node: one more node raises the bound before branching by at most this. Empty if
    /// the method gives no prices.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prices: Vec<f64>,
    /// The work of the solver.
    #[serde(skip)]
    pub work: Work,
}

/// The work of the exact solver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work {
    /// Number of states of the core searches.
    pub states: u64,
    /// Number of evaluations of the bound.
    pub evaluations: u64,
    /// Number of branches; 1 for each part of the problem that is solved without branching.
    pub branches: u64,
}

impl Answer {
    /// The answer to a problem without a plan.
    pub(crate) fn infeasible(problem: &Problem) -> Self {
        Answer {
            id: problem.id.clone(),
            status: Status::Infeasible,
            objective: None,
            bound: None,
            plan: None,
            prices: Vec::new(),
            work: Work::default(),
        }
    }

    /// An answer whose bound is `open` above the objective of the plan. It is optimal if the relative gap is at most
    /// `gap`.
    pub(crate) fn of(
        problem: &Problem,
        plan: Vec<Option<Held>>,
        open: f64,
        prices: Vec<f64>,
        work: Work,
        gap: f64,
    ) -> Self {
        let objective = problem.objective(&plan);
        let bound = objective.map(|objective| objective + open);
        let size = objective
            .into_iter()
            .chain(bound)
            .map(f64::abs)
            .fold(1e-9, f64::max);
        Answer {
            id: problem.id.clone(),
            status: if open <= gap * size {
                Status::Optimal
            } else {
                Status::Feasible
            },
            objective,
            bound,
            plan: Some(plan),
            prices,
            work,
        }
    }
}
