//! What a replay yields: step, task and allocation rows, and a summary.

use serde::{Deserialize, Serialize};

use super::objective::Objective;
use super::rounds::MAX_TASKS;
use crate::domain::Time;
use crate::domain::tasks::ENDLESS;

/// What happened at a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// Nodes joined or left: a row of the log.
    Nodes,
    /// A task finished between two rows of the log (`--completion-events`).
    Completion,
}

impl EventKind {
    /// Name in tables.
    pub fn as_str(self) -> &'static str {
        match self {
            EventKind::Nodes => "nodes",
            EventKind::Completion => "completion",
        }
    }
}

/// What came of the decision at a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// A plan proven optimal was applied.
    Optimal,
    /// A feasible plan better than staying put was applied.
    Feasible,
    /// Nothing better was found in time: the allocation stays, nothing is charged.
    Kept,
    /// The script's allocation was applied.
    Scripted,
    /// No idle node or no active task: nothing to decide.
    Trivial,
}

impl StepStatus {
    /// Name in tables.
    pub fn as_str(self) -> &'static str {
        match self {
            StepStatus::Optimal => "optimal",
            StepStatus::Feasible => "feasible",
            StepStatus::Kept => "kept",
            StepStatus::Scripted => "scripted",
            StepStatus::Trivial => "trivial",
        }
    }
}

/// One event after the first. The first 13 fields are the original's columns.
#[derive(Debug, Clone, PartialEq)]
pub struct StepRow {
    /// Time of the event.
    pub time: Time,
    /// Work done since the event before, less costs (`Thr`).
    pub progress: f64,
    /// Work per second from now on (`Rate`).
    pub rate: f64,
    /// Work that the rescaling just decided costs (`ReScost`); charged at the next event.
    pub rescale_cost: f64,
    /// Index of the log's event (`evt`); a completion repeats the one before it.
    pub event: usize,
    /// Nodes that left (`Nleft`).
    pub nodes_left: u32,
    /// Tasks that a leaving node cost progress (`Npre`).
    pub tasks_preempted: u32,
    /// Nodes that joined (`Njoin`).
    pub nodes_joined: u32,
    /// Active tasks (`nJob`).
    pub tasks_active: u32,
    /// Idle nodes (`nNd`).
    pub nodes_idle: u32,
    /// Tasks with nodes (`nJrun`).
    pub tasks_running: u32,
    /// Nodes used (`nNrun`).
    pub nodes_used: u32,
    /// Work lost to preemption (`PreCost`).
    pub preemption_cost: f64,
    /// What happened.
    pub kind: EventKind,
    /// What came of the decision.
    pub status: StepStatus,
    /// Relative gap of the applied plan, where known.
    pub gap: Option<f64>,
    /// Wall time of the solver in microseconds; goes to a table of its own.
    pub micros: u64,
}

/// One task's account.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskRow {
    /// Task name.
    pub name: String,
    /// When it was submitted.
    pub submit: Time,
    /// When it first held nodes.
    pub start: Option<Time>,
    /// When it was found finished.
    pub end: Option<Time>,
    /// Work it has to do; infinite where it is endless.
    pub work: f64,
    /// Work it has done.
    pub work_done: f64,
    /// Seconds for which it was active: in the allocator's hands, with nodes or without.
    pub active_seconds: f64,
    /// Node-seconds it held.
    pub node_seconds: f64,
    /// How often it grew.
    pub rescales_up: u32,
    /// How often it shrank.
    pub rescales_down: u32,
    /// How often it lost nodes to the batch scheduler.
    pub preemptions: u32,
    /// Seconds of progress lost to growing (the start included).
    pub lost_up: f64,
    /// Seconds of progress lost to shrinking.
    pub lost_down: f64,
    /// Seconds of progress lost to preemption.
    pub lost_preempted: f64,
    /// Work done as a share of what it would have done at its best while active; `None`
    /// where it never was active, or can do nothing.
    pub normalised_progress: Option<f64>,
}

/// A task held a node from one time to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AllocationRow {
    /// Index of the task in file order.
    pub task: u32,
    /// Index of the node in the log slice.
    pub node: u32,
    /// From when.
    pub from: Time,
    /// Until when.
    pub to: Time,
}

/// Why a replay ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// All tasks had finished.
    TasksFinished,
    /// The log's last event was replayed.
    LogEnded,
    /// The script says nothing of what follows.
    ScriptEnded,
    /// Another round of tasks would be one too many
    /// ([`MAX_TASKS`]).
    TaskLimit,
    /// It was interrupted.
    Interrupted,
}

