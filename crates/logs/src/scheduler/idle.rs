//! The sink for idle nodes: records which nodes were held, by what, and when.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::collector::{At, Log, LookedUp, Sink};
use super::counts::Reason;
use super::hostlist;
use super::node_set::{Looked, MAX_NODES, NodeSet, Stated};
use super::pending::Pending;
use super::record::{Job, Nodes, Queued, Record};
use super::short::{Cause, Doubt, Lack, ShortJobs};
use super::sort::Sorter;
use super::span::Span;
use crate::occupancy::bounds::ShortJob;
use crate::occupancy::{CountedJob, Edge, Hold, NodeRange, OPEN};
use gleaner_domain::error::Result;
use gleaner_domain::words::counted;

/// Number of low bits of a [`CountedJob::serial`] that contain the line number. The higher bits contain the file
/// number.
const LINE_BITS: u32 = 40;

/// Collects the holds on nodes.
pub(super) struct IdleNodes {
    pub nodes: NodeSet,
    pub span: Span,
    pub edges: Sorter<Edge>,
    pub counts: Sorter<CountedJob>,
    /// Number of jobs for which the log states only a node count.
    pub counted: u64,
    cores_per_node: Option<u32>,
    /// Whether the log states the number of cores of at least one job whose nodes it does not name.
    are_cores_known: bool,
    /// The jobs that list fewer nodes than they used.
    pub short: ShortJobs,
    /// The jobs that waited for their nodes.
    pub pending: Pending,
    /// Runs for which no record has stated the end yet, by job and start. A later record may state the end.
    open: BTreeMap<(String, i64), Open>,
    /// Jobs that were waiting when their file was written, by id: the submission time and number of nodes of each. A
    /// later file may state that they ran.
    queued: BTreeMap<String, (i64, usize)>,
}

/// A run for which no record has stated the end yet.
struct Open {
    nodes: Vec<NodeRange>,
    lack: Option<Lack>,
    held: Held,
}

/// The nodes of a hold, and the nodes that its list lacks.
struct Found<'n> {
    nodes: &'n [NodeRange],
    lack: Option<Lack>,
}

/// A hold, without its nodes. Times are in seconds since 1970; `to` is `None` if the hold does not end in the log.
#[derive(Debug, Clone, Copy)]
struct Held {
    why: Hold,
    from: i64,
    to: Option<i64>,
    /// The file and line of the record.
    serial: u64,
    /// The submission time and the number of nodes of the job, if it waited in the queue for this run.
    waited: Option<(i64, usize)>,
    /// Number of cores; 0 if the log does not state it.
    cores: u32,
}

impl Found<'_> {
    /// A result without known nodes. `count` is the number of nodes that the job used, if the log states it.
    fn nothing(cause: Cause, count: Option<usize>) -> Self {
        Found {
            nodes: &[],
            lack: Some(Lack {
                cause,
                nodes: count.map(|count| count.min(MAX_NODES) as u32),
                last: None,
                cut: None,
                doubt: Doubt::Short,
            }),
        }
    }
}

impl Held {
    /// The hold of a short job on a node whose name may have been cut in the job's list.
    fn of(job: &ShortJob) -> Self {
        Held {
            why: Hold::Running,
            from: job.start,
            to: Some(job.end).filter(|end| *end != OPEN),
            serial: job.serial,
            waited: None,
            cores: 0,
        }
    }
}

impl IdleNodes {
    /// Creates a sink for `nodes`, each of which has `cores_per_node` cores. It sorts up to `segment` edges at a time
    /// in memory.
    pub fn new(nodes: NodeSet, cores_per_node: Option<u32>, segment: usize) -> Self {
        IdleNodes {
            nodes,
            span: Span::NONE,
            edges: Sorter::new(segment),
            counts: Sorter::new(segment),
            counted: 0,
            cores_per_node,
            are_cores_known: false,
            short: ShortJobs::default(),
            pending: Pending::new(segment),
            open: BTreeMap::new(),
            queued: BTreeMap::new(),
        }
    }

    /// Number of cores per node, if it is known and jobs state their cores.
    pub fn cores_per_node(&self) -> Option<u32> {
        self.cores_per_node.filter(|_| self.are_cores_known)
    }

