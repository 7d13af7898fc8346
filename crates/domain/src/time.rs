//! Instants, and the times that clocks show.

use std::fmt;
use std::str::FromStr;

use jiff::civil::DateTime;

use super::Stamp;

/// An instant: nanoseconds since 1970-01-01 00:00:00 UTC.
///
/// If a log's time zone is unknown, the log's instants are local times treated as UTC. A [`Clock`](super::Clock)
/// converts between instants and local times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Utc(pub i64);

/// A time that a clock shows: nanoseconds since 1970-01-01 00:00:00 on that clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Local(pub i64);

const NANOS: i64 = 1_000_000_000;
const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

impl Utc {
    /// An instant from whole seconds since 1970.
    pub const fn from_seconds(seconds: i64) -> Self {
        Utc(seconds.saturating_mul(NANOS))
    }

    /// An instant from seconds since 1970, rounded to the nearest microsecond. For present-day times, a 64-bit float
    /// that counts seconds is hardly more precise than a microsecond. `None` if the time is more than 9.2 billion
    /// seconds (291 years) from 1970.
    pub fn from_fractional_seconds(seconds: f64) -> Option<Self> {
        const LIMIT: f64 = 9.2e9;
        if !(-LIMIT..LIMIT).contains(&seconds) {
            return None;
        }
        // The whole seconds and the fraction are converted separately. Subtracting the floor is exact, and so is the
        // conversion of whole seconds to nanoseconds as an integer.
        let micros = ((seconds - seconds.floor()) * 1e6).round();
        Some(Utc(seconds.floor() as i64 * NANOS + micros as i64 * 1_000))
    }

    /// This instant plus `seconds` seconds, saturating.
    pub const fn plus_whole(self, seconds: i64) -> Self {
        Utc(plus_whole(self.0, seconds))
    }

    /// Seconds from 1970 to this instant, rounded down to a whole number.
    pub const fn second(self) -> i64 {
        self.0.div_euclid(NANOS)
    }

    /// Seconds from `earlier` to `self`.
    #[inline]
    pub fn seconds_since(self, earlier: Utc) -> f64 {
        seconds_between(earlier.0, self.0)
    }

    /// This instant plus `seconds` seconds, rounded up to the next nanosecond and saturating.
    #[inline]
    pub fn plus_seconds(self, seconds: f64) -> Self {
        let nanos = (seconds * NANOS as f64).ceil();
        Utc(self.0.saturating_add(nanos as i64))
    }

    /// The time on a clock that is `offset` seconds ahead of UTC.
    #[inline]
    pub const fn at_offset(self, offset: i32) -> Local {
        Local(plus_whole(self.0, offset as i64))
    }
}

impl Local {
    /// A local time from whole seconds since 1970 on the same clock.
    pub const fn from_seconds(seconds: i64) -> Self {
        Local(seconds.saturating_mul(NANOS))
    }

    /// Seconds from 1970 to this time on the same clock, rounded down to a whole number.
    pub const fn second(self) -> i64 {
        self.0.div_euclid(NANOS)
    }

    /// This time plus `seconds` seconds, saturating.
    pub const fn plus_whole(self, seconds: i64) -> Self {
        Local(plus_whole(self.0, seconds))
    }

    /// Seconds from `earlier` to `self`, assuming that the clock was not set forward or back in between.
    #[inline]
    pub fn seconds_since(self, earlier: Local) -> f64 {
        seconds_between(earlier.0, self.0)
    }

    /// The instant at which a clock that is `offset` seconds ahead of UTC shows this time.
    #[inline]
    pub const fn from_offset(self, offset: i32) -> Utc {
        Utc(plus_whole(self.0, -(offset as i64)))
    }

    /// The date and time of day; `None` if they are outside the range of the calendar.
    pub fn civil(self) -> Option<DateTime> {
        EPOCH
            .checked_add(jiff::SignedDuration::from_nanos(self.0))
            .ok()
    }
}

const fn plus_whole(nanos: i64, seconds: i64) -> i64 {
    nanos.saturating_add(seconds.saturating_mul(NANOS))
}

#[inline]
fn seconds_between(from: i64, to: i64) -> f64 {
    let nanos = i128::from(to) - i128::from(from);
    // Whole seconds, the usual case, stay exact.
    (nanos / i128::from(NANOS)) as f64 + (nanos % i128::from(NANOS)) as f64 / NANOS as f64
}

