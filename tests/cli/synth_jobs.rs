//! Tests `gleaner synth jobs`.

use std::fs;

use crate::support::{cluster, dataset, gleaner, json};

const FILES: [&str; 6] = [
    "colocate_info.csv",
    "duration_estimate.csv",
    "jobs.csv",
    "single_data.csv",
    "throughput_pred.csv",
    "vc_config.csv",
];

#[test]
fn the_same_seed_makes_the_same_files_that_every_policy_takes() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let line = "synth jobs --vcs 2 --nodes 5 --gpus-per-node 4 --days 1 --load 0.9 --seed 7";
    for out in ["a", "b"] {
        let run = gleaner(at, &format!("{line} -o {out}")).expect(0);
        run.says(&["jobs, 2 virtual clusters, 5 nodes of 4 GPUs, load 0.9"]);
    }
    for name in FILES {
        let [a, b] = ["a", "b"].map(|out| fs::read(at.join(out).join(name)).unwrap());
        assert!(a == b && a.len() > 15, "{name}");
    }
    for more in ["", "--without packing", "--without estimate"] {
        let line = "simulate --data a --gpus-per-node 4 --policy all,easy --check";
        let profiler = "--profiler 100,1,4 --elastic vc1 --lend vc2=1";
        gleaner(at, &format!("{line} {profiler} {more}")).expect(0);
    }
}

#[test]
fn copies_multiply_jobs_and_nodes_alike() {
    let directory = cluster();
    let at = directory.path();
    gleaner(at, "synth jobs --from trace/jobs.csv --copies 3 -o three").expect(0);
    let lines = |name: &str| fs::read_to_string(at.join(name)).unwrap().lines().count();
    assert_eq!(lines("three/jobs.csv"), 1201);
    assert_eq!(lines("three/duration_estimate.csv"), 1201);
    let cluster = fs::read_to_string(at.join("three/vc_config.csv")).unwrap();
    assert_eq!(cluster, "vc,num\nvc1,12\nvc2,9\nvc3,6\n");
    let line = "simulate --data three --policy all --profiler 120,3,2.6667 --check --out run";
    gleaner(at, line).expect(0);
    let summary = json(&at.join("run/summary.json"));
    assert_eq!(summary["policies"]["lucid"]["jobs"], 1200);
}

#[test]
fn one_copy_is_the_same_experiment() {
    let directory = cluster();
    let at = directory.path();
    gleaner(at, "synth jobs --from trace/jobs.csv --copies 1 -o same").expect(0);
    let [copied, plain] = ["same", "trace"].map(|data| {
        let line = format!("simulate --data {data} --policy all --profiler 120,1,4 --json");
        gleaner(at, &line).expect(0).out
    });
    assert_eq!(copied, plain);
}

#[test]
fn wrong_usage_and_invalid_data_have_their_exit_codes() {
    let directory = cluster();
    let at = directory.path();
    fs::copy(dataset().join("tasks.toml"), at.join("tasks.toml")).unwrap();
    for (code, arguments, words) in [
        (2, "synth jobs", &["--output"][..]),
        (
            2,
            "synth jobs --nodes 2 -o x",
            &["--nodes", "4 virtual clusters"],
        ),
        (2, "synth jobs --load 0 -o x", &["--load"]),
        (2, "synth jobs --days 0 -o x", &["--days"]),
        (
            2,
            "synth jobs --jobs 10 --load 1 -o x",
            &["--jobs", "--load"],
        ),
        (2, "synth jobs --from trace/jobs.csv -o x", &["--copies"]),
        (
            2,
            "synth jobs --from trace/jobs.csv --copies 0 -o x",
            &["--copies"],
        ),
        (
            2,
            "synth jobs --from trace/jobs.csv --copies 2 --seed 1 -o x",
            &["--seed"],
        ),
        (
            2,
            "synth jobs --from trace/jobs.csv --copies 2 -o trace",
            &["-o", "overwrite"],
        ),
        (
            1,
            "synth jobs --from none.csv --copies 2 -o x",
            &["none.csv"],
        ),
        (
            3,
            "synth jobs --from tasks.toml --copies 2 -o x",
            &["tasks.toml", "job_id"],
        ),
        (
            3,
            "synth jobs --from trace/vc_config.csv --copies 2 -o x",
            &["vc_config.csv"],
        ),
    ] {
        gleaner(at, arguments).expect(code).says(words);
    }
}