    /// Adds the runs for which no record states an end, and the jobs for which no record states that they ran. Must be
    /// called after the last record.
    ///
    /// # Errors
    /// A temporary file cannot be written, or too many jobs list fewer nodes than they used.
    pub fn close(&mut self, log: &mut Log) -> Result<()> {
        for Open { nodes, lack, held } in std::mem::take(&mut self.open).into_values() {
            push(&mut self.edges, &nodes, held)?;
            self.book(log, lack, held)?;
        }
        for (submit, nodes) in std::mem::take(&mut self.queued).into_values() {
            self.pending.push(submit, OPEN, nodes)?;
        }
        let (short, completed) = std::mem::take(&mut self.short).complete(&self.nodes);
        self.short = short;
        for (job, node) in completed.used {
            let node = NodeRange {
                first: node,
                count: 1,
            };
            push(&mut self.edges, &[node], Held::of(&job))?;
        }
        for (job, name) in completed.named {
            // Ignore a name that cannot be a node of the machine.
            if self.nodes.look_up([name.as_str()], None).is_ok() {
                push(&mut self.edges, self.nodes.runs(), Held::of(&job))?;
            }
        }
        if let Some(first) = completed.cut.iter().min() {
            let place = shown_place(&log.files, *first);
            let example = || format!("{place}: the last name is cut off");
            let jobs = completed.cut.len() as u64;
            log.counts.note(Reason::ListShort, jobs, example);
        }
        if let Some(length) = self.short.cut_length() {
            log.notes.push(format!(
                "the log's lists of nodes are cut off at {length} characters"
            ));
        }
        Ok(())
    }

    /// Adds the runs of a job. A run without an end ends when the next run starts.
    fn job(&mut self, log: &mut Log, at: At, job: &Job<'_>) -> Result<()> {
        if job.is_part && !self.queued.is_empty() {
            self.queued.remove(job.id);
        }
        if job.runs.is_empty() {
            log.leave_out(Reason::NeverStarted);
            self.never_ran(log, at, job)?;
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
                let found = format_args!("attempt {number} without an end before the next attempt");
                log.fault(Reason::StartsAgain, at, found)?;
            }
            let times = [job.submit, run.start, run.end.or(next)];
            let [submit, Some(from), to] = log.seconds(at, times)? else {
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
            }
            let held = Held {
                why: Hold::Running,
                from,
                to,
                serial: serial(at),
                waited: submit
                    .filter(|_| index == 0)
                    .map(|submit| (submit, stated_nodes(&run.nodes))),
                // The conversion to `u32` saturates at the largest number that fits.
                cores: job.cpus as u32,
            };
            let part = job.is_part.then_some(job.id);
            self.hold(log, at, &run.nodes, held, part)?;
        }
        Ok(())
    }

    /// Adds a job that left the queue without running, or is still waiting.
    fn never_ran(&mut self, log: &mut Log, at: At, job: &Job<'_>) -> Result<()> {
        let Some(Queued { until, nodes }) = job.queued else {
            return Ok(());
        };
        match log.seconds(at, [job.submit, until])? {
            [Some(submit), Some(until)] => self.pending.push(submit, until, nodes),
            [Some(submit), None] if until.is_none() && job.is_part => {
                self.queued.insert(job.id.to_owned(), (submit, nodes));
                Ok(())
            }
            [Some(submit), None] if until.is_none() => self.pending.push(submit, OPEN, nodes),
            _ => Ok(()),
        }
    }

    /// Adds a hold on nodes. `part` is the id of the job, if the job can have more records. In that case, a run without
    /// an end is kept until a record states the end.
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
        let Found { nodes, lack } = find(&mut self.nodes, &mut self.short, log, at, nodes)?;
        // An outage without a list holds no nodes. An outage with an unreadable list leaves nodes unknown, like a job
        // with an unreadable list.
        let is_lack = |lack: &Lack| held.why == Hold::Running || lack.cause == Cause::Unreadable;
        let lack = lack.filter(is_lack);
        if nodes.is_empty() && lack.is_none() {
            return Ok(());
        }
        match (part, held.to) {
            (Some(id), None) => {
                let run = (id.to_owned(), held.from);
                let nodes = nodes.to_vec();
                self.open.insert(run, Open { nodes, lack, held });
                return Ok(());
            }
            (Some(id), Some(_)) if !self.open.is_empty() => {
                self.open.remove(&(id.to_owned(), held.from));
            }
            _ => {}
        }
        if is_in_order(log, at, held)? {
            push(&mut self.edges, nodes, held)?;
            self.book(log, lack, held)?;
        }
        Ok(())
    }

    /// Counts a hold, and adds the nodes that its list lacks.
    fn book(&mut self, log: &mut Log, lack: Option<Lack>, held: Held) -> Result<()> {
        self.count(log, held)?;
        let end = held.to.unwrap_or(OPEN);
        match lack.filter(|_| end > held.from) {
            Some(lack) => {
                // Files are numbered from 1.
                let file = place_of(held.serial).0.saturating_sub(1) as usize;
                let job = (file, held.serial);
                self.short.push(lack, (held.from, end), job, log)
            }
            None => Ok(()),
        }
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
        self.count(log, held)?;
        self.counted += 1;
        self.are_cores_known |= held.cores > 0;
        if held.to == Some(held.from) {
            return Ok(());
        }
        self.counts.push(CountedJob {
            start: held.from,
            serial: held.serial,
            end: held.to.unwrap_or(OPEN),
            nodes: nodes.min(machine),
            cores: held.cores,
        })
    }

    /// Counts a hold, and records how long its job waited.
    fn count(&mut self, log: &mut Log, held: Held) -> Result<()> {
        if held.why == Hold::Running {
            log.counts.jobs += 1;
            log.counts.running += u64::from(held.to.is_none());
            self.span.job(held.from, held.to);
        } else {
            log.counts.outages += 1;
        }
        match held.waited {
            Some((submit, nodes)) => self.pending.push(submit, held.from, nodes),
            None => Ok(()),
        }
    }
}

