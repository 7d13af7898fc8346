//! Tests the readers of simulation inputs with the published September trace of the Venus cluster, in every format. The
//! golden values were read from the trace with pandas.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use gleaner_domain::inputs::{PackingTable, Profile};
use gleaner_domain::results::{Column, Table};
use gleaner_domain::{Cluster, Job, Local, Workload};
use gleaner_inputs::jobs::trace::{Options, TraceInput};
use gleaner_inputs::jobs::{cluster, colocate, estimates, forecast, packing, profiles};
use gleaner_inputs::jobs::{throughput, trace};
use gleaner_io::Loaded;
use gleaner_io::table::WriteTable;

/// The path of a published file. If the file is missing, reports this on stderr and returns `None`.
fn published(name: &str) -> Option<PathBuf> {
    gleaner_testing::shared(&format!("lucid/venus_sept/{name}"))
}

fn venus() -> Option<Cluster> {
    Some(
        cluster::read(&published("vc_config.csv")?, 8)
            .unwrap()
            .value,
    )
}

fn september(cluster: &Cluster) -> Option<TraceInput> {
    let path = published("jobs.csv")?;
    Some(
        trace::read(&path, cluster, Options::default())
            .unwrap()
            .value,
    )
}

fn all_profiles() -> Option<BTreeMap<Workload, Profile>> {
    Some(
        profiles::read(&published("single_data.csv")?)
            .unwrap()
            .value,
    )
}

fn sum(jobs: &[Job], value: impl Fn(&Job) -> f64) -> f64 {
    jobs.iter().map(value).sum()
}

#[track_caller]
fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * b.abs(), "{a} is not {b}");
}

#[test]
fn the_cluster_is_read() {
    let Some(cluster) = venus() else { return };
    assert_eq!((cluster.vcs.len(), cluster.gpus()), (15, 1080));
    assert_eq!(cluster.vc("vcvlY"), Some(13));
    assert_eq!(cluster.vcs[13].nodes, 2);
}

#[test]
fn the_trace_is_read_whole() {
    let Some(cluster) = venus() else { return };
    let Some(input) = september(&cluster) else {
        return;
    };
    assert_eq!((input.start, input.skipped.0.len()), (13_219_200, 0));
    let jobs = &input.trace.jobs;
    assert_eq!((jobs.len(), input.trace.workloads.len()), (23_859, 66));
    assert_eq!(
        jobs.iter().map(|job| job.submit).sum::<i64>(),
        341_964_627_413
    );
    assert_eq!(
        jobs.iter().map(|job| job.duration).sum::<i64>(),
        280_803_029
    );
    assert_eq!(jobs.iter().map(|job| job.gpus).sum::<u32>(), 191_044);
    let gpu_seconds = |job: &Job| i64::from(job.gpus) * job.duration;
    assert_eq!(jobs.iter().map(gpu_seconds).sum::<i64>(), 2_167_138_881);
    close(sum(jobs, |job| job.cpus), 358_449.0);
    close(sum(jobs, |job| job.usage.speed), 64_851_828.62);
    close(sum(jobs, |job| job.usage.gpu_util), 807_098.535);
    close(sum(jobs, |job| job.usage.gmem), 89_630_958.498);
    let completed = jobs.iter().filter(|job| job.state == "COMPLETED").count();
    assert_eq!(completed, 13_281);
    let of_vc = |vc| jobs.iter().filter(|job| job.vc == vc).count();
    assert_eq!((of_vc(0), of_vc(13), of_vc(14)), (7603, 415, 49));
    let workload = |job: &Job| &input.trace.workloads[job.workload.unwrap()];
    assert_eq!(jobs.iter().filter(|job| workload(job).amp).count(), 10_313);
    let last = &jobs[23_858];
    assert_eq!((last.id.as_str(), last.user.as_str()), ("802468", "uJjMX"));
    assert_eq!(
        workload(last).to_string(),
        "PointNet on ShapeNet, batch size 32"
    );
}

#[test]
fn the_profiles_are_those_of_the_jobs() {
    let (Some(cluster), Some(profiles)) = (venus(), all_profiles()) else {
        return;
    };
    assert_eq!(profiles.len(), 66);
    assert_eq!(
        profiles
            .values()
            .filter_map(|p| p.score)
            .map(u32::from)
            .sum::<u32>(),
        66
    );
    let input = september(&cluster).unwrap();
    // If the usage columns are missing, each job takes its usage from its workload's profile.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bare.csv");
    let text = write_csv(&input, &cluster, &PLAIN);
    std::fs::write(&path, text).unwrap();
    let options = Options {
        profiles: Some(&profiles),
        ..Options::default()
    };
    let bare = trace::read(&path, &cluster, options).unwrap();
    assert!(bare.value == input);
}

