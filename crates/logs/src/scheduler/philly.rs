//! Reads Philly's job log: a JSON array. Each attempt of a job names its machines.

use std::path::Path;

use serde_json::Value;

use super::clock::moment;
use super::collector::{At, Collector};
use super::counts::Reason;
use super::reader::LogReader;
use super::record;
use super::record::{MachineShare, Moment, Nodes, Record, Run};
use gleaner_domain::error::{Fault, Result};
use gleaner_io::input::{Input, Place, Unit};
use gleaner_io::json;

/// The source of the log, as a phrase for messages.
pub const WHERE: &str =
    "the unpacked cluster_job_log published at https://github.com/msr-fiddle/philly-traces";

/// Reads Philly's job log.
pub struct PhillyReader {
    /// Whether the reader is for a table of jobs, which requires an id, a virtual cluster and a
    /// submission time for each job.
    for_jobs: bool,
}

impl PhillyReader {
    /// A reader for idle nodes.
    pub fn for_idle_nodes() -> Self {
        PhillyReader { for_jobs: false }
    }

    /// A reader for a table of jobs.
    pub fn for_jobs() -> Self {
        PhillyReader { for_jobs: true }
    }

    /// Reports a job. The job's number of GPUs is that of its first attempt.
    fn job(&self, job: &Job, at: At, collector: &mut Collector<'_>) -> Result<()> {
        let is_named = job.id.is_some() && job.vc.is_some() && job.submitted.is_some();
        if self.for_jobs && !is_named {
            let found = "a job without jobid, vc or submitted_time";
            return collector.log.fault(Reason::Unreadable, at, found);
        }
        let runs: Vec<Run<'_>> = job.attempts.iter().map(Attempt::run).collect();
        let job = record::Job {
            id: job.id.as_deref().unwrap_or_default(),
            user: job.user.as_deref().unwrap_or_default(),
            vc: job.vc.as_deref().unwrap_or_default(),
            state: state(job.status.as_deref().unwrap_or_default()),
            gpus: job.attempts.first().map_or(0, Attempt::gpus),
            submit: job.submitted.filter(|_| self.for_jobs),
            runs: &runs,
            ..record::Job::default()
        };
        collector.take(at, &Record::Job(job))
    }
}

impl LogReader for PhillyReader {
    fn file(&mut self, input: &mut Input<'_>, collector: &mut Collector<'_>) -> Result<()> {
        let expected = format!("a JSON array of jobs, {WHERE}");
        collector.log.counts.unit = Unit::Job;
        json::pieces(input, &[], &expected, |file, piece| {
            if !piece.name.is_empty() {
                return Err(no_array(file, piece.name, &expected).into());
            }
            collector.log.counts.lines += 1;
            let at = collector.log.at(Place {
                file,
                unit: Unit::Job,
                line: piece.number,
            });
            match Job::parse(&piece.value) {
                Ok(job) => self.job(&job, at, collector),
                Err(found) => collector.log.fault(Reason::Unreadable, at, found),
            }
        })
    }
}

/// The fault to report for a document that is an object instead of an array.
fn no_array(file: &Path, name: &str, expected: &str) -> Fault {
    let name: String = name.chars().take(60).collect();
    Fault::of(file, format!("an object with {name:?}"), expected)
}

/// Converts the status of a job to Slurm's term for it, because simulations use Slurm's terms.
fn state(status: &str) -> &str {
    match status {
        "Pass" => "COMPLETED",
        "Failed" => "FAILED",
        "Killed" => "CANCELLED",
        other => other,
    }
}

/// A job in the log. Fields that the log leaves out are `None`.
#[derive(Debug, Clone, PartialEq)]
struct Job {
    id: Option<String>,
    vc: Option<String>,
    user: Option<String>,
    status: Option<String>,
    submitted: Option<Moment>,
    attempts: Vec<Attempt>,
}

/// An attempt to run a job. The attempt held GPUs on its machines, unless the log lists no machines.
#[derive(Debug, Clone, PartialEq)]
struct Attempt {
    start: Option<Moment>,
    end: Option<Moment>,
    machines: Vec<MachineShare>,
}

