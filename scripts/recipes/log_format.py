"""A log format. Each line lists the nodes of a job, and its start and end in seconds since 1970."""

from tree import Tree

TITLE = "**A log format**"

READER = """\
//! Reads lists of intervals: nodes, and the start and the end of a job on them, in seconds since 1970.

use std::borrow::Cow;

use super::collector::Collector;
use super::counts::Reason;
use super::reader::LineReader;
use super::record::{Job, Nodes, Record, Run};
use gleaner_domain::error::Result;
use gleaner_io::input::Line;

/// A description of the log, for messages.
pub const WHERE: &str = "a list of intervals";

/// Reads an interval from each line.
pub(super) struct IntervalReader;

impl LineReader for IntervalReader {
    fn line(&mut self, line: &Line<'_>, collector: &mut Collector<'_>) -> Result<()> {
        let at = collector.log.at(line.place);
        collector.log.clock.count_epochs();
        let words: Vec<&str> = line.text.split_whitespace().collect();
        let [nodes, from, to] = words[..] else {
            let found = "a line that is not `NODES START END`";
            return collector.log.fault(Reason::Unreadable, at, found);
        };
        let times = [from, to].map(super::clock::epoch);
        let [Some(from), Some(to)] = times else {
            let found = "a start or an end that is not in seconds since 1970";
            return collector.log.fault(Reason::Unreadable, at, found);
        };
        let lists = [Cow::Borrowed(nodes)];
        let job = Job {
            runs: &[Run::between(from, Some(to), Nodes::Lists(&lists, None))],
            ..Job::default()
        };
        collector.take(at, &Record::Job(job))
    }
}
"""

# Times in seconds since 1970. The first one is 08:00 on January 1, 2026.
SAMPLE = """\
n1 1767254400 1767258000
n2 1767254400 1767261600
n1 1767261600 1767265200
n[1-2] 1767268800 1767272400
"""

EVENTS = """\

#[test]
fn intervals() {
    let (rows, summary) = events_of(
        "intervals.txt",
        &between(Format::Intervals, "1767254400", "1767268800"),
    );
    let expected = [
        "08:00:00",
        "09:00:00 +n1",
        "10:00:00 -n1 +n2",
        "11:00:00 +n1",
        "12:00:00 -n1 -n2",
    ];
    assert_events(&rows, "2026-01-01", &expected);
    assert_eq!(summary.log_counts.jobs, 4);
}
"""

ENTRY = """\
    IngestFormat::of::<IntervalsSettings>(
        "intervals",
        "Read a list of intervals: lines of nodes, start and end, in seconds since 1970",
        "gleaner ingest intervals log.txt -o log.gev",
        Made::Events,
    ),
"""

SETTINGS = """\
settings! {
    /// Lists of intervals.
    #[derive(Debug, Clone)]
    pub struct IntervalsSettings {
        /// How the lists are converted to an event log.
        pub log: LogSettings;
    }
}

impl Ingest for IntervalsSettings {
    fn ingest(&self, files: &[PathBuf], observer: &dyn Observer) -> Result<()> {
        let options = self.log.input.options(Format::Intervals);
        self.log.write(files, &options, observer)
    }
}

"""

WRITTEN_LINE = """\
    fn interval_line(&self, job: &SynthJob) -> String {
        let list = hostlist::compress(self.hosts(job));
        format!("{list} {} {}\\n", job.start, job.end)
    }

"""

WRITE = """\
            Scheduler::Intervals => {
                let line = self.interval_line(job);
                self.log.write(&line)
            }
"""

READ_DAMAGED = """\
fn read_intervals(path: &Path) -> gleaner_domain::Result<()> {
    ingest(path, Format::Intervals)
}

"""


def follow(tree: Tree) -> None:
    read(tree)
    ask(tree)
    write(tree)
    damage(tree)


def read(tree: Tree) -> None:
    folder = "crates/logs/src/scheduler"
    tree.create(f"{folder}/intervals.rs", READER)
    formats = f"{folder}/mod.rs"
    tree.after(formats, r"^mod idle;$", add="mod intervals;")
    tree.after(formats, r"^pub use holds::", add="pub use intervals::WHERE as INTERVALS_LOG;")
    tree.after(formats, r"^use idle::", add="use intervals::IntervalReader;")
    tree.after(formats, r"^pub enum Format \{", add="    /// Intervals during which nodes were held.\n    Intervals,")
    tree.before(formats, r"^fn reader\(", r"Format::Philly =>", add="        Format::Intervals => Box::new(IntervalReader),")
    tree.after(formats, r"^fn origin\(", r"match format \{", add="        Format::Intervals => INTERVALS_LOG.to_owned(),")
    tree.create("dataset/logs/intervals.txt", SAMPLE)
    tree.after("dataset/README.md", r"^\| `workload\.swf` ", add="| `intervals.txt` | lists of nodes with their times | `ingest intervals` |")
    samples = "crates/logs/tests/logs/samples.rs"
    tree.after(samples, r"^fn slurm_with_its_nodes", r"^\}$", add=EVENTS)


def ask(tree: Tree) -> None:
    formats = "src/ingest/format.rs"
    tree.before("src/ingest/mod.rs", r"^impl InputSettings \{", add=SETTINGS)
    tree.replace(formats, r"    BatsimSettings, CobaltSettings, ", by=r"\g<0>IntervalsSettings, ")
    tree.before(formats, r"^    IngestFormat::of::<CobaltSettings>", add=ENTRY)


def write(tree: Tree) -> None:
    writer = "crates/inputs/src/write/schedule.rs"
    tree.after(writer, r"^pub enum Scheduler \{", add="    /// Intervals during which nodes were held.\n    Intervals,")
    tree.replace(writer, r"log\.write\(&match scheduler \{", r"Scheduler::Pbs", by="Scheduler::Intervals | Scheduler::Pbs")
    tree.before(writer, r"fn pbs_line\(", add=WRITTEN_LINE)
    tree.after(writer, r"fn started\(", r"match self\.scheduler \{", add=WRITE)
    reads_back = "crates/logs/tests/logs/schedules.rs"
    tree.copy(reads_back, r"\(Scheduler::Slurm, Format::Slurm\)", old="Slurm", new="Intervals")


def damage(tree: Tree) -> None:
    tests = "crates/inputs/tests/inputs/corruption.rs"
    tree.before(tests, r"^fn read_slurm_events\(", add=READ_DAMAGED)
    tree.before(tests, r"^fn scheduler_logs\(", r'sample\("workload\.swf"', add='        sample("intervals.txt", read_intervals),')
