//! The time over which a log tells what every node was doing.

use crate::occupancy::Window;

/// What is known of a log's beginning and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    starts: Option<(i64, i64)>,
    ends: Option<(i64, i64)>,
    records: Option<(i64, i64)>,
}

fn widen(range: &mut Option<(i64, i64)>, second: i64) {
    let (first, last) = range.get_or_insert((second, second));
    *first = second.min(*first);
    *last = second.max(*last);
}

impl Span {
    /// Nothing is known.
    pub const NONE: Span = Span {
        starts: None,
        ends: None,
        records: None,
    };

    /// A job ran.
    pub fn job(&mut self, start: i64, end: Option<i64>) {
        widen(&mut self.starts, start);
        if let Some(end) = end {
            widen(&mut self.ends, end);
        }
    }

    /// Something was written down as it happened.
    pub fn record(&mut self, second: i64) {
        widen(&mut self.records, second);
    }

    /// The first and last time that any job tells.
    pub fn whole(&self) -> Option<Window> {
        let (first, last) = self.starts?;
        Some(Window {
            from: first,
            to: self.ends.map_or(last, |ends| last.max(ends.1)),
        })
    }

    /// The part in which the log is complete.
    ///
    /// Logs written as things happen are complete from the first to the last record. A
    /// list of jobs lacks those that ended before it was begun, and those that started
    /// after it was closed: it is complete from the first end to the last start. Where
    /// that is less than half of all, as with a few jobs, it is taken to be whole.
    pub fn complete(&self) -> Option<Window> {
        let whole = self.whole()?;
        let (from, to) = match (self.records, self.ends) {
            (Some(records), _) => records,
            (None, Some(ends)) => (ends.0, self.starts?.1),
            (None, None) => return Some(whole),
        };
        let long = i128::from(to) - i128::from(from);
        let all = i128::from(whole.to) - i128::from(whole.from);
        let enough = long > 0 && (self.records.is_some() || long * 2 >= all);
        Some(if enough { Window { from, to } } else { whole })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(span: &Span) -> Option<(i64, i64)> {
        span.complete().map(|window| (window.from, window.to))
    }

    #[test]
    fn a_list_of_jobs_is_complete_from_the_first_end_to_the_last_start() {
        let mut span = Span::NONE;
        assert_eq!(window(&span), None);
        for start in 0..10 {
            span.job(start * 10, Some(start * 10 + 15));
        }
        assert_eq!(window(&span), Some((15, 90)));
        assert_eq!(span.whole(), Some(Window { from: 0, to: 105 }));
    }

    #[test]
    fn few_jobs_are_taken_to_be_all() {
        let mut span = Span::NONE;
        span.job(0, Some(10));
        assert_eq!(window(&span), Some((0, 10)));
        span.job(12, Some(30));
        assert_eq!(window(&span), Some((0, 30)));
        span.job(2, None);
        assert_eq!(window(&span), Some((0, 30)));
    }

    #[test]
    fn what_is_written_as_it_happens_is_complete_between_its_records() {
        let mut span = Span::NONE;
        span.job(-100, Some(5));
        span.record(5);
        span.job(20, None);
        span.record(20);
        assert_eq!(window(&span), Some((5, 20)));
    }
}
