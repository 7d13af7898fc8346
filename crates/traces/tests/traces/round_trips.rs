//! Tests that random jobs, written in each trace format, are read back unchanged. The files that are then written for
//! a simulation are also read, and must contain the same jobs. The functions that write the traces share no code with
//! the readers.

use gleaner_domain::{Local, Trace};
use gleaner_inputs::jobs::{cluster, trace};
use gleaner_runs::prepared::{write_cluster, write_jobs};
use gleaner_traces::{Format, Options, Prepared};
use proptest::prelude::*;

use super::support::prepare;

/// 2017-10-02 in seconds since 1970.
const DAY: i64 = 1_506_902_400;

/// A job: its VC, its GPUs, its submission, and its runs.
#[derive(Debug, Clone)]
struct Job {
    vc: u32,
    gpus: u32,
    submit: i64,
    /// The wait before each run and the length of the run, in seconds.
    runs: Vec<(i64, i64)>,
}

impl Job {
    /// The start and the end of each run, in seconds.
    fn spans(&self) -> Vec<(i64, i64)> {
        let mut now = self.submit;
        let runs = self.runs.iter().map(|(wait, length)| {
            let start = now + wait;
            now = start + length;
            (start, now)
        });
        runs.collect()
    }

    fn duration(&self) -> i64 {
        self.runs.iter().map(|(_, length)| length).sum()
    }
}

prop_compose! {
    fn job()(
        vc in 0u32..3, gpus in 0u32..20, submit in 1i64..50_000,
        runs in prop::collection::vec((0i64..5000, 0i64..9000), 1..4),
    ) -> Job {
        Job { vc, gpus, submit, runs }
    }
}

fn civil(second: i64) -> String {
    Local::from_seconds(DAY + second).to_string()
}

fn philly(jobs: &[Job]) -> Vec<String> {
    let attempt = |job: &Job, (start, end): (i64, i64)| {
        let gpus = |count: u32| -> Vec<String> { (0..count).map(|n| format!("gpu{n}")).collect() };
        serde_json::json!({
            "start_time": civil(start), "end_time": civil(end),
            "detail": [
                {"ip": "m1", "gpus": gpus(job.gpus / 2)},
                {"ip": "m2", "gpus": gpus(job.gpus - job.gpus / 2)},
            ],
        })
    };
    let jobs = jobs.iter().enumerate().map(|(id, job)| {
        let attempts: Vec<_> = job
            .spans()
            .into_iter()
            .map(|run| attempt(job, run))
            .collect();
        serde_json::json!({
            "jobid": format!("j{id}"), "vc": format!("vc{}", job.vc), "user": "u", "status": "Pass",
            "submitted_time": civil(job.submit), "attempts": attempts,
        })
    });
    vec![serde_json::Value::from(jobs.collect::<Vec<_>>()).to_string()]
}

fn helios(jobs: &[Job]) -> Vec<String> {
    let mut log = "user,job_id,vc,gpu_num,state,start_time,end_time,submit_time\n".to_owned();
    for (id, job) in jobs.iter().enumerate() {
        let (start, end) = job.spans()[0];
        let [submit, start, end] = [job.submit, start, end].map(civil);
        let Job { vc, gpus, .. } = job;
        log += &format!("u,j{id},vc{vc},{gpus},COMPLETED,{start},{end},{submit}\n");
    }
    vec![log]
}

/// The tables of PAI, in which every GPU is planned as two instances of half a GPU.
fn pai(jobs: &[Job]) -> Vec<String> {
    let (mut table, mut tasks) = (String::new(), String::new());
    for (id, job) in jobs.iter().enumerate() {
        let (start, end) = job.spans()[0];
        let Job {
            vc, gpus, submit, ..
        } = job;
        table += &format!("j{id},i,u,Terminated,{submit}.0,{end}.0\n");
        let halves = gpus * 2;
        tasks += &format!("j{id},w,{halves}.0,Terminated,{start}.0,{end}.0,,,50.0,vc{vc}\n");
    }
    vec![tasks, table]
}

fn batsim(jobs: &[Job]) -> Vec<String> {
    let mut workload = serde_json::json!({"jobs": [], "profiles": {}, "nb_res": 20});
    for (id, job) in jobs.iter().enumerate() {
        let profile = format!("p{id}");
        // Batsim's format does not allow a delay of 0.
        let delay = job.runs[0].1.max(1);
        let (id, submit) = (format!("j{id}"), job.submit);
        let entry =
            serde_json::json!({"id": id, "subtime": submit, "res": job.gpus, "profile": profile});
        workload["jobs"].as_array_mut().unwrap().push(entry);
        workload["profiles"][profile] = serde_json::json!({"type": "DelayProfile", "delay": delay});
    }
    vec![workload.to_string()]
}

