//! The sink for idle nodes: collects which nodes were held, by what and when.

use std::collections::BTreeMap;

use super::collector::{At, Log, Sink};
use super::counts::Reason;
use super::node_set::{MAX_NODES, NodeSet};
use super::record::{Job, Nodes, Record};
use super::sort::Sorter;
use super::span::Span;
use crate::occupancy::{CountedJob, Edge, Hold, NodeRange, OPEN};
use gleaner_domain::error::Result;
use gleaner_domain::words::counted;

/// Number of low bits of a [`CountedJob::serial`] that hold the line number. The higher bits hold
/// the file number.
const LINE_BITS: u32 = 40;

/// Collects holds of nodes.
pub(super) struct IdleNodes {
    pub nodes: NodeSet,
    pub span: Span,
    pub edges: Sorter<Edge>,
    pub counts: Sorter<CountedJob>,
    /// Number of jobs for which the log states only a node count.
    pub counted: u64,
    /// Nodes of runs without an end so far, by job and start. A later record may state the end.
    open: BTreeMap<(String, i64), Vec<NodeRange>>,
}

/// Why and when nodes were held, in seconds since 1970. `to` is `None` if the hold does not end in
/// the log.
#[derive(Debug, Clone, Copy)]
struct Held {
    why: Hold,
    from: i64,
    to: Option<i64>,
}

impl IdleNodes {
    /// A sink for these nodes. It sorts up to `segment` edges at a time in memory.
    pub fn new(nodes: NodeSet, segment: usize) -> Self {
        IdleNodes {
            nodes,
            span: Span::NONE,
            edges: Sorter::new(segment),
            counts: Sorter::new(segment),
            counted: 0,
            open: BTreeMap::new(),
        }
    }

    /// Adds the runs for which no record states an end. Called after the last record.
    ///
    /// # Errors
    /// A temporary file cannot be written.
    pub fn close(&mut self, log: &mut Log) -> Result<()> {
        for ((_, from), ranges) in std::mem::take(&mut self.open) {
            let held = Held {
                why: Hold::Running,
                from,
                to: None,
            };
            self.count(log, held);
            push(&mut self.edges, &ranges, held)?;
        }
        Ok(())
    }

    /// Adds the runs of a job. A run without an end ends when the next one starts.
    fn job(&mut self, log: &mut Log, at: At, job: &Job<'_>) -> Result<()> {
        if job.runs.is_empty() {
            log.leave_out(Reason::NeverStarted);
        }
        for (index, run) in job.runs.iter().enumerate() {
            let number = index + 1;
            if run.start.is_none() {
                let found = format_args!("attempt {number} without a start");
                log.fault(Reason::NoRun, at, found)?;
                continue;
            }
            let next = job.runs.get(number).and_then(|next| next.start);
            if run.end.is_none() && next.is_some() {
                let found = format_args!("attempt {number}, without an end before the next");
                log.fault(Reason::StartsAgain, at, found)?;
            }
            let times = [job.submit, run.start, run.end.or(next)];
            let [_, Some(from), to] = log.seconds(at, times)? else {
                continue;
            };
            if to.is_none() && job.is_over {
                let found = format_args!("{} without an end", job.state);
                log.fault(Reason::NoEnd, at, found)?;
                continue;
            }
            if matches!(run.nodes, Nodes::Unknown | Nodes::Machines([])) {
                let found = format_args!("attempt {number} without machines");
                log.fault(Reason::NoNodes, at, found)?;
                continue;
            }
            let held = Held {
                why: Hold::Running,
                from,
                to,
            };
            let part = job.is_part.then_some(job.id);
            self.hold(log, at, &run.nodes, held, part)?;
        }
        Ok(())
    }

    /// Adds a hold of nodes. `part` is the id of a job that may have more records. If its run has no
    /// end yet, the run is kept until a record states one.
    fn hold(
        &mut self,
        log: &mut Log,
        at: At,
        nodes: &Nodes<'_>,
        held: Held,
        part: Option<&str>,
    ) -> Result<()> {
        if let Nodes::Count(nodes) = nodes {
            return self.hold_count(log, at, *nodes, held);
        }
        let Some(ranges) = find(&mut self.nodes, log, at, nodes)? else {
            return Ok(());
        };
        match (part, held.to) {
            (Some(id), None) => {
                let run = (id.to_owned(), held.from);
                self.open.insert(run, ranges.to_vec());
                return Ok(());
            }
            (Some(id), Some(_)) if !self.open.is_empty() => {
                self.open.remove(&(id.to_owned(), held.from));
            }
            _ => {}
        }
        if is_in_order(log, at, held)? {
            push(&mut self.edges, ranges, held)?;
            self.count(log, held);
        }
        Ok(())
    }

