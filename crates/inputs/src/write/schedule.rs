//! Writes generated schedules in the log formats of batch schedulers.

use std::io::{self, Write};
use std::path::PathBuf;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::events::EventWriter;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::{Change, Local, Utc};
use gleaner_logs::scheduler::hostlist;
use gleaner_synth::schedule::{ScheduleSink, SynthJob};

/// The format of a generated log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheduler {
    /// The table printed by `sacct`, roughly in order of submission.
    Slurm,
    /// PBS accounting records, in chronological order.
    Pbs,
    /// The Standard Workload Format.
    Swf,
}

/// A destination for text, and the destination's path for messages.
pub struct Target<'w> {
    /// The writer that receives the text.
    pub out: &'w mut dyn Write,
    /// The path of the destination, as shown in messages.
    pub path: PathBuf,
}

impl Target<'_> {
    fn write(&mut self, text: &str) -> Result<()> {
        let written = self.out.write_all(text.as_bytes());
        written.map_err(|e| Error::io("write", &self.path, e))
    }
}

/// Writes a schedule: a scheduler's log and, if requested, node events and the true event log.
pub struct ScheduleWriter<'w> {
    /// The format of the log.
    pub scheduler: Scheduler,
    /// The destination of the log.
    pub log: Target<'w>,
    /// The destination of a table of node events, as printed by `sacctmgr`; `None` if the table is
    /// not requested.
    pub outages: Option<Target<'w>>,
    /// The writer of the event log that a reader must derive from the scheduler's log; `None` if
    /// the event log is not requested.
    pub truth: Option<EventWriter>,
    /// Names of the nodes, by index.
    pub nodes: Vec<String>,
    /// End of the schedule, in seconds since 1970. A job that ends later is written as still
    /// running.
    pub end: i64,
    /// Number of jobs written so far.
    pub jobs: u64,
    /// Start of the schedule, in seconds since 1970.
    start: i64,
    shuffle: Shuffle,
}

/// Delays some lines, so that the lines are written slightly out of order, as in the output of `sacct`.
struct Shuffle {
    lines: Vec<String>,
    rng: ChaCha8Rng,
}

/// Names of generated nodes: `n`, followed by the index with leading zeros.
pub fn names(nodes: u32) -> Vec<String> {
    let width = nodes.saturating_sub(1).max(1).ilog10() as usize + 1;
    (0..nodes).map(|node| format!("n{node:0width$}")).collect()
}

