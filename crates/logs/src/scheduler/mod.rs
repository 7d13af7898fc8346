//! Readers of schedulers' logs. They determine which nodes were held by jobs, outages or reservations, and thus which
//! nodes were idle.
//!
//! Logs do not record idle nodes. A node is idle if it is part of the machine, runs no job, and is not down, drained or
//! reserved. Each reader streams over the lines of a log and reports records: jobs, and other holds on nodes.
//! [`crate::occupancy`] turns the holds into events. Only the nodes and the running jobs are kept in memory. Data that
//! must be sorted are written to temporary files in the folder that `TMPDIR` names.
//!
//! The readers of GPU traces in the crate `gleaner-traces` report records of the same types. These records become a
//! table of jobs instead of a log of idle nodes.
//!
//! # Formats
//!
//! - **Slurm**: `sacct`'s table ([`SACCT_COMMAND`]), optionally with `sacctmgr`'s node events ([`EVENTS_COMMAND`]) and
//!   a list of nodes.
//! - **PBS** and **Cobalt**: accounting records.
//! - **DJC**: the job records that ALCF publishes, as CSV.
//! - **SWF**: the Standard Workload Format 2.2.
//! - **Table**: tables of jobs that public machines publish, as delimited text or Parquet.
//! - **Philly**: the job log of Microsoft's GPU cluster, a JSON array. A node is idle while no
//!   attempt of a job holds any of its GPUs.
//!
//! # Times
//!
//! The times of an event log are local times if the zone or the offset is known ([`gleaner_domain::Clock`]). The clock
//! comes from one of three sources: the zone that the user, the description of a public machine or an SWF header names;
//! offsets in the times; or accounting records. In accounting records, timestamps are local times, but the starts and
//! ends of jobs are seconds since 1970. If neither the zone nor the offset is known, local times are used as written,
//! and seconds since 1970 are shown in UTC.
//!
//! # Nodes
//!
//! Without a list of nodes, the machine consists of the nodes that the log names. If the log states only node counts
//! (SWF, and DJC without usable locations), each job gets the free nodes with the lowest indexes.

mod account_line;
mod accounts;
mod bounded;
mod clock;
mod cobalt;
mod collector;
mod counts;
mod djc;
mod duplicates;
mod edges;
mod holds;
pub mod hostlist;
mod idle;
mod machines;
mod names;
mod node_list;
mod node_set;
mod offsets;
mod outages;
mod pbs;
mod pending;
mod philly;
mod reader;
mod record;
mod select;
mod settle;
mod short;
mod slurm;
mod slurm_events;
mod sort;
mod span;
mod swf;
mod table;
mod window;

use std::path::{Path, PathBuf};

pub use cobalt::WHERE as COBALT_LOG;
pub use counts::{Found, LogCounts, Reason};
pub use djc::WHERE as DJC_LOG;
pub use gleaner_io::input::{Input, Unit};
pub use holds::{Holds, IdleEvent, Summary};
pub use machines::{MACHINES, Machine, OTHER_DATA, OtherData};
pub use node_list::COMMANDS as NODES_COMMANDS;
pub use pbs::WHERE as PBS_LOG;
pub use philly::WHERE as PHILLY_LOG;
pub use select::Selection;
pub use slurm::{COMMAND as SACCT_COMMAND, JOBS_COMMAND as SACCT_JOBS_COMMAND, VcOf};
pub use slurm_events::COMMAND as EVENTS_COMMAND;
pub use swf::WHERE as SWF_LOG;
pub use table::{Named, Role, TableOptions, WHERE as TABLE_LOG, parse_columns};