    /// Adds a job with a node count but no node names. Nodes are assigned to it later.
    fn hold_count(&mut self, log: &mut Log, at: At, nodes: u32, held: Held) -> Result<()> {
        if !is_in_order(log, at, held)? {
            return Ok(());
        }
        if nodes as usize > MAX_NODES {
            return log.fault(Reason::Unreadable, at, counted(nodes, "node"));
        }
        let machine = log.node_count.unwrap_or(u32::MAX);
        if nodes > machine {
            let found = format_args!("{}, of {machine}", counted(nodes, "node"));
            log.fault(Reason::TooManyNodes, at, found)?;
        }
        self.count(log, held);
        self.counted += 1;
        if held.to == Some(held.from) {
            return Ok(());
        }
        let (file, line) = at.numbers();
        self.counts.push(CountedJob {
            start: held.from,
            serial: file << LINE_BITS | line,
            end: held.to.unwrap_or(OPEN),
            nodes: nodes.min(machine),
        })
    }

    fn count(&mut self, log: &mut Log, held: Held) {
        if held.why == Hold::Running {
            log.counts.jobs += 1;
            log.counts.running += u64::from(held.to.is_none());
            self.span.job(held.from, held.to);
        } else {
            log.counts.outages += 1;
        }
    }
}

impl Sink for IdleNodes {
    fn take(&mut self, log: &mut Log, at: At, record: &Record<'_>) -> Result<()> {
        match record {
            Record::Job(job) => self.job(log, at, job),
            Record::Hold(why, run) => {
                let [Some(from), to] = log.seconds(at, [run.start, run.end])? else {
                    return Ok(());
                };
                let why = *why;
                self.hold(log, at, &run.nodes, Held { why, from, to }, None)
            }
        }
    }

    fn look_up(
        &mut self,
        log: &mut Log,
        at: At,
        nodes: &Nodes<'_>,
    ) -> Result<Option<Vec<NodeRange>>> {
        let found = find(&mut self.nodes, log, at, nodes)?;
        Ok(found.map(<[_]>::to_vec))
    }

    fn written(&mut self, second: i64) {
        self.span.record(second);
    }
}

/// The ranges of nodes that are held. Returns `None` if none of them is known; the reason is
/// counted. A difference from the stated number of nodes is a fault.
fn find<'n>(
    known: &'n mut NodeSet,
    log: &mut Log,
    at: At,
    nodes: &Nodes<'n>,
) -> Result<Option<&'n [NodeRange]>> {
    let (looked, count) = match nodes {
        Nodes::Found(ranges) => return Ok(Some(ranges)),
        Nodes::Unknown | Nodes::Count(_) => return Ok(None),
        Nodes::Lists(lists, count) => (known.look_up(lists.iter().map(|list| &**list)), *count),
        Nodes::Machines(machines) => {
            let names = machines.iter().map(|machine| machine.name.as_str());
            (known.look_up(names), None)
        }
    };
    let looked = match looked {
        Ok(looked) => looked,
        Err(error) => {
            let found = format_args!("a list of nodes with {error}");
            log.fault(Reason::Unreadable, at, found)?;
            return Ok(None);
        }
    };
    if let Some(example) = &looked.example {
        let nodes = counted(looked.unknown, "node");
        if known.is_fixed() {
            let found = format_args!("{nodes} outside of the list, such as {example}");
            log.note(Reason::OtherNodes, at, found);
        } else {
            let found =
                format_args!("{nodes} beyond the first {MAX_NODES} of the log, such as {example}");
            log.fault(Reason::UnknownNodes, at, found)?;
        }
    }
    if let Some(count) = count.filter(|count| *count != looked.named) {
        let found = format_args!("{}, and a list of {}", counted(count, "node"), looked.named);
        log.fault(Reason::CountDiffers, at, found)?;
    }
    let ranges = known.runs();
    Ok((!ranges.is_empty()).then_some(ranges))
}

/// Whether the end is at or after the start. Counts a fault if it is not.
fn is_in_order(log: &mut Log, at: At, held: Held) -> Result<bool> {
    let Some(to) = held.to.filter(|to| *to < held.from) else {
        return Ok(true);
    };
    let early = held.from.saturating_sub(to);
    let found = format_args!("an end {early} s before the start");
    log.fault(Reason::EndsBeforeStart, at, found)?;
    Ok(false)
}

/// Adds an edge for the start and one for the end of the hold, for each range. A hold of zero
/// length is left out.
fn push(edges: &mut Sorter<Edge>, ranges: &[NodeRange], held: Held) -> Result<()> {
    if held.to.is_some_and(|to| to <= held.from) {
        return Ok(());
    }
    for range in ranges {
        edges.push(Edge::new(held.from, *range, held.why, true))?;
        if let Some(to) = held.to {
            edges.push(Edge::new(to, *range, held.why, false))?;
        }
    }
    Ok(())
}

/// The file number, from 1, and the line number that a [`CountedJob::serial`] holds.
pub(super) fn place_of(serial: u64) -> (u64, u64) {
    (serial >> LINE_BITS, serial & ((1 << LINE_BITS) - 1))
}
