//! Standard Workload Format 2.2: comments with a header, and 18 numbers a job.

use super::collector::HoldCollector;
use super::counts::Reason;
use super::node_set::MAX_NODES;
use super::reader::LineReader;
use crate::error::Result;
use crate::ingest::input::{Line, Place};
use crate::ingest::zone::Zone;
use crate::words::counted;

/// Where such logs are found.
pub const WHERE: &str = "a log of https://www.cs.huji.ac.il/labs/parallel/workload/";

/// Numbers of a job, where -1 stands for what is not known.
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

/// Reads the numbers.
#[derive(Default)]
pub(super) struct SwfReader {
    /// As given by the user: processors of a node, nodes of the machine.
    cores: Option<u32>,
    given_nodes: Option<u32>,
    header: SwfHeader,
    settled: bool,
}

/// What the comments at the beginning say.
#[derive(Debug, Clone, Default)]
struct SwfHeader {
    start: Option<i64>,
    zone: Option<Zone>,
    /// What local time is ahead of UTC, in seconds: what earlier versions of the format have
    /// in place of the zone.
    offset: Option<i32>,
    nodes: Option<u32>,
    processors: Option<u32>,
}

impl SwfReader {
    /// A reader that goes by these numbers of processors per node and of nodes, where
    /// they are given, and else by the header.
    pub fn new(cores: Option<u32>, nodes: Option<u32>) -> Self {
        SwfReader {
            cores,
            given_nodes: nodes,
            ..SwfReader::default()
        }
    }

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

    /// Goes by the header once it is read, and says how.
    fn settle(&mut self, collector: &mut HoldCollector) {
        self.settled = true;
        let header = &self.header;
        let cores = self.cores.or_else(|| {
            let (nodes, processors) = (header.nodes?, header.processors?);
            Some(processors.div_ceil(nodes))
        });
        if cores.is_none() {
            collector.notes.push(
                "the header does not say how many processors a node has, and neither does \
                 --cores-per-node: every processor is taken for a node"
                    .to_owned(),
            );
        }
        let cores = cores.unwrap_or(1);
        self.cores = Some(cores);
        let of_processors = || header.processors.map(|p| p.div_ceil(cores));
        let nodes = header.nodes.or_else(of_processors);
        let nodes = nodes.filter(|nodes| *nodes as usize <= MAX_NODES);
        collector.machine = collector.machine.or(self.given_nodes).or(nodes);
        if header.start.is_none() {
            let note = "the header has no UnixStartTime: times are counted from 1970-01-01";
            collector.notes.push(note.to_owned());
            return;
        }
        collector.clock.count_epochs();
        let fixed = || Zone::fixed(header.offset?);
        if let Some(zone) = header.zone.clone().or_else(fixed) {
            collector.clock.say_zone(zone);
        }
    }

    fn job(&self, numbers: &[f64], place: Place<'_>, collector: &mut HoldCollector) -> Result<()> {
        let (wait, run) = (numbers[WAIT], numbers[RUN]);
        if wait < 0.0 || run < 0.0 {
            // A job that was cancelled in the queue has no run time, or no wait.
            collector.log_counts.leave_out(Reason::NeverStarted);
            return Ok(());
        }
        let used = [numbers[ALLOCATED], numbers[REQUESTED]];
        let Some(processors) = used.into_iter().find(|count| *count > 0.0) else {
            return collector.fault(Reason::NoNodes, place, "no number of processors");
        };
        let zero = self.header.start.unwrap_or(0);
        let start = zero + (numbers[SUBMIT] + wait) as i64;
        let end = start + run as i64;
        // A number as large as a float can be stays one that fits.
        let nodes = (processors as u32).div_ceil(self.cores.unwrap_or(1));
        collector.hold_count(place, nodes, start, Some(end))
    }
}

impl LineReader for SwfReader {
    fn line(&mut self, line: &Line<'_>, collector: &mut HoldCollector) -> Result<()> {
        let text = line.text.trim();
        if text.starts_with(';') {
            self.comment(text);
            return Ok(());
        }
        if !self.settled {
            self.settle(collector);
        }
        match numbers(text) {
            Ok(numbers) => self.job(&numbers, line.place, collector),
            Err(found) => collector.fault(Reason::Unreadable, line.place, found),
        }
    }

    fn finish(&mut self, _: &mut HoldCollector) -> Result<()> {
        Ok(())
    }
}

/// Whether a line is a job of this format.
pub(in crate::ingest) fn is_job(line: &str) -> bool {
    numbers(line).is_ok()
}

/// The numbers of a line; the message says what is wrong with it.
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
        let wrong = || format!("{word:?} for the {name}, no number");
        number(word).ok_or_else(wrong)
    });
    numbers.collect()
}

/// A number that a job can have: seconds, processors.
fn number(text: &str) -> Option<f64> {
    const MOST: f64 = 4e9;
    let number: f64 = text.parse().ok()?;
    // Sums of memory and processor time may be larger; they do not matter.
    number.is_finite().then(|| number.clamp(-MOST, MOST))
}
