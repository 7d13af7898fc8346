//! Finds the offset of a log's clock from UTC, and its changes, from the lines of the log.
//!
//! Some lines show an offset: they have both the local time and seconds since 1970. Single lines
//! can be wrong, because they were written late. So lines are counted by stretches of time (hours),
//! and the clock is chosen that explains the most lines: see [`Offsets::chosen`].

use std::collections::{BTreeMap, VecDeque};

use gleaner_core::domain::Clock;
use gleaner_core::domain::clock::MOST_OFFSET;
use gleaner_occupancy::Window;

const HOUR: i64 = 3600;
const QUARTER: i64 = 15 * 60;

/// Most stretches of time that are kept: all hours of 30 years.
const MOST_STRETCHES: usize = 1 << 18;

/// Most offsets that the clock of one log can have.
const MOST_OFFSETS: usize = 4;

/// A change of the clock must explain more than this many lines. Fewer lines may have been written
/// late.
const CHANGE_COST: u64 = 2;

/// Number of last lines that decide the current offset. Also the most offsets counted in a stretch.
const RECENT: usize = 9;

/// Counts of lines that show an offset, by the stretch of time in which they were written.
#[derive(Debug)]
pub(super) struct Offsets {
    /// Length of a stretch in seconds. It starts at an hour, because most clocks change at a full
    /// hour of UTC.
    width: i64,
    /// For each stretch, the offsets in seconds and how many lines show them.
    stretches: BTreeMap<i64, Vec<(i32, u64)>>,
    /// The offsets of the last lines, the newest first.
    recent: VecDeque<i32>,
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
    /// Adds the text of a time with an offset: local time was `offset` seconds ahead of UTC at this
    /// second since 1970. It counts for more than [`CHANGE_COST`] lines, so one such text can show
    /// a change.
    pub fn add_text(&mut self, second: i64, offset: i32) {
        self.add(second, offset, 2 * CHANGE_COST + 1);
    }

    /// Counts an offset in the stretch of a second, with the weight of this many lines.
    fn add(&mut self, second: i64, offset: i32, lines: u64) {
        self.recent.truncate(RECENT - 1);
        self.recent.push_front(offset);
        let stretch = self.stretches.entry(second.div_euclid(self.width));
        count(stretch.or_default(), offset, lines);
        if self.stretches.len() > MOST_STRETCHES {
            self.widen();
        }
    }

    /// Adds a line that was written at this second since 1970 and shows the local time `local`, in
    /// seconds of the local clock. The line may have been written a little later than `second`.
    pub fn add_line(&mut self, second: i64, local: i64) {
        let difference = local.saturating_sub(second);
        let quarters = difference.saturating_add(QUARTER / 2).div_euclid(QUARTER);
        let offset = quarters.saturating_mul(QUARTER);
        // All offsets of zones are multiples of a quarter of an hour and at most `MOST_OFFSET`. A
        // difference that is not close to a multiple means that the line was written late.
        let late = difference.saturating_sub(offset).abs() > QUARTER / 3;
        if let Some(offset) = i32::try_from(offset).ok().filter(|_| !late)
            && offset.abs() <= MOST_OFFSET
        {
            self.add(second, offset, 1);
        }
    }

    /// The offset that most of the last lines show; 0 if there is none.
    pub fn recent(&self) -> i32 {
        let mut counts = Vec::new();
        for offset in &self.recent {
            count(&mut counts, *offset, 1);
        }
        let most = counts.iter().max_by_key(|(_, lines)| *lines);
        most.map_or(0, |(offset, _)| *offset)
    }

    /// The clock that explains the most lines, within a window. A change must explain more than
    /// [`CHANGE_COST`] lines. Returns `None` if no line shows an offset.
    pub fn clock(&self, window: Window) -> Option<Clock> {
        let chosen = self.chosen();
        let (_, first) = chosen.first()?;
        let changes = chosen.windows(2).filter(|pair| pair[0].1 != pair[1].1);
        let changes = changes.map(|pair| (self.change(pair[0], pair[1].0), pair[1].1));
        let changes: Vec<(i64, i32)> = changes.collect();
        let before = changes.partition_point(|(second, _)| *second <= window.from);
        let first = before.checked_sub(1).map_or(first, |last| &changes[last].1);
        let within = changes[before..].iter().copied();
        let within = within.take_while(|(second, _)| *second <= window.to);
        Some(Clock::new(*first, within))
    }

