//! The core is a pure state machine: it takes events and returns commands.
//!
//! The core has no clock, file or socket. The daemon passes each event with its time to [`Core::handle`], writes the
//! event and the decision to the journal, and then carries out the commands. After a crash, the daemon restores the
//! last snapshot ([`Core::snapshot`]) and handles the later events again.
//!
//! # Two layers
//!
//! The [`Allocator`] decides which task gets which nodes. It is the same state machine that replays use. It is informed
//! of nodes, submissions and completions at [`Event::Decide`], at most once a second. The recording of a harvest is
//! therefore an event log with one row for each second in which something happened.
//!
//! The runs follow the allocator's decisions (`settle.rs`). If a task gets other nodes and its launch style cannot
//! continue on them, its run is stopped first. The task starts again once three conditions hold: all of its processes
//! have ended, its new nodes run no process of another task, and the pilots of these nodes are connected. A node
//! therefore never runs two tasks at once, even if messages are late or lost.
//!
//! # What a lost connection means
//!
//! A pilot whose connection breaks keeps its ranks running and connects again. Its greeting lists the ranks that it
//! knows, and the core repeats the orders that may not have arrived. If nothing is heard from a pilot for a while, its
//! node is removed from the allocator. Its ranks still count as running until the backend reports that the pilot has
//! ended, or until its lease expires. A pilot ends its ranks by itself when its lease expires.

mod classes;
mod deciding;
mod decision;
mod due;
mod event;
mod groups;
mod learn;
mod pilots;
mod reports;
mod search;
mod settings;
mod settle;
mod snapshot;
mod submission;
mod tasks;
mod trial;
mod users;
mod view;

use std::collections::{BTreeMap, BTreeSet};

use gleaner_domain::Utc;
use gleaner_domain::error::{Error, Result};
use gleaner_replay::Decider;
use gleaner_replay::allocator::Allocator;
use serde::{Deserialize, Serialize};

pub(crate) use classes::{EXPECTED as EXPECTED_CLASSES, are_classes};
pub(crate) use deciding::parts_of;
pub use deciding::{Recorded, RecordedCurve};
pub use decision::{Capture, KeptDecision, Repeat};
pub use due::Heard;
pub use event::{
    Command, Event, Hello, Launch, Link, Millis, Order, PilotId, RankReport, RankState, RunId,
};
pub use groups::GroupSubmission;
pub use search::SearchSubmission;
pub use settings::Settings;
pub use submission::{Curve, InClass, LaunchStyle, Submission, SubmittedTerms};
pub use trial::{Loss, Report, Trial};

use crate::status::DecisionStatus;
use groups::Groups;
use pilots::{PilotState, Pilots};
use search::LiveSearch;
use tasks::{Task, TaskState, Why};

/// A line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Time of the event.
    pub time: Millis,
    /// The event that was handled.
    pub event: Event,
    /// The decision to which the event led, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<KeptDecision>,
}

/// The reason why an event was not handled.
#[derive(Debug, thiserror::Error)]
pub enum CoreError {
    /// The event is a user's request that cannot be carried out. The state of the core is unchanged.
    #[error("{0}")]
    Refused(String),
    /// The core cannot continue.
    #[error(transparent)]
    Failed(#[from] Error),
}

/// The mode of the daemon, which determines whether pilots are requested and tasks run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Running,
    Draining,
    Stopping,
}

/// The state machine that the [module](self) describes.
pub struct Core {
    settings: Settings,
    allocator: Allocator<'static>,
    since: Millis,
    /// Time of the last event.
    now: Millis,
    mode: Mode,
    pilots: Pilots,
    tasks: Vec<Task>,
    by_name: BTreeMap<String, u32>,
    searches: Vec<LiveSearch>,
    groups: Groups,
    /// Ids of the submissions that were carried out.
    submissions: BTreeSet<String>,
    /// Index of the first task that has not been passed to the allocator yet.
    unknown: u32,
    /// Nodes that the allocator counts as idle.
    idle: BTreeSet<u32>,
    /// Tasks that are over, although the allocator still counts them as active.
    finished: BTreeSet<u32>,
    /// Time of the last decision, in seconds since 1970.
    decided: i64,
    /// Time at which a pilot was last rejected, or was dismissed because its node cannot be used.
    rejected: Option<Millis>,
    /// Whether a heterogeneous job is waiting.
    has_heterogeneous_job: bool,
    /// No pilots are requested before this time, so that a heterogeneous job can start.
    held_back: Option<Millis>,
    /// Whether the pilots have been released since they were last needed.
    is_released: bool,
    accounts: Accounts,
    /// Number of batches that the allocator has received.
    batches: usize,
    /// The batches that [`Core::take_recorded`] has not returned yet.
    recorded: Vec<Recorded>,
    decisions: Vec<DecisionStatus>,
    said: Vec<Command>,
}

