//! The results of a replay on nodes of several classes.

use std::sync::Arc;

use crate::Utc;

record! {
    /// A class of nodes at an event: a row of `classes`. The rows of an event add up to its row of `steps`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct ClassRow {
        /// time of the event
        time: Utc = "time" ["time"],
        /// index of the event in the log; a completion has the index of the previous event
        event: usize = "evt" [""],
        /// name of the class
        class: Arc<str> = "class" [""],
        /// number of idle nodes
        nodes_idle: u32 = "idle" ["nodes"],
        /// number of nodes that joined (became idle)
        nodes_joined: u32 = "joined" ["nodes"],
        /// number of nodes that left (became busy)
        nodes_left: u32 = "left" ["nodes"],
        /// number of nodes that tasks hold
        nodes_used: u32 = "used" ["nodes"],
        /// number of tasks that hold nodes
        tasks_running: u32 = "tasks" ["tasks"],
        /// work done in the class since the previous event, less the costs charged at this event
        progress: f64 = "work" ["work"],
        /// cost of the rescaling decided at this event, charged at the next event; the cost of a move is counted in the
        /// class to which the task moves
        rescale_cost: f64 = "rescale_cost" ["work"],
        /// number of tasks that lost progress because a node left
        tasks_preempted: u32 = "preempted" ["tasks"],
        /// price of a node: approximately what an additional idle node of the class would add to the objective; empty
        /// if no node is idle or the solver computes no prices
        price: Option<f64> = "price" ["objective/s"],
    }
}

record! {
    /// A move of a task to nodes of another class: a row of `moves`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct MoveRow {
        /// time of the event
        time: Utc = "time" ["time"],
        /// index of the event in the log
        event: usize = "evt" [""],
        /// name of the task
        task: Arc<str> = "task" [""],
        /// class of the nodes that the task released
        from: Arc<str> = "from" [""],
        /// number of nodes that the task released
        nodes_before: u32 = "nodes_before" ["nodes"],
        /// class of the nodes that the task received
        to: Arc<str> = "to" [""],
        /// number of nodes that the task received
        nodes_after: u32 = "nodes_after" ["nodes"],
    }
}

record! {
    /// The totals of a node class over the whole replay: a row of `class_totals`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct ClassTotal {
        /// name of the class
        class: Arc<str> = "class" [""],
        /// number of nodes of the class in the log or its slice
        nodes: u32 = "nodes" ["nodes"],
        /// idle node-time of the class
        idle_node_seconds: f64 = "idle_node_seconds" ["node·s"],
        /// part of `idle_node_seconds` on nodes that tasks held
        used_node_seconds: f64 = "used_node_seconds" ["node·s"],
        /// useful work done in the class
        work: f64 = "work" ["work"],
        /// `work` as a share of the work in all classes; empty if no work was done
        work_share: Option<f64> = "work_share" [""],
        /// number of times that a task lost nodes to the batch scheduler
        preemptions: u32 = "preemptions" [""],
        /// number of times that a task moved to this class from another class
        moved_in: u32 = "moved_in" [""],
        /// number of times that a task moved from this class to another class
        moved_out: u32 = "moved_out" [""],
        /// mean of `price` over the time during which there was a price; empty if there never was a
        /// price
        mean_price: Option<f64> = "mean_price" ["objective/s"],
    }
}

/// The results by class.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassOutcome {
    /// A row for each class at each event after the first.
    pub rows: Vec<ClassRow>,
    /// The moves in order of time.
    pub moves: Vec<MoveRow>,
    /// A row for each class.
    pub totals: Vec<ClassTotal>,
}
