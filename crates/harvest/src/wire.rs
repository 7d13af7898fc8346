//! The messages between the daemon, its pilots and the command line.
//!
//! A message is a line of JSON of at most [`LONGEST`] bytes, over TLS. A program that connects sends [`Greeting`] first
//! and gets no answer to a wrong secret. After that, pilots and the daemon send [`FromPilot`] and [`ToPilot`] at any
//! time; a client sends one [`Request`] at a time and gets one [`Response`] to each.

use serde::{Deserialize, Serialize};

use crate::core::{Link, Millis, Order, RankReport, RunId, Submission};

/// Length of the longest message, in bytes. A submission must fit into one message.
pub const LONGEST: usize = 4 << 20;

/// Version of the messages.
pub const VERSION: u32 = 1;

/// The first message of a connection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Greeting {
    /// [`VERSION`] of the program that connects.
    pub version: u32,
    /// The content of the secret's file.
    pub secret: String,
    /// Who connects.
    pub role: Role,
}

/// Who connects.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The command line.
    Client,
    /// A pilot.
    Pilot {
        /// Its connection.
        link: Link,
        /// Name of its node.
        node: String,
        /// Time at which its wall time ends, if it is limited.
        ends: Option<Millis>,
        /// The ranks that the pilot has not been told to forget.
        ranks: Vec<RankReport>,
        /// Whether the pilot is giving back its node, and has begun to stop its ranks.
        #[serde(default)]
        leaving: bool,
    },
}

/// A pilot's message to the daemon.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "snake_case")]
pub enum FromPilot {
    /// The pilot is alive. The daemon answers with the same number.
    Beat {
        /// Counts the pilot's beats.
        number: u64,
    },
    /// The pilot must give back its node, and is stopping its ranks.
    Leaving,
    /// All ranks have ended, and the pilot ends now.
    Bye,
    /// A rank has ended.
    Exited {
        /// The run to which the rank belongs.
        run: RunId,
        /// Exit code; `None` if a signal ended the rank or it could not be started.
        code: Option<i32>,
    },
    /// A task has reported its progress.
    Progress {
        /// The run that reported it.
        run: RunId,
        /// Work that the task has done since it was submitted.
        done: f64,
    },
}

/// The daemon's message to a pilot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "snake_case")]
pub enum ToPilot {
    /// The greeting was accepted.
    Welcome {
        /// If no beat that the pilot sent in the last `lease_s` seconds was answered, all of its ranks have ended, and
        /// the pilot ends. The grace period lies within this time.
        lease_s: u64,
        /// Seconds between two beats.
        beat_s: u64,
        /// Seconds between SIGTERM and SIGKILL when the pilot itself has to stop its ranks.
        grace_s: u64,
    },
    /// The answer to a beat.
    Beat {
        /// The number of the beat.
        number: u64,
    },
    /// An order.
    Order(Order),
}

/// A client's message to the daemon.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case")]
pub enum Request {
    /// Submit tasks.
    Submit {
        /// Chosen at random by the client. If the client gets no answer, it may send the same request again.
        id: String,
        /// The tasks.
        tasks: Vec<Submission>,
    },
    /// Cancel a task.
    Cancel {
        /// Name of the task.
        task: String,
    },
    /// Request no more pilots and accept no more tasks.
    Drain,
    /// End a drain.
    Resume,
    /// Stop all tasks and pilots, and then the daemon.
    Stop {
        /// Whether tasks are killed without the chance to write a checkpoint.
        at_once: bool,
    },
    /// Write the recording into the state directory.
    Record,
    /// Ask for the state.
    Status,
}

/// The daemon's answer to a client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "response", rename_all = "snake_case")]
pub enum Response {
    /// The request was carried out and is in the journal.
    Done {
        /// What was done, in a sentence.
        text: String,
    },
    /// The request was refused, and nothing has changed.
    Refused {
        /// The reason and the remedy.
        reason: String,
    },
    /// The state.
    Status(Box<crate::status::Status>),
}
