//! Generated event logs, task sets and experiments of GPU clusters, for demos, tests and
//! benches.

pub mod copies;
pub mod events;
pub mod jobs;
pub mod schedule;
pub mod tasks;

use crate::domain::Time;
use crate::error::{Error, Result};

/// The time so many seconds after `start`, at which what `options` ask for ends.
///
/// # Errors
/// [`Error::Usage`]: there is no such time, as they end in the year 2262.
fn end(start: Time, seconds: f64, options: &str) -> Result<Time> {
    let nanos = start.0 as f64 + seconds * Time::from_seconds(1).0 as f64;
    if nanos < i64::MAX as f64 {
        return Ok(start.plus_seconds(seconds));
    }
    Err(Error::Usage(format!(
        "{options}: ends after the year 2262, the last that logs can tell; choose an earlier start \
         or a shorter span"
    )))
}
