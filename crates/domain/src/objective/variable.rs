//! The variables of objectives.

/// A quantity of a task that an objective can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variable {
    /// Work per second at the point.
    Rate,
    /// Value of the task file's objective curve at the point, per second.
    Objective,
    /// Number of nodes at the point.
    Nodes,
    /// `rate` divided by the work per second per node at the task's minimum number of nodes.
    Speedup,
    /// Minimum number of nodes on which the task runs.
    MinNodes,
    /// Maximum number of nodes that the task can use.
    MaxNodes,
    /// The task's maximum rate, over all numbers of nodes that it is allowed to hold.
    BestRate,
    /// The task's priority.
    Priority,
    /// Rung of a trial in a search, from 0; 0 for other tasks.
    Rung,
    /// Work done so far.
    Done,
    /// Remaining work; infinite if the task is endless.
    Left,
    /// Seconds since submission during which the task held no node.
    Waited,
    /// Seconds from now to the task's deadline: negative after the deadline, infinite without a
    /// deadline.
    Deadline,
}

impl Variable {
    /// All variables, in the order of their values.
    pub const ALL: [Variable; 13] = [
        Variable::Rate,
        Variable::Objective,
        Variable::Nodes,
        Variable::Speedup,
        Variable::MinNodes,
        Variable::MaxNodes,
        Variable::BestRate,
        Variable::Priority,
        Variable::Rung,
        Variable::Done,
        Variable::Left,
        Variable::Waited,
        Variable::Deadline,
    ];

    /// Name in expressions.
    pub fn name(self) -> &'static str {
        match self {
            Variable::Rate => "rate",
            Variable::Objective => "objective",
            Variable::Nodes => "nodes",
            Variable::Speedup => "speedup",
            Variable::MinNodes => "min_nodes",
            Variable::MaxNodes => "max_nodes",
            Variable::BestRate => "best_rate",
            Variable::Priority => "priority",
            Variable::Rung => "rung",
            Variable::Done => "done",
            Variable::Left => "left",
            Variable::Waited => "waited",
            Variable::Deadline => "deadline",
        }
    }

    /// The unit and the meaning of the variable, for documentation.
    pub fn meaning(self) -> (&'static str, &'static str) {
        match self {
            Variable::Rate => ("work/s", "progress on `nodes` nodes"),
            Variable::Objective => (
                "1/s",
                "value of the task's objective curve at `nodes` nodes; `rate` if the task has no objective curve",
            ),
            Variable::Nodes => (
                "nodes",
                "number of nodes for which the expression is evaluated",
            ),
            Variable::Speedup => (
                "",
                "`rate` divided by the progress per node at the task's minimum number of nodes",
            ),
            Variable::MinNodes => ("nodes", "minimum number of nodes of the task"),
            Variable::MaxNodes => ("nodes", "maximum number of nodes of the task"),
            Variable::BestRate => (
                "work/s",
                "the task's maximum `rate`, over all numbers of nodes that it is allowed to hold",
            ),
            Variable::Priority => ("", "priority in the task file; default: 1"),
            Variable::Rung => ("", "rung of a trial in a search, from 0; 0 for other tasks"),
            Variable::Done => ("work", "work done so far"),
            Variable::Left => ("work", "remaining work; `inf` for an endless task"),
            Variable::Waited => (
                "s",
                "time since submission during which the task held no node",
            ),
            Variable::Deadline => (
                "s",
                "time until the deadline: negative after the deadline, `inf` without a deadline",
            ),
        }
    }

    /// Whether the variable differs between the points of a task's curve.
    pub(super) fn is_of_a_point(self) -> bool {
        matches!(
            self,
            Variable::Rate | Variable::Objective | Variable::Nodes | Variable::Speedup
        )
    }

    /// Whether the variable changes while the task runs or waits.
    pub(super) fn varies(self) -> bool {
        matches!(
            self,
            Variable::Done | Variable::Left | Variable::Waited | Variable::Deadline
        )
    }
}
