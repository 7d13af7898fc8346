//! Converts the times of schedulers' logs to seconds since 1970.

use jiff::civil::{Date, DateTime, Time as TimeOfDay};

use super::counts::{LogCounts, Reason};
use super::offsets::Offsets;
use super::record::Moment;
use crate::occupancy::Window;
use crate::zone::{Instant, Zone};
use gleaner_domain::clock::Occurrence;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::{Clock, Local, Stamp, Utc};
use gleaner_io::input::Place;

/// The clock of a log, as far as it is known.
///
/// If a zone is known, local times are interpreted in that zone. Without a zone, the log can show its offset from UTC:
/// in the times themselves, or in lines with both the local time and seconds since 1970. In that case, local times
/// without an offset are converted with the offset of the most recent lines. If the log shows no offset, local times
/// are used as written, as if they were UTC.
#[derive(Debug, Default)]
pub struct SchedulerClock {
    zone: Option<Zone>,
    origin: Origin,
    /// The reason for treating local times as UTC if neither a zone nor an offset is known.
    in_utc: Option<&'static str>,
    offsets: Offsets,
    /// Whether the log has local times without an offset.
    local: bool,
    /// Whether the log has times in seconds since 1970.
    epoch: bool,
}

/// The source of a log's time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Origin {
    /// The user.
    #[default]
    User,
    /// The log itself.
    Log,
    /// The description of the log's machine.
    Machine,
}

impl SchedulerClock {
    /// The clock of the zone that the flag `--timezone` names, or an unknown clock without the
    /// flag.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no such zone.
    pub fn of_flag(timezone: Option<&str>) -> Result<Self> {
        Ok(SchedulerClock {
            zone: timezone.map(Zone::of_flag).transpose()?,
            ..SchedulerClock::default()
        })
    }

    /// Sets the zone that the log names. A zone that the user gave takes precedence.
    pub fn say_zone(&mut self, zone: Zone) {
        if self.zone.is_none() {
            self.zone = Some(zone);
            self.origin = Origin::Log;
        }
    }

    /// Treats local times as UTC, for the reason `why`, unless a zone or an offset is known.
    pub fn assume_utc(&mut self, why: &'static str) {
        self.in_utc = Some(why);
    }

    /// Sets the zone from the description of the log's machine. This zone overrides a zone that the
    /// user names.
    pub fn set_zone(&mut self, zone: Zone) {
        self.zone = Some(zone);
        self.origin = Origin::Machine;
    }

    /// Whether a zone is known.
    pub fn has_zone(&self) -> bool {
        self.zone.is_some()
    }

    /// Records that a line with the timestamp `stamp` was written at `second`, in seconds since 1970.
    pub fn learn(&mut self, stamp: Stamp, second: i64) {
        if let Stamp::Local(local) = stamp {
            self.offsets.add_line(second, local.second());
        }
    }

    /// Records that the log has times in seconds since 1970.
    pub fn count_epochs(&mut self) {
        self.epoch = true;
    }

    /// Converts times in chronological order, such as a job's submission, start and end, to seconds since 1970.
    ///
    /// A local time occurs twice if the clock was put back over it. The earliest times that keep the order are used. If
    /// later times would also keep the order, the ambiguity is counted. For example, the clock is put back from 2:00 to
    /// 1:00. If a job is submitted at 1:50 and starts at 1:10, only the first 1:50 and the second 1:10 keep the order.
    /// If it is submitted at 1:10 and starts at 1:50, the first occurrences are used, and the ambiguity is counted.
    ///
    /// # Errors
    /// A local time did not occur, because the clock was put forward over it, and the reader is
    /// strict.
    pub fn in_order<const N: usize>(
        &mut self,
        moments: [Option<Moment>; N],
        place: Place<'_>,
        log_counts: &mut LogCounts,
    ) -> Result<[Option<i64>; N]> {
        let choices = moments.map(|moment| moment.map(|moment| self.choices(moment)));
        let earliest = earliest(choices);
        if earliest != latest(choices) {
            let twice = choices
                .iter()
                .position(|choice| choice.is_some_and(Choices::is_two));
            let example = twice.and_then(|at| moments[at]);
            log_counts.note(Reason::OccursTwice, 1, || shown(place, example));
        }
        for (moment, choice) in moments.iter().zip(choices) {
            if choice.is_some_and(|choice| !choice.occurs) {
                log_counts.fault(Reason::NeverOccurs, place, text(*moment))?;
            }
        }
        Ok(earliest)
    }