#[test]
fn every_pair_that_could_share_is_measured() {
    let (Some(cluster), Some(profiles)) = (venus(), all_profiles()) else {
        return;
    };
    let path = published("colocate_info.csv").unwrap();
    let mut pairs = colocate::read(&path).unwrap().value;
    assert_eq!(pairs.len(), 1388);
    close(pairs.values().map(|pair| pair.speeds.0).sum(), 1289.463);
    close(pairs.values().map(|pair| pair.speeds.1).sum(), 1310.565);
    close(pairs.values().map(|pair| pair.gpu_util).sum(), 89_592.499);
    close(pairs.values().map(|pair| pair.gmem).sum(), 9_079_985.0);
    let trace = september(&cluster).unwrap().trace;
    for any_score in [false, true] {
        let packing = PackingTable::new(&trace.workloads, &profiles, &pairs);
        packing::check(&path, &trace, &packing, 24_576.0, any_score).unwrap();
    }
    pairs.pop_first();
    let packing = PackingTable::new(&trace.workloads, &profiles, &pairs);
    let error = packing::check(&path, &trace, &packing, 24_576.0, true).unwrap_err();
    assert!(error.to_string().contains("found no speeds for"), "{error}");
}

#[test]
fn the_forecast_starts_with_the_simulation() {
    let Some(path) = published("throughput_pred.csv") else {
        return;
    };
    let table = forecast::read(&path, 13_219_200).unwrap().value;
    assert_eq!((table.times.len(), table.times[0]), (4032, 13_219_200));
    assert_eq!(table.times[4031], 13_219_200 + 4031 * 600);
    close(table.gpu_jobs.iter().sum(), 22_529.2);
    close(table.gpus.iter().sum(), 181_741.1);
}

#[test]
fn the_series_of_submissions_is_read() {
    let Some(path) = published("cluster_throughput.csv") else {
        return;
    };
    let series = throughput::read(&path).unwrap().value;
    assert_eq!(series.len(), 26_064);
    assert_eq!(series.time(0).to_string(), "2020-04-01T00:00:00");
    assert_eq!(series.time(26_063).to_string(), "2020-09-28T23:50:00");
    let sums: [f64; 2] = [series.jobs(), series.gpus()].map(|values| values.iter().sum());
    assert_eq!(sums, [125_214.0, 843_064.0]);
}

#[test]
fn every_job_has_its_estimates() {
    let Some(cluster) = venus() else { return };
    let trace = september(&cluster).unwrap().trace;
    for (name, total) in [("ebm", 353_798_104.0), ("lgb", 394_938_468.0)] {
        let path = published(&format!("duration_estimate_{name}.csv")).unwrap();
        let table = estimates::read(&path, &trace).unwrap().value;
        assert_eq!(table.0.len(), 23_859);
        close(table.0.values().sum(), total);
    }
}

/// The format in which a test writes a trace: the header, the submission times, and whether there
/// are usage columns.
struct Form {
    header: &'static str,
    submit: fn(i64) -> String,
    usage: bool,
}

const PLAIN: Form = Form {
    header: "job_id,user,vc,gpu_num,cpu_num,state,submit_time,duration,model,dataset,batchsize,amp",
    submit: |second| second.to_string(),
    usage: false,
};

/// A trace as CSV.
fn write_csv(input: &TraceInput, cluster: &Cluster, form: &Form) -> String {
    let mut text = format!("{}\n", form.header);
    for job in &input.trace.jobs {
        let workload = &input.trace.workloads[job.workload.unwrap()];
        text += &format!(
            "{},{},{},{},{},{},{},{},{},{},{},{}",
            job.id,
            job.user,
            cluster.vcs[job.vc].name,
            job.gpus,
            job.cpus,
            job.state,
            (form.submit)(job.submit),
            job.duration,
            workload.model,
            workload.dataset,
            workload.batch_size,
            u8::from(workload.amp),
        );
        let usage = job.usage;
        if form.usage {
            let (speed, memory) = (usage.speed, usage.gmem);
            text += &format!(",{speed},{},{},{memory}", usage.gpu_util, usage.gmem_util);
        }
        text.push('\n');
    }
    text
}

const APRIL: i64 = 1_585_699_200;

