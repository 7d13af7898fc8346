//! The results of a comparison of solvers.

use std::borrow::Cow;
use std::time::Duration;

use gleaner_solvers::Status;

/// One solver's answer to one problem.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The problem's id.
    pub problem: String,
    /// Number of tasks in the problem.
    pub tasks: usize,
    /// Number of idle nodes in the problem.
    pub nodes: u32,
    /// Name of the solver.
    pub solver: Cow<'static, str>,
    /// Status of the answer; `Err` holds the reason why the solver refused the problem.
    pub status: Result<Status, String>,
    /// Objective of its plan; `None` if it has no plan.
    pub objective: Option<f64>,
    /// Relative gap that the solver itself proved; `None` if it proved none.
    pub proven_gap: Option<f64>,
    /// Relative gap of its plan to the exact optimum; `None` if either is missing.
    pub gap_to_optimum: Option<f64>,
    /// Wall time in microseconds: the median of repeated solves.
    pub micros: f64,
}

/// Totals of one solver over all problems.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Name of the solver.
    pub solver: Cow<'static, str>,
    /// Number of problems that it did not refuse.
    pub problems: usize,
    /// Number of problems that it refused.
    pub refused: usize,
    /// Number of problems for which it proved its plan optimal.
    pub optimal: usize,
    /// Number of problems, not refused, for which it found no plan.
    pub without_plan: usize,
    /// Sum of the objectives.
    pub objective: f64,
    /// Mean relative gap to the exact optimum; `None` if no gap is known.
    pub mean_gap: Option<f64>,
    /// Largest relative gap to the exact optimum; `None` if no gap is known.
    pub worst_gap: Option<f64>,
    /// Median wall time in microseconds.
    pub median_micros: f64,
    /// 99th percentile of the wall time in microseconds.
    pub p99_micros: f64,
}

/// Estimated time of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// Number of problems to compare on.
    pub problems: usize,
    /// Name and estimated time of each contender, in their order.
    pub contenders: Vec<(Cow<'static, str>, Duration)>,
    /// Estimated time of all contenders together and of the search for the optima.
    pub all: Duration,
}
