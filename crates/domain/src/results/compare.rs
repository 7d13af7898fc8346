//! The results of `gleaner compare`: the rows of its tables.

use std::sync::Arc;

pub use gleaner_solvers::Status;

use super::{Cells, Column, Encoding, Plain};

/// The outcome of a problem given to a solver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerStatus {
    /// The solver answered.
    Answered(Status),
    /// The solver refused the problem, for this reason.
    Refused(String),
}

/// Prefix of the reason for a refusal.
const REFUSED: &str = "refused: ";

impl AnswerStatus {
    const ANSWERS: [Status; 4] = [
        Status::Optimal,
        Status::Feasible,
        Status::Infeasible,
        Status::Unknown,
    ];

    /// Whether the solver refused the problem.
    pub fn is_refused(&self) -> bool {
        matches!(self, AnswerStatus::Refused(_))
    }
}

impl Encoding<AnswerStatus> for Plain {
    fn column<'a>(values: impl Iterator<Item = &'a AnswerStatus>) -> Column<'a> {
        let text = |status: &AnswerStatus| match status {
            AnswerStatus::Answered(status) => status.as_str().into(),
            AnswerStatus::Refused(reason) => format!("{REFUSED}{reason}").into(),
        };
        Column::Texts(values.map(text).collect())
    }

    fn read<C: Cells>(cells: &C, column: usize) -> Result<AnswerStatus, C::Fault> {
        let text = cells.text(column)?;
        if let Some(reason) = text.strip_prefix(REFUSED) {
            return Ok(AnswerStatus::Refused(reason.to_owned()));
        }
        let mut all = AnswerStatus::ANSWERS.into_iter();
        match all.find(|status| status.as_str() == text) {
            Some(status) => Ok(AnswerStatus::Answered(status)),
            None => {
                let names = AnswerStatus::ANSWERS.map(Status::as_str).join(", ");
                Err(cells.fault(column, format!("one of {names}, or {REFUSED}REASON")))
            }
        }
    }
}

record! {
    /// One solver's answer to one problem: a row of `answers`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct AnswerRow {
        /// id of the problem
        problem: String = "problem" [""],
        /// number of tasks
        tasks: usize = "tasks" ["tasks"],
        /// number of idle nodes
        nodes: u32 = "nodes" ["nodes"],
        /// name of the solver
        solver: Arc<str> = "solver" [""],
        /// `optimal`: proven; `feasible`: a plan, not proven optimal; `infeasible`: there is no plan; `unknown`: no
        /// plan found; `refused: ` and the reason
        status: AnswerStatus = "status" [""],
        /// objective of the plan; empty if there is no plan
        objective: Option<f64> = "objective" ["work"],
        /// gap that the solver itself proved; empty if it proved no gap
        proven_gap: Option<f64> = "proven_gap" ["relative"],
        /// gap to the exact solver's optimum; empty if the plan or the optimum is missing
        gap_to_optimum: Option<f64> = "gap_to_optimum" ["relative"],
        /// time of a solve: the median of repeated solves; 0 if the problem was refused
        micros: f64 = "microseconds" ["µs"],
        /// time from the start of the first solve to its first plan; empty if there is no plan
        first_incumbent_us: Option<f64> = "first_incumbent_us" ["µs"],
    }
}

record! {
    /// The results of one solver on all problems: a row of `solvers`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct SolverRow {
        /// name of the solver; external programs are listed last
        solver: Arc<str> = "solver" [""],
        /// number of accepted problems
        problems: usize = "problems" ["problems"],
        /// number of refused problems
        refused: usize = "refused" ["problems"],
        /// number of problems with a plan proven optimal; a program's plan counts only if the exact
        /// solver confirms that it is optimal
        optimal: usize = "optimal" ["problems"],
        /// number of accepted problems without a plan
        without_plan: usize = "without_plan" ["problems"],
        /// sum of the objectives of the solver's plans
        objective: f64 = "objective" ["work"],
        /// mean of `gap_to_optimum`; empty if no gap is known
        mean_gap: Option<f64> = "mean_gap" ["relative"],
        /// greatest `gap_to_optimum`; empty if no gap is known
        worst_gap: Option<f64> = "worst_gap" ["relative"],
        /// median of `microseconds`
        median_us: f64 = "median_us" ["µs"],
        /// 99th percentile of `microseconds`
        p99_us: f64 = "p99_us" ["µs"],
        /// median of `first_incumbent_us`; empty if the solver found no plan
        first_incumbent_us: Option<f64> = "first_incumbent_us" ["µs"],
    }
}

record! {
    /// A plan that is better than all earlier plans of the same solver: a row of `incumbents`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct IncumbentRow {
        /// id of the problem
        problem: String = "problem" [""],
        /// solver that found the plan
        solver: Arc<str> = "solver" [""],
        /// time from the start of the first solve until the plan was found
        after_us: f64 = "after_us" ["µs"],
        /// objective of the plan
        objective: f64 = "objective" ["work"],
        /// gap to the exact solver's optimum, or, if that is unknown, to the best plan of any
        /// solver
        gap: f64 = "gap" ["relative"],
    }
}
