//! Tests the trace reader with small traces: every format of times, and every fault.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::str::FromStr;

use super::*;
use crate::jobs::testing::{Input, assert_has, cluster, fault, workload};
use gleaner_domain::inputs::ProfileSource;
use gleaner_domain::{Job, Usage};

const HEADER: &str = "job_id,user,vc,jobname,gpu_num,cpu_num,state,submit_time,duration\n";
const MODELS: &str = "job_id,vc,gpu_num,submit_time,duration,model,dataset,batchsize,amp\n";

fn read_with(content: &str, options: Options<'_>) -> Result<Loaded<TraceInput>> {
    read(Input::csv(content).path(), &cluster(), options)
}

fn read_csv(content: &str) -> Loaded<TraceInput> {
    read_with(content, Options::default()).unwrap()
}

/// A trace in whole seconds. Each job is given as `id vc gpus submit duration`.
fn plain(jobs: &[&str]) -> String {
    let rows = jobs.iter().map(|job| job.replace(' ', ",") + "\n");
    String::from("job_id,vc,gpu_num,submit_time,duration\n") + &rows.collect::<String>()
}

/// A raw log. Each job is given as `id vc gpus time`. The time omits the year, which is 2020, as in `04-01 00:00:00`.
fn civil(jobs: &[(&str, &str, u32, &str)]) -> String {
    let row = |(id, vc, gpus, time): &(&str, &str, u32, &str)| {
        format!("{id},{vc},{gpus},2020-{time},60\n")
    };
    let rows: String = jobs.iter().map(row).collect();
    String::from("job_id,vc,gpu_num,submit_time,duration\n") + &rows
}

fn ids(input: &TraceInput) -> Vec<(&str, i64)> {
    let jobs = input.trace.jobs.iter();
    jobs.map(|job| (job.id.as_str(), job.submit)).collect()
}

fn time<T: FromStr<Err: Debug>>(text: &str) -> Option<T> {
    Some(text.parse().unwrap())
}

#[test]
fn whole_seconds_stay_as_they_are() {
    let loaded = read_csv(&format!(
        "{HEADER}3,u,b,n,8,6.5,TIMEOUT,200001.0,97.0\n2.0,v,a,,16,,,199999,5\n1,w,a,,1,1,X,200001,5\n"
    ));
    let job = Job {
        id: "3".to_owned(),
        user: "u".to_owned(),
        vc: 1,
        name: "n".to_owned(),
        gpus: 8,
        cpus: 6.5,
        state: "TIMEOUT".to_owned(),
        submit: 200_001,
        duration: 97,
        workload: None,
        usage: Usage::default(),
    };
    let input = &loaded.value;
    assert_eq!(input.trace.jobs[1], job);
    assert_eq!(ids(input), [("2", 199_999), ("3", 200_001), ("1", 200_001)]);
    assert_eq!((input.start, input.trace.origin), (172_800, None));
    assert_eq!((loaded.notes.len(), loaded.sources.len()), (0, 1));
}

#[test]
fn a_raw_log_starts_with_the_first_job_that_remains() {
    let loaded = read_csv(&civil(&[
        ("1", "x", 1, "04-01 00:00:01"),
        ("2", "a", 0, "04-01 00:00:02"),
        ("4", "a", 1, "04-01 00:00:09"),
        ("3", "b", 1, "04-01 00:00:05"),
        ("5", "y", 1, "04-01 00:00:03"),
        ("6", "y", 1, "04-01 00:00:03"),
    ]));
    let input = &loaded.value;
    assert_eq!(ids(input), [("3", 0), ("4", 4)]);
    assert_eq!(input.start, 0);
    assert_eq!(input.trace.origin, time("2020-04-01 00:00:05"));
    assert_eq!(
        loaded.notes,
        [
            "left out 1 job without GPUs",
            "left out 3 jobs of VCs that the cluster does not have: x, y",
        ]
    );
}

#[test]
fn a_window_counts_from_the_epoch_and_submissions_from_the_first_job() {
    let log = civil(&[
        ("1", "a", 1, "03-31 23:00:00"),
        ("2", "a", 1, "04-01 00:00:10"),
        ("3", "a", 1, "04-03 00:00:09"),
        ("4", "a", 1, "04-03 00:00:10"),
        ("5", "a", 1, "04-04 00:00:10"),
        ("6", "a", 1, "04-04 00:00:11"),
    ]);
    let options = Options {
        from: time("2020-04-03"),
        to: time("2020-04-04"),
        epoch: time("2020-04-01"),
        ..Options::default()
    };
    // Second 0 is 10 s after the epoch. In civil time, both ends of the window are therefore 10 s later than specified.
    let loaded = read_with(&log, options).unwrap();
    assert_eq!(ids(&loaded.value), [("4", 172_800), ("5", 259_200)]);
    assert_eq!(loaded.value.start, 172_800);
    assert_eq!(
        loaded.notes,
        [
            "left out 1 job submitted before the epoch",
            "left out 3 jobs submitted outside the window",
        ]
    );
    // Without an epoch, the times of the window are used without a shift.
    let options = Options {
        epoch: None,
        ..options
    };
    let input = read_with(&log, options).unwrap().value;
    assert_eq!(ids(&input), [("3", 176_409), ("4", 176_410)]);
    assert_eq!(input.start, 176_400);
}