/// Totals of node-time and preemptions since the harvest began.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Accounts {
    /// Time for which pilots were up, in node-milliseconds.
    idle: f64,
    /// Time for which runs occupied nodes, in node-milliseconds.
    used: f64,
    /// The part of `used` that counts for the current day.
    used_today: f64,
    /// The current day (UTC), as a number of days since 1970-01-01.
    day: i64,
    preemptions: u64,
    /// Number of preempted pilots that have ended.
    handovers: u64,
    /// Milliseconds from the preemption to the end of each of these pilots: the sum, and in the next field the maximum.
    handover_ms: Millis,
    longest_handover_ms: Millis,
}

impl Accounts {
    /// Records that a preempted pilot has ended `ms` milliseconds after its preemption.
    fn hand_over(&mut self, ms: Millis) {
        self.handovers += 1;
        self.handover_ms += ms;
        self.longest_handover_ms = self.longest_handover_ms.max(ms);
    }
}

const DAY_MS: i64 = 86_400_000;

impl Core {
    /// Creates a core without pilots or tasks.
    ///
    /// # Errors
    /// A setting is invalid.
    pub fn new(settings: Settings, now: Millis) -> Result<Self> {
        settings.check()?;
        let start = Utc::from_seconds(now.div_euclid(1000));
        Ok(Core {
            allocator: settings.new_allocator(start)?,
            settings,
            since: now,
            now,
            mode: Mode::Running,
            pilots: Pilots::default(),
            tasks: Vec::new(),
            by_name: BTreeMap::new(),
            searches: Vec::new(),
            groups: Groups::default(),
            submissions: BTreeSet::new(),
            unknown: 0,
            idle: BTreeSet::new(),
            finished: BTreeSet::new(),
            decided: start.second(),
            rejected: None,
            has_heterogeneous_job: false,
            held_back: None,
            is_released: false,
            accounts: Accounts::default(),
            batches: 0,
            recorded: Vec::new(),
            decisions: Vec::new(),
            said: Vec::new(),
        })
    }

    /// Handles an event and returns the commands to be carried out, in order. If `now` is before the last event, the
    /// time of the last event is used instead.
    ///
    /// # Errors
    /// The event is a user's request that cannot be carried out, or the core cannot continue: see [`CoreError`].
    pub fn handle(
        &mut self,
        now: Millis,
        event: &Event,
        decider: &mut dyn Decider,
    ) -> Result<Vec<Command>, CoreError> {
        let before = (self.now, self.accounts);
        self.pass_time(now);
        let handled = self.take(event, decider);
        if let Err(CoreError::Refused(_)) = handled {
            // Refused events are not in the journal, so they must not change the time or the accounts.
            (self.now, self.accounts) = before;
        }
        handled
    }

    fn take(
        &mut self,
        event: &Event,
        decider: &mut dyn Decider,
    ) -> Result<Vec<Command>, CoreError> {
        let mut commands = Vec::new();
        match event {
            Event::Submit {
                id,
                tasks,
                search,
                groups,
            } => self.submit(id, tasks, search.as_deref(), groups)?,
            Event::Cancel { task } => self.cancel(*task)?,
            Event::CancelSearch { search } => self.cancel_search(*search)?,
            Event::Drain => self.set_mode(Mode::Draining)?,
            Event::Resume => self.set_mode(Mode::Running)?,
            Event::Stop { at_once } => self.stop(*at_once, &mut commands),
            Event::Restarted => self.restart(&mut commands),
            Event::Settings { settings } => self.change(settings)?,
            Event::Request { wall_s } => self.request(*wall_s, &mut commands),
            Event::Accepted { pilot, job } => {
                if let Some(pilot) = self.pilots.open.get_mut(pilot) {
                    pilot.job = Some(job.clone());
                }
            }
            Event::Rejected { pilot, reason } => self.reject(*pilot, reason),
            Event::Over { pilot } => self.lose(*pilot, PilotState::Over),
            Event::Heterogeneous { is_waiting } => self.has_heterogeneous_job = *is_waiting,
            Event::Hello(hello) => self.hello(hello, &mut commands),
            Event::Leaving { link } => self.leave(*link, &mut commands),
            Event::Exited { link, run, code } => self.exited(*link, *run, *code, &mut commands),
            Event::Silent { pilot } => self.fall_silent(*pilot),
            Event::Ending { pilot } => self.dismiss(*pilot, &mut commands),
            Event::Release => self.release(&mut commands),
            Event::Retry { task } => {
                if let Some(task) = self.tasks.get_mut(*task as usize) {
                    task.not_before = None;
                }
            }
            Event::Progress { run, done, loss } => {
                let (done, loss) = (*done, *loss);
                self.progress(*run, Report { done, loss });
            }
            Event::GraceOver { run } => self.end_grace(*run, &mut commands),
            Event::Decide => self.decide(decider)?,
        }
        self.settle(&mut commands);
        commands.append(&mut self.said);
        Ok(commands)
    }

