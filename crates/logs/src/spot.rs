//! Traces of spot instances, which a cloud's provider gives and takes back.
//!
//! Three forms are read; the first line shows which:
//!
//! ```text
//! 60000,remove,node2          milliseconds since the start, a change, and the node
//! 60000,7                     milliseconds since the start, and the number of nodes from then on
//! 2021-05-21, 00:01:00, 7     a local time, and the number of nodes from then on
//! ```
//!
//! A node is idle while it is there. Counts are assigned to nodes with generated names: of N nodes
//! those with the lowest N indexes are idle, so that the node that came last leaves first.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use indexmap::IndexSet;

use crate::occupancy::Window;
use crate::scheduler::{
    At, Input, Log, LogCounts, MAX_NODES, Moment, Reason, SchedulerClock, moment, numbered,
    window_time,
};
use crate::zone::Zone;
use gleaner_domain::clock::Occurrence;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::names::natural_order;
use gleaner_domain::words::counted;
use gleaner_domain::{Change, Clock, Observer, Quality, Stamp, Utc};
use gleaner_io::input::Line;

/// Maximum number of rows of a trace. Published traces have thousands.
const MAX_ROWS: usize = 1 << 26;

/// Maximum length of a node's name, in bytes.
const MAX_NAME: usize = 255;

/// Nanoseconds of a millisecond and of a second.
const MILLI: i64 = 1_000_000;
const SECOND: i64 = 1000 * MILLI;

/// Options of reading traces of spot instances.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The time at which a trace in milliseconds begins. Default: 1970-01-01 00:00:00.
    pub start: Option<String>,
    /// Time zone of local times, such as `America/Chicago` or `+01:00`.
    pub timezone: Option<String>,
    /// Whether the first fault is an error.
    pub strict: bool,
}

/// The form of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Milliseconds, and a node that comes or leaves.
    Named,
    /// Milliseconds, and a number of nodes.
    Counted,
    /// Local time, and a number of nodes.
    Dated,
}

/// What a line says happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event<'l> {
    /// A node comes or leaves.
    Node { name: &'l str, is_there: bool },
    /// There are so many nodes from now on.
    Count(u32),
}

/// The time of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Time {
    Milliseconds(i64),
    Written(Moment),
}

/// A trace, ready to be turned into events.
pub struct SpotLog {
    nodes: Vec<String>,
    /// Place of each node in `nodes`, by its index in `rows`.
    rank: Vec<u32>,
    rows: Rows,
    clock: Clock,
    log_counts: LogCounts,
    notes: Vec<String>,
}

/// The rows of a trace, in order of time.
enum Rows {
    /// A node, and whether it is there from then on.
    Named(Vec<(Utc, Change)>),
    /// The number of nodes from then on.
    Counted(Vec<(Utc, u32)>),
}

/// Summary of a trace that was converted.
#[derive(Debug, Clone, PartialEq)]
pub struct SpotSummary {
    /// What was read and odd.
    pub log_counts: LogCounts,
    /// Number of nodes.
    pub nodes: usize,
    /// Local times of the start and end of the event log, as text.
    pub span: (String, String),
    /// Number of events.
    pub events: u64,
    /// Number of changes over all events.
    pub changes: u64,
    /// Share of node-time in which nodes are idle.
    pub idle_share: f64,
    /// The quality of the event log.
    pub quality: Quality,
    /// Remarks for the user.
    pub notes: Vec<String>,
}

/// Reads a trace. The observer receives progress in MiB of each file.
///
/// # Errors
/// A file cannot be read, or nothing in it can be used. With [`Options::strict`], the first fault is
/// an error, too. [`Error::Usage`] if options contradict the trace. [`Error::Stopped`] if the reading
/// is stopped.
pub fn read(files: &[PathBuf], options: &Options, observer: &dyn Observer) -> Result<SpotLog> {
    let inputs = files
        .iter()
        .map(|file| Input::open_observed(file, observer));
    read_inputs(inputs, options)
}

/// Reads a trace from streams.
///
/// # Errors
/// As for [`read`].
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

/// The start of a trace, as the user gave it. An offset from UTC is also the zone of the trace, unless
/// the user names another.
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

/// Reads the lines of a trace.
struct SpotReader {
    start: Utc,
    form: Option<Form>,
    /// Names of the nodes, in the order in which they came first.
    nodes: IndexSet<String>,
    /// Whether each node is there.
    are_there: Vec<bool>,
    named: Vec<(Utc, Change)>,
    counted: Vec<(Utc, u32)>,
    last: Option<Utc>,
}

