//! Idle nodes by hour of the day and by weekday, in the local time of the log's clock.

use serde::Serialize;

use gleaner_domain::{Clock, Local, Utc};

const HOUR: i64 = 3_600_000_000_000;
/// Weekday of 1970-01-01, a Thursday, counted from 0 for Monday.
const EPOCH_WEEKDAY: i64 = 3;

/// Mean numbers of idle nodes by hour and by weekday, weighted by time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Calendar {
    /// The mean for each hour of the day, from hour 0.
    pub hours: Vec<Slot>,
    /// The mean for each weekday, from Monday.
    pub weekdays: Vec<Slot>,
    /// The mean for each hour of each weekday, from Monday.
    pub week: Vec<Vec<Slot>>,
}

/// A recurring part of the week, such as an hour of the day.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Slot {
    /// Seconds of the log that fall into this part of the week.
    pub seconds: f64,
    /// Mean number of idle nodes over these seconds; `None` if there are no such seconds.
    pub idle_nodes: Option<f64>,
}

/// Collects idle node-time by hour of the week.
#[derive(Debug, Clone)]
pub(super) struct CalendarScan<'l> {
    clock: &'l Clock,
    /// For each hour of the week, from Monday: the nanoseconds that the log covers, and the idle node-nanoseconds.
    week: [(i128, i128); 168],
}

impl<'l> CalendarScan<'l> {
    /// An empty scan of a log with this clock.
    pub fn new(clock: &'l Clock) -> Self {
        CalendarScan {
            clock,
            week: [(0, 0); 168],
        }
    }

    /// Records that `idle` nodes were idle from `from` to `to`.
    pub fn add(&mut self, from: Utc, to: Utc, idle: u32) {
        for (from, to) in self.clock.pieces(from, to) {
            self.add_shown(from, to, idle);
        }
    }

    /// Like [`CalendarScan::add`], but takes local times, as shown by the log's clock.
    fn add_shown(&mut self, from: Local, to: Local, idle: u32) {
        let mut at = i128::from(from.0);
        let to = i128::from(to.0);
        let hour_length = i128::from(HOUR);
        while at < to {
            let hour = at.div_euclid(hour_length);
            let until = to.min((hour + 1) * hour_length);
            let slot = (hour + i128::from(24 * EPOCH_WEEKDAY)).rem_euclid(168) as usize;
            let (covered, idle_time) = &mut self.week[slot];
            *covered += until - at;
            *idle_time += (until - at) * i128::from(idle);
            at = until;
        }
    }

    pub fn finish(&self) -> Calendar {
        let over = |slots: &mut dyn Iterator<Item = usize>| {
            let (covered, idle) = slots.fold((0, 0), |sum, slot| {
                (sum.0 + self.week[slot].0, sum.1 + self.week[slot].1)
            });
            Slot {
                seconds: covered as f64 / 1e9,
                idle_nodes: (covered > 0).then(|| idle as f64 / covered as f64),
            }
        };
        Calendar {
            hours: (0..24)
                .map(|h| over(&mut (0..7).map(|d| 24 * d + h)))
                .collect(),
            weekdays: (0..7).map(|d| over(&mut (24 * d..24 * (d + 1)))).collect(),
            week: (0..7)
                .map(|d| {
                    (0..24)
                        .map(|h| over(&mut std::iter::once(24 * d + h)))
                        .collect()
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Utc {
        text.parse::<Local>().unwrap().from_offset(0)
    }

    // A span with 2 idle nodes is followed by a span with 4 idle nodes that crosses midnight.
    #[test]
    fn a_span_is_split_at_the_hours() {
        let unknown = Clock::UNKNOWN;
        let mut scan = CalendarScan::new(&unknown);
        // 2021-02-12 is a Friday.
        scan.add(time("2021-02-12 22:30:00"), time("2021-02-12 23:30:00"), 2);
        scan.add(time("2021-02-12 23:30:00"), time("2021-02-13 00:15:00"), 4);
        let calendar = scan.finish();
        assert_eq!(
            calendar.hours[23],
            Slot {
                seconds: 3600.0,
                idle_nodes: Some(3.0)
            }
        );
        assert_eq!(
            calendar.hours[22],
            Slot {
                seconds: 1800.0,
                idle_nodes: Some(2.0)
            }
        );
        assert_eq!(
            calendar.hours[1],
            Slot {
                seconds: 0.0,
                idle_nodes: None
            }
        );
        assert_eq!(calendar.weekdays[4].seconds, 5400.0);
        assert_eq!(
            calendar.weekdays[5],
            Slot {
                seconds: 900.0,
                idle_nodes: Some(4.0)
            }
        );
        assert_eq!(calendar.week[5][0], calendar.hours[0]);
    }

    // A clock that is one hour ahead of UTC and is set back at 2:00 shows the hour from 1:00 to 2:00 twice.
    #[test]
    fn hours_follow_the_clock() {
        let changed = Clock::new(3600, [(time("2021-02-13 01:00:00").second(), 0)]);
        let mut scan = CalendarScan::new(&changed);
        scan.add(time("2021-02-12 23:00:00"), time("2021-02-13 01:00:00"), 2);
        // This span starts with the second occurrence of that hour.
        scan.add(time("2021-02-13 01:00:00"), time("2021-02-13 03:00:00"), 4);
        let calendar = scan.finish();
        let seconds: Vec<_> = calendar.hours.iter().take(5).map(|h| h.seconds).collect();
        assert_eq!(seconds, [3600.0, 7200.0, 3600.0, 0.0, 0.0]);
        assert_eq!(calendar.hours[1].idle_nodes, Some(3.0));
        assert_eq!(calendar.hours[2].idle_nodes, Some(4.0));
    }

    #[test]
    fn times_before_1970_have_weekdays_too() {
        let unknown = Clock::UNKNOWN;
        let mut scan = CalendarScan::new(&unknown);
        // 1969-12-31 is a Wednesday.
        scan.add(time("1969-12-31 23:00:00"), time("1970-01-01 00:00:00"), 1);
        let calendar = scan.finish();
        assert_eq!(
            calendar.week[2][23],
            Slot {
                seconds: 3600.0,
                idle_nodes: Some(1.0)
            }
        );
    }
}
