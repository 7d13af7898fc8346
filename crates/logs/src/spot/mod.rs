//! Traces of spot instances: cloud machines that the provider can reclaim at any time.
//!
//! Three formats are accepted. The first line of a trace determines its format:
//!
//! ```text
//! 60000,remove,node2          milliseconds since the start, a change, and the node
//! 60000,7                     milliseconds since the start, and the number of nodes from then on
//! 2021-05-21, 00:01:00, 7     a local time, and the number of nodes from then on
//! ```
//!
//! A node is idle while it is present. If a trace contains only counts, the names of the nodes are generated. While the
//! count is N, the nodes with the N lowest indexes are idle. The node that joined last therefore leaves first.

mod log;
mod reader;
mod row;

use std::path::{Path, PathBuf};

pub use log::{SpotLog, SpotSummary};

use crate::occupancy::Window;
use crate::scheduler::{Input, Log, SchedulerClock, window_time};
use crate::zone::Zone;
use gleaner_domain::clock::Occurrence;
use gleaner_domain::error::Result;
use gleaner_domain::{Observer, Stamp, Utc};
use reader::SpotReader;

/// Options for reading traces of spot instances.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The time from which the milliseconds of a trace are counted. Default: 1970-01-01 00:00:00.
    pub start: Option<String>,
    /// Time zone of local times, such as `America/Chicago` or `+01:00`.
    pub timezone: Option<String>,
    /// Whether reading fails at the first fault.
    pub strict: bool,
}

/// Reads a trace. The observer receives the progress in each file, in MiB.
///
/// # Errors
/// A file cannot be read, or the trace contains nothing usable. With [`Options::strict`], the first fault is also an
/// error. [`gleaner_domain::Error::Usage`] if options contradict the trace. [`gleaner_domain::Error::Stopped`] if the
/// observer stops the reading.
pub fn read(files: &[PathBuf], options: &Options, observer: &dyn Observer) -> Result<SpotLog> {
    let inputs = files
        .iter()
        .map(|file| Input::open_observed(file, observer));
    read_inputs(inputs, options)
}

/// Reads a trace from streams.
///
/// # Errors
/// Same as for [`read`].
pub fn read_inputs<'a>(
    inputs: impl IntoIterator<Item = Result<Input<'a>>>,
    options: &Options,
) -> Result<SpotLog> {
    let mut log = Log::new(
        SchedulerClock::of_flag(options.timezone.as_deref())?,
        options.strict,
    );
    let start = options.start.as_deref();
    let start = start.map(|text| start_of(text, &mut log)).transpose()?;
    let mut reader = SpotReader::new(start.unwrap_or(Utc(0)));
    for input in inputs {
        let mut input = input?;
        log.begin(input.path());
        while let Some(line) = input.next_line()? {
            if log.counts.take(&line)? {
                reader.line(&line, &mut log)?;
            }
        }
    }
    reader.finish(log, start)
}

/// Parses the start time that the user gave for a trace. If the text has an offset from UTC, the offset is also the
/// zone of the trace, unless the user names another zone.
fn start_of(text: &str, log: &mut Log) -> Result<Utc> {
    let stamp = window_time("--start", text)?;
    match stamp {
        Stamp::Zoned { offset, .. } => {
            let zone = Zone::fixed(offset);
            zone.into_iter().for_each(|zone| log.clock.say_zone(zone));
        }
        Stamp::Epoch(_) => log.clock.count_epochs(),
        Stamp::Local(_) => {}
    }
    let whole = Window { from: 0, to: 0 };
    let second = log.clock.given(stamp, Occurrence::First, whole)?;
    Ok(Utc::from_seconds(second))
}

/// Reads a trace from bytes, for tests.
///
/// # Errors
/// Same as for a file with these bytes.
pub fn read_bytes(name: &Path, bytes: &[u8], options: &Options) -> Result<SpotLog> {
    read_inputs([Input::new(name, bytes)], options)
}