pub use account_line::kind as record_kind;
pub use clock::moment;
pub use clock::{SchedulerClock, epoch, stamp};
pub use collector::{At, Collector, Log, Sink};
pub use djc::whole;
pub(super) use holds::write_size;
pub(super) use idle::note_others;
pub(super) use node_list::read as read_node_list;
pub(super) use node_set::{MAX_NODES, NodeSet, in_natural_order};
pub use philly::{PhillyReader, shown};
pub use reader::{LineReader, LogReader, read_all};
pub use record::{Job, Moment, Nodes, Record, Run};
pub use slurm::SacctReader;
pub use slurm::is_unknown;
pub(super) use sort::{Sorted, Sorter, spill_error};
pub use swf::is_job as is_swf_line;
pub(super) use window::{given as given_window, parse as window_time};

use accounts::AccountReader;
use bounded::Bounded;
use djc::DjcReader;
use edges::{Edges, SharedNodes};
use idle::IdleNodes;
use outages::{Outages, WithOutages};
use slurm_events::EventReader;
use swf::SwfReader;
use table::{ALCF_UTC, TableReader};

use crate::occupancy::Window;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::words::counted;
use gleaner_domain::{Observer, Quality, Unobserved};

/// The format of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Slurm: `sacct`'s table of jobs.
    Slurm,
    /// PBS Professional, OpenPBS or Torque: accounting records.
    Pbs,
    /// Cobalt: accounting records.
    Cobalt,
    /// ALCF's published job records.
    Djc,
    /// Standard Workload Format 2.2.
    Swf,
    /// A table of jobs in delimited text or Parquet.
    Table,
    /// Philly's log of jobs on a GPU cluster.
    Philly,
}

/// Options for reading logs.
#[derive(Debug, Clone)]
pub struct Options {
    /// The format of all logs.
    pub format: Format,
    /// File with the nodes of the machine, or a list such as `n[001-128]` if there is no such file.
    /// Default: the nodes that the logs name.
    pub nodes: Option<PathBuf>,
    /// File with Slurm's node events.
    pub events: Option<PathBuf>,
    /// Start of the event log: local time, or seconds since 1970. Default: the start of the period for which the logs
    /// are complete.
    pub from: Option<String>,
    /// End of the event log, in the format of `from`. Default: the end of the period for which the logs are complete.
    pub to: Option<String>,
    /// Time zone of local times, such as `America/Chicago` or `+01:00`.
    pub timezone: Option<String>,
    /// Delimiter of the cells in the tables that `sacct` and `sacctmgr` print, and in tables of jobs. Default: inferred
    /// from the header.
    pub delimiter: Option<String>,
    /// Number of processors per node, for SWF logs. Default: the number in the header.
    pub cores_per_node: Option<u32>,
    /// Whether lines of SWF logs end with an additional field, such as `frontier:excl:2500x112`, that states the number
    /// of nodes of a job.
    pub are_nodes_last: bool,
    /// Number of nodes of the machine, for logs that state only node counts.
    pub node_count: Option<u32>,
    /// Options for tables of jobs.
    pub table: TableOptions,
    /// File with outages of the whole machine, for ALCF's job records and for tables of jobs.
    pub outages: Option<PathBuf>,
    /// The criteria by which jobs are selected. Only jobs in Slurm's table and in tables of jobs can be selected by
    /// state.
    pub selection: Selection,
    /// Whether only nodes with GPUs are used. The file given as `nodes` must show which nodes have GPUs.
    pub gpu: bool,
    /// Whether reading fails at the first fault.
    pub strict: bool,
    /// Number of edges that are sorted in memory at a time. Each edge takes 16 bytes.
    pub segment: usize,
}

impl Options {
    /// Default of [`Options::segment`]: four million edges, which take 64 MiB.
    pub const SEGMENT: usize = 1 << 22;

    /// The default options for a format.
    pub fn new(format: Format) -> Self {
        Options {
            format,
            nodes: None,
            events: None,
            from: None,
            to: None,
            timezone: None,
            delimiter: None,
            cores_per_node: None,
            are_nodes_last: false,
            node_count: None,
            table: TableOptions::default(),
            outages: None,
            selection: Selection::default(),
            gpu: false,
            strict: false,
            segment: Self::SEGMENT,
        }
    }
}

