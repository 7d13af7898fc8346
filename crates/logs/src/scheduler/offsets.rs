//! Infers the UTC offset of a log's clock, and the changes of this offset, from the lines of the
//! log.
//!
//! Some lines show an offset: they state both the local time and the seconds since 1970. The offset at a given time is
//! taken from the nearest such lines. Single lines can be wrong because they were written late. Lines are therefore
//! counted for each stretch of time (initially an hour), and a change that only a few lines show is ignored (see
//! [`Offsets::spans`]).

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

use crate::occupancy::Window;
use gleaner_domain::Clock;
use gleaner_domain::clock::MOST_OFFSET;

const HOUR: i64 = 3600;
const QUARTER: i64 = 15 * 60;

/// Maximum number of stretches of time that are kept, enough for all hours of 30 years.
const MOST_STRETCHES: usize = 1 << 18;

/// A change of the clock is accepted only if more than this many lines show it. A change that is
/// later reversed needs more than twice as many lines. Fewer lines may just have been written late.
const FEW: u64 = 2;

/// Number of most recent lines that decide the current offset. It is also the maximum number of offsets in a stretch.
const RECENT: usize = 9;

/// Counts of lines that show an offset, by the stretch of time in which they were written.
#[derive(Debug)]
pub(super) struct Offsets {
    /// Length of a stretch in seconds. It is initially an hour, because most clocks change at a full
    /// hour of UTC.
    width: i64,
    /// For each stretch, the offsets in seconds and how many lines show them.
    stretches: BTreeMap<i64, Vec<(i32, u64)>>,
    /// The offsets of the most recent lines, the newest first.
    recent: VecDeque<i32>,
}

/// Consecutive stretches during which the clock had one offset.
#[derive(Debug, Clone, Copy)]
struct Span {
    first: i64,
    last: i64,
    offset: i32,
    /// The number of lines that show this offset, minus the number of lines that show another offset.
    lines: u64,
}

impl Default for Offsets {
    fn default() -> Self {
        Offsets {
            width: HOUR,
            stretches: BTreeMap::new(),
            recent: VecDeque::new(),
        }
    }
}

impl Offsets {
    /// Adds a timestamp with an explicit UTC offset. At `second` (Unix time), local time was `offset` seconds ahead of
    /// UTC. The timestamp counts as enough lines to show a change of the offset, even one that is later reversed.
    pub fn add_text(&mut self, second: i64, offset: i32) {
        self.add(second, offset, 2 * FEW + 1);
    }

    /// Counts an offset in the stretch that contains `second`, with the weight of `lines` lines.
    fn add(&mut self, second: i64, offset: i32, lines: u64) {
        self.recent.truncate(RECENT - 1);
        self.recent.push_front(offset);
        let stretch = self.stretches.entry(second.div_euclid(self.width));
        count(stretch.or_default(), offset, lines);
        if self.stretches.len() > MOST_STRETCHES {
            self.widen();
        }
    }

    /// Adds a line that shows both `second` (Unix time) and `local`, the local time in seconds since 1970 on the local
    /// clock. The line may have been written a little later than `second`.
    pub fn add_line(&mut self, second: i64, local: i64) {
        let difference = local.saturating_sub(second);
        let quarters = difference.saturating_add(QUARTER / 2).div_euclid(QUARTER);
        let offset = quarters.saturating_mul(QUARTER);
        // The offset of every zone is a multiple of 15 minutes, and at most `MOST_OFFSET`. If the difference is not
        // close to such a multiple, the line was written late.
        let late = difference.saturating_sub(offset).abs() > QUARTER / 3;
        if let Some(offset) = i32::try_from(offset).ok().filter(|_| !late)
            && offset.abs() <= MOST_OFFSET
        {
            self.add(second, offset, 1);
        }
    }

    /// The offset that the most recent lines show most often; 0 if no line shows an offset.
    pub fn recent(&self) -> i32 {
        let mut counts = Vec::new();
        for offset in &self.recent {
            count(&mut counts, *offset, 1);
        }
        most(&counts).map_or(0, |(offset, _)| offset)
    }

    /// The clock within a window; `None` if no line shows an offset.
    pub fn clock(&self, window: Window) -> Option<Clock> {
        let spans = self.spans();
        let changes = spans.windows(2);
        let changes = changes.map(|pair| (self.change(pair[0], pair[1].first), pair[1].offset));
        let changes: Vec<(i64, i32)> = changes.collect();
        let before = changes.partition_point(|(second, _)| *second <= window.from);
        let first = match before.checked_sub(1) {
            Some(last) => changes[last].1,
            None => spans.first()?.offset,
        };
        let within = changes[before..].iter().copied();
        let within = within.take_while(|(second, _)| *second <= window.to);
        Some(Clock::new(first, within))
    }

