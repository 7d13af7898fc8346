//! Polls of node states, such as the output of repeated calls of Slurm's `sinfo`.
//!
//! A poll contains the states of nodes at a given time. Two formats are accepted: the recommended format, with a line
//! `EPOCH STATE HOSTLIST` for every state, and the format of HPC-Whisk's monitor. The first line of a log determines
//! its format. [`read`] converts polls to an event log, and [`each_poll`] passes the polls on unchanged.

mod coverage;
mod intervals;
mod log;
mod machine;
mod reader;
mod recommended;
mod source;
mod states;
mod timeline;
mod whisk;

use std::path::{Path, PathBuf};

pub use coverage::Coverage;
pub use intervals::Intervals;
pub use log::{PollLog, PollSummary};
pub use reader::Poll;
pub use states::StateClass;

use crate::occupancy::Window;
use crate::scheduler::{
    Input, Log, LogCounts, NodeSet, SchedulerClock, given_window, read_node_list,
};
use gleaner_domain::error::{Error, Result};
use gleaner_domain::{Observer, Unobserved, Utc};
use machine::IdleNodes;
use reader::{Each, PollReader};
use source::Source;
use timeline::{Rules, Timed, Timeline};

/// A crontab line that polls the states four times a minute. In a crontab, `%` is written as `\%`.
pub const CRON_LINE: &str = "* * * * * for i in 1 2 3 4; do t=$(date +\\%s); \
                             sinfo -h -a -o \"$t \\%T \\%N\"; sleep 14; done >> $HOME/sinfo.log";

/// Options for reading polls.
#[derive(Debug, Clone)]
pub struct Options {
    /// File with the nodes of the machine, or a list such as `n[001-128]`. Default: the nodes that the
    /// polls name.
    pub nodes: Option<PathBuf>,
    /// Start of the event log: local time, or seconds since 1970. Default: the first poll.
    pub from: Option<String>,
    /// End of the event log, in the same format. Default: the last poll.
    pub to: Option<String>,
    /// Time zone in which the event log shows its times. Default: UTC.
    pub timezone: Option<String>,
    /// Maximum gap between two successive polls that mention a node, in seconds. In a longer gap,
    /// the node's state is unknown after one interval. Default: [`Options::GAP`] times the median
    /// interval of the polls.
    pub max_gap: Option<i64>,
    /// Whether unknown nodes are shown as idle.
    pub is_unknown_idle: bool,
    /// Whether powered-down nodes count as idle.
    pub is_powered_down_idle: bool,
    /// Seed for the random times at which nodes change between two polls. If `None`, nodes change at polls.
    pub spread: Option<u64>,
    /// Whether reading fails at the first fault.
    pub strict: bool,
    /// Number of edges that are sorted in memory at a time. Each edge takes 16 bytes.
    pub segment: usize,
}

impl Options {
    /// The default of [`Options::max_gap`], in median intervals.
    pub const GAP: i64 = 5;
}

impl Default for Options {
    fn default() -> Self {
        Options {
            nodes: None,
            from: None,
            to: None,
            timezone: None,
            max_gap: None,
            is_unknown_idle: false,
            is_powered_down_idle: false,
            spread: None,
            strict: false,
            segment: crate::scheduler::Options::SEGMENT,
        }
    }
}

/// Reads polls from files, in any order, or from stdin. Every file is read twice, and the observer
/// receives the progress in each file, in MiB.
///
/// # Errors
/// A file cannot be read, the files do not contain polls at two different times, or no poll shows an idle node. With
/// [`Options::strict`], the first fault is also an error. [`Error::Usage`] if options contradict the polls or each
/// other. [`Error::Stopped`] if the observer stops the reading.
pub fn read(files: &[PathBuf], options: &Options, observer: &dyn Observer) -> Result<PollLog> {
    let sources = files.iter().map(|file| Source::of(file));
    let sources = sources.collect::<Result<_>>()?;
    read_sources(&source::in_order(sources, observer)?, options, observer)
}

/// Reads polls from bytes, for tests.
///
/// # Errors
/// Same as for [`read`] with a file that contains `bytes`.
pub fn read_bytes(name: &Path, bytes: &[u8], options: &Options) -> Result<PollLog> {
    read_sources(&[Source::Bytes(name, bytes)], options, &Unobserved)
}

