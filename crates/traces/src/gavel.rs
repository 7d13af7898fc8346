//! Reads traces of Gavel: a line for each job, with fields separated by tabs.

use super::throughputs::Speeds;
use gleaner_domain::error::Result;
use gleaner_domain::words::counted;
use gleaner_io::input::Line;
use gleaner_logs::scheduler;
use gleaner_logs::scheduler::{Collector, LineReader, Nodes, Reason, Record, Run};

/// A Gavel trace and its source, for messages.
pub const WHERE: &str = "a .trace file from https://github.com/stanford-futuredata/gavel";

/// The layout of each version of the format, by the number of fields in a line.
const LAYOUTS: [(usize, Layout); 4] = [
    (
        10,
        Layout {
            steps: 5,
            gpus: 6,
            arrival: 9,
        },
    ),
    (
        9,
        Layout {
            steps: 4,
            gpus: 5,
            arrival: 8,
        },
    ),
    (
        7,
        Layout {
            steps: 4,
            gpus: 6,
            arrival: 5,
        },
    ),
    (
        6,
        Layout {
            steps: 3,
            gpus: 5,
            arrival: 4,
        },
    ),
];

/// The names of the fields in the latest version, for messages.
const FIELDS: &str = "job type, command, working directory, name of the steps' argument, whether \
                      data is needed, steps, scale factor, priority, SLO and arrival";

/// The indices of the fields that are used.
#[derive(Debug, Clone, Copy)]
struct Layout {
    steps: usize,
    gpus: usize,
    arrival: usize,
}

/// Reads traces. Traces have no job ids, so jobs are numbered from 0.
pub(super) struct GavelReader {
    speeds: Speeds,
    vc: String,
    jobs: u64,
}

impl GavelReader {
    /// Creates a reader that computes durations from `speeds` and puts all jobs into the virtual cluster `vc`.
    pub fn new(speeds: Speeds, vc: &str) -> Self {
        GavelReader {
            speeds,
            vc: vc.to_owned(),
            jobs: 0,
        }
    }
}

impl LineReader for GavelReader {
    /// Reports the job on a line. The job's duration is its number of steps divided by its speed.
    fn line(&mut self, line: &Line<'_>, collector: &mut Collector<'_>) -> Result<()> {
        let at = collector.log.at(line.place);
        let id = self.jobs.to_string();
        self.jobs += 1;
        let job = match Job::parse(&line.text) {
            Ok(job) => job,
            Err(found) => return collector.log.fault(Reason::Unreadable, at, found),
        };
        let duration = match self.speeds.of_job(job.kind, job.gpus) {
            Ok(speed) => (job.steps / speed).ceil() as i64,
            Err(why) => {
                let gpus = counted(job.gpus, "GPU");
                let found = format_args!("{} on {gpus}, for which {why}", job.kind);
                return collector.log.fault(Reason::NoThroughput, at, found);
            }
        };
        // The trace contains no starts, so the job is assumed to start when it is submitted.
        let submit = job.arrival.floor() as i64;
        let end = submit.saturating_add(duration);
        let run = Run::between(submit, Some(end), Nodes::Unknown);
        let job = scheduler::Job {
            id: &id,
            vc: &self.vc,
            state: "COMPLETED",
            gpus: job.gpus,
            submit: run.start,
            runs: &[run],
            ..scheduler::Job::default()
        };
        collector.take(at, &Record::Job(job))
    }
}

/// A job, parsed from its line.
#[derive(Debug, PartialEq)]
struct Job<'l> {
    kind: &'l str,
    steps: f64,
    gpus: u64,
    /// Seconds on the trace's own clock.
    arrival: f64,
}

impl<'l> Job<'l> {
    /// Parses a line. The error describes the fault.
    fn parse(line: &'l str) -> Result<Self, String> {
        let fields: Vec<&str> = line.split('\t').map(str::trim).collect();
        let layout = LAYOUTS.iter().find(|(count, _)| *count == fields.len());
        let Some((_, layout)) = layout else {
            return Err(format!(
                "{} separated by tabs, not 10 ({FIELDS}), nor 9, 7 or 6 as in earlier versions",
                counted(fields.len(), "field")
            ));
        };
        let number = |at: usize, name: &str, least: f64| {
            let number = fields[at].parse::<f64>().ok();
            let number = number.filter(|number| number.is_finite() && *number >= least);
            number.ok_or_else(|| {
                format!(
                    "{name}: found {:?}, expected a finite number of at least {least}",
                    fields[at]
                )
            })
        };
        let gpus = fields[layout.gpus].parse().ok().filter(|gpus| *gpus > 0);
        Ok(Job {
            kind: fields[0],
            steps: number(layout.steps, "steps", 0.0)?,
            gpus: gpus
                .ok_or_else(|| format!("{:?} is not a valid scale factor", fields[layout.gpus]))?,
            arrival: number(layout.arrival, "arrival", 0.0)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Lines in the layout of every version, with made-up values.
    #[test]
    fn every_version_is_read() {
        let job = Job {
            kind: "ResNet-18 (batch size 64)",
            steps: 1200.0,
            gpus: 2,
            arrival: 7.5,
        };
        let kind = job.kind;
        for line in [
            format!("{kind}\ttrain.py\tcifar10\t--steps\t1\t1200\t2\t1\t-1.0\t7.5"),
            format!("{kind}\ttrain.py\t--steps\t1\t1200\t2\t1\t-1.0\t7.5"),
            format!("{kind}\ttrain.py\t--steps\t1\t1200\t7.5\t2"),
            format!("{kind}\ttrain.py\t--steps\t1200\t7.5\t2"),
        ] {
            assert_eq!(Job::parse(&line).as_ref(), Ok(&job), "{line}");
        }
        for (line, part) in [
            ("a,b,c", "1 field separated by tabs, not 10 (job type,"),
            (
                "a\tb\tc\t-1\t7.5\t2",
                "steps: found \"-1\", expected a finite number of at least 0",
            ),
            ("a\tb\tc\t1\t7.5\t0", "\"0\" is not a valid scale factor"),
            (
                "a\tb\tc\t1\tnan\t1",
                "arrival: found \"nan\", expected a finite number of at least 0",
            ),
        ] {
            let found = Job::parse(line).unwrap_err();
            assert!(found.contains(part), "{found}");
        }
    }
}
