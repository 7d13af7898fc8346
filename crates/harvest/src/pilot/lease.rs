//! Heartbeats ("beats"), and the lease that they extend.
//!
//! For the daemon, a pilot's lease begins when the daemon *receives* a beat. For the pilot, the lease begins when it
//! *sends* this beat, which is earlier. Therefore, however long messages take, the lease expires for the pilot first.
//! The daemon never gives a task's nodes to other tasks while the pilot still runs the task.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The pilot's lease.
#[derive(Debug)]
pub(super) struct Lease {
    /// Number of the next beat.
    next: u64,
    /// The beats that are not answered yet, with the times at which they were sent.
    sent: VecDeque<(u64, Instant)>,
    /// Time at which the last answered beat was sent. Until a beat is answered, this is the time at which the pilot
    /// started.
    begun: Instant,
}

impl Lease {
    pub fn new(now: Instant) -> Self {
        Lease {
            next: 1,
            sent: VecDeque::new(),
            begun: now,
        }
    }

    /// Records that a beat, or another message that will be answered, is sent at `now`. Returns its number.
    pub fn beat(&mut self, now: Instant) -> u64 {
        let number = self.next;
        self.next += 1;
        self.sent.push_back((number, now));
        number
    }

    /// Whether the next beat is due.
    pub fn is_beat_due(&self, now: Instant, every: Duration) -> bool {
        let last = self.sent.back().map_or(self.begun, |&(_, sent)| sent);
        self.next == 1 || now.saturating_duration_since(last) >= every
    }

    /// Records an answer to a beat, which also answers all earlier beats.
    pub fn answer(&mut self, number: u64) {
        while let Some(&(first, sent)) = self.sent.front()
            && first <= number
        {
            self.begun = self.begun.max(sent);
            self.sent.pop_front();
        }
    }

    /// Forgets the beats without answers. The connection is lost, so these beats will not be answered.
    pub fn forget_beats(&mut self) {
        self.sent.clear();
    }

    /// Time at which a lease of this length expires.
    pub fn end(&self, length: Duration) -> Instant {
        self.begun + length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn the_lease_counts_from_the_sending_of_the_last_answered_beat() {
        let start = Instant::now();
        let mut lease = Lease::new(start);
        assert_eq!(lease.end(10 * SECOND), start + 10 * SECOND);
        assert!(lease.is_beat_due(start, 2 * SECOND));
        let first = lease.beat(start + SECOND);
        assert!(!lease.is_beat_due(start + 2 * SECOND, 2 * SECOND));
        assert!(lease.is_beat_due(start + 3 * SECOND, 2 * SECOND));
        let second = lease.beat(start + 3 * SECOND);
        let third = lease.beat(start + 5 * SECOND);
        // The time at which the answer arrives does not matter.
        lease.answer(second);
        assert_eq!(lease.end(10 * SECOND), start + 13 * SECOND);
        // A late answer to an earlier beat changes nothing, and neither does an answer without a beat.
        lease.answer(first);
        lease.answer(0);
        assert_eq!(lease.end(10 * SECOND), start + 13 * SECOND);
        lease.forget_beats();
        lease.answer(third);
        assert_eq!(lease.end(10 * SECOND), start + 13 * SECOND);
    }
}
