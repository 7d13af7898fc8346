//! The event log built from a trace, and its summary.

use std::collections::BTreeMap;
use std::fmt;

use crate::scheduler::{LogCounts, write_size};
use gleaner_domain::error::Result;
use gleaner_domain::{Change, Clock, Quality, Utc};

/// Nanoseconds in a second.
const SECOND: i128 = 1_000_000_000;

/// A trace, from which [`SpotLog::sweep`] makes the event log.
pub struct SpotLog {
    pub(super) nodes: Vec<String>,
    /// Position of each node in `nodes`, by the index that `rows` uses.
    pub(super) rank: Vec<u32>,
    pub(super) rows: Rows,
    pub(super) clock: Clock,
    pub(super) log_counts: LogCounts,
    pub(super) notes: Vec<String>,
}

/// The rows of a trace, in chronological order.
pub(super) enum Rows {
    /// Each row names a node, and states whether the node is present after the row's time.
    Named(Vec<(Utc, Change)>),
    /// Each row states the number of nodes that are present after the row's time.
    Counted(Vec<(Utc, u32)>),
}

/// Summary of a converted trace.
#[derive(Debug, Clone, PartialEq)]
pub struct SpotSummary {
    /// Counts of rows that were read, and of faults.
    pub log_counts: LogCounts,
    /// Number of nodes.
    pub nodes: usize,
    /// Local times of the start and end of the event log, as text.
    pub span: (String, String),
    /// Number of events.
    pub events: u64,
    /// Number of changes in all events.
    pub changes: u64,
    /// Idle share of the node-time.
    pub idle_share: f64,
    /// The quality of the event log.
    pub quality: Quality,
    /// Notes for the user.
    pub notes: Vec<String>,
}

impl SpotLog {
    /// Names of the nodes, in the order of the event log.
    pub fn nodes(&self) -> &[String] {
        &self.nodes
    }

    /// The clock of the event log.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Calls `event` for every event, in chronological order. The arguments are the time and the nodes that change, in
    /// ascending order of index. All rows with the same time form one event.
    ///
    /// # Errors
    /// `event` fails.
    pub fn sweep(self, mut event: impl FnMut(Utc, &[Change]) -> Result<()>) -> Result<SpotSummary> {
        let mut totals = Totals::default();
        match &self.rows {
            Rows::Named(rows) => {
                let mut idle = vec![false; self.nodes.len()];
                for group in rows.chunk_by(|a, b| a.0 == b.0) {
                    // A node that joins and leaves at the same time is unchanged.
                    let last: BTreeMap<u32, bool> = group
                        .iter()
                        .map(|(_, change)| (self.rank[change.node() as usize], change.idle()))
                        .collect();
                    let changes = last.into_iter().filter(|(node, is_idle)| {
                        std::mem::replace(&mut idle[*node as usize], *is_idle) != *is_idle
                    });
                    let changes = changes.map(|(node, is_idle)| Change::new(node, is_idle));
                    let changes: Vec<_> = changes.collect();
                    totals.event(group[0].0, &changes, rows, &mut event)?;
                }
            }
            Rows::Counted(rows) => {
                let mut count = 0;
                for group in rows.chunk_by(|a, b| a.0 == b.0) {
                    let (time, next) = group[group.len() - 1];
                    let changed = count.min(next)..count.max(next);
                    let changes: Vec<_> = changed
                        .map(|node| Change::new(node, next > count))
                        .collect();
                    count = next;
                    totals.event(time, &changes, rows, &mut event)?;
                }
            }
        }
        Ok(self.summary(&totals))
    }

    fn summary(self, totals: &Totals) -> SpotSummary {
        let (from, to) = totals.span.unwrap_or((Utc(0), Utc(0)));
        let all = (i128::from(to.0) - i128::from(from.0)) * self.nodes.len() as i128;
        let idle = totals.idle_nanos;
        SpotSummary {
            nodes: self.nodes.len(),
            span: (self.clock.show(from), self.clock.show(to)),
            events: totals.events,
            changes: totals.changes,
            idle_share: if all > 0 {
                idle as f64 / all as f64
            } else {
                0.0
            },
            quality: Quality {
                are_nodes_generated: matches!(self.rows, Rows::Counted(_)),
                ..Quality::certain(u64::try_from(idle / SECOND).unwrap_or(0))
            },
            log_counts: self.log_counts,
            notes: self.notes,
        }
    }
}

/// Totals of the events that have been passed on so far.
#[derive(Default)]
struct Totals {
    span: Option<(Utc, Utc)>,
    events: u64,
    changes: u64,
    /// Number of idle nodes after the last event.
    idle: i128,
    /// Idle node-time in nanoseconds.
    idle_nanos: i128,
}

impl Totals {
    /// Passes an event to `event`. An event without changes is dropped unless it is the first or the last.
    fn event<T>(
        &mut self,
        time: Utc,
        changes: &[Change],
        rows: &[(Utc, T)],
        event: &mut impl FnMut(Utc, &[Change]) -> Result<()>,
    ) -> Result<()> {
        let is_last = rows.last().is_some_and(|(last, _)| *last == time);
        if changes.is_empty() && self.span.is_some() && !is_last {
            return Ok(());
        }
        let (_, last) = self.span.get_or_insert((time, time));
        self.idle_nanos += self.idle * (i128::from(time.0) - i128::from(last.0));
        *last = time;
        let joined = changes.iter().filter(|change| change.idle()).count() as i128;
        self.idle += 2 * joined - changes.len() as i128;
        self.events += 1;
        self.changes += changes.len() as u64;
        event(time, changes)
    }
}

impl fmt::Display for SpotSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.log_counts.write_read(f)?;
        self.log_counts.write_found(f)?;
        writeln!(f)?;
        write_size(f, self.nodes, &self.span, (self.events, self.changes))?;
        write!(f, "idle      {:.2} % of node-time", 100.0 * self.idle_share)
    }
}