impl From<DateTime> for Local {
    /// A time before 1677-09-21 or after 2262-04-11 becomes the earliest or latest time that a [`Local`] can hold.
    fn from(time: DateTime) -> Self {
        let nanos = time.duration_since(EPOCH).as_nanos();
        Local(nanos.clamp(i64::MIN.into(), i64::MAX.into()) as i64)
    }
}

/// Fills `digits` with the decimal digits of a number, with leading zeros. The standard library's formatter is slower:
/// a replay of the Summit log would take 7 % longer with it.
fn put(digits: &mut [u8], mut number: u16) {
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

impl fmt::Display for Local {
    /// `YYYY-MM-DD HH:MM:SS`, followed by 3, 6 or 9 fractional digits unless the time is a whole second.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(t) = self.civil() else {
            return write!(f, "{} ns", self.0);
        };
        let mut text = *b"0000-00-00 00:00:00";
        let parts = [t.month(), t.day(), t.hour(), t.minute(), t.second()];
        put(&mut text[..4], t.year().unsigned_abs());
        for (place, part) in text[4..].chunks_exact_mut(3).zip(parts) {
            put(&mut place[1..], part.unsigned_abs().into());
        }
        f.write_str(str::from_utf8(&text).map_err(|_| fmt::Error)?)?;
        match t.subsec_nanosecond() {
            0 => Ok(()),
            n if n % 1_000_000 == 0 => write!(f, ".{:03}", n / 1_000_000),
            n if n % 1_000 == 0 => write!(f, ".{:06}", n / 1_000),
            n => write!(f, ".{n:09}"),
        }
    }
}

/// The reason why a string is not a valid time. The message states what was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ParseTimeError {
    /// The string does not represent a time.
    #[error("expected a time such as 2021-02-10 20:21:15 or seconds since 1970")]
    NoTime,
    /// The string contains an offset from UTC where a local time without an offset is expected.
    #[error("expected a time without an offset from UTC, such as 2021-02-10 20:21:15")]
    Offset,
}

impl FromStr for Local {
    type Err = ParseTimeError;

    /// Reads `YYYY-MM-DD HH:MM:SS[.fff]` (or with `T` instead of the space), a date alone, or seconds since 1970.
    ///
    /// A time with an offset from UTC is an error: see [`Stamp`].
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.parse()? {
            Stamp::Local(time) => Ok(time),
            Stamp::Epoch(utc) => Ok(utc.at_offset(0)),
            Stamp::Zoned { .. } => Err(ParseTimeError::Offset),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_parsed_and_printed() {
        for text in [
            "2021-02-10 20:21:15",
            "1969-12-31 23:59:59",
            "2021-02-10 20:21:15.250",
            "2021-02-10 20:21:15.000001",
            "2021-02-10 20:21:15.000000001",
        ] {
            assert_eq!(text.parse::<Local>().unwrap().to_string(), text);
        }
        assert_eq!(
            "1612988475".parse::<Local>().unwrap().to_string(),
            "2021-02-10 20:21:15"
        );
        assert_eq!(
            "2021-02-10T20:21:15".parse::<Local>(),
            Ok(Local::from_seconds(1_612_988_475))
        );
    }

    #[test]
    fn seconds_with_a_fraction_are_parsed_exactly() {
        for (seconds, text) in [
            ("1612988475.25", "2021-02-10 20:21:15.250"),
            ("1612988475.1", "2021-02-10 20:21:15.100"),
            ("1612988475.999999", "2021-02-10 20:21:15.999999"),
            ("-0.5", "1969-12-31 23:59:59.500"),
        ] {
            assert_eq!(seconds.parse::<Local>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn an_invalid_time_is_refused() {
        for text in [
            "",
            "yesterday",
            "2021-13-01 00:00:00",
            "nan",
            "inf",
            "1e300",
        ] {
            assert_eq!(text.parse::<Local>(), Err(ParseTimeError::NoTime), "{text}");
        }
        let offset = "2021-02-10 20:21:15+01:00".parse::<Local>();
        assert_eq!(offset, Err(ParseTimeError::Offset));
    }

    #[test]
    fn whole_seconds_are_exact() {
        let a = Utc::from_seconds(1_612_988_475);
        assert_eq!(a.plus_seconds(81.0).seconds_since(a), 81.0);
        assert_eq!(a.seconds_since(a.plus_seconds(0.5)), -0.5);
    }
}
