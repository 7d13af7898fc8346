//! The clock of a log: the relation of the log's times to UTC and to local time.

use std::fmt;
use std::str::FromStr;

use super::stamp::Offset;
use super::{Local, Stamp, Utc};

/// Maximum offset of a clock from UTC, ahead or behind, in seconds: one second less than 26 hours.
pub const MOST_OFFSET: i32 = 26 * 3600 - 1;

/// The clock of a log.
///
/// A known clock states the offset of local time from UTC and every change of that offset. If the
/// clock is unknown, the log's instants are local times treated as UTC.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Clock {
    /// Instants in ascending order, each with the offset that takes effect at that instant, in
    /// seconds ahead of UTC. The first offset also applies before its instant. Empty if the clock
    /// is unknown.
    offsets: Vec<(Utc, i32)>,
}

/// Selects one of the two occurrences of a local time that occurred twice because the clock was put
/// back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occurrence {
    /// The first occurrence.
    First,
    /// The second occurrence.
    Second,
}

/// The error for a time with an offset from UTC if the log's clock is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0} has an offset from UTC, and the log's time zone is unknown: remove the offset, or name \
     the zone with --timezone"
)]
pub struct UnknownClock(pub Stamp);

impl Clock {
    /// An unknown clock.
    pub const UNKNOWN: Clock = Clock {
        offsets: Vec::new(),
    };

    /// A clock that is initially `offset` seconds ahead of UTC. `changes` lists the later offsets
    /// in ascending order of time. Each entry is the Unix time at which an offset takes effect,
    /// followed by the offset.
    pub fn new(offset: i32, changes: impl IntoIterator<Item = (i64, i32)>) -> Self {
        let mut clock = Clock {
            offsets: vec![(Utc(i64::MIN), offset)],
        };
        for (second, to) in changes {
            clock.change(Utc::from_seconds(second), to);
        }
        clock
    }

    /// Sets the offset to `offset` seconds ahead of UTC, starting at the instant `from`. `from` must not be before the
    /// last change.
    pub fn change(&mut self, from: Utc, offset: i32) {
        match self.offsets.last_mut() {
            Some((_, last)) if *last == offset => {}
            Some((time, last)) if *time == from => *last = offset,
            _ => self.offsets.push((from, offset)),
        }
    }

    /// The part of this clock that begins at `start`. Its first offset is the offset in force at `start`.
    pub fn starting(&self, start: Utc) -> Self {
        let Some(offset) = self.offset(start) else {
            return Clock::UNKNOWN;
        };
        let mut clock = Clock::new(offset, []);
        for (time, offset) in self.changes().iter().filter(|(time, _)| *time > start) {
            clock.change(*time, *offset);
        }
        clock
    }

    /// Whether the clock is known.
    pub fn is_known(&self) -> bool {
        !self.offsets.is_empty()
    }

    /// The first offset, in seconds ahead of UTC; 0 if the clock is unknown.
    pub fn first_offset(&self) -> i32 {
        self.offsets.first().map_or(0, |(_, offset)| *offset)
    }

    /// The changes after the first offset: the instant of each change, and the new offset in
    /// seconds ahead of UTC.
    pub fn changes(&self) -> &[(Utc, i32)] {
        self.offsets.get(1..).unwrap_or_default()
    }

    /// The offset at an instant, in seconds ahead of UTC; `None` if the clock is unknown.
    #[inline]
    pub fn offset(&self, time: Utc) -> Option<i32> {
        let after = self.offsets.partition_point(|(from, _)| *from <= time);
        let (_, offset) = self.offsets.get(after.saturating_sub(1))?;
        Some(*offset)
    }

    /// The local time that the clock showed at an instant.
    #[inline]
    pub fn local(&self, time: Utc) -> Local {
        time.at_offset(self.offset(time).unwrap_or(0))
    }

    /// The time that result tables and pages show for an instant: local time with the first offset
    /// of the clock. This offset never changes, so differences between such times are elapsed
    /// seconds.
    #[inline]
    pub fn steady(&self, time: Utc) -> Local {
        time.at_offset(self.first_offset())
    }