/// Reads logs. The observer receives the progress in each file, in MiB.
///
/// # Errors
/// A file cannot be read, a header lacks columns, or nothing in the logs can be used. With
/// [`Options::strict`], the first fault is also an error. [`gleaner_domain::Error::Usage`] if
/// options contradict the logs or each other. [`gleaner_domain::Error::Stopped`] if the observer stops the reading.
pub fn read(files: &[PathBuf], options: &Options, observer: &dyn Observer) -> Result<Holds> {
    let open = |file: &Path| Input::open_observed(file, observer);
    let inputs = files.iter().map(|file| open(file));
    read_opened(inputs, options, open, observer)
}

/// Reads logs from streams. The other files that the options name are opened by their paths.
///
/// # Errors
/// Same as for [`read`].
pub fn read_inputs<'a>(
    inputs: impl IntoIterator<Item = Result<Input<'a>>>,
    options: &Options,
) -> Result<Holds> {
    let open = |file: &Path| -> Result<Input<'a>> { Input::open(file) };
    read_opened(inputs, options, open, &Unobserved)
}

/// Reads logs from streams, and opens the other files that the options name with `open_other`.
fn read_opened<'a>(
    inputs: impl IntoIterator<Item = Result<Input<'a>>>,
    options: &Options,
    mut open_other: impl FnMut(&Path) -> Result<Input<'a>>,
    observer: &dyn Observer,
) -> Result<Holds> {
    let (mut log, mut idle) = open(options)?;
    let mut aside = |path: &Path, taker: &mut dyn table::TakeRows| {
        let delimiter = options.delimiter.as_deref();
        table::read_aside(&mut open_other(path)?, delimiter, options.strict, taker)
    };
    let mut outages = Outages::default();
    if let Some(path) = &options.outages {
        log.notes.extend(aside(path, &mut outages)?);
    }
    let mut members = options
        .table
        .members
        .as_ref()
        .map(|path| (path, options.table.members()));
    if let Some((path, members)) = &mut members {
        log.notes.extend(aside(path, members)?);
        members.finish();
    }
    let members = members.map(|(_, members)| members);
    let file = options.outages.as_deref().unwrap_or(Path::new(""));
    let mut sink = WithOutages::new(&mut idle, outages, file, &mut log.clock)?;
    let mut collector = Collector::new(log, &mut sink);
    let inputs = inputs.into_iter();
    let mut reader = reader(options, inputs.size_hint().0 > 1, members);
    read_all(reader.as_mut(), inputs, &mut collector)?;
    if let Some(path) = &options.events {
        let mut reader = EventReader::new(options.delimiter.clone());
        read_all(&mut reader, [open_other(path)?].map(Ok), &mut collector)?;
    }
    let mut log = collector.log;
    sink.finish(&mut log)?;
    finish(log, idle, options, observer)
}

/// Creates an empty log and a sink for its idle nodes, as the options specify.
fn open(options: &Options) -> Result<(Log, IdleNodes)> {
    let mut clock = SchedulerClock::of_flag(options.timezone.as_deref())?;
    let mut notes = Vec::new();
    let machine = options.table.machine;
    if let Some(machine) = machine {
        notes.push(format!("{}: {}", machine.title, machine.gaps));
        let zone = machine.zone.and_then(|zone| zone.parse().ok());
        if let Some(zone) = zone {
            if let Some(given) = &options.timezone {
                notes.push(format!(
                    "--timezone {given} is ignored: local times are in the zone {zone}, as set by --machine {}",
                    machine.name
                ));
            }
            clock.set_zone(zone);
        }
    }
    if options.format == Format::Djc {
        clock.assume_utc(ALCF_UTC);
    }
    let nodes = match &options.nodes {
        Some(path) => node_list::read(path, options.gpu)?,
        None if options.gpu => {
            let found = "--gpu needs --nodes FILE: expected a file with the output of `scontrol show nodes`";
            return Err(Error::Usage(found.to_owned()));
        }
        None => NodeSet::default(),
    };
    if !options.selection.is_all() {
        notes.push(
            "only selected jobs are used, so nodes count as idle while other jobs run on them (--nodes limits the \
             machine, for example to the nodes of a partition)"
                .to_owned(),
        );
    }
    let mut log = Log::new(clock, options.strict);
    log.notes = notes;
    log.selection = options.selection.clone();
    log.node_count = options
        .node_count
        .or(machine.and_then(|machine| machine.nodes));
    if nodes.is_fixed() {
        log.node_count = u32::try_from(nodes.len()).ok();
    }
    let cores_per_node = options.table.cores_per_node();
    Ok((log, IdleNodes::new(nodes, cores_per_node, options.segment)))
}

