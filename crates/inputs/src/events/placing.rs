//! Converts the times of a log's rows to UTC.

use gleaner_domain::words::counted;
use gleaner_domain::{Clock, Local, Stamp, Utc};
use gleaner_logs::zone::{Instant, Zone};

/// Converts the times of all rows to UTC, in the order of the rows.
///
/// If a zone is given, local times are interpreted in that zone. If a local time occurs twice, the
/// first occurrence that is not before the previous row is used. Without a zone, the clock is
/// learnt from the offsets of the times, and times without offsets are treated as UTC. The first
/// offset of the log's clock is the offset of the first row.
#[derive(Debug, Default)]
pub(super) struct Placing {
    zone: Option<Zone>,
    /// The clock that the file describes, or, if there is none, the clock learnt from the offsets so far.
    clock: Clock,
    /// Whether the file describes its clock.
    described: bool,
    seen: Seen,
    /// Time of the first row.
    first: Option<Utc>,
    /// Time of the most recent row.
    last: Option<Utc>,
    /// Number of rows whose local time is ambiguous, because it occurs twice in the zone.
    unsure: u64,
}

/// The kinds of times that have occurred in the rows so far.
#[derive(Debug, Default)]
struct Seen {
    local: bool,
    epoch: bool,
    zoned: bool,
}

/// A description of the expected time, for the message about an invalid time.
pub(super) type Misplaced = String;

impl Placing {
    /// Creates the converter for the times of a log. If `zone` is given, local times are interpreted in that zone.
    pub fn in_zone(zone: Option<&Zone>) -> Self {
        Placing {
            zone: zone.cloned(),
            ..Placing::default()
        }
    }

    /// Sets the clock that the file describes.
    pub fn describe(&mut self, clock: Clock) {
        self.described = clock.is_known();
        self.clock = clock;
    }

    /// The time of a row, as shown in messages.
    pub fn shown(&self, time: Utc) -> Local {
        self.clock.steady(time)
    }

    /// Converts the time of the next row to UTC.
    pub fn place(&mut self, stamp: Stamp) -> Result<Utc, Misplaced> {
        let time = match &self.zone {
            None => self.as_written(stamp)?,
            Some(zone) => {
                let utc = match stamp {
                    Stamp::Epoch(utc) | Stamp::Zoned { utc, .. } => utc,
                    Stamp::Local(local) => resolve(zone, local, self.last, &mut self.unsure)?,
                };
                if self.first.is_none() {
                    self.clock = Clock::new(zone.offset(utc), []);
                }
                utc
            }
        };
        self.first.get_or_insert(time);
        self.last = Some(time);
        Ok(time)
    }

    /// Converts the time of the next row if no zone is given.
    fn as_written(&mut self, stamp: Stamp) -> Result<Utc, Misplaced> {
        match stamp {
            Stamp::Local(_) => self.seen.local = true,
            Stamp::Epoch(_) => self.seen.epoch = true,
            Stamp::Zoned { .. } => self.seen.zoned = true,
        }
        if self.seen.local && self.seen.zoned {
            let expected = "offsets from UTC in all times or in none (see --timezone)";
            return Err(expected.to_owned());
        }
        let (utc, offset) = match stamp {
            Stamp::Local(time) => return Ok(time.from_offset(0)),
            Stamp::Epoch(utc) => return Ok(utc),
            Stamp::Zoned { utc, offset } => (utc, offset),
        };
        if !self.clock.is_known() {
            // Times in seconds since 1970 have no offset, so if earlier rows had such times, the clock starts with UTC.
            let first = if self.seen.epoch { 0 } else { offset };
            self.clock = Clock::new(first, []);
        }
        if !self.described {
            self.clock.change(utc, offset);
        }
        Ok(utc)
    }

    /// Returns the clock of the log, and notes for the user.
    pub fn finish(self) -> (Clock, Vec<String>) {
        let mut notes = Vec::new();
        if self.unsure > 0 {
            notes.push(format!(
                "{} at a local time that occurs twice, because the clock was put back: the first \
                 occurrence that is not before the previous row is used",
                counted(self.unsure, "row")
            ));
        }
        if self.seen.epoch && !self.clock.is_known() {
            let note = "the log counts seconds since 1970 and does not state its time zone: times \
                        are given in UTC (set the zone with --timezone)";
            notes.push(note.to_owned());
        }
        let clock = match (self.zone, self.first, self.last) {
            (Some(zone), Some(first), Some(last)) => zone.clock(first, last),
            _ => self.clock,
        };
        (clock, notes)
    }
}

/// Converts a local time to UTC. If the time occurs twice, the first occurrence that is not before
/// `last` is used.
fn resolve(
    zone: &Zone,
    local: Local,
    last: Option<Utc>,
    unsure: &mut u64,
) -> Result<Utc, Misplaced> {
    match zone.instant(local) {
        Instant::Once(utc) => Ok(utc),
        Instant::Twice(first, second) if last.is_some_and(|last| first < last) => Ok(second),
        Instant::Twice(first, _) => {
            *unsure += 1;
            Ok(first)
        }
        Instant::Never(_) => Err(format!(
            "a time that exists in {zone}, whose clock skipped this time when it was put forward"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(zone: Option<&str>, texts: &[&str]) -> Result<(Vec<String>, String), Misplaced> {
        let zone = zone.map(|zone| zone.parse().unwrap());
        let mut placing = Placing::in_zone(zone.as_ref());
        let times: Result<Vec<_>, _> = texts
            .iter()
            .map(|text| placing.place(text.parse().unwrap()))
            .collect();
        let clock = placing.finish().0;
        let shown = |time: &Utc| clock.steady(*time).to_string();
        Ok((times?.iter().map(shown).collect(), clock.to_string()))
    }

    #[test]
    fn seconds_since_1970_are_in_utc() {
        let (times, clock) = place(None, &["0", "60"]).unwrap();
        assert_eq!(times, ["1970-01-01 00:00:00", "1970-01-01 00:01:00"]);
        assert_eq!(clock, "");
        let (times, clock) = place(None, &["0", "1970-01-01 01:00:00+01:00", "60"]).unwrap();
        assert_eq!(
            times,
            [
                "1970-01-01 00:00:00",
                "1970-01-01 00:00:00",
                "1970-01-01 00:01:00"
            ]
        );
        assert_eq!(clock, "+00:00 1970-01-01T00:00:00Z +01:00");
        let (times, clock) = place(
            Some("+01:00"),
            &["0", "1970-01-01 00:00:00Z", "1970-01-01 01:02:00"],
        )
        .unwrap();
        assert_eq!(
            times,
            [
                "1970-01-01 01:00:00",
                "1970-01-01 01:00:00",
                "1970-01-01 01:02:00"
            ]
        );
        assert_eq!(clock, "+01:00");
    }

    #[test]
    fn times_without_offsets_are_not_mixed_with_others() {
        let (times, clock) = place(None, &["2026-01-01 00:00:00", "2026-01-02"]).unwrap();
        assert_eq!(times, ["2026-01-01 00:00:00", "2026-01-02 00:00:00"]);
        assert_eq!(clock, "");
        let mixed = place(None, &["2026-01-01 00:00:00", "2026-01-02 00:00:00Z"]);
        assert!(mixed.unwrap_err().contains("or in none"));
    }
}
