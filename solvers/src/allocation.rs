//! The answer of a solver.

use serde::{Deserialize, Serialize};

use crate::range::NOTHING;
use crate::{Fairness, Problem};

/// The outcome of a solve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The plan is proven optimal (for a MILP backend: within its gap limit).
    Optimal,
    /// The plan is feasible but not proven optimal: a limit was reached, or the solver does not prove optimality.
    Feasible,
    /// No plan meets the constraints.
    Infeasible,
    /// No plan was found within the limits.
    Unknown,
}

impl Status {
    /// Name of the status in JSON and tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Optimal => "optimal",
            Status::Feasible => "feasible",
            Status::Infeasible => "infeasible",
            Status::Unknown => "unknown",
        }
    }
}

/// A solver's answer to a [`Problem`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Allocation {
    /// The outcome of the solve.
    pub status: Status,
    /// Objective of `counts`, computed from the problem; `None` without a plan.
    pub objective: Option<f64>,
    /// Upper bound on the objective of any plan, or under a max-min goal, of any of the fairest plans. `None` if the
    /// solver gives no bound.
    pub bound: Option<f64>,
    /// Planned node count of each task, in task order; `None` without a plan.
    pub counts: Option<Vec<u32>>,
    /// Fairness of `counts`, if the problem's goal is max-min; `None` otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fairness: Option<Fairness>,
    /// A description of the failure, if the solver's library failed. The plan is then the best plan
    /// that was found without the library.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl Allocation {
    /// An answer without a plan.
    pub fn without_plan(status: Status) -> Self {
        Allocation {
            status,
            objective: None,
            bound: None,
            counts: None,
            fairness: None,
            failure: None,
        }
    }

    /// An answer with a plan, whose objective and fairness are computed from the problem.
    pub fn with_plan(
        problem: &Problem,
        status: Status,
        counts: Vec<u32>,
        bound: Option<f64>,
    ) -> Self {
        Allocation {
            status,
            objective: Some(problem.objective(&counts)),
            bound,
            fairness: problem.fairness(&counts),
            counts: Some(counts),
            failure: None,
        }
    }

    /// Relative gap (bound − objective) / max(|objective|, |bound|, [`NOTHING`]). It is 0 for a proven
    /// optimum, and at most 1 for any plan whose objective is not negative. `None` without an objective
    /// or a bound.
    pub fn gap(&self) -> Option<f64> {
        let (objective, bound) = (self.objective?, self.bound?);
        let size = objective.abs().max(bound.abs()).max(NOTHING);
        Some((bound - objective).max(0.0) / size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Derived by formula: the gap is relative to the larger absolute value of objective and bound.
    #[test]
    fn the_gap_of_a_plan_worth_nothing_is_at_most_1() {
        let gap = |objective, bound| {
            let answer = Allocation {
                objective: Some(objective),
                bound: Some(bound),
                ..Allocation::without_plan(Status::Feasible)
            };
            answer.gap().unwrap()
        };
        assert_eq!(gap(0.0, 1e-7), 1.0);
        assert_eq!(gap(0.0, 0.0), 0.0);
        assert_eq!(gap(80.0, 100.0), 0.2);
        assert_eq!(gap(-1.0, 1.0), 2.0);
        assert_eq!(gap(-4.0, -3.0), 0.25);
    }
}
