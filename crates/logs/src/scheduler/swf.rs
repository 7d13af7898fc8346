//! Reads the Standard Workload Format 2.2: a header in comments, and a line of 18 numbers for each
//! job. Some logs have further fields after these numbers. The further fields need not be numbers.

use super::Options;
use super::collector::{At, Collector, Log};
use super::counts::Reason;
use super::node_set::MAX_NODES;
use super::reader::LineReader;
use super::record::{Job, Moment, Nodes, Queued, Record, Run};
use super::select::Selection;
use crate::zone::Zone;
use gleaner_domain::error::Result;
use gleaner_domain::words::counted;
use gleaner_io::input::Line;

/// The source of such logs, as a phrase for messages.
pub const WHERE: &str =
    "the Parallel Workloads Archive (https://www.cs.huji.ac.il/labs/parallel/workload/)";

/// The names of the numbers in a job's line. The number -1 stands for an unknown value.
const FIELDS: [&str; 18] = [
    "job number",
    "submit time",
    "wait time",
    "run time",
    "allocated processors",
    "average CPU time",
    "used memory",
    "requested processors",
    "requested time",
    "requested memory",
    "status",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "preceding job",
    "think time",
];
const SUBMIT: usize = 1;
const WAIT: usize = 2;
const RUN: usize = 3;
const ALLOCATED: usize = 4;
const REQUESTED: usize = 7;
const QUEUE: usize = 14;
const PARTITION: usize = 15;

/// Reads the header and the jobs of a log.
#[derive(Default)]
pub(super) struct SwfReader {
    /// Processors per node, if set by the user (`--cores-per-node`).
    cores: Option<u32>,
    /// Nodes of the machine, if set by the user (`--node-count`).
    given_nodes: Option<u32>,
    /// Whether the last field of a line, such as `frontier:excl:2500x112`, states the number of nodes of the job.
    are_nodes_last: bool,
    header: SwfHeader,
    /// Whether the header was read and applied.
    settled: bool,
}

/// The header, from the comments at the start of the log.
#[derive(Debug, Clone, Default)]
struct SwfHeader {
    start: Option<i64>,
    zone: Option<Zone>,
    /// Number of seconds by which local time is ahead of UTC. Earlier versions of the format state
    /// this offset in place of the zone.
    offset: Option<i32>,
    nodes: Option<u32>,
    processors: Option<u32>,
}

impl SwfReader {
    /// Creates a reader. The number of processors per node and the number of nodes come from the user, or else from the
    /// header.
    pub fn new(options: &Options) -> Self {
        SwfReader {
            cores: options.cores_per_node,
            given_nodes: options.node_count,
            are_nodes_last: options.are_nodes_last,
            ..SwfReader::default()
        }
    }

    /// Reads a line of the header. Other comments are ignored.
    fn comment(&mut self, text: &str) {
        let Some((key, value)) = text.trim_start_matches([';', ' ', '\t']).split_once(':') else {
            return;
        };
        let number = value.split_whitespace().next().unwrap_or_default();
        let count = || number.parse().ok().filter(|count| *count > 0);
        match key.trim() {
            "TimeZoneString" => self.header.zone = value.trim().parse().ok(),
            "TimeZone" => self.header.offset = number.parse().ok(),
            "UnixStartTime" => self.header.start = super::clock::epoch(number),
            "MaxNodes" => self.header.nodes = count(),
            "MaxProcs" => self.header.processors = count(),
            _ => {}
        }
    }

    /// Applies the header once it is complete, and adds notes on assumed values.
    fn settle(&mut self, log: &mut Log) {
        self.settled = true;
        let header = &self.header;
        let cores = self.cores.or_else(|| {
            let (nodes, processors) = (header.nodes?, header.processors?);
            Some(processors.div_ceil(nodes))
        });
        if cores.is_none() && !self.are_nodes_last {
            log.notes.push(
                "the number of processors per node is unknown, so every processor counts as a node; \
                 set it with --cores-per-node"
                    .to_owned(),
            );
        }
        let cores = cores.unwrap_or(1);
        self.cores = Some(cores);
        let of_processors = || header.processors.map(|p| p.div_ceil(cores));
        let nodes = header.nodes.or_else(of_processors);
        let nodes = nodes.filter(|nodes| *nodes as usize <= MAX_NODES);
        log.node_count = log.node_count.or(self.given_nodes).or(nodes);
        if header.start.is_none() {
            let note = "the header has no UnixStartTime: times are counted from 1970-01-01";
            log.notes.push(note.to_owned());
            return;
        }
        log.clock.count_epochs();
        let fixed = || Zone::fixed(header.offset?);
        if let Some(zone) = header.zone.clone().or_else(fixed) {
            log.clock.say_zone(zone);
        }
    }

    /// Reports a job.
    fn job(&self, line: &JobLine<'_>, at: At, collector: &mut Collector<'_>) -> Result<()> {
        let numbers = &line.numbers;
        if !collector
            .log
            .selects(|selection| is_selected(numbers, selection))
        {
            return Ok(());
        }
        let (wait, run) = (numbers[WAIT], numbers[RUN]);
        if wait < 0.0 || run < 0.0 {
            // A job that was cancelled in the queue has no run time or no wait time.
            return collector.take(at, &Record::Job(self.cancelled(line)));
        }
        let nodes = match self.nodes(line) {
            Ok(nodes) => nodes,
            Err(found) => return collector.log.fault(Reason::NoNodes, at, found),
        };
        let zero = self.header.start.unwrap_or(0);
        let start = zero + (numbers[SUBMIT] + wait) as i64;
        let end = start + run as i64;
        let job = Job {
            submit: Some(Moment::Second(zero + numbers[SUBMIT] as i64)),
            runs: &[Run::between(start, Some(end), Nodes::Count(nodes))],
            ..Job::default()
        };
        collector.take(at, &Record::Job(job))
    }

