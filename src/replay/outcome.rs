//! What a replay yields.

use crate::results::replay::{AllocationRow, StepRow, Summary, TaskRow, TimingRow};

/// Everything a replay yields.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// One row an event after the first.
    pub steps: Vec<StepRow>,
    /// Wall time of the solver at each.
    pub timings: Vec<TimingRow>,
    /// One row a task, in file order.
    pub tasks: Vec<TaskRow>,
    /// Closed intervals, in order of their end.
    pub allocations: Vec<AllocationRow>,
    /// The run in numbers.
    pub summary: Summary,
}
