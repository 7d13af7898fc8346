//! Reads the small sample traces of GPU clusters in `dataset/logs`, one for each format. The
//! expected jobs, virtual clusters and events were worked out by hand.

use gleaner_domain::Local;
use gleaner_logs::scheduler::Reason;
use gleaner_traces::{Format, Options, Prepared, VcOf};

use super::support::{file, jobs, prepare, sample, samples, vcs};

#[track_caller]
fn assert_left_out(prepared: &Prepared, expected: &[(Reason, u64)]) {
    let found = prepared.summary.log_counts.found.iter();
    let found: Vec<_> = found
        .map(|(reason, found)| (*reason, found.count))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn philly() {
    let prepared = sample(&Options::new(Format::Philly));
    assert_eq!(
        jobs(&prepared),
        [
            "application_1506638472019_00001 ce2f4c ee9e8c 8 0 COMPLETED 0 3000",
            "application_1506638472019_00002 ce2f4c 7f04ca 2 0 CANCELLED 300 7200",
            "application_1506638472019_00004 0d7a1e 7f04ca 1 0 FAILED 1200 1800",
            "application_1506638472019_00007 ce2f4c ee9e8c 4 0 COMPLETED 5400 1200",
        ]
    );
    let origin = "2017-10-07 08:00:00".parse::<Local>().unwrap();
    assert_eq!(prepared.trace.origin, Some(origin));
    assert_eq!(vcs(&prepared), ["7f04ca 1", "ee9e8c 1"]);
    let expected = [
        (Reason::NeverStarted, 1),
        (Reason::NoGpu, 1),
        (Reason::StillRunning, 1),
        (Reason::NoRun, 1),
    ];
    assert_left_out(&prepared, &expected);
    let found = &prepared.summary.log_counts.found[&Reason::NoRun].example;
    assert_eq!(found, "log, job 4: 1 of 2 attempts");
    // GPU-seconds: 8 × 3000 + 2 × 7200 + 1800 + 4 × 1200.
    assert_eq!(prepared.summary.gpu_seconds, 45_000);
    // With two GPUs per node, the virtual clusters get enough nodes for the 3 and 8 GPUs that their jobs held at once.
    let options = Options {
        gpus_per_node: 2,
        ..Options::new(Format::Philly)
    };
    assert_eq!(vcs(&sample(&options)), ["7f04ca 2", "ee9e8c 4"]);
}

#[test]
fn phillys_times_may_be_resolved_in_their_zone() {
    // Half an hour passes from 1:45 to 1:15, because the clocks of Los Angeles are put back in between.
    let log = r#"[{"jobid": "a", "vc": "v", "submitted_time": "2017-11-05 00:20:00", "attempts":
        [{"start_time": "2017-11-05 01:45:00", "end_time": "2017-11-05 01:15:00",
          "detail": [{"ip": "m1", "gpus": ["gpu0"]}]}]}]"#;
    let options = Options {
        timezone: Some("America/Los_Angeles".to_owned()),
        ..Options::new(Format::Philly)
    };
    let prepared = prepare(&[log], &options).unwrap();
    assert_eq!(jobs(&prepared), ["a  v 1 0  0 1800"]);
    let origin = "2017-11-05 00:20:00".parse::<Local>().unwrap();
    assert_eq!(prepared.trace.origin, Some(origin));
    let error = prepare(&[log], &Options::new(Format::Philly)).unwrap_err();
    assert!(
        error.to_string().contains("1 with an end before the start"),
        "{error}"
    );
}

const PAI: [&str; 3] = [
    "4b3f04b66a525d2df903eb01 58540f191766 T4 2 24 COMPLETED 1000 3600",
    "4b3f04b66a525d2df903eb02 58540f191766 T4 1 6 FAILED 2000 600",
    "4b3f04b66a525d2df903eb06 58540f191766 V100 8 24 COMPLETED 5000 3900",
];

#[test]
fn pai() {
    let prepared = sample(&Options::new(Format::Pai));
    assert_eq!(jobs(&prepared), PAI);
    assert_eq!(prepared.trace.origin, None);
    assert_eq!(vcs(&prepared), ["T4 1", "V100 1"]);
    let expected = [
        (Reason::NeverStarted, 1),
        (Reason::NoGpu, 1),
        (Reason::StillRunning, 1),
    ];
    assert_left_out(&prepared, &expected);
    // Rounding up increases the GPU time from 1.5 × 3600 + 0.25 × 600 + 8 × 3900 to 39,000 GPU-seconds.
    let note = "2 jobs planned a fraction of a GPU: rounding up adds 6.1 % to the total GPU time";
    assert_eq!(prepared.summary.notes[0], note);
}

