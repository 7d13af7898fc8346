//! Time zones, given by name or as an offset, and the conversion of local times.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::fmt::temporal::DateTimeParser;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

use gleaner_domain::clock::Occurrence;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::{Clock, Local, Utc};

/// A time zone that the user or a log names.
#[derive(Debug, Clone, PartialEq)]
pub struct Zone {
    name: String,
    zone: TimeZone,
}

/// The text does not name a time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a zone of the IANA database, such as America/Chicago, or an offset from UTC, such as +01:00"
)]
pub struct ParseZoneError;

impl FromStr for Zone {
    type Err = ParseZoneError;

    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        const PARSER: DateTimeParser = DateTimeParser::new();
        let zone = match text {
            "Z" => Ok(TimeZone::UTC),
            name => PARSER.parse_time_zone(name),
        };
        Ok(Zone {
            name: text.to_owned(),
            zone: zone.map_err(|_| ParseZoneError)?,
        })
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// The UTC times that correspond to a local time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instant {
    /// The local time occurred once, as almost all local times do.
    Once(Utc),
    /// The local time occurred twice, because the clock was put back. The values are the first and the second UTC time.
    Twice(Utc, Utc),
    /// The local time did not occur, because the clock was put forward past it. The value is the UTC time according to
    /// the offset before the change.
    Never(Utc),
}

impl Zone {
    /// Parses the value of the flag `--timezone`.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no such zone.
    pub fn of_flag(text: &str) -> Result<Self> {
        text.parse()
            .map_err(|error| Error::Usage(format!("--timezone {text}: {error}")))
    }

    /// A zone whose clock is always this many seconds ahead of UTC. `None` if the offset is out of
    /// range.
    pub fn fixed(seconds: i32) -> Option<Self> {
        let offset = Offset::from_seconds(seconds).ok()?;
        Some(Zone {
            name: offset.to_string(),
            zone: TimeZone::fixed(offset),
        })
    }

    /// Converts a local time to UTC.
    pub fn instant(&self, local: Local) -> Instant {
        let civil = local.civil().unwrap_or(DateTime::MIN);
        let with = |offset: Offset| local.from_offset(offset.seconds());
        match self.zone.to_ambiguous_timestamp(civil).offset() {
            AmbiguousOffset::Unambiguous { offset } => Instant::Once(with(offset)),
            AmbiguousOffset::Fold { before, after } => Instant::Twice(with(before), with(after)),
            AmbiguousOffset::Gap { before, .. } => Instant::Never(with(before)),
        }
    }

    /// Converts a local time to a single UTC time. If the local time occurs twice, `occurrence` selects one of the two.
    pub fn utc(&self, local: Local, occurrence: Occurrence) -> Utc {
        match (self.instant(local), occurrence) {
            (Instant::Once(time) | Instant::Never(time), _) => time,
            (Instant::Twice(first, _), Occurrence::First) => first,
            (Instant::Twice(_, second), Occurrence::Second) => second,
        }
    }

    /// Number of seconds by which local time is ahead of UTC at the time `utc`.
    pub fn offset(&self, utc: Utc) -> i32 {
        self.zone.to_offset(timestamp(utc)).seconds()
    }

    /// The clock of a log between two UTC times: its offset from UTC at the start, and all changes of this offset.
    pub fn clock(&self, from: Utc, to: Utc) -> Clock {
        let changes = self.zone.following(timestamp(from));
        let changes =
            changes.map(|change| (change.timestamp().as_second(), change.offset().seconds()));
        Clock::new(
            self.offset(from),
            changes.take_while(|(second, _)| *second <= to.second()),
        )
    }
}

/// Converts a UTC time to the type of the time-zone library.
fn timestamp(utc: Utc) -> Timestamp {
    Timestamp::from_nanosecond(utc.0.into()).unwrap_or(Timestamp::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local(text: &str) -> Local {
        text.parse().unwrap()
    }

    fn utc(text: &str) -> Utc {
        local(text).from_offset(0)
    }

    // Chicago's offset changes from UTC-6 to UTC-5 on 2026-03-08 at 2:00, and back to UTC-6 on 2026-11-01 at 2:00.
    #[test]
    fn a_zone_knows_when_its_clock_was_changed() {
        let chicago: Zone = "America/Chicago".parse().unwrap();
        let twice = Instant::Twice(utc("2026-11-01 06:30:00"), utc("2026-11-01 07:30:00"));
        assert_eq!(chicago.instant(local("2026-11-01 01:30:00")), twice);
        let never = Instant::Never(utc("2026-03-08 08:30:00"));
        assert_eq!(chicago.instant(local("2026-03-08 02:30:00")), never);
        let once = Instant::Once(utc("2026-03-08 09:30:00"));
        assert_eq!(chicago.instant(local("2026-03-08 04:30:00")), once);
        let clock = chicago.clock(utc("2026-01-01 00:00:00"), utc("2026-12-31 00:00:00"));
        assert_eq!(
            clock.to_string(),
            "-06:00 2026-03-08T08:00:00Z -05:00 2026-11-01T07:00:00Z -06:00"
        );
    }

    #[test]
    fn zones_are_named_or_offsets() {
        for (text, offset) in [("+01:00", 3600), ("-0530", -19_800), ("UTC", 0), ("Z", 0)] {
            let zone: Zone = text.parse().unwrap();
            assert_eq!(zone.offset(Utc(0)), offset, "{text}");
        }
        for text in ["Mars/Base", "", "01:00", "+99:00"] {
            assert!(text.parse::<Zone>().is_err(), "{text}");
        }
        let message = Zone::of_flag("Mars/Base").unwrap_err().to_string();
        assert!(
            message.contains("--timezone Mars/Base: expected"),
            "{message}"
        );
    }
}