    /// Converts a result of [`Clock::steady`] back to its instant.
    #[inline]
    pub fn of_steady(&self, time: Local) -> Utc {
        time.from_offset(self.first_offset())
    }

    /// Splits the span between two instants wherever the clock was put forward or back. Returns the
    /// times that the clock showed at the start and the end of each piece.
    pub fn pieces(&self, from: Utc, to: Utc) -> impl Iterator<Item = (Local, Local)> {
        let first = self.changes().partition_point(|(time, _)| *time <= from);
        let cuts = self.changes()[first..].iter().map(|(time, _)| *time);
        let cuts = cuts.take_while(move |time| *time < to).chain([to]);
        cuts.scan(from, move |start, end| {
            let piece = (*start, end);
            *start = end;
            Some(piece)
        })
        .map(|(start, end)| {
            // The end is shown with the offset of its piece, not with the next offset.
            let offset = self.offset(start).unwrap_or(0);
            (start.at_offset(offset), end.at_offset(offset))
        })
    }

    /// Converts a parsed time to an instant. If the clock was put forward and skipped the local time, the offset before
    /// that change is used.
    ///
    /// # Errors
    /// The time has an offset from UTC, and the clock is unknown.
    pub fn instant(&self, stamp: Stamp, occurrence: Occurrence) -> Result<Utc, UnknownClock> {
        match stamp {
            Stamp::Local(time) => Ok(self.of_local(time, occurrence)),
            Stamp::Epoch(utc) => Ok(utc),
            Stamp::Zoned { utc, .. } if self.is_known() => Ok(utc),
            Stamp::Zoned { .. } => Err(UnknownClock(stamp)),
        }
    }

    fn of_local(&self, local: Local, occurrence: Occurrence) -> Utc {
        let ends = self.changes().iter().map(|(time, _)| *time);
        let ends = ends.chain([Utc(i64::MAX)]);
        // Converts the local time with each offset. A result is correct if the offset was in force at the resulting
        // instant. If no result is correct, the clock skipped the local time. The offset before that change is used,
        // which is the last offset that began before its own result.
        let mut found = local.from_offset(0);
        let mut occurs = false;
        for ((start, offset), end) in self.offsets.iter().zip(ends) {
            let time = local.from_offset(*offset);
            if *start <= time && time < end {
                found = time;
                occurs = true;
                if occurrence == Occurrence::First {
                    return found;
                }
            } else if *start <= time && !occurs {
                found = time;
            }
        }
        found
    }

    /// A description of the offsets, such as `UTC-06:00, UTC-05:00 from 2026-03-08 03:00:00`; empty if the clock is
    /// unknown.
    pub fn describe(&self) -> String {
        /// Maximum number of changes that the description lists.
        const MOST: usize = 4;
        if !self.is_known() {
            return String::new();
        }
        let mut text = format!("UTC{}", Offset(self.first_offset()));
        for (time, offset) in self.changes().iter().take(MOST) {
            let from = self.local(*time);
            text.push_str(&format!(", UTC{} from {from}", Offset(*offset)));
        }
        match self.changes().len().saturating_sub(MOST) {
            0 => text,
            more => format!("{text}, and {more} more changes"),
        }
    }

    /// An instant as text: local time with its offset, such as
    /// `2021-02-10 20:21:15-05:00`, or the time alone if the clock is unknown.
    pub fn show(&self, time: Utc) -> String {
        let local = self.local(time);
        match self.offset(time) {
            Some(offset) => format!("{local}{}", Offset(offset)),
            None => local.to_string(),
        }
    }
}

impl fmt::Display for Clock {
    /// Writes the offsets in order. Each offset except the first is preceded by the time in UTC at which it began, for
    /// example `-06:00 2026-03-08T08:00:00Z -05:00`. Nothing is written if the clock is unknown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_known() {
            return Ok(());
        }
        Offset(self.first_offset()).fmt(f)?;
        for (time, offset) in self.changes() {
            let utc = time.at_offset(0).to_string().replacen(' ', "T", 1);
            write!(f, " {utc}Z {}", Offset(*offset))?;
        }
        Ok(())
    }
}

/// The error for text that does not describe a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected offsets from UTC and their start times, such as -06:00 2026-03-08T08:00:00Z -05:00"
)]
pub struct ParseClockError;