    /// The record of a job that never ran.
    fn cancelled(&self, line: &JobLine<'_>) -> Job<'static> {
        let zero = self.header.start.unwrap_or(0);
        let (submit, wait) = (line.numbers[SUBMIT], line.numbers[WAIT]);
        let second = |seconds: f64| Some(Moment::Second(zero + seconds as i64));
        Job {
            submit: second(submit),
            queued: (wait >= 0.0).then(|| Queued {
                until: second(submit + wait),
                nodes: self.nodes(line).map_or(1, |nodes| nodes as usize),
            }),
            ..Job::default()
        }
    }

    /// The number of nodes of a job. The error describes what is missing from the line.
    fn nodes(&self, line: &JobLine<'_>) -> Result<u32, String> {
        if self.are_nodes_last {
            let nodes = line.last.and_then(nodes_of_shape);
            return nodes.ok_or_else(|| {
                let last = line.last.unwrap_or_default();
                format!("no NODESxPROCESSORS such as 8x64 in the last field {last:?}")
            });
        }
        let used = [line.numbers[ALLOCATED], line.numbers[REQUESTED]];
        let processors = used.into_iter().find(|count| *count > 0.0);
        let processors = processors.ok_or("no number of processors")?;
        // The conversion to `u32` saturates at the largest number that fits.
        Ok((processors as u32).div_ceil(self.cores.unwrap_or(1)))
    }
}

/// The fields of a job's line.
struct JobLine<'l> {
    /// The numbers in the fields of the format.
    numbers: Vec<f64>,
    /// The last of the additional fields after those of the format; `None` if there are no additional fields.
    last: Option<&'l str>,
}

/// Whether a job is used. Its partition number must be selected, or its queue number if the partition is unknown.
fn is_selected(numbers: &[f64], selection: &Selection) -> bool {
    if selection.is_all() {
        return true;
    }
    let known = [PARTITION, QUEUE].map(|field| numbers[field]);
    let number = known.into_iter().find(|number| *number >= 0.0);
    number.is_some_and(|number| selection.takes_partition(&number.to_string()))
}

/// The number of nodes in a field that ends with `NODESxPROCESSORS`, such as `frontier:excl:8x64`.
fn nodes_of_shape(text: &str) -> Option<u32> {
    let is_digit = |c: char| c.is_ascii_digit();
    let (before, processors) = text.rsplit_once('x')?;
    let nodes = &before[before.trim_end_matches(is_digit).len()..];
    let is_shape = !processors.is_empty() && processors.chars().all(is_digit);
    nodes.parse().ok().filter(|nodes| is_shape && *nodes > 0)
}

impl LineReader for SwfReader {
    fn line(&mut self, line: &Line<'_>, collector: &mut Collector<'_>) -> Result<()> {
        let text = line.text.trim();
        if text.starts_with(';') {
            self.comment(text);
            return Ok(());
        }
        if !self.settled {
            self.settle(&mut collector.log);
        }
        let at = collector.log.at(line.place);
        match job_line(text) {
            Ok(line) => self.job(&line, at, collector),
            Err(found) => collector.log.fault(Reason::Unreadable, at, found),
        }
    }
}

/// Whether a line describes a job in this format.
pub fn is_job(line: &str) -> bool {
    job_line(line).is_ok()
}

/// Parses the fields of a line. The error describes the fault.
fn job_line(text: &str) -> Result<JobLine<'_>, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let Some((fields, others)) = words.split_at_checked(FIELDS.len()) else {
        return Err(format!(
            "{}, not the {} of the format ({})",
            counted(words.len(), "field"),
            FIELDS.len(),
            FIELDS.join(", ")
        ));
    };
    let named = fields.iter().zip(FIELDS);
    let numbers = named.map(|(word, name)| {
        let wrong = || format!("{word:?} is not a number ({name})");
        number(word).ok_or_else(wrong)
    });
    Ok(JobLine {
        numbers: numbers.collect::<Result<_, _>>()?,
        last: others.last().copied(),
    })
}

/// Parses a number, and limits it to the maximum number of seconds or processors that a job can have.
fn number(text: &str) -> Option<f64> {
    const MOST: f64 = 4e9;
    let number: f64 = text.parse().ok()?;
    // Other numbers, such as sums of memory and processor time, can be larger, but are not used.
    number.is_finite().then(|| number.clamp(-MOST, MOST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_is_nodes_times_processors() {
        assert_eq!(nodes_of_shape("frontier:excl:2500x112"), Some(2500));
        assert_eq!(nodes_of_shape("8x64"), Some(8));
        for text in [
            "8",
            "x64",
            "8x",
            "8x64 ",
            "0x64",
            "ax1",
            "8x64k",
            "99999999999x1",
        ] {
            assert_eq!(nodes_of_shape(text), None, "{text}");
        }
    }
}