impl Attempt {
    /// Number of GPUs on all machines.
    fn gpus(&self) -> u64 {
        self.machines.iter().map(|machine| machine.gpus).sum()
    }

    fn run(&self) -> Run<'_> {
        Run {
            start: self.start,
            end: self.end,
            nodes: Nodes::Machines(&self.machines),
        }
    }
}

impl Job {
    /// Parses a job. The error describes the fault.
    fn parse(value: &Value) -> Result<Self, String> {
        if !value.is_object() {
            return Err(format!("{} is not a job", shown(value)));
        }
        let attempts = list(value, "attempts")?;
        let attempts: Result<_, String> = attempts.iter().map(attempt).collect();
        Ok(Job {
            id: text(value, "jobid")?,
            vc: text(value, "vc")?,
            user: text(value, "user")?,
            status: text(value, "status")?,
            submitted: time(value, "submitted_time")?,
            attempts: attempts?,
        })
    }
}

fn attempt(value: &Value) -> Result<Attempt, String> {
    let machines = list(value, "detail")?.iter().map(machine);
    Ok(Attempt {
        start: time(value, "start_time")?,
        end: time(value, "end_time")?,
        machines: machines.collect::<Result<_, _>>()?,
    })
}

fn machine(value: &Value) -> Result<MachineShare, String> {
    Ok(MachineShare {
        name: text(value, "ip")?.ok_or("a machine without ip")?,
        gpus: list(value, "gpus")?.len() as u64,
    })
}

/// The elements of a list; empty if the list is missing.
fn list<'v>(value: &'v Value, name: &str) -> Result<&'v [Value], String> {
    match value.get(name) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(list)) => Ok(list),
        Some(other) => Err(format!("{name} is {}, not a list", shown(other))),
    }
}

/// The text of a string or a number; `None` if it is missing, empty, or the word `None`.
fn text(value: &Value, name: &str) -> Result<Option<String>, String> {
    match value.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => {
            let text = text.trim();
            Ok(Some(text.to_owned()).filter(|_| !matches!(text, "" | "None")))
        }
        Some(Value::Number(number)) => Ok(Some(number.to_string())),
        Some(other) => Err(format!("{name} is {}, not a string", shown(other))),
    }
}

fn time(value: &Value, name: &str) -> Result<Option<Moment>, String> {
    let Some(text) = text(value, name)? else {
        return Ok(None);
    };
    match moment(&text) {
        Some(time) => Ok(Some(time)),
        None => Err(format!(
            "{name} is {}, not a time such as 2017-10-07 01:12:09",
            shown(&Value::from(text))
        )),
    }
}

/// A value as a short text, for messages.
pub fn shown(value: &Value) -> String {
    const MOST: usize = 60;
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) if text.chars().nth(MOST).is_some() => {
            let start: String = text.chars().take(MOST).collect();
            format!("{start:?}…")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_fields_are_none_and_invalid_ones_are_reported() {
        let job = Job::parse(&serde_json::json!({
            "jobid": "a_1", "vc": "None", "attempts": [
                {"start_time": null, "end_time": "None", "detail": [{"ip": "m1", "gpus": ["gpu0"]}]}
            ]
        }));
        let job = job.unwrap();
        assert_eq!(
            (job.id.as_deref(), job.vc, job.submitted),
            (Some("a_1"), None, None)
        );
        let attempt = &job.attempts[0];
        assert_eq!(
            (attempt.start, attempt.end, attempt.gpus()),
            (None, None, 1)
        );
        for (job, part) in [
            (serde_json::json!(5), "5 is not a job"),
            (
                serde_json::json!({"attempts": {}}),
                "attempts is an object, not a list",
            ),
            (serde_json::json!({"vc": []}), "vc is a list, not a string"),
            (
                serde_json::json!({"attempts": [{"start_time": "soon"}]}),
                "start_time is \"soon\", not a time such as",
            ),
            (
                serde_json::json!({"attempts": [{"detail": [{}]}]}),
                "a machine without ip",
            ),
        ] {
            assert_eq!(&Job::parse(&job).unwrap_err()[..part.len()], part);
        }
    }
}