#[test]
fn a_raw_log_gives_the_same_jobs() {
    let Some(cluster) = venus() else { return };
    let input = september(&cluster).unwrap();
    let form = Form {
        header: "job_id,user,vc,gpu_num,cpu_num,state,submit_time,duration,model,dataset,\
                 batchsize,amp,speed,gpu_util,gmem_util,gmem",
        submit: |second| Local::from_seconds(APRIL + second).to_string(),
        usage: true,
    };
    let mut log = write_csv(&input, &cluster, &form);
    // Adds the first job of the log, which is submitted at second 0, and jobs that are not
    // simulated.
    for other in [
        "x1,u,vcEwI,1,1,COMPLETED,2020-04-01 00:00:00",
        "x2,u,vcEwI,0,1,COMPLETED,2020-03-01 00:00:00",
        "x3,u,other,8,1,COMPLETED,2020-03-01 00:00:00",
        "x4,u,vcEwI,8,1,COMPLETED,2020-10-01 00:00:00",
    ] {
        log += &format!("{other},60,VGG,CIFAR-10,64,0,1,1,1,1\n");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cluster_full_log.csv.gz");
    let file = std::fs::File::create(&path).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    gzip.write_all(log.as_bytes()).unwrap();
    gzip.finish().unwrap();
    let options = Options {
        from: Some("2020-09-01".parse().unwrap()),
        to: Some("2020-09-26 23:59:00".parse().unwrap()),
        ..Options::default()
    };
    let raw = trace::read(&path, &cluster, options).unwrap();
    assert!(raw.value.trace.jobs == input.trace.jobs);
    assert_eq!(raw.value.start, input.start);
    assert_eq!(raw.value.trace.origin, Some(Local::from_seconds(APRIL)));
    assert_eq!(
        raw.notes,
        [
            "left out 1 job without GPUs",
            "left out 1 job of VCs that the cluster does not have: other",
            "left out 2 jobs submitted outside the window",
        ]
    );
}

/// Writes the trace as a Parquet file, with the submission times in the column `submit`.
fn write_parquet(input: &TraceInput, cluster: &Cluster, submit: Column<'_>, path: &Path) {
    let jobs = &input.trace.jobs;
    let workload = |job: &Job| &input.trace.workloads[job.workload.unwrap()];
    let texts = |value: &dyn Fn(&Job) -> String| {
        Column::Texts(jobs.iter().map(|job| value(job).into()).collect())
    };
    let integers = |value: &dyn Fn(&Job) -> u64| Column::Integers(jobs.iter().map(value).collect());
    let floats = |value: &dyn Fn(&Job) -> f64| {
        Column::Floats(jobs.iter().map(|job| Some(value(job))).collect())
    };
    let table = Table {
        name: "jobs",
        columns: vec![
            ("job_id", integers(&|job| job.id.parse().unwrap())),
            ("user", texts(&|job| job.user.clone())),
            ("vc", texts(&|job| cluster.vcs[job.vc].name.clone())),
            ("jobname", Column::Floats(vec![None; jobs.len()])),
            ("gpu_num", floats(&|job| f64::from(job.gpus))),
            ("cpu_num", floats(&|job| job.cpus)),
            ("state", texts(&|job| job.state.clone())),
            ("submit_time", submit),
            ("duration", integers(&|job| job.duration as u64)),
            ("model", texts(&|job| workload(job).model.clone())),
            ("dataset", texts(&|job| workload(job).dataset.clone())),
            (
                "batchsize",
                integers(&|job| workload(job).batch_size.into()),
            ),
            ("amp", integers(&|job| workload(job).amp.into())),
            ("speed", floats(&|job| job.usage.speed)),
            ("gpu_util", floats(&|job| job.usage.gpu_util)),
            ("gmem_util", floats(&|job| job.usage.gmem_util)),
            ("gmem", floats(&|job| job.usage.gmem)),
        ],
    };
    table
        .write_parquet(std::fs::File::create(path).unwrap())
        .unwrap();
}

#[test]
fn parquet_gives_the_same_jobs() {
    let Some(cluster) = venus() else { return };
    let input = september(&cluster).unwrap();
    let submits = || input.trace.jobs.iter().map(|job| job.submit);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.parquet");
    let seconds = Column::Integers(submits().map(|second| second as u64).collect());
    write_parquet(&input, &cluster, seconds, &path);
    let back = trace::read(&path, &cluster, Options::default()).unwrap();
    assert!(back.value == input);

    let times = submits().map(|second| Local::from_seconds(APRIL + second));
    write_parquet(&input, &cluster, Column::EveryTime(times.collect()), &path);
    let back = trace::read(&path, &cluster, Options::default())
        .unwrap()
        .value;
    let first = submits().next().unwrap();
    assert_eq!(back.trace.origin, Some(Local::from_seconds(APRIL + first)));
    assert_eq!((back.start, back.trace.jobs[0].submit), (0, 0));
    assert_eq!(back.trace.jobs.len(), input.trace.jobs.len());
    let shifted = back.trace.jobs.iter().map(|job| job.submit + first);
    assert!(shifted.eq(submits()));
}

#[test]
fn a_large_trace_is_read() {
    let Some(cluster) = venus() else { return };
    let mut input = september(&cluster).unwrap();
    let once = std::mem::take(&mut input.trace.jobs);
    for copy in 0..10 {
        input.trace.jobs.extend(once.iter().cloned().map(|job| Job {
            id: format!("{copy}{}", job.id),
            ..job
        }));
    }
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("large.csv");
    let form = Form {
        usage: true,
        header: "job_id,user,vc,gpu_num,cpu_num,state,submit_time,duration,model,dataset,\
                 batchsize,amp,speed,gpu_util,gmem_util,gmem",
        ..PLAIN
    };
    std::fs::write(&csv, write_csv(&input, &cluster, &form)).unwrap();
    let parquet = folder.path().join("large.parquet");
    let submits = input.trace.jobs.iter().map(|job| job.submit as u64);
    write_parquet(
        &input,
        &cluster,
        Column::Integers(submits.collect()),
        &parquet,
    );
    for path in [csv, parquet] {
        let loaded: Loaded<TraceInput> = trace::read(&path, &cluster, Options::default()).unwrap();
        assert_eq!(loaded.value.trace.jobs.len(), 238_590);
    }
}
