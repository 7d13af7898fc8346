//! The results of a replay.

use gleaner_core::results::replay::{AllocationRow, StepRow, Summary, TaskRow, TimingRow};

/// All results of a replay.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// One row per event after the first.
    pub steps: Vec<StepRow>,
    /// Wall time of the solver at each of these events.
    pub timings: Vec<TimingRow>,
    /// One row per task, in file order.
    pub tasks: Vec<TaskRow>,
    /// Intervals in which a task held a node, in the order of their ends.
    pub allocations: Vec<AllocationRow>,
    /// Totals of the run.
    pub summary: Summary,
}