// The second job is submitted 40 minutes after the first, because the clock was set back in between. The third job is
// submitted an hour after the second.
#[test]
fn offsets_of_submissions_are_honoured() {
    let log = "job_id,vc,gpu_num,submit_time,duration\n1,a,1,2020-10-25 02:50:00+02:00,5\n\
               2,a,1,2020-10-25 02:30:00+01:00,5\n3,a,1,2020-10-25 03:30:00+01:00,5\n";
    let input = read_with(log, Options::default()).unwrap().value;
    assert_eq!(ids(&input), [("1", 0), ("2", 2400), ("3", 6000)]);
    assert_eq!(input.trace.origin, time("2020-10-25 02:50:00"));
    for from in ["2020-10-25 01:30:00Z", "2020-10-25 03:30:00"] {
        let options = Options {
            from: time(from),
            ..Options::default()
        };
        let input = read_with(log, options).unwrap().value;
        assert_eq!(ids(&input), [("2", 2400), ("3", 6000)], "{from}");
    }
    let mixed = format!("{log}4,a,1,2020-10-25 03:30:00,5\n5,a,1,7,5\n");
    let message = fault(read_with(&mixed, Options::default()));
    let expected = "expected a civil time with an offset from UTC, as in earlier rows";
    assert_has(&message, &["2 faults", "line 5, submit_time", expected]);
}

#[test]
fn a_window_with_an_offset_needs_times_with_offsets() {
    let log = civil(&[("1", "a", 1, "04-01 00:00:10")]);
    let options = Options {
        from: time("2020-04-01 00:00:00Z"),
        ..Options::default()
    };
    let error = read_with(&log, options).unwrap_err();
    assert_eq!(error.exit_code(), 2);
    assert!(
        error.to_string().contains("has an offset from UTC"),
        "{error}"
    );
}

#[test]
fn faults_outside_the_window_do_not_matter() {
    let log = "job_id,vc,gpu_num,submit_time,duration\n1,a,1,2020-04-01,0\n2,a,1,2020-04-02,1\n";
    let options = Options {
        from: time("2020-04-02"),
        ..Options::default()
    };
    assert_eq!(
        ids(&read_with(log, options).unwrap().value),
        [("2", 86_400)]
    );
    assert_has(
        &fault(read_with(log, Options::default())),
        &["line 2, duration"],
    );
}

#[test]
fn helios_and_philly_logs_are_read() {
    let helios = read_csv(
        "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n\
         7,u,a,8,64,1,COMPLETED,2020-04-01 00:00:03,2020-04-01 00:01:03,2020-04-01 00:02:03,60,60\n",
    );
    assert_eq!(ids(&helios.value), [("7", 0)]);
    let philly = read_csv(
        "user,vc,jobname,gpu_num,state,submit_time,duration\n\
         u,a,application_1,1,Pass,2017-10-01 00:00:00,1\nu,a,application_2,1,Failed,2017-10-01,1\n\
         u,a,application_3,1,Killed,2017-10-01,1\n",
    );
    let jobs = philly.value.trace.jobs;
    assert_eq!(
        (jobs[0].id.as_str(), jobs[0].name.as_str()),
        ("application_1", "")
    );
    let states: Vec<_> = jobs.iter().map(|job| job.state.as_str()).collect();
    assert_eq!(states, ["COMPLETED", "FAILED", "CANCELLED"]);
}

#[test]
fn workloads_are_numbered_in_order_of_appearance() {
    let input = read_csv(&format!(
        "{MODELS}1,a,1,0,1,VGG,CIFAR-10,64,0\n2,a,1,0,1,,,,\n3,a,1,0,1,LSTM,CIFAR-10,64,False\n\
         4,a,1,0,1,VGG,CIFAR-10,64.0,0.0\n"
    ))
    .value;
    let indices: Vec<_> = input.trace.jobs.iter().map(|job| job.workload).collect();
    assert_eq!(indices, [Some(0), None, Some(1), Some(0)]);
    assert_eq!(input.trace.workloads, [workload("VGG"), workload("LSTM")]);
}

