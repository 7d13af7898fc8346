//! All known tasks and their stages.

use std::collections::BTreeSet;

use gleaner_domain::{NodeClasses, TaskGroup, TrainingTask, Utc};

use serde::{Deserialize, Serialize};

use super::batch::{Extension, Measured};
use super::groups::{Groups, Membership};

/// The stage of a task. The overview in [`super`] lists the transitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The task is not active yet.
    Waiting,
    /// The task takes part in decisions and can hold nodes.
    Active,
    /// The task has finished and holds no nodes.
    Finished,
}

/// The tasks by index, in the order in which they were added.
#[derive(Debug)]
pub(super) struct Registry {
    pub tasks: Vec<TrainingTask>,
    entries: Vec<Entry>,
    names: BTreeSet<String>,
    groups: Groups,
    /// Names of the classes of nodes; `None` if all nodes are interchangeable.
    classes: Option<Vec<String>>,
}

/// What the registry knows about a task besides its definition.
#[derive(Debug)]
struct Entry {
    stage: Stage,
    submitted: Utc,
    membership: Option<Membership>,
}

impl Registry {
    pub fn new(groups: Groups, classes: Option<&NodeClasses>) -> Self {
        Registry {
            tasks: Vec::new(),
            entries: Vec::new(),
            names: BTreeSet::new(),
            groups,
            classes: classes.map(|classes| classes.names().to_vec()),
        }
    }

    /// Adds groups for tasks that are about to be added.
    pub fn join_groups(&mut self, groups: &[TaskGroup]) {
        self.groups.join(groups);
    }

    /// Adds a task at `now` and returns its index. The task belongs to the groups of `origin`,
    /// because groups list the tasks of a set, not their copies in rounds and trials.
    pub fn add(&mut self, task: TrainingTask, origin: &TrainingTask, now: Utc) -> u32 {
        self.entries.push(Entry {
            stage: Stage::Waiting,
            submitted: task.submit.max(now),
            membership: self.groups.of(&origin.name),
        });
        self.names.insert(task.name.clone());
        self.tasks.push(match &self.classes {
            Some(names) => task.in_classes(names),
            None => task,
        });
        self.count() - 1
    }

    /// Adds a task from another registry, with its stage and submission time.
    pub fn restore(&mut self, task: TrainingTask, stage: Stage, submitted: Utc) {
        self.entries.push(Entry {
            stage,
            submitted,
            membership: self.groups.of(&task.name),
        });
        self.names.insert(task.name.clone());
        self.tasks.push(task);
    }

    /// The measured task, with the measured curve and costs; `None` if the task does not use the measured class.
    pub fn with(&self, measured: &Measured) -> Option<TrainingTask> {
        measured.applied(&self.tasks[measured.task as usize])
    }

    /// Adds the work of an extension to its task, which continues to the rung of the extension.
    pub fn extend(&mut self, extension: &Extension) {
        let task = &mut self.tasks[extension.task as usize];
        task.work += extension.work;
        task.rung = extension.rung;
    }

    pub fn count(&self) -> u32 {
        self.tasks.len() as u32
    }

    pub fn groups(&self) -> &Groups {
        &self.groups
    }

    pub fn has_name(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// The stage of the task with this index; `None` if there is no such task.
    pub fn stage(&self, task: u32) -> Option<Stage> {
        self.entries.get(task as usize).map(|entry| entry.stage)
    }

    pub fn set_stage(&mut self, task: u32, stage: Stage) {
        self.entries[task as usize].stage = stage;
    }

    /// Submission time of the task, from which its waiting time is counted.
    pub fn submitted(&self, task: u32) -> Utc {
        self.entries[task as usize].submitted
    }

    pub fn membership(&self, task: u32) -> Option<&Membership> {
        self.entries[task as usize].membership.as_ref()
    }
}
