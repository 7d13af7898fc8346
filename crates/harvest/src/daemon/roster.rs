//! Compares the backend's list of pilots with the pilots of the core.
//!
//! A pilot that is missing from a list has probably ended, but this is not certain. For example, the pilot may have
//! been requested after the list was made, or its request may not have been answered yet. A batch scheduler that was
//! killed can forget a job whose processes are still running, and even start the job again on another node. Therefore,
//! a pilot that has ever connected counts as ended only if a list reports the pilot's end on the pilot's own node, or
//! if the backend never forgets pilots. Otherwise, the core waits until the pilot's lease expires. A connected pilot
//! never counts as ended here, because its connection is better evidence than a list.

use std::collections::BTreeMap;

use crate::backend::Listed;
use crate::core::{Millis, PilotId};

/// Number of successive lists from which a known pilot must be missing before it counts as ended.
const LISTS: u32 = 2;

/// An action that follows from a list.
#[derive(Debug, PartialEq, Eq)]
pub enum Action {
    /// The backend has accepted the pilot, although its answer to the request was lost.
    Accepted {
        /// The accepted pilot.
        pilot: PilotId,
        /// The id that the backend assigned to the pilot.
        job: String,
    },
    /// The pilot has ended, or was never started.
    Over(PilotId),
    /// The pilot must give back its node, because a reservation of the node begins soon.
    Leave(PilotId),
    /// The pilot must be cancelled: the core does not know it, or an earlier request to cancel it was lost.
    Cancel(PilotId),
}

/// A pilot of the core that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    /// Number of the pilot.
    pub pilot: PilotId,
    /// The id that the backend assigned to the pilot, if it is known.
    pub job: Option<String>,
    /// Name of the pilot's node; `None` if the pilot has never connected.
    pub node: Option<String>,
    /// Whether the pilot is connected.
    pub is_linked: bool,
    /// Whether the pilot has been asked to end.
    pub is_dismissed: bool,
}

/// Remembers the requested pilots and the pilots that were missing from earlier lists.
pub struct Roster {
    /// A pilot gives back its node this many seconds before a reservation of the node begins.
    lead_s: f64,
    /// Milliseconds for which a pilot may be missing from the lists if it is unknown whether the backend has accepted
    /// the pilot.
    patience: Millis,
    /// The request time that is assumed for a pilot whose request time is unknown.
    since: Millis,
    requested: BTreeMap<PilotId, Millis>,
    /// For each open pilot, the number of successive lists from which it was missing.
    missing: BTreeMap<PilotId, u32>,
}

impl Roster {
    /// Creates a roster without earlier lists.
    pub fn new(lead_s: f64, patience: Millis, since: Millis) -> Self {
        Roster {
            lead_s,
            patience,
            since,
            requested: BTreeMap::new(),
            missing: BTreeMap::new(),
        }
    }

    /// Records that a pilot was requested at `now`.
    pub fn requested(&mut self, pilot: PilotId, now: Millis) {
        self.requested.insert(pilot, now);
    }

