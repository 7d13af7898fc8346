//! Spans of a log that may be due to a fault in its collection rather than to the machine.

use serde::Serialize;

use super::Distribution;
use super::scan::Uniform;
use gleaner_domain::{EventLog, Utc};

/// A suspicious span of a log.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Suspicion {
    /// The reason why the span is suspicious.
    pub kind: SuspicionKind,
    /// Local time at which the span starts.
    pub from: String,
    /// Local time at which the span ends.
    pub to: String,
    /// Length of the span in seconds.
    pub seconds: f64,
    /// Number of rows of the log within the span, including both ends.
    pub rows: usize,
}

/// A reason why a span is suspicious.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SuspicionKind {
    /// No event for more than ten times the 95th percentile of the gaps between events.
    LogGap,
    /// All nodes become idle at once, although ten or more are busy on average.
    AllIdle,
    /// All nodes become busy at once, although ten or more are idle on average.
    AllBusy,
    /// Several rows with the same time.
    RepeatedTime,
}

/// A gap is suspicious if it is longer than this many times the 95th percentile. If events occurred independently at a
/// constant rate, one gap in 10^13 would be that long.
const USUAL_GAPS: f64 = 10.0;
/// Minimum number of gaps for the comparison with the 95th percentile, which is meaningless for fewer gaps.
const FEWEST_GAPS: usize = 20;
/// A span with all nodes in one state is suspicious if this many nodes are in the other state on average. Nodes that
/// change independently would cause such a span with a probability of e^-10. Because large jobs also cause such spans,
/// the span must also begin and end abruptly: at each end, at least half of that average number of nodes must change.
/// This second condition does not apply to a span that begins with the log.
const MISSED_NODES: f64 = 10.0;

/// All suspicious spans, ordered by time.
pub(super) fn suspicions(
    log: &EventLog,
    uniform: &[Uniform],
    idle_nodes_mean: f64,
    gaps: &Distribution,
) -> Vec<Suspicion> {
    let (times, nodes) = (log.times(), log.nodes().len());
    let mut found = log_gaps(times, gaps);
    found.extend(uniform_spans(uniform, nodes as f64, idle_nodes_mean));
    found.extend(repeated_times(times));
    found.sort_by_key(|(kind, from, _)| (*from, *kind as u8));
    let rows =
        |from, to| times.partition_point(|&t| t <= to) - times.partition_point(|&t| t < from);
    found
        .into_iter()
        .map(|(kind, from, to)| Suspicion {
            kind,
            from: log.clock().show(from),
            to: log.clock().show(to),
            seconds: to.seconds_since(from),
            rows: rows(from, to),
        })
        .collect()
}

type Span = (SuspicionKind, Utc, Utc);

fn log_gaps(times: &[Utc], gaps: &Distribution) -> Vec<Span> {
    let usual = gaps
        .percentile(95.0)
        .filter(|&gap| gap > 0.0 && gaps.count >= FEWEST_GAPS);
    let Some(usual) = usual else {
        return Vec::new();
    };
    times
        .windows(2)
        .filter(|t| t[1].seconds_since(t[0]) > USUAL_GAPS * usual)
        .map(|t| (SuspicionKind::LogGap, t[0], t[1]))
        .collect()
}

fn uniform_spans(
    uniform: &[Uniform],
    nodes: f64,
    idle_nodes_mean: f64,
) -> impl Iterator<Item = Span> {
    uniform
        .iter()
        .filter(move |span| {
            let missed = if span.idle {
                nodes - idle_nodes_mean
            } else {
                idle_nodes_mean
            };
            let abrupt = |changed: usize| 2.0 * changed as f64 >= missed;
            let at_once = span
                .began
                .is_none_or(|began| abrupt(began) && abrupt(span.ended));
            missed >= MISSED_NODES && at_once
        })
        .map(|span| {
            let kind = if span.idle {
                SuspicionKind::AllIdle
            } else {
                SuspicionKind::AllBusy
            };
            (kind, span.from, span.to)
        })
}

fn repeated_times(times: &[Utc]) -> impl Iterator<Item = Span> {
    times
        .chunk_by(|a, b| a == b)
        .filter(|rows| rows.len() > 1)
        .map(|rows| (SuspicionKind::RepeatedTime, rows[0], rows[0]))
}
