//! The results of `gleaner pilots`: the use of a log's idle node-time by pilot jobs. All shares are shares of the idle
//! node-time.

use serde::Serialize;

/// Pilot jobs on the idle nodes of a log.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pilots {
    /// Local time of the first row of the log, with its offset from UTC if the log's clock is known.
    pub from: String,
    /// Local time of the last row.
    pub to: String,
    /// Seconds between the first and the last row.
    pub span_seconds: f64,
    /// Number of nodes.
    pub nodes: usize,
    /// Idle node-seconds. The length of each fragment is rounded down to whole seconds.
    pub idle_node_seconds: u64,
    /// Seconds from the start of a pilot until it is ready.
    pub startup_s: u64,
    /// Seconds for which a node waits before each pilot.
    pub delay_s: u64,
    /// The wall times from which the best ladders are chosen; `None` if a ladder or a plan was given.
    pub grid: Option<MinuteGrid>,
    /// Whether the user gave the plan for the model `lost`. Otherwise, the best plan for this log is chosen.
    pub is_plan_given: bool,
    /// The results under the model in which a preempted pilot keeps its work. This model does not depend on the ladder.
    pub kept: Kept,
    /// The given ladder, the wall times of the given plan, or the best ladders of at most 1, 2, … wall times.
    pub ladders: Vec<Ladder>,
    /// The ladder that contains every wall time of the grid that is longer than the start-up time;
    /// `None` if a ladder or a plan was given, or if the search was stopped.
    pub every_length: Option<Ladder>,
    /// Whether all ladders are included; false if the search was stopped.
    pub complete: bool,
}

/// A grid of wall times: the multiples of a step, up to the longest wall time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MinuteGrid {
    /// The step, in minutes.
    pub step_min: u64,
    /// The longest wall time, in minutes.
    pub longest_min: u64,
}

/// The use of the idle node-time if preempted pilots keep their work.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Kept {
    /// Node-seconds during which pilots are ready.
    pub ready_s: u64,
    /// Share of the idle node-time during which pilots are ready.
    pub ready_share: f64,
    /// Share of the idle node-time during which pilots start up.
    pub startup_share: f64,
    /// Share of the idle node-time during which nodes wait for their pilots.
    pub delay_share: f64,
}

/// A ladder (a set of wall times), and how pilots with these wall times use the idle node-time. The model `kept` is
/// omitted, because it does not depend on the ladder.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Ladder {
    /// The wall times in minutes, ascending; empty if no wall time fits any fragment.
    pub lengths_min: Vec<u64>,
    /// The results under the model in which the scheduler knows how long nodes stay idle.
    pub fits: Fits,
    /// For the best ladder found with at most k wall times: an upper bound on the ready share (`fits`) of all such
    /// ladders. The bound equals this ladder's own ready share if the ladder is proven to be the best. `None` for a
    /// given ladder, for the wall times of a given plan, and for the ladder of all wall times of the grid.
    pub bound_share: Option<f64>,
    /// The results under the model in which a preempted pilot loses its work.
    pub lost: Lost,
}

/// The use of the idle node-time if the scheduler starts only pilots that end by the time their node is needed.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Fits {
    /// Node-seconds during which pilots are ready.
    pub ready_s: u64,
    /// Share of the idle node-time during which pilots are ready.
    pub ready_share: f64,
    /// Share of the idle node-time during which pilots start up.
    pub startup_share: f64,
    /// Share of the idle node-time during which nodes wait before each pilot starts.
    pub delay_share: f64,
    /// Share of the idle node-time that is left over because no further pilot fits.
    pub unused_share: f64,
    /// Number of pilots.
    pub pilots: u64,
}

/// The use of the idle node-time under a given plan or the best plan, if preempted pilots lose their work. A plan
/// starts each pilot at a fixed idle age of its node.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Lost {
    /// Node-seconds during which pilots that ended by themselves were ready.
    pub ready_s: u64,
    /// Share of the idle node-time during which pilots that ended by themselves were ready.
    pub ready_share: f64,
    /// Share of the idle node-time during which pilots that ended by themselves started up.
    pub startup_share: f64,
    /// Share of the idle node-time during which nodes waited for pilots that ended by themselves.
    pub delay_share: f64,
    /// The remaining share of the idle node-time, during which nodes held a preempted pilot or no pilot.
    pub unused_share: f64,
    /// Number of pilots that ended by themselves.
    pub finished: u64,
    /// Number of preempted pilots.
    pub preempted: u64,
    /// The pilots of a node, in the order in which they are started.
    pub plan: Vec<PlanStep>,
}

/// A pilot of a plan, which begins at a fixed idle age of the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PlanStep {
    /// Seconds for which the node has been idle when the pilot's delay begins.
    pub age_s: u64,
    /// The pilot's wall time in minutes.
    pub length_min: u64,
    /// Number of fragments in which the pilot starts.
    pub started: u64,
    /// Number of fragments in which the pilot ends by itself.
    pub finished: u64,
}
