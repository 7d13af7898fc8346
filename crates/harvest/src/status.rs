//! The state as users see it: for `status` and `tasks`, the page and the metrics.

use serde::{Deserialize, Serialize};

/// A view of the daemon's state. It contains nothing secret.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Time of the view, in milliseconds since 1970.
    pub now: i64,
    /// Time at which the journal begins, in milliseconds since 1970.
    pub since: i64,
    /// `running`, `draining` or `stopping`.
    pub mode: String,
    /// Nodes that pilots hold.
    pub nodes: Vec<NodeStatus>,
    /// Pilots that were requested and do not hold a node yet.
    pub pilots_pending: u64,
    /// Number of pilots so far that ended because the scheduler took their node back.
    pub preemptions: u64,
    /// All tasks in the order of submission.
    pub tasks: Vec<TaskStatus>,
    /// The last decisions, newest first.
    pub decisions: Vec<DecisionStatus>,
    /// Node-seconds for which pilots held nodes.
    pub idle_node_s: f64,
    /// Node-seconds for which tasks held nodes.
    pub used_node_s: f64,
}

/// A node that a pilot holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeStatus {
    /// Name of the node.
    pub name: String,
    /// Name of the task that it is given to, if any.
    pub task: Option<String>,
    /// Time at which the pilot's wall time ends, in milliseconds since 1970.
    pub ends: Option<i64>,
}

/// A task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskStatus {
    /// Name of the task.
    pub name: String,
    /// `waiting`, `active`, `finished`, `failed` or `cancelled`.
    pub state: String,
    /// Number of nodes that it is given.
    pub nodes: u32,
    /// Number of nodes on which it runs.
    pub running: u32,
    /// Work done, as last reported.
    pub done: f64,
    /// Total work; `None` if the task ends when its program ends.
    pub work: Option<f64>,
    /// Number of runs so far.
    pub generation: u32,
    /// Measured work per second by number of nodes.
    pub rates: Vec<(u32, f64)>,
    /// Why it failed, if it failed.
    pub reason: Option<String>,
}

/// A decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DecisionStatus {
    /// Time of the decision, in seconds since 1970.
    pub time: i64,
    /// What led to it, such as "2 nodes joined".
    pub why: String,
    /// What it changed, such as "resnet: 2 to 4 nodes".
    pub changes: Vec<String>,
}