    /// Adds the time since the last event to the accounts.
    fn pass_time(&mut self, now: Millis) {
        let passed = (now - self.now).max(0) as f64;
        if passed == 0.0 {
            return;
        }
        self.now = now;
        let used = passed * self.used_nodes() as f64;
        self.accounts.idle += passed * self.pilots.available().len() as f64;
        self.accounts.used += used;
        let day = self.now.div_euclid(DAY_MS);
        if day != self.accounts.day {
            (self.accounts.day, self.accounts.used_today) = (day, 0.0);
        }
        self.accounts.used_today += used;
    }

    /// Number of available nodes that runs occupy.
    fn used_nodes(&self) -> usize {
        let runs = self.tasks.iter().filter_map(|task| task.run.as_ref());
        let used = runs.map(|run| {
            let available = |node: &&u32| self.pilots.available().contains(*node);
            let nodes = run.nodes.iter().filter(available);
            nodes.filter(|node| run.occupies(**node)).count()
        });
        used.sum()
    }

    /// Whether tasks have used up the node-hours of the day that contains `now`.
    fn is_capped(&self, now: Millis) -> bool {
        let is_today = now.div_euclid(DAY_MS) == self.accounts.day;
        let used_h = self.accounts.used_today / 3_600_000.0;
        let most = self.settings.node_hours_per_day;
        is_today && most.is_some_and(|most| used_h >= most)
    }

    fn say(&mut self, text: String) {
        self.said.push(Command::Say(text));
    }

    /// The name of a task; empty if there is no such task.
    pub(crate) fn task_name(&self, task: u32) -> &str {
        let task = self.tasks.get(task as usize);
        task.map_or("", |task| &task.submission.name)
    }

    /// The index of the task with this name.
    pub fn task(&self, name: &str) -> Option<u32> {
        self.by_name.get(name).copied()
    }

    /// Whether a stop was requested and all pilots have ended.
    pub fn is_stopped(&self) -> bool {
        self.mode == Mode::Stopping && self.pilots.open.is_empty()
    }

    /// Pilots that have not ended, each with the id that the backend assigned to it, if that id is known.
    pub fn open_pilots(&self) -> Vec<(PilotId, Option<String>)> {
        let open = self.pilots.open.iter();
        open.map(|(id, pilot)| (*id, pilot.job.clone())).collect()
    }

    /// The id that the backend assigned to a pilot that has not ended.
    pub fn job(&self, pilot: PilotId) -> Option<&str> {
        self.pilots.open.get(&pilot)?.job.as_deref()
    }

    /// Whether a heterogeneous job is waiting, as the backend last reported.
    pub fn has_heterogeneous_job(&self) -> bool {
        self.has_heterogeneous_job
    }

    /// Whether a pilot has ever connected; `false` if the pilot has ended.
    pub fn has_connected(&self, pilot: PilotId) -> bool {
        let pilot = self.pilots.open.get(&pilot);
        pilot.is_some_and(|pilot| pilot.session > 0)
    }

    /// Whether a pilot has been asked to end; `false` if the pilot has ended.
    pub fn is_dismissed(&self, pilot: PilotId) -> bool {
        let pilot = self.pilots.open.get(&pilot);
        pilot.is_some_and(|pilot| pilot.is_dismissed)
    }

    /// The name of the node of a pilot that has connected and has not ended.
    pub fn node_of(&self, pilot: PilotId) -> Option<&str> {
        let node = self.pilots.open.get(&pilot)?.node?;
        Some(self.pilots.name(node))
    }

    /// The last connection of a pilot that has connected and has not ended.
    pub fn link(&self, pilot: PilotId) -> Option<Link> {
        self.pilots.link(pilot)
    }

    /// The current run of a task, if the task is running.
    pub fn run_of(&self, task: u32) -> Option<RunId> {
        let found = self.tasks.get(task as usize)?;
        found.run.as_ref().map(|_| RunId {
            task,
            generation: found.generation,
        })
    }

    /// Removes and returns the batches that the allocator has received since the last call, for the recording.
    pub fn take_recorded(&mut self) -> Vec<Recorded> {
        std::mem::take(&mut self.recorded)
    }

    /// Names of all nodes that have had a pilot, by index.
    pub(crate) fn node_names(&self) -> &BTreeMap<u32, String> {
        self.pilots.names()
    }

    /// The current settings of the core.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Time of the last event.
    pub fn now(&self) -> Millis {
        self.now
    }

    /// Time at which the harvest began.
    pub fn begun(&self) -> Millis {
        self.since
    }

    /// Ends a task. The allocator is informed of the end only at the next decision.
    fn end_task(&mut self, index: u32, state: TaskState) {
        let task = &mut self.tasks[index as usize];
        if task.state.is_over() {
            return;
        }
        let text = format!("task {} is {}", task.submission.name, state.name());
        if task.state == TaskState::Active {
            self.finished.insert(index);
        }
        task.state = state;
        self.say(text);
    }
}