    /// The second at which the clock changed. It lies after a stretch with the old offset, and not
    /// after the start of `next`, the next stretch with lines. If the old clock showed 2:00, the
    /// usual hour of changes, in between, it is that moment; otherwise it is the start of `next`.
    fn change(&self, (stretch, offset): (i64, i32), next: i64) -> i64 {
        const DAY: i64 = 24 * HOUR;
        let from = (stretch + 1).saturating_mul(self.width);
        let to = next.saturating_mul(self.width);
        let local = from.saturating_add(offset.into());
        let usual = from.saturating_add((2 * HOUR - local).rem_euclid(DAY));
        if usual < to { usual } else { to }
    }

    /// Chooses an offset for every stretch with lines, at the least total cost. A line that shows
    /// another offset than the chosen one costs 1, and a change between two stretches costs
    /// [`CHANGE_COST`].
    ///
    /// The method is dynamic programming. The first pass goes forward and keeps, for every offset,
    /// the least cost of all stretches so far that ends with this offset, and the offset before it
    /// (`steps`). The second pass starts with the cheapest offset of the last stretch and goes back
    /// along `steps`. If keeping an offset costs the same as changing to it, it is kept.
    fn chosen(&self) -> Vec<(i64, i32)> {
        let offsets = self.commonest();
        // For every offset, the least cost up to the current stretch, and which offset came before.
        let mut costs = vec![0u64; offsets.len()];
        let mut steps: Vec<Vec<usize>> = Vec::with_capacity(self.stretches.len());
        for lines in self.stretches.values() {
            let total: u64 = lines.iter().map(|(_, lines)| lines).sum();
            let cheapest = (0..offsets.len()).min_by_key(|&at| costs[at]).unwrap_or(0);
            let change = costs.get(cheapest).map_or(0, |cost| cost + CHANGE_COST);
            let step = (0..offsets.len()).map(|at| match costs[at] <= change {
                true => at,
                false => cheapest,
            });
            let step: Vec<usize> = step.collect();
            costs = (0..offsets.len())
                .map(|at| {
                    let told = lines.iter().find(|(offset, _)| *offset == offsets[at]);
                    costs[at].min(change) + total - told.map_or(0, |(_, lines)| *lines)
                })
                .collect();
            steps.push(step);
        }
        let mut at = (0..offsets.len()).min_by_key(|&at| costs[at]).unwrap_or(0);
        let mut chosen = Vec::with_capacity(steps.len());
        for (stretch, step) in self.stretches.keys().zip(&steps).rev() {
            chosen.push((*stretch, offsets[at]));
            at = step[at];
        }
        chosen.reverse();
        chosen
    }

    /// The few offsets that most lines show.
    fn commonest(&self) -> Vec<i32> {
        let mut counts = BTreeMap::new();
        for (offset, lines) in self.stretches.values().flatten() {
            *counts.entry(*offset).or_insert(0) += lines;
        }
        let mut counts: Vec<(i32, u64)> = counts.into_iter().collect();
        counts.sort_by_key(|(_, lines)| std::cmp::Reverse(*lines));
        let common = counts.into_iter().take(MOST_OFFSETS);
        common.map(|(offset, _)| offset).collect()
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

    // Fixed examples.
    #[test]
    fn the_offset_of_most_lines_is_used() {
        assert_eq!(clock(&[], ALL), None);
        let late = [(0, -6), (1, -6), (2, -3), (3, -6)];
        assert_eq!(clock(&late, ALL).unwrap(), "-06:00");
        let changed = [(0, -6), (1, -6), (2, -6), (5, -5), (6, -5), (9, -5)];
        let expected = "-06:00 1970-01-01T05:00:00Z -05:00";
        assert_eq!(clock(&changed, ALL).unwrap(), expected);
        // No line shows when in the night the change was; 2:00 is the usual hour.
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

        // Up to two consecutive lines with another offset change nothing.
        #[test]
        fn a_few_odd_lines_change_nothing(odd in prop::collection::vec(0usize..200, 0..6), to in -5i32..5) {
            let mut lines: Vec<(i64, i32)> = (0..200).map(|hour| (hour, if hour < 100 { -6 } else { -5 })).collect();
            let usual = clock(&lines, ALL);
            for at in odd {
                // Not next to the change or to another odd line.
                let at = at / 8 * 8;
                if !(90..110).contains(&at) {
                    lines[at].1 = to;
                }
            }
            prop_assert_eq!(clock(&lines, ALL), usual);
        }
    }
}