/// The number of nodes that a record states for a run, or the number of its node lists if it states none. The result is
/// at least 1.
fn stated_nodes(nodes: &Nodes<'_>) -> usize {
    let count = match nodes {
        Nodes::Count(count) => *count as usize,
        Nodes::Named(lists) => lists.len(),
        Nodes::Lists(lists, count) | Nodes::Damaged(lists, count) => count.unwrap_or(lists.len()),
        Nodes::Machines(machines) => machines.len(),
        Nodes::Found(ranges, _) => ranges.iter().map(|run| run.count as usize).sum(),
        Nodes::Unknown => 1,
    };
    count.max(1)
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
                let serial = serial(at);
                let held = Held {
                    why,
                    from,
                    to,
                    serial,
                    waited: None,
                    cores: 0,
                };
                self.hold(log, at, &run.nodes, held, None)
            }
        }
    }

    fn look_up(&mut self, log: &mut Log, at: At, nodes: &Nodes<'_>) -> Result<LookedUp> {
        let Found { nodes, lack } = find(&mut self.nodes, &mut self.short, log, at, nodes)?;
        let nodes = nodes.to_vec();
        Ok(LookedUp { nodes, lack })
    }

    fn written(&mut self, second: i64) {
        self.span.record(second);
    }
}

/// The ranges of nodes that are held, and the nodes that the lists lack. Faults in the lists are counted.
fn find<'n>(
    known: &'n mut NodeSet,
    short: &mut ShortJobs,
    log: &mut Log,
    at: At,
    nodes: &Nodes<'n>,
) -> Result<Found<'n>> {
    match nodes {
        Nodes::Found(nodes, lack) => Ok(Found {
            nodes,
            lack: lack.cloned(),
        }),
        Nodes::Unknown | Nodes::Count(_) | Nodes::Machines([]) => {
            Ok(Found::nothing(Cause::Missing, None))
        }
        Nodes::Machines(machines) => {
            let names: Vec<_> = machines
                .iter()
                .map(|machine| machine.name.as_str())
                .collect();
            named(known, log, at, &names)
        }
        Nodes::Named(lists) => {
            let lists: Vec<_> = lists.iter().map(|list| &**list).collect();
            named(known, log, at, &lists)
        }
        Nodes::Lists(lists, count) => {
            let lists: Vec<_> = lists.iter().map(|list| &**list).collect();
            if lists.iter().all(|list| list.is_empty()) {
                return Ok(Found::nothing(Cause::Missing, *count));
            }
            listed(known, short, log, at, &lists, *count)
        }
        Nodes::Damaged(lists, count) => {
            let mut parts: Vec<_> = lists.iter().map(|list| readable_part(list)).collect();
            if let (Some(part), Some(list)) = (parts.last_mut(), lists.last()) {
                *part = before_last(list);
            }
            Ok(damaged(known, &parts, *count))
        }
    }
}

