//! Collects the rows of a trace.

use indexmap::IndexSet;

use super::log::{Rows, SpotLog};
use super::row::{Event, Form, Time, parse};
use crate::occupancy::Window;
use crate::scheduler::{At, Log, MAX_NODES, Moment, Reason, in_natural_order, numbered};
use gleaner_domain::error::{Error, Result};
use gleaner_domain::{Change, Utc};
use gleaner_io::input::Line;

/// Maximum number of rows of a trace. Published traces have thousands of rows.
const MAX_ROWS: usize = 1 << 26;

/// Nanoseconds in a millisecond.
const MILLI: i64 = 1_000_000;

/// Reads the lines of a trace.
pub(super) struct SpotReader {
    start: Utc,
    form: Option<Form>,
    /// Names of the nodes, in order of first appearance.
    nodes: IndexSet<String>,
    /// Whether each node is present after the last row.
    are_there: Vec<bool>,
    named: Vec<(Utc, Change)>,
    counted: Vec<(Utc, u32)>,
    last: Option<Utc>,
}

impl SpotReader {
    /// Creates a reader of a trace whose milliseconds are counted from `start`.
    pub fn new(start: Utc) -> Self {
        SpotReader {
            start,
            form: None,
            nodes: IndexSet::new(),
            are_there: Vec::new(),
            named: Vec::new(),
            counted: Vec::new(),
            last: None,
        }
    }

    /// Reads a row. Invalid rows are counted and left out.
    ///
    /// # Errors
    /// There is a fault and the reader is strict.
    pub fn line(&mut self, line: &Line<'_>, log: &mut Log) -> Result<()> {
        let at = log.at(line.place);
        let (form, time, event) = match parse(&line.text) {
            Ok(parsed) => parsed,
            Err(found) => return log.fault(Reason::Unreadable, at, found),
        };
        if form != *self.form.get_or_insert(form) {
            let found = "a row in a different format from the first row";
            return log.fault(Reason::Unreadable, at, found);
        }
        let Some(time) = self.time(time, at, log)? else {
            return Ok(());
        };
        if self.last.is_some_and(|last| time < last) {
            let show = |time: Utc| time.at_offset(0);
            let last = self.last.unwrap_or(time);
            let found = format_args!("{} after {}", show(time), show(last));
            return log.fault(Reason::Earlier, at, found);
        }
        if self.named.len().max(self.counted.len()) >= MAX_ROWS {
            let found = format_args!("a row beyond the first {MAX_ROWS}");
            return log.fault(Reason::Absurd, at, found);
        }
        let is_used = match event {
            Event::Count(count) => {
                self.counted.push((time, count));
                true
            }
            Event::Node { name, is_there } => self.node(name, is_there, time, at, log)?,
        };
        if is_used {
            self.last = Some(time);
        }
        Ok(())
    }

    /// The time of a line. If its local time occurs twice, the occurrence that is not before the
    /// previous line is used.
    fn time(&self, time: Time, at: At, log: &mut Log) -> Result<Option<Utc>> {
        match time {
            Time::Milliseconds(time) => Ok(Some(Utc(self.start.0.saturating_add(time * MILLI)))),
            Time::Written(moment) => {
                let last = self.last.map(|last| Moment::Second(last.second()));
                let [_, second] = log.seconds(at, [last, Some(moment)])?;
                Ok(second.map(Utc::from_seconds))
            }
        }
    }

    /// Adds or removes a node. Returns whether the row can be used.
    fn node(
        &mut self,
        name: &str,
        is_there: bool,
        time: Utc,
        at: At,
        log: &mut Log,
    ) -> Result<bool> {
        let index = self.nodes.get_index_of(name);
        let was_there = index.is_some_and(|node| self.are_there[node]);
        if was_there == is_there {
            let state = if is_there {
                "there already"
            } else {
                "not there"
            };
            let found = format_args!("{name:?}, which is {state}");
            log.fault(Reason::NoChange, at, found)?;
            return Ok(false);
        }
        let node = match index {
            Some(node) => node,
            None if self.nodes.len() < MAX_NODES => {
                self.are_there.push(false);
                self.nodes.insert_full(name.to_owned()).0
            }
            None => {
                let found = format_args!("a node beyond the first {MAX_NODES}");
                log.fault(Reason::UnknownNodes, at, found)?;
                return Ok(false);
            }
        };
        self.are_there[node] = is_there;
        self.named.push((time, Change::new(node as u32, is_there)));
        Ok(true)
    }

    /// Determines the nodes and the clock of the whole trace. `start` is the start that the user gave.
    ///
    /// # Errors
    /// No row can be used, or the user gave a start although the trace has local times.
    pub fn finish(self, mut log: Log, start: Option<Utc>) -> Result<SpotLog> {
        let is_dated = self.form == Some(Form::Dated);
        if is_dated && start.is_some() {
            let message = "--start is for traces in milliseconds, but this trace has local times: omit --start";
            return Err(Error::Usage(message.to_owned()));
        }
        let times: Vec<Utc> = match self.form {
            Some(Form::Named) => self.named.iter().map(|(time, _)| *time).collect(),
            _ => self.counted.iter().map(|(time, _)| *time).collect(),
        };
        let (Some(first), Some(last)) = (times.first(), times.last()) else {
            let expected = "a trace of spot instances: MILLISECONDS,add|remove,NODE or \
                            MILLISECONDS,COUNT or DATE,TIME,COUNT";
            return Err(log.counts.nothing_left(expected, log.first_file()));
        };
        let window = Window {
            from: first.second(),
            to: last.second(),
        };
        if !is_dated && start.is_none() {
            let note = "the trace counts milliseconds from its start, which is shown as 1970-01-01 \
                        00:00:00; set the true start with --start TIME";
            log.notes.push(note.to_owned());
        } else {
            log.notes.extend(log.clock.remark(window));
        }
        let (nodes, rank, rows) = match self.form {
            Some(Form::Named) => {
                let (nodes, rank) = in_natural_order(self.nodes.into_iter().collect());
                (nodes, rank, Rows::Named(self.named))
            }
            _ => {
                let most = self.counted.iter().map(|(_, count)| *count).max();
                let (nodes, rank) = numbered(most.unwrap_or(0).max(1));
                let note = "the trace only counts nodes: the nodes with the lowest indexes are idle, so \
                            the node that joined last leaves first";
                log.notes.push(note.to_owned());
                (nodes, rank, Rows::Counted(self.counted))
            }
        };
        Ok(SpotLog {
            nodes,
            rank,
            rows,
            clock: log.clock.in_window(window),
            log_counts: log.counts,
            notes: log.notes,
        })
    }
}
