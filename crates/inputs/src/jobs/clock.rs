//! Parses the times of a table, which are seconds on the table's own clock or civil times.

use super::bounds::LAST_SECOND;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::{Local, Stamp};
use gleaner_io::rows::{Cell, CellResult, CellTime};

/// The format of a table's times, which is the same in all rows of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Whole seconds on the table's own clock.
    Seconds,
    /// Civil times without offsets.
    Civil,
    /// Civil times with offsets from UTC. All times are converted to the first offset, which is stored here in seconds.
    Zoned(i32),
}

impl Form {
    /// The format of the time in a cell, or `None` if the cell is not a time.
    pub fn of(cell: &Cell<'_>) -> Option<Self> {
        Some(match cell.clock().ok()? {
            CellTime::Seconds(_) => Form::Seconds,
            CellTime::Civil(Stamp::Zoned { offset, .. }) => Form::Zoned(offset),
            CellTime::Civil(_) => Form::Civil,
        })
    }

    /// Whether the times are civil times, with or without offsets.
    pub fn is_civil(self) -> bool {
        self != Form::Seconds
    }

    /// The civil time in a cell of this format; `None` if the format is [`Form::Seconds`].
    pub fn time(self, cell: &Cell<'_>) -> CellResult<Option<Local>> {
        match (self, cell.clock()?) {
            (Form::Civil, CellTime::Civil(Stamp::Local(time))) => Ok(Some(time)),
            (Form::Zoned(offset), CellTime::Civil(Stamp::Zoned { utc, .. })) => {
                Ok(Some(utc.at_offset(offset)))
            }
            (Form::Seconds, CellTime::Seconds(_)) => Ok(None),
            (Form::Seconds, _) => Err(cell.fault("whole seconds, as in earlier rows")),
            (Form::Civil, CellTime::Civil(_)) => {
                Err(cell.fault("a civil time without an offset from UTC, as in earlier rows"))
            }
            (Form::Civil, _) => Err(cell.fault("a civil time, as in earlier rows")),
            (Form::Zoned(_), _) => {
                Err(cell.fault("a civil time with an offset from UTC, as in earlier rows"))
            }
        }
    }

    /// Converts a user-specified time to the clock of the table.
    ///
    /// # Errors
    /// [`Error::Usage`] if the time has an offset from UTC and the times of the table have no offsets.
    pub fn place(self, stamp: Stamp) -> Result<Local> {
        match (self, stamp) {
            (_, Stamp::Local(time)) => Ok(time),
            (Form::Civil | Form::Seconds, Stamp::Epoch(utc)) => Ok(utc.at_offset(0)),
            (Form::Zoned(offset), Stamp::Epoch(utc) | Stamp::Zoned { utc, .. }) => {
                Ok(utc.at_offset(offset))
            }
            (Form::Civil | Form::Seconds, Stamp::Zoned { .. }) => Err(Error::Usage(format!(
                "{stamp} has an offset from UTC, but the times of the trace have none: remove the offset"
            ))),
        }
    }

    /// The time in a cell of this format, in seconds. Civil times are converted to seconds since 1970.
    pub fn second(self, cell: &Cell<'_>) -> CellResult<i64> {
        match self.time(cell)? {
            Some(time) => Ok(time.second()),
            None => cell.integer(0..=LAST_SECOND),
        }
    }
}