/// Looks up the nodes in complete lists.
fn named<'n>(known: &'n mut NodeSet, log: &mut Log, at: At, lists: &[&str]) -> Result<Found<'n>> {
    if lists.iter().all(|list| list.is_empty()) {
        return Ok(Found::nothing(Cause::Missing, None));
    }
    if look_up(known, log, at, lists, None)?.is_none() {
        let parts: Vec<_> = lists.iter().map(|list| readable_part(list)).collect();
        return Ok(damaged(known, &parts, None));
    }
    Ok(Found {
        nodes: known.runs(),
        lack: None,
    })
}

/// Looks up lists of nodes, and counts their faults. Returns `None` if a list cannot be read.
fn look_up(
    known: &mut NodeSet,
    log: &mut Log,
    at: At,
    lists: &[&str],
    stated: Option<Stated>,
) -> Result<Option<Looked>> {
    match known.look_up(lists.iter().copied(), stated) {
        Ok(looked) => {
            note_others(known, log, at, &looked)?;
            Ok(Some(looked))
        }
        Err(error) => {
            let found = format_args!("a list of nodes with {error}");
            log.fault(Reason::DamagedList, at, found)?;
            Ok(None)
        }
    }
}

/// Looks up the nodes in lists that may have been cut. `count` is the number of nodes that the job used, if the log
/// states it.
fn listed<'n>(
    known: &'n mut NodeSet,
    short: &mut ShortJobs,
    log: &mut Log,
    at: At,
    lists: &[&str],
    count: Option<usize>,
) -> Result<Found<'n>> {
    let file = at.numbers().0.saturating_sub(1) as usize;
    let length = lists
        .iter()
        .map(|list| list.len() + 1)
        .sum::<usize>()
        .saturating_sub(1);
    let is_suspect = count.is_some() && short.is_suspect(file, length);
    let stated = Some(Stated { count, is_suspect });
    let Some(looked) = look_up(known, log, at, lists, stated)? else {
        let parts: Vec<_> = lists.iter().map(|list| readable_part(list)).collect();
        return Ok(damaged(known, &parts, count));
    };
    let is_cut = looked.cut.is_some();
    // `named` does not count a last name that may have been cut. With that name, the list may name as many nodes as the
    // job used.
    let is_whole = is_cut && count.is_none_or(|count| looked.named + 1 == count);
    let doubt = match (is_whole, looked.is_new, is_suspect) {
        (true, true, _) => Doubt::New(length),
        (true, false, true) => Doubt::Length(length),
        _ => Doubt::Short,
    };
    let is_short = doubt == Doubt::Short && count.is_some_and(|count| looked.named < count);
    short.measure(file, length, is_short);
    if let Some(count) = count.filter(|count| is_short || looked.named > *count) {
        let reason = if is_short {
            Reason::ListShort
        } else {
            Reason::CountDiffers
        };
        let listed = looked.named + usize::from(is_cut);
        let found = format_args!("{}, but a list of {listed}", counted(count, "node"));
        log.fault(reason, at, found)?;
    }
    let missing = count.map(|count| count.saturating_sub(looked.named));
    let is_lacking = missing.map_or(is_cut, |missing| missing > 0);
    let lack = is_lacking.then(|| Lack {
        doubt,
        ..Lack::of(Cause::Shortened, missing, looked)
    });
    Ok(Found {
        nodes: known.runs(),
        lack,
    })
}

