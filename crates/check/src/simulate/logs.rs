//! Compares the logs of the original simulator (`--logs`) with the tables and the trace.

use gleaner_domain::error::Result;
use gleaner_domain::results::states::SEQ;
use gleaner_domain::{Job, Workload};
use gleaner_runs::read::RunInfo;

use super::Given;
use super::policy::Policy;
use super::stage::Swept;
use super::states;
use crate::Findings;

/// The name that represents all virtual clusters in the names of log folders and log files.
pub(super) const ALL: &str = "all";

/// The expected content of a cell.
#[derive(Debug, Clone, PartialEq)]
enum Expected {
    Text(String),
    Number(f64),
    /// The number, truncated to an integer.
    Truncated(f64),
    Missing,
}

/// The columns of the minute-by-minute log that hold loads. In the log of all virtual clusters,
/// loads are truncated to integers.
const LOADS: [&str; 4] = ["sm_util", "gmem_util", "sm_util_active", "gmem_util_active"];

/// Columns that are not verified because they depend on the engine's internal state, each with a description of its
/// content.
const UNKNOWN: [(&str, &str); 6] = [
    (
        "remain",
        "the fraction of a second by which the last step passed the job's end",
    ),
    ("priority", "the number by which the policy sorted jobs"),
    (
        "exclusive",
        "whether the original simulator counted the job as alone on its GPUs when it ended",
    ),
    (
        "rate",
        "the last speed that the original simulator recorded for the job",
    ),
    (
        "Tcolocate",
        "the second at which the job joined another job on that job's GPUs",
    ),
    (
        "Tdelocate",
        "the last second at which the job was set back to full speed",
    ),
];