impl FromStr for Clock {
    type Err = ParseClockError;

    /// Parses the text that [`fmt::Display`] writes for a [`Clock`].
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut words = text.split_whitespace();
        let Some(base) = words.next() else {
            return Ok(Clock::UNKNOWN);
        };
        let mut clock = Clock::new(offset(base)?, []);
        while let Some(from) = words.next() {
            let Ok(Stamp::Zoned { utc, .. }) = from.parse() else {
                return Err(ParseClockError);
            };
            if clock.offsets.last().is_some_and(|(last, _)| utc <= *last) {
                return Err(ParseClockError);
            }
            clock.change(utc, offset(words.next().ok_or(ParseClockError)?)?);
        }
        Ok(clock)
    }
}

/// Parses an offset such as `-06:00`.
fn offset(text: &str) -> Result<i32, ParseClockError> {
    // A [`Stamp`] accepts an offset only after a complete time, so an arbitrary time is prepended.
    match format!("2000-01-01T00:00:00{text}").parse() {
        Ok(Stamp::Zoned { offset, .. }) => Ok(offset),
        _ => Err(ParseClockError),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn utc(text: &str) -> Utc {
        text.parse::<Local>().unwrap().from_offset(0)
    }

    /// Chicago in 2026: summer time from March 8, 8:00 UTC to November 1, 7:00 UTC.
    fn chicago() -> Clock {
        let seconds = |text: &str| utc(text).second();
        Clock::new(
            -6 * 3600,
            [
                (seconds("2026-03-08 08:00:00"), -5 * 3600),
                (seconds("2026-11-01 07:00:00"), -6 * 3600),
            ],
        )
    }

    // The expected local times follow from the instants at which the clock was changed.
    #[test]
    fn a_clock_shows_local_time() {
        let clock = chicago();
        for (instant, shown) in [
            ("2026-03-08 07:59:59", "2026-03-08 01:59:59-06:00"),
            ("2026-03-08 08:00:00", "2026-03-08 03:00:00-05:00"),
            ("2026-11-01 06:59:59", "2026-11-01 01:59:59-05:00"),
            ("2026-11-01 07:00:00", "2026-11-01 01:00:00-06:00"),
        ] {
            assert_eq!(clock.show(utc(instant)), shown);
            let stamp = shown.parse().unwrap();
            assert_eq!(clock.instant(stamp, Occurrence::First), Ok(utc(instant)));
        }
    }

    #[test]
    fn a_local_time_may_occur_twice_or_never() {
        let clock = chicago();
        let place = |text: &str, occurrence| {
            let stamp = text.parse().unwrap();
            clock.instant(stamp, occurrence).unwrap()
        };
        let twice = "2026-11-01 01:30:00";
        assert_eq!(place(twice, Occurrence::First), utc("2026-11-01 06:30:00"));
        assert_eq!(place(twice, Occurrence::Second), utc("2026-11-01 07:30:00"));
        for occurrence in [Occurrence::First, Occurrence::Second] {
            // The clock skipped 2:30 on March 8, so the offset before the change applies. July 1 is unambiguous.
            assert_eq!(
                place("2026-03-08 02:30:00", occurrence),
                utc("2026-03-08 08:30:00")
            );
            assert_eq!(
                place("2026-07-01 12:00:00", occurrence),
                utc("2026-07-01 17:00:00")
            );
        }
    }

    #[test]
    fn an_unknown_clock_takes_times_as_they_are() {
        let clock = Clock::UNKNOWN;
        let at = utc("2026-07-01 12:00:00");
        let local = at.at_offset(0);
        assert_eq!(clock.show(at), "2026-07-01 12:00:00");
        assert_eq!(
            clock.instant(Stamp::Local(local), Occurrence::First),
            Ok(at)
        );
        assert_eq!(clock.instant(Stamp::Epoch(at), Occurrence::First), Ok(at));
        let zoned = Stamp::Zoned { utc: at, offset: 0 };
        assert_eq!(
            clock.instant(zoned, Occurrence::First),
            Err(UnknownClock(zoned))
        );
        assert_eq!(clock.pieces(at, at.plus_whole(5)).count(), 1);
    }

    #[test]
    fn a_span_is_cut_at_changes_of_the_clock() {
        let clock = chicago();
        let pieces = clock.pieces(utc("2026-11-01 05:00:00"), utc("2026-11-01 09:00:00"));
        let pieces: Vec<_> = pieces.map(|(from, to)| format!("{from} {to}")).collect();
        let expected = [
            "2026-11-01 00:00:00 2026-11-01 02:00:00",
            "2026-11-01 01:00:00 2026-11-01 03:00:00",
        ];
        assert_eq!(pieces, expected);
    }

    #[test]
    fn a_clock_is_described_in_words() {
        let expected = "UTC-06:00, UTC-05:00 from 2026-03-08 03:00:00, \
                        UTC-06:00 from 2026-11-01 01:00:00";
        assert_eq!(chicago().describe(), expected);
        let many = Clock::new(0, (1..=9).map(|at| (at * 1_000_000, at as i32 % 2)));
        assert!(many.describe().ends_with(", and 5 more changes"));
        assert_eq!(Clock::UNKNOWN.describe(), "");
    }

    #[test]
    fn a_clock_is_parsed_from_its_text_or_refused() {
        assert_eq!(chicago().to_string().parse(), Ok(chicago()));
        assert_eq!("".parse(), Ok(Clock::UNKNOWN));
        for text in [
            "summer",
            "-06:00 2026-03-08T08:00:00Z",
            "-06:00 2026-03-08T08:00:00 -05:00",
            "-06:00 2026-03-08T08:00:00Z x",
            "-06:00 2026-03-08T08:00:00Z -05:00 2026-03-08T08:00:00Z -06:00",
        ] {
            assert_eq!(text.parse::<Clock>(), Err(ParseClockError), "{text}");
        }
    }

    prop_compose! {
        fn clock()(
            base in -50_000i32..50_000,
            steps in prop::collection::vec((1i64..9_000_000, -50_000i32..50_000), 0..5),
        ) -> Clock {
            let mut second = 0;
            Clock::new(base, steps.into_iter().map(|(step, offset)| {
                second += step;
                (second, offset)
            }))
        }
    }

    proptest! {
        #![proptest_config(gleaner_testing::cases(256))]

        // The pieces of a span together last as long as the span, and each piece is shown with its
        // own offset.
        #[test]
        fn pieces_cover_the_whole_span(clock in clock(), from in -1_000_000i64..50_000_000, length in 0i64..50_000_000) {
            let from = Utc::from_seconds(from);
            let to = from.plus_whole(length);
            let pieces: Vec<_> = clock.pieces(from, to).collect();
            let total: i64 = pieces.iter().map(|(from, to)| to.0 - from.0).sum();
            prop_assert_eq!(total, to.0 - from.0);
            prop_assert_eq!(pieces[0].0, clock.local(from));
        }

        // After `start`, a clock that is cut at `start` shows the same times as the whole clock.
        #[test]
        fn a_clock_with_a_later_start_shows_the_same_times(clock in clock(), start in -1_000_000i64..50_000_000, step in 0i64..9_000_000) {
            let start = Utc::from_seconds(start);
            let later = clock.starting(start);
            for time in [start, start.plus_whole(step)] {
                prop_assert_eq!(later.show(time), clock.show(time));
            }
            prop_assert_eq!(later.steady(start), clock.local(start));
        }

        // A time shown with its offset is read back as the same time.
        #[test]
        fn a_shown_time_is_read_back_as_the_same_time(clock in clock(), second in -1_000_000i64..50_000_000) {
            let time = Utc::from_seconds(second);
            let stamp = clock.show(time).parse().unwrap();
            prop_assert_eq!(clock.instant(stamp, Occurrence::First), Ok(time));
            prop_assert_eq!(clock.of_steady(clock.steady(time)), time);
            let local = Stamp::Local(clock.local(time));
            let first = clock.instant(local, Occurrence::First).unwrap();
            let second = clock.instant(local, Occurrence::Second).unwrap();
            prop_assert!(first <= time && time <= second);
            prop_assert_eq!(clock.local(first), clock.local(time));
            prop_assert_eq!(clock.local(second), clock.local(time));
        }
    }
}
