//! The events that the core handles, and the commands that it returns.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::groups::GroupSubmission;
use super::search::SearchSubmission;
use super::settings::Settings;
use super::submission::Submission;
use super::trial::{Loss, Trial};

/// A time in milliseconds since 1970.
pub type Millis = i64;

/// Number of a pilot. It is never reused, so it identifies the pilot even if the batch scheduler has lost the pilot's
/// job or reuses the job's id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PilotId(pub u64);

impl fmt::Display for PilotId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pilot {}", self.0)
    }
}

/// A run of a task. Each restart of a task is a new run with the next generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RunId {
    /// Index of the task.
    pub task: u32,
    /// Number of the run among the task's runs, from 1.
    pub generation: u32,
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "run {} of task number {}", self.generation, self.task)
    }
}

/// A connection of a pilot. Pilots number their connections from 1, so that messages of an earlier connection can be
/// recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Link {
    /// Number of the pilot.
    pub pilot: PilotId,
    /// Number of the connection, from 1.
    pub session: u32,
}

/// The state of a rank of a run, as the rank's pilot sees it. A rank is the part of a run on one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RankState {
    /// Processes of the rank may be running.
    Running,
    /// All processes of the rank have ended.
    Exited {
        /// Exit code; `None` if a signal ended the rank or the rank could not be started.
        code: Option<i32>,
    },
}

/// A pilot's report about one of its ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankReport {
    /// The run to which the rank belongs.
    pub run: RunId,
    /// The state of the rank.
    pub state: RankState,
}

/// A pilot's report about itself when it connects.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// The new connection.
    pub link: Link,
    /// Name of the pilot's node.
    pub node: String,
    /// Class of the pilot's node, if the pilot knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Time at which the pilot's wall time ends, if its wall time is limited.
    pub ends: Option<Millis>,
    /// The ranks that the daemon has not yet told the pilot to forget.
    pub ranks: Vec<RankReport>,
    /// Whether the pilot is giving back its node and has therefore begun to stop its ranks.
    #[serde(default)]
    pub leaving: bool,
}

/// An input of the core. Every event is written to the journal before the resulting commands are carried out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A user submits tasks, a search, or both.
    Submit {
        /// The id of the submission, chosen by the user's program. A repeated submission with the same id has no
        /// effect.
        id: String,
        /// The submitted tasks.
        tasks: Vec<Submission>,
        /// The submitted search, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        search: Option<Box<SearchSubmission>>,
        /// Groups of these tasks, and of the tasks that the trials of the search train.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        groups: Vec<GroupSubmission>,
    },
    /// A user cancels a task.
    Cancel {
        /// Index of the task.
        task: u32,
    },
    /// A user cancels a search.
    CancelSearch {
        /// Index of the search.
        search: u32,
    },
    /// Begins a drain: no more pilots are requested, and no more tasks are accepted. Tasks continue on running pilots.
    Drain,
    /// Ends a drain.
    Resume,
    /// Stops all tasks and dismisses all pilots.
    Stop {
        /// Whether tasks are killed without the chance to write a checkpoint.
        at_once: bool,
    },
    /// The daemon has started again. All connections are lost.
    Restarted,
    /// The daemon has started again with other settings.
    Settings {
        /// The new settings.
        settings: Box<Settings>,
    },

    /// A pilot is needed. The backend starts it after this event is in the journal.
    Request {
        /// Wall time of the pilot, in seconds.
        wall_s: u64,
    },
    /// The backend has accepted a pilot.
    Accepted {
        /// The accepted pilot.
        pilot: PilotId,
        /// The id that the backend assigned to the pilot.
        job: String,
    },
    /// It is certain that the backend has not started a pilot and will not start it.
    Rejected {
        /// The rejected pilot.
        pilot: PilotId,
        /// The reason for the rejection.
        reason: String,
    },
    /// The backend reports whether a heterogeneous job is waiting.
    Heterogeneous {
        /// Whether a heterogeneous job is waiting.
        is_waiting: bool,
    },
    /// A pilot and all processes that it started have ended, because the backend reports this or because the pilot's
    /// lease has expired.
    Over {
        /// The pilot that has ended.
        pilot: PilotId,
    },

    /// A pilot connects, for the first time or again.
    Hello(Hello),
    /// A pilot must give back its node. It is already stopping its ranks.
    Leaving {
        /// The pilot's connection.
        link: Link,
    },
    /// A rank has ended.
    Exited {
        /// The pilot's connection.
        link: Link,
        /// The run to which the rank belongs.
        run: RunId,
        /// Exit code; `None` if a signal ended the rank or the rank could not be started.
        code: Option<i32>,
    },
    /// Nothing has been heard from a pilot for too long. Its connection has been closed.
    Silent {
        /// The silent pilot.
        pilot: PilotId,
    },
    /// A run of a task has reported its progress.
    Progress {
        /// The run that has reported its progress.
        run: RunId,
        /// Work that the task has done since it was submitted, in the units of its curve.
        done: f64,
        /// The loss, if it was measured.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        loss: Option<Loss>,
    },

    /// The wall time of a pilot is about to end.
    Ending {
        /// The pilot whose wall time is about to end.
        pilot: PilotId,
    },
    /// The running pilots are not needed, because all tasks are over or because tasks have used up the daily limit of
    /// node-hours.
    Release,
    /// The pause after a failed run of a task is over, so the task is allowed to start again.
    Retry {
        /// Index of the task.
        task: u32,
    },
    /// The grace period is over for a run that was asked to stop, or for ranks that were asked to stop while their run
    /// continues.
    GraceOver {
        /// The run whose grace period is over.
        run: RunId,
    },
    /// It is time to inform the allocator of what has happened, and to decide.
    Decide,
}

