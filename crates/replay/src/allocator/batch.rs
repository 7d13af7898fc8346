//! What goes into the allocator and what comes out.

use std::ops::Range;

use gleaner_core::domain::{Change, Time, TrainingTask};
use gleaner_core::results::replay::StepStatus;

/// All that happened at one time. The allocator takes the events in the order of these fields.
///
/// ```
/// use gleaner_core::domain::{Change, Time};
/// use gleaner_replay::allocator::Batch;
///
/// let batch = Batch {
///     nodes: &[Change::new(3, false), Change::new(5, true)],
///     ..Batch::at(7, Time::from_seconds(100))
/// };
/// assert!(batch.finished.is_empty());
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Batch<'b> {
    /// Number of the event, for deciders and messages. Batches may share a number.
    pub event: usize,
    /// Time of the events, not before that of the last batch.
    pub time: Time,
    /// Nodes that came (became idle) and left (became busy), each at most once. The allocator takes away
    /// the nodes that left first, and adds those that came after it has retired finished tasks.
    pub nodes: &'b [Change],
    /// The work that active tasks have done so far, where it is known. Only objectives that depend on
    /// progress use it.
    pub progress: &'b [Progress],
    /// Indices of the active tasks that finished.
    pub finished: &'b [u32],
    /// New tasks, which get the next indices. A task whose `submit` is a later time waits until then.
    pub submitted: &'b [TrainingTask],
}

impl Batch<'_> {
    /// A batch without events.
    pub fn at(event: usize, time: Time) -> Self {
        Batch {
            event,
            time,
            nodes: &[],
            progress: &[],
            finished: &[],
            submitted: &[],
        }
    }
}

/// A report that a task has done part of its work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Index of the task.
    pub task: u32,
    /// Work done since its start, at least 0.
    pub done: f64,
}

/// What the driver carries out after a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct Reallocation {
    /// Nodes that left the tasks that held them, in the order of the batch. Each of these tasks continues
    /// on its remaining nodes, even if the decision leaves it as it is.
    pub lost: Vec<Holding>,
    /// Indices of the tasks that became known: those submitted, those of a round, and trials.
    pub known: Range<u32>,
    /// Tasks that became active, in the order of admission.
    pub admitted: Vec<u32>,
    /// Nodes that tasks give back: first those of finished tasks, then those of tasks that shrink.
    pub released: Vec<Holding>,
    /// Free nodes that tasks get.
    pub given: Vec<Holding>,
    /// Tasks whose number of nodes the decision changed, in the order of admission.
    pub resized: Vec<Resize>,
    /// The solver's answer; `None` if there was nothing to decide, as no node was idle or no task active.
    pub answer: Option<Answer>,
}

/// A task and a node that it holds, gets or gives back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holding {
    /// Index of the task.
    pub task: u32,
    /// Index of the node.
    pub node: u32,
}

/// A change of a task's number of nodes by a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resize {
    /// Index of the task.
    pub task: u32,
    /// Number of nodes before the decision, without those that left in the same batch.
    pub before: u32,
    /// Number of nodes after it.
    pub after: u32,
}

/// What a resize does to a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResizeKind {
    /// It held no node and gets some.
    Started,
    /// It gets further nodes.
    Grown,
    /// It gives some of its nodes back.
    Shrunk,
    /// It gives back all of its nodes.
    Stopped,
}

impl Resize {
    /// What the resize does to its task.
    pub fn kind(&self) -> ResizeKind {
        match (self.before, self.after) {
            (0, _) => ResizeKind::Started,
            (_, 0) => ResizeKind::Stopped,
            (before, after) if after > before => ResizeKind::Grown,
            _ => ResizeKind::Shrunk,
        }
    }
}

/// What a decider reports about its decision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    /// How good the plan is known to be.
    pub status: StepStatus,
    /// Relative gap of the plan to the optimum, if known.
    pub gap: Option<f64>,
    /// Wall time of the solver, in microseconds.
    pub micros: u64,
    /// Whether a group could not have its fewest nodes.
    pub is_short: bool,
}

impl Reallocation {
    /// No change, before a batch whose first new task gets the index `first`.
    pub(super) fn none(first: u32) -> Self {
        Reallocation {
            lost: Vec::new(),
            known: first..first,
            admitted: Vec::new(),
            released: Vec::new(),
            given: Vec::new(),
            resized: Vec::new(),
            answer: None,
        }
    }
}
