//! The pass over a log's changes that collects most of the data.

use std::collections::BTreeMap;

use super::calendar::CalendarScan;
use super::distribution::seconds;
use super::idle_since::IdleSince;
use super::timeline::TimelineScan;
use gleaner_domain::error::{Result, check_stop};
use gleaner_domain::{Change, EventLog, Observer, Utc};

/// The data that the pass collects.
#[derive(Debug)]
pub(super) struct Scan<'l> {
    /// Seconds from the first row to the last.
    pub span_seconds: f64,
    /// Idle node-seconds.
    pub idle_node_seconds: f64,
    /// Maximum number of nodes that were idle at the same time.
    pub idle_nodes_max: u32,
    /// Lengths of the idle fragments in nanoseconds, in ascending order.
    pub lengths: Vec<u64>,
    /// Number of nodes idle at the first row.
    pub cut_at_start: usize,
    /// Number of nodes idle at the last row.
    pub cut_at_end: usize,
    /// Number of state changes of each node.
    pub touched: Vec<u32>,
    /// For each number of nodes, the number of events after the first that took this many nodes
    /// away.
    pub departures: BTreeMap<u32, u32>,
    /// Spans during which all nodes were in the same state.
    pub uniform: Vec<Uniform>,
    pub calendar: CalendarScan<'l>,
    pub timeline: TimelineScan,
}

/// A span during which every node was idle, or every node was busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Uniform {
    pub from: Utc,
    pub to: Utc,
    pub idle: bool,
    /// Number of nodes that changed when the span began; `None` if the span begins with the
    /// log.
    pub began: Option<usize>,
    /// Number of nodes that changed when the span ended.
    pub ended: usize,
}

/// A row's time, and the number of nodes that changed at the row (`None` for the first row).
#[derive(Debug, Clone, Copy)]
struct Row {
    time: Utc,
    changed: Option<usize>,
}

impl Row {
    fn first(time: Utc) -> Self {
        Row {
            time,
            changed: None,
        }
    }
}

impl<'l> Scan<'l> {
    /// Scans a log.
    ///
    /// # Errors
    /// [`gleaner_domain::Error::Stopped`] if the observer requests a stop.
    pub fn of(log: &'l EventLog, observer: &dyn Observer) -> Result<Self> {
        let start = log.times().first().copied().unwrap_or(Utc(0));
        let end = log.times().last().copied().unwrap_or(start);
        let mut scan = Scan::new(log, start, end);
        let mut idle_since = IdleSince::new(log.nodes().len());
        let mut idle = 0u32;
        let mut before = Row::first(start);
        for (row, (time, changes)) in log.rows().enumerate() {
            check_stop(observer)?;
            let now = Row {
                time,
                changed: (row > 0).then_some(changes.len()),
            };
            scan.interval(before, now, idle);
            before = now;
            let left = scan.apply(changes, time, &mut idle_since);
            idle = idle + changes.len() as u32 - 2 * left;
            scan.idle_nodes_max = scan.idle_nodes_max.max(idle);
            if row == 0 {
                scan.cut_at_start = idle as usize;
            } else if left > 0 {
                *scan.departures.entry(left).or_insert(0) += 1;
            }
        }
        scan.close(end, &idle_since);
        Ok(scan)
    }

    fn new(log: &'l EventLog, start: Utc, end: Utc) -> Self {
        Scan {
            span_seconds: seconds(end.0.abs_diff(start.0)),
            idle_node_seconds: 0.0,
            idle_nodes_max: 0,
            lengths: Vec::with_capacity(log.change_count() / 2 + 1),
            cut_at_start: 0,
            cut_at_end: 0,
            touched: vec![0; log.nodes().len()],
            departures: BTreeMap::new(),
            uniform: Vec::new(),
            calendar: CalendarScan::new(log.clock()),
            timeline: TimelineScan::new(start, end),
        }
    }

    /// Records that `idle` nodes were idle between two rows.
    fn interval(&mut self, from: Row, to: Row, idle: u32) {
        if from.time == to.time {
            return;
        }
        self.idle_node_seconds += f64::from(idle) * to.time.seconds_since(from.time);
        self.calendar.add(from.time, to.time, idle);
        self.timeline.add(from.time, to.time, idle);
        if idle == 0 || idle as usize == self.touched.len() {
            self.uniform(from, to, idle > 0);
        }
    }

    /// Records that every node was idle, or every node was busy, between two rows.
    fn uniform(&mut self, from: Row, to: Row, idle: bool) {
        let ended = to.changed.unwrap_or(0);
        match self.uniform.last_mut() {
            Some(last) if last.to == from.time && last.idle == idle => {
                (last.to, last.ended) = (to.time, ended);
            }
            _ => self.uniform.push(Uniform {
                from: from.time,
                to: to.time,
                idle,
                began: from.changed,
                ended,
            }),
        }
    }

    /// Records a row's changes. Returns the number of nodes that became busy.
    fn apply(&mut self, changes: &[Change], time: Utc, idle_since: &mut IdleSince) -> u32 {
        let mut left = 0;
        for change in changes {
            let touched = &mut self.touched[change.node() as usize];
            *touched = touched.saturating_add(1);
            left += u32::from(!change.idle());
            self.lengths.extend(idle_since.change(*change, time));
        }
        left
    }

    /// Adds the fragments that are cut off by the last row, and sorts all fragments by length.
    fn close(&mut self, end: Utc, idle_since: &IdleSince) {
        let ended = self.lengths.len();
        self.lengths.extend(idle_since.cut(end));
        self.cut_at_end = self.lengths.len() - ended;
        self.lengths.sort_unstable();
    }
}
