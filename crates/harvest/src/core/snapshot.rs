//! Snapshots of the core, so that a restarted daemon need not replay the whole journal.
//!
//! A snapshot contains everything that affects the handling of later events. Three parts are not stored, but derived
//! when a snapshot is restored:
//!
//! - the allocator, from its [`AllocatorState`], the tasks, the groups, and the last curves that were passed to it;
//! - searches, from their submissions, by repeating all requests for jobs and all reports of losses;
//! - the tasks as the allocator sees them, from their submissions.
//!
//! The batches of the recording are not part of a snapshot. The daemon writes them to the journal as they occur.

use std::collections::BTreeSet;
use std::sync::Arc;

use gleaner_domain::error::{Error, Result};
use gleaner_domain::{TaskGroup, TrainingTask, Utc};
use gleaner_replay::allocator::node_choice::Arrival;
use gleaner_replay::allocator::{Allocator, AllocatorState};
use serde::{Deserialize, Serialize};

use super::groups::Groups;
use super::search::{KeptSearch, LiveSearch};
use super::tasks::Task;
use super::{Accounts, Core, GroupSubmission, Millis, Mode, Pilots, Settings};
use crate::status::DecisionStatus;

/// The state of a core. The fields have the same meaning as in [`Core`].
#[derive(Serialize, Deserialize)]
struct Snapshot {
    settings: Settings,
    allocator: AllocatorState,
    since: Millis,
    now: Millis,
    mode: Mode,
    pilots: Pilots,
    tasks: Vec<Task>,
    searches: Vec<KeptSearch>,
    groups: Vec<GroupSubmission>,
    submissions: BTreeSet<String>,
    unknown: u32,
    idle: BTreeSet<u32>,
    finished: BTreeSet<u32>,
    decided: i64,
    rejected: Option<Millis>,
    has_heterogeneous_job: bool,
    held_back: Option<Millis>,
    is_released: bool,
    accounts: Accounts,
    batches: usize,
    decisions: Vec<DecisionStatus>,
}

impl Core {
    /// The state as JSON, for [`Core::restore`].
    ///
    /// # Errors
    /// The state cannot be written as JSON.
    pub fn snapshot(&self) -> Result<Vec<u8>> {
        let snapshot = Snapshot {
            settings: self.settings.clone(),
            allocator: self.allocator.state(),
            since: self.since,
            now: self.now,
            mode: self.mode,
            pilots: self.pilots.clone(),
            tasks: self.tasks.clone(),
            searches: self.searches.iter().map(LiveSearch::kept).collect(),
            groups: self.groups.submitted().to_vec(),
            submissions: self.submissions.clone(),
            unknown: self.unknown,
            idle: self.idle.clone(),
            finished: self.finished.clone(),
            decided: self.decided,
            rejected: self.rejected,
            has_heterogeneous_job: self.has_heterogeneous_job,
            held_back: self.held_back,
            is_released: self.is_released,
            accounts: self.accounts,
            batches: self.batches,
            decisions: self.decisions.clone(),
        };
        let json = serde_json::to_vec(&snapshot);
        json.map_err(|error| Error::Run(format!("cannot write a snapshot: {error}")))
    }

    /// Creates a core that continues from a snapshot.
    ///
    /// # Errors
    /// The text is not a snapshot of this version of the program.
    pub fn restore(snapshot: &[u8]) -> Result<Self> {
        let snapshot: Snapshot = serde_json::from_slice(snapshot)
            .map_err(|error| Error::Run(format!("cannot read a snapshot: {error}")))?;
        let searches = snapshot.searches.into_iter().map(LiveSearch::restore);
        let names = snapshot
            .tasks
            .iter()
            .map(|task| task.submission.name.clone());
        let mut core = Core {
            by_name: names.zip(0..).collect(),
            searches: searches.collect::<Result<_>>()?,
            allocator: snapshot.settings.new_allocator(Utc::from_seconds(0))?,
            settings: snapshot.settings,
            since: snapshot.since,
            now: snapshot.now,
            mode: snapshot.mode,
            pilots: snapshot.pilots,
            tasks: snapshot.tasks,
            groups: Groups::default(),
            submissions: snapshot.submissions,
            unknown: snapshot.unknown,
            idle: snapshot.idle,
            finished: snapshot.finished,
            decided: snapshot.decided,
            rejected: snapshot.rejected,
            has_heterogeneous_job: snapshot.has_heterogeneous_job,
            held_back: snapshot.held_back,
            is_released: snapshot.is_released,
            accounts: snapshot.accounts,
            batches: snapshot.batches,
            recorded: Vec::new(),
            decisions: snapshot.decisions,
            said: Vec::new(),
        };
        core.groups.add(&snapshot.groups);
        let now = Utc::from_seconds(core.now.div_euclid(1000));
        for task in &mut core.tasks {
            task.training = core.settings.placed(&task.submission.training_task(now));
        }
        core.allocator = core.restored_allocator(&snapshot.allocator)?;
        Ok(core)
    }

    fn restored_allocator(&self, state: &AllocatorState) -> Result<Allocator<'static>> {
        let tasks = self.tasks.iter().zip(state.submitted());
        let tasks = tasks.map(|(task, submitted)| self.as_measured(task, submitted));
        let nodes = self.settings.max_nodes;
        let settings = gleaner_replay::allocator::Settings {
            groups: self.known_groups(state)?,
            ..self.settings.allocator_with_nodes()
        };
        Allocator::restore(settings, nodes, Box::new(Arrival), tasks.collect(), state)
    }

    /// The task with the last curves and costs that were passed to the allocator.
    fn as_measured(&self, task: &Task, submitted: Utc) -> TrainingTask {
        let mut known = TrainingTask {
            submit: submitted,
            ..task.training.clone()
        };
        for measured in &task.measured {
            known = measured.measured().applied(&known).unwrap_or(known);
        }
        known
    }

    /// The groups that the allocator knows, in the allocator's order. Each group lists only tasks that the allocator
    /// knows.
    fn known_groups(&self, state: &AllocatorState) -> Result<Arc<[TaskGroup]>> {
        let known = self.tasks.len().min(self.unknown as usize);
        let groups = self.groups_of(&self.tasks[..known]);
        let ordered = state.groups().iter().map(|name| {
            let group = groups.iter().find(|group| group.name == *name);
            let missing = || Error::Run(format!("cannot read a snapshot: group {name} is missing"));
            group.map(GroupSubmission::task_group).ok_or_else(missing)
        });
        ordered.collect()
    }
}
