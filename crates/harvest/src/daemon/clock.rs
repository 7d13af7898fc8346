//! The daemon's clock.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::core::Millis;

/// A clock that never goes back and never jumps. Leases depend on this: after a jump ahead, the leases of live pilots
/// would expire. The clock begins with the system's time, and then counts the time that has passed.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    start: Millis,
    began: Instant,
}

impl Clock {
    /// Starts a clock with the system's time, or with `least` if that is later.
    pub fn start(least: Millis) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let today = since.map_or(0, |since| since.as_millis() as Millis);
        Clock {
            start: today.max(least),
            began: Instant::now(),
        }
    }

    /// The current time.
    pub fn now(&self) -> Millis {
        self.start + self.began.elapsed().as_millis() as Millis
    }
}
