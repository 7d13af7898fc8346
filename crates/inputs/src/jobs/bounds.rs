//! The largest numbers that tables of a cluster may hold. With these limits, no sum or product in
//! the simulator overflows 64 bits.

use gleaner_core::domain::inputs::LONGEST_ESTIMATE;
use gleaner_io::rows::{Cell, CellResult};

/// Longest duration of a job in seconds, and longest time between the first and last submission.
pub(super) const LONGEST: i64 = 1_000_000_000;

/// Latest second on a table's own clock, after about thirty thousand years.
pub(super) const LAST_SECOND: i64 = 1_000_000_000_000;

/// Most GPUs that a cell may state for a job. The size of its VC limits them further.
pub(super) const MAX_GPUS: i64 = 1_000_000_000;

/// Largest value of other amounts, such as MB of memory or samples per second.
const LARGEST: f64 = 1e12;

/// Parses a number from 0 to [`LARGEST`].
pub(super) fn amount(cell: &Cell<'_>) -> CellResult<f64> {
    let number = cell
        .float()
        .ok()
        .filter(|number| (0.0..=LARGEST).contains(number));
    number.ok_or_else(|| cell.fault(format!("a number from 0 to {LARGEST:e}")))
}

/// Parses a number from -[`LARGEST`] to [`LARGEST`].
pub(super) fn number(cell: &Cell<'_>) -> CellResult<f64> {
    within(cell, LARGEST, "a number")
}

/// Parses an estimated duration in seconds, which may be negative.
pub(super) fn estimate(cell: &Cell<'_>) -> CellResult<f64> {
    within(cell, LONGEST_ESTIMATE, "seconds")
}

fn within(cell: &Cell<'_>, most: f64, what: &str) -> CellResult<f64> {
    let number = cell.float().ok().filter(|number| number.abs() <= most);
    number.ok_or_else(|| cell.fault(format!("{what} from -{most:e} to {most:e}")))
}
