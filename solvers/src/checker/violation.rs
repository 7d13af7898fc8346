//! The ways in which an answer can be wrong.

/// One way in which an answer is wrong.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the fields are the values the messages print")]
pub enum Violation {
    /// The plan does not have one count per task.
    #[error("{found} counts, expected one for each of {expected} tasks")]
    WrongLength { found: usize, expected: usize },
    /// The plan uses more nodes than are idle.
    #[error("{used} nodes used, expected at most {nodes} (the idle nodes)")]
    OverCapacity { used: u64, nodes: u32 },
    /// A count is outside the task's bounds.
    #[error("task {task} has {count} nodes, expected 0 or {min} to {max}")]
    OutOfBounds {
        task: String,
        count: u32,
        min: u32,
        max: u32,
    },
    /// A change is larger than the paper's big-M allows.
    #[error("task {task} changes by {change} nodes, but the paper's big-M allows at most {cap}")]
    OverChangeCap { task: String, change: u32, cap: u32 },
    /// A group's total is outside its limits.
    #[error("group {group} has {total} nodes, expected {min} to {max}")]
    GroupLimit {
        group: String,
        total: u64,
        min: u64,
        max: u64,
    },
    /// The stated objective differs from the plan's objective.
    #[error("the stated objective is {stated}, but the plan's objective is {recomputed}")]
    WrongObjective { stated: f64, recomputed: f64 },
    /// The bound lies below the plan's own objective.
    #[error("the stated bound {bound} is below the plan's objective {objective}")]
    BoundBelowObjective { bound: f64, objective: f64 },
    /// A plan that differs from the answer's plan in the count of one task has an objective above
    /// the bound.
    #[error("bound {bound} is wrong: with {count} nodes for task {task} the objective is {better}")]
    BoundBelowPlan {
        bound: f64,
        task: String,
        count: u32,
        better: f64,
    },
    /// The stated fairness differs from the plan's fairness.
    #[error(
        "the stated fairness is {stated}, but {running} tasks run, with a least share of {share:?}"
    )]
    WrongFairness {
        running: u32,
        share: Option<f64>,
        stated: String,
    },
    /// The plan is reported as optimal under a max-min goal, but more tasks could run.
    #[error("{running} tasks run, but {possible} could run")]
    TooFewRun { running: usize, possible: usize },
    /// The plan is reported as optimal under a max-min goal, but the least share could be greater.
    #[error("the least share is {least}, but {running} tasks could each have more than {level}")]
    LeastShareTooLow {
        running: usize,
        least: f64,
        level: f64,
    },
    /// The status requires a plan, but the answer has none; or the answer has a plan, but its status excludes one.
    #[error("status {status} {}", if *.has_plan { "with a plan" } else { "without a plan" })]
    PlanMismatch {
        status: &'static str,
        has_plan: bool,
    },
}
