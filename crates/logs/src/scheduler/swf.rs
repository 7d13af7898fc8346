//! Reads the Standard Workload Format 2.2: comments with a header, and a line of 18 numbers for
//! each job.

use super::collector::{At, Collector, Log};
use super::counts::Reason;
use super::node_set::MAX_NODES;
use super::reader::LineReader;
use super::record::{Job, Moment, Nodes, Record, Run};
use crate::zone::Zone;
use gleaner_domain::error::Result;
use gleaner_domain::words::counted;
use gleaner_io::input::Line;

/// Where users find such logs, for messages.
pub const WHERE: &str = "a log of https://www.cs.huji.ac.il/labs/parallel/workload/";

/// The numbers of a job. -1 stands for an unknown value.
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

/// Reads the comments and the jobs.
#[derive(Default)]
pub(super) struct SwfReader {
    /// Processors of a node and nodes of the machine, as the user gave them.
    cores: Option<u32>,
    given_nodes: Option<u32>,
    header: SwfHeader,
    /// Whether the header was read and applied.
    settled: bool,
}

/// The header, from the comments at the start of the log.
#[derive(Debug, Clone, Default)]
struct SwfHeader {
    start: Option<i64>,
    zone: Option<Zone>,
    /// How many seconds local time is ahead of UTC. Earlier versions of the format have it in place
    /// of the zone.
    offset: Option<i32>,
    nodes: Option<u32>,
    processors: Option<u32>,
}

impl SwfReader {
    /// A reader with these numbers of processors per node and of nodes of the machine. If they are
    /// `None`, those in the header are used.
    pub fn new(cores: Option<u32>, nodes: Option<u32>) -> Self {
        SwfReader {
            cores,
            given_nodes: nodes,
            ..SwfReader::default()
        }
    }

    /// Reads a line of the header; other comments are ignored.
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

    /// Applies the header once it is complete, and adds remarks on what is assumed.
    fn settle(&mut self, log: &mut Log) {
        self.settled = true;
        let header = &self.header;
        let cores = self.cores.or_else(|| {
            let (nodes, processors) = (header.nodes?, header.processors?);
            Some(processors.div_ceil(nodes))
        });
        if cores.is_none() {
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
    fn job(&self, numbers: &[f64], at: At, collector: &mut Collector<'_>) -> Result<()> {
        let (wait, run) = (numbers[WAIT], numbers[RUN]);
        if wait < 0.0 || run < 0.0 {
            // A job that was cancelled in the queue has no run time or no wait time.
            collector.log.leave_out(Reason::NeverStarted);
            return Ok(());
        }
        let used = [numbers[ALLOCATED], numbers[REQUESTED]];
        let Some(processors) = used.into_iter().find(|count| *count > 0.0) else {
            let found = "no number of processors";
            return collector.log.fault(Reason::NoNodes, at, found);
        };
        let zero = self.header.start.unwrap_or(0);
        let start = zero + (numbers[SUBMIT] + wait) as i64;
        let end = start + run as i64;
        // The conversion to `u32` saturates at the largest number that fits.
        let nodes = (processors as u32).div_ceil(self.cores.unwrap_or(1));
        let job = Job {
            submit: Some(Moment::Second(zero + numbers[SUBMIT] as i64)),
            runs: &[Run::between(start, Some(end), Nodes::Count(nodes))],
            ..Job::default()
        };
        collector.take(at, &Record::Job(job))
    }
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
        match numbers(text) {
            Ok(numbers) => self.job(&numbers, at, collector),
            Err(found) => collector.log.fault(Reason::Unreadable, at, found),
        }
    }
}

/// Whether a line is a job in this format.
pub fn is_job(line: &str) -> bool {
    numbers(line).is_ok()
}

/// The numbers of a line. The error says what is wrong with it.
fn numbers(text: &str) -> Result<Vec<f64>, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.len() != FIELDS.len() {
        return Err(format!(
            "{}, not the {} of the format ({})",
            counted(words.len(), "field"),
            FIELDS.len(),
            FIELDS.join(", ")
        ));
    }
    let named = words.iter().zip(FIELDS);
    let numbers = named.map(|(word, name)| {
        let wrong = || format!("{word:?} for the {name} is not a number");
        number(word).ok_or_else(wrong)
    });
    numbers.collect()
}

/// A number, limited to what a job can have in seconds or processors.
fn number(text: &str) -> Option<f64> {
    const MOST: f64 = 4e9;
    let number: f64 = text.parse().ok()?;
    // Other numbers, such as sums of memory and processor time, may be larger, but are not used.
    number.is_finite().then(|| number.clamp(-MOST, MOST))
}
