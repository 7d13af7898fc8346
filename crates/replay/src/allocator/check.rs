//! Validates batches before they change the allocator's state.

use std::collections::BTreeSet;
use std::fmt;

use gleaner_domain::error::Error;
use gleaner_domain::{Change, TaskGroup, TrainingTask, Utc};

use super::batch::{Batch, Measured, Progress};
use super::nodes::{Holder, NodePool};
use super::registry::{Registry, Stage};
use super::settings::Settings;

/// The reasons for refusing a batch.
#[derive(Debug, Clone, PartialEq)]
pub enum Refusal {
    /// The batch is earlier than the previous batch.
    Earlier {
        /// Time of the previous batch.
        last: Utc,
    },
    /// There is no node with this index.
    UnknownNode(u32),
    /// The batch lists this node twice among the nodes that joined or left.
    NodeTwice(u32),
    /// The batch reports that this node joined, but it was already idle.
    AlreadyIdle(u32),
    /// The batch reports that this node left, but it was not idle.
    NotIdle(u32),
    /// The batch reports the completion or progress of this task, but the task is not active.
    NotActive(u32),
    /// The batch lists this finished task twice.
    FinishedTwice(u32),
    /// The reported work of a task is negative, infinite or not a number.
    Progress(Progress),
    /// A measurement is unusable. The string is a sentence with the reason.
    Measured(String),
    /// The submitted task has the same name as an earlier task.
    NameTaken(String),
    /// The submitted tasks are invalid. Each string describes one fault.
    Tasks(Vec<String>),
    /// A group is invalid. The string is a sentence with the reason.
    Group(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Earlier { last } => {
                let last = last.at_offset(0);
                write!(f, "the previous batch is later, at {last} UTC")
            }
            Refusal::UnknownNode(node) => write!(f, "there is no node {node}"),
            Refusal::NodeTwice(node) => write!(f, "the batch lists node {node} twice"),
            Refusal::AlreadyIdle(node) => write!(f, "node {node} joins, but it is already idle"),
            Refusal::NotIdle(node) => write!(f, "node {node} leaves, but it is not idle"),
            Refusal::NotActive(task) => write!(f, "task number {task} is not active"),
            Refusal::FinishedTwice(task) => write!(f, "task number {task} finishes twice"),
            Refusal::Progress(Progress { task, done }) => write!(
                f,
                "the reported work of task number {task} is {done}, expected a finite number of at least 0"
            ),
            Refusal::Measured(why) | Refusal::Group(why) => f.write_str(why),
            Refusal::NameTaken(name) => write!(f, "task {name}: an earlier task has this name"),
            Refusal::Tasks(faults) => f.write_str(&faults.join("; ")),
        }
    }
}

/// The errors of [`Allocator::advance`](super::Allocator::advance).
#[derive(Debug)]
pub enum AllocatorError {
    /// The batch is invalid. The state is unchanged, so the allocator can process another batch.
    Refused {
        /// The reason for the refusal.
        refusal: Refusal,
        /// Number of the batch's event.
        event: usize,
        /// Time of the batch.
        time: Utc,
    },
    /// The decider failed, its plan cannot be carried out, or a value of the objective is out of range. The
    /// allocator has processed part of the batch, so it cannot continue. To survive solver failures, pass a
    /// decider that returns [`Plan::Keep`](super::decide::Plan::Keep) when its solver fails.
    Failed(Error),
}

impl fmt::Display for AllocatorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AllocatorError::Refused {
                refusal,
                event,
                time,
            } => write!(f, "event {event}, {} UTC: {refusal}", time.at_offset(0)),
            AllocatorError::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for AllocatorError {}

impl From<Error> for AllocatorError {
    fn from(error: Error) -> Self {
        AllocatorError::Failed(error)
    }
}

impl From<AllocatorError> for Error {
    fn from(error: AllocatorError) -> Self {
        match error {
            AllocatorError::Failed(error) => error,
            AllocatorError::Refused { .. } => Error::Run(error.to_string()),
        }
    }
}

/// Validates batches in time proportional to the number of their events.
#[derive(Debug)]
pub(super) struct Checker {
    /// For each node, the number of the last batch that changed it.
    changed_in: Vec<u64>,
    /// Number of batches so far.
    batches: u64,
}

/// The part of the allocator's state against which batches are validated.
pub(super) struct State<'a> {
    pub now: Utc,
    pub pool: &'a NodePool,
    pub registry: &'a Registry,
    pub settings: &'a Settings,
}