/// An action that the core requests from the daemon.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum Command {
    /// Ask the backend to start a pilot.
    Start {
        /// The pilot to start.
        pilot: PilotId,
        /// Wall time of the pilot, in seconds.
        wall_s: u64,
    },
    /// Ask the backend to cancel a pilot, even if the id that the backend assigned to it is unknown.
    Cancel {
        /// The pilot to cancel.
        pilot: PilotId,
    },
    /// Send an order to a pilot.
    Order {
        /// The pilot's connection. The order is dropped if the pilot has reconnected since.
        link: Link,
        /// The order.
        order: Order,
    },
    /// Write a line to the daemon's log.
    Say(String),
}

/// An order to a pilot. An order can safely be repeated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case")]
pub enum Order {
    /// Start a rank, unless the pilot already knows the run.
    Launch(Box<Launch>),
    /// The nodes of a run have changed. Only runs that rescale without a restart get this order.
    Nodes {
        /// The run whose nodes have changed.
        run: RunId,
        /// The nodes of the run by rank.
        nodes: Vec<String>,
    },
    /// End a rank, with SIGTERM or with SIGKILL.
    Stop {
        /// The run to which the rank belongs.
        run: RunId,
        /// Whether the rank is killed at once, with SIGKILL.
        kill: bool,
    },
    /// The rank's end has been recorded. The pilot need not report it again.
    Forget {
        /// The run to which the rank belongs.
        run: RunId,
    },
    /// End all ranks, and then end the pilot.
    Dismiss,
}

/// Everything that a pilot needs to start a rank.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    /// The run to which the rank belongs.
    pub run: RunId,
    /// Name of the task.
    pub task: String,
    /// The rank, from 0.
    pub rank: usize,
    /// The nodes of the run by rank.
    pub nodes: Vec<String>,
    /// Class of the nodes, if there are classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// A port on the run's first node, through which the run's ranks find each other. Consecutive runs of a task have
    /// different ports.
    pub port: u16,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Environment variables of the program.
    pub environment: BTreeMap<String, String>,
    /// Work that the task had done when the run began.
    pub done: f64,
    /// The trial that the task trains, if it belongs to a search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<Trial>,
}