#[test]
fn pais_tables_come_in_any_order_and_with_headers() {
    let [table, tasks] = &samples(Format::Pai)[..] else {
        panic!("two tables");
    };
    let options = Options::new(Format::Pai);
    let prepared = prepare(&[tasks, table], &options).unwrap();
    assert_eq!(jobs(&prepared), PAI);
    let headed = format!("job_name,inst_id,user,status,start_time,end_time\n{table}");
    let header = "job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,gpu_type";
    let prepared = prepare(&[header, &headed, tasks], &options).unwrap();
    assert_eq!(jobs(&prepared), PAI);
}

#[test]
fn pais_machines_make_the_virtual_clusters() {
    let options = Options {
        gpus_per_node: 2,
        machines: Some(file("pai_machine_spec.csv")),
        ..Options::new(Format::Pai)
    };
    assert_eq!(vcs(&sample(&options)), ["T4 2", "V100 4"]);
}

#[test]
fn batsim() {
    let prepared = sample(&Options::new(Format::Batsim));
    let expected = [
        "1  log 2 0 COMPLETED 0 21",
        "2  log 4 0 TIMEOUT 1 10",
        "3  log 1 0 FAILED 3 5",
        "5  log 1 0 COMPLETED 5 30",
    ];
    assert_eq!(jobs(&prepared), expected);
    assert_eq!(vcs(&prepared), ["log 4"]);
    assert_left_out(&prepared, &[(Reason::OtherProfile, 1)]);
    let options = Options {
        gpus_per_node: 2,
        ..Options::new(Format::Batsim)
    };
    assert_eq!(vcs(&sample(&options)), ["log 2"]);
}

/// A workload of two jobs: `x` runs the profile `asked` of `profiles`, and `y` runs a delay of one
/// second.
fn sequence(profiles: &str, asked: &str) -> Prepared {
    let log = format!(
        r#"{{"nb_res": 4, "jobs": [
            {{"id": "x", "subtime": 0, "res": 1, "profile": "{asked}"}},
            {{"id": "y", "subtime": 0, "res": 1, "profile": "short"}}],
          "profiles": {{"short": {{"type": "delay", "delay": 1}}, {profiles}}}}}"#
    );
    prepare(&[&log], &Options::new(Format::Batsim)).unwrap()
}