    /// The possible values of a time, in seconds since 1970.
    fn choices(&mut self, moment: Moment) -> Choices {
        let stamp = match moment {
            Moment::Second(second) => return Choices::one(second),
            Moment::Written(stamp) => stamp,
        };
        match (stamp, &self.zone) {
            (Stamp::Epoch(utc), _) => {
                self.epoch = true;
                Choices::one(utc.second())
            }
            (Stamp::Zoned { utc, offset }, _) => {
                self.offsets.add_text(utc.second(), offset);
                Choices::one(utc.second())
            }
            (Stamp::Local(local), Some(zone)) => Choices::of(zone.instant(local)),
            (Stamp::Local(local), None) => {
                self.local = true;
                Choices::one(local.second() - i64::from(self.offsets.recent()))
            }
        }
    }

    /// The clock of the log within a window.
    pub fn in_window(&self, window: Window) -> Clock {
        let at = Utc::from_seconds;
        match &self.zone {
            Some(zone) => zone.clock(at(window.from), at(window.to)),
            None => self.offsets.clock(window).unwrap_or_else(|| self.untold()),
        }
    }

    /// The clock of a log without offsets: UTC if all its times are seconds since 1970 or UTC is assumed, else
    /// unknown.
    fn untold(&self) -> Clock {
        if self.in_utc.is_some() || self.epoch && !self.local {
            Clock::new(0, [])
        } else {
            Clock::UNKNOWN
        }
    }

    /// Converts a user-specified time to seconds since 1970. `window` is the span of the logs. If the clock is
    /// unknown, local times are treated as UTC. A time with an offset is always converted to UTC.
    ///
    /// # Errors
    /// [`Error::Usage`] if the time cannot be expressed on the log's clock.
    pub fn given(&self, stamp: Stamp, occurrence: Occurrence, window: Window) -> Result<i64> {
        if let (Stamp::Local(local), Some(zone)) = (stamp, &self.zone) {
            return Ok(zone.utc(local, occurrence).second());
        }
        if let Stamp::Zoned { utc, .. } = stamp {
            return Ok(utc.second());
        }
        let instant = self.in_window(window).instant(stamp, occurrence);
        let instant = instant.map_err(|error| Error::Usage(error.to_string()))?;
        Ok(instant.second())
    }

    /// A note for the user on the clock that applies within `window`. `None` if the user named the zone and the log
    /// does not contradict it.
    pub fn remark(&self, window: Window) -> Option<String> {
        let clock = self.in_window(window);
        let told = self.offsets.clock(window);
        if let Some(zone) = &self.zone {
            let told = told.filter(|told| told.first_offset() != clock.first_offset());
            return match (told, self.origin) {
                (Some(told), _) => Some(format!(
                    "times are local times of {zone}, although the lines of the log imply {}",
                    told.describe()
                )),
                (None, Origin::Log) => Some(format!(
                    "times are local times of {zone}, as stated in the log"
                )),
                (None, Origin::Machine) => Some(format!(
                    "times are local times of {zone}, as set by --machine"
                )),
                (None, Origin::User) => None,
            };
        }
        if let (None, true, Some(why)) = (&told, self.local, self.in_utc) {
            return Some(format!(
                "times are treated as UTC (set another zone with --timezone): {why}"
            ));
        }
        Some(match (clock.is_known(), told) {
            (false, _) => {
                "the log does not state its time zone: times are local times as written, even where a clock was \
                           put forward or back (set the zone with --timezone)"
                    .to_owned()
            }
            (true, Some(_)) => {
                let others = self.offsets.contradicting().map(|offset| {
                    let others = Clock::new(offset, []).describe();
                    format!("; some lines show {others} instead (set the zone with --timezone)")
                });
                format!(
                    "times are local times, as stated in the log: {}{}",
                    clock.describe(),
                    others.unwrap_or_default()
                )
            }
            (true, None) => "the log counts seconds since 1970 and does not state its time zone: \
                             times are given in UTC (set the zone with --timezone)"
                .to_owned(),
        })
    }
}

fn shown(place: Place<'_>, moment: Option<Moment>) -> String {
    format!("{place}: {}", text(moment))
}

fn text(moment: Option<Moment>) -> String {
    match moment {
        None => String::new(),
        Some(Moment::Written(stamp)) => stamp.to_string(),
        Some(Moment::Second(second)) => second.to_string(),
    }
}

/// The possible values of a time, in seconds since 1970. They are equal unless the local time occurs twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Choices {
    first: i64,
    second: i64,
    /// Whether the time occurred; false if the clock was put forward over it.
    occurs: bool,
}

impl Choices {
    fn one(second: i64) -> Self {
        Choices {
            first: second,
            second,
            occurs: true,
        }
    }

    fn of(instant: Instant) -> Self {
        match instant {
            Instant::Once(time) => Choices::one(time.second()),
            Instant::Twice(first, second) => Choices {
                first: first.second(),
                second: second.second(),
                occurs: true,
            },
            Instant::Never(time) => Choices {
                occurs: false,
                ..Choices::one(time.second())
            },
        }
    }

