//! The collector, to which readers report what they find.

use std::fmt;
use std::path::PathBuf;

use super::clock::SchedulerClock;
use super::counts::{LogCounts, Reason};
use super::node_set::{MAX_NODES, NodeSet};
use super::sort::Sorter;
use super::span::Span;
use gleaner_core::domain::Stamp;
use gleaner_core::error::Result;
use gleaner_core::words::counted;
use gleaner_io::input::Place;
use gleaner_occupancy::{CountedJob, Edge, Hold, NodeRange, OPEN};

/// Bits of a [`CountedJob::serial`] that hold the line. The higher bits hold the number of the
/// file.
const LINE_BITS: u32 = 40;

/// Collects which nodes were held, by what and when, and counts faults.
pub(super) struct HoldCollector {
    pub nodes: NodeSet,
    /// The files read so far.
    pub files: Vec<PathBuf>,
    pub clock: SchedulerClock,
    pub log_counts: LogCounts,
    pub span: Span,
    pub edges: Sorter<Edge>,
    pub counts: Sorter<CountedJob>,
    /// Number of jobs that give only the number of their nodes.
    pub counted: u64,
    /// Number of nodes of the machine, for logs whose jobs only count nodes; `None` if unknown.
    pub machine: Option<u32>,
    /// Remarks for the user.
    pub notes: Vec<String>,
    /// Most nodes of a job that only counts them.
    pub largest: u32,
}

/// The nodes of a hold, as ranges of consecutive indexes.
pub(super) type Runs = Vec<NodeRange>;

impl HoldCollector {
    /// A collector for these nodes. It sorts `segment` edges at a time in memory. `strict` makes
    /// the first fault an error.
    pub fn new(nodes: NodeSet, clock: SchedulerClock, strict: bool, segment: usize) -> Self {
        HoldCollector {
            nodes,
            files: Vec::new(),
            clock,
            log_counts: LogCounts {
                strict,
                ..LogCounts::default()
            },
            span: Span::NONE,
            edges: Sorter::new(segment),
            counts: Sorter::new(segment),
            counted: 0,
            machine: None,
            notes: Vec::new(),
            largest: 0,
        }
    }

    /// The seconds since 1970 of times that follow each other.
    ///
    /// # Errors
    /// As for [`SchedulerClock::in_order`].
    pub fn seconds<const N: usize>(
        &mut self,
        place: Place<'_>,
        stamps: [Option<Stamp>; N],
    ) -> Result<[Option<i64>; N]> {
        self.clock.in_order(stamps, place, &mut self.log_counts)
    }

    /// Counts a fault.
    ///
    /// # Errors
    /// The fault itself, if the reader is strict.
    pub fn fault(
        &mut self,
        reason: Reason,
        place: Place<'_>,
        found: impl fmt::Display,
    ) -> Result<()> {
        self.log_counts.fault(reason, place, found)
    }