// The duration is the sum of all repeats of the parts, up to a part that fails.
#[test]
fn batsims_sequences_of_delays_are_added_up() {
    let profiles = r#"
        "long": {"type": "delay", "delay": 10.5},
        "fails": {"type": "delay", "delay": 5, "ret": 1},
        "once": {"type": "composed", "seq": ["short", "long"]},
        "thrice": {"type": "sequential_composition", "repeat": 3, "seq": ["short", "long"]},
        "nested": {"type": "SequentialCompositionProfile", "repeat": 2, "seq": ["thrice", "long", "once"]},
        "stopped": {"type": "composed", "repeat": 9, "seq": ["long", "fails", "long"]},
        "ends": {"type": "composed", "ret": 3, "seq": ["short"]},
        "other": {"type": "composed", "seq": ["short", "ptask"]},
        "ptask": {"type": "ptask", "cpu": [1], "com": []},
        "itself": {"type": "composed", "seq": ["short", "itself"]},
        "lacking": {"type": "composed", "seq": ["short", "nothing"]}"#;
    for (asked, expected) in [
        ("once", "x  log 1 0 COMPLETED 0 12"),
        ("thrice", "x  log 1 0 COMPLETED 0 35"),
        ("nested", "x  log 1 0 COMPLETED 0 113"),
        ("stopped", "x  log 1 0 FAILED 0 16"),
        ("ends", "x  log 1 0 FAILED 0 1"),
    ] {
        assert_eq!(jobs(&sequence(profiles, asked))[0], expected, "{asked}");
    }
    for (asked, reason) in [
        ("other", Reason::OtherProfile),
        ("itself", Reason::OtherProfile),
        ("lacking", Reason::NoProfile),
    ] {
        let prepared = sequence(profiles, asked);
        assert_eq!(jobs(&prepared), ["y  log 1 0 COMPLETED 0 1"]);
        assert_left_out(&prepared, &[(reason, 1)]);
    }
    for wrong in [
        r#""seq": []"#,
        r#""seq": "short""#,
        r#""seq": ["short"], "repeat": 0"#,
    ] {
        let prepared = sequence(
            &format!(r#""wrong": {{"type": "composed", {wrong}}}"#),
            "short",
        );
        assert_left_out(&prepared, &[(Reason::Unreadable, 1)]);
    }
}

// The duration is the number of steps divided by the throughput of the requested GPUs, rounded up.
#[test]
fn gavel() {
    let options = Options {
        throughputs: Some(file("gavel-throughputs.json")),
        ..Options::new(Format::Gavel)
    };
    let prepared = sample(&options);
    let expected = [
        "0  v100 1 0 COMPLETED 0 600",
        "1  v100 4 0 COMPLETED 30 251",
        "2  v100 1 0 COMPLETED 75 4000",
    ];
    assert_eq!(jobs(&prepared), expected);
    // At most six GPUs would be held at once.
    assert_eq!(vcs(&prepared), ["v100 1"]);
    assert_left_out(&prepared, &[(Reason::NoThroughput, 1)]);
    let found = &prepared.summary.log_counts.found[&Reason::NoThroughput].example;
    assert_eq!(
        found,
        "log, line 4: GPT (batch size 1) on 1 GPU, for which no throughput was measured"
    );
    assert!(prepared.summary.notes[0].contains("that its jobs would hold at once if none waited"));
    let slower = Options {
        worker: "k80".to_owned(),
        gpus_per_node: 1,
        ..options.clone()
    };
    let prepared = sample(&slower);
    assert_eq!(
        jobs(&prepared),
        [
            "0  k80 1 0 COMPLETED 0 3000",
            "2  k80 1 0 COMPLETED 75 20000"
        ]
    );
    let found = &prepared.summary.log_counts.found[&Reason::NoThroughput].example;
    assert!(
        found.ends_with("on 4 GPUs, for which a throughput of 0 was measured"),
        "{found}"
    );
    let alike = Options {
        steps_per_second: Some(2.0),
        ..Options::new(Format::Gavel)
    };
    assert_eq!(jobs(&sample(&alike)).len(), 4);
    assert_eq!(jobs(&sample(&alike))[0], "0  v100 1 0 COMPLETED 0 3000");
}

#[test]
fn gavels_steps_need_a_throughput() {
    let log = &samples(Format::Gavel)[0];
    let error = prepare(&[log], &Options::new(Format::Gavel)).unwrap_err();
    assert_eq!(error.exit_code(), 2);
    assert!(
        error.to_string().contains("pass --throughputs FILE"),
        "{error}"
    );
    let unknown = Options {
        throughputs: Some(file("gavel-throughputs.json")),
        worker: "h100".to_owned(),
        ..Options::new(Format::Gavel)
    };
    let message = prepare(&[log], &unknown).unwrap_err().to_string();
    assert!(
        message.contains("found no throughputs of h100"),
        "{message}"
    );
    assert!(message.contains("--worker-type"), "{message}");
}

// Worked out by hand: job 12 ran twice, job 11 is still running, job 13 requested no GPU, and job 14 never started.
#[test]
fn slurms_jobs_with_gpus() {
    let prepared = sample(&Options::new(Format::Slurm));
    let expected = [
        "10 ada gpu 4 0 COMPLETED 0 3600",
        "12 bob gpu 2 0 COMPLETED 600 3600",
        "15 bob debug 1 0 TIMEOUT 4200 600",
    ];
    assert_eq!(jobs(&prepared), expected);
    assert_eq!(vcs(&prepared), ["debug 1", "gpu 1"]);
    let expected = [
        (Reason::NeverStarted, 1),
        (Reason::Step, 1),
        (Reason::NoGpu, 1),
        (Reason::StillRunning, 1),
    ];
    assert_left_out(&prepared, &expected);
    let options = Options {
        vc_of: VcOf::Account,
        gpus_per_node: 2,
        ..Options::new(Format::Slurm)
    };
    assert_eq!(vcs(&sample(&options)), ["bio 2", "physics 2"]);
    // If the log has no partition column, each account is a virtual cluster.
    let log = samples(Format::Slurm)[0].replace("|Partition|", "|Elsewhere|");
    let prepared = prepare(&[&log], &Options::new(Format::Slurm)).unwrap();
    assert_eq!(vcs(&prepared), ["bio 1", "physics 1"]);
    let log = log.replace("|Account|", "|Nowhere|");
    let message = prepare(&[&log], &Options::new(Format::Slurm)).unwrap_err();
    assert!(
        message
            .to_string()
            .contains("a column Partition or Account"),
        "{message}"
    );
}

#[test]
fn a_virtual_cluster_is_never_named_all() {
    let log = samples(Format::Slurm)[0].replace("|gpu|", "|all|");
    let prepared = prepare(&[&log], &Options::new(Format::Slurm)).unwrap();
    assert_eq!(vcs(&prepared), ["slurm-all 1", "debug 1"]);
}

#[test]
fn helios() {
    let prepared = sample(&Options::new(Format::Helios));
    let expected = [
        "1425511 uXBbc vcJkd 1 1 COMPLETED 0 3600",
        "1425512 uVMrF vchbv 4 16 FAILED 26 249",
        "1425515 uXBbc vcJkd 16 64 TIMEOUT 239 1800",
    ];
    assert_eq!(jobs(&prepared), expected);
    assert_eq!(vcs(&prepared), ["vcJkd 3", "vchbv 1"]);
    let expected = [
        (Reason::NeverStarted, 1),
        (Reason::NoGpu, 1),
        (Reason::NoTime, 1),
    ];
    assert_left_out(&prepared, &expected);
    let options = Options {
        machines: Some(file("helios-gpus.csv")),
        ..Options::new(Format::Helios)
    };
    assert_eq!(vcs(&sample(&options)), ["vcJkd 3", "vchbv 2"]);
}

#[test]
fn one_virtual_cluster_may_hold_all_jobs() {
    for format in [
        Format::Philly,
        Format::Pai,
        Format::Batsim,
        Format::Helios,
        Format::Gavel,
        Format::Slurm,
    ] {
        let options = Options {
            node_count: Some(5),
            steps_per_second: Some(1.0),
            ..Options::new(format)
        };
        let prepared = sample(&options);
        assert_eq!(vcs(&prepared), ["log 5"]);
        assert!(prepared.trace.jobs.iter().all(|job| job.vc == 0));
    }
}

// 50 minutes lie between 2:30+02:00 and 2:20+01:00.
#[test]
fn traces_of_gpu_clusters_honour_offsets_and_zones() {
    let log = "job_id,user,vc,gpu_num,cpu_num,state,submit_time,start_time,end_time\n\
               1,u,a,1,1,COMPLETED,2026-10-25 02:00:00+02:00,2026-10-25 02:30:00+02:00,2026-10-25 02:20:00+01:00\n\
               2,u,a,1,1,COMPLETED,2026-10-25 02:30:00+01:00,2026-10-25 02:30:00+01:00,2026-10-25 03:30:00+01:00\n";
    let expected = [
        "1 u a 1 1 COMPLETED 0 3000",
        "2 u a 1 1 COMPLETED 5400 3600",
    ];
    let options = Options::new(Format::Helios);
    let prepared = prepare(&[log], &options).unwrap();
    assert_eq!(jobs(&prepared), expected);
    assert_eq!(
        prepared.trace.origin.unwrap().to_string(),
        "2026-10-25 02:00:00"
    );
    let civil = log.replace("+02:00", "").replace("+01:00", "");
    let berlin = Options {
        timezone: Some("Europe/Berlin".to_owned()),
        ..options.clone()
    };
    let prepared = prepare(&[&civil], &berlin).unwrap();
    // The log does not show in which of the two hours the second job was submitted.
    assert_eq!(jobs(&prepared)[0], expected[0]);
    assert_eq!(
        prepared.summary.log_counts.found[&Reason::OccursTwice].count,
        1
    );
    let told = |prepared: &Prepared| prepared.summary.notes.join("\n");
    assert!(!told(&prepared).contains("time zone"));
    let unknown = prepare(&[&civil], &options);
    assert!(told(&unknown.unwrap()).contains("does not state its time zone"));
}
