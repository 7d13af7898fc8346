//! The named objectives.

use gleaner_solvers::Goal;

/// An objective with a name, such as `throughput`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Named {
    /// Name on the command line and in files.
    pub name: &'static str,
    /// The criterion for the best plan.
    pub goal: Goal,
    /// The expression of the objective.
    pub expression: &'static str,
    /// A description of the quantity that is maximised.
    pub meaning: &'static str,
}

/// All objectives that have a name. The first is the default.
pub const NAMED: &[Named] = &[
    Named {
        name: "file",
        goal: Goal::Total,
        expression: "objective",
        meaning: "The objective curves of the task file",
    },
    Named {
        name: "throughput",
        goal: Goal::Total,
        expression: "rate",
        meaning: "Progress, in the units of the curves",
    },
    Named {
        name: "speedup",
        goal: Goal::Total,
        expression: "speedup",
        meaning: "Progress divided by the progress per node at the task's minimum number of nodes",
    },
    Named {
        name: "priority-weighted",
        goal: Goal::Total,
        expression: "priority * objective",
        meaning: "The objective curves, each multiplied by the task's priority",
    },
    Named {
        name: "share-fair",
        goal: Goal::MaxMin,
        expression: "rate",
        meaning: "The number of running tasks, then the lowest ratio of a running task's progress to its best progress",
    },
    Named {
        name: "deadline",
        goal: Goal::Total,
        expression: "speedup * if deadline > 0 && left < deadline * best_rate \
                     { 0.1 + left / (deadline * best_rate) } else { 0.1 }",
        meaning: "Speedup, weighted by the share of a task's best rate that the task needs to meet its \
                  deadline; tasks that have no deadline or cannot meet it come last",
    },
    Named {
        name: "trial",
        goal: Goal::Total,
        expression: "(1 + rung) * rate / left",
        meaning: "Progress divided by the remaining work, times one plus the trial's rung; tasks that end soonest come \
                  first",
    },
];
