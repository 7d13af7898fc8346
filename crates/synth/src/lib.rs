//! Generates event logs, task sets, and experiments with GPU clusters, for demos, tests and benchmarks. The same
//! options always produce the same data.
//!
//! ```
//! use gleaner_domain::Unobserved;
//! use gleaner_domain::Utc;
//! use gleaner_synth::events::{EventOptions, FragmentLength, generate};
//!
//! let options = EventOptions {
//!     nodes: 10,
//!     days: 0.5,
//!     start: Utc::from_seconds(0),
//!     idle_share: 0.1,
//!     fragment: FragmentLength::Exponential { mean: 600.0 },
//!     poll: 10,
//!     seed: 1,
//! };
//! assert_eq!(generate(&options, &Unobserved)?.nodes().len(), 10);
//! # Ok::<(), gleaner_domain::Error>(())
//! ```

pub mod copies;
pub mod events;
pub mod jobs;
pub mod schedule;
pub mod search;
pub mod tasks;

use gleaner_domain::Utc;
use gleaner_domain::error::{Error, Result};

/// The time `seconds` after `start`, at which the generated span ends. `options` names the command-line options that
/// set the span, for the message.
///
/// # Errors
/// [`Error::Usage`] if the time is after the year 2262, the last year that times can represent.
fn end(start: Utc, seconds: f64, options: &str) -> Result<Utc> {
    let nanos = start.0 as f64 + seconds * Utc::from_seconds(1).0 as f64;
    if nanos < i64::MAX as f64 {
        return Ok(start.plus_seconds(seconds));
    }
    Err(Error::Usage(format!(
        "{options}: the generated span ends after the year 2262, the last year that logs can represent; \
         choose an earlier start or a shorter span"
    )))
}