/// Reads polls twice: first their times and nodes, then the states.
fn read_sources(
    sources: &[Source<'_>],
    options: &Options,
    observer: &dyn Observer,
) -> Result<PollLog> {
    let open = || sources.iter().map(|source| source.open(observer));
    let clock = || SchedulerClock::of_flag(options.timezone.as_deref());
    let nodes = match &options.nodes {
        Some(path) => read_node_list(path, false)?,
        None => NodeSet::default(),
    };
    let mut log = Log::new(clock()?, options.strict);
    let (mut intervals, mut idle_nodes) = (Intervals::default(), IdleNodes::default());
    let reader = read_polls(open(), nodes, &mut log, &mut |poll| {
        intervals.add(poll.time);
        idle_nodes.take(poll, |class| class.is_idle(options.is_powered_down_idle));
        Ok(())
    })?;
    let nodes = reader.into_nodes();
    let (Some((from, to)), Some(interval)) = (intervals.span(), intervals.median()) else {
        let expected = format!("polls at two different times, such as the polls of `{CRON_LINE}`");
        return Err(log.counts.nothing_left(&expected, log.first_file()));
    };
    let machine = idle_nodes.machine(&nodes);
    if machine.is_empty() {
        let expected = "polls in which at least one node is idle";
        return Err(log.counts.nothing_left(expected, log.first_file()));
    }
    let mut log = Log::new(clock()?, options.strict);
    log.clock.count_epochs();
    let window = window(&mut log, options, Window { from, to })?;
    let rules = Rules {
        interval,
        max_gap: max_gap(options, interval)?,
        is_unknown_idle: options.is_unknown_idle,
        is_powered_down_idle: options.is_powered_down_idle,
        spread: options.spread,
        window,
    };
    let is_fixed = nodes.is_fixed();
    let mut timeline = Timeline::new(rules.clone(), machine.clone(), options.segment);
    let reader = read_polls(open(), nodes, &mut log, &mut |poll| timeline.take(poll))?;
    let Timed {
        busy,
        unknown,
        seconds,
    } = timeline.finish(reader.others())?;
    let (nodes, rank) = machine.ranked(&reader.into_nodes());
    if !is_fixed {
        log.notes.push(machine.note(nodes.len()));
    }
    log.notes.extend(log.clock.remark(window));
    Ok(PollLog {
        coverage: log::measured(unknown, nodes.len(), window)?,
        nodes,
        rank,
        busy,
        seconds,
        rules,
        intervals,
        clock: log.clock.in_window(window),
        log_counts: log.counts,
        notes: log.notes,
    })
}

/// The longest gap for which a node is assumed to keep its state. By default, it is [`Options::GAP`] times the median
/// interval of the polls.
fn max_gap(options: &Options, interval: i64) -> Result<i64> {
    match options.max_gap {
        Some(gap) if gap < interval => Err(Error::Usage(format!(
            "--max-gap is {gap} s: expected at least {interval} s, the median interval of the polls"
        ))),
        Some(gap) => Ok(gap),
        None => Ok(interval.saturating_mul(Options::GAP)),
    }
}

/// The window of the event log: the span of the polls, or the part of it that the user chose.
fn window(log: &mut Log, options: &Options, whole: Window) -> Result<Window> {
    let (from, to) = given_window(log, options.from.as_deref(), options.to.as_deref(), whole)?;
    let window = Window {
        from: from.unwrap_or(whole.from).max(whole.from),
        to: to.unwrap_or(whole.to).min(whole.to),
    };
    let clock = log.clock.in_window(whole);
    let at = |second: i64| clock.show(Utc::from_seconds(second));
    let polled = format!("the polls are from {} to {}", at(whole.from), at(whole.to));
    if window.from >= window.to {
        return Err(Error::Usage(format!(
            "the event log would be empty, because {polled}: change --from or --to"
        )));
    }
    if from.is_some_and(|from| from < whole.from) || to.is_some_and(|to| to > whole.to) {
        log.notes
            .push(format!("{polled}; the event log covers only this period"));
    }
    Ok(window)
}

/// Whether a line has the recommended format.
pub fn is_poll_line(line: &str) -> bool {
    recommended::StateLine::parse(line).is_ok_and(|line| StateClass::of(line.state).is_some())
}

/// The result of [`each_poll`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PollNames {
    /// Names of the nodes, by the index that polls use.
    pub names: Vec<String>,
    /// Counts of lines that were read, and of faults.
    pub counts: LogCounts,
}

/// Calls `each` with every poll of the inputs. The inputs must be in chronological order. Invalid lines are counted and
/// left out.
///
/// ```
/// use std::path::Path;
///
/// use gleaner_io::input::Input;
/// use gleaner_logs::polls::{StateClass, each_poll};
///
/// let log = "1795453200 idle m[1-3]\n1795453200 mixed m4\n1795453215 idle m1\n";
/// let mut idle = Vec::new();
/// let input = Input::new(Path::new("sinfo.log"), log.as_bytes());
/// let read = each_poll([input], |poll| {
///     let classes = poll.nodes.iter().map(|(_, class)| *class);
///     idle.push(classes.filter(|class| *class == StateClass::Idle).count());
///     Ok(())
/// })?;
/// assert_eq!(idle, [3, 1]);
/// assert_eq!(read.names, ["m1", "m2", "m3", "m4"]);
/// # Ok::<(), gleaner_domain::Error>(())
/// ```
///
/// # Errors
/// An input cannot be opened or read, or `each` fails.
pub fn each_poll<'a>(
    inputs: impl IntoIterator<Item = Result<Input<'a>>>,
    mut each: impl FnMut(&Poll<'_>) -> Result<()>,
) -> Result<PollNames> {
    let mut log = Log::new(SchedulerClock::default(), false);
    let reader = read_polls(inputs, NodeSet::default(), &mut log, &mut each)?;
    Ok(PollNames {
        names: reader.into_nodes().names(),
        counts: log.counts,
    })
}

/// Passes the polls of all inputs to `each`, and returns the reader.
fn read_polls<'a>(
    inputs: impl IntoIterator<Item = Result<Input<'a>>>,
    nodes: NodeSet,
    log: &mut Log,
    each: &mut Each<'_>,
) -> Result<PollReader> {
    let mut reader = PollReader::new(nodes);
    for input in inputs {
        reader.file(&mut input?, log, each)?;
    }
    reader.finish(log, each)?;
    Ok(reader)
}
