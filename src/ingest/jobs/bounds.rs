//! The largest numbers that tables of a cluster may hold: sums and products of them that the
//! simulator forms stay far from what 64 bits hold.

use crate::ingest::rows::{Cell, CellResult};
use crate::lucid::inputs::LONGEST_ESTIMATE;

/// Most seconds that a job runs, and that lie between the first and the last submission.
pub(super) const LONGEST: i64 = 1_000_000_000;

/// Latest second of a table's own clock: thirty thousand years.
pub(super) const LAST_SECOND: i64 = 1_000_000_000_000;

/// Most GPUs that a job's cell may state; the VC's size bounds them further.
pub(super) const MAX_GPUS: i64 = 1_000_000_000;

/// Largest amount of anything else, such as MB of memory or samples per second.
const LARGEST: f64 = 1e12;

/// A number from 0 to [`LARGEST`].
pub(super) fn amount(cell: &Cell<'_>) -> CellResult<f64> {
    let number = cell
        .float()
        .ok()
        .filter(|number| (0.0..=LARGEST).contains(number));
    number.ok_or_else(|| cell.fault(format!("a number from 0 to {LARGEST:e}")))
}

/// A number from -[`LARGEST`] to [`LARGEST`].
pub(super) fn number(cell: &Cell<'_>) -> CellResult<f64> {
    within(cell, LARGEST, "a number")
}

/// An estimated duration in seconds.
pub(super) fn estimate(cell: &Cell<'_>) -> CellResult<f64> {
    within(cell, LONGEST_ESTIMATE, "seconds")
}

fn within(cell: &Cell<'_>, most: f64, what: &str) -> CellResult<f64> {
    let number = cell.float().ok().filter(|number| number.abs() <= most);
    number.ok_or_else(|| cell.fault(format!("{what} from -{most:e} to {most:e}")))
}
