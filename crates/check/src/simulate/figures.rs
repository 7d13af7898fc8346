//! Compares the figures of policies in `summary.json` and in the tables that compare policies.

use std::collections::{BTreeMap, BTreeSet};

use gleaner_domain::Cluster;
use gleaner_domain::error::Result;
use gleaner_domain::results::simulate::{Delays, SMALL_JOB_GPUS};
use gleaner_domain::results::states::JobRow;
use gleaner_runs::read::RunInfo;
use serde_json::{Value, json};

use super::Given;
use super::policy::{Policy, arriving};
use super::stage::Swept;
use crate::Findings;

const SUMMARY: &str = "summary.json";

/// The name of a figure in [`Delays`], and the function that returns the figure's value.
type Figure = (&'static str, fn(Delays) -> f64);

const FIGURES: [Figure; 4] = [
    ("avg_jct_s", |delays| delays.avg_jct_s),
    ("avg_queue_s", |delays| delays.avg_queue_s),
    ("p999_queue_s", |delays| delays.p999_queue_s),
    ("jobs", |delays| delays.jobs as f64),
];

/// Compares a policy's figures in `summary.json` with those computed from its jobs and runs.
pub(super) fn compare(
    policy: &Policy<'_>,
    figures: &Value,
    given: &Given<'_>,
    findings: &mut Findings,
) {
    let jobs = policy.jobs;
    let mut written = Written {
        policy: policy.name,
        figures,
        findings,
    };
    let of = |kept: &dyn Fn(&JobRow) -> bool| delays(jobs.iter().filter(|job| kept(job)));
    let is_small = |job: &JobRow| job.gpus <= SMALL_JOB_GPUS;
    written.delays("", Some(of(&|_| true).unwrap_or_default()));
    written.delays("small", of(&is_small));
    written.delays("large", of(&|job| !is_small(job)));
    let names = figures.get("vcs").and_then(Value::as_object);
    let names: Vec<&str> = names
        .into_iter()
        .flatten()
        .map(|(name, _)| name.as_str())
        .collect();
    let expected: Vec<&str> = given
        .cluster
        .vcs
        .iter()
        .map(|vc| vc.name.as_str())
        .collect();
    // The order of fields in a JSON map is not significant, so names are compared as sets.
    let sets = [&names, &expected].map(|names| names.iter().collect::<BTreeSet<_>>());
    written.findings.holds(sets[0] == sets[1], || {
        format!(
            "{SUMMARY}, {}: vcs differ from those of the cluster",
            policy.name
        )
    });
    for vc in expected {
        written.delays(&format!("vcs/{vc}"), of(&|job| *job.vc == *vc));
    }
    of_runs(policy, given, &mut written);
}

/// Compares the figures that are not computed from delays.
fn of_runs(policy: &Policy<'_>, given: &Given<'_>, written: &mut Written<'_, '_>) {
    let jobs = policy.jobs;
    let first = jobs.iter().map(|job| job.submit).min();
    let last = jobs.iter().map(|job| job.end).max();
    let makespan = first.zip(last).map_or(0, |(first, last)| last - first);
    written.field("makespan_s", &json!(makespan));
    let checkpoints: u64 = jobs.iter().map(|job| u64::from(job.checkpoints)).sum();
    written.field("checkpoints", &json!(checkpoints));
    let gpus = gpus(policy, given);
    written.field("gpus", &json!(gpus));
    written.field("durations", &json!(policy.rules.durations));
    let corrected = policy.rules.is_lucid.then_some(policy.rules.is_corrected);
    written.field("corrected", &json!(corrected));
    let Some(stages) = policy.stages() else {
        return;
    };
    let share = |busy: i128, span: i64| {
        (gpus > 0 && span > 0).then(|| busy as f64 / (gpus as f64 * span as f64))
    };
    let busy = stages.iter().map(|stage| stage.busy).sum();
    written.field(
        "gpu_utilisation",
        &json!(share(busy, makespan).unwrap_or(0.0)),
    );
    let (first, last) = arriving(given);
    let busy: i128 = stages.iter().map(|stage| stage.busy_arriving).sum();
    let in_use = share(busy, last - first);
    written.field("in_use_while_arriving", &json!(in_use));
    let half = busy as f64 / (last - first) as f64 / 2.0;
    let warm = in_use
        .filter(|_| busy > 0)
        .and_then(|_| reached(&stages, half));
    written.field("warm_up_until", &json!(warm));
    let profiled = policy.profiled.map(|profiled| {
        let jobs = (0..jobs.len()).filter(|&job| profiled.times(job).is_some());
        jobs.count()
    });
    written.field("profiled_jobs", &json!(profiled));
    let early = policy.profiled.map(|profiled| {
        let starts_early = |job: &usize| {
            let end = profiled.times(*job).map(|(_, end)| end);
            !profiled.ended_there(*job) && end.is_some_and(|end| jobs[*job].start < end)
        };
        (0..jobs.len()).filter(starts_early).count()
    });
    written.field("early_starts", &json!(early));
}

/// The first second at the end of which jobs hold at least `gpus` GPUs.
fn reached(stages: &[&Swept], gpus: f64) -> Option<i64> {
    let mut changes = BTreeMap::new();
    for &(second, change) in stages.iter().flat_map(|stage| &stage.changes) {
        *changes.entry(second).or_insert(0) += change;
    }
    let mut held = 0;
    let seconds = changes.into_iter();
    let mut seconds = seconds.map(|(second, change)| {
        held += change;
        (second, held)
    });
    seconds.find_map(|(second, held)| (held as f64 >= gpus).then_some(second))
}

/// The number of GPUs of the whole cluster, including those of the profiler nodes that no virtual cluster lends.
fn gpus(policy: &Policy<'_>, given: &Given<'_>) -> u64 {
    let per_node = u64::from(given.cluster.gpus_per_node);
    let nodes: u64 = given.cluster.vcs.iter().map(|vc| u64::from(vc.nodes)).sum();
    let profiler = given.profiler.filter(|_| policy.profiled.is_some());
    per_node * (nodes + profiler.map_or(0, |profiler| profiler.extra_nodes()))
}

/// The figures of a policy as recorded in `summary.json`.
struct Written<'w, 'f> {
    policy: &'w str,
    figures: &'w Value,
    findings: &'f mut Findings,
}

impl Written<'_, '_> {
    /// Compares a field. A field that is missing is skipped, because earlier versions of Gleaner
    /// wrote fewer fields.
    fn field(&mut self, name: &str, expected: &Value) {
        let pointer = format!("/{name}");
        let Some(written) = self.figures.pointer(&pointer) else {
            return;
        };
        let policy = self.policy;
        self.findings
            .covers(SUMMARY, [format!("policies/{policy}/{name}")]);
        self.findings.holds(is_same(written, expected), || {
            format!(
                "{SUMMARY}, {policy}: {name} is {written}, but the other results give {expected}"
            )
        });
    }

    /// Compares delays. `field` is the path of the delays in the summary; it is empty for the
    /// delays of all jobs.
    fn delays(&mut self, field: &str, expected: Option<Delays>) {
        let Some(delays) = expected else {
            self.field(field, &Value::Null);
            return;
        };
        for (name, of) in FIGURES {
            let value = of(delays);
            let expected = if name == "jobs" {
                json!(delays.jobs)
            } else {
                json!(value)
            };
            match field {
                "" => self.field(name, &expected),
                field => self.field(&format!("{field}/{name}"), &expected),
            }
        }
    }
}

/// Whether two values are equal, with a relative tolerance of 1e-7 for numbers.
pub(super) fn is_same(written: &Value, expected: &Value) -> bool {
    match (written, expected) {
        (Value::Number(a), Value::Number(b)) if a.is_f64() || b.is_f64() => {
            let (Some(a), Some(b)) = (a.as_f64(), b.as_f64()) else {
                return false;
            };
            (a - b).abs() <= 1e-7 * a.abs().max(b.abs()).max(1.0)
        }
        _ => written == expected,
    }
}

/// Computes the mean completion time, the mean waiting time and the 99.9th percentile of waiting
/// times. The percentile is interpolated linearly between ranks.
fn delays<'a>(jobs: impl Iterator<Item = &'a JobRow>) -> Option<Delays> {
    let (mut jct, mut queues) = (0, Vec::new());
    for job in jobs {
        jct += i128::from(job.jct);
        queues.push(job.queue);
    }
    queues.sort_unstable();
    let last = queues.len().checked_sub(1)?;
    let rank = last as f64 * 0.999;
    let (below, above) = (queues[rank as usize], queues[(rank as usize + 1).min(last)]);
    let count = queues.len() as f64;
    let queue: i128 = queues.iter().map(|&seconds| i128::from(seconds)).sum();
    Some(Delays {
        avg_jct_s: jct as f64 / count,
        avg_queue_s: queue as f64 / count,
        p999_queue_s: below as f64 + (above - below) as f64 * rank.fract(),
        jobs: queues.len() as u64,
    })
}