/// Compares the logs of all policies, if the run wrote any.
///
/// # Errors
/// A file is missing or damaged.
pub(super) fn check(
    info: &RunInfo,
    given: &Given<'_>,
    checked: &[Policy<'_>],
    step: i64,
    findings: &mut Findings,
) -> Result<()> {
    for policy in checked {
        let vcs = given.cluster.vcs.iter().enumerate();
        let vcs = vcs.map(|(index, vc)| (vc.name.as_str(), Some(index)));
        for (name, vc) in vcs.chain([(ALL, None)]) {
            let stem = stem(policy.name, name, given);
            let file = format!("{stem}_log.csv");
            if info.has(&file) {
                jobs(info, &file, vc, policy, given, findings)?;
            }
            let file = format!("{stem}_seq.csv");
            if let (true, Some(swept)) = (info.has(&file), &policy.swept) {
                let swept: Vec<&Swept> = match vc {
                    Some(vc) => swept.iter().skip(vc).take(1).collect(),
                    None => swept.iter().collect(),
                };
                minutes(info, &file, &swept, step, findings)?;
            }
        }
    }
    Ok(())
}

/// The path of a virtual cluster's logs, without `_log.csv` or `_seq.csv`.
pub(super) fn stem(policy: &str, vc: &str, given: &Given<'_>) -> String {
    let placer = given.placer.original_name();
    format!("logs/{vc}/{policy}_{placer}_{vc}")
}

/// Compares the log of jobs with the tables and the trace.
fn jobs(
    info: &RunInfo,
    file: &str,
    vc: Option<usize>,
    policy: &Policy<'_>,
    given: &Given<'_>,
    findings: &mut Findings,
) -> Result<()> {
    let of_vc = |job: &usize| vc.is_none_or(|vc| given.trace.jobs[*job].vc == vc);
    let jobs: Vec<usize> = (0..policy.jobs.len()).filter(of_vc).collect();
    let mut header: Vec<String> = Vec::new();
    let mut lines = 0;
    info.visit_csv(file, |line, cells| {
        lines = line;
        if line == 0 {
            header = cells.iter().map(|cell| (*cell).to_owned()).collect();
            return;
        }
        let Some(&job) = jobs.get(line - 1) else {
            return;
        };
        for (name, cell) in header.iter().zip(cells) {
            let Some(expected) = cell_of_job(name, job, policy, given) else {
                continue;
            };
            findings.holds(agrees(cell, &expected), || {
                format!(
                    "{file}, line {}: {name} is {cell:?}, but the tables give {expected:?}",
                    line + 1
                )
            });
        }
    })?;
    findings.equal(format_args!("{file}: rows"), lines, jobs.len());
    for name in header {
        let unknown = UNKNOWN.iter().find(|(unknown, _)| *unknown == name);
        match unknown {
            Some((_, reason)) => findings.not_verified(file, name, *reason),
            None => findings.covers(file, [name]),
        }
    }
    Ok(())
}

/// The expected content of a log column for a job; `None` if the content is unknown.
fn cell_of_job(
    column: &str,
    job: usize,
    policy: &Policy<'_>,
    given: &Given<'_>,
) -> Option<Expected> {
    let (row, submitted) = (&policy.jobs[job], &given.trace.jobs[job]);
    let workload = submitted
        .workload
        .map(|workload| &given.trace.workloads[workload]);
    let profiled = policy.profiled;
    let times = profiled.and_then(|profiled| profiled.times(job));
    let ended_there = profiled.is_some_and(|profiled| profiled.ended_there(job));
    Some(match column {
        "start_time" => whole(row.start),
        "end_time" => whole(row.end),
        "ckpt_times" => whole(row.checkpoints.into()),
        "queue" => whole(row.queue),
        "jct" => whole(row.jct),
        "status" => Expected::Text("end".to_owned()),
        "nodes" => Expected::Text(row.nodes.clone()),
        "random" => whole(0),
        "vc" => Expected::Text(row.vc.to_string()),
        "profiled" => whole(times.is_some().into()),
        "profqueue" => whole(times.map_or(0, |(start, _)| start - row.submit)),
        "toskip" => whole(ended_there.into()),
        "sharescore" => {
            let packing = given
                .packing
                .filter(|_| policy.rules.is_lucid && !ended_there);
            let score = packing.and_then(|packing| packing.score(submitted));
            score.map_or(Expected::Missing, |score| whole(score.into()))
        }
        _ => return cell_of_trace(column, submitted, workload),
    })
}

/// The expected content of a column that is copied from the trace.
fn cell_of_trace(column: &str, job: &Job, workload: Option<&Workload>) -> Option<Expected> {
    let text = |text: &str| Expected::Text(text.to_owned());
    let of_workload = |of: fn(&Workload) -> Expected| workload.map_or(Expected::Missing, of);
    Some(match column {
        "job_id" => text(&job.id),
        "user" => text(&job.user),
        "jobname" => text(&job.name),
        "gpu_num" => whole(job.gpus.into()),
        "cpu_num" => Expected::Number(job.cpus),
        "state" => text(&job.state),
        "submit_time" => whole(job.submit),
        "duration" => whole(job.duration),
        "dataset" => of_workload(|w| Expected::Text(w.dataset.clone())),
        "model" => of_workload(|w| Expected::Text(w.model.clone())),
        "batchsize" => of_workload(|w| whole(w.batch_size.into())),
        "amp" => of_workload(|w| whole(w.amp.into())),
        "speed" => Expected::Number(job.usage.speed),
        "gpu_util" => Expected::Number(job.usage.gpu_util),
        "gmem_util" => Expected::Number(job.usage.gmem_util),
        "gmem" => Expected::Number(job.usage.gmem),
        _ => return None,
    })
}

fn whole(number: i64) -> Expected {
    Expected::Number(number as f64)
}

/// Compares the minute-by-minute log of one virtual cluster, or of all of them, with the states computed from the runs.
fn minutes(
    info: &RunInfo,
    file: &str,
    swept: &[&Swept],
    step: i64,
    findings: &mut Findings,
) -> Result<()> {
    let names: Vec<&str> = SEQ.iter().skip(1).map(|field| field.name).collect();
    let mut expected = states::summed(swept, step);
    let mut lines = 0;
    info.visit_csv(file, |line, cells| {
        lines = line;
        if line == 0 {
            findings.holds(cells == names, || {
                format!("{file}: unexpected columns, expected {}", names.join(", "))
            });
            return;
        }
        let Some(values) = expected.next() else {
            findings.add(|| {
                format!(
                    "{file}, line {}: the row is after the last minute of the simulation",
                    line + 1
                )
            });
            return;
        };
        for (name, (cell, value)) in names.iter().zip(cells.iter().zip(values)) {
            let value = if value.is_nan() {
                Expected::Missing
            } else if swept.len() > 1 && LOADS.contains(name) {
                Expected::Truncated(value)
            } else {
                Expected::Number(value)
            };
            findings.holds(agrees(cell, &value), || {
                format!(
                    "{file}, line {}: {name} is {cell:?}, but the runs give {value:?}",
                    line + 1
                )
            });
        }
    })?;
    findings.holds(expected.next().is_none(), || {
        format!("{file} ends after {lines} rows, but the simulation has more minutes")
    });
    findings.covers(file, names);
    Ok(())
}

/// Whether a cell has the expected content.
fn agrees(cell: &str, expected: &Expected) -> bool {
    match expected {
        Expected::Text(text) => cell == text,
        Expected::Missing => cell.is_empty(),
        Expected::Number(expected) => cell
            .parse()
            .is_ok_and(|number: f64| (number - expected).abs() <= tolerance(number, *expected)),
        // A rounding error may change the integer, so both 16 and 17 agree with 16.999999999.
        Expected::Truncated(expected) => cell.parse().is_ok_and(|whole: f64| {
            let tolerance = tolerance(whole, *expected);
            whole.fract() == 0.0 && (-tolerance..1.0 + tolerance).contains(&(expected - whole))
        }),
    }
}

fn tolerance(one: f64, other: f64) -> f64 {
    1e-7 * one.abs().max(other.abs()).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncated_numbers_agree_on_both_sides_of_an_integer() {
        let agrees = |cell, number| agrees(cell, &Expected::Truncated(number));
        assert!(agrees("16", 16.5) && agrees("16", 16.999_999_999) && agrees("17", 16.999_999_999));
        assert!(agrees("17", 17.0) && agrees("16", 17.0));
        assert!(!agrees("16", 17.1) && !agrees("17", 16.9) && !agrees("16.5", 16.5));
    }
}
