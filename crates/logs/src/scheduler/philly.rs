//! Reads Philly's job log: a JSON array. Each attempt of a job names its machines.

use std::path::Path;

use serde_json::Value;

use super::clock::stamp;
use super::collector::HoldCollector;
use super::counts::{LogCounts, Reason};
use gleaner_core::domain::Stamp;
use gleaner_core::error::{Fault, Result};
use gleaner_io::input::{Input, Place, Unit};
use gleaner_io::json;
use gleaner_occupancy::Hold;

/// Where users find the log, for messages.
pub const WHERE: &str =
    "the cluster_job_log of https://github.com/msr-fiddle/philly-traces, unpacked";

/// A job as the log describes it. Fields that the log leaves out are `None`.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    pub id: Option<String>,
    pub vc: Option<String>,
    pub user: Option<String>,
    pub status: Option<String>,
    pub submitted: Option<Stamp>,
    pub attempts: Vec<Attempt>,
}

/// An attempt: a time in which the job held GPUs, or should have.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    pub start: Option<Stamp>,
    pub end: Option<Stamp>,
    pub machines: Vec<MachineShare>,
}

/// A machine that an attempt used.
#[derive(Debug, Clone, PartialEq)]
pub struct MachineShare {
    pub name: String,
    /// Number of its GPUs that the attempt used.
    pub gpus: u64,
}

impl Attempt {
    /// Number of GPUs on all machines.
    pub fn gpus(&self) -> u64 {
        self.machines.iter().map(|machine| machine.gpus).sum()
    }
}

/// Calls `each` with every job of a log. Elements that are not jobs are counted as faults.
///
/// # Errors
/// As for [`json::pieces`], a fault if the reader is strict, and the errors of `each`.
pub fn jobs<T>(
    input: &mut Input<'_>,
    target: &mut T,
    log_counts: fn(&mut T) -> &mut LogCounts,
    each: fn(&mut T, &Job, Place<'_>) -> Result<()>,
) -> Result<()> {
    let expected = format!("a JSON array of jobs, {WHERE}");
    log_counts(target).unit = Unit::Job;
    json::pieces(input, &[], &expected, |file, piece| {
        if !piece.name.is_empty() {
            return Err(no_array(file, piece.name, &expected).into());
        }
        log_counts(target).lines += 1;
        let place = Place {
            file,
            unit: Unit::Job,
            line: piece.number,
        };
        match Job::parse(&piece.value) {
            Ok(job) => each(target, &job, place),
            Err(found) => log_counts(target).fault(Reason::Unreadable, place, found),
        }
    })
}

/// The fault of a document that is an object and not an array.
fn no_array(file: &Path, name: &str, expected: &str) -> Fault {
    let name: String = name.chars().take(60).collect();
    Fault::of(file, format!("an object with {name:?}"), expected)
}

/// Reads a log, and collects the nodes that the attempts of all jobs held.
pub(super) fn read(input: &mut Input<'_>, collector: &mut HoldCollector) -> Result<()> {
    jobs(
        input,
        collector,
        |collector| &mut collector.log_counts,
        hold,
    )
}

/// Adds the nodes that each attempt of a job held. An attempt without an end ends at the next one.
fn hold(collector: &mut HoldCollector, job: &Job, place: Place<'_>) -> Result<()> {
    if job.attempts.is_empty() {
        collector.log_counts.leave_out(Reason::NeverStarted);
    }
    for (index, attempt) in job.attempts.iter().enumerate() {
        let number = index + 1;
        if attempt.start.is_none() {
            let found = format_args!("attempt {number} without a start");
            collector.fault(Reason::NoRun, place, found)?;
            continue;
        }
        let next = job.attempts.get(number).and_then(|next| next.start);
        let end = match (attempt.end, next) {
            (None, Some(next)) => {
                let found = format_args!("attempt {number}, without an end before the next");
                collector.fault(Reason::StartsAgain, place, found)?;
                Some(next)
            }
            (end, _) => end,
        };
        let [Some(start), end] = collector.seconds(place, [attempt.start, end])? else {
            continue;
        };
        if attempt.machines.is_empty() {
            let found = format_args!("attempt {number} without machines");
            collector.fault(Reason::NoNodes, place, found)?;
            continue;
        }
        let names = attempt.machines.iter().map(|machine| machine.name.as_str());
        if collector.look_up(place, names, None)?.is_some() {
            collector.hold(place, Hold::Running, start, end)?;
        }
    }
    Ok(())
}

impl Job {
    /// Parses a job. The error says what is wrong with it.
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

/// The elements of a list; none if the list is missing.
fn list<'v>(value: &'v Value, name: &str) -> Result<&'v [Value], String> {
    match value.get(name) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(list)) => Ok(list),
        Some(other) => Err(format!("{name} is {}, not a list", shown(other))),
    }
}

/// A text, or `None` if it is missing, empty, or the word `None`.
fn text(value: &Value, name: &str) -> Result<Option<String>, String> {
    match value.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => {
            let text = text.trim();
            Ok(Some(text.to_owned()).filter(|_| !matches!(text, "" | "None")))
        }
        Some(Value::Number(number)) => Ok(Some(number.to_string())),
        Some(other) => Err(format!("{name} is {}, not a text", shown(other))),
    }
}

fn time(value: &Value, name: &str) -> Result<Option<Stamp>, String> {
    let Some(text) = text(value, name)? else {
        return Ok(None);
    };
    match stamp(&text) {
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
            (serde_json::json!({"vc": []}), "vc is a list, not a text"),
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