impl SpotReader {
    fn new(start: Utc) -> Self {
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

    fn line(&mut self, line: &Line<'_>, log: &mut Log) -> Result<()> {
        let at = log.at(line.place);
        let (form, time, event) = match parse(&line.text) {
            Ok(parsed) => parsed,
            Err(found) => return log.fault(Reason::Unreadable, at, found),
        };
        if form != *self.form.get_or_insert(form) {
            let found = "a row of another form than the first one";
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

    /// The time of a line, which is not before that of the last one where a local time occurs twice.
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

    /// Finds the nodes and the clock of the whole trace.
    fn finish(self, mut log: Log, start: Option<Utc>) -> Result<SpotLog> {
        let is_dated = self.form == Some(Form::Dated);
        if is_dated && start.is_some() {
            let message =
                "--start is for traces in milliseconds, and this one has local times: leave it out";
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
                        00:00:00; --start TIME sets it";
            log.notes.push(note.to_owned());
        } else {
            log.notes.extend(log.clock.remark(window));
        }
        let (nodes, rank, rows) = match self.form {
            Some(Form::Named) => {
                let (nodes, rank) = ranked(self.nodes);
                (nodes, rank, Rows::Named(self.named))
            }
            _ => {
                let most = self.counted.iter().map(|(_, count)| *count).max();
                let (nodes, rank) = numbered(most.unwrap_or(0).max(1));
                let note = "the trace only counts nodes: those with the lowest indexes are idle, so \
                            that the node that came last leaves first";
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

/// The names in natural order, and the place of each in it.
fn ranked(names: IndexSet<String>) -> (Vec<String>, Vec<u32>) {
    let mut named: Vec<(u32, String)> = (0..).zip(names).collect();
    named.sort_by(|a, b| natural_order(&a.1, &b.1));
    let mut rank = vec![0; named.len()];
    for (place, (index, _)) in (0..).zip(&named) {
        rank[*index as usize] = place;
    }
    (named.into_iter().map(|(_, name)| name).collect(), rank)
}

/// Parses a line. The error says what is wrong with it.
fn parse(text: &str) -> Result<(Form, Time, Event<'_>), String> {
    let mut cells = text.split(',').map(str::trim);
    let all = [cells.next(), cells.next(), cells.next(), cells.next()];
    match all {
        [Some(time), Some("add"), Some(name), None] => node_event(time, name, true),
        [Some(time), Some("remove"), Some(name), None] => node_event(time, name, false),
        [Some(time), Some(number), None, None] => {
            Ok((Form::Counted, milliseconds(time)?, count(number)?))
        }
        [Some(date), Some(time), Some(number), None] => {
            let written = format!("{date} {time}");
            let found = moment(&written).ok_or_else(|| format!("{written:?} for a time"))?;
            Ok((Form::Dated, Time::Written(found), count(number)?))
        }
        _ => Err(format!(
            "{} for a row",
            counted(text.split(',').count(), "cell")
        )),
    }
}

fn node_event<'l>(
    time: &str,
    name: &'l str,
    is_there: bool,
) -> Result<(Form, Time, Event<'l>), String> {
    if !(1..=MAX_NAME).contains(&name.len()) {
        return Err(format!("{name:?} for a node, not 1 to {MAX_NAME} bytes"));
    }
    let event = Event::Node { name, is_there };
    Ok((Form::Named, milliseconds(time)?, event))
}

fn milliseconds(text: &str) -> Result<Time, String> {
    /// In the year 2262, the last whose nanoseconds since 1970 fit in 64 bits.
    const LAST: i64 = 9_200_000_000_000;
    let time = text.parse().ok().filter(|time| (0..=LAST).contains(time));
    let time = time.ok_or_else(|| format!("{text:?} for milliseconds since the start"))?;
    Ok(Time::Milliseconds(time))
}

fn count(text: &str) -> Result<Event<'static>, String> {
    let count = text
        .parse()
        .ok()
        .filter(|count| *count as usize <= MAX_NODES);
    let count =
        count.ok_or_else(|| format!("{text:?} for a number of at most {MAX_NODES} nodes"))?;
    Ok(Event::Count(count))
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

    /// Calls `event` with every event in order of time. The arguments are the time and the nodes that
    /// change, by ascending index. All rows of a time are one event.
    ///
    /// # Errors
    /// `event` fails.
    pub fn sweep(self, mut event: impl FnMut(Utc, &[Change]) -> Result<()>) -> Result<SpotSummary> {
        let mut totals = Totals::default();
        match &self.rows {
            Rows::Named(rows) => {
                let mut idle = vec![false; self.nodes.len()];
                for group in rows.chunk_by(|a, b| a.0 == b.0) {
                    // A node that comes and leaves at one time does not change.
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
                ..Quality::certain(u64::try_from(idle / i128::from(SECOND)).unwrap_or(0))
            },
            log_counts: self.log_counts,
            notes: self.notes,
        }
    }
}

/// What a sweep has counted so far.
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
    /// Passes an event on, unless nothing changes and it is neither the first nor the last.
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
        writeln!(f, "\nnodes     {}", self.nodes)?;
        writeln!(f, "from      {}\nto        {}", self.span.0, self.span.1)?;
        let changes = counted(self.changes, "change");
        writeln!(f, "events    {}, of {changes}", self.events)?;
        write!(f, "idle      {:.2} % of node-time", 100.0 * self.idle_share)
    }
}

/// Reads a trace from bytes, for tests.
///
/// # Errors
/// As for a file with these bytes.
pub fn read_bytes(name: &Path, bytes: &[u8], options: &Options) -> Result<SpotLog> {
    read_inputs([Input::new(name, bytes)], options)
}