    fn is_two(self) -> bool {
        self.first != self.second
    }
}

/// Chooses the earliest seconds that keep the order of the times, if the order can be kept.
fn earliest<const N: usize>(choices: [Option<Choices>; N]) -> [Option<i64>; N] {
    let mut floor = i64::MIN;
    choices.map(|choice| {
        choice.map(|choice| {
            let second = if choice.first < floor {
                choice.second
            } else {
                choice.first
            };
            floor = second;
            second
        })
    })
}

/// Chooses the latest seconds that keep the order of the times, if the order can be kept.
fn latest<const N: usize>(choices: [Option<Choices>; N]) -> [Option<i64>; N] {
    let mut ceiling = i64::MAX;
    let mut latest = [None; N];
    for (choice, latest) in choices.iter().zip(&mut latest).rev() {
        let second = choice.map(|choice| {
            if choice.second > ceiling {
                choice.first
            } else {
                choice.second
            }
        });
        ceiling = second.unwrap_or(ceiling);
        *latest = second;
    }
    latest
}

/// Parses a time in a log, in any format that [`stamp`] accepts.
pub fn moment(text: &str) -> Option<Moment> {
    stamp(text).map(Moment::Written)
}

/// Parses a time such as `2026-01-31T08:00:00`, a date alone, or seconds since 1970. A space can replace the `T`, and
/// an offset from UTC can follow the time. A fraction of a second is dropped.
pub fn stamp(text: &str) -> Option<Stamp> {
    if let Some(second) = iso(text.as_bytes()) {
        return Some(Stamp::Local(Local::from_seconds(second)));
    }
    if text.bytes().next()?.is_ascii_digit() && !text.contains('-') {
        return epoch(text).map(|second| Stamp::Epoch(Utc::from_seconds(second)));
    }
    Some(match text.parse().ok()? {
        Stamp::Local(time) => Stamp::Local(Local::from_seconds(time.second())),
        Stamp::Epoch(utc) => Stamp::Epoch(Utc::from_seconds(utc.second())),
        Stamp::Zoned { utc, offset } => Stamp::Zoned {
            utc: Utc::from_seconds(utc.second()),
            offset,
        },
    })
}

/// Parses a time such as `01/31/2026 08:00:00`, as written in accounting logs.
pub(super) fn american(text: &str) -> Option<Stamp> {
    let b = text.as_bytes();
    if b.len() != 19 || b[2] != b'/' || b[5] != b'/' || b[10] != b' ' {
        return None;
    }
    let second = second(&b[6..10], &b[0..2], &b[3..5], &b[11..])?;
    Some(Stamp::Local(Local::from_seconds(second)))
}

/// Parses seconds since 1970 and drops any fraction. Returns `None` for times that are too late for an event log.
pub fn epoch(text: &str) -> Option<i64> {
    /// The last accepted second, in the year 2261. Nanoseconds since 1970 fit in 64 bits only until April 2262.
    const LAST: i64 = 9_200_000_000;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) {
        return None;
    }
    whole.parse().ok().filter(|second| *second <= LAST)
}

/// Parses a time such as `2026-01-31T08:00:00` or `2026-01-31 08:00:00`, without an offset. This
/// is a fast path for the most common format.
fn iso(b: &[u8]) -> Option<i64> {
    if b.len() != 19 || b[4] != b'-' || b[7] != b'-' || !matches!(b[10], b'T' | b' ') {
        return None;
    }
    second(&b[0..4], &b[5..7], &b[8..10], &b[11..])
}

/// Converts a year, a month, a day and a time `HH:MM:SS` to seconds since 1970.
fn second(year: &[u8], month: &[u8], day: &[u8], time: &[u8]) -> Option<i64> {
    if time[2] != b':' || time[5] != b':' {
        return None;
    }
    let two = |text: &[u8]| i8::try_from(number(text)?).ok();
    let date = Date::new(number(year)?, two(month)?, two(day)?).ok()?;
    let time = TimeOfDay::new(two(&time[0..2])?, two(&time[3..5])?, two(&time[6..8])?, 0).ok()?;
    let seconds = date.to_datetime(time).duration_since(EPOCH).as_secs();
    // The times of an event log are 64-bit nanoseconds since 1970, which limits their range.
    (-9_200_000_000..=9_200_000_000)
        .contains(&seconds)
        .then_some(seconds)
}

const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