impl<'w> ScheduleWriter<'w> {
    /// Begins the log and the table of node events by writing their headers. `span` is the
    /// schedule's start and end, in seconds since 1970.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn new(
        scheduler: Scheduler,
        nodes: Vec<String>,
        mut log: Target<'w>,
        mut outages: Option<Target<'w>>,
        truth: Option<EventWriter>,
        span: (i64, i64),
    ) -> Result<Self> {
        log.write(&match scheduler {
            Scheduler::Slurm => "JobIDRaw|State|Submit|Start|End|NNodes|NodeList\n".to_owned(),
            Scheduler::Pbs => String::new(),
            Scheduler::Swf => format!(
                "; Version: 2.2\n; Computer: generated\n; UnixStartTime: {}\n; TimeZoneString: UTC\n\
                 ; MaxNodes: {}\n; MaxProcs: {}\n",
                span.0,
                nodes.len(),
                nodes.len()
            ),
        })?;
        if let Some(outages) = &mut outages {
            outages.write("Cluster|NodeName|TimeStart|TimeEnd|State|Reason\n")?;
        }
        Ok(ScheduleWriter {
            scheduler,
            log,
            outages,
            truth,
            nodes,
            start: span.0,
            end: span.1,
            jobs: 0,
            shuffle: Shuffle {
                lines: Vec::new(),
                rng: ChaCha8Rng::seed_from_u64(0),
            },
        })
    }

    /// Writes the delayed lines, and finishes all files.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn finish(mut self) -> Result<()> {
        for line in std::mem::take(&mut self.shuffle.lines) {
            self.log.write(&line)?;
        }
        let outages = self.outages.iter_mut();
        for target in outages.chain([&mut self.log]) {
            let flushed: io::Result<()> = target.out.flush();
            flushed.map_err(|e| Error::io("write", &target.path, e))?;
        }
        self.truth.map_or(Ok(()), |truth| truth.finish(None))
    }

    fn hosts<'n>(&'n self, job: &SynthJob) -> impl Iterator<Item = &'n str> {
        let nodes = job.nodes.clone().into_iter();
        nodes.map(|node| self.nodes[node as usize].as_str())
    }

    fn sacct_line(&self, job: &SynthJob) -> String {
        let (state, end) = if job.end > self.end {
            ("RUNNING", "Unknown".to_owned())
        } else {
            ("COMPLETED", iso(job.end))
        };
        let list = hostlist::compress(self.hosts(job));
        let (submit, start, nodes) = (iso(job.submit), iso(job.start), job.nodes.len());
        let mut line = format!(
            "{}|{state}|{submit}|{start}|{end}|{nodes}|{list}\n",
            job.id * 2
        );
        if job.id.is_multiple_of(50) {
            // A job that was cancelled while it was in the queue.
            line += &format!(
                "{}|CANCELLED by 1000|{submit}|None|{start}|4|None assigned\n",
                job.id * 2 + 1
            );
        }
        line
    }

    fn pbs_line(&self, job: &SynthJob, kind: &str) -> String {
        let hosts: Vec<_> = self.hosts(job).map(|host| format!("{host}/0*64")).collect();
        let hosts = hosts.join("+");
        let (stamp, end) = match kind {
            "S" => (job.start, String::new()),
            _ => (job.end, format!(" end={} Exit_status=0", job.end)),
        };
        format!(
            "{};{kind};{}.pbs;user=u jobname=\"a job\" qtime={} start={} exec_host={hosts}{end}\n",
            american(stamp),
            job.id,
            job.submit,
            job.start,
        )
    }

    fn swf_line(&self, job: &SynthJob) -> String {
        let (submit, wait) = (job.submit - self.start, job.start - job.submit);
        let (run, nodes) = (job.end - job.start, job.nodes.len());
        format!(
            "{} {submit} {wait} {run} {nodes} -1 -1 {nodes} -1 -1 1 1 1 -1 1 -1 -1 -1\n",
            job.id
        )
    }
}

impl Shuffle {
    /// Maximum number of lines that are delayed at the same time.
    const HELD: usize = 256;

    fn swap(&mut self, line: String) -> Option<String> {
        if self.lines.len() < Self::HELD {
            self.lines.push(line);
            return None;
        }
        let at = self.rng.random_range(0..Self::HELD);
        Some(std::mem::replace(&mut self.lines[at], line))
    }
}

impl ScheduleSink for ScheduleWriter<'_> {
    fn started(&mut self, job: &SynthJob) -> Result<()> {
        self.jobs += 1;
        match self.scheduler {
            Scheduler::Slurm => {
                let line = self.sacct_line(job);
                match self.shuffle.swap(line) {
                    Some(line) => self.log.write(&line),
                    None => Ok(()),
                }
            }
            Scheduler::Pbs => {
                let line = self.pbs_line(job, "S");
                self.log.write(&line)
            }
            Scheduler::Swf => {
                let line = self.swf_line(job);
                self.log.write(&line)
            }
        }
    }

    fn ended(&mut self, job: &SynthJob) -> Result<()> {
        if self.scheduler != Scheduler::Pbs {
            return Ok(());
        }
        let line = self.pbs_line(job, "E");
        self.log.write(&line)
    }

    fn outage(&mut self, node: u32, from: i64, to: i64) -> Result<()> {
        let Some(outages) = &mut self.outages else {
            return Ok(());
        };
        let name = &self.nodes[node as usize];
        let end = if to > self.end {
            "Unknown".to_owned()
        } else {
            iso(to)
        };
        outages.write(&format!(
            "c|{name}|{}|{end}|DOWN*|not responding\n",
            iso(from)
        ))
    }

    fn event(&mut self, time: Utc, changes: &[Change]) -> Result<()> {
        match &mut self.truth {
            Some(truth) => truth.push(time, changes, None),
            None => Ok(()),
        }
    }
}

/// A time in a format such as `2026-01-31T08:00:00`.
fn iso(second: i64) -> String {
    Local::from_seconds(second)
        .to_string()
        .replacen(' ', "T", 1)
}

/// A time in a format such as `01/31/2026 08:00:00`.
fn american(second: i64) -> String {
    let text = Local::from_seconds(second).to_string();
    let (date, time) = text.split_at(10);
    format!("{}/{}/{}{time}", &date[5..7], &date[8..10], &date[..4])
}