/// The run in numbers: `summary.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Whether the replay ran to its end (false after an interrupt).
    pub complete: bool,
    /// Why it ended.
    pub ended: Ended,
    /// Forward window in seconds.
    pub t_fwd: f64,
    /// Most tasks active at once.
    pub max_tasks: usize,
    /// What every decision maximised.
    pub objective: Objective,
    /// Name of the decider.
    pub solver: String,
    /// How it wrote problems down; `null` where it does not.
    pub formulation: Option<String>,
    /// First time of the log slice.
    pub log_from: String,
    /// Last time of the log slice.
    pub log_to: String,
    /// Seconds between them.
    pub log_span_seconds: f64,
    /// Node-seconds of idleness in the log slice.
    pub log_idle_node_seconds: f64,
    /// Time of event 0: the replay begins with the log slice.
    pub from: String,
    /// Time of the last event that was replayed.
    pub to: String,
    /// Seconds between them.
    pub span_seconds: f64,
    /// Seconds of these in which tasks were active.
    pub active_seconds: f64,
    /// Nodes in the log slice.
    pub nodes: usize,
    /// Events after the first.
    pub events: usize,
    /// Events whose plan is proven optimal; nothing to decide counts as that.
    pub events_optimal: usize,
    /// Events at which nothing better than staying put was found in time.
    pub events_kept: usize,
    /// Work done (A), in the curves' units.
    pub total_work: f64,
    /// Node-seconds of idleness in the time replayed.
    pub idle_node_seconds: f64,
    /// Node-seconds that tasks held.
    pub used_node_seconds: f64,
    /// Work lost to rescaling, starts included.
    pub rescale_loss: f64,
    /// Work lost to preemption.
    pub preemption_loss: f64,
    /// Nodes of the equivalent dedicated machine: idle nodes on average while tasks were
    /// active.
    pub equivalent_nodes: f64,
    /// Work of the same tasks on that machine, never interrupted (A_s).
    pub dedicated_work: f64,
    /// U = A / A_s; `null` where A_s is 0. It can be above 1 where curves are not concave, or
    /// more tasks were active while more nodes were idle.
    pub efficiency: Option<f64>,
    /// Work if every event's optimum were reached at once and cost nothing.
    pub fluid_work: f64,
    /// A against that bound; `null` where it is 0.
    pub fluid_efficiency: Option<f64>,
    /// Tasks submitted or to come, over all rounds.
    pub tasks: usize,
    /// How often the set of tasks was submitted (`--repeat-tasks`).
    pub rounds: usize,
    /// Tasks without an end.
    pub tasks_endless: usize,
    /// Tasks that became active.
    pub tasks_started: usize,
    /// Tasks that finished.
    pub tasks_finished: usize,
    /// Mean seconds from submission (or event 0, if later) to the end, over finished tasks.
    pub completion_mean_s: Option<f64>,
    /// Median of the same.
    pub completion_median_s: Option<f64>,
    /// Seconds from event 0 to the last task's end.
    pub completion_last_s: Option<f64>,
    /// Least normalised progress of the tasks that were active.
    pub fairness_min: Option<f64>,
    /// Jain's index of normalised progress: 1 where all tasks fared alike.
    pub fairness_jain: Option<f64>,
}

impl Summary {
    /// Idle nodes on average over the time replayed; 0 where no time was.
    pub fn idle_nodes_mean(&self) -> f64 {
        match self.span_seconds > 0.0 {
            true => self.idle_node_seconds / self.span_seconds,
            false => 0.0,
        }
    }

    /// What a reader could take for wrong, or not see, and why it is so.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.efficiency.is_some_and(|share| share > 1.0 + 1e-9) {
            remarks.push(
                "the efficiency is above 100 %: training did more than on as many nodes that are \
                 always there, as scaling curves are not concave, or as more tasks were active \
                 while more nodes were idle (docs/OUTPUTS.md)"
                    .to_owned(),
            );
        }
        if self.ended == Ended::TasksFinished && self.span_seconds < 0.5 * self.log_span_seconds {
            remarks.push(format!(
                "all tasks were finished long before the log's end: give them more work, make \
                 them endless (work = {ENDLESS:?}), or see --repeat-tasks"
            ));
        }
        if self.ended == Ended::TaskLimit {
            remarks.push(format!(
                "the replay ended after {} rounds of the tasks: another one would make more than \
                 {MAX_TASKS} tasks; give them more work",
                self.rounds
            ));
        }
        remarks
    }
}

/// Everything a replay yields.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// One row an event after the first.
    pub steps: Vec<StepRow>,
    /// One row a task, in file order.
    pub tasks: Vec<TaskRow>,
    /// Closed intervals, in order of their end.
    pub allocations: Vec<AllocationRow>,
    /// The run in numbers.
    pub summary: Summary,
}