fn number(digits: &[u8]) -> Option<i16> {
    digits.iter().try_fold(0i16, |sum, digit| {
        let digit = digit.is_ascii_digit().then(|| i16::from(digit - b'0'))?;
        sum.checked_mul(10)?.checked_add(digit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn times_are_local_or_epochs() {
        let local = |second| Some(Stamp::Local(Local::from_seconds(second)));
        let epoch = |second| Some(Stamp::Epoch(Utc::from_seconds(second)));
        let zoned = |second, offset| {
            let utc = Utc::from_seconds(second);
            Some(Stamp::Zoned { utc, offset })
        };
        for (text, expected) in [
            ("2026-01-31T08:00:00", local(1_769_846_400)),
            ("2026-01-31 08:00:00.75", local(1_769_846_400)),
            ("2026-01-31", local(1_769_817_600)),
            ("2026-01-31T08:00:00+01:00", zoned(1_769_842_800, 3600)),
            ("2026-01-31T08:00:00Z", zoned(1_769_846_400, 0)),
            ("1769846400", epoch(1_769_846_400)),
            ("1769846400.99", epoch(1_769_846_400)),
            ("1969-12-31T23:59:59", local(-1)),
            ("2026-02-30T08:00:00", None),
            ("2026-01-31T24:00:00", None),
            ("Unknown", None),
            ("99999999999", None),
            ("9999-01-01T00:00:00", None),
            ("", None),
        ] {
            assert_eq!(stamp(text), expected, "{text}");
        }
        assert_eq!(american("01/31/2026 08:00:00"), local(1_769_846_400));
        assert_eq!(american("31/01/2026 08:00:00"), None);
    }

    /// Converts local times in Chicago, where summer time begins on 2026-03-08 at 2:00 and ends on
    /// 2026-11-01 at 2:00 (7:00 UTC). Returns the UTC times of day, in hours, and the counts.
    fn in_chicago<const N: usize>(texts: [&str; N]) -> ([f64; N], LogCounts) {
        let mut clock = SchedulerClock::of_flag(Some("America/Chicago")).unwrap();
        let mut log_counts = LogCounts::default();
        let moments = texts.map(moment);
        let place = Place::line(Path::new("log"), 7);
        let seconds = clock.in_order(moments, place, &mut log_counts).unwrap();
        let hours = |second: Option<i64>| (second.unwrap() % 86_400) as f64 / 3600.0;
        (seconds.map(hours), log_counts)
    }

    // The expected times follow from the offsets of -5 and -6 hours.
    #[test]
    fn an_hour_that_occurs_twice_is_resolved_by_order() {
        let day = |time: &str| format!("2026-11-01T{time}");
        for (texts, hours, counted) in [
            (["01:45:00", "01:30:00"], [6.75, 7.5], 0),
            (["00:30:00", "01:30:00"], [5.5, 6.5], 1),
            (["01:30:00", "02:30:00"], [6.5, 8.5], 1),
            (["02:10:00", "02:30:00"], [8.0 + 1.0 / 6.0, 8.5], 0),
        ] {
            let [from, to] = texts.map(day);
            let (found, log_counts) = in_chicago([&from, &to]);
            assert_eq!(found, hours, "{texts:?}");
            let found = log_counts
                .found
                .get(&Reason::OccursTwice)
                .map_or(0, |f| f.count);
            assert_eq!(found, counted, "{texts:?}");
        }
    }

    #[test]
    fn a_time_that_does_not_occur_is_counted() {
        let (found, log_counts) = in_chicago(["2026-03-08T02:30:00", "2026-03-08T03:30:00"]);
        assert_eq!(found, [8.5, 8.5]);
        let found = &log_counts.found[&Reason::NeverOccurs];
        assert_eq!(
            (found.count, &*found.example),
            (1, "log, line 7: 2026-03-08 02:30:00")
        );
    }

    #[test]
    fn without_a_zone_times_stay_as_they_are_and_offsets_are_honoured() {
        let mut clock = SchedulerClock::default();
        let mut log_counts = LogCounts::default();
        let place = Place::line(Path::new("log"), 7);
        let mut second = |clock: &mut SchedulerClock, text: &str| {
            clock
                .in_order([moment(text)], place, &mut log_counts)
                .unwrap()[0]
                .unwrap()
        };
        assert_eq!(second(&mut clock, "1970-01-01T00:00:05"), 5);
        assert_eq!(clock.in_window(Window::ALL), Clock::UNKNOWN);
        assert_eq!(second(&mut clock, "1970-01-01T01:00:05+01:00"), 5);
        assert_eq!(clock.in_window(Window::ALL).to_string(), "+01:00");
        // A local time without an offset is converted with the offset of the previous line.
        assert_eq!(second(&mut clock, "1970-01-01T01:00:05"), 5);
        let mut counted = SchedulerClock::default();
        assert_eq!(second(&mut counted, "5"), 5);
        assert_eq!(counted.in_window(Window::ALL).to_string(), "+00:00");
    }
}