    /// Looks up the nodes of these lists. Returns `None` if no node is known; the reason is counted
    /// as a fault. `count` is the number of nodes that the log states, if it does; a difference
    /// from the lists is a fault.
    ///
    /// # Errors
    /// The fault, if the reader is strict.
    pub fn look_up<'l>(
        &mut self,
        place: Place<'_>,
        lists: impl IntoIterator<Item = &'l str>,
        count: Option<usize>,
    ) -> Result<Option<&[NodeRange]>> {
        let looked = match self.nodes.look_up(lists) {
            Ok(looked) => looked,
            Err(error) => {
                self.fault(
                    Reason::Unreadable,
                    place,
                    format_args!("a list of nodes with {error}"),
                )?;
                return Ok(None);
            }
        };
        if let Some(example) = &looked.example {
            if self.nodes.is_fixed() {
                let nodes = counted(looked.unknown, "node");
                self.log_counts.note(Reason::OtherNodes, 1, || {
                    format!("{place}: {nodes} outside of the list, such as {example}")
                });
            } else {
                let found = format!(
                    "{} beyond the first {MAX_NODES} of the log, such as {example}",
                    counted(looked.unknown, "node")
                );
                self.fault(Reason::UnknownNodes, place, found)?;
            }
        }
        if let Some(count) = count.filter(|count| *count != looked.named) {
            self.fault(
                Reason::CountDiffers,
                place,
                format_args!("{}, and a list of {}", counted(count, "node"), looked.named),
            )?;
        }
        let runs = self.nodes.runs();
        Ok((!runs.is_empty()).then_some(runs))
    }

    /// Adds a hold of the nodes that were looked up last, between two seconds since 1970. `to` is
    /// `None` if the hold does not end in the log.
    ///
    /// # Errors
    /// A fault, if the reader is strict, or a temporary file that cannot be written.
    pub fn hold(&mut self, place: Place<'_>, hold: Hold, from: i64, to: Option<i64>) -> Result<()> {
        if !self.check_order(place, from, to)? {
            return Ok(());
        }
        self.count(hold, from, to);
        push(&mut self.edges, self.nodes.runs(), hold, from, to)
    }

    /// As [`HoldCollector::hold`], for nodes that were looked up earlier. The order of the times is
    /// not checked.
    ///
    /// # Errors
    /// As for [`HoldCollector::hold`].
    pub fn hold_runs(
        &mut self,
        runs: &[NodeRange],
        hold: Hold,
        from: i64,
        to: Option<i64>,
    ) -> Result<()> {
        self.count(hold, from, to);
        push(&mut self.edges, runs, hold, from, to)
    }

    /// Adds a job that used this many nodes, without names. They are dealt to it later.
    ///
    /// # Errors
    /// As for [`HoldCollector::hold`].
    pub fn hold_count(
        &mut self,
        place: Place<'_>,
        nodes: u32,
        from: i64,
        to: Option<i64>,
    ) -> Result<()> {
        if !self.check_order(place, from, to)? {
            return Ok(());
        }
        if nodes as usize > MAX_NODES {
            let found = counted(nodes, "node");
            return self.fault(Reason::Unreadable, place, found);
        }
        let machine = self.machine.unwrap_or(u32::MAX);
        if nodes > machine {
            self.fault(
                Reason::TooManyNodes,
                place,
                format_args!("{}, of {machine}", counted(nodes, "node")),
            )?;
        }
        self.count(Hold::Running, from, to);
        self.counted += 1;
        self.largest = self.largest.max(nodes);
        if to == Some(from) {
            return Ok(());
        }
        self.counts.push(CountedJob {
            start: from,
            serial: self.log_counts.files << LINE_BITS | place.line,
            end: to.unwrap_or(OPEN),
            nodes: nodes.min(machine),
        })
    }

    /// Whether the end is not before the start; otherwise a fault is counted.
    fn check_order(&mut self, place: Place<'_>, from: i64, to: Option<i64>) -> Result<bool> {
        let Some(to) = to.filter(|to| *to < from) else {
            return Ok(true);
        };
        let early = from.saturating_sub(to);
        self.fault(
            Reason::EndsBeforeStart,
            place,
            format_args!("an end {early} s before the start"),
        )?;
        Ok(false)
    }

    fn count(&mut self, hold: Hold, from: i64, to: Option<i64>) {
        if hold == Hold::Running {
            self.log_counts.jobs += 1;
            self.log_counts.running += u64::from(to.is_none());
            self.span.job(from, to);
        } else {
            self.log_counts.outages += 1;
        }
    }
}

/// Adds an edge for the start and one for the end of every range. A hold of zero length is left
/// out.
fn push(
    edges: &mut Sorter<Edge>,
    runs: &[NodeRange],
    hold: Hold,
    from: i64,
    to: Option<i64>,
) -> Result<()> {
    if to.is_some_and(|to| to <= from) {
        return Ok(());
    }
    for run in runs {
        edges.push(Edge::new(from, *run, hold, true))?;
        if let Some(to) = to {
            edges.push(Edge::new(to, *run, hold, false))?;
        }
    }
    Ok(())
}

/// The file number, from 1, and the line in a [`CountedJob::serial`].
pub(super) fn place_of(serial: u64) -> (u64, u64) {
    (serial >> LINE_BITS, serial & ((1 << LINE_BITS) - 1))
}
