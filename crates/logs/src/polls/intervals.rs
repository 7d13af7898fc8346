//! Counts the intervals between polls.

use std::collections::BTreeMap;

/// The intervals between polls, in seconds, and the span of all polls.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Intervals {
    /// The number of occurrences of each interval. The intervals add up to the span of the log,
    /// so only a few can be distinct: at most 140,000 in 300 years.
    counts: BTreeMap<i64, u64>,
    span: Option<(i64, i64)>,
}

impl Intervals {
    /// Adds a poll. It must be later than all polls that were added before.
    pub(super) fn add(&mut self, time: i64) {
        match &mut self.span {
            None => self.span = Some((time, time)),
            Some((_, last)) => {
                *self.counts.entry(time - *last).or_default() += 1;
                *last = time;
            }
        }
    }

    /// Times of the first and the last poll; `None` if there are no polls.
    pub fn span(&self) -> Option<(i64, i64)> {
        self.span
    }

    /// Number of polls.
    pub fn polls(&self) -> u64 {
        self.counts.values().sum::<u64>() + u64::from(self.span.is_some())
    }

    /// The median interval, in seconds. If the number of intervals is even, this is the shorter of the two middle
    /// intervals. `None` if there are fewer than two polls.
    pub fn median(&self) -> Option<i64> {
        let middle = self.counts.values().sum::<u64>().checked_sub(1)? / 2;
        let mut before = 0;
        let median = self.counts.iter().find(|(_, count)| {
            before += **count;
            before > middle
        });
        median.map(|(interval, _)| *interval)
    }

    /// The longest interval, in seconds; `None` if there are fewer than two polls.
    pub fn longest(&self) -> Option<i64> {
        self.counts.last_key_value().map(|(interval, _)| *interval)
    }

    /// The mean, in seconds, of the intervals that last at most `longest` seconds; 0 if there are none.
    pub(super) fn mean(&self, longest: i64) -> f64 {
        let some = self.counts.range(..=longest);
        let (sum, count) = some.fold((0.0, 0.0), |(sum, all), (interval, count)| {
            let count = *count as f64;
            (sum + *interval as f64 * count, all + count)
        });
        if count > 0.0 { sum / count } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_intervals() {
        let mut intervals = Intervals::default();
        assert_eq!((intervals.polls(), intervals.median()), (0, None));
        for time in [100, 110, 120, 135, 1135] {
            intervals.add(time);
        }
        assert_eq!(intervals.span(), Some((100, 1135)));
        assert_eq!(intervals.polls(), 5);
        assert_eq!(intervals.median(), Some(10));
        assert_eq!(intervals.longest(), Some(1000));
        assert_eq!(intervals.mean(50), 35.0 / 3.0);
        intervals.add(1150);
        assert_eq!(intervals.median(), Some(15));
    }
}
