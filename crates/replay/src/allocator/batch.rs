//! The allocator's input, [`Batch`], and its output, [`Reallocation`].

use std::ops::Range;

use gleaner_classes::Held;
use gleaner_domain::results::replay::StepStatus;
use gleaner_domain::{Change, ScalingCurve, TaskGroup, TrainingTask, Utc};

/// All events at one time. The allocator processes them in this order: nodes that left, progress, measurements,
/// finished tasks, nodes that joined, submitted tasks with their groups.
///
/// ```
/// use gleaner_domain::{Change, Utc};
/// use gleaner_replay::allocator::Batch;
///
/// let batch = Batch {
///     nodes: &[Change::new(3, false), Change::new(5, true)],
///     ..Batch::at(7, Utc::from_seconds(100))
/// };
/// assert!(batch.finished.is_empty());
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Batch<'b> {
    /// Event number, which is passed to deciders and shown in messages. Several batches can share a number.
    pub event: usize,
    /// Time of the events, at or after the time of the previous batch.
    pub time: Utc,
    /// Nodes that joined (became idle) or left (became busy), each at most once. Nodes that left are removed
    /// first. Nodes that joined are added only after finished tasks are retired.
    pub nodes: &'b [Change],
    /// The work that active tasks have done so far, if known. Only objectives that depend on progress use it.
    pub progress: &'b [Progress],
    /// Curves and rescaling costs that were measured while active tasks trained. From this batch on, decisions use the
    /// measured values. A task can have one measurement for each class of nodes.
    pub measured: &'b [Measured],
    /// Indices of the active tasks that finished.
    pub finished: &'b [u32],
    /// New tasks, which get the next free indices. A task waits until its `submit` time.
    pub submitted: &'b [TrainingTask],
    /// Groups of the tasks in `submitted`. If an earlier batch has a group with the same name and the same limits, the
    /// tasks join that group.
    pub groups: &'b [TaskGroup],
}

impl Batch<'_> {
    /// A batch without events, at `time`.
    pub fn at(event: usize, time: Utc) -> Self {
        Batch {
            event,
            time,
            nodes: &[],
            progress: &[],
            measured: &[],
            finished: &[],
            submitted: &[],
            groups: &[],
        }
    }
}

/// A report of the work that a task has done so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Index of the task.
    pub task: u32,
    /// Work done since the task's start, at least 0.
    pub done: f64,
}

/// The measured scaling curve and rescaling costs of a task.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Index of the task.
    pub task: u32,
    /// Index of the class of nodes that the curve applies to; 0 if all nodes are interchangeable.
    pub class: usize,
    /// The scaling curve, which replaces the task's curve in this class.
    pub curve: ScalingCurve,
    /// Seconds of progress lost when the task grows.
    pub rescale_up: f64,
    /// Seconds of progress lost when the task shrinks.
    pub rescale_down: f64,
    /// Seconds of progress lost when the task moves to another class; `None` if this was not measured.
    pub move_cost: Option<f64>,
}

impl Measured {
    /// A copy of `task` with the measured curve and costs; `None` if the task does not use the class.
    pub fn applied(&self, task: &TrainingTask) -> Option<TrainingTask> {
        let mut task = task.clone();
        task.rescale_up = self.rescale_up;
        task.rescale_down = self.rescale_down;
        task.classes.move_cost = self.move_cost.or(task.classes.move_cost);
        let is_used = task.set_curve_in(self.class, self.curve.clone());
        is_used.then_some(task)
    }
}

/// The changes that the driver must carry out after a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct Reallocation {
    /// Nodes that left while tasks held them, in the order of the batch. Each of these tasks continues on its
    /// remaining nodes, even if it is not in `resized`.
    pub lost: Vec<Holding>,
    /// Indices of the tasks that this batch added: submitted tasks, tasks of a round, and trials.
    pub known: Range<u32>,
    /// Tasks that became active, in the order of admission.
    pub admitted: Vec<u32>,
    /// Trials of a search that reached a rung and continue training immediately. They were among the batch's finished
    /// tasks, but remain active.
    pub extended: Vec<Extension>,
    /// Nodes that tasks release: the nodes of finished tasks, followed by the nodes that the decision takes from active
    /// tasks.
    pub released: Vec<Holding>,
    /// Free nodes that tasks receive.
    pub given: Vec<Holding>,
    /// Tasks whose nodes the decision changed in number or class, in the order of admission.
    pub resized: Vec<Resize>,
    /// The decider's answer; `None` if no decision was made because no node was idle or no task was active.
    pub answer: Option<Answer>,
}

/// Additional work for a task that has completed its work so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extension {
    /// Index of the task.
    pub task: u32,
    /// The amount of work that is added to the task.
    pub work: f64,
    /// The next rung, which the task reaches with this work.
    pub rung: u32,
}

/// A task and a node that it holds, receives, loses or releases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holding {
    /// Index of the task.
    pub task: u32,
    /// Index of the node.
    pub node: u32,
}

/// A change in the number or the class of a task's nodes, made by a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resize {
    /// Index of the task.
    pub task: u32,
    /// Number of nodes before the decision, excluding nodes that left in the same batch.
    pub before: u32,
    /// Number of nodes after the decision.
    pub after: u32,
    /// Class of the nodes before the decision, or afterwards if there were no nodes before.
    pub class_before: usize,
    /// Class of the nodes after the decision, or before if there are no nodes afterwards.
    pub class_after: usize,
}

/// The kinds of resizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResizeKind {
    /// The task held no nodes and receives some.
    Started,
    /// The task receives additional nodes.
    Grown,
    /// The task releases some of its nodes.
    Shrunk,
    /// The task releases all of its nodes.
    Stopped,
    /// The task releases all of its nodes and receives nodes of another class.
    Moved,
}

impl Resize {
    /// The change between the nodes that a task holds before and after a decision; `None` if their class and number
    /// stay the same.
    pub(super) fn between(task: u32, before: Option<Held>, after: Option<Held>) -> Option<Self> {
        let class = before.or(after)?.class;
        let count = |held: Option<Held>| held.map_or(0, |held| held.count);
        (before != after).then(|| Resize {
            task,
            before: count(before),
            after: count(after),
            class_before: class,
            class_after: after.map_or(class, |held| held.class),
        })
    }

    /// The kind of this resize.
    pub fn kind(&self) -> ResizeKind {
        match (self.before, self.after) {
            (0, _) => ResizeKind::Started,
            (_, 0) => ResizeKind::Stopped,
            _ if self.class_before != self.class_after => ResizeKind::Moved,
            (before, after) if after > before => ResizeKind::Grown,
            _ => ResizeKind::Shrunk,
        }
    }
}

/// A decider's report on its decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The status of the plan, such as optimal.
    pub status: StepStatus,
    /// Relative gap between the plan's objective and the optimum, if known.
    pub gap: Option<f64>,
    /// Wall time of the solver, in microseconds.
    pub micros: u64,
    /// Whether any group could not get its minimum number of nodes.
    pub is_short: bool,
    /// Price of an idle node of each class: approximately the amount that one more idle node would add to the objective
    /// over the forward window. Empty if all nodes are interchangeable or the decider computes no prices.
    pub prices: Vec<f64>,
}

impl Reallocation {
    /// Creates an empty reallocation. The first task that the batch adds will have the index `first`.
    pub(super) fn none(first: u32) -> Self {
        Reallocation {
            lost: Vec::new(),
            known: first..first,
            admitted: Vec::new(),
            extended: Vec::new(),
            released: Vec::new(),
            given: Vec::new(),
            resized: Vec::new(),
            answer: None,
        }
    }
}
