//! The state of an allocator, from which another allocator can continue.
//!
//! After a restart, a daemon that stored the state needs to repeat only the later batches.

use gleaner_domain::error::{Error, Result};
use gleaner_domain::{TrainingTask, Utc};
use serde::{Deserialize, Serialize};

use super::node_choice::NodeChoice;
use super::registry::Stage;
use super::{Allocator, Settings, Source};

/// The state of an allocator whose tasks all come from batches. It does not contain the tasks themselves
/// ([`Allocator::tasks`]) or the members of groups.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AllocatorState {
    /// Time of the last batch, or the start time if there was no batch.
    #[serde(with = "nanoseconds")]
    now: Utc,
    /// All tasks, by index.
    tasks: Vec<TaskStage>,
    /// The active tasks, in the order of admission.
    active: Vec<ActiveTask>,
    /// All idle nodes, in the order in which they became idle.
    idle: Vec<u32>,
    /// Names of the groups, in the order in which they were added.
    groups: Vec<String>,
}

/// The stage and the submission time of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct TaskStage {
    stage: Stage,
    #[serde(with = "nanoseconds")]
    submitted: Utc,
}

/// The state of an active task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ActiveTask {
    pub task: u32,
    /// Work done, as last reported.
    pub done: f64,
    /// Total time during which the task held nodes, in seconds.
    pub running_seconds: f64,
    /// Number of times that decisions changed the task's nodes after its first start; `None` before that start, or if
    /// all nodes are interchangeable.
    pub restarts: Option<u32>,
    /// The nodes that the task holds.
    nodes: Vec<u32>,
}

impl ActiveTask {
    pub fn new(task: u32, done: f64, running_seconds: f64, restarts: Option<u32>) -> Self {
        ActiveTask {
            task,
            done,
            running_seconds,
            restarts,
            nodes: Vec::new(),
        }
    }
}

/// Serialises times as nanoseconds since 1970.
mod nanoseconds {
    use gleaner_domain::Utc;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(time: &Utc, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(time.0)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Utc, D::Error> {
        i64::deserialize(from).map(Utc)
    }
}

impl AllocatorState {
    /// Names of the groups, in the order in which they were added.
    pub fn groups(&self) -> &[String] {
        &self.groups
    }

    /// Submission times of the tasks that the allocator knows, by index.
    pub fn submitted(&self) -> impl ExactSizeIterator<Item = Utc> {
        self.tasks.iter().map(|task| task.submitted)
    }
}

impl<'a> Allocator<'a> {
    /// The state from which [`Allocator::restore`] creates an allocator that continues where this one is.
    pub fn state(&self) -> AllocatorState {
        let tasks = (0..self.registry.count()).map(|task| TaskStage {
            stage: self.registry.stage(task).unwrap_or(Stage::Finished),
            submitted: self.registry.submitted(task),
        });
        let mut active: Vec<ActiveTask> = self.demand.state().collect();
        for (active, nodes) in active.iter_mut().zip(self.placement.nodes()) {
            active.nodes = nodes.iter().collect();
        }
        AllocatorState {
            now: self.now,
            tasks: tasks.collect(),
            active,
            idle: self.placement.pool().idle_nodes(),
            groups: self.registry.groups().names(),
        }
    }

    /// Creates an allocator for `nodes` nodes that continues from `state`. `tasks` are the tasks that
    /// [`Allocator::tasks`] returned with this state. `settings.groups` must contain [`AllocatorState::groups`], in the
    /// same order and with all of their tasks. The rule for the choice of nodes must not depend on earlier events.
    ///
    /// # Errors
    /// The state does not match the tasks, the groups or the nodes.
    pub fn restore(
        settings: Settings,
        nodes: usize,
        choice: Box<dyn NodeChoice + 'a>,
        tasks: Vec<TrainingTask>,
        state: &AllocatorState,
    ) -> Result<Self> {
        let mut restored = Allocator::new(settings, Source::Batches, state.now, nodes, choice)?;
        if tasks.len() != state.tasks.len() || restored.registry.groups().names() != state.groups {
            return Err(unsuitable("tasks or groups"));
        }
        for (index, (task, known)) in (0..).zip(tasks.into_iter().zip(&state.tasks)) {
            if known.stage == Stage::Waiting {
                restored.supply.wait(index, task.submit);
            }
            restored
                .registry
                .restore(task, known.stage, known.submitted);
        }
        restored.placement.restore_idle(&state.idle)?;
        for active in &state.active {
            if restored.registry.stage(active.task) != Some(Stage::Active) {
                return Err(unsuitable("active tasks"));
            }
            let (registry, now) = (&restored.registry, state.now);
            restored.demand.restore(active, registry, now)?;
            restored
                .placement
                .restore_task(active.task, &active.nodes)?;
        }
        restored.demand.regroup(&restored.registry);
        Ok(restored)
    }
}

/// The error for a state that does not match its tasks, groups or nodes.
pub(super) fn unsuitable(what: &str) -> Error {
    Error::Run(format!(
        "the state of the allocator does not match its {what}"
    ))
}