    /// Compares a list that the backend began to make at `began` with the open pilots of the core, which are in
    /// ascending order. `can_forget` is true if running pilots may be missing from the list.
    pub fn compare(
        &mut self,
        open: &[Open],
        listed: &[Listed],
        can_forget: bool,
        began: Millis,
    ) -> Vec<Action> {
        let is_open = |id| open.binary_search_by_key(&id, |open| open.pilot).is_ok();
        self.requested.retain(|pilot, _| is_open(*pilot));
        self.missing.retain(|pilot, _| is_open(*pilot));
        let mut actions = Vec::new();
        for open in open {
            let found = listed.iter().find(|listed| listed.pilot == open.pilot);
            match found {
                Some(found) if !found.has_ended => {
                    self.missing.remove(&open.pilot);
                    if open.job.is_none() {
                        let (pilot, job) = (open.pilot, found.job.clone());
                        actions.push(Action::Accepted { pilot, job });
                    }
                    if open.is_dismissed && !open.is_linked {
                        actions.push(Action::Cancel(open.pilot));
                    }
                    let is_due = |in_s: u64| in_s as f64 <= self.lead_s;
                    if open.node.is_some()
                        && !open.is_dismissed
                        && found.reserved_in_s.is_some_and(is_due)
                    {
                        actions.push(Action::Leave(open.pilot));
                    }
                }
                _ if open.is_linked => {
                    self.missing.remove(&open.pilot);
                }
                Some(found) if open.node.is_none() || open.node == found.node => {
                    actions.push(Action::Over(open.pilot));
                }
                _ if can_forget && open.node.is_some() => {}
                _ if self.is_over(open.pilot, open.job.is_some(), began) => {
                    actions.push(Action::Over(open.pilot));
                }
                _ => {}
            }
        }
        let is_stranger = |listed: &&Listed| !listed.has_ended && !is_open(listed.pilot);
        let strangers = listed.iter().filter(is_stranger);
        actions.extend(strangers.map(|listed| Action::Cancel(listed.pilot)));
        actions
    }

