//! Which submissions of a trace are simulated, and on what clock.

use std::ops::RangeInclusive;

use super::Options;
use super::survey::Survey;
use crate::domain::{Stamp, Time};
use crate::error::{Error, Result};
use crate::ingest::jobs::bounds::LONGEST;
use crate::ingest::jobs::clock::Form;

/// The window of a trace and its clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    /// How the file tells time.
    pub form: Form,
    /// Second of the file's clock that is second 0 of the trace's.
    zero: i64,
    /// The first submission.
    first: i64,
    /// Earliest second of the file's clock.
    earliest: i64,
    /// Latest second of the file's clock.
    latest: i64,
    /// First and last second of the window, on the trace's clock.
    begin: Option<i64>,
    end: Option<i64>,
}

/// First submissions that are told in seconds since 1970: no clock of a trace's own runs for
/// thirty years before its first job. From September 2001 on, to the last second of a [`Time`].
const SINCE_1970: RangeInclusive<i64> = 1_000_000_000..=9_223_372_036;

/// Where a submission lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// Before the epoch.
    Early,
    /// Before or after the window.
    Outside,
    /// So long after the first that one of the two must be wrong.
    Absurd,
    /// At this second of the trace's clock.
    At(i64),
}

impl Window {
    /// The window that the options ask for.
    ///
    /// # Errors
    /// As [`Form::place`].
    pub fn new(survey: &Survey, options: &Options<'_>) -> Result<Self> {
        let zero = match survey.form.is_civil() {
            true => survey.first,
            false => 0,
        };
        let epoch = options.epoch.map(Time::second);
        let since_epoch = |stamp: Stamp| {
            let time = survey.form.place(stamp)?;
            Ok::<_, Error>(time.second() - epoch.unwrap_or(zero))
        };
        Ok(Window {
            form: survey.form,
            zero,
            first: survey.first,
            earliest: epoch.unwrap_or(i64::MIN),
            latest: survey.first + LONGEST,
            begin: options.from.map(since_epoch).transpose()?,
            end: options.to.map(since_epoch).transpose()?,
        })
    }

    /// Whether it ends before it begins.
    pub fn is_empty(&self) -> bool {
        let reversed = |begin| self.end.is_some_and(|end| end < begin);
        self.begin.is_some_and(reversed)
    }

    /// Where a second of the file's clock lies.
    pub fn position(&self, second: i64) -> Position {
        let at = second - self.zero;
        let after = self.begin.is_none_or(|begin| at >= begin);
        let before = self.end.is_none_or(|end| at <= end);
        if second < self.earliest {
            Position::Early
        } else if !(after && before) {
            Position::Outside
        } else if second > self.latest {
            Position::Absurd
        } else {
            Position::At(at)
        }
    }

    /// The civil time of second 0, where the file tells it: by civil times, or by seconds that
    /// can only be those since 1970.
    pub fn origin(&self) -> Option<Time> {
        let known = self.form.is_civil() || SINCE_1970.contains(&self.first);
        known.then(|| Time::from_seconds(self.zero))
    }

    /// When a simulation starts whose first job comes at second `first`.
    pub fn start(&self, first: i64) -> i64 {
        const DAY: i64 = 86_400;
        match self.begin {
            // Not longer before the first job than any job lasts.
            Some(begin) => begin.max(first - LONGEST),
            None if self.form.is_civil() => 0,
            None => first - first.rem_euclid(DAY),
        }
    }
}