    /// The second at which the clock changed. It is after `span`, which has the old offset, and not
    /// later than the start of `next`, the next stretch with lines. If the old clock showed 2:00 (the usual
    /// hour of changes) between these times, the clock changed then. Otherwise it changed at the start of `next`.
    fn change(&self, span: Span, next: i64) -> i64 {
        const DAY: i64 = 24 * HOUR;
        let from = (span.last + 1).saturating_mul(self.width);
        let to = next.saturating_mul(self.width);
        let local = from.saturating_add(span.offset.into());
        let usual = from.saturating_add((2 * HOUR - local).rem_euclid(DAY));
        if usual < to { usual } else { to }
    }

    /// The offsets of the clock in chronological order.
    ///
    /// The stretches are visited in order, and the spans so far form a stack. When the next offset
    /// appears, a span with few lines is dropped, on the assumption that its lines were written
    /// late. For example, 90 lines show -6 hours, the next line shows -3 hours, and the line after it
    /// -6 hours again. The last line drops the span of -3 hours and extends the span before it.
    fn spans(&self) -> Vec<Span> {
        let mut spans: Vec<Span> = Vec::new();
        for (stretch, counts) in &self.stretches {
            let Some((offset, lines)) = majority(counts) else {
                continue;
            };
            while let [.., before, last] = spans[..]
                && last.offset != offset
                && last.lines
                    <= if before.offset == offset {
                        2 * FEW
                    } else {
                        FEW
                    }
            {
                spans.pop();
            }
            match spans.last_mut().filter(|last| last.offset == offset) {
                Some(span) => {
                    span.last = *stretch;
                    span.lines += lines;
                }
                None => spans.push(Span {
                    first: *stretch,
                    last: *stretch,
                    offset,
                    lines,
                }),
            }
        }
        // The loop above needs an offset on both sides of a span, so it never drops the first or the
        // last span. This loop drops them if they have few lines, the span with fewer lines first. If both have the
        // same number of lines, the span with the greater offset is dropped first: a line that was written late shows
        // too great an offset.
        while let [first, .., last] = spans[..]
            && first.lines.min(last.lines) <= FEW
        {
            let weight = |span: Span| (span.lines, Reverse(span.offset));
            if weight(first) < weight(last) {
                spans.remove(0);
            } else {
                spans.pop();
            }
        }
        spans
    }

    /// The offset that most often contradicts the clock. A line contradicts the clock if it shows an offset at a time
    /// when the clock had another offset.
    pub fn contradicting(&self) -> Option<i32> {
        let spans = self.spans();
        let mut others = Vec::new();
        for (stretch, counts) in &self.stretches {
            let after = spans.partition_point(|span| span.first <= *stretch);
            // Between two spans, the clock may have had either offset.
            let near = &spans[after.saturating_sub(1)..spans.len().min(after + 1)];
            for (offset, lines) in counts {
                if near.iter().all(|span| span.offset != *offset) {
                    count(&mut others, *offset, *lines);
                }
            }
        }
        most(&others).map(|(offset, _)| offset)
    }

    /// Makes stretches twice as long, so that fewer are needed.
    fn widen(&mut self) {
        self.width *= 2;
        for (stretch, lines) in std::mem::take(&mut self.stretches) {
            let wide = self.stretches.entry(stretch.div_euclid(2)).or_default();
            for (offset, more) in lines {
                count(wide, offset, more);
            }
        }
    }
}

/// The offset that the most lines show, and the number of these lines.
fn most(counts: &[(i32, u64)]) -> Option<(i32, u64)> {
    counts.iter().copied().max_by_key(|(_, lines)| *lines)
}

/// The offset that more than half of the lines show, and the number of lines that show it minus the number of other
/// lines.
fn majority(counts: &[(i32, u64)]) -> Option<(i32, u64)> {
    let all: u64 = counts.iter().map(|(_, lines)| lines).sum();
    let (offset, lines) = most(counts)?;
    let more = (2 * lines).checked_sub(all).filter(|more| *more > 0)?;
    Some((offset, more))
}

