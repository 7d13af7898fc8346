//! Reads Batsim workloads: jobs, and profiles that describe the work of the jobs.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use gleaner_domain::error::Result;
use gleaner_io::input::{Input, Place, Unit};
use gleaner_io::json;
use gleaner_io::json::Piece;
use gleaner_logs::scheduler;
use gleaner_logs::scheduler::{At, Collector, Log, LogReader, Moment, Reason, Record, shown};

/// A Batsim workload and its source, for messages.
pub const WHERE: &str =
    "a Batsim workload (https://batsim.readthedocs.io) with nb_res, jobs and profiles";

/// The name of the only virtual cluster.
const VC: &str = "batsim";

/// Reads workloads. The profiles of a file apply only to the jobs of that file.
pub(super) struct BatsimReader;

impl LogReader for BatsimReader {
    fn file(&mut self, input: &mut Input<'_>, collector: &mut Collector<'_>) -> Result<()> {
        collector.log.counts.unit = Unit::Job;
        let mut workload = Workload::default();
        json::pieces(
            input,
            &["nb_res", "jobs", "profiles"],
            WHERE,
            |file, piece| workload.take(file, piece, &mut collector.log),
        )?;
        workload.finish(collector)
    }
}

/// A workload. Jobs are kept until the end of the file, because their profiles may come after them.
#[derive(Default)]
struct Workload {
    jobs: Vec<(Job, At)>,
    profiles: BTreeMap<String, Profile>,
}

/// A job whose profile may not have been read yet. Times are in seconds.
struct Job {
    id: String,
    submit: f64,
    resources: u64,
    walltime: Option<f64>,
    profile: String,
}

/// The work of a job.
enum Profile {
    /// The job runs for a fixed time.
    Delay(Delay),
    /// The named profiles run one after the other. The whole sequence runs `times` times.
    Sequence {
        profiles: Vec<String>,
        times: u64,
        fails: bool,
    },
    /// Any other profile. Its duration depends on the platform.
    Other,
}

/// The run time of a job, and whether the job fails at its end.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Delay {
    seconds: f64,
    fails: bool,
}

/// Maximum nesting depth of sequences.
const MOST_NESTED: usize = 64;

impl Workload {
    /// Reads a job, a profile, or the number of resources.
    fn take(&mut self, file: &Path, piece: Piece<'_>, log: &mut Log) -> Result<()> {
        let unit = if piece.member == "profiles" {
            Unit::Profile
        } else {
            Unit::Job
        };
        let at = log.at(Place {
            file,
            unit,
            line: piece.number,
        });
        let taken = match piece.member {
            "jobs" => {
                log.counts.lines += 1;
                Job::parse(&piece.value).map(|job| self.jobs.push((job, at)))
            }
            "profiles" => {
                if self.profiles.contains_key(piece.name) {
                    return log.fault(Reason::Repeated, at, piece.name);
                }
                Profile::parse(&piece.value).map(|profile| {
                    self.profiles.insert(piece.name.to_owned(), profile);
                })
            }
            _ => match piece.value.as_u64().filter(|resources| *resources > 0) {
                Some(resources) => {
                    log.gpu_count = log.gpu_count.max(Some(resources));
                    Ok(())
                }
                None => Err(format!("{} is not a valid nb_res", shown(&piece.value))),
            },
        };
        match taken {
            Ok(()) => Ok(()),
            Err(found) => log.fault(Reason::Unreadable, at, found),
        }
    }

    /// Reports all jobs, with the durations that follow from their profiles.
    fn finish(self, collector: &mut Collector<'_>) -> Result<()> {
        let mut delays = Delays {
            profiles: &self.profiles,
            known: BTreeMap::new(),
        };
        for (job, at) in &self.jobs {
            match delays.of(&job.profile, MOST_NESTED) {
                Ok(Some(delay)) => collector.take(*at, &Record::Job(job.run(delay)))?,
                Ok(None) => collector.log.leave_out(Reason::OtherProfile),
                Err(lacking) => collector.log.fault(Reason::NoProfile, *at, lacking)?,
            }
        }
        Ok(())
    }
}

/// Computes the durations of profiles, and caches them.
struct Delays<'p> {
    profiles: &'p BTreeMap<String, Profile>,
    known: BTreeMap<&'p str, Option<Delay>>,
}

