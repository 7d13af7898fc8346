//! Times as written in files and by users, with or without an offset from UTC.

use std::fmt;
use std::str::FromStr;

use jiff::civil::DateTime;
use jiff::fmt::temporal::Pieces;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::time::{Local, ParseTimeError, Utc};

/// A time as written in a file or by a user, before a log's clock converts it to an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stamp {
    /// A local time, such as `2021-02-10 20:21:15`.
    Local(Local),
    /// A number: the seconds since 1970-01-01 00:00:00 UTC.
    Epoch(Utc),
    /// A local time with its offset from UTC, such as `2021-02-10T20:21:15-05:00`.
    Zoned {
        /// The time in UTC.
        utc: Utc,
        /// Seconds by which local time is ahead of UTC; 0 for `Z`.
        offset: i32,
    },
}

impl Stamp {
    /// The local time; for seconds since 1970, the time in UTC.
    pub fn as_written(self) -> Local {
        match self {
            Stamp::Local(time) => time,
            Stamp::Epoch(utc) => utc.at_offset(0),
            Stamp::Zoned { utc, offset } => utc.at_offset(offset),
        }
    }

    /// Whether this time is later than `other`. Returns `false` if only one of the two is a local time without an
    /// offset, because such times cannot be compared.
    pub fn is_after(self, other: Stamp) -> bool {
        use Stamp::{Epoch, Local, Zoned};
        match (self, other) {
            (Local(time), Local(other)) => time > other,
            (Epoch(time) | Zoned { utc: time, .. }, Epoch(other) | Zoned { utc: other, .. }) => {
                time > other
            }
            _ => false,
        }
    }
}

impl FromStr for Stamp {
    type Err = ParseTimeError;

    /// Reads `YYYY-MM-DD HH:MM:SS[.fff]` (or with `T` instead of the space), a date alone, or seconds since 1970. A
    /// time of day can be followed by `Z` or by an offset such as `+01:00`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        if let Ok(seconds) = text.parse::<f64>() {
            let time = Utc::from_fractional_seconds(seconds);
            return time.map(Stamp::Epoch).ok_or(ParseTimeError::NoTime);
        }
        stamp(text).ok_or(ParseTimeError::NoTime)
    }
}

fn stamp(text: &str) -> Option<Stamp> {
    let pieces = Pieces::parse(text).ok()?;
    let civil = DateTime::from_parts(pieces.date(), pieces.time().unwrap_or_default());
    // A [`Utc`] can hold all times of the years 1678 to 2261.
    let fits = (1678..=2261).contains(&civil.year());
    let local = fits.then(|| Local::from(civil))?;
    match (pieces.to_numeric_offset(), pieces.time_zone_annotation()) {
        (Some(offset), _) => Some(Stamp::Zoned {
            utc: local.from_offset(offset.seconds()),
            offset: offset.seconds(),
        }),
        (None, None) => Some(Stamp::Local(local)),
        // When clocks are set back, a zone's name does not determine which of two offsets is meant.
        (None, Some(_)) => None,
    }
}

impl fmt::Display for Stamp {
    /// Writes the time in the format that [`Stamp::from_str`] reads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_written().fmt(f)?;
        match self {
            Stamp::Zoned { offset, .. } => Offset(*offset).fmt(f),
            Stamp::Local(_) | Stamp::Epoch(_) => Ok(()),
        }
    }
}

/// An offset from UTC in seconds, displayed as text such as `-05:00`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Offset(pub i32);

impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { '-' } else { '+' };
        let seconds = self.0.unsigned_abs();
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
        write!(f, "{sign}{hours:02}:{minutes:02}")?;
        match seconds % 60 {
            0 => Ok(()),
            seconds => write!(f, ":{seconds:02}"),
        }
    }
}

/// Serialises an optional time as text, for serde's `serialize_with`.
///
/// # Errors
/// The serialiser fails.
pub fn as_text<S: Serializer>(
    time: &Option<impl ToString>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    time.as_ref().map(ToString::to_string).serialize(serializer)
}

/// Deserialises an optional time from text or from a TOML time, for serde's `deserialize_with`.
///
/// # Errors
/// The text is not a time.
pub fn from_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Stamp>, D::Error> {
    deserializer.deserialize_any(StampVisitor)
}

/// Deserialises an optional value from text, for serde's `deserialize_with`.
///
/// # Errors
/// The text is not a valid value.
pub fn parsed<'de, T: FromStr<Err: fmt::Display>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    let value = text.map(|text| text.parse());
    value.transpose().map_err(de::Error::custom)
}

struct StampVisitor;

impl<'de> Visitor<'de> for StampVisitor {
    type Value = Option<Stamp>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time such as 2021-02-10 20:21:15")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        let stamp = text.parse();
        stamp
            .map(Some)
            .map_err(|_| E::custom(format!("{text} is not a time such as 2021-02-10 20:21:15")))
    }

    /// The `toml` crate represents a time as a map whose only value is the time's text.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        match map.next_entry::<String, String>()? {
            Some((_, text)) => self.visit_str(&text),
            None => Err(de::Error::invalid_length(0, &self)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn zoned(utc: &str, offset: i32) -> Stamp {
        let utc = utc.parse::<Local>().unwrap().from_offset(0);
        Stamp::Zoned { utc, offset }
    }

    #[test]
    fn offsets_are_subtracted() {
        for (text, expected) in [
            (
                "2021-02-10 20:21:15+01:00",
                zoned("2021-02-10 19:21:15", 3600),
            ),
            (
                "2021-02-10T20:21:15.5-0530",
                zoned("2021-02-11 01:51:15.500", -19_800),
            ),
            ("2021-02-10T20:21:15+01", zoned("2021-02-10 19:21:15", 3600)),
            ("2021-02-10T20:21:15Z", zoned("2021-02-10 20:21:15", 0)),
            (
                " 2021-02-10T20:21:15-00:00 ",
                zoned("2021-02-10 20:21:15", 0),
            ),
        ] {
            assert_eq!(text.parse(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn other_texts_have_no_offset() {
        let time = Local::from_seconds(1_612_988_475);
        assert_eq!("2021-02-10 20:21:15".parse(), Ok(Stamp::Local(time)));
        let utc = Utc::from_seconds(1_612_988_475);
        assert_eq!("1612988475".parse(), Ok(Stamp::Epoch(utc)));
        for text in [
            "2021-02-10 20:21:15[America/New_York]",
            "2021-02-10 20:21:15+99:00",
            "2021-02-10 20:21:15 UTC",
            "0001-01-01 00:00:00",
            "9999-01-01 00:00:00Z",
        ] {
            let parsed = text.parse::<Stamp>();
            assert_eq!(parsed, Err(ParseTimeError::NoTime), "{text}");
        }
    }

    proptest! {
        #![proptest_config(gleaner_testing::cases(256))]

        #[test]
        fn a_stamp_is_parsed_from_its_text(seconds in -9_000_000_000i64..9_000_000_000, offset in -90_000i32..90_000) {
            let utc = Utc::from_seconds(seconds);
            for stamp in [Stamp::Local(Local::from_seconds(seconds)), Stamp::Zoned { utc, offset }] {
                prop_assert_eq!(stamp.to_string().parse(), Ok(stamp));
            }
        }
    }
}
