//! Converts between the seconds of a trace and civil times.

use jiff::SignedDuration;
use jiff::civil::DateTime;

use gleaner_domain::Observer;
use gleaner_domain::{Local, Trace};

/// The civil time of a trace's second 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Calendar {
    epoch: DateTime,
}

/// By default, second 0 is 1970-01-01 00:00:00.
impl Default for Calendar {
    fn default() -> Self {
        Calendar::new(DateTime::constant(1970, 1, 1, 0, 0, 0, 0))
    }
}

impl Calendar {
    /// The calendar of a trace. Second 0 is `epoch` if it is given, and otherwise the origin recorded in the trace. If
    /// the trace has no origin, the default calendar is used, and the observer receives a remark.
    pub fn of(epoch: Option<Local>, trace: &Trace, observer: &dyn Observer) -> Self {
        let time = epoch.or(trace.origin);
        if time.is_none() {
            observer.remark(&[
                "the trace has no calendar: second 0 is assumed to be 1970-01-01 00:00:00; set the \
                 time of second 0 with --epoch TIME"
                    .to_owned(),
            ]);
        }
        let start = time.and_then(Local::civil);
        start.map_or_else(Calendar::default, Calendar::new)
    }

    /// A calendar whose second 0 is `epoch`.
    pub fn new(epoch: DateTime) -> Self {
        Calendar { epoch }
    }

    /// The civil time of a second. A time after the year 9999 is replaced with the last
    /// representable time.
    pub fn civil(self, second: i64) -> DateTime {
        self.epoch.saturating_add(SignedDuration::from_secs(second))
    }

    /// The second that contains a civil time.
    pub fn second(self, time: DateTime) -> i64 {
        time.duration_since(self.epoch).as_secs()
    }
}
