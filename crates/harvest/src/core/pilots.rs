//! The pilots and the nodes that they hold.
//!
//! | state | event | next state |
//! |---|---|---|
//! | | the pilot is needed | requested |
//! | requested | the pilot connects | up: its node is available |
//! | requested | the pilot connects, but the previous pilot of its node is not over yet | waiting |
//! | requested | the pilot connects, but its node cannot be used | leaving: it is dismissed |
//! | waiting | the previous pilot is over | up |
//! | up | nothing is heard from the pilot | silent: its node is unavailable |
//! | silent | the pilot connects again | up |
//! | up, silent | the pilot gives back its node, or its wall time ends | leaving: its node is unavailable |
//! | up, silent | the pilot is dismissed | leaving: its node is unavailable |
//! | any | the backend reports that the pilot has ended, or the pilot's lease has expired | over |

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Link, Millis, PilotId};

/// The state of a pilot (see the table above).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum PilotState {
    Requested,
    Waiting,
    Up,
    Silent,
    Leaving,
    Over,
}

/// A pilot, as the core tracks it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Pilot {
    pub state: PilotState,
    pub wall_s: u64,
    /// The id that the backend assigned to the pilot; `None` until the backend has accepted the pilot.
    pub job: Option<String>,
    /// Number of the pilot's last connection; 0 if the pilot has not connected yet.
    pub session: u32,
    /// Index of the pilot's node.
    pub node: Option<u32>,
    /// Time at which the pilot's wall time ends, if its wall time is limited.
    pub ends: Option<Millis>,
    /// Whether the pilot has been told to end.
    pub is_dismissed: bool,
    /// Time at which the pilot began to give back its node because the batch scheduler needed the node.
    pub preempted: Option<Millis>,
}

/// The pilots that have not ended, and all nodes.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Pilots {
    pub open: BTreeMap<PilotId, Pilot>,
    /// Number of pilots that have been requested so far.
    count: u64,
    /// Names of the nodes by index.
    names: BTreeMap<u32, String>,
    by_name: BTreeMap<String, u32>,
    /// The pilots that hold nodes, by node.
    holders: BTreeMap<u32, PilotId>,
    /// Nodes whose pilots are up.
    available: BTreeSet<u32>,
}

impl Pilots {
    /// Adds a pilot that is about to be requested.
    pub fn request(&mut self, wall_s: u64) -> PilotId {
        self.count += 1;
        let pilot = PilotId(self.count);
        self.open.insert(
            pilot,
            Pilot {
                state: PilotState::Requested,
                wall_s,
                job: None,
                session: 0,
                node: None,
                ends: None,
                is_dismissed: false,
                preempted: None,
            },
        );
        pilot
    }

    /// The pilot of the connection `link`, if this is the pilot's last connection.
    pub fn at(&mut self, link: Link) -> Option<&mut Pilot> {
        let pilot = self.open.get_mut(&link.pilot)?;
        (pilot.session == link.session).then_some(pilot)
    }

    /// The last connection of a pilot that has connected and is not over.
    pub fn link(&self, pilot: PilotId) -> Option<Link> {
        let found = self.open.get(&pilot)?;
        (found.session > 0).then_some(Link {
            pilot,
            session: found.session,
        })
    }

    /// The index of the node with this name.
    pub fn find(&self, name: &str) -> Option<u32> {
        self.by_name.get(name).copied()
    }

    /// Assigns the next index of a range to a new node. Returns `None` if all indices of the range are in use.
    pub fn add(&mut self, name: &str, range: Range<u32>) -> Option<u32> {
        let last = self.names.range(range.clone()).next_back();
        let node = last.map_or(range.start, |(last, _)| last + 1);
        if !range.contains(&node) {
            return None;
        }
        self.names.insert(node, name.to_owned());
        self.by_name.insert(name.to_owned(), node);
        Some(node)
    }

    /// Names of the nodes, by index.
    pub fn names(&self) -> &BTreeMap<u32, String> {
        &self.names
    }

    /// The name of a node.
    pub fn name(&self, node: u32) -> &str {
        self.names.get(&node).map_or("", String::as_str)
    }

    /// The pilot that holds a node.
    pub fn holder(&self, node: u32) -> Option<PilotId> {
        self.holders.get(&node).copied()
    }

    /// Nodes whose pilots are up.
    pub fn available(&self) -> &BTreeSet<u32> {
        &self.available
    }

    /// Makes a pilot the holder of a node, which becomes available.
    pub fn go_up(&mut self, id: PilotId, node: u32) {
        if let Some(pilot) = self.open.get_mut(&id) {
            (pilot.state, pilot.node) = (PilotState::Up, Some(node));
            self.holders.insert(node, id);
            self.available.insert(node);
        }
    }

    /// Changes the state of a pilot to silent, leaving or over, which makes the pilot's node unavailable.
    pub fn go_down(&mut self, id: PilotId, state: PilotState) {
        let Some(pilot) = self.open.get_mut(&id) else {
            return;
        };
        pilot.state = state;
        let node = pilot
            .node
            .filter(|node| self.holders.get(node) == Some(&id));
        if let Some(node) = node {
            self.available.remove(&node);
        }
        if state == PilotState::Over {
            self.open.remove(&id);
            if let Some(node) = node {
                self.holders.remove(&node);
            }
        }
    }

    /// If no pilot holds a node but one waits for it, makes the waiting pilot the holder.
    pub fn promote(&mut self, node: u32) {
        if self.holders.contains_key(&node) {
            // The node still has a holder: the pilot that has ended had only waited for the node.
            return;
        }
        let mut open = self.open.iter();
        let waits = |pilot: &Pilot| pilot.state == PilotState::Waiting && pilot.node == Some(node);
        if let Some(id) = open.find(|(_, pilot)| waits(pilot)).map(|(id, _)| *id) {
            self.go_up(id, node);
        }
    }

    /// Makes a pilot wait until another pilot no longer holds the node.
    pub fn wait(&mut self, id: PilotId, node: u32) {
        if let Some(pilot) = self.open.get_mut(&id) {
            (pilot.state, pilot.node) = (PilotState::Waiting, Some(node));
        }
    }

    /// Number of pilots in a state.
    pub fn count(&self, state: PilotState) -> usize {
        let open = self.open.values();
        open.filter(|pilot| pilot.state == state).count()
    }
}