/// Creates the reader of a format. Set `are_several` if the log has several files, which may overlap. `members`
/// contains the nodes of jobs, if they are in a separate table.
fn reader(
    options: &Options,
    are_several: bool,
    members: Option<table::Members>,
) -> Box<dyn LogReader> {
    let delimiter = options.delimiter.clone();
    match options.format {
        Format::Slurm => Box::new(SacctReader::for_idle_nodes(delimiter, are_several)),
        Format::Pbs => Box::new(AccountReader::new(pbs::hosts)),
        Format::Cobalt => Box::new(AccountReader::new(cobalt::hosts)),
        Format::Djc => Box::new(DjcReader::new()),
        Format::Swf => Box::new(SwfReader::new(options)),
        Format::Table => {
            let options = options.table.clone();
            Box::new(TableReader::new(options, delimiter, members, are_several))
        }
        Format::Philly => Box::new(PhillyReader::for_idle_nodes()),
    }
}

/// Chooses the window and the clock, and sorts the edges.
fn finish(
    mut log: Log,
    sink: IdleNodes,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Holds> {
    let Some(whole) = sink.span.whole() else {
        let expected = format!("at least one job that ran, from {}", origin(options.format));
        return Err(log.counts.nothing_left(&expected, log.first_file()));
    };
    let window = window::window(&mut log, &sink.span, options, whole)?;
    let clock = log.clock.in_window(window);
    let machine = log.node_count;
    let is_fixed = sink.nodes.is_fixed();
    let are_counted = sink.counted > 0;
    let shared = sink.cores_per_node().map(|cores_per_node| SharedNodes {
        cores_per_node,
        window,
    });
    let edges = sink.edges.finish()?;
    let (mut nodes, mut rank) = sink.nodes.ranked();
    if nodes.is_empty() && !are_counted {
        let expected = "at least one job that names its nodes";
        let first = log.first_file();
        return Err(log.counts.nothing_left(expected, first));
    }
    let mut quality = Quality::certain(0);
    let is_bounded = !are_counted && !sink.short.is_empty();
    let edges = if are_counted {
        let dealt = Edges::deal(sink.counts.finish()?, machine, shared)?;
        if !is_fixed {
            (nodes, rank) = numbered(dealt.nodes);
        }
        log.notes.push(dealt_note(dealt.nodes, machine.is_some()));
        if let Some((lower, upper)) = dealt.idle {
            (quality.idle_lower, quality.idle_upper) = (lower, upper);
        }
        dealt.edges
    } else if !is_bounded {
        Edges::Named(edges)
    } else {
        let short = &sink.short;
        let (bounded, found) = Bounded::new(edges, short, &rank, window, &mut log, observer)?;
        quality = found;
        Edges::Bounded(Box::new(bounded))
    };
    quality.are_nodes_generated = are_counted;
    quality.uncovered = uncovered(window, sink.span.covered(), nodes.len());
    let unreadable = log.counts.found.get(&Reason::Unreadable);
    quality.unreadable_lines = unreadable.map_or(0, |found| found.count);
    if !are_counted && !is_fixed {
        log.notes.push(named_note(nodes.len(), options.format));
        log.notes
            .extend(size_note(nodes.len(), options.table.machine));
    }
    log.notes.extend(log.clock.remark(window));
    Ok(Holds {
        nodes,
        rank,
        edges,
        pending: sink.pending.finish(is_bounded)?,
        quality,
        files: log.files,
        window,
        clock,
        log_counts: log.counts,
        notes: log.notes,
    })
}

/// Node-seconds in the part of the window that the log does not cover.
fn uncovered(window: Window, covered: Option<Window>, nodes: usize) -> u64 {
    let Some(covered) = covered else {
        return 0;
    };
    let (from, to) = (window.from.max(covered.from), window.to.min(covered.to));
    let inside = to.saturating_sub(from).max(0);
    let outside = window.to.saturating_sub(window.from).saturating_sub(inside);
    u64::try_from(outside)
        .unwrap_or(0)
        .saturating_mul(nodes as u64)
}

/// Generates names for nodes that the log only counts. Also returns the order of the nodes.
pub(super) fn numbered(count: u32) -> (Vec<String>, Vec<u32>) {
    let width = count.saturating_sub(1).max(1).ilog10() as usize + 1;
    let names = (0..count).map(|node| format!("n{node:0width$}"));
    (names.collect(), (0..count).collect())
}

/// The note on a log that names its nodes, if there is no list of all nodes.
fn named_note(nodes: usize, format: Format) -> String {
    let from = match format {
        Format::Slurm => format!("; list all nodes with --nodes FILE, from {NODES_COMMANDS}"),
        Format::Philly => "; list all nodes with --machines FILE".to_owned(),
        _ => "; list all nodes with --nodes FILE".to_owned(),
    };
    format!(
        "the machine is assumed to consist of the {} that the log names{from}",
        counted(nodes, "node")
    )
}

/// The note on a log that names more or fewer nodes than its machine has.
fn size_note(named: usize, machine: Option<&Machine>) -> Option<String> {
    let machine = machine?;
    let nodes = machine.nodes.filter(|nodes| *nodes as usize != named)?;
    let title = machine.title;
    Some(format!(
        "{title} has {}, but the log names {named}",
        counted(nodes, "node")
    ))
}

/// The note on a log that states only node counts.
fn dealt_note(nodes: u32, known: bool) -> String {
    let nodes = counted(nodes, "node");
    let machine = if known {
        format!("the machine's {nodes}")
    } else {
        format!("{nodes}, the maximum ever used at once (see --node-count)")
    };
    format!(
        "the log does not name the nodes of jobs: each job is assigned the free nodes with the \
         lowest indexes among {machine}"
    )
}

/// The source of logs of a format, as a phrase for messages.
fn origin(format: Format) -> String {
    match format {
        Format::Slurm => format!("`{SACCT_COMMAND}`"),
        Format::Pbs => PBS_LOG.to_owned(),
        Format::Cobalt => COBALT_LOG.to_owned(),
        Format::Djc => DJC_LOG.to_owned(),
        Format::Swf => SWF_LOG.to_owned(),
        Format::Table => TABLE_LOG.to_owned(),
        Format::Philly => PHILLY_LOG.to_owned(),
    }
}

/// Reads a list of nodes from bytes, for fuzz targets and tests of damaged input.
///
/// # Errors
/// Same as for a file that contains `bytes`.
pub fn read_nodes(name: &Path, bytes: &[u8]) -> Result<Vec<String>> {
    let nodes = node_list::read_input(&mut Input::new(name, bytes)?, false)?;
    Ok(nodes.names())
}

/// Reads node events from bytes, without a table of jobs, and returns the counts.
///
/// # Errors
/// Same as for a file that contains `bytes`.
pub fn read_events_only(name: &Path, bytes: &[u8]) -> Result<LogCounts> {
    let (log, mut sink) = open(&Options::new(Format::Slurm))?;
    let mut collector = Collector::new(log, &mut sink);
    let input = Input::new(name, bytes);
    read_all(&mut EventReader::new(None), [input], &mut collector)?;
    Ok(collector.log.counts)
}
