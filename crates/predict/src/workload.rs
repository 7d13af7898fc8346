//! Converts the jobs of a trace to jobs of the workload model.

use std::collections::BTreeMap;

use gleaner_learn::lucid::Usage;
use gleaner_learn::lucid::workload::{Fitted, Job as Known, Past};

use super::Calendar;
use gleaner_domain::inputs::EstimateTable;
use gleaner_domain::{Cluster, Job, Trace};

/// The properties of jobs that are known at submission, in the trace's order. If the workload of a
/// job is unknown, the job's profile is missing.
pub fn known_jobs<'t>(
    trace: &'t Trace,
    cluster: &'t Cluster,
    calendar: Calendar,
) -> Vec<Known<'t>> {
    let known = |job: &'t Job| Known {
        user: &job.user,
        name: &job.name,
        vc: &cluster.vcs[job.vc].name,
        gpus: job.gpus,
        cpus: job.cpus,
        submitted: calendar.civil(job.submit),
        amp: job.workload.map(|workload| trace.workloads[workload].amp),
        usage: usage(trace, job),
    };
    trace.jobs.iter().map(known).collect()
}

fn usage(trace: &Trace, job: &Job) -> Usage {
    let known = job.workload.and_then(|_| trace.known(job));
    let told = |value: fn(&gleaner_domain::Usage) -> f64| known.as_ref().map_or(f64::NAN, value);
    Usage {
        gpu_util: told(|usage| usage.gpu_util),
        gmem_util: told(|usage| usage.gmem_util),
        gmem: told(|usage| usage.gmem),
    }
}

/// The past jobs with the indices `places` in a trace. They end as if no job had waited: each end
/// time is the submission time plus the duration.
pub fn past_jobs<'t>(
    trace: &Trace,
    known: &[Known<'t>],
    places: impl IntoIterator<Item = usize>,
) -> Vec<Past<'t>> {
    let past = |place: usize| {
        let job = &trace.jobs[place];
        Past {
            job: known[place].clone(),
            submitted: job.submit,
            ended: job.submit.saturating_add(job.duration),
            seconds: job.duration as f64,
        }
    };
    places.into_iter().map(past).collect()
}

/// Estimates the durations of all jobs of a trace with a trained estimator.
pub fn estimates_by(
    estimator: &Fitted,
    trace: &Trace,
    cluster: &Cluster,
    calendar: Calendar,
) -> EstimateTable {
    let seconds = estimator.predict(&known_jobs(trace, cluster, calendar));
    let ids = trace.jobs.iter().map(|job| job.id.clone());
    EstimateTable(ids.zip(seconds).collect::<BTreeMap<_, _>>())
}
