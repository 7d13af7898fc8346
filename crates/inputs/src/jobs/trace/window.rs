//! Selects the submissions that are simulated, and converts their times to the trace's clock.

use std::ops::RangeInclusive;

use super::Options;
use super::survey::Survey;
use crate::jobs::bounds::LONGEST;
use crate::jobs::clock::Form;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::{Local, Stamp};

/// The window of submissions that are simulated, and the clock of the trace.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    /// The format of the trace's times.
    pub form: Form,
    /// Second 0 on the trace's clock, expressed in seconds on the file's clock.
    zero: i64,
    /// The time of the first submission, in seconds on the file's clock.
    first: i64,
    /// The epoch, in seconds on the file's clock. Earlier jobs are left out.
    earliest: i64,
    /// Latest plausible time, in seconds on the file's clock.
    latest: i64,
    /// First second of the window, on the trace's clock; `None` if the window has no start.
    begin: Option<i64>,
    /// Last second of the window, on the trace's clock; `None` if the window has no end.
    end: Option<i64>,
}

/// A first submission in this range shows that the trace counts seconds since 1970. No trace's own clock runs for
/// thirty years before the first job. The range is from September 2001 to the latest second that a [`Local`] can
/// represent.
const SINCE_1970: RangeInclusive<i64> = 1_000_000_000..=9_223_372_036;

/// The position of a submission relative to the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// The submission is before the epoch.
    Early,
    /// The submission is before or after the window.
    Outside,
    /// The submission is so long after the first submission that one of the two times must be wrong.
    Absurd,
    /// The job is simulated, and is submitted at this second on the trace's clock.
    At(i64),
}

impl Window {
    /// The window of submissions that the options specify.
    ///
    /// # Errors
    /// [`Error::Usage`] if the time in an option has an offset from UTC, but the times of the trace have none.
    pub fn new(survey: &Survey, options: &Options<'_>) -> Result<Self> {
        let zero = if survey.form.is_civil() {
            survey.first
        } else {
            0
        };
        let epoch = options.epoch.map(Local::second);
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

    /// Whether the window ends before it begins.
    pub fn is_empty(&self) -> bool {
        let reversed = |begin| self.end.is_some_and(|end| end < begin);
        self.begin.is_some_and(reversed)
    }

    /// The position of a time relative to the window. The time is in seconds on the file's clock.
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

    /// The civil time of second 0. It is known only if the file has civil times, or if its times are large enough to
    /// be seconds since 1970.
    pub fn origin(&self) -> Option<Local> {
        let known = self.form.is_civil() || SINCE_1970.contains(&self.first);
        known.then(|| Local::from_seconds(self.zero))
    }

    /// The second at which a simulation starts if its first job is submitted at second `first`.
    pub fn start(&self, first: i64) -> i64 {
        const DAY: i64 = 86_400;
        match self.begin {
            // The time from the start of the simulation to the first job must not exceed the maximum duration of a job.
            Some(begin) => begin.max(first - LONGEST),
            None if self.form.is_civil() => 0,
            None => first - first.rem_euclid(DAY),
        }
    }
}