/// Verifies the tables that compare policies. The tables have a row for each virtual cluster, a
/// row for all jobs, and a column for each policy. Seconds are truncated to integers.
///
/// # Errors
/// A file is missing or damaged.
pub(super) fn compare_tables(
    info: &RunInfo,
    policies: &[(&str, &[JobRow])],
    placer: &str,
    cluster: &Cluster,
    findings: &mut Findings,
) -> Result<()> {
    let header = policies
        .iter()
        .map(|(policy, _)| format!("{policy}_{placer}"));
    let header: Vec<String> = std::iter::once(String::new()).chain(header).collect();
    let vcs: Vec<&str> = cluster.vcs.iter().map(|vc| vc.name.as_str()).collect();
    for (table, (_, of)) in ["jct_avg", "que_avg", "que_p999"].iter().zip(FIGURES) {
        let cell = |vc: Option<&str>, jobs: &[JobRow]| {
            let kept = jobs.iter().filter(|job| vc.is_none_or(|vc| *job.vc == *vc));
            let delays = match vc {
                Some(_) => delays(kept),
                None => Some(delays(kept).unwrap_or_default()),
            };
            delays.map_or(String::new(), |delays| (of(delays) as i64).to_string())
        };
        let row = |vc: Option<&str>| -> Vec<String> {
            let cells = policies.iter().map(|(_, jobs)| cell(vc, jobs));
            std::iter::once(vc.unwrap_or("all").to_owned())
                .chain(cells)
                .collect()
        };
        let rows = vcs.iter().map(|vc| row(Some(vc))).chain([row(None)]);
        let expected: Vec<Vec<String>> = std::iter::once(header.clone()).chain(rows).collect();
        let file = format!("{table}.csv");
        let mut lines = 0;
        info.visit_csv(&file, |line, cells| {
            lines += 1;
            let expected: &[String] = expected.get(line).map_or(&[], Vec::as_slice);
            findings.holds(cells.iter().eq(expected.iter()), || {
                let (found, expected) = (cells.join(","), expected.join(","));
                format!(
                    "{file}, line {}: {found}, but the jobs give {expected}",
                    line + 1
                )
            });
        })?;
        findings.equal(format_args!("{file}: lines"), lines, expected.len());
        findings.covers(file, header.iter().cloned());
    }
    Ok(())
}
