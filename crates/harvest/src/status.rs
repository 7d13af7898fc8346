//! The daemon's status, as shown by the commands `status` and `tasks`, by the web page and by the metrics.

use gleaner_search::Parameters;
use serde::{Deserialize, Serialize};

/// The status of the daemon. It contains no secrets.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Time to which the status applies, in milliseconds since 1970.
    pub now: i64,
    /// Time at which the journal begins, in milliseconds since 1970.
    pub since: i64,
    /// State of the daemon: `running`, `draining` or `stopping`.
    pub mode: String,
    /// Names of the classes of nodes, if there are classes.
    #[serde(default)]
    pub classes: Vec<String>,
    /// Nodes that pilots hold.
    pub nodes: Vec<NodeStatus>,
    /// Number of requested pilots that do not hold a node yet.
    pub pilots_pending: u64,
    /// Number of pilots that have ended because the batch scheduler took their node back.
    pub preemptions: u64,
    /// Statistics of the times for which preempted pilots kept their nodes; `None` if no preempted pilot has ended yet.
    #[serde(default)]
    pub handover: Option<HandoverStatus>,
    /// All tasks, in order of submission.
    pub tasks: Vec<TaskStatus>,
    /// All searches, in order of submission.
    #[serde(default)]
    pub searches: Vec<SearchStatus>,
    /// The last decisions, newest first.
    pub decisions: Vec<DecisionStatus>,
    /// Time for which pilots held nodes, in node-seconds.
    pub idle_node_s: f64,
    /// Time for which tasks held nodes, in node-seconds.
    pub used_node_s: f64,
}

/// Statistics of the times from the request to give back a node to the end of the preempted pilot. Each of these times
/// is an upper bound on the delay of the normal job that gets the node.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HandoverStatus {
    /// Mean over the preempted pilots, in seconds.
    pub mean_s: f64,
    /// Maximum over the preempted pilots, in seconds.
    pub longest_s: f64,
}

/// A node that a pilot holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeStatus {
    /// Name of the node.
    pub name: String,
    /// Class of the node, if there are classes.
    #[serde(default)]
    pub class: Option<String>,
    /// Name of the task to which the node is assigned, if any.
    pub task: Option<String>,
    /// Time at which the pilot's wall time ends, in milliseconds since 1970; `None` if its wall time is not limited.
    pub ends: Option<i64>,
}

/// The status of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskStatus {
    /// Name of the task.
    pub name: String,
    /// Names of the groups that contain the task.
    #[serde(default)]
    pub groups: Vec<String>,
    /// State of the task: `waiting`, `active`, `finished`, `failed` or `cancelled`.
    pub state: String,
    /// Number of nodes that are assigned to the task.
    pub nodes: u32,
    /// Number of nodes on which the task runs.
    pub running: u32,
    /// Work done, as last reported.
    pub done: f64,
    /// Total work; `None` if the task ends when its program ends.
    pub work: Option<f64>,
    /// Number of runs so far.
    pub generation: u32,
    /// Measured rates by class and number of nodes.
    pub rates: Vec<RateStatus>,
    /// The reason why the task failed; `None` if it has not failed.
    pub reason: Option<String>,
}

/// The status of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchStatus {
    /// Name of the search.
    pub name: String,
    /// Name of the algorithm.
    pub algorithm: String,
    /// State of the search: `running`, `over` or `cancelled`.
    pub state: String,
    /// Number of trials.
    pub trials: u64,
    /// Number of trials that have started.
    pub started: u32,
    /// Number of trials that have reached the last rung.
    pub finished: u32,
    /// Number of trials that the algorithm has stopped.
    pub stopped: u32,
    /// The best trial so far, which has the lowest loss among the trials with the most training.
    pub best: Option<BestTrial>,
}

/// The best trial of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BestTrial {
    /// Number of the trial.
    pub trial: u32,
    /// Amount of the search's resource, such as a number of epochs, after which the loss was measured.
    pub resource: f64,
    /// The loss that was measured.
    pub loss: f64,
    /// The hyperparameters of the trial.
    pub parameters: Parameters,
}

/// A measured rate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RateStatus {
    /// Class of the nodes, if there are classes.
    #[serde(default)]
    pub class: Option<String>,
    /// Number of nodes.
    pub nodes: u32,
    /// Work per second.
    pub rate: f64,
}

/// A decision of the allocator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DecisionStatus {
    /// Time of the decision, in seconds since 1970.
    pub time: i64,
    /// The reasons for the decision, such as "2 nodes joined".
    pub why: String,
    /// The changes that the decision made, such as "resnet: 2 to 4 nodes".
    pub changes: Vec<String>,
}
