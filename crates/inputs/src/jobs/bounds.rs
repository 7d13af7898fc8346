//! Bounds on the numbers in the input tables of a simulation. Within these bounds, no sum or product in the
//! simulator overflows 64 bits.

use crate::rows::Number;
use gleaner_domain::inputs::{LEAST_SPEED, LONGEST_ESTIMATE};

/// Maximum duration of a job, in seconds. The same limit applies to the time between the first and the last submission.
pub(super) const LONGEST: i64 = 1_000_000_000;

/// Latest time on a table's own clock, in seconds (about thirty thousand years).
pub(super) const LAST_SECOND: i64 = 1_000_000_000_000;

/// Maximum number of GPUs that a row may state for a job. The number must also not exceed the number of GPUs in the
/// job's VC.
pub(super) const MAX_GPUS: i64 = 1_000_000_000;

/// Maximum of any other amount, such as MB of memory or samples per second.
const LARGEST: f64 = 1e12;

/// An amount, such as MB of memory or samples per second.
pub(super) const AMOUNT: Number = Number {
    what: "a number",
    range: 0.0..=LARGEST,
};

/// A predicted amount, which may be negative.
pub(super) const PREDICTED_AMOUNT: Number = Number {
    what: "a number",
    range: -LARGEST..=LARGEST,
};

/// An estimated duration in seconds, which may be negative.
pub(super) const ESTIMATE: Number = Number {
    what: "a number of seconds",
    range: -LONGEST_ESTIMATE..=LONGEST_ESTIMATE,
};

/// A workload's speed relative to its speed when it runs alone. The range excludes implausible values.
pub(super) const SPEED: Number = Number {
    what: "a relative speed (1 = alone)",
    range: LEAST_SPEED..=10.0,
};