    /// Whether a pilot that is missing from a list counts as ended.
    fn is_over(&mut self, pilot: PilotId, is_accepted: bool, began: Millis) -> bool {
        let requested = self.requested.get(&pilot).copied();
        let requested = requested.unwrap_or(self.since);
        if began <= requested {
            return false;
        }
        let missing = self.missing.entry(pilot).or_default();
        *missing += 1;
        let is_patience_over = is_accepted || began - requested >= self.patience;
        *missing >= LISTS && is_patience_over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(pilot: u64, node: Option<&str>, has_ended: bool) -> Listed {
        Listed {
            pilot: PilotId(pilot),
            job: format!("j{pilot}"),
            node: node.map(str::to_owned),
            has_ended,
            reserved_in_s: None,
        }
    }

    fn open(pilot: u64, is_accepted: bool) -> Open {
        Open {
            pilot: PilotId(pilot),
            job: is_accepted.then(|| format!("j{pilot}")),
            node: None,
            is_linked: false,
            is_dismissed: false,
        }
    }

    fn on(node: &str, open: Open) -> Open {
        let node = Some(node.to_owned());
        Open { node, ..open }
    }

    fn linked(open: Open) -> Open {
        let is_linked = true;
        Open { is_linked, ..open }
    }

    fn over(pilot: u64) -> Vec<Action> {
        vec![Action::Over(PilotId(pilot))]
    }

    #[test]
    fn a_pilot_leaves_before_a_reservation() {
        let mut roster = Roster::new(30.0, 60_000, 0);
        let reserved = |in_s| {
            let reserved_in_s = Some(in_s);
            [Listed {
                reserved_in_s,
                ..listed(1, Some("n1"), false)
            }]
        };
        let pilot = linked(on("n1", open(1, true)));
        let pilots = [pilot.clone()];
        assert_eq!(roster.compare(&pilots, &reserved(31), true, 1), []);
        let leave = [Action::Leave(PilotId(1))];
        assert_eq!(roster.compare(&pilots, &reserved(30), true, 2), leave);
        let dismissed = Open {
            is_dismissed: true,
            ..pilot
        };
        assert_eq!(roster.compare(&[dismissed], &reserved(5), true, 3), []);
    }

    #[test]
    fn a_lost_answer_is_found_in_the_list() {
        let mut roster = Roster::new(30.0, 60_000, 0);
        let list = [listed(1, None, false)];
        let actions = roster.compare(&[open(1, false)], &list, true, 5);
        let (pilot, job) = (PilotId(1), "j1".to_owned());
        assert_eq!(actions, [Action::Accepted { pilot, job }]);
        assert_eq!(roster.compare(&[open(1, true)], &list, true, 6), []);
    }

    #[test]
    fn a_known_pilot_is_over_when_two_lists_lack_it() {
        let mut roster = Roster::new(30.0, 60_000, 0);
        let pilots = [open(1, true)];
        roster.requested(PilotId(1), 100);
        // The backend began this list before the pilot was requested, so the list does not count.
        assert_eq!(roster.compare(&pilots, &[], true, 99), []);
        assert_eq!(roster.compare(&pilots, &[], true, 101), []);
        assert_eq!(roster.compare(&pilots, &[], true, 102), over(1));
    }

    #[test]
    fn the_lists_must_be_successive_and_the_pilot_disconnected() {
        let mut roster = Roster::new(30.0, 60_000, 0);
        let pilots = [on("n1", open(1, true))];
        let list = [listed(1, Some("n1"), false)];
        assert_eq!(roster.compare(&pilots, &[], false, 1), []);
        assert_eq!(roster.compare(&pilots, &list, false, 2), []);
        assert_eq!(roster.compare(&pilots, &[], false, 3), []);
        for time in 4..9 {
            let pilots = pilots.clone().map(linked);
            assert_eq!(roster.compare(&pilots, &[], false, time), []);
        }
        assert_eq!(roster.compare(&pilots, &[], false, 9), []);
        assert_eq!(roster.compare(&pilots, &[], false, 10), over(1));
    }

    #[test]
    fn a_pilot_is_over_at_once_if_the_list_says_so() {
        let mut roster = Roster::new(30.0, 60_000, 0);
        let list = [listed(1, Some("n1"), true)];
        assert_eq!(roster.compare(&[open(1, true)], &list, true, 1), over(1));
        let connected = on("n1", open(1, true));
        assert_eq!(
            roster.compare(std::slice::from_ref(&connected), &list, true, 2),
            over(1)
        );
        assert_eq!(roster.compare(&[linked(connected)], &list, true, 3), []);
    }

    #[test]
    fn a_lost_request_to_cancel_is_repeated() {
        let mut roster = Roster::new(30.0, 60_000, 0);
        let list = [listed(1, None, false)];
        let dismissed = Open {
            is_dismissed: true,
            ..open(1, true)
        };
        let pilots = [dismissed.clone()];
        let cancel = [Action::Cancel(PilotId(1))];
        assert_eq!(roster.compare(&pilots, &list, true, 1), cancel);
        assert_eq!(roster.compare(&pilots, &list, true, 2), cancel);
        // A connected pilot has been ordered to end, and first stops its ranks.
        assert_eq!(roster.compare(&[linked(dismissed)], &list, true, 3), []);
    }

    // A Slurm controller that is killed soon after the start of a job forgets that it has started the job.
    #[test]
    fn a_pilot_that_the_backend_has_forgotten_is_not_over() {
        let mut roster = Roster::new(30.0, 60_000, 0);
        let pilots = [on("n1", open(1, true))];
        // It may also forget that the job exists, or start the job a second time.
        let again = [listed(1, Some("n2"), true)];
        for time in 1..9 {
            assert_eq!(roster.compare(&pilots, &[], true, time), []);
            assert_eq!(roster.compare(&pilots, &again, true, time), []);
        }
    }

    #[test]
    fn a_request_without_an_answer_has_patience() {
        let mut roster = Roster::new(30.0, 60_000, 1000);
        let pilots = [open(1, false)];
        for time in [2000, 30_000, 60_999] {
            assert_eq!(roster.compare(&pilots, &[], true, time), []);
        }
        assert_eq!(roster.compare(&pilots, &[], true, 61_000), over(1));
    }

    #[test]
    fn unknown_pilots_are_cancelled_unless_they_have_ended() {
        let mut roster = Roster::new(30.0, 60_000, 0);
        let list = [1, 2, 3].map(|pilot| listed(pilot, None, pilot == 3));
        let actions = roster.compare(&[open(2, true)], &list, true, 1);
        assert_eq!(actions, [Action::Cancel(PilotId(1))]);
    }
}
