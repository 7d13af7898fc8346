//! Civil time of a trace.

use gleaner_core::domain::{Time, Trace};
use gleaner_predict::Calendar;
use jiff::civil::DateTime;

use gleaner_core::Observer;

/// The calendar of a trace: that of `epoch`, its own, or one from 1970 on, with a remark.
pub fn calendar(epoch: Option<Time>, trace: &Trace, observer: &dyn Observer) -> Calendar {
    let time = epoch.or(trace.origin);
    if time.is_none() {
        observer.remark(&[
            "the trace has no calendar: its second 0 is taken as 1970-01-01 00:00:00; state its \
             date with --epoch TIME"
                .to_owned(),
        ]);
    }
    let start = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
    Calendar::new(time.and_then(Time::civil).unwrap_or(start))
}
