//! The time span of a log, and the part of this span for which the log is complete.

use crate::occupancy::Window;

/// Times of the first and the last start, end and record of a log, in seconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    starts: Option<(i64, i64)>,
    ends: Option<(i64, i64)>,
    records: Option<(i64, i64)>,
}

/// Extends a range so that it includes `second`.
fn widen(range: &mut Option<(i64, i64)>, second: i64) {
    let (first, last) = range.get_or_insert((second, second));
    *first = second.min(*first);
    *last = second.max(*last);
}

impl Span {
    /// The span of a log without jobs.
    pub const NONE: Span = Span {
        starts: None,
        ends: None,
        records: None,
    };

    /// Adds a job. `end` is `None` if the job does not end in the log.
    pub fn job(&mut self, start: i64, end: Option<i64>) {
        widen(&mut self.starts, start);
        if let Some(end) = end {
            widen(&mut self.ends, end);
        }
    }

    /// Adds the time at which a record was written, for logs that are written as events happen.
    pub fn record(&mut self, second: i64) {
        widen(&mut self.records, second);
    }

    /// The period from the first start to the last start or end of any job; `None` without jobs.
    pub fn whole(&self) -> Option<Window> {
        let (first, last) = self.starts?;
        Some(Window {
            from: first,
            to: self.ends.map_or(last, |ends| last.max(ends.1)),
        })
    }

    /// The period that the log covers: the span of all its jobs and records.
    pub fn covered(&self) -> Option<Window> {
        let whole = self.whole()?;
        let (first, last) = self.records.unwrap_or((whole.from, whole.to));
        Some(Window {
            from: first.min(whole.from),
            to: last.max(whole.to),
        })
    }

    /// The part of the span for which the log is complete.
    ///
    /// A log that is written as events happen is complete from its first to its last record. A list
    /// of jobs lacks jobs that ended before the list begins, and jobs that started after the list was exported. A list
    /// of jobs is therefore complete from the first end to the last start. For example, if 15-second jobs start every
    /// 10 seconds from 0 to 90, the list is complete from 15 to 90. If that part is less than half of the whole, as in
    /// a log of only a few jobs, the whole span is used.
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
    fn a_list_of_few_jobs_is_taken_as_complete() {
        let mut span = Span::NONE;
        span.job(0, Some(10));
        assert_eq!(window(&span), Some((0, 10)));
        span.job(12, Some(30));
        assert_eq!(window(&span), Some((0, 30)));
        span.job(2, None);
        assert_eq!(window(&span), Some((0, 30)));
    }

    #[test]
    fn a_log_of_records_is_complete_between_its_records() {
        let mut span = Span::NONE;
        span.job(-100, Some(5));
        span.record(5);
        span.job(20, None);
        span.record(20);
        assert_eq!(window(&span), Some((5, 20)));
    }
}