impl<'p> Delays<'p> {
    /// The duration of a profile; `None` if the profile contains anything but delays. Sequences may be nested at most
    /// `nested` levels deep from here. The error is the name of the profile that is missing from the workload.
    fn of(&mut self, name: &str, nested: usize) -> Result<Option<Delay>, String> {
        if let Some(known) = self.known.get(name) {
            return Ok(*known);
        }
        let (name, profile) = self.profiles.get_key_value(name).ok_or(name)?;
        let delay = match profile {
            Profile::Other => None,
            Profile::Delay(delay) => Some(*delay),
            // A sequence that contains itself would never end.
            Profile::Sequence { .. } if nested == 0 => None,
            Profile::Sequence {
                profiles,
                times,
                fails,
            } => {
                let last = Delay {
                    seconds: 0.0,
                    fails: *fails,
                };
                self.sequence(profiles, *times, last, nested - 1)?
            }
        };
        self.known.insert(name, delay);
        Ok(delay)
    }

    /// The duration of a sequence: the sum of the durations of its parts, multiplied by `times`. A
    /// part that fails ends the sequence.
    fn sequence(
        &mut self,
        profiles: &[String],
        times: u64,
        mut sum: Delay,
        nested: usize,
    ) -> Result<Option<Delay>, String> {
        for name in profiles {
            let Some(delay) = self.of(name, nested)? else {
                return Ok(None);
            };
            sum.seconds += delay.seconds;
            if delay.fails {
                return Ok(Some(Delay { fails: true, ..sum }));
            }
        }
        sum.seconds *= times as f64;
        Ok(Some(sum))
    }
}

impl Job {
    /// Parses a job. The error describes the fault.
    fn parse(value: &Value) -> Result<Self, String> {
        let member = |name: &str| value.get(name).unwrap_or(&Value::Null);
        let wrong = |name: &str| format!("{} is not a valid {name}", shown(member(name)));
        let seconds = |name: &str| member(name).as_f64();
        let id = word(member("id")).ok_or_else(|| wrong("id"))?;
        let submit = seconds("subtime").filter(|second| *second >= 0.0);
        let walltime = match member("walltime") {
            Value::Null => None,
            // Earlier versions of Batsim write -1 if there is no limit.
            value => Some(value.as_f64().ok_or_else(|| wrong("walltime"))?),
        };
        Ok(Job {
            id,
            submit: submit.ok_or_else(|| wrong("subtime"))?,
            resources: member("res").as_u64().ok_or_else(|| wrong("res"))?,
            walltime: walltime.filter(|seconds| *seconds > 0.0),
            profile: word(member("profile")).ok_or_else(|| wrong("profile"))?,
        })
    }

    /// The job's record, given the delay of its profile. A job that would exceed its walltime ends at its walltime.
    fn run(&self, delay: Delay) -> scheduler::Job<'_> {
        let walltime = self.walltime.unwrap_or(f64::INFINITY);
        let state = match (walltime < delay.seconds, delay.fails) {
            (true, _) => "TIMEOUT",
            (_, true) => "FAILED",
            _ => "COMPLETED",
        };
        scheduler::Job {
            id: &self.id,
            vc: VC,
            state,
            gpus: self.resources,
            submit: Some(Moment::Second(self.submit.floor() as i64)),
            duration: Some(delay.seconds.min(walltime).ceil()),
            ..scheduler::Job::default()
        }
    }
}

impl Profile {
    /// Parses a profile. The error describes the fault.
    fn parse(value: &Value) -> Result<Self, String> {
        let kind = value.get("type").and_then(Value::as_str);
        let kind = kind.ok_or_else(|| format!("{} without a type", shown(value)))?;
        let fails = value.get("ret").and_then(Value::as_i64).unwrap_or(0) != 0;
        match kind {
            "delay" | "DelayProfile" => {
                let delay = value.get("delay").unwrap_or(&Value::Null);
                match delay.as_f64().filter(|delay| *delay > 0.0) {
                    Some(seconds) => Ok(Profile::Delay(Delay { seconds, fails })),
                    None => Err(format!("{} is not a valid delay", shown(delay))),
                }
            }
            "sequential_composition" | "SequentialCompositionProfile" | "composed" => {
                let (profiles, times) = sequence(value)?;
                Ok(Profile::Sequence {
                    profiles,
                    times,
                    fails,
                })
            }
            _ => Ok(Profile::Other),
        }
    }
}

/// Parses a sequence: the names of its profiles, and the number of times that it runs.
fn sequence(value: &Value) -> Result<(Vec<String>, u64), String> {
    let list = value.get("seq").unwrap_or(&Value::Null);
    let names = list.as_array().filter(|names| !names.is_empty());
    let names: Option<Vec<String>> = names.and_then(|names| names.iter().map(word).collect());
    let times = match value.get("repeat") {
        None => Some(1),
        Some(times) => times.as_u64().filter(|times| *times > 0),
    };
    Ok((
        names.ok_or_else(|| format!("seq is {}, not a list of profiles", shown(list)))?,
        times.ok_or_else(|| format!("{} is not a valid repeat", shown(&value["repeat"])))?,
    ))
}

/// A name, which may be written as a number.
fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
