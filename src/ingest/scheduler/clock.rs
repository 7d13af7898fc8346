//! Times of schedulers' logs, as seconds since 1970.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time as TimeOfDay};
use jiff::tz::TimeZone;

use crate::domain::Time;
use crate::error::{Error, Result};

/// What clock a log is on.
///
/// Without a time zone, local times are taken as they are, as if their clock had never
/// been put forward or back, and epoch seconds are told in UTC. With one, local times
/// are that zone's, and all times are told on its clock as it is at the log's start.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    zone: Option<TimeZone>,
}

impl Clock {
    /// The clock of a zone such as `America/Chicago`.
    ///
    /// # Errors
    /// [`Error::Usage`] where there is no such zone.
    pub fn of_zone(name: &str) -> Result<Self> {
        let zone = TimeZone::get(name).map_err(|_| {
            Error::Usage(format!(
                "--timezone {name}: expected a zone of the IANA database, such as America/Chicago or UTC"
            ))
        })?;
        Ok(Clock { zone: Some(zone) })
    }

    /// Whether a zone is known.
    pub fn has_zone(&self) -> bool {
        self.zone.is_some()
    }

    /// A local time as seconds since 1970; of a time that occurs twice, the first.
    pub fn second(&self, local: Local) -> i64 {
        self.resolve(local, false)
    }

    /// The end of something that began at `start`: of a time that occurs twice, the
    /// second where the first is before the start.
    pub fn end_second(&self, local: Local, start: i64) -> i64 {
        let end = self.resolve(local, false);
        if end < start {
            self.resolve(local, true)
        } else {
            end
        }
    }

    /// What is to be added to a second since 1970 to tell it on this clock, as that is at
    /// second `start`.
    pub fn offset(&self, start: i64) -> i64 {
        let (Some(zone), Ok(start)) = (&self.zone, Timestamp::from_second(start)) else {
            return 0;
        };
        i64::from(zone.to_offset(start).seconds())
    }

    fn resolve(&self, local: Local, later: bool) -> i64 {
        let civil = match (local, &self.zone) {
            (Local::Epoch(second), _) => return second,
            (Local::Civil(second), None) => return second,
            (Local::Civil(second), Some(zone)) => zone.to_ambiguous_timestamp(civil(second)),
        };
        let resolved = match later {
            true => civil.later(),
            false => civil.compatible(),
        };
        resolved.map_or_else(|_| local.as_it_is(), Timestamp::as_second)
    }
}

/// A time as a log tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Local {
    /// Seconds since 1970 in UTC.
    Epoch(i64),
    /// A local time, as seconds since 1970 of the same clock.
    Civil(i64),
}

impl Local {
    fn as_it_is(self) -> i64 {
        match self {
            Local::Epoch(second) | Local::Civil(second) => second,
        }
    }

    /// Reads `2026-01-31T08:00:00`, the same with a space, a date alone, or seconds since 1970,
    /// perhaps with a fraction, which is dropped.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(second) = iso(text.as_bytes()) {
            return Some(Local::Civil(second));
        }
        if let Some(second) = epoch(text) {
            return Some(Local::Epoch(second));
        }
        let time: Time = text.parse().ok()?;
        Some(Local::Civil(time.0.div_euclid(1_000_000_000)))
    }

    /// Reads `01/31/2026 08:00:00`, as accounting logs have it.
    pub fn parse_american(text: &str) -> Option<Self> {
        let b = text.as_bytes();
        if b.len() != 19 || b[2] != b'/' || b[5] != b'/' || b[10] != b' ' {
            return None;
        }
        second(&b[6..10], &b[0..2], &b[3..5], &b[11..]).map(Local::Civil)
    }
}

/// Seconds since 1970, a fraction dropped; nothing beyond the years that a log can have.
pub(in crate::ingest) fn epoch(text: &str) -> Option<i64> {
    /// Year 2262, the last whose nanoseconds since 1970 fit.
    const LAST: i64 = 9_200_000_000;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) {
        return None;
    }
    whole.parse().ok().filter(|second| *second <= LAST)
}