#[test]
fn profiles_fill_in_the_usage() {
    let usage = Usage {
        speed: 1.0,
        gpu_util: 2.0,
        gmem_util: 3.0,
        gmem: 4.0,
    };
    let profiles = BTreeMap::from([(
        workload("VGG"),
        Profile {
            usage,
            score: Some(1),
            source: ProfileSource::Measured,
        },
    )]);
    let options = Options {
        profiles: Some(&profiles),
        ..Options::default()
    };
    let header = MODELS.replace('\n', ",gmem,gpu_util\n");
    let log = format!("{header}1,a,1,0,1,VGG,CIFAR-10,64,0,7.5,\n");
    let input = read_with(&log, options).unwrap().value;
    let expected = Usage { gmem: 7.5, ..usage };
    assert_eq!(input.trace.jobs[0].usage, expected);

    let log = format!("{MODELS}1,a,1,0,1,BERT,CIFAR-10,64,0\n");
    let message = fault(read_with(&log, options));
    let found = "line 2, model: found BERT on CIFAR-10, batch size 64, \
                 expected a workload with a profile";
    assert_has(&message, &[found]);
    let notes = read_with(&plain(&["1 a 1 0 1"]), options).unwrap().notes;
    assert_has(&notes[0], &["no job specifies its workload"]);
}

const FAULTY: [&str; 13] = [
    "1 a 1 5 1",
    "2 x 1 5 1",
    "3 a 17 5 1",
    "4 a 1.5 5 1",
    "5 a -1 5 1",
    "6 a 1 5 0",
    "7 a 1 5 2000000000",
    "8 a 1 5.5 1",
    "9 a 1 2020-04-01 1",
    "1 a 1 5 1",
    "10 a 1 1000000006 1",
    " a 1 5 1",
    "11 a 1 5",
];

#[test]
fn faults_of_jobs_are_gathered() {
    let message = fault(read_with(&plain(&FAULTY), Options::default()));
    assert_has(
        &message,
        &[
            "12 faults",
            "line 3, vc: found \"x\", expected a VC of the cluster; add the VC to the cluster file",
            "line 4, gpu_num: found 17 GPUs, expected at most 16, the number of GPUs of the VC a",
            "line 5, gpu_num: found \"1.5\", expected a whole number",
            "line 6, gpu_num: found \"-1\"",
            "line 7, duration: found \"0\", expected a whole number from 1 to 1000000000",
            "line 8, duration: found \"2000000000\"",
            "line 9, submit_time: found \"5.5\"",
            "line 10, submit_time: found \"2020-04-01\", expected whole seconds",
            "line 11, job_id: found \"1\", the id of an earlier job, expected unique ids",
            "line 12, submit_time: found \"1000000006\", expected a time within",
            "line 13, job_id: found nothing",
            "line 14: found 4 cells, expected 5",
        ],
    );
}

#[test]
fn jobs_with_faults_may_be_skipped() {
    let options = Options {
        skip_invalid: true,
        ..Options::default()
    };
    let input = read_with(&plain(&FAULTY), options).unwrap().value;
    assert_eq!(ids(&input), [("1", 5)]);
    assert_eq!(input.skipped.0.len(), 12);
    let message = fault(read_with(&plain(&FAULTY[1..3]), options));
    assert_has(
        &message,
        &[
            "3 faults",
            "found no job to simulate, only 2 jobs with faults, expected",
        ],
    );
}

#[test]
fn an_incomplete_workload_is_a_fault() {
    let log = format!("{MODELS}1,a,1,0,1,VGG,,64,0\n2,a,1,0,1,VGG,x,64,2\n");
    let message = fault(read_with(&log, Options::default()));
    let parts = [
        "line 2, dataset: found nothing, expected a string; \
         fill in all of model, dataset, batchsize, amp, or none",
        "line 3, amp: found \"2\", expected 0 or 1",
    ];
    assert_has(&message, &parts);
    let log = "job_id,vc,gpu_num,submit_time,duration,model\n1,a,1,0,1,VGG\n";
    let message = fault(read_with(log, Options::default()));
    assert_has(
        &message,
        &["header, dataset", "header, batchsize", "header, amp"],
    );
}

#[test]
fn an_empty_trace_is_reported_with_its_reason() {
    assert_has(
        &fault(read_with(HEADER, Options::default())),
        &["found no row"],
    );
    let log = civil(&[("1", "x", 1, "04-01"), ("2", "a", 0, "04-01")]);
    let message = fault(read_with(&log, Options::default()));
    let found = "found no job to simulate, only 1 job without GPUs; \
                 1 job of VCs that the cluster does not have: x, expected at least one job with GPUs";
    assert_has(&message, &[found]);
    let message = fault(read_with(
        "a,b\n",
        Options {
            skip_invalid: true,
            ..Options::default()
        },
    ));
    assert_has(
        &message,
        &[
            "5 faults",
            "header, submit_time",
            "header, job_id",
            "or jobname",
        ],
    );
}

#[test]
fn an_invalid_window_is_wrong_usage() {
    let dated = Options {
        to: time("2020-04-01"),
        ..Options::default()
    };
    let reversed = Options {
        from: time("2020-04-02"),
        ..dated
    };
    let log = civil(&[("1", "a", 1, "04-01")]);
    for (log, options) in [(plain(&["1 a 1 0 1"]), dated), (log, reversed)] {
        let error = read_with(&log, options).unwrap_err();
        assert_eq!(error.exit_code(), 2, "{error}");
    }
}
