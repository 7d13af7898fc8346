//! The answer to a problem with node classes.

use gleaner_solvers::Status;
use gleaner_solvers::range::NOTHING;
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
    /// Upper bound on the objective of any plan; `None` if the solver computes no bound.
    pub bound: Option<f64>,
    /// The next nodes of each task, in task order; `None` without a plan.
    pub plan: Option<Vec<Option<Held>>>,
    /// Price of a node, by class: approximately the amount that an additional node would add to the objective. The
    /// price is an upper bound on this amount if no option needs more nodes than the class has. The price of a class
    /// without nodes is arbitrary. Prices are computed before branching. Empty if the solver computes no prices.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prices: Vec<f64>,
    /// Counts of the solver's work; all 0 for solvers other than the exact solver.
    #[serde(skip)]
    pub work: Work,
}

/// Counts of the exact solver's work, which do not depend on the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work {
    /// Number of states created by the core searches.
    pub states: u64,
    /// Number of evaluations of the bound.
    pub evaluations: u64,
    /// Number of branches; 1 for each part of the problem that is solved without branching.
    pub branches: u64,
}

impl Answer {
    /// An answer without a plan.
    pub fn without_plan(problem: &Problem, status: Status) -> Self {
        Answer {
            id: problem.id.clone(),
            status,
            objective: None,
            bound: None,
            plan: None,
            prices: Vec::new(),
            work: Work::default(),
        }
    }

    /// Relative gap (bound − objective) / max(|objective|, |bound|, [`NOTHING`]); 0 for a proven optimum. `None` without an
    /// objective or a bound.
    pub fn gap(&self) -> Option<f64> {
        let (objective, bound) = (self.objective?, self.bound?);
        let size = objective.abs().max(bound.abs()).max(NOTHING);
        Some((bound - objective).max(0.0) / size)
    }

    /// An answer with this plan. The bound is the plan's objective plus `open`, and is missing if `open` is `None`. The
    /// status is optimal if the relative gap is at most `gap`.
    pub(crate) fn of(
        problem: &Problem,
        plan: Vec<Option<Held>>,
        open: Option<f64>,
        gap: f64,
    ) -> Self {
        let objective = problem.objective(&plan);
        let bound = objective
            .zip(open)
            .map(|(objective, open)| objective + open);
        let sizes = objective.into_iter().chain(bound).map(f64::abs);
        let size = sizes.fold(1e-9, f64::max);
        let is_optimal = open.is_some_and(|open| open <= gap * size);
        let status = if is_optimal {
            Status::Optimal
        } else {
            Status::Feasible
        };
        Answer {
            objective,
            bound,
            plan: Some(plan),
            ..Answer::without_plan(problem, status)
        }
    }
}