/// Adds lines to the count of an offset. Offsets beyond the first [`RECENT`] are not counted.
fn count(counts: &mut Vec<(i32, u64)>, offset: i32, lines: u64) {
    if let Some((_, count)) = counts.iter_mut().find(|(known, _)| *known == offset) {
        *count += lines;
    } else if counts.len() < RECENT {
        counts.push((offset, lines));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: Window = Window {
        from: 0,
        to: i64::MAX,
    };

    fn clock(lines: &[(i64, i32)], window: Window) -> Option<String> {
        let mut offsets = Offsets::default();
        for (hour, offset) in lines {
            offsets.add_line(
                hour * HOUR + 90,
                hour * HOUR + i64::from(offset * 3600) + 100,
            );
        }
        offsets.clock(window).map(|clock| clock.to_string())
    }

    // Each line is given as its hour and the offset that it shows, in hours.
    #[test]
    fn the_offset_of_most_lines_is_used() {
        assert_eq!(clock(&[], ALL), None);
        let late = [(0, -6), (1, -6), (2, -3), (3, -6)];
        assert_eq!(clock(&late, ALL).unwrap(), "-06:00");
        let changed = [(0, -6), (1, -6), (2, -6), (5, -5), (6, -5), (9, -5)];
        let expected = "-06:00 1970-01-01T05:00:00Z -05:00";
        assert_eq!(clock(&changed, ALL).unwrap(), expected);
        // No line shows when the clock changed during the night, so the usual hour, 2:00, is
        // expected.
        let night = [(0, -6), (1, -6), (2, -6), (14, -5), (15, -5), (16, -5)];
        let expected = "-06:00 1970-01-01T08:00:00Z -05:00";
        assert_eq!(clock(&night, ALL).unwrap(), expected);
        let after = Window {
            from: 6 * HOUR,
            to: 9 * HOUR,
        };
        assert_eq!(clock(&changed, after).unwrap(), "-05:00");
        let before = Window {
            from: 0,
            to: 3 * HOUR,
        };
        assert_eq!(clock(&changed, before).unwrap(), "-06:00");
    }

    // Tests that a few lines with another offset, at the start, at the end or in between, do not change the clock. Five
    // such lines in a row do.
    #[test]
    fn a_few_lines_show_no_change_there_and_back() {
        let usual = |hours: std::ops::Range<i64>| hours.map(|hour| (hour, -6));
        let odd = |hours: std::ops::Range<i64>| hours.map(|hour| (hour, -5));
        let four: Vec<_> = usual(0..9).chain(odd(9..13)).chain(usual(13..20)).collect();
        assert_eq!(clock(&four, ALL).unwrap(), "-06:00");
        let five: Vec<_> = usual(0..9).chain(odd(9..14)).chain(usual(14..20)).collect();
        let expected = "-06:00 1970-01-01T09:00:00Z -05:00 1970-01-01T14:00:00Z -06:00";
        assert_eq!(clock(&five, ALL).unwrap(), expected);
        let ends: Vec<_> = odd(0..2).chain(usual(2..9)).chain(odd(9..11)).collect();
        assert_eq!(clock(&ends, ALL).unwrap(), "-06:00");
        // If two offsets have the same number of lines, the lines with the greater offset were written late.
        for two in [[(0, -6), (9, -3)], [(0, -3), (9, -6)]] {
            assert_eq!(clock(&two, ALL).unwrap(), "-06:00");
        }
    }

    #[test]
    fn lines_that_contradict_the_clock_are_found() {
        let contradicting = |lines: &[(i64, i32)]| {
            let mut offsets = Offsets::default();
            for (hour, offset) in lines {
                offsets.add_line(hour * HOUR, hour * HOUR + i64::from(offset * 3600));
            }
            offsets.contradicting()
        };
        let mut lines: Vec<_> = (0..9).map(|hour| (hour, -6)).collect();
        lines.extend((9..20).map(|hour| (hour, -5)));
        assert_eq!(contradicting(&lines), None);
        // In the hour of the change, either offset is valid.
        lines.push((9, -6));
        assert_eq!(contradicting(&lines), None);
        lines.push((4, -3));
        assert_eq!(contradicting(&lines), Some(-3 * 3600));
    }

    #[test]
    fn one_time_with_an_offset_is_enough() {
        let mut offsets = Offsets::default();
        for (hour, offset) in [(0, 2), (1, 2), (2, 1), (5, 3), (7, 1), (9, 1)] {
            offsets.add_text(hour * HOUR, offset * 3600);
        }
        let clock = offsets.clock(ALL).unwrap().to_string();
        let expected = "+02:00 1970-01-01T02:00:00Z +01:00 1970-01-01T05:00:00Z +03:00 \
                        1970-01-01T07:00:00Z +01:00";
        assert_eq!(clock, expected);
    }

    #[test]
    fn lines_written_late_are_ignored() {
        let mut offsets = Offsets::default();
        offsets.add_line(1000, 1000 + 3600 + 400);
        offsets.add_line(1000, 1000 + 30 * 3600);
        offsets.add_line(i64::MIN, i64::MAX);
        assert_eq!(offsets.clock(ALL), None);
        assert_eq!(offsets.recent(), 0);
    }

    #[test]
    fn the_number_of_stretches_is_bounded() {
        let mut offsets = Offsets::default();
        for hour in 0..MOST_STRETCHES as i64 + 10 {
            offsets.add_text(hour * HOUR, if hour < 100_000 { 0 } else { 7200 });
        }
        assert!(offsets.stretches.len() <= MOST_STRETCHES);
        let clock = offsets.clock(ALL).unwrap();
        assert_eq!(clock.to_string(), "+00:00 1981-05-29T16:00:00Z +02:00");
    }

    proptest! {
        #![proptest_config(gleaner_testing::cases(256))]

        // Tests that single lines with a different offset do not change the clock.
        #[test]
        fn a_few_odd_lines_change_nothing(odd in prop::collection::vec(0usize..200, 0..6), to in -5i32..5) {
            let mut lines: Vec<(i64, i32)> = (0..200).map(|hour| (hour, if hour < 100 { -6 } else { -5 })).collect();
            let usual = clock(&lines, ALL);
            for at in odd {
                // The lines with a different offset are placed far from the change of the clock and from each other.
                let at = at / 8 * 8;
                if !(90..110).contains(&at) {
                    lines[at].1 = to;
                }
            }
            prop_assert_eq!(clock(&lines, ALL), usual);
        }
    }
}
