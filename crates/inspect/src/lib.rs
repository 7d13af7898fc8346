//! Describes an event log: the amount of idle node-time, its distribution over time and over fragments, and the
//! reliability of the log.
//!
//! ```
//! use gleaner_domain::{Change, EventLogBuilder, Unobserved, Utc};
//! use gleaner_inspect::{RescaleCosts, inspect};
//!
//! // One of two nodes is idle for an hour.
//! let mut log = EventLogBuilder::new(vec!["n1".to_owned(), "n2".to_owned()]);
//! log.push_row(Utc::from_seconds(0), [Change::new(0, true)]);
//! log.push_row(Utc::from_seconds(3600), [Change::new(0, false)]);
//! let inspection = inspect(&log.finish()?, RescaleCosts::typical(10), &Unobserved)?;
//! assert_eq!((inspection.idle_share, inspection.idle_node_seconds), (0.5, 3600.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Nearly all data are collected in one pass over the log's changes. This crate does not read files or write to a
//! terminal. Every result can be serialised.

mod calendar;
mod classes;
mod distribution;
mod fragments;
mod gaps;
mod idle_lengths;
mod idle_since;
mod nodes;
mod scan;
mod suggestion;
mod suspicion;
#[cfg(test)]
mod tests;
mod timeline;

pub use calendar::{Calendar, Slot};
pub use classes::ClassIdle;
pub use distribution::{Bin, Distribution, Quantile};
pub use fragments::{Fragments, fragment_bins};
pub use gaps::gaps;
pub use nodes::UnchangedNodes;
pub use suggestion::{OtherWindow, RescaleCosts, Suggestion, Window};
pub use suspicion::{Suspicion, SuspicionKind};
pub use timeline::Timeline;

use serde::Serialize;

use gleaner_domain::error::Result;
use gleaner_domain::{EventLog, Observer, Quality, Utc};

/// The description of a log.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Inspection {
    /// Local time of the first row, with its offset from UTC if the log's clock is known.
    pub from: String,
    /// Local time of the last row.
    pub to: String,
    /// Times of the first and the last row, without conversion to local time.
    #[serde(skip)]
    pub span: (Utc, Utc),
    /// Seconds between the first and the last row.
    pub span_seconds: f64,
    /// Number of nodes.
    pub nodes: usize,
    /// Number of rows.
    pub events: usize,
    /// Number of rows, not counting the first, at which no node changed.
    pub events_without_change: usize,
    /// Number of changes of node states, over all rows.
    pub changes: usize,
    /// Idle node-seconds.
    pub idle_node_seconds: f64,
    /// Mean number of idle nodes over time.
    pub idle_nodes_mean: f64,
    /// The quality of the log: the facts that its source leaves unknown; `None` if the log does not state its quality.
    pub quality: Option<Quality>,
    /// Share of the idle node-time during which jobs waited for nodes; `None` if the log does not contain the queue.
    pub queued_share: Option<f64>,
    /// Share of node-time that is idle.
    pub idle_share: f64,
    /// Maximum number of nodes that were idle at the same time.
    pub idle_nodes_max: u32,
    /// Lengths of the gaps between rows, in seconds from each row to the next. The sum of a bin is the total length of
    /// its gaps.
    pub event_gaps: Distribution,
    /// The idle node-time of each class of nodes; empty if the nodes belong to fewer than two classes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<ClassIdle>,
    /// The idle fragments.
    pub fragments: Fragments,
    /// Idle nodes by hour and weekday.
    pub calendar: Calendar,
    /// Idle nodes over time.
    pub timeline: Timeline,
    /// Nodes that were busy throughout the log.
    pub never_idle: UnchangedNodes,
    /// Nodes that were idle throughout the log.
    pub always_idle: UnchangedNodes,
    /// Spans that may be due to a fault in the collection of the log rather than to the machine, ordered by time.
    pub suspicions: Vec<Suspicion>,
    /// A suggested window for the replay.
    pub suggestion: Suggestion,
}

/// Returns a description of a log's idle fragments, and the fragments' lengths in nanoseconds, in ascending order.
/// Fragments that extend beyond the log's first or last row are included, with their length within the log.
///
/// # Errors
/// [`gleaner_domain::Error::Stopped`] if the observer requests a stop.
pub fn fragments(log: &EventLog, observer: &dyn Observer) -> Result<(Fragments, Vec<u64>)> {
    let scan = scan::Scan::of(log, observer)?;
    let fragments = Fragments::new(&scan.lengths, scan.cut_at_start, scan.cut_at_end);
    Ok((fragments, scan.lengths))
}

/// Suggests a window for replays of `log` with tasks that have these rescale costs.
///
/// # Errors
/// [`gleaner_domain::Error::Stopped`] if the observer requests a stop.
pub fn suggest(log: &EventLog, costs: RescaleCosts, observer: &dyn Observer) -> Result<Suggestion> {
    Ok(suggestion_of(&scan::Scan::of(log, observer)?, costs))
}

fn suggestion_of(scan: &scan::Scan, costs: RescaleCosts) -> Suggestion {
    let idle_lengths = idle_lengths::IdleLengths::new(&scan.lengths);
    suggestion::suggest(&idle_lengths, &scan.departures, scan.span_seconds, costs)
}

/// Inspects `log`, which may be a slice of a log. `costs` are the rescale costs of the tasks to be trained.
///
/// # Errors
/// [`gleaner_domain::Error::Stopped`] if the observer requests a stop.
pub fn inspect(log: &EventLog, costs: RescaleCosts, observer: &dyn Observer) -> Result<Inspection> {
    let scan = scan::Scan::of(log, observer)?;
    let gaps = gaps(log.times());
    let nodes = log.nodes().len();
    let capacity = nodes as f64 * scan.span_seconds;
    let idle_nodes_mean = ratio(scan.idle_node_seconds, scan.span_seconds);
    let suggestion = suggestion_of(&scan, costs);
    let time = |row: Option<&Utc>| row.map(|time| log.clock().show(*time)).unwrap_or_default();
    let (first, last) = (log.times().first(), log.times().last());
    Ok(Inspection {
        from: time(first),
        to: time(last),
        span: (
            first.copied().unwrap_or(Utc(0)),
            last.copied().unwrap_or(Utc(0)),
        ),
        span_seconds: scan.span_seconds,
        nodes,
        events: log.len(),
        events_without_change: (1..log.len())
            .filter(|&row| log.changes(row).is_empty())
            .count(),
        changes: log.change_count(),
        idle_node_seconds: scan.idle_node_seconds,
        idle_nodes_mean,
        quality: log.quality().cloned(),
        queued_share: log.idle_share_while_queued(),
        idle_share: ratio(scan.idle_node_seconds, capacity),
        idle_nodes_max: scan.idle_nodes_max,
        suspicions: suspicion::suspicions(log, &scan.uniform, idle_nodes_mean, &gaps),
        event_gaps: gaps,
        classes: classes::by_class(log, scan.span_seconds, observer)?,
        never_idle: nodes::never_idle(log.nodes(), &scan.touched),
        always_idle: nodes::always_idle(log, &scan.touched),
        fragments: Fragments::new(&scan.lengths, scan.cut_at_start, scan.cut_at_end),
        calendar: scan.calendar.finish(),
        timeline: scan.timeline.finish(),
        suggestion,
    })
}

/// `part / whole`, or 0 if the whole is 0.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