fn iso(b: &[u8]) -> Option<i64> {
    if b.len() != 19 || b[4] != b'-' || b[7] != b'-' || !matches!(b[10], b'T' | b' ') {
        return None;
    }
    second(&b[0..4], &b[5..7], &b[8..10], &b[11..])
}

/// The second of a year, month, day and `HH:MM:SS`.
fn second(year: &[u8], month: &[u8], day: &[u8], time: &[u8]) -> Option<i64> {
    if time[2] != b':' || time[5] != b':' {
        return None;
    }
    let two = |text: &[u8]| i8::try_from(number(text)?).ok();
    let date = Date::new(number(year)?, two(month)?, two(day)?).ok()?;
    let time = TimeOfDay::new(two(&time[0..2])?, two(&time[3..5])?, two(&time[6..8])?, 0).ok()?;
    let seconds = date.to_datetime(time).duration_since(EPOCH).as_secs();
    // What a log's nanoseconds can tell.
    (-9_200_000_000..=9_200_000_000)
        .contains(&seconds)
        .then_some(seconds)
}

const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

fn civil(second: i64) -> DateTime {
    let duration = jiff::SignedDuration::from_secs(second);
    EPOCH.checked_add(duration).unwrap_or(EPOCH)
}

fn number(digits: &[u8]) -> Option<i16> {
    digits.iter().try_fold(0i16, |sum, digit| {
        let digit = digit.is_ascii_digit().then(|| i16::from(digit - b'0'))?;
        sum.checked_mul(10)?.checked_add(digit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_local_or_epochs() {
        for (text, expected) in [
            ("2026-01-31T08:00:00", Some(Local::Civil(1_769_846_400))),
            ("2026-01-31 08:00:00.75", Some(Local::Civil(1_769_846_400))),
            ("2026-01-31", Some(Local::Civil(1_769_817_600))),
            ("1769846400", Some(Local::Epoch(1_769_846_400))),
            ("1769846400.99", Some(Local::Epoch(1_769_846_400))),
            ("1969-12-31T23:59:59", Some(Local::Civil(-1))),
            ("2026-02-30T08:00:00", None),
            ("2026-01-31T24:00:00", None),
            ("Unknown", None),
            ("99999999999", None),
            ("9999-01-01T00:00:00", None),
            ("", None),
        ] {
            assert_eq!(Local::parse(text), expected, "{text}");
        }
        let american = Local::parse_american("01/31/2026 08:00:00");
        assert_eq!(american, Some(Local::Civil(1_769_846_400)));
        assert_eq!(Local::parse_american("31/01/2026 08:00:00"), None);
    }

    // Derived: Chicago leaves summer time on 2026-11-01 at 2:00, UTC-5 to UTC-6.
    #[test]
    fn a_zone_knows_when_its_clock_was_changed() {
        let chicago = Clock::of_zone("America/Chicago").unwrap();
        let local = |text| Local::parse(text).unwrap();
        let first = chicago.second(local("2026-11-01T01:30:00"));
        assert_eq!(first, 1_793_514_600);
        let started = chicago.second(local("2026-11-01T01:45:00"));
        let ended = chicago.end_second(local("2026-11-01T01:30:00"), started);
        assert_eq!(ended, first + 3600);
        assert_eq!(
            chicago.second(local("2026-11-01T02:30:00")),
            first + 2 * 3600
        );
        assert_eq!(chicago.offset(first), -5 * 3600);
        assert_eq!(chicago.offset(ended), -6 * 3600);
        // 2:30 does not occur on 2026-03-08: what the clock would have shown.
        let skipped = chicago.second(local("2026-03-08T02:30:00"));
        assert_eq!(skipped, chicago.second(local("2026-03-08T03:30:00")));
    }

    #[test]
    fn without_a_zone_times_stay_as_they_are() {
        let clock = Clock::default();
        assert_eq!(clock.second(Local::Civil(5)), 5);
        assert_eq!(clock.end_second(Local::Civil(4), 5), 4);
        assert_eq!(clock.offset(5), 0);
        let message = Clock::of_zone("Mars/Base").unwrap_err().to_string();
        assert!(message.contains("--timezone Mars/Base"), "{message}");
    }
}