/// Counts the nodes that lists name but the machine does not have.
///
/// # Errors
/// There is a fault and the reader is strict.
pub fn note_others(known: &NodeSet, log: &mut Log, at: At, looked: &Looked) -> Result<()> {
    let Some(example) = looked.example.as_ref().filter(|_| looked.unknown > 0) else {
        return Ok(());
    };
    let nodes = counted(looked.unknown, "node");
    if known.is_fixed() {
        let found = format_args!("{nodes} not in the list of nodes, such as {example}");
        log.note(Reason::OtherNodes, at, found);
        return Ok(());
    }
    let found = format_args!("{nodes} beyond the first {MAX_NODES} of the log, such as {example}");
    log.fault(Reason::UnknownNodes, at, found)
}

/// Looks up the nodes in the readable parts of damaged lists. `count` is the number of nodes that the job used, if the
/// log states it.
fn damaged<'n>(known: &'n mut NodeSet, parts: &[String], count: Option<usize>) -> Found<'n> {
    let stated = count.map(|_| Stated {
        count,
        is_suspect: false,
    });
    let parts = parts.iter().map(String::as_str);
    match known.look_up(parts.filter(|part| !part.is_empty()), stated) {
        Ok(looked) => {
            let missing = count.map(|count| count.saturating_sub(looked.named));
            Found {
                nodes: known.runs(),
                lack: Some(Lack::of(Cause::Unreadable, missing, looked)),
            }
        }
        Err(_) => Found::nothing(Cause::Unreadable, count),
    }
}

/// The readable part of a list whose end may be missing or damaged.
fn readable_part(list: &str) -> String {
    if hostlist::count(list).is_ok() {
        list.to_owned()
    } else {
        before_last(list)
    }
}

/// The names before the last comma of a list, without quotes and with an open bracket closed; empty if they cannot be
/// read. For example, `"n[001-003,00` becomes `n[001-003]`.
fn before_last(list: &str) -> String {
    let mut part = list
        .rsplit_once(',')
        .map_or("", |(before, _)| before)
        .replace('"', "");
    if part.matches('[').count() > part.matches(']').count() {
        part.push(']');
    }
    if hostlist::count(&part).is_ok() {
        part
    } else {
        String::new()
    }
}

/// Whether a hold ends at or after its start. Counts a fault if it does not.
fn is_in_order(log: &mut Log, at: At, held: Held) -> Result<bool> {
    let Some(to) = held.to.filter(|to| *to < held.from) else {
        return Ok(true);
    };
    let early = held.from.saturating_sub(to);
    let found = format_args!("an end {early} s before the start");
    log.fault(Reason::EndsBeforeStart, at, found)?;
    Ok(false)
}

/// For each range, adds an edge for the start of the hold and, if the hold ends, one for its end. A hold of zero length
/// is left out.
fn push(edges: &mut Sorter<Edge>, ranges: &[NodeRange], held: Held) -> Result<()> {
    if held.to.is_some_and(|to| to <= held.from) {
        return Ok(());
    }
    for range in ranges {
        edges.push(Edge::new(held.from, *range, held.why, true, held.serial))?;
        if let Some(to) = held.to {
            edges.push(Edge::new(to, *range, held.why, false, held.serial))?;
        }
    }
    Ok(())
}

/// A number that identifies the job of a record. It combines the file number and the line number.
fn serial(at: At) -> u64 {
    let (file, line) = at.numbers();
    file << LINE_BITS | line
}

/// The file and the line that a [`CountedJob::serial`] encodes, for messages.
pub(super) fn shown_place(files: &[PathBuf], serial: u64) -> String {
    let (file, line) = place_of(serial);
    // Files are numbered from 1.
    let file = files.get((file as usize).wrapping_sub(1));
    let file = file.map_or("?".into(), |file| file.display().to_string());
    format!("{file}, line {line}")
}

/// The file number, which starts at 1, and the line number that a [`CountedJob::serial`] encodes.
fn place_of(serial: u64) -> (u64, u64) {
    (serial >> LINE_BITS, serial & ((1 << LINE_BITS) - 1))
}
