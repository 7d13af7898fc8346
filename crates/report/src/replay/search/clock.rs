//! The axis of time of searches, which begins with each replay's first event.

use super::Searched;
use crate::figure::Axis;
use gleaner_core::domain::Time;

/// From how many seconds on an axis is in days instead of hours.
const DAYS_FROM: f64 = 10.0 * DAY;
const DAY: f64 = 86_400.0;
const HOUR: f64 = 3_600.0;
/// Parts of a unit that places are rounded to.
const PARTS: f64 = 1e4;

/// The unit of time of all figures of the section, so that they can be compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Clock {
    /// Its name: `hour` or `day`.
    pub unit: &'static str,
    /// Its length in seconds.
    seconds: f64,
}

impl Clock {
    /// The unit that suits the longest of `runs`.
    pub fn of(runs: &[Searched<'_>]) -> Self {
        let lengths = runs.iter().map(|run| run.to.seconds_since(run.from));
        let (unit, seconds) = match lengths.fold(0.0, f64::max) {
            longest if longest < DAYS_FROM => ("hour", HOUR),
            _ => ("day", DAY),
        };
        Clock { unit, seconds }
    }

    /// The horizontal axis.
    pub fn axis(self) -> Axis {
        Axis::linear(format!("{}s since the first event", self.unit))
    }

    /// The place of `time` on the axis of `run`. It is rounded, as the page shows all its decimals when
    /// pointed at.
    pub fn at(self, run: &Searched<'_>, time: Time) -> f64 {
        let place = time.seconds_since(run.from) / self.seconds;
        (place * PARTS).round() / PARTS
    }
}