impl Checker {
    pub fn new(nodes: usize) -> Self {
        Checker {
            changed_in: vec![0; nodes],
            batches: 0,
        }
    }

    /// Validates a batch against the current state.
    ///
    /// # Errors
    /// The batch is invalid. Returns the first fault found.
    pub fn check(&mut self, batch: &Batch<'_>, state: &State<'_>) -> Result<(), Refusal> {
        if batch.time < state.now {
            return Err(Refusal::Earlier { last: state.now });
        }
        self.check_nodes(batch.nodes, state.pool)?;
        check_progress(batch.progress, state.registry)?;
        check_measured(batch.measured, state)?;
        check_finished(batch.finished, state.registry)?;
        check_groups(batch.groups, batch.submitted, state.registry)?;
        if batch.submitted.is_empty() {
            return Ok(());
        }
        let faults = state.settings.faults(batch.submitted);
        if !faults.is_empty() {
            return Err(Refusal::Tasks(faults));
        }
        let mut names = batch.submitted.iter().map(|task| &task.name);
        match names.find(|name| state.registry.has_name(name)) {
            Some(name) => Err(Refusal::NameTaken(name.clone())),
            None => Ok(()),
        }
    }

    fn check_nodes(&mut self, changes: &[Change], pool: &NodePool) -> Result<(), Refusal> {
        self.batches += 1;
        for change in changes {
            let node = change.node();
            let Some(holder) = pool.find(node) else {
                return Err(Refusal::UnknownNode(node));
            };
            let last = &mut self.changed_in[node as usize];
            if *last == self.batches {
                return Err(Refusal::NodeTwice(node));
            }
            *last = self.batches;
            match (change.idle(), holder) {
                (true, Holder::Busy) | (false, Holder::Free | Holder::Task(_)) => {}
                (true, _) => return Err(Refusal::AlreadyIdle(node)),
                (false, Holder::Busy) => return Err(Refusal::NotIdle(node)),
            }
        }
        Ok(())
    }
}

fn check_active(task: u32, registry: &Registry) -> Result<(), Refusal> {
    match registry.stage(task) {
        Some(Stage::Active) => Ok(()),
        Some(Stage::Waiting | Stage::Finished) | None => Err(Refusal::NotActive(task)),
    }
}

fn check_progress(progress: &[Progress], registry: &Registry) -> Result<(), Refusal> {
    for report in progress {
        check_active(report.task, registry)?;
        if !(report.done.is_finite() && report.done >= 0.0) {
            return Err(Refusal::Progress(*report));
        }
    }
    Ok(())
}

fn check_measured(measured: &[Measured], state: &State<'_>) -> Result<(), Refusal> {
    for measured in measured {
        check_active(measured.task, state.registry)?;
        let Some(task) = state.registry.with(measured) else {
            let Measured { task, class, .. } = measured;
            let why = format!("task number {task} does not use class number {class}");
            return Err(Refusal::Measured(why));
        };
        // Only the measured class is checked: other measurements in the batch may change the other classes.
        let task = task.in_class(measured.class).unwrap_or(task);
        if let Some(fault) = state.settings.faults(&[task]).into_iter().next() {
            return Err(Refusal::Measured(fault));
        }
    }
    Ok(())
}

fn check_finished(finished: &[u32], registry: &Registry) -> Result<(), Refusal> {
    let mut seen = BTreeSet::new();
    for &task in finished {
        check_active(task, registry)?;
        if !seen.insert(task) {
            return Err(Refusal::FinishedTwice(task));
        }
    }
    Ok(())
}

fn check_groups(
    groups: &[TaskGroup],
    submitted: &[TrainingTask],
    registry: &Registry,
) -> Result<(), Refusal> {
    if groups.is_empty() {
        return Ok(());
    }
    let submitted: BTreeSet<&String> = submitted.iter().map(|task| &task.name).collect();
    let mut seen = BTreeSet::new();
    for group in groups {
        let refused = |why: String| Err(Refusal::Group(format!("group {}: {why}", group.name)));
        if !seen.insert(&group.name) {
            return refused("the batch lists it twice".to_owned());
        }
        if let Some(name) = group.tasks.iter().find(|name| !submitted.contains(name)) {
            return refused(format!("the batch does not submit task {name}"));
        }
        if let (Some(min), Some(max)) = (group.min_nodes, group.max_nodes)
            && min > max
        {
            return refused(format!("min_nodes {min} is above max_nodes {max}"));
        }
        if registry.groups().contradicts(group) {
            return refused("its limits differ from its limits in an earlier batch".to_owned());
        }
    }
    Ok(())
}
