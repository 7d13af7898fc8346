//! Batsim: a workload of jobs and the profiles of what they do.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::TraceReader;
use super::intake::{At, Draft, Intake, Runs};
use crate::error::Result;
use crate::ingest::json::{self, Piece};
use crate::ingest::scheduler::philly::shown;
use crate::ingest::scheduler::{Input, Place, Reason, Unit};

/// Where a workload comes from.
pub const WHERE: &str =
    "a workload of https://batsim.readthedocs.io, with nb_res, jobs and profiles";

/// The name of the only virtual cluster.
const VC: &str = "batsim";

/// Reads workloads, each with profiles of its own.
pub(super) struct BatsimReader;

impl TraceReader for BatsimReader {
    fn file(&mut self, input: &mut Input<'_>, intake: &mut Intake) -> Result<()> {
        intake.tally.unit = Unit::Job;
        let mut workload = Workload::default();
        json::pieces(
            input,
            &["nb_res", "jobs", "profiles"],
            WHERE,
            |file, piece| workload.take(file, piece, intake),
        )?;
        workload.finish(intake)
    }
}

/// A workload, whose jobs may come before their profiles.
#[derive(Default)]
struct Workload {
    jobs: Vec<(Job, At)>,
    profiles: BTreeMap<String, Profile>,
}

/// A job whose profile is not known yet.
struct Job {
    id: String,
    submit: f64,
    resources: u64,
    walltime: Option<f64>,
    profile: String,
}

/// What a job does.
enum Profile {
    /// It waits for so many seconds, and then fails or not.
    Delay(f64, bool),
    /// Something else, whose duration depends on the platform.
    Other,
}

impl Workload {
    fn take(&mut self, file: &Path, piece: Piece<'_>, intake: &mut Intake) -> Result<()> {
        let place = |unit| Place {
            file,
            unit,
            line: piece.number,
        };
        let (place, taken) = match piece.member {
            "jobs" => {
                intake.tally.lines += 1;
                let place = place(Unit::Job);
                let taken = Job::parse(&piece.value);
                (
                    place,
                    taken.map(|job| self.jobs.push((job, intake.at(place)))),
                )
            }
            "profiles" => {
                let place = place(Unit::Profile);
                if self.profiles.contains_key(piece.name) {
                    return intake.tally.fault(Reason::Repeated, place, piece.name);
                }
                let taken = Profile::parse(&piece.value);
                let taken = taken.map(|profile| {
                    self.profiles.insert(piece.name.to_owned(), profile);
                });
                (place, taken)
            }
            _ => match piece.value.as_u64().filter(|resources| *resources > 0) {
                Some(resources) => {
                    intake.resources = intake.resources.max(Some(resources));
                    return Ok(());
                }
                None => (
                    place(Unit::Job),
                    Err(format!("{} for nb_res", shown(&piece.value))),
                ),
            },
        };
        match taken {
            Ok(()) => Ok(()),
            Err(found) => intake.tally.fault(Reason::Unreadable, place, found),
        }
    }

    fn finish(self, intake: &mut Intake) -> Result<()> {
        for (job, at) in &self.jobs {
            match self.profiles.get(&job.profile) {
                None => intake.fault(Reason::NoProfile, *at, &job.profile)?,
                Some(Profile::Other) => intake.tally.leave_out(Reason::OtherProfile),
                Some(Profile::Delay(delay, fails)) => {
                    intake.take(&job.draft(*delay, *fails), *at)?;
                }
            }
        }
        Ok(())
    }
}

impl Job {
    /// Reads a job; the message says what is wrong with it.
    fn parse(value: &Value) -> Result<Self, String> {
        let member = |name: &str| value.get(name).unwrap_or(&Value::Null);
        let wrong = |name: &str| format!("{} for {name}", shown(member(name)));
        let seconds = |name: &str| member(name).as_f64();
        let id = word(member("id")).ok_or_else(|| wrong("id"))?;
        let submit = seconds("subtime").filter(|second| *second >= 0.0);
        let walltime = match member("walltime") {
            Value::Null => None,
            // Earlier versions write -1 where there is none.
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

    fn draft(&self, delay: f64, fails: bool) -> Draft<'_> {
        let walltime = self.walltime.unwrap_or(f64::INFINITY);
        let state = match (walltime < delay, fails) {
            (true, _) => "TIMEOUT",
            (_, true) => "FAILED",
            _ => "COMPLETED",
        };
        Draft {
            id: &self.id,
            user: "",
            vc: VC,
            state,
            gpus: self.resources,
            cpus: 0.0,
            submit: self.submit.floor() as i64,
            runs: Runs::For(delay.min(walltime).ceil() as i64),
        }
    }
}

impl Profile {
    fn parse(value: &Value) -> Result<Self, String> {
        let kind = value.get("type").and_then(Value::as_str);
        let kind = kind.ok_or_else(|| format!("{}, a profile without type", shown(value)))?;
        if !matches!(kind, "delay" | "DelayProfile") {
            return Ok(Profile::Other);
        }
        let delay = value.get("delay").unwrap_or(&Value::Null);
        let fails = value.get("ret").and_then(Value::as_i64).unwrap_or(0) != 0;
        match delay.as_f64().filter(|delay| *delay > 0.0) {
            Some(seconds) => Ok(Profile::Delay(seconds, fails)),
            None => Err(format!("{} for delay", shown(delay))),
        }
    }
}

/// A name, which may be a number.
fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
