//! The clock of a table: seconds of its own, or civil times.

use super::bounds::LAST_SECOND;
use crate::domain::Time;
use crate::ingest::rows::{Cell, CellResult, Clock};

/// How a table tells time, the same in all of its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Whole seconds.
    Seconds,
    /// Civil times.
    Civil,
}

impl Form {
    /// The form of a cell, where it is a time.
    pub fn of(cell: &Cell<'_>) -> Option<Self> {
        Some(match cell.clock().ok()? {
            Clock::Seconds(_) => Form::Seconds,
            Clock::Civil(_) => Form::Civil,
        })
    }

    /// The second that a cell of this form tells; of civil times since 1970.
    pub fn second(self, cell: &Cell<'_>) -> CellResult<i64> {
        match (self, cell.clock()?) {
            (Form::Seconds, Clock::Seconds(_)) => cell.integer(0..=LAST_SECOND),
            (Form::Civil, Clock::Civil(time)) => Ok(civil_second(time)),
            (Form::Seconds, Clock::Civil(_)) => {
                Err(cell.fault("whole seconds, as in earlier rows"))
            }
            (Form::Civil, Clock::Seconds(_)) => Err(cell.fault("a civil time, as in earlier rows")),
        }
    }
}

/// The whole second since 1970 that a time lies in.
pub(super) fn civil_second(time: Time) -> i64 {
    time.0.div_euclid(1_000_000_000)
}