/// The maximum number of GPUs held at once in a VC, over all seconds at which a run starts.
fn peak<'a>(jobs: impl Iterator<Item = &'a Job> + Clone) -> u32 {
    let spans = |job: &'a Job| job.spans().into_iter().map(move |span| (span, job.gpus));
    let all: Vec<_> = jobs
        .clone()
        .flat_map(spans)
        .filter(|((a, b), _)| a < b)
        .collect();
    let at = |now: i64| {
        all.iter()
            .filter(|((a, b), _)| (*a..*b).contains(&now))
            .map(|(_, gpus)| gpus)
            .sum()
    };
    all.iter()
        .map(|((start, _), _)| at(*start))
        .max()
        .unwrap_or(0)
}

/// Writes the trace, and returns it as a simulation reads it.
fn written(prepared: &Prepared, ending: &str) -> (Trace, gleaner_domain::Cluster) {
    let folder = tempfile::tempdir().unwrap();
    let jobs = folder.path().join(format!("jobs.{ending}"));
    let vcs = folder.path().join(format!("vcs.{ending}"));
    write_jobs(&prepared.trace, &prepared.cluster, &jobs).unwrap();
    write_cluster(&prepared.cluster, &vcs).unwrap();
    let cluster = cluster::read(&vcs, prepared.cluster.gpus_per_node)
        .unwrap()
        .value;
    let input = trace::read(&jobs, &cluster, trace::Options::default()).unwrap();
    (input.value.trace, cluster)
}

fn check(format: Format, files: &[String], jobs: &[Job]) -> Result<(), TestCaseError> {
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let prepared = prepare(&files, &Options::new(format));
    let useful = |job: &&Job| job.gpus > 0 && job.duration() > 0;
    if !jobs.iter().any(|job| useful(&job)) {
        prop_assert!(prepared.is_err());
        return Ok(());
    }
    let prepared = prepared.unwrap();
    let mut expected: Vec<_> = jobs
        .iter()
        .enumerate()
        .filter(|(_, job)| useful(job))
        .collect();
    expected.sort_by_key(|(_, job)| job.submit);
    let zero = prepared.trace.origin.map_or(0, |_| expected[0].1.submit);
    let expected = expected.iter().map(|(id, job)| {
        let vc = if format == Format::Batsim {
            "log".to_owned()
        } else {
            format!("vc{}", job.vc)
        };
        (
            format!("j{id}"),
            vc,
            job.gpus,
            job.submit - zero,
            job.duration(),
        )
    });
    let found = prepared.trace.jobs.iter().map(|job| {
        let vc = prepared.cluster.vcs[job.vc].name.clone();
        (job.id.clone(), vc, job.gpus, job.submit, job.duration)
    });
    prop_assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    if format != Format::Batsim {
        for vc in &prepared.cluster.vcs {
            let of_vc = jobs
                .iter()
                .filter(|job| format!("vc{}", job.vc) == vc.name && useful(job));
            prop_assert_eq!(vc.nodes, peak(of_vc).div_ceil(8), "{}", vc.name);
        }
    }
    for ending in ["csv", "parquet"] {
        let (trace, cluster) = written(&prepared, ending);
        prop_assert_eq!(&trace, &prepared.trace);
        prop_assert_eq!(&cluster, &prepared.cluster);
    }
    Ok(())
}

/// The same jobs, each with only its first run.
fn once(jobs: &[Job]) -> Vec<Job> {
    let mut jobs = jobs.to_vec();
    jobs.iter_mut().for_each(|job| job.runs.truncate(1));
    jobs
}

proptest! {
    #![proptest_config(gleaner_testing::slow_cases(64, 130))]
    #[test]
    fn jobs_survive_every_format(jobs in prop::collection::vec(job(), 1..20)) {
        check(Format::Philly, &philly(&jobs), &jobs)?;
        let once = once(&jobs);
        check(Format::Helios, &helios(&once), &once)?;
        check(Format::Pai, &pai(&once), &once)?;
        let mut delays = once;
        delays.iter_mut().for_each(|job| job.runs[0].1 = job.runs[0].1.max(1));
        check(Format::Batsim, &batsim(&delays), &delays)?;
    }
}
