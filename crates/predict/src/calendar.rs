//! Converts seconds of a trace to civil times, and back.

use jiff::SignedDuration;
use jiff::civil::DateTime;

/// The civil time of a trace's second 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Calendar {
    epoch: DateTime,
}

impl Calendar {
    /// A calendar whose second 0 is `epoch`.
    pub fn new(epoch: DateTime) -> Self {
        Calendar { epoch }
    }

    /// The civil time of a second; beyond the year 9999, the last possible time.
    pub fn civil(self, second: i64) -> DateTime {
        self.epoch.saturating_add(SignedDuration::from_secs(second))
    }

    /// The second that a civil time lies in.
    pub fn second(self, time: DateTime) -> i64 {
        time.duration_since(self.epoch).as_secs()
    }
}
