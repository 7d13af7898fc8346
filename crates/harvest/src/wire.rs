//! The messages between the daemon, its pilots and the command line.
//!
//! A message is a line of JSON of at most [`LONGEST`] bytes, sent over TLS. A program that connects sends a
//! [`Greeting`] first, and gets no answer if its secret is wrong. After that, a pilot and the daemon can send
//! [`FromPilot`] and [`ToPilot`] messages at any time. A client sends one [`Request`] at a time and gets one
//! [`Response`] to each.

use serde::{Deserialize, Serialize};

use crate::core::{GroupSubmission, Hello, Loss, Order, RunId, SearchSubmission, Submission};

/// Maximum length of a message, in bytes. A submission must fit into one message.
pub const LONGEST: usize = 4 << 20;

/// Version of the message format.
pub const VERSION: u32 = 1;

/// The first message on a connection, sent by the program that connects.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Greeting {
    /// [`VERSION`] of the program that connects.
    pub version: u32,
    /// The daemon's secret, as read from the state directory.
    pub secret: String,
    /// The role of the program that connects.
    pub role: Role,
}

/// The role of the program that connects.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The command line.
    Client,
    /// A pilot.
    Pilot(Hello),
}

/// A pilot's message to the daemon.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "snake_case")]
pub enum FromPilot {
    /// The pilot is alive. The daemon answers with the same number.
    Beat {
        /// Sequence number of the beat.
        number: u64,
    },
    /// The pilot is stopping its ranks, because it must give back its node.
    Leaving,
    /// All ranks have ended, and the pilot ends now.
    Bye,
    /// A rank has ended.
    Exited {
        /// The run to which the rank belongs.
        run: RunId,
        /// Exit code; `None` if a signal ended the rank, or if the rank could not be started.
        code: Option<i32>,
    },
    /// A task has reported its progress.
    Progress {
        /// The run that reported the progress.
        run: RunId,
        /// Work that the task has done since it was submitted.
        done: f64,
        /// The most recently measured loss, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        loss: Option<Loss>,
    },
}

/// The daemon's message to a pilot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "snake_case")]
pub enum ToPilot {
    /// The greeting was accepted.
    Welcome {
        /// Length of the lease, in seconds. A lease begins when the pilot sends a beat that is answered. If no new
        /// lease has begun by then, all ranks and the pilot end at the latest at the end of the lease. The grace period
        /// is part of the lease.
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
    /// An order that the pilot must carry out.
    Order(Order),
}

/// A client's message to the daemon.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case")]
pub enum Request {
    /// Submit tasks, a search, or both.
    Submit {
        /// An identifier that the client chooses at random. If the client gets no answer, it can send the same request
        /// again.
        id: String,
        /// The tasks to submit.
        tasks: Vec<Submission>,
        /// The search to submit, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        search: Option<Box<SearchSubmission>>,
        /// Groups of the submitted tasks, including the tasks that the search's trials train.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        groups: Vec<GroupSubmission>,
    },
    /// Cancel a task, or a search with its trials.
    Cancel {
        /// Name of the task or search.
        task: String,
    },
    /// Request no more pilots and accept no more tasks.
    Drain,
    /// End a drain: request pilots and accept tasks again.
    Resume,
    /// Stop all tasks and pilots, and then the daemon.
    Stop {
        /// Whether tasks are killed without a chance to write a checkpoint.
        at_once: bool,
    },
    /// Write the recording to the state directory.
    Record,
    /// Ask for the daemon's status.
    Status,
}

/// The daemon's answer to a client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "response", rename_all = "snake_case")]
pub enum Response {
    /// The request was carried out and is in the journal.
    Done {
        /// A sentence that describes what was done.
        text: String,
    },
    /// The request was refused, and nothing has changed.
    Refused {
        /// The reason for the refusal, and the remedy.
        reason: String,
    },
    /// The daemon's status.
    Status(Box<crate::status::Status>),
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use proptest::prelude::*;
    use serde::de::DeserializeOwned;

    use super::*;
    use crate::frames::to_line;

    // These files are also the seeds of the fuzz target `harvest_frames`.
    const PILOT: &str = include_str!("../tests/fixtures/pilot.jsonl");
    const CLIENT: &str = include_str!("../tests/fixtures/client.jsonl");
    const DAEMON: &str = include_str!("../tests/fixtures/daemon.jsonl");

    /// Whether a line is a valid message. Panics if writing the message and reading it again changes it.
    fn is_message<T>(line: &[u8]) -> bool
    where
        T: Serialize + DeserializeOwned + PartialEq + Debug,
    {
        let Ok(message) = serde_json::from_slice::<T>(line) else {
            return false;
        };
        let written = to_line(&message).unwrap();
        let again: T = serde_json::from_slice(&written).unwrap();
        assert_eq!(again, message);
        true
    }

    // Programs of the same version must understand each other, so existing lines change only together with `VERSION`.
    #[test]
    fn messages_of_this_version_are_read() {
        let (pilot, from_pilot) = PILOT.split_once('\n').unwrap();
        let (client, requests) = CLIENT.split_once('\n').unwrap();
        type IsMessage = fn(&[u8]) -> bool;
        let readers: [(&str, IsMessage); 5] = [
            (pilot, is_message::<Greeting>),
            (from_pilot, is_message::<FromPilot>),
            (client, is_message::<Greeting>),
            (requests, is_message::<Request>),
            (DAEMON, is_message::<ToPilot>),
        ];
        for (text, is_read) in readers {
            let unread = text.lines().find(|line| !is_read(line.as_bytes()));
            assert_eq!(unread, None);
        }
    }

    fn lines() -> Vec<String> {
        let texts = [PILOT, CLIENT, DAEMON].concat();
        texts.lines().map(str::to_owned).collect()
    }

    proptest! {
        #![proptest_config(gleaner_testing::cases(512))]

        #[test]
        fn damaged_messages_are_read_or_refused(
            line in prop::sample::select(lines()),
            place in any::<prop::sample::Index>(),
            byte in any::<u8>(),
        ) {
            let mut line = line.into_bytes();
            let place = place.index(line.len());
            line[place] = byte;
            is_message::<Greeting>(&line);
            is_message::<FromPilot>(&line);
            is_message::<Request>(&line);
            is_message::<ToPilot>(&line);
        }
    }
}
